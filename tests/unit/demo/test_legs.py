"""The leg reaches its target exactly, with the knee bent the human way."""

from __future__ import annotations

import numpy as np

from choreograph.base import quat
from choreograph.demo.body import SHIN, THIGH
from choreograph.demo.synthesis import reach_leg


def test_the_ankle_is_where_it_was_asked_to_be(rng: np.random.Generator) -> None:
    count = 500
    hip = rng.normal(size=(count, 3))
    direction = rng.normal(size=(count, 3)) * [0.4, 0.2, 0.6] - [0.0, 1.0, 0.0]
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    ankle = hip + direction * rng.uniform(0.25, 0.999, (count, 1)) * (THIGH + SHIN)
    before = quat.from_rotvec(rng.normal(size=(count, 3)) * 0.4)
    thigh, knee = reach_leg(before, hip, ankle)
    knee_pos = hip + quat.rotate(thigh, (0.0, -THIGH, 0.0))
    shin = quat.multiply(thigh, quat.from_axis_angle((1.0, 0.0, 0.0), knee))
    np.testing.assert_allclose(knee_pos + quat.rotate(shin, (0.0, -SHIN, 0.0)), ankle, atol=1e-9)
    assert (knee >= 0).all() and (knee < np.pi).all()


def test_a_leg_that_is_already_there_stays() -> None:
    thigh = quat.from_rotvec(np.array([[0.2, 0.1, -0.05]]))
    knee = 0.6
    bent = np.array([0.0, -THIGH - SHIN * np.cos(knee), -SHIN * np.sin(knee)])
    found, flexion = reach_leg(thigh, np.zeros((1, 3)), quat.rotate(thigh, bent))
    np.testing.assert_allclose(flexion, knee, atol=1e-12)
    assert quat.angle_between(found, thigh)[0] < 1e-7


def test_out_of_reach_is_a_straight_leg_in_the_right_direction() -> None:
    _, knee = reach_leg(quat.IDENTITY[None], np.zeros((1, 3)), np.array([[0.0, -2.0, 0.0]]))
    assert knee[0] == 0.0
