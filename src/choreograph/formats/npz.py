"""NPZ: a clip as named NumPy arrays; the one format that keeps everything, and the way in and out for researchers."""

from __future__ import annotations

import json
import struct
import warnings
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choreograph.base.errors import FormatError, RequestError, RoleError
from choreograph.formats.assemble import MAX_BYTES
from choreograph.formats.atomic import atomic_write
from choreograph.motion.clip import Clip, Label, Note, Source
from choreograph.motion.skeleton import JointAxes, Skeleton

VERSION = 1  # of the layout; newer files are refused
_MAX_RATIO = 64
"""Times its packed size that an array may unpack to (plus a little): real motion shrinks by two or three."""
_MOST_ARRAYS = 1000  # of an archive whose names are not known
_NEEDED = ("names", "parents", "offsets", "fps", "root_pos", "local_rot")
_KNOWN = (*_NEEDED, "tip_parents", "tip_offsets", "roles", "local_pos", "contacts", "axis_frames", "axis_orders",
          "axis_limits", "about")  # fmt: skip


def write_npz(path: str | Path, clip: Clip, *, overwrite: bool = False) -> None:
    """Write a clip as NPZ: `numpy.load` shows names, parents, offsets, positions and rotations as they are."""
    skeleton = clip.skeleton
    arrays: dict[str, Any] = {
        "names": np.array(skeleton.names),
        "parents": skeleton.parents,
        "offsets": skeleton.offsets,
        "tip_parents": skeleton.tip_parents,
        "tip_offsets": skeleton.tip_offsets,
        "roles": np.array(skeleton.roles),
        "fps": np.float64(clip.fps),
        "root_pos": clip.root_pos,
        "local_rot": clip.local_rot,
    }
    if clip.local_pos is not None:
        arrays["local_pos"] = clip.local_pos
    if clip.contacts is not None:
        arrays["contacts"] = clip.contacts
    if skeleton.axes is not None:
        arrays["axis_frames"] = skeleton.axes.frames
        arrays["axis_orders"] = np.array(skeleton.axes.orders)
        if skeleton.axes.limits is not None:
            arrays["axis_limits"] = skeleton.axes.limits
    about = {
        "format": "choreograph-clip",
        "version": VERSION,
        "name": clip.name,
        "labels": [[x.text, x.start, x.stop] for x in clip.labels],
        "source": _source_as_dict(clip.source),
    }
    arrays["about"] = np.array(json.dumps(about))
    with atomic_write(path, overwrite=overwrite) as temporary, temporary.open("wb") as out:
        np.savez_compressed(out, **arrays)


def read_npz(path: str | Path) -> Clip:
    """The clip in an NPZ file that `write_npz` wrote, or that holds arrays of the same names.

    Needed are names, parents, offsets, fps, root_pos and local_rot. Nothing in the file is ever executed.
    """
    path = Path(path)
    with blamed(path, "is no readable NPZ motion"):
        return _read(path)


@contextmanager
def blamed(path: Path, what: str) -> Iterator[None]:
    """Turn what a damaged archive of arrays makes Python and NumPy raise into a FormatError of one sentence."""
    try:
        yield
    except FormatError as error:
        raise error.at(path) from None
    # A damaged archive shows itself in many ways, all of them the file's fault.
    except (OSError, ValueError, KeyError, EOFError, TypeError, AttributeError, IndexError, ArithmeticError,
            NotImplementedError, RuntimeError, SyntaxError, struct.error, zipfile.BadZipFile,
            MemoryError, RoleError, RequestError) as error:  # fmt: skip
        if isinstance(error, OSError) and error.errno is not None:
            raise FormatError(f"cannot be read: {error.strerror}", path=path) from error
        raise FormatError(f"{what}: {_brief(error)}", path=path) from error
    except Exception as error:
        if type(error).__module__ in ("zlib", "lzma", "tokenize"):
            raise FormatError(f"{what}: {_brief(error)}", path=path) from error
        raise


