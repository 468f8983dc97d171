from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from choreograph.base.errors import RequestError
from choreograph.base.floor import FloorTransform
from choreograph.scene.path import MAX_LENGTH, Path, Stretch

CORNER = [(0, 0), (0, 4), (4, 4)]

coordinates = st.floats(-50, 50, width=32)


@st.composite
def paths(draw):
    points = draw(hnp.arrays(float, st.tuples(st.integers(2, 12), st.just(2)), elements=coordinates))
    assume(np.hypot(*np.diff(points, axis=0).T).sum() > 0.01)
    return Path(points)


def test_points_are_read_only_and_repeats_are_gone():
    given_points = np.array([(0, 0), (0, 0), (1, 0), (1, 1e-9), (1, 1), (0, 0), (0, 0)], float)
    path = Path(given_points)
    np.testing.assert_array_equal(path.points, [(0, 0), (1, 0), (1, 1), (0, 0)])
    with pytest.raises(ValueError, match="read-only"):
        path.points[0] = 1
    given_points[2] = 7
    assert path.points[1, 0] == 1


@pytest.mark.parametrize(
    ("points", "words"),
    [
        ([(1, 2)], "at least two points; this one has 1"),
        (np.empty((0, 2)), "has 0"),
        ([(1, 2)] * 5, "same place"),
        ([(0, 0), (1, math.nan), (2, math.inf)], r"point 2 of the path is \(1, nan\).*2 such points"),
        ([(0, 0), (0, MAX_LENGTH + 1)], "10001|1e\\+04 m long; at most 10000 m"),
        ([(1e300, 0), (-1e300, 0)], "from the origin"),
        ([(0, 0, 0), (1, 1, 1)], r"shape given is \(2, 3\)"),
        ([(0, 0), (1,)], "pairs of numbers"),
        ("walk", "pairs of numbers"),
    ],
)
def test_what_is_no_path_is_refused(points, words):
    with pytest.raises(RequestError, match=words):
        Path(points)


def test_kilometres_and_centimetres_are_paths():
    assert Path([(0, 0), (0, MAX_LENGTH)]).length == MAX_LENGTH
    assert Path([(0, 0), (0, 0.01)]).length == 0.01


def test_places_and_directions_by_arc_length():
    path = Path(CORNER)
    np.testing.assert_array_equal(path.arc_lengths, [0, 4, 8])
    np.testing.assert_allclose(path.at([[-1, 1], [5, 99]]), [[(0, 0), (0, 1)], [(1, 4), (4, 4)]])
    assert path.at(3.0).shape == (2,)
    np.testing.assert_allclose(path.tangent([0, 3.9, 4, 8, 99]), [(0, 1), (0, 1), (1, 0), (1, 0), (1, 0)])
    np.testing.assert_allclose(path.heading([-1, 4]), [0, math.pi / 2])


@given(paths(), st.floats(0, 1), st.floats(0, 1))
def test_arc_length_adds_up(path, a, b):
    start, stop = sorted([a * path.length, b * path.length])
    between = path.arc_lengths[(path.arc_lengths > start) & (path.arc_lengths < stop)]
    walked = path.at(np.concatenate([[start], between, [stop]]))
    assert np.hypot(*np.diff(walked, axis=0).T).sum() == pytest.approx(stop - start, abs=1e-9)


@given(paths(), st.floats(0.05, 100))
def test_samples_are_evenly_spaced(path, step):
    even = path._even(step)
    np.testing.assert_allclose(np.diff(even), even[1], rtol=1e-9)
    assert even[1] <= step * (1 + 2e-5)
    sampled = path.sampled(step)
    np.testing.assert_allclose(sampled[[0, -1]], path.points[[0, -1]], atol=1e-12)
    assert (np.hypot(*np.diff(sampled, axis=0).T) <= even[1] * (1 + 1e-9)).all()


def test_a_step_that_divides_the_length_is_kept():
    assert len(Path([(0, 0), (0, 15)]).sampled(0.1)) == 151
    np.testing.assert_allclose(Path(CORNER).resampled(2).points, [(0, 0), (0, 2), (0, 4), (2, 4), (4, 4)])


@pytest.mark.parametrize("step", [0, -1, math.nan, 1e-9, "x", True])
def test_steps_that_cannot_be(step):
    with pytest.raises(RequestError, match="step"):
        Path(CORNER).sampled(step)


@given(paths(), st.floats(0, 5))
def test_rounding_keeps_ends_and_stays_inside(path, radius):
    rounded = path.rounded(radius)
    np.testing.assert_allclose(rounded.points[[0, -1]], path.points[[0, -1]], atol=2e-6)
    assert rounded.length <= path.length + 1e-5
    low, high = path.points.min(axis=0), path.points.max(axis=0)
    assert ((rounded.points >= low - 1e-9) & (rounded.points <= high + 1e-9)).all()


