from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from choreograph.base import quat
from choreograph.formats import read_clip
from choreograph.motion.clip import Clip, concatenate
from choreograph.motion.trim import suggest_trim, trimmed


@pytest.mark.parametrize("fps", [24.0, 30.0, 60.0, 120.0])
def test_a_rest_pose_in_front(human: Clip, fps: float) -> None:
    """Arms out and legs together at the origin, then somebody moving two metres away."""
    moving = human.resampled(fps)
    rest = moving[:1].with_frames(moving.root_pos[:1] + np.array([2.0, 0, 0]), np.tile(quat.IDENTITY, (1, 21, 1)))
    arms_down = np.array(moving.local_rot)
    for name, side in (("LeftArm", -1), ("RightArm", 1)):
        arms_down[:, moving.skeleton.index(name)] = quat.from_rotvec([0, 0, side * 1.3])
    moving = moving.with_frames(moving.root_pos, arms_down)
    both = concatenate([rest, moving])
    advice = suggest_trim(both)
    assert advice.start == 1
    assert "rest pose" in advice.reason
    assert len(trimmed(both)) == len(moving)
    assert suggest_trim(trimmed(both)).start == 0
    assert trimmed(moving) is moving


def test_a_leap_of_the_root(human: Clip) -> None:
    root = np.array(human.root_pos)
    root[:3] += [1.5, 0, 0]
    advice = suggest_trim(human.with_frames(root, human.local_rot))
    assert advice.start == 3
    assert advice.reason == "the first 3 frames are elsewhere, from where the root leaps"


def test_leaps_later_on_are_none_of_its_business(human: Clip) -> None:
    root = np.array(human.root_pos)
    root[25:] += [1.5, 0, 0]
    assert suggest_trim(human.with_frames(root, human.local_rot)).start == 0


@pytest.mark.parametrize("frames", [1, 2, 3, 4, 5])
def test_the_shortest_clips(walker: Clip, frames: int) -> None:
    root = np.array(walker.root_pos[:frames])
    root[0] += 5
    clip = walker[:frames].with_frames(root, walker.local_rot[:frames])
    assert suggest_trim(clip).start in (0, 1)
    assert len(trimmed(clip)) >= 1


def test_recordings_with_a_false_start_and_no_others(recordings: Path) -> None:
    found = {}
    for path in sorted((recordings / "cmu").rglob("*.amc")):
        start = suggest_trim(read_clip(path)).start
        if start:
            found[path.stem] = start
    assert found == {"16_15": 2, "16_23": 3, "16_28": 6}


def test_converted_recordings_begin_with_a_rest_pose(recordings: Path) -> None:
    starts = {path.stem: suggest_trim(read_clip(path)).start for path in (recordings / "cmu_bvh").glob("*.bvh")}
    assert starts == {"16_15": 3, "16_17": 1, "16_19": 1, "16_35": 1, "16_45": 1, "16_47": 1}
