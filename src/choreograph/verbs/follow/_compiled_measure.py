"""Compiled kernel of measuring; its plain twin is in the tests."""

from __future__ import annotations

import numpy as np

from choreograph.base.arrays import Floats, Ints
from choreograph.base.compiling import njit


@njit(cache=True)
def project_forward(places: Floats, points: Floats, ahead: int, drag: float) -> tuple[Ints, Floats]:
    """For each place the nearest of the next points of a line, which never goes back, and the distance from it.

    Args:
        places: x and z, (F, 2), metres.
        points: Of the line, (P, 2), metres.
        ahead: How many points from the last one on are looked at, besides it.
        drag: By how much farther away a point counts for each point that it is ahead, metres: of two that are as near,
            as where a line comes back to itself, it is the next.

    Returns:
        at: Index of the point, (F,).
        off: Distance from it, (F,), metres.
    """
    at, off = np.empty(len(places), np.int64), np.empty(len(places))
    here = 0
    for f in range(len(places)):
        best, nearest = np.inf, here
        for p in range(here, min(here + ahead + 1, len(points))):
            dx, dz = points[p, 0] - places[f, 0], points[p, 1] - places[f, 1]
            square = dx * dx + dz * dz + (drag * (p - here)) ** 2
            if square < best:
                best, nearest = square, p
        dx, dz = points[nearest, 0] - places[f, 0], points[nearest, 1] - places[f, 1]
        here = nearest
        at[f], off[f] = here, np.sqrt(dx * dx + dz * dz)
    return at, off
