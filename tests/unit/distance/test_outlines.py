import numpy as np
import pytest
from tests.unit.distance.synthetic import moved, wander

from choreograph.distance.library import build_library, part_of
from choreograph.distance.prefilter import Newcomers, measure_outlines, open_spans
from choreograph.distance.tiles import cut_strips
from choreograph.distance.window import Window, align_windows, windowed_clip


@pytest.mark.parametrize("window", [Window(1), Window(7)])
@pytest.mark.parametrize("threshold", [0.03, 0.1])
def test_no_window_near_a_new_one_is_left_out(window, threshold):
    rng = np.random.default_rng(3)
    motions = [wander(rng, 150) for _ in range(4)]
    near = moved(motions[1][20:90], 1.0, 5.0, -3.0) + rng.normal(0, 0.01, (70, 5, 3))
    there, new = (
        [windowed_clip(motion, np.ones(5), window) for motion in some] for some in (motions, [near, wander(rng, 60)])
    )
    library = build_library(new)
    strips = cut_strips(library, 20)
    classes = np.array([0, 1, 0, 1]), np.array([1, 0])
    thresholds = np.float32([[threshold / 2, threshold / 2], [threshold / 2, threshold]])
    spans = open_spans(measure_outlines(build_library(there)), Newcomers(library, strips), thresholds, classes)
    open_ = np.zeros((len(strips), 4, 150), bool)
    for strip, clip, first, stop in spans:
        assert 0 <= first < stop <= there[clip].count
        assert not open_[strip, clip, first:stop].any(), "spans overlap"
        open_[strip, clip, first:stop] = True
    found = 0
    for strip, (number, first, stop) in enumerate(strips):
        begin = library.bounds[number, 0]
        for clip, old in enumerate(there):
            a, b = np.arange(first - begin, stop - begin)[:, None], np.arange(old.count)[None]
            distance = align_windows(new[number], a, old, b).distance.min(axis=0)
            within = np.flatnonzero(distance <= thresholds[classes[0][clip], classes[1][number]])
            assert open_[strip, clip, within].all()
            found += len(within)
    assert found > 10
    assert open_.mean() < 0.5, "nothing was ruled out"


def test_part_of_a_library_is_the_library_of_those_clips():
    rng = np.random.default_rng(0)
    clips = [windowed_clip(wander(rng, frames), np.ones(5), Window(6)) for frames in (30, 50, 40, 20)]
    whole = build_library(clips)
    for some in (range(1, 3), range(2, 4), range(0, 4)):
        part, alone = part_of(whole, some), build_library(clips[some.start : some.stop])
        for name in ("heights", "floor", "centroid", "centre", "energy", "moment", "origin", "bounds"):
            assert np.array_equal(getattr(part, name), getattr(alone, name)), name
