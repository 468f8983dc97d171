"""What is said of constraints that finished motions do not meet: measured on the motion, with the nearest there is."""

from __future__ import annotations

import numpy as np
import pytest

from choreograph.contract.problem import Problem
from choreograph.contract.result import Result
from choreograph.goals.model import JointGoal, LabelGoal, PlaceGoal, PoseGoal, PoseSource
from choreograph.graph.model import MotionGraph
from choreograph.scene.model import Obstacle, Scene
from choreograph.verbs.solve.hierarchy import Hierarchy
from choreograph.verbs.solve.measure import TorsoTrack, pose_gaps
from choreograph.verbs.solve.request import SolveRequest
from choreograph.verbs.solve.search import SolveSearch

BEGIN = PlaceGoal(0.0, (0.0, 0.0), 0.0)


def result(walks: MotionGraph, cuts: Hierarchy, length_s: float = 4.0, **asked) -> Result:  # type: ignore[no-untyped-def]
    request = SolveRequest(length_s, **{"count": 1, "work_limit": 20_000, **asked})
    return SolveSearch(walks, request, hierarchy=cuts).run()


def only(found: Result) -> Problem:
    [problem] = found.problems
    return problem


def test_what_is_met_is_no_problem(walks: MotionGraph, cuts: Hierarchy) -> None:
    goals = (
        BEGIN,
        PlaceGoal(4.0, (0.3, 4.5), 10.0),
        LabelGoal(start_s=0.5, end_s=3.5, label="WALK"),
        PoseGoal(2.0, PoseSource("walk", 60)),
        PoseGoal(3.0, PoseSource("walk", 90), exact=True),
        JointGoal(1.0, "head", (None, 1.55, None)),
    )
    scene = Scene((Obstacle(centre=(3.0, 2.0), radius_m=0.5), Obstacle(low=(-4, 0), high=(-3, 5))))
    found = result(walks, cuts, goals=goals, work_limit=60_000, scene=scene)
    assert found.problems == ()


def test_a_place_out_of_reach(walks: MotionGraph, cuts: Hierarchy) -> None:
    found = result(walks, cuts, goals=(BEGIN, PlaceGoal(4.0, (0.0, 60.0))))
    problem = only(found)
    clip = found.clip
    hips = clip.global_positions()[-1, clip.skeleton.hips]
    assert problem.where == "goals[1].place" and problem.unit == "m" and problem.asked == 60.0
    assert problem.got == pytest.approx(np.hypot(hips[0], hips[2]), abs=1e-3)
    assert problem.nearest is not None and 4.8 < problem.nearest < 20
    assert problem.place == pytest.approx((0.0, 0.0, problem.nearest), abs=1e-3)
    assert problem.kind == "position_missed" and "60.0 m from goals[0] in 4 s is out of" in problem.text
    off = found.metrics["body_worst"].value
    assert off == pytest.approx(np.hypot(hips[0], hips[2] - 60.0), abs=1e-3) and f"{off:.0f} m from" in problem.text


def test_a_facing_out_of_reach(walks: MotionGraph, cuts: Hierarchy) -> None:
    body = (BEGIN, PlaceGoal(0.2, (0.0, 0.2), 170.0), PlaceGoal(4.0, (0.0, 4.0)))
    found = result(walks, cuts, goals=body)
    [problem] = [one for one in found.problems if one.where == "goals[1].facing_deg"]
    frame = round(0.2 * found.clip.fps)
    facing = np.degrees(found.clip.facing()[frame])
    assert problem.asked == 170.0 and problem.unit == "°" and problem.got is not None
    assert np.exp(1j * np.radians(problem.got)) == pytest.approx(np.exp(1j * np.radians(facing)), abs=1e-3)
    assert problem.nearest is not None and 0 < problem.nearest < 100 and "turns by more than" in problem.text


def test_a_height_out_of_reach(walks: MotionGraph, cuts: Hierarchy) -> None:
    found = result(walks, cuts, goals=(BEGIN, JointGoal(2.0, "head", (None, 3.0, None))))
    problem = only(found)
    head = found.clip.global_positions()[60, found.clip.skeleton.need("head")]
    assert problem.where == "goals[1].position" and problem.asked == 3.0
    assert problem.got == pytest.approx(head[1], abs=1e-3)
    assert problem.nearest is not None and problem.got - 0.02 < problem.nearest < 1.8
    assert problem.place == pytest.approx((head[0], problem.nearest, head[2]), abs=1e-3)
    assert "'head' at a height of 3.00 m at 2 s is out of reach; the nearest is 1." in problem.text