def test_a_right_angle_is_rounded_by_a_quarter_circle():
    rounded = Path(CORNER).rounded(1.5)
    arc = rounded.points[1:-1]
    np.testing.assert_allclose(np.hypot(*(arc - [1.5, 2.5]).T), 1.5, rtol=1e-12)
    np.testing.assert_allclose(arc[[0, -1]], [(0, 2.5), (1.5, 4)], atol=1e-12)
    assert np.diff(rounded.arc_lengths)[1:-1].max() <= 0.02
    assert rounded.length == pytest.approx(8 - 3 + 1.5 * math.pi / 2, abs=1e-4)
    # Turned the other way round, the same corner.
    np.testing.assert_allclose(Path(CORNER[::-1]).rounded(1.5).points[::-1], rounded.points, atol=1e-12)


def test_arcs_stay_within_half_a_side():
    rounded = Path(CORNER).rounded(100)
    np.testing.assert_allclose(rounded.points[1], (0, 2), atol=1e-12)
    there_and_back = Path([(0, 0), (0, 3), (0, 1)])
    np.testing.assert_allclose(there_and_back.rounded(1).points, there_and_back.points, atol=1e-12)
    assert Path(CORNER).rounded(0).length == pytest.approx(8)


@settings(deadline=None)  # the first call imports scipy
@given(paths(), st.floats(0, 30))
def test_smoothing_keeps_ends_and_straight_lines(path, metres):
    smooth = path.smoothed(metres)
    np.testing.assert_allclose(smooth.points[[0, -1]], path.points[[0, -1]], atol=2e-6)
    straight = Path([path.points[0], path.points[0] + [3, 4]]).smoothed(metres)
    assert straight.length == pytest.approx(5, abs=1e-6)


def test_smoothing_takes_out_what_is_shorter_and_keeps_what_is_longer():
    s = np.linspace(0, 40, 4001)
    wiggle, bend = 0.05 * np.sin(2 * np.pi * s / 0.5), 2 * np.sin(2 * np.pi * s / 20)
    middle = slice(200, -200)
    smooth = Path(np.stack([wiggle + bend, s], axis=-1)).smoothed(1.0)
    near = np.interp(s, smooth.points[:, 1], smooth.points[:, 0])
    assert np.abs(near - bend)[middle].max() < 0.05
    # Every wiggle of 0.5 m gone: no direction is left that the bend does not have.
    assert np.abs(np.tan(smooth.heading(s)))[middle].max() < 2 * np.pi / 20 * 2 * 1.05


@given(paths(), st.floats(-10, 10), coordinates, coordinates)
def test_rigid_moves_keep_the_length_and_turn_the_headings(path, yaw, x, z):
    moved = path.with_final_facing(0.5).moved(FloorTransform(yaw, x, z))
    assert moved.length == pytest.approx(path.length, rel=1e-9, abs=1e-5)
    turned = np.angle(np.exp(1j * (moved.final_facing - 0.5 - yaw)))
    assert turned == pytest.approx(0, abs=1e-9)
    place = path.length / 3
    expected = FloorTransform(yaw, x, z).apply([*np.insert(path.at(place), 1, 0)])[[0, 2]]
    np.testing.assert_allclose(moved.at(place), expected, atol=1e-5)


@given(paths(), st.floats(0.01, 10))
def test_reversing_twice_and_scaling_back(path, factor):
    np.testing.assert_array_equal(path.reversed().reversed().points, path.points)
    np.testing.assert_array_equal(path.mirrored().mirrored().points, path.points)
    assert path.scaled(factor).length == pytest.approx(path.length * factor, rel=1e-6, abs=1e-4)


def test_a_mirrored_path_and_its_facing_turn_the_other_way():
    path = Path(CORNER, final_facing=0.3).mirrored()
    np.testing.assert_array_equal(path.points, [(0, 0), (0, -4), (4, -4)])
    looks = np.array([math.sin(path.final_facing), math.cos(path.final_facing)])
    np.testing.assert_allclose(looks, [math.sin(0.3), -math.cos(0.3)])


