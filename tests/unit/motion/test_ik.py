from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from choreograph.base import quat
from choreograph.motion import ik

Array = np.ndarray


def bent_leg(flexion: Array, yaw: float = 0.3, thigh: float = 0.43, shin: float = 0.41) -> tuple[Array, ...]:
    """Hip, knee, ankle and thigh rotation of legs bent backwards by so many radians, facing a yaw."""
    flexion = np.asarray(flexion, float)
    turn = np.broadcast_to(quat.from_yaw(yaw), (len(flexion), 4))
    hip = np.tile([0.1, 0.9, 0.0], (len(flexion), 1))
    knee = hip + quat.rotate(turn, (0.0, -thigh, 0.0))
    down = quat.rotate(quat.from_rotvec(np.stack([flexion, 0 * flexion, 0 * flexion], 1)), (0.0, -shin, 0.0))
    return hip, knee, knee + quat.rotate(turn, down), turn


def solved(hip: Array, knee: Array, ankle: Array, thigh_rot: Array, target: Array) -> tuple[Array, Array]:
    axis = ik.hinge_axes(hip, knee, ankle, thigh_rot)
    swing, bend = ik.solve_limb(hip, knee, ankle, axis, target)
    new_knee = hip + quat.rotate(swing, knee - hip)
    return new_knee, new_knee + quat.rotate(quat.multiply(swing, bend), ankle - knee)


@settings(deadline=None)  # the first call compiles
@given(st.integers(0, 10_000))
def test_the_ankle_reaches_what_is_within_reach_and_bones_keep_their_length(seed: int) -> None:
    rng = np.random.default_rng(seed)
    leg = bent_leg(rng.uniform(0.05, 2.2, 8), rng.uniform(-3, 3))
    hip, _, ankle, _ = leg
    direction = (ankle - hip) / np.linalg.norm(ankle - hip, axis=1, keepdims=True) + rng.normal(0, 0.4, (8, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    target = hip + direction * rng.uniform(0.1, 0.96, (8, 1)) * 0.84
    new_knee, new_ankle = solved(*leg, target)
    np.testing.assert_allclose(new_ankle, target, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(new_knee - hip, axis=1), 0.43, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(new_ankle - new_knee, axis=1), 0.41, atol=1e-12)


@settings(deadline=None)  # the first call compiles
@given(st.integers(0, 10_000), st.floats(0.9, 1.0))
def test_compiled_kernels_do_what_their_numpy_twins_do(seed: int, soft_share: float) -> None:
    rng = np.random.default_rng(seed)
    hip, knee, ankle, turn = bent_leg(rng.uniform(-0.3, 2.5, 20), rng.uniform(-3, 3))
    axis = ik.hinge_axes(hip, knee, ankle, turn)
    np.testing.assert_allclose(axis, ik.hinge_axes_numpy(hip, knee, ankle, turn), atol=1e-9)
    target = hip + rng.normal(0, 0.6, (20, 3))
    target[0], target[1] = hip[0], 2 * hip[1] - ankle[1]
    fast, slow = (solve(hip, knee, ankle, axis, target, soft_share) for solve in (ik.solve_limb, ik.solve_limb_numpy))
    np.testing.assert_allclose(fast[0], slow[0], atol=1e-6)
    np.testing.assert_allclose(fast[1], slow[1], atol=1e-6)


def test_a_leg_that_is_asked_for_nothing_stays_as_it_is() -> None:
    leg = bent_leg(np.array([-0.1, -0.01, 0.0, 0.01, 0.5, 2.0]))
    new_knee, new_ankle = solved(*leg, leg[2])
    np.testing.assert_allclose(new_knee, leg[1], atol=1e-7)
    np.testing.assert_allclose(new_ankle, leg[2], atol=1e-7)


def test_the_knee_keeps_to_its_side() -> None:
    leg = bent_leg(np.full(50, 0.6))
    hip, _, ankle, thigh_rot = leg
    target = hip + (ankle - hip) * np.linspace(0.2, 1.5, 50)[:, None]
    new_knee, new_ankle = solved(*leg, target)
    ahead = quat.rotate(thigh_rot, (0.0, 0.0, 1.0))
    line = (new_ankle - hip) / np.linalg.norm(new_ankle - hip, axis=1, keepdims=True)
    off = new_knee - hip - np.sum((new_knee - hip) * line, axis=1, keepdims=True) * line
    assert (np.sum(off * ahead, axis=1) > 0).all()


def test_reach_is_damped_near_extension_and_never_complete() -> None:
    longest = np.full(400, 0.84)
    wanted = np.linspace(0.5, 1.5, 400)
    reach = ik.soft_reach(wanted, np.full(400, 0.7), longest)
    start = ik.SOFT_SHARE * 0.84
    np.testing.assert_array_equal(reach[wanted <= start], wanted[wanted <= start])
    assert (np.diff(reach) >= 0).all()
    assert (reach <= longest).all()
    slope = np.diff(reach) / np.diff(wanted)
    assert np.abs(np.diff(slope)).max() < 0.12, "no kink where the resistance begins"
    # A recorded pose that is straighter than that is granted what it had.
    assert ik.soft_reach(np.array([0.839]), np.array([0.839]), np.array([0.84]))[0] == 0.839


def test_small_changes_of_the_target_are_small_changes_of_the_leg() -> None:
    leg = bent_leg(np.full(2000, 0.4))
    ankle = leg[2]
    t = np.linspace(0, 1, 2000)[:, None]
    target = ankle + t * [0.3, 0.1, 0.2] + 0.2 * np.sin(6 * t) * [0, -1, 0]
    new_knee, new_ankle = solved(*leg, target)
    step = np.linalg.norm(np.diff(target, axis=0), axis=1).max()
    assert np.linalg.norm(np.diff(new_ankle, axis=0), axis=1).max() <= 1.01 * step
    assert np.linalg.norm(np.diff(new_knee, axis=0), axis=1).max() < 4 * step


def test_a_straight_leg_bends_as_the_knee_does_elsewhere_in_the_clip() -> None:
    flexion = np.concatenate([np.full(20, 0.8), np.zeros(5)])
    hip, knee, ankle, thigh_rot = bent_leg(flexion)
    axis = ik.hinge_axes(hip, knee, ankle, thigh_rot)
    np.testing.assert_allclose(axis, quat.rotate(thigh_rot, (1.0, 0.0, 0.0)), atol=1e-6)
    never = bent_leg(np.zeros(3))
    np.testing.assert_allclose(ik.hinge_axes(*never), quat.rotate(never[3], (1.0, 0.0, 0.0)), atol=1e-6)


def test_a_target_in_the_hip_itself_is_no_accident() -> None:
    leg = bent_leg(np.array([0.5]))
    new_knee, new_ankle = solved(*leg, leg[0])
    assert np.isfinite(new_ankle).all()
    assert np.linalg.norm(new_ankle - leg[0]) == pytest.approx(0.02, abs=1e-9)
    assert np.linalg.norm(new_knee - leg[0]) == pytest.approx(0.43)
