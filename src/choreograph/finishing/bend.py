"""Bending as a finishing pass: frames are carried onto another curve, the body smoothly, leaning into its turns.

Feet that stand turn a little with the body; what keeps them in place is the clean-up, which holds them as long as they
stood before. So each plant ends up where its middle was carried.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from choreograph.finishing.footskate import CleanSettings, Foot, find_legs, solve_foot
from choreograph.maths import quat
from choreograph.maths.floor import FloorTransform
from choreograph.motion.bend import GRAVITY_M_S2, SMOOTH_S, Way, find_way, lateral_acceleration, lay_onto, low_pass
from choreograph.motion.clip import Clip

Array = NDArray[np.float64]

Course = Callable[[Array, float], Array]
"""Where a way shall go instead, (F, 2), given where it goes, (F, 2), metres, and the frames per second."""

CALM_S = 0.1
"""Width of the low-pass over bends that were found one by one."""
HOLD_M_S = 0.45
"""Speed at which the turn takes a foot that stands along, from which on it is let go."""
LEAN = 0.1
"""Share of the lean that balances a curve, where nothing else is asked for. Recorded walks lean as little: hips and
feet take up the most of it."""


def bend_clip(clip: Clip, way: Way, curve: Array, lean: float = LEAN) -> Clip:
    """The motion carried onto a curve, its feet not yet clean.

    Args:
        clip: Any motion.
        way: Its way, see `motion.bend.way_of`.
        curve: Where its way shall be in each frame, (F, 2), x and z, metres.
        lean: Share of atan(v²κ / g), by which a body on a curve is in balance, for what is added to v²κ.
    """
    place, wanted = lay_onto(way, curve, clip.fps), find_way(curve, clip.fps, 0.0)
    tilt = np.zeros(len(clip))
    if lean > 0 and len(clip) > 2:
        added = lateral_acceleration(wanted, clip.fps) - lateral_acceleration(way, clip.fps)
        tilt = lean * np.arctan(low_pass(added, SMOOTH_S * clip.fps) / GRAVITY_M_S2)
    return carry(clip, place, tilt, wanted.heading)


def carry(clip: Clip, place: FloorTransform, tilt: Array, heading: Array) -> Clip:
    """The motion with each frame laid on the floor by its own transform, and leaning.

    Args:
        clip: The motion.
        place: A batch of F floor transforms.
        tilt: Lean to the left of the direction of travel, (F,), radians: about the hips, so that feet stand aside.
        heading: Direction of travel after that, (F,), radians.
    """
    rot = np.array(clip.local_rot)
    root = place.apply(clip.root_pos)
    rot[:, 0] = place.turn(rot[:, 0])
    carried = clip.with_poses(root, quat.make_continuous(rot))
    if not tilt.any():
        return carried
    cos, sin, none = np.cos(heading), np.sin(heading), np.zeros(len(clip))
    lean = quat.from_rotvec(np.stack([-sin, none, -cos], axis=1) * tilt[:, None])
    rot[:, 0] = quat.multiply(lean, rot[:, 0])
    leaning = carried.with_poses(root, quat.make_continuous(rot))
    if not clip.skeleton.feet:
        return leaning
    pos, world, local = leaning.global_positions(), leaning.global_rotations(), np.array(leaning.local_rot)
    aside = np.stack([-cos, none, sin], axis=1) * (root[:, 1] * np.tan(tilt))[:, None]
    for leg in find_legs(clip.skeleton):
        foot = Foot(carried.global_positions()[:, leg.ankle] + aside, quat.inverse(lean), none)
        solve_foot(leg, foot, np.zeros((len(clip), 3)), (pos, world, local), clip.skeleton, CleanSettings(), 0.0)
    return leaning.with_poses(root, quat.make_continuous(local))
