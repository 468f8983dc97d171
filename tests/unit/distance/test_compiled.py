import numpy as np
import pytest
from tests.unit.distance.synthetic import wander

from choreograph.distance import _compiled
from choreograph.distance.library import build_library
from choreograph.distance.tiles import SLACK
from choreograph.distance.window import Window, align_windows, windowed_clip

WEIGHTS = np.array([1.0, 3.0, 0.5, 0.0, 2.0])


@pytest.mark.parametrize("length", [1, 2, 7])
@pytest.mark.parametrize("step", [1, 2])
def test_diagonal_sums(length, step):
    values = np.random.default_rng(0).normal(size=(20, 26)).astype(np.float32)
    rows, columns = 20 - length + 1, 26 - (length - 1) * step
    out = np.zeros((20, 26), np.float32)
    _compiled.sum_diagonals(values, rows, columns, length, step, out)
    want = sum(values[k : k + rows, k * step : k * step + columns] for k in range(length))
    np.testing.assert_allclose(out[:rows, :columns], want, atol=1e-5)


@pytest.mark.parametrize("window", [Window(1), Window(4), Window(9), Window(7, "uniform")])
@pytest.mark.parametrize("step", [1, 2])
def test_window_sums_are_the_taper_down_the_diagonals(window, step):
    values = np.random.default_rng(1).normal(size=(30, 25 * step)).astype(np.float32)
    rows, columns = 30 - window.length + 1, (25 - window.length + 1) * step
    want = sum(w * values[k : k + rows, k * step : k * step + columns] for k, w in enumerate(window.weights))
    _compiled.sum_windows(values, np.empty_like(values), window.boxes, step)
    np.testing.assert_allclose(values[:rows, :columns] / np.prod(window.boxes), want, atol=1e-5)


def test_travel_is_the_straight_line_nearest_to_the_centroids():
    frames = np.arange(12)
    line = np.stack([3 - 0.2 * frames, 0.1 * frames], axis=1)
    rng = np.random.default_rng(2)
    centroid = line + rng.normal(0, 0.05, (12, 2))
    got = _compiled.travel(centroid, 2, 9)
    slope, begin = np.polyfit(np.arange(7), centroid[2:9], 1)
    np.testing.assert_allclose([got.x, got.z, got.vx, got.vz], [*begin, *slope], atol=1e-12)
    assert _compiled.travel(centroid, 5, 6)[2:] == (0.0, 0.0)


@pytest.mark.parametrize("window", [Window(1), Window(5), Window(8, "uniform")])
def test_tables_and_single_pairs_agree_with_the_closed_form(window):
    rng = np.random.default_rng(3)
    # Far from the origin and fast: what float32 has to be spared.
    drift = np.arange(60)[:, None, None] * [0.05, 0, 0.02] + [40, 0, -70]
    p, q = (windowed_clip(wander(rng, n) + drift[:n], WEIGHTS, window) for n in (60, 50))
    library = build_library([p, q])
    want = align_windows(p, np.arange(p.count)[:, None], q, np.arange(q.count)[None])
    (top, bottom), (left, right) = library.bounds
    buffers = _compiled.make_buffers(60, 60, 4, window.length)
    size = _compiled.fill_table(library, top, bottom, left, right, buffers)
    table = buffers.table[: p.count + 2, : q.count + 2]
    assert np.isinf(table[[0, -1]]).all() and np.isinf(table[:, [0, -1]]).all()
    np.testing.assert_allclose(table[1:-1, 1:-1], want.distance**2, rtol=0, atol=SLACK * size)
    for a, b in ((0, 0), (7, 31), (p.count - 1, q.count - 1)):
        squared, re, im = _compiled.measure_pair(library, top + a, left + b)
        assert squared == pytest.approx(want.distance[a, b] ** 2, abs=1e-11)
        assert np.exp(-1j * want.yaw[a, b]) == pytest.approx((re + 1j * im) / abs(re + 1j * im), abs=1e-9)


def test_what_does_not_fit_the_room_is_found_on_the_next_call():
    rng = np.random.default_rng(4)
    library = build_library([windowed_clip(wander(rng, 30), WEIGHTS, Window(3)) for _ in range(3)])
    rectangles = np.array([(i, *library.bounds[i], j, *library.bounds[j]) for i, j in ((0, 1), (0, 2), (1, 2))])
    limits = np.full(3, 100.0)
    roomy, tight = np.empty((5000, 4), np.int64), np.empty((28 * 28, 4), np.int64)
    done, count = _compiled.scan_rectangles(library, rectangles, limits, SLACK, 0, roomy)
    assert done == 3 and count > 3
    parts, done = [], 0
    while done < 3:
        done, n = _compiled.scan_rectangles(library, rectangles, limits, SLACK, done, tight)
        parts.append(tight[:n].copy())
    assert len(parts) > 1
    np.testing.assert_array_equal(np.concatenate(parts), roomy[:count])
