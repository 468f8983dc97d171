"""Cuts made smooth: the jump at each is spread around it, and feet that jump far step over it.

After Arikan & Forsyth (2002, section 4.2.3). A cut is a jump from the pose that would have come to the pose that does.
Half of it is added before the cut and half taken away behind it, fading over a window on either side.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Flags, Floats, seal
from choreograph.finishing.assemble import read_poses
from choreograph.finishing.exact import room_around
from choreograph.motion.clip import Clip
from choreograph.motion.montage import Montage

_STEP_M, _STEP_S = 0.08, 0.06
"""A foot that jumps farther than this at a cut does not stand there but steps, for so long before and behind it."""


def smooth_cuts(clip: Clip, montage: Montage, window_s: float) -> Clip:
    """The motion with the jump at each cut spread around it, but not beyond a moment that is to be shown exactly.

    Windows overlap, and rotations do not commute: so the poses on either side of each cut are carried along as rows of
    their own, and each cut closes the jump that the cuts before it have left.

    Args:
        clip: The motion that the montage shows.
        montage: Where the cuts are, and which frames are exact.
        window_s: Seconds before and behind a cut.
    """
    frames, cuts, exact_s = len(clip), montage.cuts, montage.exact / clip.fps
    (before_root, before_rot), (behind_root, behind_rot) = (
        read_poses(montage, poses) for poses in (cuts.before, cuts.behind)
    )
    root = np.concatenate([clip.root_pos, before_root, behind_root])
    rot = np.concatenate([clip.local_rot, before_rot, behind_rot])
    times = np.concatenate([np.arange(frames) / clip.fps, cuts.at_s, cuts.at_s])
    for k, moment in enumerate(cuts.at_s):
        ends, begins = frames + k, frames + len(cuts) + k
        rises, fades = room_around(moment, exact_s, window_s)
        if rises + fades < 1e-6:
            continue
        rows = np.flatnonzero((times > moment - rises - 1e-9) & (times < moment + fades + 1e-9))
        before = times[rows] < moment - 1e-9
        before |= rows == ends
        added = smoothing(times[rows] - moment, before, rises, fades)
        root[rows] += added[:, None] * (root[begins] - root[ends])
        jump = quat.as_rotvec(quat.multiply(quat.inverse(rot[ends]), rot[begins]))
        rot[rows] = quat.multiply(rot[rows], quat.from_rotvec(added[:, None, None] * jump))
    return clip.with_poses(root[:frames], quat.make_continuous(quat.normalise(rot[:frames])))


def step_over_jumps(clip: Clip, montage: Montage) -> Clip:
    """The motion without the contacts of feet that jump too far at a cut: there they step from place to place."""
    if clip.contacts is None or not len(montage.cuts):
        return clip
    cuts = montage.cuts
    before, behind = (
        Clip(clip.skeleton, clip.fps, *read_poses(montage, poses)).global_positions()[:, clip.skeleton.feet]
        for poses in (cuts.before, cuts.behind)
    )
    far = np.linalg.norm((behind - before)[..., [0, 2]], axis=-1) > _STEP_M
    near = np.abs(np.arange(len(clip)) / clip.fps - cuts.at_s[:, None]) < _STEP_S
    return replace(clip, contacts=seal(clip.contacts & ~(near[..., None] & far[:, None]).any(axis=0)))


def smoothing(time: Floats, before: Flags, rises: float, fades: float) -> Floats:
    """How much of a cut's jump is added: rising from 0 to ½ before the cut, and from -½ to 0 behind it.

    That is the paper's curve, for windows of one length. If they are not, each side takes its share of the jump, and
    there is no kink at the cut.

    Args:
        time: Time from the cut, (...).
        before: Whether a moment is before the cut.
        rises: How long before the cut it begins.
        fades: How long behind the cut it ends; not both 0.
    """
    share = rises / (rises + fades)
    rising = np.clip(1 + time / max(rises, 1e-9), 0.0, 1.0) ** 2
    fading = np.clip(1 - time / max(fades, 1e-9), 0.0, 1.0) ** 2
    return np.asarray(np.where(before, share * rising, (share - 1) * fading))
