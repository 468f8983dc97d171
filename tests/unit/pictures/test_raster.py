from __future__ import annotations

import numpy as np
import pytest
from tests.unit.pictures import plain_shaders

from choreograph.pictures import _compiled, raster
from choreograph.pictures.camera import PictureCamera, place_cameras
from choreograph.pictures.figures import cast
from choreograph.pictures.raster import Figure, RasterScene, Stroke
from choreograph.pictures.theme import DARK, LIGHT, as_linear, as_srgb, from_hex

BOTH = pytest.mark.parametrize("kernels", [_compiled, plain_shaders], ids=["compiled", "plain"])


def blank(height: int = 20, width: int = 24) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros((height, width), np.float32), np.full((height, width), -1, np.int32)


def triangle(*corners: tuple[float, float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Corners clockwise on a screen whose y grows downwards, which is counter-clockwise seen from the front."""
    return np.array(corners, float), np.array([[0, 2, 1]], np.int32)


@BOTH
def test_triangle_covers_the_pixel_centres_inside_it(kernels):
    depth, owner = blank()
    kernels.draw_triangles(*triangle((2, 2, 1), (12, 2, 1), (2, 12, 1)), depth, owner)
    y, x = np.mgrid[0:20, 0:24] + 0.5
    inside = (x > 2) & (y > 2) & (x + y < 14)
    on_edge = np.isclose(x + y, 14)
    assert np.array_equal(owner[~on_edge] == 0, inside[~on_edge])


@BOTH
def test_triangle_that_faces_away_or_reaches_behind_the_camera_is_left_out(kernels):
    depth, owner = blank()
    points, corners = triangle((2, 2, 1), (12, 2, 1), (2, 12, 1))
    kernels.draw_triangles(points, np.ascontiguousarray(corners[:, ::-1]), depth, owner)
    kernels.draw_triangles(points * [1, 1, -1], corners, depth, owner)
    assert (owner == -1).all()


@BOTH
def test_nearer_triangle_hides_the_farther_in_either_order(kernels):
    points = np.array([(0, 0, 1.0), (20, 0, 1), (0, 20, 1), (0, 0, 2.0), (20, 0, 2), (0, 20, 2)])
    for order in ([[0, 2, 1], [3, 5, 4]], [[3, 5, 4], [0, 2, 1]]):
        depth, owner = blank()
        kernels.draw_triangles(points, np.array(order, np.int32), depth, owner)
        assert depth[5, 5] == 2.0
        assert order[owner[5, 5]][0] == 3


def test_kernels_agree_on_random_triangles():
    rng = np.random.default_rng(3)
    points = rng.uniform((-5, -5, 0.1), (30, 25, 2), (90, 3))
    corners = rng.integers(0, 90, (60, 3)).astype(np.int32)
    results = []
    for kernels in (_compiled, plain_shaders):
        depth, owner = blank()
        kernels.draw_triangles(points, corners, depth, owner)
        results.append((depth, owner))
    (fast, who), (plain, whom) = results
    # Incremental sums round otherwise than products: a centre on an edge may fall on either side.
    assert np.mean(who != whom) < 0.01
    assert np.allclose(fast[who == whom], plain[who == whom], rtol=1e-5)


@BOTH
def test_shadow_of_a_square_is_the_square_moved_by_its_height(kernels):
    points = np.array([(0, 2, 0), (1, 2, 0), (1, 2, 1), (0, 2, 1)], float)
    corners = np.array([[0, 2, 1], [0, 3, 2]], np.int32)
    count = np.zeros((40, 40), np.float32)
    slopes = np.array([(-0.5, 0.0), (-0.5, 0.0), (0.0, -0.5)])
    kernels.cover_triangles(points, corners, slopes, np.array([10.0, 0.0, 0.0]), count)
    expected = np.zeros((40, 40))
    expected[0:10, 10:20] += 2
    expected[10:20, 0:10] += 1
    assert np.array_equal(count, expected)


def camera() -> PictureCamera:
    return PictureCamera(np.array([0.4, 1.6, 4.0]), np.array([0.2, 0.5, 0.0]))


@BOTH
@pytest.mark.parametrize("ring", [0.0, 0.03])
def test_painted_line_is_as_wide_as_its_projection(kernels, ring):
    """The area of an antialiased disc or ring seen from straight above is that of the shape."""
    above = PictureCamera(np.array([0.0, 3.0, 0.001]), np.zeros(3))
    size = (160, 160)
    cover = np.zeros((160, 160), np.float32)
    segments = np.array([[0.0, 0.0, 0.0, 0.0, 0.4, 1.0]])
    bounds = np.array([[0, 0]], np.int32), np.array([[160, 160]], np.int32)
    kernels.paint_strokes(above.floor_homography(size), segments, ring, *bounds, cover)
    per_metre = above.focal(160) / 3.0
    area = np.pi * 0.4**2 if ring == 0 else np.pi * (0.4**2 - (0.4 - 2 * ring) ** 2)
    assert cover.sum() == pytest.approx(area * per_metre**2, rel=0.02)


@pytest.mark.parametrize("ring", [0.0, 0.02])
def test_kernels_agree_on_strokes(ring):
    size = (96, 54)
    segments = np.array([[-1.0, 0, 1, 0.5, 0.05, 1.0], [1, 0.5, 1.5, -3, 0.02, 0.5], [0, 0, 0, 0, 0.2, 0.7]])
    low, high = np.array([[0, 0], [0, 0], [5, 5]], np.int32), np.array([[96, 54], [96, 54], [90, 50]], np.int32)
    covers = [np.zeros((54, 96), np.float32) for _ in range(2)]
    for kernels, cover in zip((_compiled, plain_shaders), covers, strict=True):
        kernels.paint_strokes(camera().floor_homography(size), segments, ring, low, high, cover)
    assert covers[0].max() > 0.5
    assert np.allclose(*covers, atol=1e-4)


def ball(centre: tuple[float, float, float], radius: float) -> Figure:
    """A sphere of few triangles: the plain kernels take a millisecond for each."""
    rows, columns = 7, 12
    tilt, turn = np.meshgrid(np.linspace(0.01, np.pi - 0.01, rows), np.linspace(0, 2 * np.pi, columns), indexing="ij")
    normals = np.stack([np.sin(tilt) * np.sin(turn), np.cos(tilt), np.sin(tilt) * np.cos(turn)], axis=-1).reshape(-1, 3)
    a = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
    triangles = np.concatenate(
        [np.stack([a, a + columns, a + 1], 1), np.stack([a + 1, a + columns, a + columns + 1], 1)]
    )
    colours = np.tile([0.7, 0.65, 0.6], (len(normals), 1))
    vertices = np.array(centre) + radius * normals
    return Figure(
        *(x.astype(np.float32) for x in (vertices, normals)), triangles.astype(np.int32), colours.astype(np.float32)
    )


@pytest.mark.parametrize(("theme", "samples"), [(DARK, 1), (LIGHT, 2), (DARK, 3)])
def test_whole_picture_is_the_same_with_plain_kernels(theme, samples):
    strokes = [
        Stroke(np.array([[-1.0, 0.0], [0.0, 1.0], [1.0, 0.5]]), "#2bb3a3", 0.02, np.array([0.4, 1.0])),
        Stroke(np.array([[0.3, 0.5]]), "#ffb02e", 0.1, 0.8, ring=0.02),
    ]
    scene = RasterScene([ball((0.0, 0.5, 0.0), 0.5), ball((0.5, 1.1, 0.3), 0.2)], strokes, theme)
    fast = raster.draw(scene, camera(), (128, 72), samples=samples).astype(int)
    plain = raster.draw(scene, camera(), (128, 72), samples=samples, kernels=plain_shaders).astype(int)
    off = np.abs(fast - plain).max(axis=2)
    assert fast.max() > 150 and np.ptp(fast[40:], axis=(0, 1)).min() > 50
    assert np.mean(off > 2) < 0.005
    assert off.max() < 60  # a sample on an edge may fall on either side


def test_figure_shades_the_floor_away_from_the_light_and_is_bright_towards_it(walker):
    actor = cast([walker])[0]
    view = PictureCamera(np.array([0.0, 1.2, 6.0]), np.array([0.0, 0.8, 0.0]))
    size = (160, 120)
    empty = raster.draw(RasterScene(key_yaw=np.pi / 2), view, size).astype(int)
    for yaw, dark_side in ((np.pi / 2, -1), (-np.pi / 2, 1)):
        there = raster.draw(RasterScene([actor.pose(0)], key_yaw=yaw), view, size).astype(int)
        darker = (empty - there).sum(axis=2) > 12
        columns = np.nonzero(darker)[1]
        assert len(columns) > 30
        assert np.sign(columns.mean() - size[0] / 2) == dark_side


def test_empty_stage_has_the_theme_s_background_above_the_horizon():
    image = raster.draw(RasterScene(), camera(), (64, 48))
    flat = PictureCamera(np.array([0.0, 1.0, 4.0]), np.array([0.0, 2.5, 0.0]))
    image = raster.draw(RasterScene(), flat, (64, 48))
    assert (image[:8] == [0x14, 0x17, 0x1C]).all()


def test_figure_behind_the_camera_or_out_of_the_picture_draws_nothing(walker):
    figure = cast([walker])[0].pose(0)
    away = PictureCamera(np.array([0.0, 1.0, 8.0]), np.array([0.0, 1.0, 30.0]))
    beside = PictureCamera(np.array([0.0, 1.0, 8.0]), np.array([30.0, 1.0, 7.0]))
    for view in (away, beside):
        bare = raster.draw(RasterScene(key_yaw=0.0), view, (64, 48))
        assert np.array_equal(raster.draw(RasterScene([figure], key_yaw=0.0), view, (64, 48)), bare)


def test_more_samples_converge(walker):
    figure = cast([walker])[0].pose(0)
    view = place_cameras([walker], "side", 4 / 3)[0]
    one, two, eight = (raster.draw(RasterScene([figure]), view, (80, 60), samples=n).astype(int) for n in (1, 2, 8))
    assert np.abs(two - eight).mean() < 0.7 * np.abs(one - eight).mean()


def test_srgb_round_trip():
    values = np.linspace(0, 1, 101)
    assert np.allclose(as_srgb(as_linear(values)), values, atol=1e-6)
    assert from_hex("#ffffff") == pytest.approx([1, 1, 1])


def test_figures_join_whatever_their_number(walker):
    figure = Figure(
        *(getattr(cast([walker])[0].pose(0), name) for name in ("vertices", "normals", "triangles", "colours"))
    )
    view = place_cameras([walker], "follow", 4 / 3)[0]
    once = raster.draw(RasterScene([figure]), view, (64, 48))
    assert np.array_equal(raster.draw(RasterScene([figure, figure]), view, (64, 48)), once)
