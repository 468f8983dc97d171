"""Which file types there are, and the two calls that choose between them by a file's name."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from choreograph.base.errors import FormatError, RequestError
from choreograph.formats.world import UP_AXES, FileUnit, parse_unit
from choreograph.motion.clip import Clip


@dataclass(frozen=True)
class ReadOptions:
    """What a caller knows about a file better than the file does; None leaves it to the reader."""

    fps: float | None = None
    """Frames per second."""
    metres_per_unit: float | str | None = None
    """Unit of length, as a number or "cm", "m", "mm", "in", "cmu"."""
    up_axis: str | None = None
    """"y", "z" …"""
    asf: str | Path | None = None
    """Skeleton file of an AMC file."""
    figure: int | None = 0
    """Which of several figures; None for all."""
    take: int | str | None = 0
    """Which of several takes, by number or name; None for all."""

    def unit(self) -> FileUnit | None:
        """The unit of length, if the caller gave one."""
        return None if self.metres_per_unit is None else FileUnit(parse_unit(self.metres_per_unit), "given")

    def check(self) -> None:
        """Raise a RequestError for values that make no sense."""
        self.unit()
        if self.fps is not None and not 0 < self.fps < 1e5:
            raise RequestError(f"the frame rate must be a positive number, not {self.fps}")
        if self.up_axis is not None and self.up_axis not in UP_AXES:
            raise RequestError(f"unknown up-axis {self.up_axis!r}; choose from {', '.join(UP_AXES)}")


@dataclass(frozen=True)
class Format:
    """A file type: what it is called, and how it is read and written."""

    name: str
    suffixes: tuple[str, ...]
    about: str
    reader: Callable[[Path, ReadOptions], list[Clip]] | None = None
    """The clips of a file: one, or where it may hold several figures and takes, those that the options name."""
    writer: Callable[..., None] | None = None
    needs: str | None = None
    """Module that an extra brings."""
    several: bool = False
    """Whether a file may hold several figures."""

    @property
    def available(self) -> bool:
        """Whether everything it needs is installed."""
        return self.needs is None or importlib.util.find_spec(self.needs) is not None


def _read_bvh(path: Path, options: ReadOptions) -> list[Clip]:
    from choreograph.formats.bvh import read_bvh

    return [read_bvh(path, fps=options.fps, unit=options.unit(), up_axis=options.up_axis)]


def _read_amc(path: Path, options: ReadOptions) -> list[Clip]:
    from choreograph.formats.asfamc import read_amc

    return [read_amc(path, asf=options.asf, fps=options.fps, unit=options.unit(), up_axis=options.up_axis)]


def _read_fbx(path: Path, options: ReadOptions) -> list[Clip]:
    from choreograph.formats.fbx import read_fbx_clips

    which: dict[str, Any] = {"figure": options.figure, "take": options.take}
    return read_fbx_clips(path, **which, fps=options.fps, unit=options.unit(), up_axis=options.up_axis)


def _stated(module: str, function: str, *which: str) -> Callable[[Path, ReadOptions], list[Clip]]:
    """A reader of a format that states its own units and axes; only the frame rate can be overruled."""

    def read(path: Path, options: ReadOptions) -> list[Clip]:
        chosen = {name: getattr(options, name) for name in which}
        read = getattr(importlib.import_module(f"choreograph.formats.{module}"), function)(path, **chosen)
        clips: list[Clip] = [read] if isinstance(read, Clip) else read
        return clips if options.fps is None else [replace(clip, fps=options.fps) for clip in clips]

    return read


def _writer(module: str, function: str) -> Callable[..., None]:
    def write(path: Path, clip: Clip | Sequence[Clip], **options: Any) -> None:
        getattr(importlib.import_module(f"choreograph.formats.{module}"), function)(path, clip, **options)

    return write


FORMATS: tuple[Format, ...] = (
    Format("bvh", (".bvh",), "Biovision hierarchy", _read_bvh, _writer("bvh", "write_bvh")),
    Format("amc", (".amc",), "Acclaim motion, with its .asf", _read_amc, _writer("asfamc", "write_amc")),
    Format("npz", (".npz",), "NumPy arrays; keeps everything", _stated("npz", "read_npz"), _writer("npz", "write_npz")),
    Format("glb", (".glb",), "binary glTF with a mannequin", _stated("_gltf_read", "read_glb_clips", "figure", "take"),
           _writer("gltf", "write_glb"), several=True),
    Format("usd", (".usda", ".usdc", ".usd"), "Universal Scene Description with a mannequin",
           _stated("usd", "read_usd_clips", "figure"), _writer("usd", "write_usd"), needs="pxr", several=True),
    Format("fbx", (".fbx",), "Autodesk FBX (read only)", _read_fbx, None, several=True),
    Format("csv", (".csv",), "joint positions as a table (write only)", None, _writer("csv", "write_csv")),
)  # fmt: skip
"""Every file type that is read or written."""


INSTEAD = (
    "Blender, Unreal, Unity (glTFast) and three.js open .glb, Maya and Houdini .usd, MotionBuilder and all of them .bvh"
)
"""What to write instead of a type that is only read."""


def find_format(path: str | Path, *, readable: bool = False) -> Format:
    """The file type that a name's suffix stands for: one that can be read, or else one that can be written."""
    suffix = Path(path).suffix.lower()
    for known in FORMATS:
        if suffix in known.suffixes:
            if readable and known.reader is None:
                raise FormatError(f"{known.name} files are written but not read", path=path)
            if not readable and known.writer is None:
                raise FormatError(f"{known.name} files are read but not written; {INSTEAD}", path=path)
            return known
    if readable and not Path(path).exists():
        raise FormatError("there is no such file or folder", path=path)
    if readable and Path(path).is_dir():
        raise FormatError("is a folder; give a motion file", path=path)
    if suffix == ".asf":
        raise FormatError("is a skeleton without motion; give the .amc file", path=path)
    if suffix == ".mog":
        raise FormatError(
            "is a motion graph, no motion; it can be looked into (open_graph), and verbs use it", path=path
        )
    types = ", ".join(suffixes(readable=readable))
    raise FormatError(f"unknown file type {suffix or '(no suffix)'!r}; known: {types}", path=path)


