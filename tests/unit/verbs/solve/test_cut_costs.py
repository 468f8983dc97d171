from __future__ import annotations

import numpy as np
import pytest

from choreograph.features.frames import FrameTable
from choreograph.graph.model import MotionGraph
from choreograph.verbs.solve.cut_costs import choose_max_cut_cost, joining_cut_costs, median_cost, say_cut_cost
from choreograph.verbs.solve.hierarchy import build_hierarchy
from choreograph.verbs.solve.prepare import find_frames


def table(*clips: np.ndarray) -> FrameTable:
    """Clips whose frames are points on a plane, as unlike as they are far apart."""
    lengths = np.array([len(clip) for clip in clips])
    base = np.concatenate([[0], np.cumsum(lengths + 1)])
    count = int(base[-1])
    real, features = np.ones(count, bool), np.full((count, 2), 1e6, np.float32)
    for first, clip in zip(base, clips, strict=False):
        features[first : first + len(clip)] = clip
    real[base[1:] - 1] = False
    clip_of = np.repeat(np.arange(len(clips), dtype=np.int32), lengths + 1)
    nowhere = np.zeros(count, complex), np.ones(count, complex), np.zeros((count, 1, 3), np.float32)
    return FrameTable(base, clip_of, real, *nowhere, features, 30.0)


def line(y: float, start: float = 0.0, frames: int = 30) -> np.ndarray:
    """Points a tenth apart: frames three apart cost 0.09, four apart 0.16."""
    points: np.ndarray = np.stack([start + 0.1 * np.arange(frames), np.full(frames, y)], axis=1)
    return points


def test_frames_farther_apart_cost_more(walks: MotionGraph) -> None:
    frames = find_frames(walks)
    assert 0 < median_cost(frames, 2) < median_cost(frames, 3) < median_cost(frames, 4)
    assert median_cost(table(line(0.0)), 3) == pytest.approx(0.09, rel=1e-4)


def test_tau_is_raised_for_clips_that_would_fall_out_but_not_too_far() -> None:
    near, apart, far = line(0.2), line(0.58), line(1.4)
    assert choose_max_cut_cost(table(line(0.0), near)) == pytest.approx(0.09, rel=1e-3)
    # The third clip is 0.38 from the second: 0.1444, within what frames four apart cost.
    raised = table(line(0.0), near, apart, far)
    assert choose_max_cut_cost(raised) == pytest.approx(0.1444, rel=1e-2)
    assert build_hierarchy(raised).lost_clips() == [3]


def test_clips_join_by_the_least_cuts_on_the_way() -> None:
    # Two lie apart from the first, and the second of them is reached through the other: by its worst cut.
    chain = table(line(0.0, frames=60), line(0.5, frames=20), line(0.9, frames=20), line(2.0, frames=20))
    joining = joining_cut_costs(chain, 0.09)
    assert joining == pytest.approx([0.0, 0.25, 0.25, 1.21], rel=1e-2)
    for max_cut_cost in (0.2, 0.26, 1.3):
        lost = np.flatnonzero(joining_cut_costs(chain, max_cut_cost)).tolist()
        assert lost == np.flatnonzero(joining > max_cut_cost).tolist()


@pytest.mark.parametrize(
    ("max_cut_cost", "said"), [(0.37316, "0.374"), (11.31, "11.4"), (0.0001235, "0.000124"), (2.0, "2")]
)
def test_what_is_said_to_be_enough_is(max_cut_cost: float, said: str) -> None:
    assert say_cut_cost(max_cut_cost) == said and float(said) >= max_cut_cost
