"""Motions as pipelines want them: rate, range, how the body travels, unit, axis, names, and what each program likes.

A preset says what a program expects of a file; whatever you set yourself counts before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from annotated_types import Ge, Gt, Le
from pydantic import model_validator

from choreograph.base.errors import RequestError
from choreograph.contract.request import Hertz, Option, Request, Seconds, Wrong
from choreograph.formats.registry import find_format, write_clip
from choreograph.formats.world import parse_unit
from choreograph.motion.clip import Clip
from choreograph.motion.root_motion import in_place, with_root_bone

Program = Literal["blender", "unreal", "unity", "maya", "three", "godot"]
RootMotion = Literal["hips", "in_place", "bone"]
T = TypeVar("T")

_UNITS = ("bvh", "amc", "usd")
_AXES = ("bvh", "usd")


@dataclass(frozen=True)
class Preset:
    """What a program expects."""

    suffixes: tuple[str, ...]
    """Files that it opens as they are."""
    root: RootMotion = "hips"
    unit: str | None = None
    """In formats that leave it open."""
    up: Literal["y", "z"] | None = None
    root_at_origin: bool = False
    """Whether the root of a BVH file must rest at the origin."""


_USD = (".usdc", ".usda", ".usd")
PRESETS: dict[str, Preset] = {
    # Its BVH importer takes a unit for a metre and y for up; glTF and USD say theirs.
    "blender": Preset((".glb", ".bvh", *_USD)),
    # Root motion is taken from a bone at the floor; lengths are centimetres, z is up, where the file leaves that open.
    "unreal": Preset((".glb", *_USD), root="bone", unit="cm", up="z"),
    "unity": Preset((".glb",), root="bone"),
    # Scenes are in centimetres, y up.
    "maya": Preset(_USD, unit="cm"),
    # Its BVH loader adds the root's rest place to where its channels say it is.
    "three": Preset((".glb", ".bvh"), root_at_origin=True),
    # The root motion track of an AnimationTree names a bone.
    "godot": Preset((".glb",), root="bone"),
}
"""By program."""


class ExportSettings(Request):
    """How motion files are written."""

    panel: ClassVar[str] = "Export"

    program: Annotated[Program, Option(("--for",), advanced=False)] | None = None
    """Set up for this program; what else is set counts before that."""
    rate_hz: Annotated[Hertz, Gt(0), Le(10_000), Option(("--rate",))] | None = None
    """Frames per second to write; else as many as there are."""
    start_s: Annotated[Seconds, Ge(0), Le(1e6), Option(("--out-start",))] | None = None
    """Where the file begins in the motion."""
    end_s: Annotated[Seconds, Gt(0), Le(1e6), Option(("--out-end",))] | None = None
    """Where it ends."""
    root: Annotated[RootMotion, Option(("--out-root",))] | None = None
    """What travels: the hips; nothing, the body stays in place; or a bone of its own at the floor, above the hips."""
    unit: Annotated[str, Option(("--out-unit",))] | None = None
    """Unit of length in BVH, AMC and USD files: m, cm, in, cmu …; else metres."""
    up: Annotated[Literal["y", "z"], Option(("--out-up",))] | None = None
    """Axis that is up in BVH and USD files; else y."""
    title: Annotated[str, Option(("--out-name",))] | None = None
    """Name of the motion in the file; else that of the file."""

    @model_validator(mode="after")
    def _fits(self) -> ExportSettings:
        if self.start_s is not None and self.end_s is not None and self.end_s <= self.start_s:
            raise Wrong("end_s", f"is {self.end_s:g}, not after start_s, {self.start_s:g}")
        if self.unit is not None:
            try:
                parse_unit(self.unit)
            except RequestError as error:
                raise Wrong("unit", str(error)) from None
        return self

    @property
    def preset(self) -> Preset:
        """What the program expects; the usual where none is named."""
        return PRESETS[self.program] if self.program is not None else Preset(())

    def check(self, path: Path, *, takes: bool = False, own_body: bool = False) -> None:
        """Refuse what the file's type cannot hold, before any work is done.

        Args:
            path: The file.
            takes: Whether several takes go into it.
            own_body: Whether it is a character's own file, whose joints stay as they are.

        Raises:
            RequestError: Naming what can be had instead.
        """
        known, preset = find_format(path), self.preset
        if self.program is not None and path.suffix.lower() not in preset.suffixes:
            raise RequestError(
                f"{path.name}: for {self.program} write {' or '.join(preset.suffixes)}, not {path.suffix}"
            )
        if takes and known.name != "glb":
            raise RequestError(f"{path.name}: takes are written as .glb; a {path.suffix} file holds one motion")
        if self.unit is not None and known.name not in _UNITS:
            raise RequestError(f"{path.suffix} files are always in metres; BVH, AMC and USD have other units (unit)")
        if self.up is not None and known.name not in _AXES:
            raise RequestError(f"in {path.suffix} files y is always up; BVH and USD may have another axis (up)")
        if own_body and known.name == "glb" and self.root == "bone":
            raise RequestError(
                f"{path.name}: a character's own file keeps its joints, so no bone is added; motion in place (root) "
                "can be had, or write .bvh or .usdc"
            )
        if known.name == "amc" and _first(self.root, preset.root) == "bone":
            raise RequestError(f"{path.name}: an AMC file has no place for a bone that moves; write .bvh or .glb")

    def writer_options(self, path: Path) -> dict[str, Any]:
        """What the format's own writer is told."""
        known = find_format(path).name
        unit, up = _first(self.unit, self.preset.unit), _first(self.up, self.preset.up)
        options: dict[str, Any] = {}
        if unit is not None and known in _UNITS:
            options["metres_per_unit"] = parse_unit(unit)
        if up is not None and known in _AXES:
            options["up_axis"] = up
        if self.preset.root_at_origin and known == "bvh":
            options["root_at_origin"] = True
        return options

    def apply(self, clip: Clip, *, own_body: bool = False) -> Clip:
        """The motion as it is written: its part, at its rate, travelling as asked.

        >>> from choreograph.demo import demo_clip
        >>> clip = ExportSettings(rate_hz=24, start_s=1, end_s=2, root="bone").apply(demo_clip("walk", 60.0))
        >>> len(clip), clip.fps, clip.skeleton.names[0]
        (24, 24.0, 'root')

        Args:
            clip: The motion.
            own_body: Whether it goes into a character's own file, to which no bone is added.

        Raises:
            RequestError: If the part lies outside of the motion.
        """
        if self.start_s is not None or self.end_s is not None:
            start = 0 if self.start_s is None else round(self.start_s * clip.fps)
            stop = len(clip) if self.end_s is None else round(self.end_s * clip.fps)
            if start >= len(clip):
                raise RequestError(
                    f"start_s is {self.start_s:g}, behind the end of {clip.name!r} at {clip.seconds:.2f} s",
                    where="start_s",
                )
            clip = clip[start : max(stop, start + 1)]
        clip = clip.resampled(self.rate_hz) if self.rate_hz is not None else clip
        root = _first(self.root, self.preset.root)
        if root == "in_place":
            clip = in_place(clip)
        elif root == "bone" and not own_body:
            clip = with_root_bone(clip)
        return clip if self.title is None else clip.with_name(self.title)