def test_stretches_follow_the_path_through_every_change():
    path = (
        Path([(0, 0), (0, 10), (10, 10)])
        .with_stretch(2, 8, speed=3)
        .with_stretch(15, label="run")
        .with_stretch(9, pause=2)
    )
    assert [(t.start, t.stop) for t in path.stretches] == [(2, 8), (9, 9), (15, 20)]
    assert path.stretches[1].pause == 2
    assert [(t.start, t.stop) for t in path.reversed().stretches] == [(0, 5), (11, 11), (12, 18)]
    assert [(t.start, t.stop) for t in path.scaled(0.5).stretches] == [(1, 4), (4.5, 4.5), (7.5, 10)]
    for changed in (
        path.rounded(3),
        path.smoothed(2),
        path.resampled(0.3),
        path.moved(FloorTransform(1, 2, 3)).moved(FloorTransform(1, 2, 3).inverse()),
    ):
        fast, _, last = changed.stretches
        # The places on the floor are the same, though the corner is shorter now.
        np.testing.assert_allclose(changed.at([fast.start, last.start]), path.at([2, 15]), atol=0.03)
        assert last.stop == pytest.approx(changed.length)
    assert path.rounded(3).stretches[2].start < 14


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"start": 0, "stop": 9, "speed": 1}, "path is 8 m long"),
        ({"start": 3, "stop": 2, "speed": 1}, "must run forward"),
        ({"start": -1, "stop": 2, "speed": 1}, "must run forward"),
        ({"start": 0, "stop": 2}, "asks for nothing"),
        ({"start": 2, "stop": 2, "speed": 1}, "needs a length"),
        ({"start": 0, "stop": 2, "speed": 0}, "speed is 0 m/s"),
        ({"start": 0, "stop": 2, "speed": math.nan}, "speed must be a finite number"),
        ({"start": 0, "stop": 2, "pause": -1}, "pause is -1 s"),
        ({"start": 0, "stop": 2, "label": " "}, "label must be a word"),
        ({"start": None, "stop": 2, "speed": 1}, "start must be"),
    ],
)
def test_stretches_that_cannot_be(wrong, words):
    with pytest.raises(RequestError, match=words):
        Path(CORNER, stretches=(Stretch(**wrong),))


def test_two_speeds_at_one_place_are_refused_and_two_wishes_are_not():
    path = Path(CORNER).with_stretch(0, 4, speed=1).with_stretch(4, 8, speed=2)
    assert len(path.with_stretch(2, 6, label="run").stretches) == 3
    with pytest.raises(RequestError, match="two speeds are asked for between 3 m and 4 m: 1 and 5 m/s"):
        Path(CORNER).with_stretch(0, 4, speed=1).with_stretch(3, 5, speed=5)


def test_final_facing_is_wrapped_and_checked():
    assert Path(CORNER).with_final_facing(3 * math.pi / 2).final_facing == pytest.approx(-math.pi / 2)
    assert Path(CORNER, final_facing=-math.pi).final_facing == pytest.approx(math.pi)
    assert Path(CORNER, final_facing=0.1).with_final_facing(None).final_facing is None
    with pytest.raises(RequestError, match="final facing must be a finite number, not nan"):
        Path(CORNER, final_facing=math.nan)
    with pytest.raises(RequestError, match="final facing must be a finite number, not 'north'"):
        Path(CORNER, final_facing="north")


@pytest.mark.parametrize("change", ["smoothed", "rounded", "scaled", "resampled"])
@pytest.mark.parametrize("value", [-1, math.nan, math.inf, None])
def test_changes_refuse_measures_that_make_no_sense(change, value):
    with pytest.raises(RequestError):
        getattr(Path(CORNER), change)(value)


def test_a_part_of_a_path_takes_its_stretches_along():
    path = Path(CORNER, (Stretch(1, 3, speed=2.0), Stretch(5, 5, pause=1.0), Stretch(6, 8, label="run")), 1.0)
    part = path.between(2, 7)
    np.testing.assert_allclose(part.points, [(0, 2), (0, 4), (3, 4)])
    assert part.stretches == (Stretch(0, 1, speed=2.0), Stretch(3, 3, pause=1.0), Stretch(4, 5, label="run"))
    assert part.final_facing is None and path.between(2, 9).final_facing == 1.0
    with pytest.raises(RequestError, match="nothing of a path"):
        path.between(8, 9)


@given(paths(), st.floats(0.1, 0.9))
def test_parts_of_a_path_make_it_again(path, share):
    middle = share * path.length
    assume(1e-3 < middle < path.length - 1e-3)
    whole = path.between(0, middle).then(path.between(middle, path.length))
    assert whole.length == pytest.approx(path.length)
    np.testing.assert_allclose(whole.at(0.7 * path.length), path.at(0.7 * path.length), atol=1e-6)


def test_paths_that_do_not_meet_are_joined_by_a_straight_line():
    first, second = Path([(0, 0), (0, 2)]), Path([(1, 2), (1, 5)], (Stretch(0, 3, speed=1.0),), 0.5)
    both = first.then(second)
    assert both.length == pytest.approx(6) and both.final_facing == 0.5
    assert both.stretches == (Stretch(3, 6, speed=1.0),)
