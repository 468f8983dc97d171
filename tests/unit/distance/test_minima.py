import numpy as np
import pytest
from tests.unit.distance.synthetic import moved, plain_matrix, plain_minima, wander

from choreograph.base.errors import Cancelled, RequestError
from choreograph.base.progress import Recorder
from choreograph.distance.minima import WindowMinima, distance_matrix, find_minima, iterate_minima
from choreograph.distance.window import Window, align_windows, windowed_clip

WEIGHTS = np.array([1.0, 3.0, 0.5, 0.0, 2.0])
FAR = 10.0  # metres: nothing is beyond it


def pairs_of(minima: WindowMinima, i: int, j: int) -> set[tuple[int, int]]:
    mine = minima.take((minima.clip_a == i) & (minima.clip_b == j))
    return set(zip(mine.a.tolist(), mine.b.tolist(), strict=True))


def assert_same(one: WindowMinima, other: WindowMinima) -> None:
    for name, column in vars(one).items():
        np.testing.assert_array_equal(column, getattr(other, name), err_msg=name)


def motions(seed: int, *lengths: int) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [wander(rng, n) for n in lengths]


def windows(motions: list[np.ndarray], window: Window):
    return [windowed_clip(p, WEIGHTS, window) for p in motions]


@pytest.mark.parametrize("prune", [False, True])
@pytest.mark.parametrize("window", [Window(1), Window(2), Window(6), Window(9, "uniform")])
@pytest.mark.parametrize("threshold", [0.1, 0.2, FAR])
def test_minima_are_those_of_the_definition(window, threshold, prune):
    clips = motions(0, 60, 45, window.length, window.length - 1 or 1, 52)
    got = find_minima(windows(clips, window), threshold, prune=prune)
    for i, p in enumerate(clips):
        for j, q in enumerate(clips[i:], i):
            band = window.length if i == j else 0
            want = plain_minima(plain_matrix(p, q, WEIGHTS, window), threshold, band)
            assert pairs_of(got, i, j) == want, (i, j)
    assert len(got) or threshold < FAR


def test_minima_are_right_across_the_borders_of_rectangles():
    # Longer than several strips, with and without pruning; a slow clip has minima far apart, so borders matter.
    clips = motions(1, 450, 500)
    window = Window(4)
    loaded = windows(clips, window)
    every = align_windows(loaded[0], np.arange(447)[:, None], loaded[1], np.arange(497)[None]).distance
    want = plain_minima(every, 0.25)
    assert len(want) > 20
    for prune in (False, True):
        assert pairs_of(find_minima(loaded, 0.25, prune=prune), 0, 1) == want


@pytest.mark.parametrize("prune", [False, True])
def test_copies_and_frozen_stretches_give_one_minimum(prune):
    (p,) = motions(2, 80)
    window = Window(5)
    frozen = np.repeat(motions(3, 1)[0], 30, axis=0)
    got = find_minima(windows([p, moved(p, 2.0, 3.0, -1.0), frozen, frozen], window), 1e-6, prune=prune)
    assert pairs_of(got, 0, 1) == {(0, 0)}
    assert pairs_of(got, 2, 3) == {(0, 0)}
    assert pairs_of(got, 2, 2) == set(), "a frozen stretch falls into the band around its own diagonal"
    assert pairs_of(got, 0, 0) == set()


@pytest.mark.parametrize("prune", [False, True])
def test_a_loop_meets_itself_one_period_on(prune):
    t = 2 * np.pi * (np.arange(60) % 20) / 20
    body = np.stack([np.cos(t), 1 + 0.2 * np.sin(t), np.sin(2 * t)], axis=1)[:, None] * [1, 1, 0.3]
    walk = np.concatenate([body, np.roll(body, 3, axis=0), 0 * body, 0 * body, 0.5 * body], axis=1)
    got = find_minima(windows([walk], Window(6)), 1e-6, prune=prune)
    assert pairs_of(got, 0, 0) == {(0, 20), (0, 40)}


def test_minima_carry_distance_and_floor_transform():
    loaded = windows(motions(4, 90, 70), Window(6))
    got = find_minima(loaded, 0.2)
    assert len(got) > 5
    for i, j in ((0, 0), (0, 1), (1, 1)):
        mine = got.take((got.clip_a == i) & (got.clip_b == j))
        want = align_windows(loaded[i], mine.a, loaded[j], mine.b)
        for name, column in want._asdict().items():
            np.testing.assert_allclose(getattr(mine, name), column, atol=1e-7, err_msg=name)


def test_minima_depend_on_nothing_but_their_clips():
    loaded = windows(motions(5, 120, 90, 100, 80), Window(6))
    whole = find_minima(loaded, 0.2)
    assert_same(whole, find_minima(loaded, 0.2, prune=False, workers=2))
    new = whole.take(np.isin(whole.clip_a, [1, 3]) | np.isin(whole.clip_b, [1, 3]))
    assert 0 < len(new) < len(whole)
    assert_same(new, find_minima(loaded, 0.2, involving=[1, 3]))
    fewer = find_minima([loaded[1], loaded[3]], 0.2)
    back = np.array([1, 3])
    mine = whole.take(np.isin(whole.clip_a, back) & np.isin(whole.clip_b, back))
    np.testing.assert_array_equal(mine.a, fewer.a)
    np.testing.assert_array_equal(mine.clip_b, back[fewer.clip_b])
    np.testing.assert_array_equal(mine.distance, fewer.distance)
    np.testing.assert_array_equal(mine.x, fewer.x)


