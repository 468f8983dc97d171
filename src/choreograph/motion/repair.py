"""Flicks: single frames at which the capture slipped and a joint jumps away and back, as no body can.

Recordings are full of them, at toes and hands above all. A motion that goes through the same stretch again and again
shows the same flick each time.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choreograph.maths import quat
from choreograph.motion.clip import Clip

Array = NDArray[np.float64]

_FLICK_RAD_S2, _FLICK_M_S2 = 2000.0, 150.0
"""A frame that leaps away and back faster than this is a flick: 4° or 5 mm off the middle between its neighbours at
120 Hz. An arm that throws comes near to the first, but not there and back within a frame."""


def remove_spikes(clip: Clip) -> Clip:
    """The motion with each flick put in the middle between the frames before and behind it."""
    if len(clip) < 5:
        return clip
    least = 0.5 / clip.fps**2
    rot, root = np.array(clip.local_rot), np.array(clip.root_pos)
    before, here, after = rot[:-2], rot[1:-1], rot[2:]
    across = quat.as_rotvec(quat.multiply(quat.inverse(before), after))
    middle = quat.multiply(before, quat.from_rotvec(0.5 * across))
    flicks = _find(quat.as_rotvec(quat.multiply(quat.inverse(middle), here)), _FLICK_RAD_S2 * least)
    rot[1:-1][flicks] = middle[flicks]
    halfway = 0.5 * (root[:-2] + root[2:])
    flicks = _find(root[1:-1] - halfway, _FLICK_M_S2 * least)
    root[1:-1][flicks] = halfway[flicks]
    return clip.with_poses(root, quat.make_continuous(rot))


def _find(off: Array, limit: float) -> NDArray[np.bool_]:
    """Which frames are flicks, by how far each is off the middle between its neighbours, (F, ..., 3).

    A frame that leaps makes its neighbours seem to lean the other way, half as far; a jump or a hard stop does not, on
    both sides. The first and the last are left alone, having one neighbour only.
    """
    size = np.linalg.norm(off, axis=-1)
    against = (off[1:] * off[:-1]).sum(axis=-1) < 0
    found = size > limit
    found[0] = found[-1] = False
    found[1:-1] &= against[:-1] & against[1:] & (size[1:-1] >= size[:-2]) & (size[1:-1] >= size[2:])
    return found
