"""Hands and feet brought to where they should be."""

from __future__ import annotations

import numpy as np
import pytest

from choreograph.demo import demo_clip
from choreograph.finishing.joints import meet_joints
from choreograph.goals.model import JointGoal

NONE = np.zeros(0, np.int64)


@pytest.mark.parametrize("joint", ["left_hand", "right_foot"])
def test_a_limb_reaches_its_goal_and_bones_keep_their_length(joint: str) -> None:
    walk = demo_clip("walk", 30.0)
    number = walk.skeleton.need(joint)
    before = walk.global_positions()
    x, y, _ = (float(v) for v in before[60, number] + (0.03, 0.05, 0.0))
    moved = meet_joints(walk, [JointGoal(2.0, joint, (x, y, None))], NONE)
    after = moved.global_positions()
    assert after[60, number, :2] == pytest.approx((x, y), abs=0.004)
    assert after[60, number, 2] == pytest.approx(before[60, number, 2], abs=0.004)
    assert np.allclose(after[:50], before[:50]) and np.allclose(after[70:], before[70:])
    assert np.abs(np.diff(after - before, axis=0)).max() < 0.04
    for one, other in zip(walk.skeleton.parents, range(len(walk.skeleton)), strict=True):
        if one >= 0:
            lengths = np.linalg.norm(after[:, other] - after[:, one], axis=1)
            assert lengths == pytest.approx(np.linalg.norm(before[:, other] - before[:, one], axis=1))


def test_what_is_too_far_exact_or_no_limb_stays() -> None:
    walk = demo_clip("walk", 30.0)
    hand = walk.global_positions()[60, walk.skeleton.need("left_hand")]
    near = JointGoal(2.0, "left_hand", (None, float(hand[1]) + 0.05, None))
    for goals, exact in (
        ([JointGoal(2.0, "left_hand", (None, float(hand[1]) + 2.0, None))], NONE),
        ([JointGoal(2.0, "head", (None, 1.0, None))], NONE),
        ([JointGoal(2.0, "left_hand", velocity=(None, 1.0, None))], NONE),
        ([near], np.array([60])),
    ):
        assert meet_joints(walk, goals, exact) is walk
    kept = meet_joints(walk, [near], np.array([57, 64]))
    for frame in (57, 64):
        assert np.allclose(kept.local_rot[frame], walk.local_rot[frame], atol=1e-6)
