"""Whether a solved motion bends its legs like those it was made from."""

from __future__ import annotations

import numpy as np
import pytest

from choreograph.base import quat
from choreograph.demo import demo_clip
from choreograph.verbs.physics.pose_distance import UNLIKE_DEG, legs_off_deg, unlike_problems


def test_a_recording_is_like_itself_and_a_squat_is_not() -> None:
    walk = demo_clip("walk", 60.0)
    assert legs_off_deg(walk, [walk]) == pytest.approx(0.0, abs=1e-4)
    local = walk.local_rot.copy()
    for part, turn in (("upper_leg", -1.0), ("lower_leg", 2.0)):
        for side in ("left", "right"):
            joint = walk.skeleton.need(f"{side}_{part}")
            local[:, joint] = quat.multiply(quat.from_rotvec(np.array([turn, 0.0, 0.0])), local[:, joint])
    squat = walk.with_frames(walk.root_pos, local)
    off = legs_off_deg(squat, [walk])
    assert off > UNLIKE_DEG and off <= legs_off_deg(squat, [walk[:10]])
    (problem,) = unlike_problems(off)
    assert (
        problem.kind == "pose_unnatural"
        and problem.got == pytest.approx(off, abs=1e-4)
        and not list(unlike_problems(UNLIKE_DEG))
    )


def test_nothing_recorded_says_nothing() -> None:
    assert legs_off_deg(demo_clip("walk", 30.0), []) == 0.0
