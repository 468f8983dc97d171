"""Free distances over a grid, compiled: Dijkstra with thirty-two neighbours, from a disc outwards."""

from __future__ import annotations

import heapq
import math

import numpy as np

from choreograph.base.arrays import Flags, Floats, Floats32, Ints
from choreograph.base.compiling import njit
from choreograph.scene._compiled_scene import Shapes, gap, point_gap

LONGER = 1.0131
"""Ways along thirty-two directions are up to so many times as long as straight ones."""
_STEPS = np.array(
    [
        *((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1), (-1, 1), (-1, -1)),
        *((2, 1), (2, -1), (-2, 1), (-2, -1), (1, 2), (1, -2), (-1, 2), (-1, -2)),
        *((3, 1), (3, -1), (-3, 1), (-3, -1), (1, 3), (1, -3), (-1, 3), (-1, -3)),
        *((3, 2), (3, -2), (-3, 2), (-3, -2), (2, 3), (2, -3), (-2, 3), (-2, -3)),
    ],
    np.int64,
)


@njit(cache=True, nogil=True)
def _passes(blocked: Flags, i: int, k: int, di: int, dk: int) -> bool:
    """Whether a long move passes: it goes between two cells in each row or column, one of which must be free."""
    for n in range(1, abs(di)):
        a, low = i + (n if di > 0 else -n), k + math.floor(n * dk / abs(di))
        if blocked[a, low] and blocked[a, math.ceil(n * dk / abs(di)) + k]:
            return False
    for n in range(1, abs(dk)):
        b, low = k + (n if dk > 0 else -n), i + math.floor(n * di / abs(dk))
        if blocked[low, b] and blocked[math.ceil(n * di / abs(dk)) + i, b]:
            return False
    return True


@njit(cache=True, nogil=True)
def free_distance(blocked: Flags, cell: float, x: float, z: float, radius: float) -> Floats:
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
        for n in range(len(_STEPS)):
            di, dk = _STEPS[n, 0], _STEPS[n, 1]
            a, b = i + di, k + dk
            if a < 0 or b < 0 or a >= wide or b >= deep or blocked[a, b] or not _passes(blocked, i, k, di, dk):
                continue
            there = far + cell * math.sqrt(di * di + dk * dk)
            if there < out[a, b]:
                out[a, b] = there
                heapq.heappush(heap, (there, a * deep + b))
    return out


@njit(cache=True, nogil=True)
def mark(out: Flags, solids: Shapes, which: Ints, low: Floats, cell: float, reach: float) -> None:
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


@njit(cache=True, nogil=True)
def clear_of(out: Floats32, shapes: Shapes, low: Floats, cell: float, far: float) -> None:
    """Lower the cells' values to how far they are from shapes at least, their margins taken off.

    Args:
        out: (X, Z), at most `far`; changed.
        shapes: On the floor.
        low: Corner of the grid, x and z.
        cell: Size of its cells, metres.
        far: What is farther does not matter, metres.
    """
    wide, deep = out.shape
    half = cell * math.sqrt(0.5)
    for m in range(len(shapes.low)):
        room = far + half + max(shapes.margin[m], 0.0)
        first_i = max(0, int((shapes.box[m, 0] - room - low[0]) / cell))
        last_i = min(wide - 1, int((shapes.box[m, 2] + room - low[0]) / cell))
        first_k = max(0, int((shapes.box[m, 1] - room - low[1]) / cell))
        last_k = min(deep - 1, int((shapes.box[m, 3] + room - low[1]) / cell))
        for i in range(first_i, last_i + 1):
            for k in range(first_k, last_k + 1):
                if out[i, k] > 0:
                    x, z = low[0] + (i + 0.5) * cell, low[1] + (k + 0.5) * cell
                    out[i, k] = max(0.0, min(out[i, k], gap(shapes, m, x, z, x, z) - shapes.margin[m] - half))


@njit(cache=True, nogil=True)
def distances(shapes: Shapes, low: Floats, cell: float, wide: int, deep: int) -> Floats:
    """Of the middles of a grid's cells from the first shape, below 0 inside, (X, Z), metres."""
    out = np.empty((wide, deep))
    for i in range(wide):
        for k in range(deep):
            out[i, k] = point_gap(shapes, 0, low[0] + (i + 0.5) * cell, low[1] + (k + 0.5) * cell)
    return out
