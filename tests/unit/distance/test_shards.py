import numpy as np
import pytest
from tests.unit.distance.synthetic import moved, wander

from choreograph.distance.library import build_library, join_libraries
from choreograph.distance.minima import WindowMinima, iterate_minima, make_limits
from choreograph.distance.prune import choose_basis, measure
from choreograph.distance.shards import Question, compare_shards, cut_shards, measure_shard, pair_up
from choreograph.distance.window import Window, windowed_clip


@pytest.fixture(scope="module")
def clips():
    rng = np.random.default_rng(3)
    motions = [wander(rng, frames) for frames in (90, 40, 130, 70)]
    motions += [moved(m[5:], 1.0, 2.0, 3.0) + rng.normal(0, 0.01, (len(m) - 5, 5, 3)) for m in motions[::-1]]
    return [windowed_clip(m, np.ones(5), Window(6)) for m in motions]


def test_clips_are_cut_into_shards_of_about_so_many_frames():
    assert cut_shards([5, 5, 20, 1, 1], 10) == [range(2), range(2, 3), range(3, 5)]
    assert cut_shards([5], 10) == [range(1)]
    assert cut_shards([], 10) == []


def test_what_is_measured_apart_and_joined_is_what_is_measured_at_once(clips):
    level = build_library(clips).level
    one, other = (build_library(part, level=level) for part in (clips[:3], clips[3:]))
    both = build_library(clips, level=level)
    joined = join_libraries(one, other)
    for name, value in both._asdict().items():
        np.testing.assert_array_equal(value, getattr(joined, name))
    basis = choose_basis(both)
    apart = measure(one, basis).followed_by(measure(other, basis), 3, len(one.heights))
    whole = measure(both, basis)
    np.testing.assert_array_equal(whole.strips, apart.strips)
    np.testing.assert_allclose(whole.points, apart.points, atol=1e-6)
    for runs, expected in ((apart.coarse, whole.coarse), (apart.fine, whole.fine)):
        for name, value in expected._asdict().items():
            np.testing.assert_allclose(getattr(runs, name), value, atol=1e-6)


@pytest.mark.parametrize("threshold", [0.04, 0.15])
@pytest.mark.parametrize("involving", [None, [1, 6], [0, 1, 2, 3], [4, 6, 7]])
@pytest.mark.parametrize("start", [0, 1, 3])
def test_pairs_of_shards_find_what_all_at_once_finds(clips, threshold, involving, start):
    batches = iterate_minima(clips, threshold, involving=involving, start=start, prune=False)
    expected = WindowMinima.concatenate([batch.minima for batch in batches])
    cut = cut_shards([len(clip.heights) for clip in clips], 120)
    assert len(cut) > 3
    level = build_library(clips).level
    libraries = [build_library([clips[n] for n in part], level=level) for part in cut]
    basis = choose_basis(libraries[1])  # whichever: it is exact for all
    parts = [measure_shard(part.start, library, basis) for part, library in zip(cut, libraries, strict=True)]
    chosen = np.ones(len(clips), bool) if involving is None else np.isin(np.arange(len(clips)), involving)
    found, counts = [], np.array([clip.count for clip in clips])
    for _, tasks in pair_up(cut, counts, chosen, start):
        for (i, j), pairs in tasks:
            numbers = np.concatenate([cut[n] for n in sorted({i, j})])
            limits = make_limits(threshold, None, len(numbers))
            question = Question(limits, chosen[numbers], max(0, start - cut[i].start))
            minima, computed = compare_shards(parts[i], parts[j], question)
            assert computed <= 1.5 * pairs + 2_000
            found.append(minima)
    together = WindowMinima.concatenate(found)
    assert len(expected) > 0 or start
    for name, column in vars(expected).items():
        np.testing.assert_array_equal(column, getattr(together, name))


def test_pairs_are_counted_as_asked_for():
    counts, cut = np.array([10, 20, 30]), [range(2), range(2, 3)]
    whole = pair_up(cut, counts, np.ones(3, bool), 0)
    assert [[task.pairs for task in tasks] for _, tasks in whole] == [[450, 900], [450]]
    some = pair_up(cut, counts, np.array([False, True, False]), 0)
    assert [[task.pairs for task in tasks] for _, tasks in some] == [[400, 600], []]
    last = pair_up(cut, counts, np.array([True, False, True]), 0)
    assert [[task.pairs for task in tasks] for _, tasks in last] == [[250, 300], [600, 450]]
    assert [clips for clips, _ in pair_up(cut, counts, np.ones(3, bool), 1)] == [range(1, 2), range(2, 3)]
