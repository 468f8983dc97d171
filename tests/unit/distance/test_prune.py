from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from tests.unit.distance.synthetic import moved, wander

from choreograph.distance import _compiled_prune, prune
from choreograph.distance.library import Library, build_library
from choreograph.distance.minima import find_minima, iterate_minima
from choreograph.distance.runs import KEPT, Runs
from choreograph.distance.window import Window, align_windows, windowed_clip


def clips_of(window: Window, count: int = 4, frames: int = 150):
    rng = np.random.default_rng(0)
    motions = [wander(rng, frames) for _ in range(count)]
    motions.append(moved(motions[0][20:], 1.0, 5.0, -3.0) + rng.normal(0, 0.01, (frames - 20, 5, 3)))
    return [windowed_clip(m, np.ones(5), window) for m in motions]


def limits_of(clips: int, threshold: float) -> prune.PruneLimits:
    return prune.PruneLimits(np.full((1, 1), threshold**2), np.zeros(clips, np.int64))


def pruner_of(library: Library, clips: int, threshold: float) -> prune.Pruner:
    measured = prune.measure(library, prune.choose_basis(library))
    return prune.Pruner(measured, limits_of(clips, threshold), len(library.weights))


def whole(pruner: prune.Pruner) -> tuple[range, range]:
    return (range(len(pruner.strips)),) * 2


def heights_and_floor(runs: Runs) -> tuple[np.ndarray, np.ndarray]:
    return runs.outline[:, :KEPT], runs.outline[:, KEPT : 2 * KEPT] + 1j * runs.outline[:, 2 * KEPT :]


@pytest.mark.parametrize("window", [Window(1), Window(2), Window(7)])
@pytest.mark.parametrize("threshold", [0.03, 0.1])
def test_no_pair_within_the_threshold_is_ruled_out(window, threshold):
    clips = clips_of(window)
    library = build_library(clips)
    pruner = pruner_of(library, len(clips), threshold)
    rectangles = pruner.open_rectangles(*whole(pruner), np.ones(len(clips), bool))
    covered = np.zeros((len(library.energy),) * 2, int)
    for _, a0, a1, _, b0, b1 in rectangles:
        covered[a0:a1, b0:b1] += 1
    assert covered.max() == 1, "rectangles overlap"
    near = 0
    for i, p in enumerate(clips):
        for j, q in enumerate(clips[i:], i):
            distance = align_windows(p, np.arange(p.count)[:, None], q, np.arange(q.count)[None]).distance
            a, b = np.nonzero(distance <= threshold)
            if i == j:
                a, b = a[b - a >= window.length], b[b - a >= window.length]
            assert covered[a + library.bounds[i, 0], b + library.bounds[j, 0]].all()
            near += len(a)
    assert near > 100
    assert covered.sum() < 0.5 * sum(clip.count for clip in clips) ** 2 / 2, "nothing was ruled out"


def test_rectangles_stay_within_clips_and_leave_out_pairs_not_asked_for():
    clips = clips_of(Window(6), frames=300)
    library = build_library(clips)
    pruner = pruner_of(library, 5, 0.1)
    every = pruner.open_rectangles(*whole(pruner), np.ones(5, bool))
    for r in (0, 3):
        clip, first, stop = every[:, r : r + 3].T
        assert (library.bounds[clip, 0] <= first).all() and (first < stop).all()
        assert (stop <= library.bounds[clip, 1]).all()
    chosen = np.arange(5) == 4
    some = pruner.open_rectangles(*whole(pruner), chosen)
    assert (some[:, 0] <= some[:, 3]).all() and (chosen[some[:, 0]] | chosen[some[:, 3]]).all()
    covered = np.zeros((2, *(len(library.energy),) * 2), bool)
    for table, rectangles in zip(covered, (some, every[chosen[every[:, 0]] | chosen[every[:, 3]]]), strict=True):
        for _, a0, a1, _, b0, b1 in rectangles:
            table[a0:a1, b0:b1] = True
    matrix = [align_windows(clips[4], np.arange(clips[4].count)[:, None], q, np.arange(q.count)) for q in clips]
    for n, found in enumerate(matrix[:4]):
        b, a = np.nonzero(found.distance <= 0.1)
        assert covered[:, a + library.bounds[n, 0], b + library.bounds[4, 0]].all()


