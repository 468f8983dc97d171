"""Frames that are shown exactly as recorded: what is changed around them fades out before it reaches them."""

from __future__ import annotations

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Floats, Ints
from choreograph.base.floor import FloorTransform
from choreograph.motion.clip import Clip


def room_around(moment: float, exact: Floats, width: float) -> tuple[float, float]:
    """How long before and behind a moment motion may be changed, where it is to stay as it is at the `exact` times.

    Both are `width` if there is room; what one side lacks, the other gets.
    """
    before = moment - exact[exact < moment - 1e-9].max(initial=-np.inf)
    behind = exact[exact >= moment - 1e-9].min(initial=np.inf) - moment
    short_before, short_behind = max(width - before, 0.0), max(width - behind, 0.0)
    return min(before, width + short_behind), max(min(behind, width + short_before), 0.0)


def keep_poses(clip: Clip, recorded: Clip, exact: Ints, fade_s: float) -> Clip:
    """The motion with the recorded poses at the exact frames, wherever on the floor its torso is and faces.

    What is missing at such a frame fades out over the frames around it, or up to the next such frame.

    Args:
        clip: The motion as far as it is finished.
        recorded: The same frames as they were recorded.
        exact: Which frames, in order.
        fade_s: Seconds before and behind each over which the difference fades.
    """
    if not len(exact):
        return clip
    root, rot, hips = np.array(clip.root_pos), np.array(clip.local_rot), clip.skeleton.hips
    torso, own_torso = clip.global_positions()[exact, hips], recorded.global_positions()[exact, hips]
    turned = FloorTransform(clip.facing()[exact] - recorded.facing()[exact])
    wanted_rot = np.array(recorded.local_rot[exact])
    wanted_rot[:, 0] = turned.turn(wanted_rot[:, 0])
    wanted_root = turned.apply(recorded.root_pos[exact] - own_torso) + torso
    wanted_root[:, 1] = recorded.root_pos[exact, 1]
    every = np.arange(len(clip))
    ends = [-np.inf, *exact.tolist(), np.inf]
    for n, frame in enumerate(exact):
        length = np.where(every < frame, frame - ends[n], ends[n + 2] - frame)
        share = np.clip(np.abs(every - frame) / np.minimum(length, max(fade_s * clip.fps, 1.0)), 0.0, 1.0)
        rows = np.flatnonzero(share < 1)
        left = (1 - share[rows]) ** 2 * (1 + 2 * share[rows])
        missing = quat.as_rotvec(quat.multiply(quat.inverse(rot[frame]), wanted_rot[n]))
        root[rows] += left[:, None] * (wanted_root[n] - root[frame])
        rot[rows] = quat.multiply(rot[rows], quat.from_rotvec(left[:, None, None] * missing))
    return clip.with_poses(root, quat.make_continuous(rot))
