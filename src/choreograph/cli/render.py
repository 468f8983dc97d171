"""`choreograph render`: pictures and films of motion."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
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
    from choreograph.progress import Progress


class View(StrEnum):
    """Where a film is seen from."""

    follow = "follow"
    side = "side"
    front = "front"
    top = "top"
    fixed = "fixed"


class Look(StrEnum):
    """Themes."""

    dark = "dark"
    light = "light"


def render(
    files: Inputs,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="Picture (.png) or film (.mp4, .gif) to write, or a folder with --to."),
    ],
    to: Annotated[
        str | None, typer.Option("--to", help="One picture or film per input into a folder: png, mp4 or gif.")
    ] = None,
    size: Annotated[
        str | None,
        typer.Option(
            "--size",
            help="Pixels, as 1280x720; a width alone suits a sheet. Else 960x540, GIF 640x360, sheet 1920.",
        ),
    ] = None,
    every: Annotated[
        int | None, typer.Option("--every", help="Sheet: a figure every so many frames; else as suits the motion.")
    ] = None,
    frame: Annotated[int | None, typer.Option("--frame", help="A picture of this one frame, not a sheet.")] = None,
    camera: Annotated[View | None, typer.Option("--camera", help="Film or --frame: where from; else follow.")] = None,
    rate: Annotated[float | None, typer.Option("--rate", help="Film: frames per second; else 30, GIF 25.")] = None,
    theme: Annotated[Look, typer.Option("--theme", help="Colours.")] = Look.dark,
    bare: Annotated[bool, typer.Option("--bare", help="Film or --frame: no path, footprints or caption.")] = False,
    start: Annotated[int | None, typer.Option("--start", help="First frame to show.")] = None,
    stop: Annotated[int | None, typer.Option("--stop", help="Frame to stop before.")] = None,
    fps: FpsOption = None,
    unit: UnitOption = None,
    up: UpOption = None,
    asf: AsfOption = None,
    role: RoleOption = None,
    trim: TrimOption = False,
    force: ForceOption = False,
) -> None:
    """Draw motion: a contact sheet (.png), or a film (.mp4, .gif) with a following camera.

    Several inputs make one overview, or play together on one stage. Left footprints are filled, right ones open.

    Examples:

      choreograph render 16_47.amc -o walk.png

      choreograph render 60_03.amc 61_03.amc -o salsa.mp4 --size 1280x720

      choreograph render recordings/ -o overview.png

      choreograph render recordings/ -o films/ --to gif --theme light

      choreograph render jump.bvh -o apex.png --frame 140 --camera side
    """
    from choreograph.formats.atomic import check_writable

    paths = expand_inputs(files)
    targets = [output] if to is None else _targets(paths, output, to)
    suffix = targets[0].suffix.lower()
    if suffix not in (".png", ".mp4", ".gif"):
        raise RequestError(f"pictures are written as .png, films as .mp4 or .gif, not {suffix or 'without a suffix'}")
    sheet = suffix == ".png" and frame is None
    if sheet and (camera is not None or rate is not None or bare):
        raise RequestError("--camera, --rate and --bare are for films; for a still of one frame add --frame N")
    if not sheet and every is not None:
        raise RequestError("--every is for contact sheets; a film shows every frame")
    if frame is not None and (suffix != ".png" or rate is not None):
        raise RequestError("--frame makes one picture: give a .png name and no --rate")
    for target in targets:
        check_writable(target, overwrite=force)
    with progress_bar() as progress:
        scenes = []
        for done, path in enumerate(paths, 1):
            clips = read_inputs(path, fps=fps, unit=unit, up=up, asf=asf, roles=role, trim=trim)
            part = start is not None or stop is not None
            scenes.append([clip[start:stop] if part else clip for clip in clips])
            progress("reading", done, len(paths))
        if to is None:
            scenes = [[clip for scene in scenes for clip in scene]]
        for target, scene in zip(targets, scenes, strict=True):
            if sheet:
                _write_sheet(target, scene, size, every, theme, force, progress)
            else:
                _write_film(target, scene, size, frame, camera, rate, theme, bare, force, progress)
    what = str(targets[0]) if len(targets) == 1 else f"{len(targets)} files in {output}"
    console.print(f"wrote {what}", highlight=False, markup=False, soft_wrap=True)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("render")(render)


def _write_sheet(
    target: Path,
    clips: Sequence[Clip],
    size: str | None,
    every: int | None,
    theme: Look,
    force: bool,
    progress: Progress,
) -> None:
    from choreograph.pictures.sheet import SheetSettings, write_sheet

    width, height = _parse_size(size or "1920")
    settings = SheetSettings(width=width, height=height, every=every, theme=theme.value)
    write_sheet(target, clips, settings, overwrite=force, progress=progress)


def _write_film(
    target: Path,
    clips: Sequence[Clip],
    size: str | None,
    frame: int | None,
    camera: View | None,
    rate: float | None,
    theme: Look,
    bare: bool,
    force: bool,
    progress: Progress,
) -> None:
    from choreograph.pictures.animation import FilmSettings, write_film, write_still

    gif = target.suffix.lower() == ".gif"
    width, height = _parse_size(size or ("640x360" if gif else "960x540"))
    if height is None:
        height = round(width * 9 / 32) * 2
    settings = FilmSettings(
        size=(width, height),
        fps=rate if rate is not None else 25.0 if gif else 30.0,
        camera=(camera or View.follow).value,
        theme=theme.value,
        samples=2 if frame is None else 4,
        paths=not bare,
        plants=not bare,
        caption=not bare,
    )
    if frame is None:
        write_film(target, clips, settings, overwrite=force, progress=progress)
    else:
        write_still(target, clips, frame, settings, overwrite=force)


def _parse_size(text: str) -> tuple[int, int | None]:
    width, _, height = text.lower().partition("x")
    try:
        return int(width), int(height) if height else None
    except ValueError:
        raise RequestError(f"a size is given in pixels, as 1280x720 or 1920; found {text!r}") from None


def _targets(paths: Sequence[Path], folder: Path, to: str) -> list[Path]:
    """Where the picture of each input goes."""
    targets = [folder / f"{path.stem}.{to.lower().lstrip('.')}" for path in paths]
    twice = sorted({target.name for target in targets if targets.count(target) > 1})
    if twice:
        raise RequestError(f"several inputs would become {', '.join(twice)}; render them separately")
    return targets
