from __future__ import annotations

import math

import numpy as np
import pytest

from choreograph.base.errors import RequestError
from choreograph.scene.path_shapes import SHAPES, named_path, parse_shape

LENGTHS = {
    "line": 15,
    "circle": 8 * math.pi,
    "eight": 12 * math.pi,
    "s": 6 * math.pi,
    "square": 16 + 2 * math.pi,
    "zigzag": 15,
    "spiral": 41.008,
}


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_begin_at_the_origin_along_z_and_are_as_long_as_geometry_says(shape):
    path = named_path(shape)
    assert path.name == shape
    assert path.length == pytest.approx(LENGTHS[shape], abs=1e-3)
    np.testing.assert_array_equal(path.points[0], (0, 0))
    # The first chord of a curve has turned by half a step, never more.
    assert path.heading(0) == pytest.approx(0, abs=0.01 / 3 + 1e-9)
    # Where the direction changes smoothly, points are close.
    turns = np.abs(np.diff(np.unwrap(path.heading(path.arc_lengths[:-1]))))
    steps = np.diff(path.arc_lengths)
    curved = (turns > 1e-6) & (turns < 0.1)
    assert (np.minimum(steps[:-1], steps[1:])[curved] <= 0.02 + 1e-9).all()


def test_a_circle_turns_left_and_with_negative_turns_right():
    left = named_path("circle", radius=2)
    np.testing.assert_allclose(np.hypot(*(left.points - [2, 0]).T), 2, rtol=1e-12)
    np.testing.assert_allclose(left.points[-1], (0, 0), atol=1e-12)
    right = named_path("circle", radius=2, turns=-1)
    np.testing.assert_allclose(right.points, left.points * [-1, 1], atol=1e-12)
    assert named_path("circle", radius=2, turns=2.5).length == pytest.approx(10 * math.pi, rel=1e-4)


def test_an_eight_is_two_circles_that_touch():
    points = named_path("eight", radius=3).points
    near = np.minimum(*(np.abs(np.hypot(*(points - [x, 0]).T) - 3) for x in (3, -3)))
    assert near.max() < 1e-12
    np.testing.assert_allclose(points.max(axis=0), [6, 3], atol=1e-4)
    np.testing.assert_allclose(points.min(axis=0), [-6, -3], atol=1e-4)


def test_a_square_closes_and_its_corners_are_round_or_not():
    path = named_path("square", side=6, radius=1)
    np.testing.assert_allclose(path.points[-1], (0, 0), atol=1e-12)
    np.testing.assert_allclose([path.points.min(axis=0), path.points.max(axis=0)], [(0, -3), (6, 3)], atol=1e-9)
    corners = [(0, 3), (6, 3), (6, -3), (0, -3)]
    sharp = named_path("square", side=6, radius=0)
    np.testing.assert_allclose(sharp.points[1::2], corners, atol=1e-12)


def test_an_s_ends_as_it_began():
    path = named_path("s", radius=2)
    np.testing.assert_allclose(path.points[-1], (8, 0), atol=1e-12)
    assert path.heading(path.length) == pytest.approx(0, abs=0.01)


def test_a_zigzag_turns_by_its_angle():
    path = named_path("zigzag", leg=2, legs=4, angle=60)
    np.testing.assert_allclose(np.degrees(path.heading([1, 3, 5, 7])), [0, 60, 0, 60])
    assert len(named_path("zigzag", radius=0.5).points) > 100


def test_a_spiral_goes_inward_by_the_same_amount_with_every_turn():
    path = named_path("spiral", outer=5, inner=2, turns=3)
    slope = 3 / (6 * math.pi)
    centre = np.array([5, slope]) / math.hypot(5, slope) * 5
    radius = np.hypot(*(path.points - centre).T)
    np.testing.assert_allclose(radius, np.linspace(5, 2, len(radius)), atol=1e-9)
    np.testing.assert_allclose(named_path("spiral", turns=-2).points, named_path("spiral").points * [-1, 1])


def test_words_from_the_command_line():
    assert parse_shape("Zig-Zag").length == 15
    assert parse_shape("circle: radius = 2, turns=2,").length == pytest.approx(8 * math.pi, rel=1e-4)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("cirle", "unknown shape 'cirle'; choose from line, circle, eight, s, square, zigzag, spiral"),
        ("circle:size=3", "circle has no size; its measures are radius=4, turns=1"),
        ("circle:radius=wide", "radius needs a number, not 'wide'"),
        ("circle:4", "'4' is not of the form name=number"),
        ("circle:radius=0", "radius is 0; it must be above 0"),
        ("circle:turns=0", "turns is 0"),
        ("circle:radius=nan", "radius is nan"),
        ("circle:radius=9000", "at most 10000 m"),
        ("line:length=-1", "length is -1"),
        ("eight:turns=1.5", "whole number"),
        ("s:angle=400", "between 0 and 360"),
        ("square:radius=4", "half the side, 3 m"),
        ("square:turns=0", "other than 0"),
        ("zigzag:legs=0", "1 or more"),
        ("zigzag:angle=180", "between 0 and 180"),
        ("zigzag:radius=-1", "radius is -1"),
        ("zigzag:legs=10000,leg=10000", "at most 10000 m"),
        ("spiral:inner=6", "less than outer"),
        ("spiral:turns=0", "turns is 0"),
    ],
)
def test_wrong_shapes_say_what_would_be_right(text, words):
    with pytest.raises(RequestError, match=words):
        parse_shape(text)
