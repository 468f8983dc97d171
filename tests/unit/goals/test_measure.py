"""Goals as targets, measured on a motion: what is met, what is missed, and the problems that come of it."""

import numpy as np
import pytest

import choreograph as cg
from choreograph.base.errors import RequestError
from choreograph.cli.old_options import current_options
from choreograph.demo import demo_clip
from choreograph.goals.check import SEARCHED
from choreograph.goals.kinds import KINDS
from choreograph.goals.measure import find_problems, measure, pose_places
from choreograph.goals.target import find_targets
from choreograph.goals.tolerance import TOLERANCE
from choreograph.motion.clip import Clip


@pytest.fixture(scope="module")
def walk() -> Clip:
    return demo_clip("walk", 30.0).with_labels(["walk"])


def targets_of(walk: Clip, *goals: cg.PlaceGoal) -> list:
    return find_targets(goals, walk.skeleton, lambda pose, where: walk)


def test_every_kind_has_a_tolerance_in_its_unit() -> None:
    for name, kind in KINDS.items():
        assert kind.unit in ("", TOLERANCE[name].unit)


def test_a_motion_meets_its_own_goals(walk: Clip) -> None:
    pos = walk.global_positions()
    hips, hand = walk.skeleton.hips, walk.skeleton.need("right_hand")
    speed = np.linalg.norm(np.diff(pos[:61, hips][:, [0, 2]], axis=0), axis=1).sum() / 2
    targets = targets_of(
        walk,
        cg.PlaceGoal(1.0, tuple(pos[30, hips, [0, 2]].tolist()), float(np.degrees(walk.facing()[30]))),
        cg.JointGoal(1.0, "right_hand", tuple(pos[30, hand].tolist())),
        cg.PoseGoal(1.0, cg.PoseSource("walk", 30), as_recorded=True),
        cg.LabelGoal(start_s=0.0, end_s=1.0, label="walk"),
        cg.SpeedGoal(start_s=0.0, end_s=2.0, speed_m_s=float(speed)),
    )
    measured = measure(walk, [*targets, *pose_places(targets)])
    assert [one.target.kind for one in measured][:4] == ["place", "facing", "position", "pose"]
    assert max(one.off for one in measured) < 1e-6 and not any(one.missed for one in measured)


def test_what_is_missed_is_a_problem_of_its_field(walk: Clip) -> None:
    targets = targets_of(walk, cg.PlaceGoal(0.0, (5.0, 0.0), 90.0), cg.LabelGoal(start_s=0.0, end_s=1.0, label="run"))
    problems = find_problems(measure(walk, targets), walk.skeleton.names)
    assert [(one.kind, one.where) for one in problems] == [
        ("position_missed", "goals[0].place"),
        ("facing_missed", "goals[0].facing_deg"),
        ("label_missed", "goals[1]"),
    ]
    assert problems[1].asked == pytest.approx(90.0) and problems[1].tolerance == 5.0
    own = targets_of(walk, cg.PlaceGoal(0.0, (5.0, 0.0), tolerance_m=50.0))
    assert not measure(walk, own)[0].missed, "a goal's own tolerance counts"


def test_a_verb_refuses_goals_of_other_verbs() -> None:
    assert "complete" in SEARCHED and cg.CompleteRequest.verb == "complete"
    with pytest.raises(RequestError, match=r"goals\[0\] is a pause goal, which complete cannot .*; follow can"):
        cg.CompleteRequest(1.0, [{"at_s": 0.5, "pause_s": 1.0}])


def test_options_in_frames_become_seconds() -> None:
    words, _ = current_options("complete", ["--frames", "20", "--past=8", "--no-in-place", "--alpha", "2"])
    assert words[:3] == ["--gap", "0.7", "--before"] and float(words[3]) == pytest.approx(7 / 30)
    assert words[4:] == ["--no-as-recorded", "--advanced", "weights.dynamics=2"]
