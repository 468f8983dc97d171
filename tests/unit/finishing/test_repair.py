from __future__ import annotations

from dataclasses import replace

import numpy as np

from choreograph.maths import quat
from choreograph.motion.clip import Clip
from choreograph.motion.repair import remove_spikes


def test_a_flick_is_put_between_its_neighbours_and_nothing_else_is_touched(walking: Clip) -> None:
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