def test_boxes_are_joined_where_that_saves_work():
    strips = np.array([(0, 0, 20), (0, 20, 40), (1, 40, 60)])
    boxes = np.array([(0, 20, 15, 20), (0, 20, 20, 28), (0, 20, 40, 60)])
    joined = _compiled_prune.gather_boxes(np.arange(3), boxes, strips, 11)
    assert joined.tolist() == [[0, 0, 20, 0, 15, 28], [0, 0, 20, 1, 40, 60]]
    boxes[:2] = (0, 3, 0, 20), (17, 20, 38, 40)
    apart = _compiled_prune.gather_boxes(np.arange(3), boxes, strips, 2)
    assert len(apart) == 3


def test_bounds_never_exceed_distances_and_come_near():
    clips = clips_of(Window(6))
    library = build_library(clips)
    runs = pruner_of(library, 5, 0.05).fine
    middle = (runs.first + runs.stop) // 2
    y, c = heights_and_floor(runs)
    product = y @ y.T + np.abs(c @ c.conj().T)
    bound = np.sqrt(np.maximum(runs.energy[:, None] + runs.energy - 2 * product, 0))
    whole = library.bounds[0, 1]
    mine = np.flatnonzero(middle < whole)
    true = align_windows(clips[0], middle[mine][:, None], clips[0], middle[mine][None]).distance
    assert (bound[np.ix_(mine, mine)] <= true + 1e-3).all()
    assert np.median(bound[np.ix_(mine, mine)][true > 0.05] / true[true > 0.05]) > 0.9


def test_radii_hold_all_windows_of_a_run():
    clips = clips_of(Window(6), count=1)
    library = build_library(clips)
    pruner = pruner_of(library, 2, 0.05)
    for runs in (pruner.coarse, pruner.fine):
        for first, stop, radius in zip(runs.first, runs.stop, runs.radius, strict=True):
            if stop <= library.bounds[0, 1]:
                middle = (first + stop) // 2
                assert (align_windows(clips[0], middle, clips[0], np.arange(first, stop)).distance <= radius).all()


def test_pruning_changes_the_work_and_not_the_result():
    clips = clips_of(Window(6), frames=300)
    shares = {}
    for pruned in (False, True):
        batches = list(iterate_minima(clips, 0.05, prune=pruned))
        shares[pruned] = sum(b.evaluated for b in batches) / sum(b.pairs for b in batches)
    assert shares[True] < 0.5 * shares[False]
    with_it, without = (find_minima(clips, 0.05, prune=pruned) for pruned in (True, False))
    assert len(with_it) > 0
    for name, column in vars(with_it).items():
        np.testing.assert_array_equal(column, getattr(without, name))


def test_euclidean_points_are_never_farther_apart_than_bounds():
    clips = clips_of(Window(6))
    runs = pruner_of(build_library(clips), 5, 0.05).fine
    with ThreadPoolExecutor(1) as pool:
        points = prune.make_sieve(runs.outline).points(runs, pool)[:, :-2].astype(float)
    y, c = heights_and_floor(runs)
    product = y @ y.T + np.abs(c @ c.conj().T)
    bound = np.sqrt(np.maximum(runs.energy[:, None] + runs.energy - 2 * product, 0))
    apart = np.linalg.norm(points[:, None] - points, axis=-1)
    assert (apart <= bound + 1e-3).all()
    near = (bound > 0.02) & (bound < 0.1)
    assert np.median(apart[near] / bound[near]) > 0.8
