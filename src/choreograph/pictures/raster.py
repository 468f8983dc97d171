"""Drawing a scene: figures, floor, shadows and painted lines in, an sRGB picture out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from types import ModuleType
from typing import NamedTuple

import numpy as np

from choreograph.base.arrays import Bytes, Flags, Floats, Floats32, Ints32
from choreograph.pictures.camera import PictureCamera, look_from
from choreograph.pictures.theme import DARK, Theme, as_srgb, from_hex

KEY = np.array([2.2, 2.1, 1.95])
"""Linear colour of the key light: slightly warm."""
KEY_FROM = (np.radians(56.0), np.radians(50.0))
"""Where the key light stands: yaw from the camera, elevation."""
KEY_SIZE = np.radians(4.5)
"""Angular radius of the key light, which sets how soft shadows are away from the feet."""
KEY_TEXEL, FILL_TEXEL, SELF_TEXEL = 0.012, 0.05, 0.009
"""Metres per texel of the floor's two shadows and of the figures' shadow on themselves."""
KEY_RAYS, FILL_RAYS = 12, 12
"""Directions from which the two shadows are gathered."""


@dataclass(frozen=True, eq=False)
class Figure:
    """A surface to draw, in the world."""

    vertices: Floats32
    """(V, 3), metres."""
    normals: Floats32
    """(V, 3), unit."""
    triangles: Ints32
    """(T, 3), counter-clockwise seen from outside."""
    colours: Floats32
    """Linear RGB, (V, 3)."""


@dataclass(frozen=True, eq=False)
class Stroke:
    """A line painted on the floor."""

    points: Floats
    """Its course, (N, 2), metres, as (x, z); one point makes a disc."""
    colour: str
    """An sRGB hex string."""
    radius: float = 0.02
    """Half its width, metres."""
    opacity: float | Floats = 1.0
    """Of the whole line, or of each piece between two points, (N - 1,)."""
    ring: float = 0.0
    """Where positive, only a rim of this half width is drawn: metres."""


@dataclass(frozen=True, eq=False)
class RasterScene:
    """What is in a picture."""

    figures: Sequence[Figure] = ()
    strokes: Sequence[Stroke] = ()
    theme: Theme = field(default=DARK)
    key_yaw: float | None = None
    """Where the key light stands about +y, radians; beside the camera where not given."""
    reach: float = 9.0
    """Radius of the lit part of the floor around the middle of the picture, metres."""
    transparent: bool = False
    """Whether there are the figures alone, with no floor, shadow or lines, on nothing."""


def draw(
    scene: RasterScene,
    camera: PictureCamera,
    size: tuple[int, int],
    *,
    samples: int = 2,
    kernels: ModuleType | None = None,
) -> Bytes:
    """The picture of a scene, (height, width, 3), sRGB; with opacity as a fourth channel where it is transparent.

    Args:
        scene: What to draw.
        camera: Where from.
        size: Width and height in pixels.
        samples: Figures are sampled at this many points across each pixel and down; the floor and its lines are
            antialiased in closed form.
        kernels: What draws; the compiled kernels if None.
    """
    # Imported on first use, since importing numba takes a while.
    kernels = kernels or import_module("choreograph.pictures._compiled")
    width, height = size
    theme = scene.theme
    key_yaw = scene.key_yaw
    if key_yaw is None:
        back = camera.eye - camera.target
        key_yaw = float(np.arctan2(back[0], back[2])) + KEY_FROM[0]
    towards_key = look_from(key_yaw, KEY_FROM[1])
    if scene.transparent:
        return _cut_out(_join(scene.figures), camera, _Light(towards_key, theme, 0.0), size, samples, kernels)
    background = from_hex(theme.background).astype(np.float32)
    colours = np.stack([from_hex(c) for c in (theme.background, theme.floor, theme.grid, theme.grid_strong)])
    image = np.empty((height, width, 3), np.float32)
    mesh = _join(scene.figures)
    shadows = _floor_shadows(mesh, towards_key, kernels)
    homography = camera.floor_homography(size)
    focus = _focus(camera)
    distance = float(np.linalg.norm(focus - camera.eye))
    fog = 1.0 / (distance + 2.6 * scene.reach)
    numbers = np.array([camera.eye[1], fog, focus[0], focus[2], 1 / scene.reach**2, theme.shadow])
    paint = _paint(scene.strokes, camera, size, homography, kernels)
    kernels.shade_floor(homography, colours.astype(np.float32), numbers, *shadows, paint, image)
    if mesh is not None:
        light = _Light(towards_key, theme, fog)
        _draw_figures(mesh, camera, light, samples, background, image, kernels)
    out = np.empty((height, width, 3), np.uint8)
    kernels.encode(image, _srgb_table(), _noise(), out)
    return out


def _cut_out(
    mesh: _Mesh | None, camera: PictureCamera, light: _Light, size: tuple[int, int], samples: int, kernels: ModuleType
) -> Bytes:
    """Figures on nothing, (height, width, 4): drawn before black and before white, whose difference is what one sees
    through them at their edges."""
    width, height = size
    seen = [np.full((height, width, 3), shade, np.float32) for shade in (0.0, 1.0)]
    if mesh is not None:
        for image in seen:
            _draw_figures(mesh, camera, light, samples, np.zeros(3, np.float32), image, kernels)
    opacity = np.clip(1 - (seen[1] - seen[0]).mean(axis=2), 0.0, 1.0)
    colour = seen[0] / np.maximum(opacity, 1 / 512)[..., None]
    out = np.empty((height, width, 3), np.uint8)
    kernels.encode(colour, _srgb_table(), _noise(), out)
    return np.concatenate([out, np.rint(255 * opacity).astype(np.uint8)[..., None]], axis=2)


@dataclass(frozen=True, eq=False)
class _Mesh:
    vertices: Floats
    normals: Floats32
    triangles: Ints32
    colours: Floats32


def _join(figures: Sequence[Figure]) -> _Mesh | None:
    if not figures:
        return None
    starts = np.cumsum([0, *(len(figure.vertices) for figure in figures[:-1])])
    return _Mesh(
        np.concatenate([figure.vertices for figure in figures]).astype(np.float64),
        np.concatenate([figure.normals for figure in figures]).astype(np.float32),
        np.concatenate([f.triangles + start for f, start in zip(figures, starts, strict=True)]).astype(np.int32),
        np.concatenate([figure.colours for figure in figures]).astype(np.float32),
    )


def _bounds(points: Floats) -> Floats:
    """Least and greatest coordinates of points (N, D), as (2, D); column by column, which NumPy does much faster."""
    return np.array([[column.min() for column in points.T], [column.max() for column in points.T]])


def _focus(camera: PictureCamera) -> Floats:
    """The floor point below the middle of the picture's subject."""
    return np.array([camera.target[0], 0.0, camera.target[2]])


