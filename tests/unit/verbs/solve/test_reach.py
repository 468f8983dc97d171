from __future__ import annotations

import numpy as np
import pytest

from choreograph.goals.model import JointGoal, LabelGoal, PlaceGoal, PoseGoal, PoseSource
from choreograph.graph.model import MotionGraph
from choreograph.verbs.solve.cut_costs import median_cost
from choreograph.verbs.solve.hierarchy import Hierarchy, HierarchySettings
from choreograph.verbs.solve.layout import shown_rows
from choreograph.verbs.solve.prepare import find_hierarchy
from choreograph.verbs.solve.reach import OutOfReach, Reach
from choreograph.verbs.solve.request import SolveRequest
from choreograph.verbs.solve.solver import PathSolver

from .test_kernels import all_paths

BEGIN = PlaceGoal(0.0, (0.0, 0.0), 0.0)


def limits(graph: MotionGraph, cuts: Hierarchy, **asked) -> tuple[OutOfReach, ...]:  # type: ignore[no-untyped-def]
    return PathSolver(graph, SolveRequest(4.0, **asked), hierarchy=cuts).out_of_reach()


@pytest.mark.parametrize("hard", [(), (PoseGoal(0.6, PoseSource("walk_turn_90_left", 20), exact=True),)])
def test_rows_that_can_be_shown_are_those_that_some_path_shows(tiny, hard: tuple[PoseGoal, ...]) -> None:  # type: ignore[no-untyped-def]
    graph, cuts = tiny
    body = (BEGIN, PlaceGoal(1.6, (0.0, 1.8)))
    solver = PathSolver(graph, SolveRequest(1.6, (*body, *hard), min_piece_s=0.4), hierarchy=cuts)
    shown = np.zeros((solver.asked.frames, len(cuts.frames)), bool)
    farthest = 0.0
    for starts, stops, _ in all_paths(cuts, solver.asked.frames, solver.asked.least):
        rows = shown_rows(np.array(starts), np.array(stops))
        if (rows[solver.asked.hard_time] == solver.asked.hard_row).all():
            shown[np.arange(len(rows)), rows] = True
        place = solver._lay(np.array(starts), np.array(stops))[1]
        farthest = max(farthest, float(np.abs(np.diff(place)).sum()))
    reach = Reach(solver)
    for time in range(solver.asked.frames):
        assert reach.rows(time, fine=True).tolist() == np.flatnonzero(shown[time]).tolist()
        assert set(reach.rows(time, fine=False)) <= set(reach.rows(time, fine=True))
    # First and last pieces may be of any length there, and what cuts add goes any way: a bound from above, a near one.
    # All of it may be stretched by a tenth.
    assert farthest <= reach.way(solver.asked.frames - 1, fine=True) + 1e-9 < 1.1 * 1.2 * farthest


def test_what_can_be_met_is_not_named(walks: MotionGraph, cuts: Hierarchy) -> None:
    body = (BEGIN, PlaceGoal(4.0, (0.5, 4.0)))
    labels = (LabelGoal(start_s=0, end_s=4, label="walk"),)
    poses = (PoseGoal(2.0, PoseSource("jog", 30)),)
    joints = (JointGoal(2.0, "head", (None, 1.55, None)),)
    assert limits(walks, cuts, goals=(*body, *labels, *poses, *joints)) == ()


def test_a_head_too_high_or_too_low(walks: MotionGraph, cuts: Hierarchy) -> None:
    joints = (JointGoal(2.0, "head", (None, 3.0, None)), JointGoal(2.0, "head", (None, 0.2, None)))
    high, low = limits(walks, cuts, goals=joints)
    heights = cuts.frames.joints[cuts.frames.real][:, walks.skeleton.need("head"), 1]
    assert high.where == "goals[0]" and high.asked == 3.0
    assert high.nearest == pytest.approx(heights.max(), abs=0.02) and low.nearest == pytest.approx(
        heights.min(), abs=0.02
    )
    clip = walks.clips[walks.find_clip(high.clip or "")]
    assert clip.global_positions()[high.frame, walks.skeleton.need("head"), 1] == pytest.approx(high.nearest, abs=0.01)
    assert high.text.startswith("'head' at a height of 3.00 m at 2 s is out of reach; the nearest is")


def test_too_fast(walks: MotionGraph, cuts: Hierarchy) -> None:
    (up, along) = limits(walks, cuts, goals=(JointGoal(1.0, "left_hand", velocity=(30.0, 20.0, 40.0)),))
    assert (up.asked, along.asked) == (20.0, 50.0) and up.nearest < 5 and along.nearest < 10


def test_too_far(walks: MotionGraph, cuts: Hierarchy) -> None:
    (far,) = limits(walks, cuts, goals=(BEGIN, PlaceGoal(2.0, (0.0, 30.0)), PlaceGoal(4.0, (0.0, 31.0))))
    assert far.where == "goals[1]" and far.asked == 30.0
    assert 2 * 1.2 < far.nearest < 2 * 5
    assert "30.0 m from goals[0] in 2 s is out of reach" in far.text


def test_turned_too_fast(walks: MotionGraph, cuts: Hierarchy) -> None:
    (quick,) = limits(walks, cuts, goals=(BEGIN, PlaceGoal(0.2, (0.0, 0.1), 180.0), PlaceGoal(4.0, (0.0, 2.0))))
    assert quick.where == "goals[1]" and quick.asked == pytest.approx(np.pi) and 0 < quick.nearest < 1.5
    assert "turned by 180° from goals[0] in 0.2 s is out of reach; no way through the clips turns" in quick.text


def test_a_label_or_pose_that_hard_frames_leave_no_room_for(walks: MotionGraph, cuts: Hierarchy) -> None:
    """The jog cannot be cut into: who walks at the start never gets there."""
    hard = (PoseGoal(0.0, PoseSource("walk", 10), exact=True),)
    (pose, label) = limits(
        walks, cuts, goals=(*hard, LabelGoal(start_s=1, end_s=2, label="jog"), PoseGoal(2, PoseSource("jog", 30)))
    )
    assert label.where == "goals[1]" and (label.asked, label.nearest) == (1.0, 0.0)
    assert "at no time in between" in label.text
    assert pose.where == "goals[2]" and pose.nearest > 1 and pose.clip != "jog"


def test_what_lies_in_parts_that_no_cut_joins_is_named_together(walks: MotionGraph, cuts: Hierarchy) -> None:
    strict = find_hierarchy(walks, HierarchySettings(max_cut_cost=median_cost(cuts.frames, 3)))
    labels = (LabelGoal(start_s=0, end_s=1, label="walk"), LabelGoal(start_s=3, end_s=4, label="jog"))
    asked = (*labels, PoseGoal(2, PoseSource("walk", 30)))
    found = limits(walks, strict, goals=asked)
    assert [entry.text for entry in found] == [
        f"No cuts lead from the clips of goals[{n}] to those of goals[1]; drop one" for n in (0, 2)
    ]
    assert limits(walks, cuts, goals=asked) == ()
