"""Poses put on another body one by one: as whole clips are, but for what only a whole clip tells."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.motion.test_retarget_rigs import ARMS, _apart, _wander, other_rig

from choreograph.base import quat
from choreograph.demo import demo_clip
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import with_detected_contacts
from choreograph.motion.foot_geometry import body_stance, recorded_stance
from choreograph.motion.live_map import live_map
from choreograph.motion.retarget import retarget


def _worn(clip: Clip, recording: Clip) -> Clip:
    rig, _ = other_rig(clip.skeleton)
    root, local = live_map(recording, rig, body_stance(rig)).poses(clip.root_pos, clip.local_rot)
    return Clip(rig, clip.fps, root, local, clip.name, contacts=clip.contacts)


def test_poses_are_those_of_the_whole_clip() -> None:
    clip = with_detected_contacts(demo_clip("walk_turn_90_left", 30.0))
    worn = _worn(clip, demo_clip("walk", 30.0))
    assert _apart(clip, worn, ARMS) < 0.01
    whole = retarget(clip, worn.skeleton, keep_way=True)
    apart = np.linalg.norm(worn.global_positions() - whole.global_positions(), axis=2)
    assert apart.mean() < 0.01 and apart.max() < 0.06
    assert np.median(_wander(worn)) <= 1.1 * np.median(_wander(clip)) + 1e-3


def test_each_pose_is_put_on_by_itself() -> None:
    clip = demo_clip("walk", 30.0)
    rig, _ = other_rig(clip.skeleton)
    table = live_map(clip, rig, body_stance(rig))
    root, local = table.poses(clip.root_pos, clip.local_rot)
    alone, turned = table.poses(clip.root_pos[17:18], clip.local_rot[17:18])
    assert alone[0] == pytest.approx(root[17]) and turned[0] == pytest.approx(local[17])


def test_the_same_body_stays_as_it_is() -> None:
    clip = demo_clip("walk", 30.0)
    stance = recorded_stance(clip)
    assert stance is not None
    root, local = live_map(clip, clip.skeleton, stance).poses(clip.root_pos, clip.local_rot)
    assert np.abs(root - clip.root_pos).max() < 0.02
    assert np.degrees(quat.angle_between(local, clip.local_rot)).mean() < 1