@cache
def _srgb_table() -> Floats32:
    return (as_srgb(np.linspace(0, 1, 4097) ** 2) * 255).astype(np.float32)


@cache
def _noise() -> Floats32:
    """A tile of interleaved gradient noise (Jimenez 2014) in (0, 1): breaks up the bands of slow gradients.

    It stops short of the ends, so that a colour that 8 bits hold exactly stays as it is.
    """
    x, y = np.meshgrid(np.arange(128), np.arange(128))
    return (0.05 + 0.9 * ((52.9829189 * ((0.06711056 * x + 0.00583715 * y) % 1)) % 1)).astype(np.float32)


def _disc(count: int) -> Floats:
    """Points spread evenly over the unit disc, (count, 2): Vogel's sunflower."""
    k = np.arange(count)
    radius, angle = np.sqrt((k + 0.5) / count), k * np.pi * (3 - np.sqrt(5))
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1)


@cache
def _key_cone() -> Floats:
    return _disc(KEY_RAYS) * np.tan(KEY_SIZE)


@cache
def _fill_cone() -> Floats:
    # Points of a disc lifted onto the hemisphere are cosine weighted, as the floor's light is; the last few degrees
    # above the horizon would throw shadows without end and are left out.
    flat = _disc(FILL_RAYS) * np.sin(np.radians(60))
    return flat / np.sqrt(1 - (flat**2).sum(axis=1, keepdims=True))


