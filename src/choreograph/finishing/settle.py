"""Turns of a bent motion, chosen so that feet which stand are carried as one: the body turns where it steps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choreograph.maths.floor import FloorTransform
from choreograph.motion.bend import Way
from choreograph.motion.contacts import runs

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

STIFF_S = 0.12
"""Seconds over which a turn is put off or brought forward for a foot's sake."""
_ARM_M = 0.05
"""A radian against which a turn is weighed, as a way that a foot is taken."""
_LOOSE = 0.3
"""How much it counts to be turned as the curve is, against feet that stay."""


def settle_feet(way: Way, curve: Array, place: FloorTransform, feet: Array, held: Flags, fps: float) -> FloorTransform:
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
    from scipy.sparse import coo_matrix, diags
    from scipy.sparse.linalg import spsolve

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
    # Unknowns: the turns, then x and z of the middles of plants.
    row, one = np.arange(len(frame)), np.ones(len(frame))
    size = frames + 2 * len(plants)
    check = STIFF_S**2 * fps**2 * diags([1.0, -2.0, 1.0], [0, 1, 2], shape=(frames - 2, size))  # type: ignore[list-item]
    keep = np.concatenate([np.full(frames, (_ARM_M * _LOOSE) ** 2), np.full(2 * len(plants), 1e-9)])
    normal, right = _ARM_M**2 * check.T @ check + diags(keep), np.zeros(size)
    for first, move, here in (
        (frames, swept.real, there.real),
        (frames + len(plants), swept.imag, there.imag),
    ):
        places = (np.concatenate([row, row]), np.concatenate([frame, first + plant]))
        stands = coo_matrix((np.concatenate([move, -one]), places), shape=(len(row), size)).tocsr()
        normal, right = normal + stands.T @ stands, right - stands.T @ here
    turned = yaw + spsolve(normal.tocsc(), right)[:frames]
    shift = to - at * np.exp(-1j * turned)
    return FloorTransform(turned, shift.real, shift.imag)