def suffixes(*, readable: bool = False) -> list[str]:
    """Suffixes of the file types that can be written, or of those that can be read."""
    return [s for known in FORMATS if (known.reader if readable else known.writer) for s in known.suffixes]


def read_clip(
    path: str | Path,
    *,
    fps: float | None = None,
    metres_per_unit: float | str | None = None,
    up_axis: str | None = None,
    asf: str | Path | None = None,
    figure: int = 0,
    take: int | str = 0,
) -> Clip:
    """The motion in a file, in metres, y up; the type is told by the suffix.

    >>> from choreograph.demo import demo_clip
    >>> write_clip("walk.bvh", demo_clip("walk", 30.0))
    >>> read_clip("walk.bvh").fps
    30.0

    Args:
        path: A .bvh, .amc, .npz, .glb, .usd or .fbx file.
        fps: Frames per second, instead of what the file says or the format's default.
        metres_per_unit: Unit of length, instead of the one judged by the body's height: a number or "cm", "m", "in" …
        up_axis: "y", "z" …, instead of the one judged by the motion.
        asf: Skeleton of an AMC file, instead of the one found beside it.
        figure: Which of several figures in a GLB, USD or FBX file, from 0; see `read_figures`.
        take: Which of several takes (animations) in a GLB or FBX file, by number or name; see `read_clips`.

    Returns:
        The clip; `clip.source` says which unit and axis were taken and why, and what was odd about the file.

    Raises:
        FormatError: naming file, line where there is one, and reason.
    """
    return _read(path, ReadOptions(fps, metres_per_unit, up_axis, asf, figure, take))[0]


def read_figures(path: str | Path, **options: Any) -> list[Clip]:
    """All figures of a file, a clip each: GLB and USD files may hold several that move together.

    >>> from choreograph.demo import demo_clip
    >>> walk = demo_clip("walk", 30.0)
    >>> write_clip("two.glb", [walk, walk.mirrored()])
    >>> len(read_figures("two.glb"))
    2

    Args:
        path: A .bvh, .amc, .npz, .glb, .usd or .fbx file.
        **options: What `read_clip` takes.
    """
    return _read(path, ReadOptions(**({"figure": None} | options)))


def read_clips(path: str | Path, **options: Any) -> list[Clip]:
    """All motions of a file, for a library: every figure in every take, named by the file and the take.

    A take that moves none of a figure's joints is left out; `source.notes` of the first clip say so.

    >>> from choreograph.demo import demo_clip
    >>> write_clip("moves.glb", [demo_clip("walk", 30.0), demo_clip("run", 30.0)], takes=True)
    >>> [clip.name for clip in read_clips("moves.glb")]
    ['walk', 'run']

    Args:
        path: A .bvh, .amc, .npz, .glb, .usd or .fbx file.
        **options: What `read_clip` takes; with `figure` or `take` those alone are read.
    """
    return _read(path, ReadOptions(**({"figure": None, "take": None} | options)))


def _read(path: str | Path, options: ReadOptions) -> list[Clip]:
    known = find_format(path, readable=True)
    assert known.reader is not None
    if options.figure and not known.several:
        raise RequestError(
            f"{known.name} files hold one figure, so there is no number {options.figure} (they count from 0)"
        )
    options.check()
    try:
        return known.reader(Path(path), options)
    except ValueError as error:  # a clip's own checks: the file's numbers do not make a motion
        raise FormatError(str(error), path=path) from error


def write_clip(path: str | Path, clip: Clip | Sequence[Clip], *, overwrite: bool = False, **options: Any) -> None:
    """Write a motion; the type is told by the suffix.

    >>> from choreograph.demo import demo_clip
    >>> write_clip("jump.npz", demo_clip("jump_high", 60.0))
    >>> read_clip("jump.npz").name
    'jump_high'

    Args:
        path: A .bvh, .amc, .npz, .glb, .usd or .csv file.
        clip: What to write; GLB and USD files take several figures that move together.
        overwrite: Replace a file that exists.
        **options: What the format's own writer takes, such as `metres_per_unit` for BVH.
    """
    known = find_format(path)
    assert known.writer is not None
    if not isinstance(clip, Clip) and not known.several:
        if len(clip) != 1:
            raise RequestError(f"{path}: {known.name} files hold one figure, not {len(clip)}; write .glb or .usdc")
        (clip,) = clip
    known.writer(Path(path), clip, overwrite=overwrite, **options)