def _floor_shadows(mesh: _Mesh | None, towards_key: Floats, kernels: ModuleType) -> tuple[Floats32, Floats32, Floats]:
    """How much of the key light and of the sky each floor texel sees, and where the textures lie, (2, 3).

    The figures are thrown flat onto the floor along many directions within the light, and the shadows counted: sharp
    where a foot stands, soft where a head is far above, as under a real lamp.
    """
    if mesh is None:
        return np.ones((1, 1), np.float32), np.ones((1, 1), np.float32), np.ones((2, 3))
    height = float(np.clip(mesh.vertices[:, 1].max(), 0.1, 3.0))
    slopes = towards_key[[0, 2]] / towards_key[1] + _key_cone()
    key, key_place = _throw(mesh, slopes, KEY_TEXEL, 0.1, 3, kernels)
    fill, fill_place = _throw(mesh, _fill_cone(), FILL_TEXEL, 0.9 * height, 7, kernels)
    return key, fill, np.stack([key_place, fill_place])


def _throw(
    mesh: _Mesh, slopes: Floats, texel: float, margin: float, blur: int, kernels: ModuleType
) -> tuple[Floats32, Floats]:
    from scipy.ndimage import uniform_filter

    points = np.maximum(mesh.vertices, [-np.inf, 0.0, -np.inf])
    middle = points[:, [0, 2]] - points[:, 1:2] * slopes.mean(axis=0)
    low, high = _bounds(middle) + np.array([[-margin], [margin]])
    texel = max(texel, float((high - low).max()) / 4096)
    columns, rows = np.maximum(4, np.ceil((high - low) / texel)).astype(int)
    place = np.array([1 / texel, low[0], low[1]])
    count = np.zeros((rows, columns), np.float32)
    kernels.cover_triangles(points, mesh.triangles, slopes, place, count)
    return 1 - uniform_filter(count, blur, mode="constant") / np.float32(len(slopes)), place


class _Light(NamedTuple):
    """What figures are lit by, and how far one sees."""

    towards_key: Floats
    theme: Theme
    fog: float


def _draw_figures(
    mesh: _Mesh,
    camera: PictureCamera,
    light: _Light,
    samples: int,
    background: Floats32,
    image: Floats32,
    kernels: ModuleType,
) -> None:
    towards_key, theme, fog = light
    height, width = image.shape[:2]
    screen = camera.project(mesh.vertices, (width, height))
    ahead = screen[:, 2] > 0
    if not ahead.any():
        return
    first, last = _bounds(screen[ahead, :2] if not ahead.all() else screen[:, :2])
    low = np.clip(np.floor(first), 0, [width, height]).astype(np.int32)
    high = np.clip(np.ceil(last), 0, [width, height]).astype(np.int32)
    if (high <= low).any():
        return
    screen[:, :2] = (screen[:, :2] - low) * samples
    columns, rows = (high - low) * samples
    owner = np.full((rows, columns), -1, np.int32)
    depth = np.zeros((rows, columns), np.float32)
    kernels.draw_triangles(screen, mesh.triangles, depth, owner)
    shadow, light_view, texel = _shadow_map(mesh, towards_key, kernels)
    view = np.zeros((5, 3))
    view[0], view[1:4] = camera.eye, camera.axes
    view[4] = camera.focal(height), width / 2, height / 2
    kernels.shade_figures(
        screen, mesh.triangles, mesh.normals, mesh.colours, depth, owner, low, samples,
        view, np.stack([towards_key, KEY]), shadow, light_view, np.array([theme.sky, theme.bounce]),
        np.array([theme.exposure, theme.rim, fog, 2.2 * texel]), background, image,
    )  # fmt: skip


