from __future__ import annotations

import numpy as np
import pytest

from choreograph.base.errors import RequestError
from choreograph.pictures.camera import VIEWS, PictureCamera, body_points, fit_camera, place_cameras, smooth


def test_target_is_in_the_middle_and_axes_are_right_handed():
    camera = PictureCamera(np.array([1.0, 2.0, 5.0]), np.array([0.0, 1.0, 0.0]))
    assert camera.project(camera.target, (200, 100))[:2] == pytest.approx([100, 50])
    right, up, forward = camera.axes
    assert np.cross(right, up) == pytest.approx(-forward)
    assert up[1] > 0


def test_floor_homography_undoes_the_projection():
    camera = PictureCamera(np.array([1.0, 2.0, 5.0]), np.array([0.0, 1.0, 0.0]))
    size = (320, 180)
    points = np.array([[0.0, 0, 0], [1.5, 0, -3], [-2, 0, 2]])
    pixels = camera.project(points, size)
    mapped = np.column_stack([pixels[:, :2], np.ones(3)]) @ camera.floor_homography(size).T
    assert (mapped[:, 2] > 0).all()
    assert mapped[:, :2] / mapped[:, 2:] == pytest.approx(points[:, [0, 2]])


@pytest.mark.parametrize("aspect", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("elevation", [0.05, 0.6, 1.3])
def test_fitted_camera_holds_all_points_and_is_tight(aspect, elevation):
    points = np.random.default_rng(5).normal(0, (2, 1, 3), (60, 3))
    margins = (0.05, 0.1, 0.2, 0.02)
    camera = fit_camera(points, 0.7, elevation, aspect, margins=margins)
    x, y, near = camera.project(points, (1000 * aspect, 1000)).T  # type: ignore[arg-type]
    free = np.array([x.min() / (1000 * aspect), 1 - x.max() / (1000 * aspect), y.min() / 1000, 1 - y.max() / 1000])
    assert (near > 0).all()
    spare = free - margins
    assert spare.min() > -1e-9
    # Either the width or the height is used up.
    assert min(spare[0] + spare[1], spare[2] + spare[3]) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_keeps_the_whole_figure_in_the_picture(walker, view):
    cameras = place_cameras([walker], view, 16 / 9)
    assert len(cameras) == len(walker)
    for camera, body in zip(cameras, body_points(walker), strict=True):
        x, y, near = camera.project(body, (1600, 900)).T
        assert (near > 0).all()
        assert x.min() >= 0 and x.max() <= 1600 and y.min() >= 0 and y.max() <= 900


def test_following_camera_does_not_shake_or_lag(walker):
    rng = np.random.default_rng(1)
    noisy = walker.with_frames(walker.root_pos + rng.normal(0, 0.02, walker.root_pos.shape), walker.local_rot)
    eyes = np.array([camera.eye for camera in place_cameras([noisy], "side", 1.5)])
    assert np.abs(np.diff(eyes, 2, axis=0)).max() < 0.004
    middle = slice(20, 40)
    targets = np.array([camera.target for camera in place_cameras([noisy], "side", 1.5)])
    assert (targets[middle, 2] > walker.root_pos[middle, 2]).all()  # ahead of the figure, not behind it


def test_views_turn_with_the_direction_of_travel(walker):
    front = place_cameras([walker], "front", 1.5)[30]
    assert front.eye[2] > walker.root_pos[30, 2] + 2
    side = place_cameras([walker], "side", 1.5)[30]
    assert side.eye[0] < -2  # its right-hand side, so that it walks to the right


def test_unknown_view_is_refused_with_the_known_ones(walker):
    with pytest.raises(RequestError, match="follow"):
        place_cameras([walker], "drone", 1.5)


def test_clips_of_other_lengths_share_a_stage(walker):
    assert len(place_cameras([walker, walker[0:10]], "follow", 1.5)) == len(walker)


def test_smoothing_leaves_steady_travel_alone_and_takes_tiny_inputs():
    line = np.outer(np.arange(12.0), [1.0, 0.0, -2.0])
    assert smooth(line, 3.0) == pytest.approx(line)
    assert smooth(line[:1], 3.0) == pytest.approx(line[:1])
    assert smooth(line[:2], 30.0) == pytest.approx(line[:2])
    spike = np.zeros((31, 1))
    spike[15] = 1.0
    assert smooth(spike, 3.0).max() < 0.2
    assert smooth(spike, 3.0).argmax() == 15
