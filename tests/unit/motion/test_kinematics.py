from __future__ import annotations

import numpy as np
import pytest

from choreograph.base import quat
from choreograph.motion import kinematics
from choreograph.motion.clip import Clip


def random_tree(rng: np.random.Generator, joints: int) -> np.ndarray:
    return np.array([-1, *(rng.integers(0, j) for j in range(1, joints))], np.int32)


@pytest.mark.parametrize("joints", [1, 2, 30])
@pytest.mark.parametrize("frames", [1, 5])
@pytest.mark.parametrize("stretching", [False, True])
def test_compiled_is_the_plain_twin(joints: int, frames: int, stretching: bool, rng: np.random.Generator) -> None:
    parents = random_tree(rng, joints)
    rot = quat.normalise(rng.normal(size=(frames, joints, 4)))
    offsets = rng.normal(size=(frames if stretching else 1, joints, 3))
    root = rng.normal(size=(frames, 3))
    for fast, plain in zip(
        kinematics.forward(root, rot, offsets, parents),
        kinematics.forward_numpy(root, rot, offsets, parents),
        strict=True,
    ):
        assert np.allclose(fast, plain, atol=1e-12)


@pytest.mark.parametrize("joints", [1, 2, 30])
def test_compiled_locals_are_the_plain_twins(joints: int, rng: np.random.Generator) -> None:
    parents = random_tree(rng, joints)
    rot = quat.normalise(rng.normal(size=(7, joints, 4)))
    assert np.allclose(kinematics.to_local(rot, parents), kinematics.to_local_numpy(rot, parents), atol=1e-12)
    scaled = rot * rng.uniform(0.5, 2.0, size=(7, joints, 1)) * rng.choice([-1.0, 1.0], size=(7, joints, 1))
    fast = kinematics.unit_and_continuous(scaled)
    assert np.allclose(fast, kinematics.unit_and_continuous_numpy(scaled), atol=1e-12)
    scaled[3] = 0.0
    assert np.abs(kinematics.unit_and_continuous(scaled)[3, :, 0]).max() == 1.0


def test_a_bent_arm_by_hand() -> None:
    quarter = quat.from_rotvec([0, 0, np.pi / 2])
    rot = np.array([[quarter, quarter, quat.IDENTITY]])
    pos, world = kinematics.forward(
        np.array([[1.0, 2, 3]]), rot, np.array([[[9.0, 9, 9], [1, 0, 0], [1, 0, 0]]]), np.array([-1, 0, 1], np.int32)
    )
    assert np.allclose(pos[0], [[1, 2, 3], [1, 3, 3], [0, 3, 3]])
    assert quat.angle_between(world[0, 2], quat.from_rotvec([0, 0, np.pi])) < 1e-12


def test_global_back_to_local(human: Clip) -> None:
    local = kinematics.to_local(human.global_rotations(), human.skeleton.parents)
    assert quat.angle_between(local, human.local_rot).max() < 1e-7


def test_bones_keep_their_length(human: Clip) -> None:
    pos, skeleton = human.global_positions(), human.skeleton
    lengths = np.linalg.norm(pos[:, 1:] - pos[:, skeleton.parents[1:]], axis=-1)
    assert np.allclose(lengths, skeleton.bone_lengths[1:])
    tips = human.tip_positions()
    reach = np.linalg.norm(tips - pos[:, skeleton.tip_parents], axis=-1)
    assert np.allclose(reach, np.linalg.norm(skeleton.tip_offsets, axis=1))


def test_speeds_are_those_of_the_gradient(rng: np.random.Generator) -> None:
    paths = rng.normal(size=(20, 4, 3))
    wanted = np.linalg.norm(np.gradient(paths, 1 / 50, axis=0), axis=-1)
    np.testing.assert_allclose(kinematics.speeds(paths, 50.0), wanted, rtol=1e-12)
    assert not kinematics.speeds(paths[:1], 50.0).any()
