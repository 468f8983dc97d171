"""Bending as a finishing pass: frames are carried onto another curve, plants as one, and legs are led to them.

The body goes with the curve from frame to frame. A foot that stands is carried by the transform of its plant's middle,
so it stands as still as it did before; between its plants what that differs by fades from one into the next.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from choreograph.finishing.foot_contacts import fill_gaps
from choreograph.finishing.footskate import CleanSettings, Leg, _Foot, _solve, find_legs
from choreograph.maths import quat
from choreograph.maths.floor import FloorTransform
from choreograph.motion.bend import GRAVITY_M_S2, SMOOTH_S, Way, find_way, lateral_acceleration, lay_onto, low_pass
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import detect_contacts, runs

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

HELD_M = 0.03
"""How far from where the body would take it a foot is held."""
SWING_S = 0.35
"""Seconds over which what keeps a plant in place fades after it: most of a swing."""


@dataclass(frozen=True)
class BendSettings:
    """How a bent motion is carried."""

    lean: float = 0.0
    """Share of the lean into a curve that balances it, atan(v²κ / g), for what bending adds to v²κ."""
    feet: CleanSettings = CleanSettings()
    """How legs reach."""


def bend_clip(clip: Clip, way: Way, curve: Array, settings: BendSettings | None = None) -> Clip:
    """The motion carried onto a curve.

    Args:
        clip: Any motion; its contacts say which feet stand, and are detected where it has none.
        way: Its way, see `motion.bend.way_of`.
        curve: Where its way shall be in each frame, (F, 2), x and z, metres.
        settings: How.
    """
    settings = settings or BendSettings()
    place = lay_onto(way, curve, clip.fps)
    tilt = np.zeros(len(clip))
    wanted = find_way(curve, clip.fps, 0.0)
    if settings.lean > 0 and len(clip) > 2:
        added = lateral_acceleration(wanted, clip.fps) - lateral_acceleration(way, clip.fps)
        tilt = settings.lean * np.arctan(low_pass(added, SMOOTH_S * clip.fps) / GRAVITY_M_S2)
    return carry(clip, place, tilt, wanted.heading, settings.feet)


def carry(clip: Clip, place: FloorTransform, tilt: Array, heading: Array, feet: CleanSettings) -> Clip:
    """The motion with each frame laid on the floor by its own transform; feet that stand are carried as one.

    Args:
        clip: The motion.
        place: A batch of F floor transforms.
        tilt: Lean to the left of the direction of travel, (F,), radians; about the hips, so feet stand aside.
        heading: Direction of travel after that, (F,), radians.
        feet: How legs reach.
    """
    rot = np.array(clip.local_rot)
    root = place.apply(clip.root_pos)
    ahead = np.stack([np.sin(heading), np.zeros(len(clip)), np.cos(heading)], axis=1)
    lean = quat.from_rotvec(-ahead * tilt[:, None])
    rot[:, 0] = quat.multiply(lean, place.turn(rot[:, 0]))
    carried = clip.with_poses(root, quat.make_continuous(rot))
    if not clip.skeleton.feet:
        return carried
    legs = find_legs(clip.skeleton)
    contacts = detect_contacts(clip) if clip.contacts is None else clip.contacts
    local = np.array(carried.local_rot)
    aside = -np.stack([np.cos(heading), np.zeros(len(clip)), -np.sin(heading)], axis=1)
    aside *= (clip.root_pos[:, 1] * np.tan(tilt))[:, None]
    for leg in legs:
        foot = _carry_foot(leg, clip, place, aside, contacts)
        foot = _Foot(foot.target, quat.multiply(foot.turn, quat.inverse(lean)), foot.on_toe)
        _solve(leg, foot, np.zeros((len(clip), 3)), carried.global_positions(), carried.global_rotations(), local,
               clip.skeleton, feet, 0.0)  # fmt: skip
    return carried.with_poses(root, quat.make_continuous(local))


def _carry_foot(leg: Leg, clip: Clip, place: FloorTransform, aside: Array, contacts: Flags) -> _Foot:
    """Where a foot goes: rigidly with its plants while it stands."""
    ankle = clip.global_positions()[:, leg.ankle]
    stands = contacts[:, leg.heel_column].copy()
    if leg.toe is not None:
        stands |= contacts[:, leg.toe_column]
    goes = place.apply(ankle) + aside
    shift, turn = np.zeros((len(clip), 3)), np.zeros((len(clip), 1))
    for start, stop in runs(stands):
        middle = (start + stop - 1) // 2
        held = FloorTransform(*(float(axis[middle]) for axis in (place.yaw, place.x, place.z)))
        shift[start:stop] = held.apply(ankle[start:stop]) + aside[middle] - goes[start:stop]
        turn[start:stop, 0] = held.yaw - place.yaw[start:stop]
        # On a tight curve a leg cannot keep up with a foot that stands for long: it comes and goes with the body.
        far = np.linalg.norm(shift[start:stop], axis=1) > HELD_M
        if far.any():
            at = middle - start
            low = int(np.flatnonzero(far[:at])[-1]) + 1 if far[:at].any() else 0
            high = at + int(np.flatnonzero(far[at:])[0]) if far[at:].any() else stop - start
            stands[start : start + low] = stands[start + high : stop] = False
    shift = fill_gaps(shift, stands, clip.fps, SWING_S)
    turn = fill_gaps(turn, stands, clip.fps, SWING_S)
    return _Foot(goes + shift, quat.from_yaw(turn[:, 0]), np.zeros(len(clip)))
