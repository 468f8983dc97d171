"""`choreograph convert`: motion files into other motion files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from choreograph.cli.common import (
    AsfOption,
    ForceOption,
    FpsOption,
    Inputs,
    RoleOption,
    TrimOption,
    UnitOption,
    UpOption,
    console,
    expand_inputs,
    progress_bar,
    read_inputs,
)
from choreograph.errors import RequestError

if TYPE_CHECKING:
    from choreograph.motion.clip import Clip


def convert(
    files: Inputs,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="File to write, or folder where there are several inputs.")
    ],
    to: Annotated[
        str | None, typer.Option("--to", help="Type to write into a folder: bvh, amc, npz, glb, usda, usdc or csv.")
    ] = None,
    fps: FpsOption = None,
    unit: UnitOption = None,
    up: UpOption = None,
    asf: AsfOption = None,
    role: RoleOption = None,
    trim: TrimOption = False,
    rate: Annotated[float | None, typer.Option("--rate", help="Resample to this many frames per second.")] = None,
    start: Annotated[int | None, typer.Option("--start", help="First frame to keep.")] = None,
    stop: Annotated[int | None, typer.Option("--stop", help="Frame to stop before.")] = None,
    figure: Annotated[
        int | None, typer.Option("--figure", min=0, help="Which of several figures, from 0.", show_default="all")
    ] = None,
    mirror: Annotated[bool, typer.Option("--mirror", help="Exchange left and right.")] = False,
    out_unit: Annotated[
        str | None, typer.Option("--out-unit", help="Unit of length to write BVH or AMC in: m, cm, in, cmu …")
    ] = None,
    force: ForceOption = False,
) -> None:
    """Convert motion files: BVH, ASF/AMC, NPZ, GLB and USD in; the same and CSV of joint positions out.

    Every file is read before the first one is written: if one is broken, nothing is written.

    Examples:

      choreograph convert 16_47.amc -o walk.bvh

      choreograph convert recordings/ -o converted/ --to glb --rate 30

      choreograph convert old.bvh -o new.bvh --trim --out-unit cm
    """
    from choreograph.formats import write_clip
    from choreograph.formats.atomic import check_writable
    from choreograph.formats.registry import find_format
    from choreograph.formats.world import parse_unit

    paths = expand_inputs(files)
    targets = _targets(paths, output, to)
    options = {} if out_unit is None else {"metres_per_unit": parse_unit(out_unit)}
    for target in targets:
        if options and find_format(target).name not in ("bvh", "amc"):
            raise RequestError(f"--out-unit is for BVH and AMC; {target.suffix} files are always in metres")
        check_writable(target, overwrite=force)
        if target.suffix.lower() == ".amc":  # its skeleton is written beside it
            check_writable(target.with_suffix(".asf"), overwrite=force)
    with progress_bar() as progress:
        scenes: list[list[Clip]] = []
        for k, path in enumerate(paths):
            clips = read_inputs(path, fps=fps, unit=unit, up=up, asf=asf, roles=role, trim=trim)
            if figure is not None:
                if figure >= len(clips):
                    raise RequestError(f"{path}: there is no figure {figure}; it holds {len(clips)}, counted from 0")
                clips = [clips[figure]]
            elif len(clips) > 1 and find_format(targets[k]).figures is None:
                raise RequestError(
                    f"{path} holds {len(clips)} figures, a {targets[k].suffix} file one: choose with --figure 0, or "
                    "write .glb or .usdc"
                )
            clips = [clip[start:stop] for clip in clips] if start is not None or stop is not None else clips
            clips = [clip.resampled(rate) for clip in clips] if rate is not None else clips
            scenes.append([clip.mirrored() for clip in clips] if mirror else clips)
            progress("reading", k + 1, len(paths))
        for k, (scene, target) in enumerate(zip(scenes, targets, strict=True)):
            write_clip(target, scene, overwrite=force, **options)
            progress("writing", k + 1, len(paths))
    what = str(targets[0]) if len(targets) == 1 else f"{len(targets)} files in {output}"
    console.print(f"wrote {what}", highlight=False, markup=False, soft_wrap=True)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("convert")(convert)


def _targets(paths: list[Path], output: Path, to: str | None) -> list[Path]:
    """Where each input goes."""
    from choreograph.formats.registry import find_format, suffixes

    if to is None:
        if len(paths) > 1:
            raise RequestError(f"{len(paths)} inputs need a folder and a type: -o FOLDER --to bvh")
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
