import numpy as np
from tests.unit.distance.synthetic import wander

from choreograph.distance.library import build_library
from choreograph.distance.tiles import areas, cut_strips, make_rectangles
from choreograph.distance.window import Window, windowed_clip

LENGTH = 4


def library_of(*frames: int):
    rng = np.random.default_rng(0)
    return build_library([windowed_clip(wander(rng, n), np.ones(5), Window(LENGTH)) for n in frames])


def test_strips_cover_every_window_once_and_stay_within_a_clip():
    library = library_of(50, 3, 23, 4)
    strips = cut_strips(library, 10)
    assert (strips[:, 2] - strips[:, 1]).max() <= 10
    for clip, (start, stop) in enumerate(library.bounds):
        mine = [w for c, a, b in strips if c == clip for w in range(a, b)]
        assert mine == list(range(start, stop))


def test_rectangles_cover_every_candidate_pair_once():
    library = library_of(50, 3, 23, 9)
    strips = cut_strips(library, 10)
    chosen = np.ones(4, bool)
    rectangles = np.concatenate([make_rectangles(strips, row, LENGTH, chosen) for row in range(len(strips))])
    covered = np.zeros((len(library.energy),) * 2, int)
    for clip_a, a0, a1, clip_b, b0, b1 in rectangles:
        assert library.bounds[clip_a, 0] <= a0 < a1 <= library.bounds[clip_a, 1]
        assert library.bounds[clip_b, 0] <= b0 < b1 <= library.bounds[clip_b, 1]
        covered[a0:a1, b0:b1] += 1
    assert covered.max() == 1 and covered.sum() == areas(rectangles).sum()
    windows = np.concatenate([np.arange(*b) for b in library.bounds])
    clip = np.concatenate([np.full(b - a, n) for n, (a, b) in enumerate(library.bounds)])
    a, b = np.meshgrid(windows, windows, indexing="ij")
    wanted = (clip[:, None] < clip) | ((clip[:, None] == clip) & (b - a >= LENGTH))
    assert covered[a[wanted], b[wanted]].all()


def test_pairs_of_clips_that_were_not_chosen_are_left_out():
    strips = cut_strips(library_of(15, 14, 13), 20)
    pairs = lambda chosen: [tuple(r[[0, 3]]) for row in range(3) for r in make_rectangles(strips, row, LENGTH, chosen)]  # noqa: E731
    assert pairs(np.array([False, True, False])) == [(0, 1), (1, 1), (1, 2)]
    assert pairs(np.array([False, False, False])) == []
