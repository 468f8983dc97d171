"""Free distances over a grid, compiled: Dijkstra with sixteen neighbours, from a disc outwards."""

from __future__ import annotations

import heapq
import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from choreograph.synthesis.plan._compiled_scene import Shapes, gap

Array = NDArray[np.float64]

LONGER = 1.0275
"""Ways along sixteen directions are up to so many times as long as straight ones."""
_STEPS = np.array(
    [
        *((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1)),
        *((2, 1), (2, -1), (-2, 1), (-2, -1), (1, 2), (1, -2), (-1, 2), (-1, -2)),
    ],
    np.int64,
)


@njit(cache=True, nogil=True)
def free_distance(blocked: NDArray[np.bool_], cell: float, x: float, z: float, radius: float) -> Array:
    """Distance of each cell (X, Z) from a disc, round what is blocked, metres, 1e9 where there is no way; see `LONGER`.

    Args:
        blocked: Cells that cannot be in, (X, Z).
        cell: Size of a cell, metres.
        x: Of the disc's middle, metres from the grid's corner.
        z: Likewise.
        radius: Of the disc.
    """
    wide, deep = blocked.shape
    out = np.full((wide, deep), 1e9)
    heap = [(0.0, 0)]
    heap.pop()
    for i in range(wide):
        for k in range(deep):
            away = math.hypot((i + 0.5) * cell - x, (k + 0.5) * cell - z)
            if not blocked[i, k] and away <= radius + cell:
                out[i, k] = 0.0
                heap.append((0.0, i * deep + k))
    heapq.heapify(heap)
    while len(heap) > 0:
        far, at = heapq.heappop(heap)
        i, k = at // deep, at % deep
        if far > out[i, k]:
            continue
        for n in range(16):
            di, dk = _STEPS[n, 0], _STEPS[n, 1]
            a, b = i + di, k + dk
            if a < 0 or b < 0 or a >= wide or b >= deep or blocked[a, b]:
                continue
            if n >= 8:  # a knight's move passes between two cells; one of them must be free
                ci, ck = (i + di // 2, k) if abs(di) == 2 else (i, k + dk // 2)
                if blocked[ci, ck] and blocked[ci + (0 if abs(di) == 2 else di), ck + (dk if abs(di) == 2 else 0)]:
                    continue
            there = far + cell * math.sqrt(di * di + dk * dk)
            if there < out[a, b]:
                out[a, b] = there
                heapq.heappush(heap, (there, a * deep + b))
    return out


@njit(cache=True, nogil=True)
def mark(
    out: NDArray[np.bool_], solids: Shapes, which: NDArray[np.int64], low: Array, cell: float, reach: float
) -> None:
    """Set the cells whose middles are nearer to one of the solids than `reach` and its margin; below 0, deeper inside.

    Args:
        out: (X, Z); changed.
        solids: Shapes.
        which: Of them, those that count.
        low: Corner of the grid, x and z.
        cell: Size of its cells, metres.
        reach: Metres.
    """
    wide, deep = out.shape
    for m in which:
        near = reach + solids.margin[m]
        room = max(near, 0.0)
        first_i = max(0, int((solids.box[m, 0] - room - low[0]) / cell))
        last_i = min(wide - 1, int((solids.box[m, 2] + room - low[0]) / cell))
        first_k = max(0, int((solids.box[m, 1] - room - low[1]) / cell))
        last_k = min(deep - 1, int((solids.box[m, 3] + room - low[1]) / cell))
        for i in range(first_i, last_i + 1):
            for k in range(first_k, last_k + 1):
                x, z = low[0] + (i + 0.5) * cell, low[1] + (k + 0.5) * cell
                if not out[i, k] and gap(solids, m, x, z, x, z) < near:
                    out[i, k] = True
