"""`choreograph render`: pictures and films of motion."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from pydantic import Field

from choreograph.base.errors import RequestError
from choreograph.cli.common import console, parse_size, progress_bar
from choreograph.cli.tool import FILES, Files, Force, Output, Reading, add_tool, say_notes
from choreograph.contract.request import Hertz, Request
from choreograph.formats.inputs import find_motion_files

if TYPE_CHECKING:
    from choreograph.motion.clip import Clip
    from choreograph.pictures.drawing import Drawing

Theme = Literal["dark", "light"]


class RenderOptions(Request):
    """What is drawn, and how."""

    files: Annotated[Files, Field(description=FILES)]
    output: Output
    """Picture (.png) or film (.mp4, .gif) to write, or a folder with --to."""
    to: str | None = None
    """One picture or film per input into a folder: png, mp4 or gif."""
    size: str | None = None
    """Pixels, as 1280x720; a width alone suits a sheet. Else 960x540, GIF 640x360, sheet 1920."""
    every: int | None = None
    """Sheet: a figure every so many frames; else as suits the motion."""
    frame: int | None = None
    """A picture of this one frame, not a sheet."""
    camera: Literal["follow", "side", "front", "top", "fixed"] | None = None
    """Film or --frame: where from; else follow."""
    rate_hz: Hertz | None = None
    """Film: frames per second; else 30, GIF 25."""
    theme: Theme = "dark"
    """Colours."""
    bare: bool = False
    """Film or --frame: no path, footprints or caption."""
    transparent: bool = False
    """--frame: the figures alone, on a transparent ground."""
    start: int | None = None
    """First frame to show."""
    stop: int | None = None
    """Frame to stop before."""
    character: Path | None = None
    """Show this character (.glb, .vrm, .fbx), with its materials; else the mannequin of the recorded body."""
    reading: Reading = Field(default_factory=Reading)
    """How files are read."""
    force: Force = False
    """Overwrite what exists."""

    def drawing(self) -> Drawing:
        """How it is drawn."""
        from choreograph.pictures.drawing import Drawing

        return Drawing(
            None if self.size is None else parse_size(self.size), self.theme, self.every, self.frame, self.camera,
            self.rate_hz, self.bare, self.transparent,
        )  # fmt: skip


def render(options: RenderOptions) -> None:
    """Draw motion: a contact sheet (.png), or a film (.mp4, .gif) with a following camera.

    Several inputs make one overview, or play together on one stage. Left footprints are filled, right ones open.

    Examples:

      choreograph render 16_47.amc -o walk.png

      choreograph render 60_03.amc 61_03.amc -o salsa.mp4 --size 1280x720

      choreograph render recordings/ -o overview.png

      choreograph render recordings/ -o films/ --to gif --theme light

      choreograph render jump.bvh -o apex.png --frame 140 --camera side --transparent

      choreograph render walk.bvh -o hero.mp4 --character hero.glb
    """
    from choreograph.pictures.drawing import write_drawing

    paths = find_motion_files(options.files)
    targets = [options.output] if options.to is None else _targets(paths, options.output, options.to)
    _check(targets, options)
    with progress_bar() as progress:
        scenes = []
        for done, path in enumerate(paths, 1):
            part = options.start is not None or options.stop is not None
            scenes.append([clip[options.start : options.stop] if part else clip for clip in options.reading.read(path)])
            progress("reading", done, len(paths))
        say_notes(clip for scene in scenes for clip in scene)
        if options.character is not None:
            scenes = [_on_character(scene, options.character) for scene in scenes]
        if options.to is None:
            scenes = [[clip for scene in scenes for clip in scene]]
        for target, scene in zip(targets, scenes, strict=True):
            bodies = [] if options.character is None else [str(options.character)] * len(scene)
            write_drawing(target, scene, options.drawing(), bodies=bodies, overwrite=options.force, progress=progress)
    what = str(targets[0]) if len(targets) == 1 else f"{len(targets)} files in {options.output}"
    console.print(f"wrote {what}", highlight=False, markup=False, soft_wrap=True)


def _on_character(clips: Sequence[Clip], file: Path) -> list[Clip]:
    """The clips on a character's body."""
    from choreograph.finishing.retarget_clean import put_on
    from choreograph.formats.character import read_character

    character = read_character(file)
    return [put_on(clip, character.skeleton, sole_m=character.sole_m, keep_way=True).clip for clip in clips]


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    add_tool(app, "render", RenderOptions, render)


def _check(targets: Sequence[Path], options: RenderOptions) -> None:
    """Refuse what does not go together."""
    from choreograph.formats.atomic import check_writable
    from choreograph.pictures.drawing import check_drawing

    check_drawing(targets[0])
    suffix = targets[0].suffix.lower()
    sheet = suffix == ".png" and options.frame is None
    if sheet and (options.camera is not None or options.rate_hz is not None or options.bare):
        raise RequestError("--camera, --rate and --bare are for films; for a still of one frame add --frame N")
    if not sheet and options.every is not None:
        raise RequestError("--every is for contact sheets; a film shows every frame")
    if options.frame is not None and (suffix != ".png" or options.rate_hz is not None):
        raise RequestError("--frame makes one picture: give a .png name and no --rate")
    if options.transparent and options.frame is None:
        raise RequestError("--transparent is for a picture of one frame: add --frame N and a .png name")
    for target in targets:
        check_writable(target, overwrite=options.force)


def _targets(paths: Sequence[Path], folder: Path, to: str) -> list[Path]:
    """Where the picture of each input goes."""
    targets = [folder / f"{path.stem}.{to.lower().lstrip('.')}" for path in paths]
    twice = sorted({target.name for target in targets if targets.count(target) > 1})
    if twice:
        raise RequestError(f"several inputs would become {', '.join(twice)}; render them separately")
    return targets
