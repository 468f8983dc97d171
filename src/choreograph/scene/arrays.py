"""Things of a scene as arrays, with lists of what is near each cell of the floor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from choreograph.base.arrays import Floats, Ints
from choreograph.scene.model import Item

if TYPE_CHECKING:
    from choreograph.scene._compiled_scene import Shapes

REACH_M = 1.3
"""How far from the hips any part of a body may be."""
CELL_M = 0.5  # width of the grid's cells, at least
MAX_CELLS = 4_000_000  # of the grid; wider scenes get wider cells


def make_shapes(items: Sequence[Item], margins: Floats, reach: float) -> Shapes:
    """Items as arrays, with lists of what is near each cell of the floor.

    Args:
        items: In order.
        margins: Of each, metres.
        reach: How far from a place something may be that concerns it.
    """
    from choreograph.scene._compiled_scene import Shapes

    lengths = [len(item.outline) for item in items]
    first = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    corner = np.array([c for item in items for c in item.outline], float).reshape(-1, 2)
    radius, low, high = (np.array([getattr(item, name) for item in items], float) for name in ("radius", "low", "high"))
    margin = np.asarray(margins, float) + [item.clearance for item in items]
    box = np.zeros((len(items), 4))
    for m in range(len(items)):
        own = corner[first[m] : first[m + 1]]
        box[m] = [*(own.min(axis=0) - radius[m]), *(own.max(axis=0) + radius[m])]
    grid, starts, near = _lists(box, margin, reach)
    return Shapes(first, corner, radius, low, high, margin, box, grid, starts, near)


def _lists(box: Floats, margin: Floats, reach: float) -> tuple[Floats, Ints, Ints]:
    if not len(box):
        return np.array([0.0, 0.0, 1.0, 0.0, 0.0]), np.zeros(1, np.int64), np.zeros(0, np.int64)
    wide = np.maximum(margin, 0.0) + reach
    low, high = box[:, :2] - wide[:, None], box[:, 2:] + wide[:, None]
    origin, span = low.min(axis=0), high.max(axis=0) - low.min(axis=0)
    cell = max(CELL_M, math.sqrt(float(span.prod()) / MAX_CELLS))
    counts = np.ceil(span / cell).astype(int) + 1
    rows, items = [], []
    first, last = ((edge - origin) // cell for edge in (low, high))
    for m in range(len(box)):
        x, z = (np.arange(int(first[m, k]), int(last[m, k]) + 1) for k in (0, 1))
        cells = (x[:, None] * counts[1] + z).ravel()
        rows.append(cells)
        items.append(np.full(len(cells), m))
    every, which = np.concatenate(rows), np.concatenate(items)
    order = np.argsort(every, kind="stable")
    starts = np.searchsorted(every[order], np.arange(counts.prod() + 1)).astype(np.int64)
    return np.array([*origin, cell, *counts], float), starts, which[order].astype(np.int64)
