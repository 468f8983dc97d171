"""Films of motion, MP4 and GIF, and stills of single frames."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from choreograph.base.arrays import Bytes, Indices
from choreograph.base.errors import RequestError
from choreograph.base.progress import Progress, silent
from choreograph.formats.atomic import atomic_write, check_writable
from choreograph.motion.clip import Clip
from choreograph.pictures import raster
from choreograph.pictures.camera import PictureCamera, place_cameras, travel_yaw
from choreograph.pictures.figures import Actor, Footprint, cast, find_footprints, thin_path, with_plants
from choreograph.pictures.gif import Gif, choose_palette, open_gif
from choreograph.pictures.mp4 import Mp4, open_mp4, require_ffmpeg
from choreograph.pictures.raster import Figure, RasterScene, Stroke
from choreograph.pictures.text import write_text
from choreograph.pictures.theme import TEAL, find_theme

FILMS = (".mp4", ".gif")
"""Suffixes of films."""
WORKERS = 2
"""Frames drawn at once; the kernels hold no lock, and a third would only wait for ffmpeg's share of the cores."""
TRAIL_S = 5.0
"""Seconds for which the way gone and footprints are seen."""
PALETTE_FRAMES = 16
"""Frames from which a GIF's 256 colours are chosen, spread over the film."""


@dataclass(frozen=True)
class FilmSettings:
    """How a film or a still is made."""

    size: tuple[int, int] = (960, 540)
    """Width and height, pixels."""
    fps: float = 30.0
    """Frames per second of the film; the motion keeps its speed."""
    camera: str = "follow"
    """One of `camera.VIEWS`."""
    theme: str = "dark"
    samples: int = 2
    """Samples across each pixel of the figures, and down."""
    paths: bool = True
    """Whether the root's path is drawn."""
    plants: bool = True
    """Whether footprints are left."""
    caption: bool = True
    """Whether name and time are written in the corner."""
    transparent: bool = False
    """Whether stills show the figures alone, on nothing."""

    @classmethod
    def for_file(cls, path: str | Path) -> FilmSettings:
        """What suits a film of that name: smaller and slower where it is a GIF."""
        return cls(size=(640, 360), fps=25.0) if Path(path).suffix.lower() == ".gif" else cls()

    def check(self) -> None:
        """Raise a RequestError for values that make no sense."""
        width, height = self.size
        if not (16 <= width <= 7680 and 16 <= height <= 4320):
            raise RequestError(f"a picture of {width}x{height} pixels cannot be made; from 16x16 to 7680x4320 can")
        if not (np.isfinite(self.fps) and 0 < self.fps <= 240):
            raise RequestError(f"a film has more than 0 and at most 240 frames a second, not {self.fps:g}")
        if not 1 <= self.samples <= 8:
            raise RequestError(f"samples across a pixel go from 1 to 8, not {self.samples}")
        find_theme(self.theme)


class Film:
    """Clips that play together on one stage, drawn frame by frame."""

    def __init__(
        self,
        clips: Sequence[Clip],
        settings: FilmSettings | None = None,
        *,
        floor: Sequence[Stroke] = (),
        blocks: Sequence[Figure] = (),
        bodies: Sequence[str | None] = (),
    ) -> None:
        """Set the stage.

        Args:
            clips: What plays.
            settings: How it is shown.
            floor: Lines on the floor that are there throughout, such as a path that was asked for.
            blocks: Things that stand there throughout.
            bodies: Files of the characters whose bodies the clips have, where they shall be seen.
        """
        self._floor, self._blocks = list(floor), list(blocks)
        self.settings = settings or FilmSettings()
        self.settings.check()
        if not clips:
            raise RequestError("there is no clip to draw")
        self._theme = find_theme(self.settings.theme)
        self._actors: list[Actor] = cast([with_plants(clip).resampled(self.settings.fps) for clip in clips], bodies)
        played = [actor.clip for actor in self._actors]
        self._name = ", ".join(clip.name for clip in played[:3]) + (" …" if len(played) > 3 else "")
        width, height = self.settings.size
        self._cameras: list[PictureCamera] = place_cameras(
            played, self.settings.camera, width / height, points=[actor.points() for actor in self._actors]
        )
        self._prints: list[list[Footprint]] = [find_footprints(clip) if self.settings.plants else [] for clip in played]
        self._paths: list[Indices] = [thin_path(clip.root_pos[:, [0, 2]])[1] for clip in played]
        back = self._cameras[0].eye - self._cameras[0].target
        yaw = np.arctan2(back[0], back[2]) if self.settings.camera != "top" else travel_yaw(played) - np.pi / 3
        self._key_yaw = float(yaw) + raster.KEY_FROM[0]

    def __len__(self) -> int:
        """Number of frames."""
        return len(self._cameras)

    def draw(self, frame: int) -> Bytes:
        """The picture of one frame, (height, width, 3), sRGB; with opacity as a fourth channel where transparent."""
        figures = [actor.pose(frame) for actor in self._actors]
        bare = self.settings.transparent
        figures += [] if bare else self._blocks
        scene = RasterScene(figures, [] if bare else self._strokes(frame), self._theme, self._key_yaw, transparent=bare)
        image = raster.draw(scene, self._cameras[frame], self.settings.size, samples=self.settings.samples)
        if self.settings.caption and not bare:
            self._write_caption(image, frame)
        return image

    def frames(self) -> Iterator[Bytes]:
        """All pictures in order, drawn a few ahead on several threads."""
        waiting: deque[Future[Bytes]] = deque()
        pool = ThreadPoolExecutor(WORKERS)
        try:
            for frame in range(len(self)):
                waiting.append(pool.submit(self.draw, frame))
                if len(waiting) > 2 * WORKERS:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)

    def _strokes(self, frame: int) -> list[Stroke]:
        """The way just gone and the prints just made; older ones fade, so that long dances do not fill the floor."""
        strokes = list(self._floor)
        for actor, path, prints in zip(self._actors, self._paths, self._prints, strict=True):
            if self.settings.paths:
                strokes.append(self._trail(actor, path, frame))
            for footprint in prints:
                age = (frame - footprint.stop) / self.settings.fps
                if footprint.start <= frame and age < TRAIL_S:
                    strokes.append(footprint.stroke(opacity=0.8 * (1 - max(0.0, age) / TRAIL_S)))
        return strokes

    def _trail(self, actor: Actor, path: Indices, frame: int) -> Stroke:
        now, length = min(frame, len(actor.clip) - 1), TRAIL_S * self.settings.fps
        at = np.append(path[(path >= now - length) & (path < now)], now)
        left = 1 - (now - at[:-1]) / length if len(at) > 1 else 1.0
        return Stroke(actor.clip.root_pos[at][:, [0, 2]], TEAL, 0.013, left)

    def _write_caption(self, image: Bytes, frame: int) -> None:
        width, height = self.settings.size
        size = max(9.0, height / 38)
        edge = 1.4 * size
        used = write_text(image, (edge, height - edge), self._name, size, self._theme.text)
        time = f"{frame / self.settings.fps:.2f} s"
        if edge + used + 8 * size < width:
            write_text(image, (width - edge, height - edge), time, size, self._theme.quiet, align="right")


