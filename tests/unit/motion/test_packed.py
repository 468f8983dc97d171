"""Clips as the stage takes them."""

from __future__ import annotations

import numpy as np

from choreograph.motion.clip import Clip
from choreograph.motion.packed import pack_frames, row_bytes, skeleton_id


def test_rows_have_the_root_and_then_joints_in_xyzw(human: Clip) -> None:
    rows = np.frombuffer(pack_frames(human, 3, 9), "<f4").reshape(6, -1)
    assert rows.nbytes == 6 * row_bytes(len(human.skeleton))
    np.testing.assert_allclose(rows[:, :3], human.root_pos[3:9], rtol=1e-6)
    np.testing.assert_allclose(rows[2, 3:7], human.local_rot[5, 0, [1, 2, 3, 0]], rtol=1e-6)
    np.testing.assert_allclose(rows[2, -4:], human.local_rot[5, -1, [1, 2, 3, 0]], rtol=1e-6)


def test_equal_bodies_have_equal_names(human: Clip) -> None:
    name = skeleton_id(human.skeleton)
    assert skeleton_id(human.skeleton.scaled(1.0)) == name
    assert skeleton_id(human.skeleton.scaled(1.01)) != name
    assert skeleton_id(human.skeleton.with_roles({"head": "Neck"})) != name