def test_a_joint_elsewhere_and_too_slow(walks: MotionGraph, cuts: Hierarchy) -> None:
    """On the floor nothing is known to be out of reach: what is missed is said without a nearest."""
    joints = (JointGoal(2.0, "left_hand", (9.0, None, 9.0)), JointGoal(1.0, "left_hand", velocity=(None, None, 30.0)))
    found = result(walks, cuts, goals=(BEGIN, PlaceGoal(4.0, (0.0, 4.5)), *joints), work_limit=5_000)
    there, fast = found.problems
    clip = found.clip
    hand = clip.global_positions()[:, clip.skeleton.need("left_hand")]
    assert there.where == "goals[2].position" and there.nearest is None
    assert there.got == pytest.approx(np.hypot(*(hand[60, [0, 2]] - 9.0)), abs=1e-3)
    assert fast.where == "goals[3].velocity" and fast.unit == "m/s" and fast.asked == 0.0
    assert fast.got == pytest.approx(30.0 - (hand[31, 2] - hand[29, 2]) * 15, abs=1e-2)


def test_a_speed_out_of_reach(walks: MotionGraph, cuts: Hierarchy) -> None:
    found = result(walks, cuts, goals=(BEGIN, JointGoal(1.0, "left_hand", velocity=(30.0, None, 40.0))))
    problem = only(found)
    assert problem.where == "goals[1].velocity" and problem.asked == 50.0 and problem.nearest is not None
    assert problem.got is not None and problem.got < 10 and problem.nearest < 10
    assert "moving along at 50.00 m/s at 1 s is out of reach" in problem.text


def test_a_label_and_a_pose_that_cannot_be_shown(walks: MotionGraph, cuts: Hierarchy) -> None:
    asked = (LabelGoal(start_s=1, end_s=2, label="jog"), PoseGoal(2, PoseSource("jog", 30)))
    found = result(
        walks,
        cuts,
        goals=(
            PoseGoal(0.0, PoseSource("walk", 10), exact=True),
            PoseGoal(3.0, PoseSource("walk", 100), exact=True),
            *asked,
        ),
    )
    pose, label = found.problems
    assert label.where == "goals[2]" and (label.asked, label.got, label.unit) == (1.0, 0.0, "s")
    assert label.nearest == 0.0 and label.kind == "label_missed" and "at no time" in label.text
    assert pose.where == "goals[3]" and "Nothing like frame 30" in pose.text
    recorded = walks.clips[walks.find_clip("jog")]
    gaps = pose_gaps(TorsoTrack(found.clip), recorded, 30, (2.0, 2.0))
    assert pose.got == pytest.approx(np.sqrt((gaps**2).mean()), abs=1e-3)
    # Without the hard frames both can be had.
    assert result(walks, cuts, goals=asked).problems == ()


def test_an_obstacle_that_there_is_no_way_round(walks: MotionGraph, cuts: Hierarchy) -> None:
    wall = Obstacle(low=(-30.0, 2.0), high=(30.0, 2.2), weight=0.001, clearance_m=0.4, of="hips")
    clear = Obstacle(centre=(20.0, 20.0), radius_m=1.0)
    found = result(walks, cuts, goals=(BEGIN, PlaceGoal(4.0, (0.0, 4.5))), scene=Scene((clear, wall)))
    problem = only(found)
    assert problem.where == "scene.obstacles[1]" and (problem.asked, problem.unit) == (0.4, "m")
    assert problem.got is not None and -0.1 <= problem.got < 0 and "inside obstacle 2" in problem.text
    assert problem.place is not None and problem.place[2] == pytest.approx(2.1, abs=0.1)


def test_how_near_to_an_obstacle_is_measured_in_every_frame(walks: MotionGraph, cuts: Hierarchy) -> None:
    body = (BEGIN, PlaceGoal(4.0, (0.0, 4.5)))
    free = result(walks, cuts, goals=body).clip
    way = free.global_positions()[:, free.skeleton.hips][:, [0, 2]]
    centre = way[60] + [0.2, 0.0]
    beside = Obstacle(centre=centre, radius_m=0.1, weight=1e-9)  # so little that it goes the same way
    found = result(walks, cuts, goals=body, scene=Scene((beside,)))
    hips = found.clip.global_positions()[:, found.clip.skeleton.hips][:, [0, 2]]
    kept = (np.linalg.norm(hips - centre, axis=1) - 0.1).min()
    problem = only(found)
    assert problem.got == pytest.approx(kept, abs=1e-3) and kept < 0.25
    assert "from obstacle 1" in problem.text or "inside obstacle 1" in problem.text


def test_hard_frames_are_measured_at_the_recordings_own_rate(walks: MotionGraph, cuts: Hierarchy) -> None:
    body = (BEGIN, PlaceGoal(4.0, (0.0, 4.5)))
    for at_s in (2.0, 2.01):
        found = result(
            walks,
            cuts,
            goals=(*body, PoseGoal(at_s, PoseSource("walk", 60), exact=True, duration_s=0.5)),
            work_limit=5_000,
        )
        assert found.problems == ()
        gaps = pose_gaps(TorsoTrack(found.clip), walks.clips[walks.find_clip("walk")], 60, (at_s, at_s))
        assert gaps.max() < 1e-6
