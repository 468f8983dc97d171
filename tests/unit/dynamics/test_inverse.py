"""Inverse dynamics against what mechanics says: standing, falling, Pinocchio, and recorded people."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from choreograph.base.errors import RequestError
from choreograph.demo import demo_clip
from choreograph.dynamics.body import make_body
from choreograph.dynamics.contacts import find_contacts, floor_height, measure_points
from choreograph.dynamics.dofs import make_dofs
from choreograph.dynamics.export import as_urdf
from choreograph.dynamics.inverse import Dynamics, compute_dynamics
from choreograph.formats import read_clip
from choreograph.motion.clip import Clip
from choreograph.motion.facts import GRAVITY_M_S2


def mechanics(clip: Clip, cutoff_hz: float | None = 10.0) -> Dynamics:
    body = make_body(clip.skeleton)
    floor = floor_height([clip])
    points = measure_points([clip], body.height, floor)
    return compute_dynamics(clip, body, points, floor_m=floor, cutoff_hz=cutoff_hz)


def standing(frames: int = 40) -> Clip:
    walk = demo_clip("walk", 60.0)
    return Clip(walk.skeleton, 60.0, np.repeat(walk.root_pos[:1], frames, 0), np.repeat(walk.local_rot[:1], frames, 0))


def test_the_ground_carries_who_stands_still() -> None:
    found = mechanics(standing(), None)
    assert found.contacts.any(axis=1).all()
    assert np.allclose(found.needed_force, [0.0, found.weight, 0.0], atol=1e-6 * found.weight)
    assert np.allclose(found.com_velocity, 0.0) and np.allclose(found.angular_momentum, 0.0)


def test_nothing_pushes_who_falls() -> None:
    still = standing(60)
    times = np.arange(60) / 60.0
    height = 4.0 + 1.0 * times - 0.5 * GRAVITY_M_S2 * times**2
    thrown = still.with_frames(still.root_pos + np.stack([2 * times, height, 0 * times], 1), still.local_rot)
    body = make_body(thrown.skeleton)
    found = compute_dynamics(thrown, body, measure_points([still], body.height), cutoff_hz=None)
    assert not found.contacts.any()
    assert np.abs(found.needed_force).max() < 1e-6 * body.weight
    assert np.abs(found.torques).max() < 1e-6


def test_torques_are_pinocchios() -> None:
    pin = pytest.importorskip("pinocchio")
    clip = demo_clip("walk", 30.0)
    body = make_body(clip.skeleton)
    dofs = make_dofs(body, [clip])
    # A smooth motion in the air, sampled finely, so that differences are derivatives.
    fps, q0 = 2000.0, dofs.angles(clip)[5]
    times = (np.arange(9) - 4) / fps
    rng = np.random.default_rng(3)
    speed, pull = rng.normal(0, 1.0, len(dofs)), rng.normal(0, 3.0, len(dofs))
    q = q0 + times[:, None] * speed + 0.5 * times[:, None] ** 2 * pull
    q[:, 1] += 3.0
    flying = dofs.clip(q, fps, "flying")
    found = compute_dynamics(flying, body, measure_points([clip], body.height), cutoff_hz=None)
    model = pin.buildModelFromXML(as_urdf(dofs))
    model.gravity.linear = np.array([0.0, -GRAVITY_M_S2, 0.0])
    q_pin, speed_pin, pull_pin = pin.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
    for k, name in enumerate(dofs.names):
        joint = model.joints[model.getJointId(name)]
        angle = q[4, k]
        q_pin[joint.idx_q : joint.idx_q + joint.nq] = angle if joint.nq == 1 else (np.cos(angle), np.sin(angle))
        speed_pin[joint.idx_v], pull_pin[joint.idx_v] = speed[k], pull[k]
    data = model.createData()
    torque = pin.rnea(model, data, q_pin, speed_pin, pull_pin)
    joint = clip.skeleton.index("LeftForeArm")
    mine = found.torques[4, joint]
    first = next(k for k, j in enumerate(dofs.joints) if j == joint)  # its axis is fixed in the parent's frame
    axis = np.eye(3)["xyz".index(dofs.names[first][-1])]
    assert torque[model.joints[model.getJointId(dofs.names[first])].idx_v] == pytest.approx(mine @ axis, abs=2e-3)
    # The root's three shifts are the whole force from outside.
    root = [torque[model.joints[model.getJointId(name)].idx_v] for name in dofs.names[:3]]
    assert np.allclose(root, found.needed_force[4], rtol=2e-4, atol=0.05)


def test_too_few_frames_are_refused() -> None:
    with pytest.raises(RequestError, match="frames"):
        mechanics(standing(4))


def test_recorded_people_obey_mechanics(recordings: Path) -> None:
    walk = mechanics(read_clip(recordings / "cmu/16/16_21.amc"))
    at = slice(6, -6)
    residual = np.linalg.norm(walk.residual_force[at], axis=1) / walk.weight
    assert residual.mean() < 0.04 and walk.ground_force[at, 1].max() < 1.7 * walk.weight
    jump = mechanics(read_clip(recordings / "cmu/16/16_05.amc"))
    air = np.flatnonzero(~jump.contacts.any(axis=1))
    middle = air[len(air) // 4 : -len(air) // 4]
    assert len(air) / 120 == pytest.approx(0.43, abs=0.06)
    assert np.ptp(jump.angular_momentum[middle], axis=0).max() < 1.5
    fall = jump.com_acceleration[middle, 1]
    assert abs(fall.mean() + GRAVITY_M_S2) < 0.15 * GRAVITY_M_S2


def test_contacts_of_a_walk_alternate() -> None:
    clip = demo_clip("walk", 60.0)
    body = make_body(clip.skeleton)
    flags = find_contacts(clip, measure_points([clip], body.height))
    feet = np.stack([flags[:, :3].any(axis=1), flags[:, 3:].any(axis=1)], axis=1)
    assert feet.any(axis=1).mean() > 0.95 and 0.4 < feet.mean() < 0.8