def write_film(
    path: str | Path,
    clips: Sequence[Clip],
    settings: FilmSettings | None = None,
    *,
    floor: Sequence[Stroke] = (),
    blocks: Sequence[Figure] = (),
    bodies: Sequence[str | None] = (),
    overwrite: bool = False,
    progress: Progress | None = None,
) -> None:
    """Write clips that play together as an .mp4 (H.264) or .gif file.

    Nothing is left behind when it fails or is cancelled, neither a file nor a running ffmpeg.

    Args:
        path: The file.
        clips: What plays.
        settings: How it is drawn; by default what `FilmSettings.for_file` gives.
        floor: Lines that lie on the floor throughout.
        blocks: Things that stand on it.
        bodies: Files of the characters whose bodies the clips have, where they shall be seen.
        overwrite: Whether a file that is there is replaced.
        progress: Hears how many frames are drawn.

    Raises:
        RequestError: another suffix, or settings that make no film.
        MissingExtra: an .mp4 file, and there is no ffmpeg.
        OutputExists: the file is there and `overwrite` is not set.
    """
    path = Path(path)
    settings = settings or FilmSettings.for_file(path)
    check_film(path)
    is_gif = path.suffix.lower() == ".gif"
    if not is_gif and (settings.size[0] % 2 or settings.size[1] % 2):
        raise RequestError(f"an MP4 needs an even width and height, not {settings.size[0]}x{settings.size[1]}")
    check_writable(path, overwrite=overwrite)
    report = progress or silent
    film = Film(clips, settings, floor=floor, blocks=blocks, bodies=bodies)
    with atomic_write(path, overwrite=overwrite) as temporary, _open(temporary, film, is_gif) as out:
        report("drawing", 0, len(film))
        for done, image in enumerate(film.frames(), 1):
            out.write(image)
            report("drawing", done, len(film))


def check_film(path: str | Path) -> None:
    """Refuse the name of a film that cannot be made: for work that should fail before it has begun.

    Raises:
        RequestError: its suffix is none of `FILMS`.
        MissingExtra: it is an .mp4 file, and there is no ffmpeg.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in FILMS:
        raise RequestError(f"films are written as {' or '.join(FILMS)}, not {suffix or 'without a suffix'}")
    if suffix == ".mp4":
        require_ffmpeg()


def _open(path: Path, film: Film, is_gif: bool) -> AbstractContextManager[Gif | Mp4]:
    settings = film.settings
    if not is_gif:
        return open_mp4(path, settings.size, settings.fps)
    picks = np.unique(np.linspace(0, len(film) - 1, PALETTE_FRAMES).astype(int))
    return open_gif(path, choose_palette([film.draw(int(frame)) for frame in picks]), settings.fps)


def write_still(
    path: str | Path,
    clips: Sequence[Clip],
    frame: int = 0,
    settings: FilmSettings | None = None,
    *,
    bodies: Sequence[str | None] = (),
    overwrite: bool = False,
) -> None:
    """Write one frame of clips that play together as a PNG file; frames are the first clip's."""
    if not clips:
        raise RequestError("there is no clip to draw")
    if not 0 <= frame < len(clips[0]):
        raise RequestError(f"{clips[0].name!r} has the frames 0 to {len(clips[0]) - 1}, not {frame}")
    film = Film(clips, settings, bodies=bodies)
    image = film.draw(min(len(film) - 1, round(frame / clips[0].fps * film.settings.fps)))
    write_png(path, image, overwrite=overwrite)


def write_png(path: str | Path, image: Bytes, *, overwrite: bool = False) -> None:
    """Write a picture (height, width, 3), sRGB, or with opacity (height, width, 4), as a PNG file."""
    from PIL import Image as Pillow

    with atomic_write(path, overwrite=overwrite) as temporary:
        Pillow.fromarray(image).save(temporary, format="PNG", compress_level=6)