def _brief(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__


def _read(path: Path) -> Clip:
    arrays = read_arrays(path, _KNOWN)
    missing = [k for k in _NEEDED if k not in arrays]
    if missing:
        raise FormatError(f"lacks the array {missing[0]!r}; needed are {', '.join(_NEEDED)}")
    about = _about(arrays)
    axes = None
    if "axis_frames" in arrays and "axis_orders" in arrays:
        axes = JointAxes(arrays["axis_frames"], tuple(str(o) for o in arrays["axis_orders"]), arrays.get("axis_limits"))
    skeleton = Skeleton(
        tuple(str(n) for n in arrays["names"]),
        _whole(arrays, "parents"),
        arrays["offsets"],
        _whole(arrays, "tip_parents") if "tip_parents" in arrays else None,  # type: ignore[arg-type]
        arrays.get("tip_offsets"),  # type: ignore[arg-type]
        tuple(str(r) for r in arrays["roles"]) if "roles" in arrays else None,  # type: ignore[arg-type]
        axes,
    )
    rotations = np.asarray(arrays["local_rot"], float)
    with np.errstate(over="ignore", invalid="ignore"):  # what overflows is refused all the same
        lengths = np.linalg.norm(rotations, axis=-1) if rotations.ndim == 3 else np.zeros(1)
    if not (np.abs(lengths - 1) < 1e-3).all():
        raise FormatError("local_rot must hold unit quaternions, (F, J, 4), in wxyz order")
    return Clip(
        skeleton,
        float(arrays["fps"]),
        arrays["root_pos"],
        # Exactly unit rotations are kept bit by bit; others (float32, say) are normalised.
        rotations if (np.abs(lengths - 1) < 1e-9).all() else rotations / lengths[..., None],
        name=str(about.get("name", path.stem)),
        local_pos=arrays.get("local_pos"),
        labels=tuple(Label(str(text), int(start), int(stop)) for text, start, stop in about.get("labels", [])),
        contacts=arrays.get("contacts"),
        source=_source_from_dict(about.get("source")),
    )


def read_arrays(path: Path, known: Sequence[str] | None = None) -> dict[str, NDArray[Any]]:
    """Arrays of an archive by name: those of a list that are there, or all of them.

    Raises:
        Exception: Anything, if the archive is damaged; see `blamed`.
    """
    if path.stat().st_size > MAX_BYTES:
        raise FormatError(f"is larger than the {MAX_BYTES >> 30} GiB that are read at most")
    return dict(_arrays(path, known))


def _arrays(path: Path, known: Sequence[str] | None) -> Iterator[tuple[str, NDArray[Any]]]:
    """The arrays, each checked against the size it claims before any room is made for it."""
    with zipfile.ZipFile(path) as archive:
        listed = {info.filename: info for info in archive.infolist()}
        names = [f"{name}.npy" for name in known] if known is not None else list(listed)[:_MOST_ARRAYS]
        for info in (listed[name] for name in names if name in listed):
            # Points that move have rotations that do not: of the arrays of a motion, the whole file's size speaks.
            size = info.compress_size if known is None else path.stat().st_size
            if info.file_size > min(_MAX_RATIO * size + (1 << 16), 4 * MAX_BYTES):
                raise FormatError(
                    f"array {info.filename[:60]!r} claims {info.file_size} bytes, which is not to be believed"
                )
            with archive.open(info) as member:
                version = np.lib.format.read_magic(member)
                header = (
                    np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
                )
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # a damaged header is refused; it need not be discussed as well
                    shape, fortran, dtype = header(member)
                if dtype.hasobject or dtype.kind not in "biufU":
                    raise FormatError(f"array {info.filename[:60]!r} holds {str(dtype)[:60]}, not numbers or text")
                content = member.read()
            count = int(np.prod(shape, dtype=object)) if shape else 1
            if count * dtype.itemsize != len(content):
                raise FormatError(
                    f"array {info.filename[:60]!r} is {len(content)} bytes long, but claims shape {str(shape)[:80]}"
                )
            values = np.frombuffer(content, dtype).reshape(shape, order="F" if fortran else "C")
            yield info.filename.removesuffix(".npy"), values


def _whole(arrays: dict[str, NDArray[Any]], name: str) -> NDArray[Any]:
    if arrays[name].dtype.kind not in "iu":
        raise FormatError(f"{name} must hold whole numbers")
    return arrays[name]


def _about(arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    if "about" not in arrays:
        return {}
    about = json.loads(str(arrays["about"]))
    if not isinstance(about, dict):
        raise FormatError("its description is not understood")
    if about.get("version", VERSION) > VERSION:
        raise FormatError(f"was written by a newer version (format {about['version']}, this reads up to {VERSION})")
    return about


def _source_as_dict(source: Source | None) -> dict[str, Any] | None:
    if source is None:
        return None
    fields = {k: v for k, v in vars(source).items() if k != "notes"}
    return {**fields, "notes": [[n.kind, n.message, n.count] for n in source.notes]}


def _source_from_dict(fields: Any) -> Source | None:
    if not isinstance(fields, dict):
        return None
    notes = tuple(Note(str(k), str(m), int(c)) for k, m, c in fields.get("notes", []))
    words = {
        k: str(fields.get(k, "")) for k in ("path", "format", "sha256", "up_axis", "unit_reason", "up_reason", "take")
    }
    return Source(**words, metres_per_unit=float(fields.get("metres_per_unit", 1.0)), notes=notes)