def _shadow_map(mesh: _Mesh, towards_key: Floats, kernels: ModuleType) -> tuple[Floats32, Floats, float]:
    """How close to the light the nearest surface is, its (3, 4) view of the world, and metres per texel."""
    axes = PictureCamera(towards_key, np.zeros(3)).axes * [[1], [-1], [-1]]
    seen = mesh.vertices @ axes.T
    low, high = _bounds(seen)
    texel = max(SELF_TEXEL, float((high - low)[:2].max()) / 4096)
    border = 4 * texel
    columns, rows = np.ceil((high[:2] - low[:2] + 2 * border) / texel).astype(int)
    # Closeness starts at one, above the zeros of an empty map.
    scale = np.array([1 / texel, 1 / texel, 1.0])
    shift = np.array([border - low[0], border - low[1], 1 - low[2]]) * scale
    light_view = np.concatenate([axes * scale[:, None], shift[:, None]], axis=1)
    depth = np.zeros((rows, columns), np.float32)
    kernels.draw_triangles(seen * scale + shift, mesh.triangles, depth, np.empty((rows, columns), np.int32))
    return depth, light_view, texel


def _paint(
    strokes: Sequence[Stroke], camera: PictureCamera, size: tuple[int, int], homography: Floats, kernels: ModuleType
) -> Floats32:
    """The strokes as premultiplied linear RGB and opacity, (height, width, 4); empty where there are none."""
    if not strokes:
        return np.zeros((0, 0, 4), np.float32)
    width, height = size
    layer = np.zeros((height, width, 4), np.float32)
    for stroke in strokes:
        points = np.asarray(stroke.points, float).reshape(-1, 2)
        starts, stops = (points[:-1], points[1:]) if len(points) > 1 else (points, points)
        segments = np.empty((len(starts), 6))
        segments[:, :2], segments[:, 2:4], segments[:, 4], segments[:, 5] = starts, stops, stroke.radius, stroke.opacity
        low, high, seen = _segment_bounds(segments, camera, size)
        if not seen.any():
            continue
        segments, low, high = segments[seen], low[seen], high[seen]
        x0, y0 = np.maximum(low.min(axis=0), 0)
        x1, y1 = np.minimum(high.max(axis=0), size)
        cover = np.zeros((y1 - y0, x1 - x0), np.float32)
        corner = np.array([x0, y0], np.int32)
        shift = np.array([[1.0, 0, x0], [0, 1.0, y0], [0, 0, 1.0]])
        kernels.paint_strokes(homography @ shift, segments, stroke.ring, low - corner, high - corner, cover)
        kernels.lay_over(layer[y0:y1, x0:x1], cover, from_hex(stroke.colour).astype(np.float32))
    return layer


def _segment_bounds(segments: Floats, camera: PictureCamera, size: tuple[int, int]) -> tuple[Ints32, Ints32, Flags]:
    """Pixel boxes that hold each segment with its width, and whether it is in the picture at all."""
    radius = segments[:, 4:5] + 0.01
    low = np.minimum(segments[:, :2], segments[:, 2:4]) - radius
    high = np.maximum(segments[:, :2], segments[:, 2:4]) + radius
    corners = np.stack(
        [(low[:, 0], low[:, 1]), (low[:, 0], high[:, 1]), (high[:, 0], low[:, 1]), (high[:, 0], high[:, 1])]
    )
    corners = np.moveaxis(corners, 2, 0)
    seen = camera.project(np.insert(corners, 1, 0.0, axis=2), size)
    ahead = np.asarray((seen[..., 2] > 0).all(axis=1))
    pixels = np.where(ahead[:, None, None], seen[..., :2], 0.0)
    first = np.clip(np.floor(pixels.min(axis=1)) - 2, -1e6, 1e6).astype(np.int32)
    last = np.clip(np.ceil(pixels.max(axis=1)) + 2, -1e6, 1e6).astype(np.int32)
    inside = ahead & (last > 0).all(axis=1) & (first < np.array(size)).all(axis=1)
    return first, last, inside
