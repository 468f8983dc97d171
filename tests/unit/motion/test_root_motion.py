"""How a motion travels: in place, or on a bone of its own."""

from __future__ import annotations

import numpy as np
import pytest

from choreograph.demo import demo_clip
from choreograph.motion.helper_root import fold_helper_root
from choreograph.motion.root_motion import in_place, with_root_bone


@pytest.mark.parametrize("name", ["walk", "walk_turn_90_left", "jump_forward"])
def test_a_root_bone_moves_no_joint(name: str) -> None:
    clip = demo_clip(name, 30.0)
    made = with_root_bone(clip)
    assert made.skeleton.names == ("root", *clip.skeleton.names)
    assert np.abs(made.global_positions()[:, 1:] - clip.global_positions()).max() < 1e-9
    assert np.abs(made.tip_positions() - clip.tip_positions()).max() < 1e-9
    assert made.skeleton.feet == tuple(foot + 1 for foot in clip.skeleton.feet)
    assert np.abs(made.root_pos[:, 1]).max() == 0
    # It goes where the body goes, without its sway, and looks where the hips do.
    assert np.hypot(*(made.root_pos - clip.root_pos)[:, [0, 2]].T).max() < 0.15
    turned = 2 * np.arctan2(made.local_rot[:, 0, 2], made.local_rot[:, 0, 0])
    assert np.abs(np.angle(np.exp(1j * (turned - clip.facing())))).max() < 0.35


def test_folding_the_bone_gives_the_motion_back() -> None:
    clip = demo_clip("walk_turn_90_left", 30.0)
    back = fold_helper_root(with_root_bone(clip))
    assert back.skeleton.names == clip.skeleton.names
    assert np.abs(back.root_pos - clip.root_pos).max() < 1e-9
    assert np.abs(back.global_positions() - clip.global_positions()).max() < 1e-9


def test_a_bone_is_not_added_twice_and_takes_a_free_name() -> None:
    clip = demo_clip("walk", 30.0)
    assert len(with_root_bone(with_root_bone(clip)).skeleton) == len(clip.skeleton) + 1
    assert with_root_bone(clip, clip.skeleton.names[3]).skeleton.names[0] == clip.skeleton.names[3] + "_"


def test_in_place_takes_travel_and_leaves_sway_height_and_pose() -> None:
    clip = demo_clip("walk", 30.0)
    made = in_place(clip)
    assert np.ptp(clip.root_pos[:, 2]) > 3
    assert np.abs(made.root_pos[:, [0, 2]]).max() < 0.1
    assert np.ptp(made.root_pos[:, 0]) > 0.005, "the sway is gone"
    assert (made.root_pos[:, 1] == clip.root_pos[:, 1]).all()
    assert (made.local_rot == clip.local_rot).all()
