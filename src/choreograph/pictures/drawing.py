"""Motion drawn to a file: a contact sheet, a still or a film, as the file's name says. All faces draw through here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from choreograph.base.errors import RequestError
from choreograph.base.progress import Progress
from choreograph.motion.clip import Clip
from choreograph.pictures.animation import FILMS, FilmSettings, check_film, write_film, write_still
from choreograph.pictures.raster import Figure, Stroke
from choreograph.pictures.sheet import SheetSettings, write_sheet

DRAWINGS = (".png", *FILMS)
"""Suffixes of what is drawn: a sheet or a still, and films."""


@dataclass(frozen=True)
class Drawing:
    """How motion is drawn; what is None is as suits the motion and the file."""

    size: tuple[int, int | None] | None = None
    """Pixels across and, if given, down."""
    theme: str = "dark"
    every: int | None = None
    """Sheet: a figure every so many frames."""
    frame: int | None = None
    """A still of this frame instead of a sheet."""
    camera: str | None = None
    """Film or still: where from."""
    fps: float | None = None
    """Film: frames per second."""
    bare: bool = False
    """Film or still: no path, footprints or caption."""
    transparent: bool = False
    """Still: the figures alone."""

    def sheet(self, body: str | None) -> SheetSettings:
        """As a contact sheet."""
        settings = SheetSettings(every=self.every, theme=self.theme, body=body)
        return settings if self.size is None else replace(settings, width=self.size[0], height=self.size[1])

    def film(self, path: Path) -> FilmSettings:
        """As a film or a still: sixteen to nine where only its width is given."""
        usual = FilmSettings.for_file(path)
        width, height = self.size or usual.size
        return replace(
            usual,
            size=(width, round(width * 9 / 32) * 2 if height is None else height),
            fps=usual.fps if self.fps is None else self.fps,
            camera=self.camera or usual.camera,
            theme=self.theme,
            samples=usual.samples if self.frame is None else 4,
            paths=not self.bare,
            plants=not self.bare,
            caption=not self.bare,
            transparent=self.transparent,
        )


def check_drawing(path: str | Path) -> None:
    """Refuse the name of a picture or film that cannot be made: for work that should fail before it has begun.

    Raises:
        RequestError: its suffix is none of `DRAWINGS`.
        MissingExtra: it is an .mp4 file, and there is no ffmpeg.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in DRAWINGS:
        raise RequestError(f"pictures are written as .png, films as .mp4 or .gif, not {suffix or 'without a suffix'}")
    if suffix in FILMS:
        check_film(path)


def write_drawing(
    path: str | Path,
    clips: Sequence[Clip],
    drawing: Drawing = Drawing(),
    *,
    floor: Sequence[Stroke] = (),
    blocks: Sequence[Figure] = (),
    bodies: Sequence[str | None] = (),
    overwrite: bool = False,
    progress: Progress | None = None,
) -> None:
    """Write clips as a contact sheet or a still (.png), or as a film in which they play together (.mp4, .gif).

    Args:
        path: The file.
        clips: What is shown.
        drawing: How.
        floor: Lines that lie on the floor; not in stills.
        blocks: Things that stand on it; not in stills.
        bodies: Files of the characters whose bodies the clips have, where they shall be seen.
        overwrite: Whether a file that is there is replaced.
        progress: Hears how far the work has come.

    Raises:
        RequestError: another suffix, or settings that make no picture.
        MissingExtra: an .mp4 file, and there is no ffmpeg.
        OutputExists: the file is there and `overwrite` is not set.
    """
    path = Path(path)
    check_drawing(path)
    if path.suffix.lower() in FILMS:
        film = drawing.film(path)
        write_film(path, clips, film, floor=floor, blocks=blocks, bodies=bodies, overwrite=overwrite, progress=progress)
    elif drawing.frame is not None:
        write_still(path, clips, drawing.frame, drawing.film(path), bodies=bodies, overwrite=overwrite)
    else:
        sheet = drawing.sheet(next(iter(bodies), None))
        write_sheet(path, clips, sheet, floor=floor, blocks=blocks, overwrite=overwrite, progress=progress)
