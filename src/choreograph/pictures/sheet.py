"""Contact sheets: a whole motion in one still picture, for one clip or a library of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from choreograph.base.arrays import Bytes, Floats, Indices
from choreograph.base.errors import RequestError
from choreograph.base.progress import Progress, silent
from choreograph.formats.atomic import check_writable
from choreograph.motion.clip import Clip
from choreograph.pictures import raster
from choreograph.pictures.animation import write_png
from choreograph.pictures.camera import PictureCamera, fit_camera, mean_facing, smooth
from choreograph.pictures.figures import Actor, cast, find_footprints, thin_path
from choreograph.pictures.raster import Figure, RasterScene, Stroke
from choreograph.pictures.text import shorten, text_width, write_text
from choreograph.pictures.theme import TEAL, Theme, find_theme

SPACING = 0.46
"""Least distance between two figures along the path, in statures: closer ones run into each other."""
MOST_FIGURES = 18  # along one path
BREADTH = np.radians(34.0)
"""Horizontal field of view: a long lens, which draws figures at both ends alike."""


@dataclass(frozen=True)
class SheetSettings:
    """How a contact sheet is made."""

    width: int = 1920
    """Pixels."""
    height: int | None = None
    """Pixels; chosen to suit the motion where not given."""
    every: int | None = None
    """A figure every so many frames of the clip; chosen to suit the motion where not given."""
    theme: str = "dark"
    samples: int = 4
    """Samples across each pixel of the figures, and down."""
    body: str | None = None
    """File of the character whose body the clips have, where it shall be seen."""

    def check(self) -> None:
        """Raise a RequestError for values that make no sense."""
        if not 160 <= self.width <= 7680 or (self.height is not None and not 90 <= self.height <= 7680):
            size = f"{self.width}" if self.height is None else f"{self.width}x{self.height}"
            raise RequestError(f"a sheet is 160 to 7680 pixels wide and 90 to 7680 high, not {size}")
        if self.every is not None and self.every < 1:
            raise RequestError(f"figures come every 1 or more frames, not {self.every}")
        if not 1 <= self.samples <= 8:
            raise RequestError(f"samples across a pixel go from 1 to 8, not {self.samples}")
        find_theme(self.theme)


@dataclass(frozen=True, eq=False)
class _Layout:
    """Where the figures of a sheet stand and where it is seen from."""

    frames: Indices
    shifts: Floats
    """How far each figure is moved on the floor, (N, 2), metres."""
    yaw: float
    elevation: float
    in_place: bool


def draw_sheet(
    clip: Clip,
    settings: SheetSettings | None = None,
    blocks: Sequence[Figure] = (),
    floor: Sequence[Stroke] = (),
) -> Bytes:
    """The contact sheet of a clip, (height, width, 3), sRGB.

    The figure stands along its own path every few frames, with the path and the foot plants on the floor. A motion
    that stays put is laid out in a row instead, from left to right in time.

    Args:
        clip: The motion.
        settings: How it is drawn.
        blocks: Things that stand where it goes; left out where figures are laid out in a row.
        floor: Lines that lie there; left out as well.
    """
    settings = settings or SheetSettings()
    settings.check()
    theme = find_theme(settings.theme)
    unit = settings.width / 1920
    title = 26 * max(unit, 0.55)
    head, foot = 3.2 * title, 2.6 * title
    image, labels = _draw_strip(clip, settings, head, foot, blocks, floor)
    width = image.shape[1]
    edge = 1.6 * title
    _write_times(image, labels, 0.62 * title, theme)
    used = write_text(image, (edge, edge + 0.6 * title), clip.name, title, theme.text)
    facts = f"{clip.seconds:.2f} s · {clip.fps:g} fps · {len(clip)} frame{'s' * (len(clip) > 1)}"
    caption = ", ".join(dict.fromkeys(label.text for label in clip.labels))
    room = width - 3 * edge - used - text_width(facts, 0.75 * title)
    if caption and room > 4 * title:
        caption = shorten(caption, 0.75 * title, room)
        write_text(image, (edge + used + 0.8 * title, edge + 0.6 * title), caption, 0.75 * title, theme.quiet)
    write_text(image, (width - edge, edge + 0.6 * title), facts, 0.75 * title, theme.quiet, align="right")
    return image


def draw_thumbnail(clip: Clip, settings: SheetSettings) -> Bytes:
    """The figures of a contact sheet alone, (height, width, 3), sRGB: nothing is written into the picture."""
    settings.check()
    return _draw_strip(clip, settings, 0.05 * settings.width, 0.03 * settings.width)[0]


def draw_overview(
    clips: Sequence[Clip], settings: SheetSettings | None = None, *, progress: Progress | None = None
) -> Bytes:
    """Many clips in one picture: a small sheet for each, with its name and length, in columns."""
    settings = settings or SheetSettings()
    settings.check()
    if not clips:
        raise RequestError("there is no clip to draw")
    theme, report = find_theme(settings.theme), progress or silent
    columns = 1 if len(clips) == 1 else 2 if len(clips) <= 6 else 3 if len(clips) <= 36 else 4
    rows = -(-len(clips) // columns)
    gap = round(settings.width / 160)
    cell_width = (settings.width - (columns + 1) * gap) // columns
    cell_height = (settings.height - (rows + 1) * gap) // rows if settings.height else round(cell_width * 0.42)
    if cell_height < 60:
        raise RequestError(f"{len(clips)} clips do not fit into {settings.width}x{settings.height}; give more height")
    size = (columns * cell_width + (columns + 1) * gap, rows * cell_height + (rows + 1) * gap)
    line = np.array([int(theme.background[k : k + 2], 16) for k in (1, 3, 5)], np.uint8)
    image = np.tile(line, (size[1], size[0], 1))
    title = max(11.0, cell_width / 40)
    small = replace(settings, width=cell_width, height=cell_height)
    for number, clip in enumerate(clips):
        report("drawing", number, len(clips))
        cell, _ = _draw_strip(clip, small, 2.4 * title, 0.8 * title)
        facts = f"{clip.seconds:.1f} s" if clip.seconds >= 0.1 else f"{len(clip)} frame{'s' * (len(clip) > 1)}"
        right = write_text(cell, (cell_width - title, 1.8 * title), facts, 0.85 * title, theme.quiet, align="right")
        name = shorten(clip.name, title, cell_width - 3 * title - right)
        write_text(cell, (title, 1.8 * title), name, title, theme.text)
        x = gap + number % columns * (cell_width + gap)
        y = gap + number // columns * (cell_height + gap)
        image[y : y + cell_height, x : x + cell_width] = cell
    report("drawing", len(clips), len(clips))
    return image


def write_sheet(
    path: str | Path,
    clips: Sequence[Clip],
    settings: SheetSettings | None = None,
    *,
    blocks: Sequence[Figure] = (),
    floor: Sequence[Stroke] = (),
    overwrite: bool = False,
    progress: Progress | None = None,
) -> None:
    """Write the contact sheet of one clip, with what stands and lies where it goes, or an overview of many, as a PNG.

    Raises:
        RequestError: another suffix, or settings that make no picture.
        OutputExists: the file is there and `overwrite` is not set.
    """
    if Path(path).suffix.lower() != ".png":
        raise RequestError(f"contact sheets are written as .png, not {Path(path).suffix or 'without a suffix'}")
    check_writable(path, overwrite=overwrite)
    one = len(clips) == 1
    image = draw_sheet(clips[0], settings, blocks, floor) if one else draw_overview(clips, settings, progress=progress)
    write_png(path, image, overwrite=overwrite)


def _draw_strip(
    clip: Clip,
    settings: SheetSettings,
    head: float,
    foot: float,
    blocks: Sequence[Figure] = (),
    floor: Sequence[Stroke] = (),
) -> tuple[Bytes, list[tuple[float, float, str]]]:
    """The figures on their floor, with `head` and `foot` pixels kept free, and where their times can be written."""
    actor = cast([clip], [settings.body])[0]
    clip = actor.clip
    layout = _lay_out(clip, settings.every, settings.width / settings.height if settings.height else None)
    bodies = actor.points()[layout.frames] + np.insert(layout.shifts, 1, 0.0, axis=1)[:, None]
    points = bodies.reshape(-1, 3)
    if not layout.in_place:
        path = clip.root_pos * [1, 0, 1]
        points = np.concatenate([points, path])
    height = settings.height or _suitable_height(points, layout, settings.width, head, foot)
    margins = (0.045, 0.045, head / height, foot / height)
    camera = _fit(points, layout, settings.width / height, margins)
    figures = [actor.pose(int(f), (s[0], s[1])) for f, s in zip(layout.frames, layout.shifts, strict=True)]
    figures += [] if layout.in_place else blocks
    spread = float(np.linalg.norm(np.ptp(points[:, [0, 2]], axis=0)))
    strokes = _strokes(clip, layout) if layout.in_place else [*floor, *_strokes(clip, layout)]
    scene = RasterScene(figures, strokes, find_theme(settings.theme), reach=max(6.0, 1.1 * spread))
    image = raster.draw(scene, camera, (settings.width, height), samples=settings.samples)
    return image, _time_places(actor, layout, camera, (settings.width, height))


def _lay_out(clip: Clip, every: int | None, aspect: float | None) -> _Layout:
    path, stature = clip.root_pos[:, [0, 2]], max(clip.skeleton.height, 0.2)
    gone = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(smooth(path, 0.25 * clip.fps), axis=0), axis=1))])
    centre = path - path.mean(axis=0)
    _, axes = np.linalg.eigh(centre.T @ centre)
    across, along = np.ptp(centre @ axes, axis=0)
    # Along a path only where it has room: not for motions that stay put, go over the same ground again and again, or
    # do most of what they do in one place.
    slow = gone[-1] < 0.45 * stature * clip.seconds and along < 3 * stature
    if along < stature or slow or gone[-1] > 4 * (along + across):
        return _lay_in_row(clip, every, stature, aspect)
    if every is None:
        count = int(np.clip(gone[-1] // (SPACING * stature) + 1, 4, MOST_FIGURES))
        frames = np.unique(np.searchsorted(gone, np.linspace(0, gone[-1], count)))
    else:
        frames = np.arange(0, len(clip), every)
    # Seen across the longer extent so that time runs to the right, a little from the front, and from higher the
    # rounder the path is.
    ahead = axes[:, 1] * (1 if (path[-1] - path[0]) @ axes[:, 1] >= 0 else -1)
    yaw = np.arctan2(-ahead[1], ahead[0])
    towards = np.sin(mean_facing([clip]) - yaw) if np.cos(mean_facing([clip]) - yaw) > -0.9 else 0.0
    yaw += np.radians(16) * np.sign(towards)
    elevation = np.radians(10 + 26 * min(1.0, 1.6 * across / along))
    return _Layout(frames, np.zeros((len(frames), 2)), float(yaw), float(elevation), False)


def _lay_in_row(clip: Clip, every: int | None, stature: float, aspect: float | None) -> _Layout:
    if every is None:
        # Half by time, half by how much the pose changes: a flip gets more figures than the wait before it.
        body = clip.global_positions() - clip.root_pos[:, None] * [1, 0, 1]
        change = np.linalg.norm(np.diff(smooth(body, 0.05 * clip.fps), axis=0), axis=-1).mean(axis=1)
        done = np.concatenate([[0.0], np.cumsum(change / max(float(change.sum()), 1e-9) + 1 / max(1, len(change)))])
        count = min(len(clip), int(np.clip(round(clip.seconds * 3), 6, min(10, 2.6 * (aspect or 4)))))
        frames = np.unique(np.searchsorted(done, np.linspace(0, done[-1] - 1e-9, count)))
    else:
        frames = np.arange(0, len(clip), every)
    yaw = mean_facing([clip[0 : max(1, len(clip) // 4)]]) - np.radians(38)
    right = np.array([np.cos(yaw), -np.sin(yaw)])
    places = np.arange(len(frames))[:, None] * right * _row_spacing(clip, frames, right, stature)
    return _Layout(frames, places - clip.root_pos[frames][:, [0, 2]], yaw, float(np.radians(8)), True)


def _row_spacing(clip: Clip, frames: Indices, right: Floats, stature: float) -> float:
    """Distance between figures of a row: room for the broadest pose, within reason."""
    sideways = (clip.global_positions()[frames] - clip.root_pos[frames][:, None])[..., [0, 2]] @ right
    return float(np.clip(np.ptp(sideways, axis=1).max() + 0.14 * stature, 0.5 * stature, 0.9 * stature))


def _fit(points: Floats, layout: _Layout, aspect: float, margins: tuple[float, float, float, float]) -> PictureCamera:
    lens = 2 * np.arctan(np.tan(BREADTH / 2) / aspect)
    return fit_camera(points, layout.yaw, layout.elevation, aspect, margins=margins, lens=float(lens))


def _suitable_height(points: Floats, layout: _Layout, width: int, head: float, foot: float) -> int:
    """The height at which a picture of this width is filled both ways, within what is pleasant to look at."""
    low, high = 0.26 * width, 0.62 * width
    for _ in range(24):
        height = (low + high) / 2
        camera = _fit(points, layout, width / height, (0.045, 0.045, 0.0, 0.0))
        seen = camera.project(points, (width, round(height)))[:, 1]
        if np.ptp(seen) + head + foot > height:
            low = height
        else:
            high = height
    return 2 * round(high / 2)


def _strokes(clip: Clip, layout: _Layout) -> list[Stroke]:
    if layout.in_place:
        strokes = []
        prints = find_footprints(clip)
        for frame, shift in zip(layout.frames, layout.shifts, strict=True):
            for footprint in prints:
                if footprint.start <= frame < footprint.stop:
                    strokes.append(footprint.moved(shift).stroke(opacity=0.85))
        return strokes
    path = thin_path(clip.root_pos[:, [0, 2]])[0]
    return [Stroke(path, TEAL, 0.013, 0.9), *(footprint.stroke(opacity=0.75) for footprint in find_footprints(clip))]


def _time_places(
    actor: Actor, layout: _Layout, camera: PictureCamera, size: tuple[int, int]
) -> list[tuple[float, float, str]]:
    """Pixels below each figure's feet, and its time."""
    places = []
    for frame, shift in zip(layout.frames, layout.shifts, strict=True):
        points = actor.clip.global_positions()[frame] + np.array([shift[0], 0, shift[1]])
        low = points * [1, 0, 1] if layout.in_place else points
        seen = camera.project(low, size)
        places.append((float(seen[:, 0].mean()), float(seen[:, 1].max()), f"{frame / actor.clip.fps:.2f}"))
    if layout.in_place:  # one baseline for the row
        line = max(y for _, y, _ in places)
        places = [(x, line, text) for x, _, text in places]
    return places


def _write_times(image: Bytes, places: list[tuple[float, float, str]], size: float, theme: Theme) -> None:
    """Write the times that fall on bare floor and not on each other."""
    for x, y, text in places:
        y += 2.9 * size
        half = text_width(text, size) / 2 + 0.3 * size
        under = image[max(0, int(y - 1.1 * size)) : int(y + 0.4 * size), max(0, int(x - half)) : int(x + half)]
        if y < image.shape[0] - 0.5 * size and under.size and np.ptp(under.max(axis=2)) < 60:
            write_text(image, (x, y), text, size, theme.quiet, align="centre")