def _first(*values: T | None) -> T | None:
    return next((value for value in values if value is not None), None)


def export_clip(
    path: str | Path,
    clip: Clip | Sequence[Clip],
    settings: ExportSettings | None = None,
    *,
    takes: bool = False,
    overwrite: bool = False,
) -> None:
    """Write a motion as a pipeline wants it; the type is told by the suffix.

    >>> from choreograph.demo import demo_clip
    >>> export_clip("walk_unreal.glb", demo_clip("walk", 30.0), ExportSettings("unreal"))
    >>> from choreograph.formats import read_clip
    >>> read_clip("walk_unreal.glb").skeleton.names[0]
    'root'

    Args:
        path: A .bvh, .amc, .npz, .glb, .usd or .csv file.
        clip: What to write; GLB and USD files take several figures that move together.
        settings: Rate, range, root motion, unit, axis, name, or a program to set them for.
        takes: Whether several clips are takes of one figure, in a GLB file, instead of figures that move together.
        overwrite: Replace a file that exists.
    """
    settings = settings or ExportSettings()
    path = Path(path)
    settings.check(path, takes=takes)
    clips = [settings.apply(one) for one in ([clip] if isinstance(clip, Clip) else clip)]
    if settings.title is not None and len(clips) > 1:
        clips = [one.with_name(f"{settings.title}_{k}") for k, one in enumerate(clips, 1)]
    more = {"takes": True} if takes else {}
    write_clip(path, clips, overwrite=overwrite, **more, **settings.writer_options(path))
