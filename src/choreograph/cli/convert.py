"""`choreograph convert`: motion files into other motion files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from annotated_types import Ge, Gt, Le
from pydantic import Field

from choreograph.base.errors import RequestError
from choreograph.cli.common import console, progress_bar
from choreograph.cli.tool import FILES, Files, Force, Output, Reading, add_tool, say_notes
from choreograph.contract.request import Hertz, Option, Request
from choreograph.formats.export import ExportSettings, export_clip
from choreograph.formats.inputs import find_motion_files

if TYPE_CHECKING:
    from choreograph.motion.clip import Clip


class Exporting(ExportSettings):
    """How motion files are written."""

    rate_hz: Annotated[Hertz, Gt(0), Le(10_000), Option(("--rate", "--out-rate"))] | None = None
    """Resample to this many frames per second."""


class ConvertOptions(Request):
    """What becomes what."""

    files: Annotated[Files, Field(description=FILES)]
    output: Output
    """File to write, or folder where there are several inputs."""
    to: str | None = None
    """Type to write into a folder: bvh, amc, npz, glb, usda, usdc or csv."""
    takes: bool = False
    """Write all inputs into one GLB file, as takes of one figure."""
    start: int | None = None
    """First frame to keep."""
    stop: int | None = None
    """Frame to stop before."""
    figure: Annotated[int, Ge(0), Option(("--figure",))] | None = None
    """Which of several figures, from 0; else all."""
    mirror: bool = False
    """Exchange left and right."""
    export: Exporting = Field(default_factory=Exporting)
    """How files are written."""
    reading: Reading = Field(default_factory=Reading)
    """How files are read."""
    force: Force = False
    """Overwrite what exists."""


def convert(options: ConvertOptions) -> None:
    """Convert motion files: BVH, ASF/AMC, NPZ, GLB, USD, FBX in; all but FBX, and CSV of positions, out.

    Every file is read before the first one is written: if one is broken, nothing is written. --for sets root motion,
    unit and axis as a program expects them; --takes writes several motions of one body into one GLB file.

    Examples:

      choreograph convert 16_47.amc -o walk.bvh

      choreograph convert recordings/ -o converted/ --to glb --rate 30

      choreograph convert old.bvh -o new.bvh --trim --out-unit cm

      choreograph convert walk.bvh -o walk.glb --for unreal

      choreograph convert walk.bvh run.bvh idle.bvh -o moves.glb --takes --for godot
    """
    paths = find_motion_files(options.files)
    targets = [options.output] * len(paths) if options.takes else _targets(paths, options.output, options.to)
    _check(targets, options)
    with progress_bar() as progress:
        scenes: list[list[Clip]] = []
        for k, (path, target) in enumerate(zip(paths, targets, strict=True)):
            scenes.append([_changed(clip, options) for clip in _figures(path, target, options)])
            progress("reading", k + 1, len(paths))
        say_notes(clip for scene in scenes for clip in scene)
        if options.takes:
            scenes, targets = [[clip for scene in scenes for clip in scene]], targets[:1]
        for k, (scene, target) in enumerate(zip(scenes, targets, strict=True)):
            export_clip(target, scene, options.export, takes=options.takes, overwrite=options.force)
            progress("writing", k + 1, len(targets))
    what = str(targets[0]) if len(targets) == 1 else f"{len(targets)} files in {options.output}"
    console.print(f"wrote {what}", highlight=False, markup=False, soft_wrap=True)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    add_tool(app, "convert", ConvertOptions, convert)


def _check(targets: Sequence[Path], options: ConvertOptions) -> None:
    """Refuse what could not be written, before anything is read."""
    from choreograph.formats.atomic import check_writable

    if options.takes and options.to is not None:
        raise RequestError("--takes writes one file; --to writes one for each input")
    for target in targets:
        options.export.check(target, takes=options.takes)
        check_writable(target, overwrite=options.force)
        if target.suffix.lower() == ".amc":  # its skeleton is written beside it
            check_writable(target.with_suffix(".asf"), overwrite=options.force)


def _figures(path: Path, target: Path, options: ConvertOptions) -> list[Clip]:
    """The figures of a file that go into another."""
    from choreograph.formats.registry import find_format

    clips = options.reading.read(path)
    if options.figure is not None:
        if options.figure >= len(clips):
            raise RequestError(f"{path}: there is no figure {options.figure}; it holds {len(clips)}, counted from 0")
        return [clips[options.figure]]
    if len(clips) > 1 and options.takes:
        raise RequestError(f"{path} holds {len(clips)} figures, takes are of one: choose with --figure 0")
    if len(clips) > 1 and not find_format(target).several:
        raise RequestError(
            f"{path} holds {len(clips)} figures, a {target.suffix} file one: choose with --figure 0, or "
            "write .glb or .usdc"
        )
    return clips


def _changed(clip: Clip, options: ConvertOptions) -> Clip:
    clip = clip[options.start : options.stop] if options.start is not None or options.stop is not None else clip
    return clip.mirrored() if options.mirror else clip


def _targets(paths: list[Path], output: Path, to: str | None) -> list[Path]:
    """Where each input goes."""
    from choreograph.formats.registry import find_format, suffixes

    if to is None:
        if len(paths) > 1:
            raise RequestError(
                f"{len(paths)} inputs need a folder and a type: -o FOLDER --to bvh; or --takes and one .glb file"
            )
        find_format(output)
        return [output]
    suffix = f".{to.lower().lstrip('.')}"
    suffix = ".usdc" if suffix == ".usd" else suffix
    if suffix not in suffixes():
        raise RequestError(f"unknown type {to!r}; known: {', '.join(s.lstrip('.') for s in suffixes())}")
    targets = [output / f"{path.stem}{suffix}" for path in paths]
    seen: dict[Path, Path] = {}
    for path, target in zip(paths, targets, strict=True):
        if target in seen:
            raise RequestError(f"{seen[target]} and {path} would both become {target}; convert them separately")
        seen[target] = path
    return targets
