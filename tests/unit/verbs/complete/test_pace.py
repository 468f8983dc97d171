"""Goals that are too fast for anybody recorded: told, and met without bending the body."""

from __future__ import annotations

import numpy as np
import pytest

import choreograph as cg
from choreograph.demo import demo_clip
from choreograph.motion.clip import Clip
from choreograph.verbs.complete import speed_limits as pace
from choreograph.verbs.complete.encode import EncodedMotion

WALKS = ("walk", "walk_veer_left", "walk_veer_right")


@pytest.fixture(scope="module")
def walks() -> list[Clip]:
    return [demo_clip(name, 30.0) for name in WALKS]


def asked(seconds: float, ahead_m: float, facing_deg: float = 0.0) -> cg.CompleteRequest:
    poses = [
        cg.PoseGoal(0.0, cg.PoseSource("walk", 10), place=(0.0, 0.0), facing_deg=0.0),
        cg.PoseGoal(seconds, cg.PoseSource("walk", 40), place=(0.0, ahead_m), facing_deg=facing_deg),
    ]
    return cg.CompleteRequest(seconds, poses)


@pytest.mark.parametrize(
    ("seconds", "ahead_m", "facing_deg", "said"),
    [(1.0, 5.0, 0.0, "The body moves"), (1.0, -4.0, 0.0, "backwards"), (0.1, 0.1, 180.0, "turning")],
)
def test_what_nobody_recorded_does_is_told(
    walks: list[Clip], seconds: float, ahead_m: float, facing_deg: float, said: str
) -> None:
    result = cg.complete(walks, asked(seconds, ahead_m, facing_deg))
    (problem,) = [problem for problem in result.problems if problem.kind == "too_fast"]
    assert said in problem.text and problem.where == "goals[1]"
    assert problem.got is not None and problem.nearest is not None and problem.got > 1.25 * problem.nearest


def test_a_walk_is_not_too_fast(walks: list[Clip]) -> None:
    way = float(np.linalg.norm((walks[0].root_pos[40] - walks[0].root_pos[10])[[0, 2]]))
    assert cg.complete(walks, asked(1.0, way)).problems == ()


def test_who_is_carried_still_walks_upright(walks: list[Clip]) -> None:
    result = cg.complete(walks, asked(1.0, -4.0))
    low, high = (pick([pick(_lean(clip)) for clip in walks]) for pick in (np.min, np.max))
    lean = _lean(result.clip)
    assert low - np.radians(6) < lean.min() and lean.max() < high + np.radians(6)


def _lean(clip: Clip) -> np.ndarray:
    """How far the head is ahead of the hips, as an angle."""
    pos, yaw = clip.global_positions(), clip.facing()
    up = pos[:, clip.skeleton.need("head")] - pos[:, clip.skeleton.hips]
    return np.asarray(np.arctan2(up[:, 0] * np.sin(yaw) + up[:, 2] * np.cos(yaw), up[:, 1]))


def test_between_motions_that_are_far_apart_it_says_how_to_ask(walks: list[Clip]) -> None:
    far = walks[0].moved(cg.FloorTransform(0.0, 0.0, -20.0)).with_name("far")
    request = cg.CompleteRequest(between=cg.Between(("walk", "far"), 0.7))
    (problem,) = cg.complete([*walks, far], request).problems
    assert "(as_recorded)" in problem.text and problem.where == "between.motions[1]"


def test_speeds_are_as_the_body_sees_them() -> None:
    place = np.zeros((31, 3))
    place[:, 0], place[:, 2] = np.linspace(0, 2, 31), np.pi / 2
    rows = np.zeros((31, 8))
    rows[:, -4] = np.linspace(0, 1, 31)
    assert pace.speeds(EncodedMotion(rows, place), 30.0, 0.5) == pytest.approx(np.tile([2, 0, 0, 0, 1], (16, 1)))
    place[:, 2] = 0.0
    assert pace.speeds(EncodedMotion(rows, place), 30.0, 0.5)[0] == pytest.approx([2, 0, 2, 0, 1])
    place[:, 2] = -np.pi / 2
    assert pace.speeds(EncodedMotion(rows, place), 30.0, 5.0) == pytest.approx(np.array([[2, 2, 0, 0, 1]]))
