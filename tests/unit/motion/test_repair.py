from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from choreograph.base import quat
from choreograph.demo import demo_clip
from choreograph.motion.clip import Clip
from choreograph.motion.repair import remove_spikes, repair, spread_flips


@pytest.fixture(scope="module")
def walking() -> Clip:
    """Four seconds of a straight walk at 120 frames per second."""
    return demo_clip("walk", 120.0)[120:600]


def test_a_spike_is_put_between_its_neighbours_and_nothing_else_is_touched(walking: Clip) -> None:
    rot, root = np.array(walking.local_rot), np.array(walking.root_pos)
    rot[100, 7] = quat.multiply(rot[100, 7], quat.from_rotvec([0.3, 0.1, 0.0]))
    root[200] += [0.02, 0.0, -0.01]
    mended = remove_spikes(replace(walking, local_rot=rot, root_pos=root))
    assert np.degrees(quat.angle_between(mended.local_rot, walking.local_rot)).max() < 0.5
    assert np.abs(mended.root_pos - walking.root_pos).max() < 0.001
    changed = np.argwhere(quat.angle_between(mended.local_rot, rot) > 1e-6)
    assert changed.tolist() == [[100, 7]]
    assert np.flatnonzero(np.abs(mended.root_pos - root).max(axis=1) > 1e-9).tolist() == [200]


def test_sound_motion_jumps_and_short_clips_stay_as_they_are(walking: Clip) -> None:
    assert np.allclose(quat.angle_between(remove_spikes(walking).local_rot, walking.local_rot), 0, atol=1e-6)
    rot = np.array(walking.local_rot)
    rot[150:, 4] = quat.multiply(rot[150:, 4], quat.from_rotvec([0.0, 0.4, 0.0]))  # goes and does not come back
    jumped = replace(walking, local_rot=rot)
    assert np.allclose(quat.angle_between(remove_spikes(jumped).local_rot, rot), 0, atol=1e-6)
    assert remove_spikes(walking[:4]) is not None and len(remove_spikes(walking[:4])) == 4


def test_flips_are_spread_and_the_rest_is_left_alone(human: Clip):
    rot = np.array(human.local_rot)
    assert spread_flips(rot, 60.0) == pytest.approx(quat.make_continuous(rot), abs=1e-12)
    hand = human.skeleton.need("left_hand")
    flipped = np.array(rot)
    flipped[20:, hand] = quat.multiply(rot[20:, hand], quat.from_rotvec(np.array([3.0, 0.0, 0.0])))
    mended = spread_flips(quat.make_continuous(flipped), 60.0)
    step = np.linalg.norm(quat.as_rotvec(quat.multiply(quat.inverse(mended[:-1]), mended[1:])), axis=-1)
    assert step.max() < 0.5
    others = [j for j in range(len(human.skeleton)) if j != hand]
    assert mended[:, others] == pytest.approx(quat.make_continuous(flipped)[:, others], abs=1e-12)
    assert np.abs((mended[[0, 10, 30, 39], hand] * flipped[[0, 10, 30, 39], hand]).sum(axis=1)) == pytest.approx(1)


def test_one_repair_does_both_and_a_large_spike_is_a_matter_of_one_frame(walking: Clip) -> None:
    rot = np.array(walking.local_rot)
    rot[100, 7] = quat.multiply(rot[100, 7], quat.from_rotvec([1.0, 0.0, 0.0]))  # a spike, faster than a flip
    rot[300:, 9] = quat.multiply(rot[300:, 9], quat.from_rotvec([0.0, 2.5, 0.0]))  # a flip
    mended = repair(replace(walking, local_rot=quat.make_continuous(rot)))
    off = quat.angle_between(mended.local_rot, rot)
    assert np.flatnonzero(off[:, 7] > 1e-6).tolist() == [100]
    changed = np.flatnonzero(off[:, 9] > 1e-6)
    assert 285 < changed.min() < 300 < changed.max() < 315
    assert quat.angle_between(mended.local_rot[1:], mended.local_rot[:-1]).max() * walking.fps < 30
    assert not off[:, [k for k in range(off.shape[1]) if k not in (7, 9)]].max() > 1e-6
    np.testing.assert_allclose(mended.root_pos, walking.root_pos, atol=1e-12)
