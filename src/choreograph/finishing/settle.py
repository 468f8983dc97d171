"""Turns of a bent motion, chosen so that feet which stand are carried as one: the body turns where it steps."""

from __future__ import annotations

import numpy as np

from choreograph.base import envelope
from choreograph.base.arrays import Flags, Floats
from choreograph.base.floor import FloorTransform
from choreograph.motion.bend import Way
from choreograph.motion.contacts import runs

STIFF_S = 0.12
"""Seconds over which a turn is put off or brought forward for a foot's sake."""
_ARM_M = 0.05
"""A radian against which a turn is weighed, as a way that a foot is taken."""
_LOOSE = 0.3
"""How much it counts to be turned as the curve is, against feet that stay."""


def settle_feet(
    way: Way, curve: Floats, place: FloorTransform, feet: Floats, held: Flags, fps: float
) -> FloorTransform:
    """Floor transforms that take each place of the way where others do, turned a little sooner or later.

    Carried along a bend, a foot that stands is swept round by the body's turn. It stays where it is if the body turns
    half as fast as its way does while one foot stands, and catches up while both do. The turns d(t) added here minimise
    the squared distances of feet from the middle of each of their plants, with stiff⁴ d''² and d² as a check on them.

    Args:
        way: Of the motion, as it was.
        curve: Where the way shall be in each frame, (F, 2), metres.
        place: The transforms that carry it there, a batch of F.
        feet: Positions of the foot joints before that, (F, feet, 3), metres.
        held: When each of them stands, (F, feet).
        fps: Frames per second.
    """
    frames, yaw = len(curve), np.asarray(place.yaw, float)
    plants = [(k, start, stop) for k in range(held.shape[1]) for start, stop in runs(held[:, k])]
    if frames < 3 or not plants:
        return place
    at, to = (p[:, 0] + 1j * p[:, 1] for p in (way.places, curve))
    arm = (feet[..., 0] + 1j * feet[..., 2] - at[:, None]) * np.exp(-1j * yaw)[:, None]
    # A row for each foot that stands in each frame: where it is, and how a turn would move it.
    frame = np.concatenate([np.arange(start, stop) for _, start, stop in plants])
    foot = np.concatenate([np.full(stop - start, k) for k, start, stop in plants])
    plant = np.concatenate([np.full(stop - start, n) for n, (_, start, stop) in enumerate(plants)])
    there, swept = to[frame] + arm[frame, foot], -1j * arm[frame, foot]
    # Unknowns: the turns, and x and z of the middle of each plant; these come behind the last turn that they touch.
    behind = np.array([stop - 0.5 for _, _, stop in plants])
    order = np.argsort(np.concatenate([np.arange(frames), behind, behind]), kind="stable")
    number = np.argsort(order)
    turns, middles = number[:frames], number[frames:].reshape(2, -1)
    row, column, weight = envelope.second_differences(np.full(frames - 2, (_ARM_M * STIFF_S**2 * fps**2) ** 2))
    loose, right = np.full(len(order), 1e-9), np.zeros(len(order))
    loose[turns] = (_ARM_M * _LOOSE) ** 2
    parts = [(turns[row], turns[column], weight), envelope.diagonal(loose)]
    turn = turns[frame]
    for middle, move, here in zip(middles[:, plant], (swept.real, swept.imag), (there.real, there.imag), strict=True):
        parts += [(turn, turn, move**2), (middle, turn, -move), (middle, middle, np.ones(len(frame)))]
        np.subtract.at(right, turn, move * here)
        np.add.at(right, middle, here)
    turned = yaw + envelope.solve(parts, right)[turns]
    shift = to - at * np.exp(-1j * turned)
    return FloorTransform(turned, shift.real, shift.imag)
