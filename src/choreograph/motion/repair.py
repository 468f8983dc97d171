"""Faults of the capture and their repair: single frames that leap away and back, and joints that flip.

Recordings are full of both, at toes and hands above all. A motion that goes through the same stretch again and again
shows the same fault each time.
"""

from __future__ import annotations

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Flags, Floats
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import runs

_SPIKE_RAD_S2, _SPIKE_M_S2 = 2000.0, 150.0
"""A frame that leaps away and back faster than this is a spike: 4° or 5 mm off the middle between its neighbours at
120 Hz. An arm that throws comes near to the first, but not there and back within a frame."""
_FLIP_RAD_S = 30.0
"""Faster than any joint of a body turns; a pitcher's arm comes near it in the shoulder, no dancer does."""
_FLIP_S = 0.1
"""Seconds before and after a flip over which it is spread."""


def repair(clip: Clip) -> Clip:
    """The motion without spikes and flips; the rest of it stays as it is.

    Spikes go first: a large one looks like two flips, and is a matter of one frame.

    >>> from choreograph.demo import demo_clip
    >>> len(repair(demo_clip("run", 60.0))) == len(demo_clip("run", 60.0))
    True
    """
    calm = remove_spikes(clip)
    return calm.with_poses(calm.root_pos, spread_flips(calm.local_rot, clip.fps))


def remove_spikes(clip: Clip) -> Clip:
    """The motion with each spike put in the middle between the frames before and behind it."""
    if len(clip) < 5:
        return clip
    least = 0.5 / clip.fps**2
    rot, root = np.array(clip.local_rot), np.array(clip.root_pos)
    before, here, after = rot[:-2], rot[1:-1], rot[2:]
    across = quat.as_rotvec(quat.multiply(quat.inverse(before), after))
    middle = quat.multiply(before, quat.from_rotvec(0.5 * across))
    spikes = _find_spikes(quat.as_rotvec(quat.multiply(quat.inverse(middle), here)), _SPIKE_RAD_S2 * least)
    rot[1:-1][spikes] = middle[spikes]
    halfway = 0.5 * (root[:-2] + root[2:])
    spikes = _find_spikes(root[1:-1] - halfway, _SPIKE_M_S2 * least)
    root[1:-1][spikes] = halfway[spikes]
    return clip.with_poses(root, quat.make_continuous(rot))


def _find_spikes(off: Floats, limit: float) -> Flags:
    """Which frames are spikes, by how far each is off the middle between its neighbours, (F, ..., 3).

    A frame that leaps makes its neighbours seem to lean the other way, half as far; a jump or a hard stop does not, on
    both sides. The first and the last are left alone, having one neighbour only.
    """
    size = np.linalg.norm(off, axis=-1)
    against = (off[1:] * off[:-1]).sum(axis=-1) < 0
    spikes = size > limit
    spikes[0] = spikes[-1] = False
    spikes[1:-1] &= against[:-1] & against[1:] & (size[1:-1] >= size[:-2]) & (size[1:-1] >= size[2:])
    return spikes


def spread_flips(local_rot: Floats, fps: float) -> Floats:
    """Rotations (F, J, 4) in which joints that turn faster than anyone can do so over a fifth of a second instead.

    Recorded hands and thumbs now and then flip by half a turn from one frame to the next.
    """
    out = np.array(local_rot)
    turn = np.linalg.norm(quat.as_rotvec(quat.multiply(quat.inverse(out[:-1]), out[1:])), axis=-1) * fps
    margin = max(1, round(_FLIP_S * fps))
    for joint in np.flatnonzero((turn > _FLIP_RAD_S).any(axis=0)):
        near = np.zeros(len(out), bool)
        for k in np.flatnonzero(turn[:, joint] > _FLIP_RAD_S):
            near[max(0, k + 1 - margin) : k + 1 + margin] = True
        for start, stop in runs(near):
            first, last = max(start - 1, 0), min(stop, len(out) - 1)
            way = np.linspace(0, 1, last - first + 1)
            before, after = (np.tile(out[end, joint], (len(way), 1)) for end in (first, last))
            out[first : last + 1, joint] = quat.slerp(before, after, way * way * (3 - 2 * way))
    return quat.make_continuous(out)