def test_a_lower_threshold_only_leaves_out_the_far_ones():
    loaded = windows(motions(6, 100, 90), Window(5))
    wide = find_minima(loaded, 0.3)
    assert_same(wide.take(wide.distance <= 0.15), find_minima(loaded, 0.15))


@pytest.mark.parametrize("prune", [False, True])
def test_thresholds_by_class(prune):
    loaded = windows(motions(7, 100, 90, 80), Window(5))
    table = np.array([[0.12, 0.25], [0.25, 0.05]])
    classes = [0, 1, 0]
    got = find_minima(loaded, table, classes=classes, prune=prune)
    wide = find_minima(loaded, 0.25)
    limit = table[np.take(classes, wide.clip_a), np.take(classes, wide.clip_b)]
    assert_same(wide.take(wide.distance <= limit), got)


def test_batches_complete_clip_after_clip_and_can_be_taken_up_again(monkeypatch):
    monkeypatch.setattr("choreograph.distance.minima._BATCH_PAIRS", 5000)
    loaded = windows(motions(8, 60, 70, 3, 50, 40), Window(5))
    batches = list(iterate_minima(loaded, 0.2))
    assert len(batches) > 2
    assert [clip for batch in batches for clip in batch.clips] == [0, 1, 2, 3, 4]
    assert all(np.isin(batch.minima.clip_a, batch.clips).all() for batch in batches)
    assert all(0 <= batch.evaluated <= batch.pairs for batch in batches)
    later = list(iterate_minima(loaded, 0.2, start=batches[1].clips.start))
    assert_same(
        WindowMinima.concatenate([b.minima for b in later]), WindowMinima.concatenate([b.minima for b in batches[1:]])
    )


def test_progress_reaches_the_total_and_can_cancel():
    loaded = windows(motions(9, 300, 300), Window(5))
    heard = Recorder()
    find_minima(loaded, 0.1, progress=heard)
    assert heard.calls[-1][1] == heard.calls[-1][2] > 0
    with pytest.raises(Cancelled):
        find_minima(loaded, 0.1, progress=Recorder(cancel_after=1), workers=2)


@pytest.mark.parametrize(
    ("threshold", "classes"),
    [
        (-1.0, None),
        (np.nan, None),
        (0.1, [0, 0]),
        ([[0.1]], None),
        ([[0.1, 0.2], [0.3, 0.1]], [0, 1]),
        ([[0.1]], [0, 1]),
    ],
)
def test_thresholds_that_make_no_sense_are_refused(threshold, classes):
    with pytest.raises(RequestError, match="threshold"):
        find_minima(windows(motions(10, 20, 20), Window(5)), threshold, classes=classes)


def test_clips_that_do_not_fit_together_are_refused():
    p, q = motions(11, 20, 20)
    with pytest.raises(RequestError, match="clip 1 differs"):
        find_minima([windowed_clip(p, WEIGHTS, Window(5)), windowed_clip(q, WEIGHTS, Window(6))], 0.1)
    with pytest.raises(RequestError, match="no clips"):
        find_minima([], 0.1)


def test_there_must_be_a_worker():
    with pytest.raises(RequestError, match="workers"):
        find_minima(windows(motions(11, 20), Window(5)), 0.1, workers=0)


def test_clips_without_a_single_window_have_no_minima():
    assert len(find_minima(windows(motions(12, 3, 4), Window(5)), FAR)) == 0


def test_the_matrix_for_pictures_is_the_distance():
    p, q = motions(13, 230, 40)
    got = distance_matrix(*windows([p, q], Window(5)))
    want = align_windows(windowed_clip(p, WEIGHTS, Window(5)), np.arange(226)[:, None],
                         windowed_clip(q, WEIGHTS, Window(5)), np.arange(36)[None])  # fmt: skip
    np.testing.assert_allclose(got, want.distance, atol=1e-3)


def test_real_recordings_give_the_minima_of_the_definition_pruned_or_not(recordings):
    from choreograph.features.weights import joint_weights
    from choreograph.formats import read_clip

    clips = [read_clip(recordings / "cmu" / name[:2] / f"{name}.amc") for name in ("16_15", "16_22", "13_11", "16_55")]
    weights, window = joint_weights(clips[0].skeleton.roles), Window(10)
    loaded = [windowed_clip(clip.global_positions()[::4], weights, window) for clip in clips]
    got = {prune: find_minima(loaded, 0.1, prune=prune) for prune in (False, True)}
    assert_same(got[False], got[True])
    assert len(got[True]) > 50
    for i, p in enumerate(loaded):
        for j, q in enumerate(loaded[i:], i):
            every = align_windows(p, np.arange(p.count)[:, None], q, np.arange(q.count)[None]).distance
            assert pairs_of(got[True], i, j) == plain_minima(every, 0.1, window.length if i == j else 0)
