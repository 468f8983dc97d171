import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.distance.synthetic import moved, wander

from choreograph.base.errors import RequestError
from choreograph.base.floor import FloorTransform
from choreograph.distance import _compiled_window
from choreograph.distance.library import build_library, lower_numpy
from choreograph.distance.window import (
    Window,
    align_plainly,
    align_windows,
    measure_windows_numpy,
    windowed_clip,
)

WEIGHTS = np.array([1.0, 3.0, 0.5, 0.0, 2.0])


@pytest.mark.parametrize("length", [1, 2, 9, 10, 40])
@pytest.mark.parametrize("taper", ["triangle", "uniform"])
def test_frame_weights_sum_to_one_and_taper(length, taper):
    weights = Window(length, taper).weights
    k = np.arange(length)
    shape = np.minimum(k + 1, length - k) if taper == "triangle" else np.ones(length)
    np.testing.assert_allclose(weights, shape / shape.sum(), rtol=1e-12)
    assert sum(Window(length, taper).boxes) == length + 1


@pytest.mark.parametrize("window", [Window(1), Window(4), Window(7, "uniform")])
def test_closed_form_is_the_definition(window):
    rng = np.random.default_rng(0)
    p, q = wander(rng, 30), wander(rng, 25)
    a, b = np.array([0, 3, 10]), np.array([5, 0, 18])
    got = align_windows(windowed_clip(p, WEIGHTS, window), a, windowed_clip(q, WEIGHTS, window), b)
    for n in range(3):
        cut = slice(a[n], a[n] + window.length), slice(b[n], b[n] + window.length)
        want = align_plainly(p[cut[0]], q[cut[1]], WEIGHTS, window.weights)
        np.testing.assert_allclose([column[n] for column in got], want, atol=1e-9)


def test_no_other_floor_transform_does_better():
    rng = np.random.default_rng(1)
    window = Window(6)
    p, q = wander(rng, 6), wander(rng, 6)
    distance, *best = (float(v[0]) for v in align_windows(
        windowed_clip(p, WEIGHTS, window), [0], windowed_clip(q, WEIGHTS, window), [0]))  # fmt: skip
    w = np.outer(window.weights, WEIGHTS / WEIGHTS.sum())
    cost = lambda t: np.sqrt((w * np.square(p - FloorTransform(*t).apply(q)).sum(-1)).sum())  # noqa: E731
    assert cost(best) == pytest.approx(distance, abs=1e-9)
    for change in np.vstack([np.eye(3), -np.eye(3), rng.normal(size=(20, 3))]):
        for step in (1e-3, 0.3):
            assert cost(np.array(best) + step * change) > distance


@given(st.floats(-np.pi, np.pi), st.floats(-50, 50), st.floats(-50, 50), st.integers(0, 1000))
def test_a_moved_copy_is_at_no_distance_and_gives_the_move_back(yaw, x, z, seed):
    window = Window(5)
    p = wander(np.random.default_rng(seed), 5)
    q = moved(p, yaw, x, z)
    got = align_windows(windowed_clip(q, WEIGHTS, window), 0, windowed_clip(p, WEIGHTS, window), 0)
    assert got.distance == 0
    assert np.exp(1j * got.yaw) == pytest.approx(np.exp(1j * yaw), abs=1e-9)
    np.testing.assert_allclose([got.x, got.z], [x, z], atol=1e-8)


@given(st.integers(0, 10_000))
def test_distance_is_a_metric(seed):
    rng = np.random.default_rng(seed)
    p, q, r = (windowed_clip(wander(rng, 6), WEIGHTS, Window(6)) for _ in range(3))
    d = lambda u, v: float(align_windows(u, 0, v, 0).distance)  # noqa: E731
    assert d(p, q) == pytest.approx(d(q, p), abs=1e-9)
    assert d(p, r) <= d(p, q) + d(q, r) + 1e-9


def test_a_constant_gap_is_read_in_metres():
    p = wander(np.random.default_rng(3), 8)
    lifted = windowed_clip(p + np.array([0, 0.07, 0]), WEIGHTS, Window(8))
    assert align_windows(windowed_clip(p, WEIGHTS, Window(8)), 0, lifted, 0).distance == pytest.approx(0.07)


def test_a_clip_shorter_than_a_window_has_none():
    assert windowed_clip(wander(np.random.default_rng(4), 5), WEIGHTS, Window(6)).count == 0


@pytest.mark.parametrize("change", ["nan", "shape", "weights", "no weight", "negative"])
def test_what_cannot_be_compared_is_refused(change):
    p, weights = wander(np.random.default_rng(5), 9), WEIGHTS.copy()
    if change == "nan":
        p[4, 2, 1] = np.nan
    if change == "negative":
        weights[0] = -1
    p = p[..., :2] if change == "shape" else p
    weights = weights[:-1] if change == "weights" else weights * 0 if change == "no weight" else weights
    with pytest.raises(RequestError, match="frame 4" if change == "nan" else None):
        windowed_clip(p, weights, Window(3))


@pytest.mark.parametrize("arguments", [(0,), (5, "gauss")])
def test_windows_that_cannot_be_are_refused(arguments):
    with pytest.raises(RequestError, match="window"):
        Window(*arguments)


def test_the_compiled_kernels_are_as_their_plain_twins():
    rng = np.random.default_rng(4)
    heavy, share, weights = np.array([0, 2, 3]), np.array([0.5, 0.2, 0.3]), Window(6).weights
    clips = [rng.normal(size=(frames, 4, 3)) + 20 for frames in (25, 6, 3)]
    for positions in clips:
        plain = measure_windows_numpy(positions, heavy, share, weights)
        for own, want in zip(_compiled_window.measure_windows(positions, heavy, share, weights), plain, strict=True):
            np.testing.assert_allclose(own, want, atol=1e-12)
    library = build_library([windowed_clip(positions, np.ones(4), Window(6)) for positions in clips])
    same = library.heights, library.floor, library.centroid, library.energy, library.level, weights, library.bounds
    names = "lowered", "moment", "low", "plane", "size"
    for name, want in zip(names, lower_numpy(*same), strict=True):
        assert getattr(library, name).dtype == want.dtype
        np.testing.assert_allclose(getattr(library, name), want, atol=1e-5 if name in ("low", "plane") else 1e-10)


def test_a_part_of_a_clip_has_the_same_windows(rng):
    window = Window(5, "triangle")
    whole = windowed_clip(rng.normal(size=(30, 4, 3)), np.ones(4), window)
    part = whole.part(7, 12)
    assert part.count == 5 and len(part.heights) == 5 + 4
    assert np.array_equal(part.energy, whole.energy[7:12]) and np.array_equal(part.centre, whole.centre[7:12])
    here, there = align_windows(part, np.arange(5), whole, 20), align_windows(whole, np.arange(7, 12), whole, 20)
    for mine, theirs in zip(here, there, strict=True):
        assert np.array_equal(mine, theirs)
