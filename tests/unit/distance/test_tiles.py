import numpy as np
import pytest
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


@pytest.mark.parametrize("widest", [1, 25])
def test_rectangles_cover_every_candidate_pair_once(widest):
    library = library_of(50, 3, 23, 9)
    strips = cut_strips(library, 10)
    every = np.arange(len(strips))
    rectangles = np.concatenate([make_rectangles(strips, row, every, LENGTH, widest) for row in every])
    assert ((rectangles[:, 5] - rectangles[:, 4]) <= max(widest, 10)).all()
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


def test_strips_that_are_not_asked_for_leave_gaps():
    library = library_of(60)
    strips = cut_strips(library, 10)
    got = make_rectangles(strips, 0, np.array([2, 3, 5]), LENGTH, 1000)
    assert got[:, 4:].tolist() == [[strips[2, 1], strips[3, 2]], [strips[5, 1], strips[5, 2]]]
