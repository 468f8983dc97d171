"""What forces at contact points give to the degrees of freedom along a motion."""

from __future__ import annotations

from typing import Any

import numpy as np

from choreograph.base.arrays import Floats, Ints32
from choreograph.base.compiling import njit
from choreograph.dynamics._compiled import frames


@njit(cache=True, nogil=True)
def contact_torques(tree: Any, q: Floats, holders: Ints32, offsets: Floats, forces: Floats) -> Floats:
    """Generalised forces (F, n) of forces (F, P, 3) at points fixed to degrees of freedom, at coordinates (F, n)."""
    parents, turns = tree[0], tree[1]
    n = q.shape[1]
    rot, org, axis = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 6))
    out = np.zeros(q.shape)
    point = np.empty(3)
    for f in range(len(q)):
        frames(tree, q[f], rot, org, axis)
        for p in range(len(holders)):
            fx, fy, fz = forces[f, p, 0], forces[f, p, 1], forces[f, p, 2]
            j = holders[p]
            for b in range(3):
                point[b] = org[j, b]
                for c in range(3):
                    point[b] += rot[j, b, c] * offsets[p, c]
            while j >= 0:
                if turns[j]:
                    x, y, z = axis[j, 0], axis[j, 1], axis[j, 2]
                    dx, dy, dz = point[0] - org[j, 0], point[1] - org[j, 1], point[2] - org[j, 2]
                    out[f, j] += (y * dz - z * dy) * fx + (z * dx - x * dz) * fy + (x * dy - y * dx) * fz
                else:
                    out[f, j] += axis[j, 3] * fx + axis[j, 4] * fy + axis[j, 5] * fz
                j = parents[j]
    return out
