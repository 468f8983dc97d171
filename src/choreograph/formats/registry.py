"""Which file types there are, and the two calls that choose between them by a file's name."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from choreograph.errors import FormatError, RequestError
from choreograph.formats.world import UP_AXES, Unit, parse_unit
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
    figure: int = 0
    """Which of several figures."""
    take: int | str = 0
    """Which of several animations, by number or name."""

    def unit(self) -> Unit | None:
        """The unit of length, if the caller gave one."""
        return None if self.metres_per_unit is None else Unit(parse_unit(self.metres_per_unit), "given")

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
    reader: Callable[[Path, ReadOptions], Clip] | None = None
    writer: Callable[..., None] | None = None
    needs: str | None = None
    """Module that an extra brings."""
    figures: Callable[[Path], int] | None = None
    """How many figures a file holds, where it can be more than one."""
    read_all: Callable[[Path], list[Clip]] | None = None
    """All figures of a file at once, where that is less work than one after another."""

    @property
    def available(self) -> bool:
        """Whether everything it needs is installed."""
        return self.needs is None or importlib.util.find_spec(self.needs) is not None


def _read_bvh(path: Path, options: ReadOptions) -> Clip:
    from choreograph.formats.bvh import read_bvh

    return read_bvh(path, fps=options.fps, unit=options.unit(), up_axis=options.up_axis)


def _read_amc(path: Path, options: ReadOptions) -> Clip:
    from choreograph.formats.asfamc import read_amc

    return read_amc(path, asf=options.asf, fps=options.fps, unit=options.unit(), up_axis=options.up_axis)


def _read_fbx(path: Path, options: ReadOptions) -> Clip:
    from choreograph.formats.fbx import read_fbx

    return read_fbx(
        path, figure=options.figure, take=options.take, fps=options.fps, unit=options.unit(), up_axis=options.up_axis
    )


def _stated(
    module: str, function: str, *, several: bool = False, takes: bool = False
) -> Callable[[Path, ReadOptions], Clip]:
    """A reader of a format that states its own units and axes; only the frame rate can be overruled."""

    def read(path: Path, options: ReadOptions) -> Clip:
        which: dict[str, Any] = {"figure": options.figure} if several else {}
        which |= {"take": options.take} if takes else {}
        clip: Clip = getattr(importlib.import_module(f"choreograph.formats.{module}"), function)(path, **which)
        return clip if options.fps is None else replace(clip, fps=options.fps)

    return read


def _counter(module: str, function: str) -> Callable[[Path], int]:
    def count(path: Path) -> int:
        return int(getattr(importlib.import_module(f"choreograph.formats.{module}"), function)(path))

    return count


def _together(module: str, function: str) -> Callable[[Path], list[Clip]]:
    def read(path: Path) -> list[Clip]:
        clips: list[Clip] = getattr(importlib.import_module(f"choreograph.formats.{module}"), function)(path)
        return clips

    return read


def _writer(module: str, function: str) -> Callable[..., None]:
    def write(path: Path, clip: Clip | Sequence[Clip], **options: Any) -> None:
        getattr(importlib.import_module(f"choreograph.formats.{module}"), function)(path, clip, **options)

    return write


FORMATS: tuple[Format, ...] = (
    Format("bvh", (".bvh",), "Biovision hierarchy", _read_bvh, _writer("bvh", "write_bvh")),
    Format("amc", (".amc",), "Acclaim motion, with its .asf", _read_amc, _writer("asfamc", "write_amc")),
    Format("npz", (".npz",), "NumPy arrays; keeps everything", _stated("npz", "read_npz"), _writer("npz", "write_npz")),
    Format("glb", (".glb",), "binary glTF with a mannequin", _stated("gltf", "read_glb", several=True, takes=True),
           _writer("gltf", "write_glb"), figures=_counter("_gltf_read", "count_glb_figures")),
    Format("usd", (".usda", ".usdc", ".usd"), "Universal Scene Description with a mannequin",
           _stated("usd", "read_usd", several=True), _writer("usd", "write_usd"), needs="pxr",
           figures=_counter("usd", "count_usd_figures"), read_all=_together("usd", "read_usd_figures")),
    Format("fbx", (".fbx",), "Autodesk FBX (read only)", _read_fbx, None, figures=_counter("fbx", "count_fbx_figures")),
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
            "is a motion graph, no motion; choreograph info says what is in it, and verbs use it", path=path
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
        take: Which of several animations in a GLB or FBX file, by number or name.

    Returns:
        The clip; `clip.source` says which unit and axis were taken and why, and what was odd about the file.

    Raises:
        FormatError: naming file, line where there is one, and reason.
    """
    known = find_format(path, readable=True)
    assert known.reader is not None
    if figure and known.figures is None:
        raise RequestError(f"{known.name} files hold one figure, so there is no number {figure} (they count from 0)")
    options = ReadOptions(fps, metres_per_unit, up_axis, asf, figure, take)
    options.check()
    try:
        return known.reader(Path(path), options)
    except ValueError as error:  # a clip's own checks: the file's numbers do not make a motion
        raise FormatError(str(error), path=path) from error


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
    known = find_format(path, readable=True)
    if known.read_all is not None and "figure" not in options:
        given = ReadOptions(**options)
        given.check()
        clips = known.read_all(Path(path))
        return clips if given.fps is None else [replace(clip, fps=given.fps) for clip in clips]
    count = known.figures
    return [read_clip(path, **options, figure=k) for k in range(1 if count is None else max(count(Path(path)), 1))]


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
    if not isinstance(clip, Clip) and known.figures is None:
        if len(clip) != 1:
            raise RequestError(f"{path}: {known.name} files hold one figure, not {len(clip)}; write .glb or .usdc")
        (clip,) = clip
    known.writer(Path(path), clip, overwrite=overwrite, **options)
