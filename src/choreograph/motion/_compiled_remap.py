"""Compiled twin of the kernel that lays rotations on another body; imported on first use, as numba takes a while."""

from __future__ import annotations

from choreograph.base.arrays import Floats, Indices, Ints32
from choreograph.base.compiling import njit


@njit(cache=True, fastmath=False, nogil=True)
def lay_on(world: Floats, turned: Floats, low: Indices, align: Floats, parents: Ints32) -> None:
    """See `remap.lay_on_numpy`."""
    for f in range(len(world)):
        for j in range(len(parents)):
            if low[j] >= 0:
                aw, ax, ay, az = turned[f, low[j], 0], turned[f, low[j], 1], turned[f, low[j], 2], turned[f, low[j], 3]
                bw, bx, by, bz = align[j, 0], align[j, 1], align[j, 2], align[j, 3]
                world[f, j, 0] = aw * bw - ax * bx - ay * by - az * bz
                world[f, j, 1] = aw * bx + ax * bw + ay * bz - az * by
                world[f, j, 2] = aw * by - ax * bz + ay * bw + az * bx
                world[f, j, 3] = aw * bz + ax * by - ay * bx + az * bw
            elif low[j] == -1:
                for k in range(4):
                    world[f, j, k] = world[f, parents[j], k] if parents[j] >= 0 else (1.0 if k == 0 else 0.0)
