"""Grids of the floor: how far cells are from things, and from a line."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from choreograph.base.arrays import Floats, Floats32
from choreograph.scene.arrays import MAX_CELLS

if TYPE_CHECKING:
    from choreograph.scene._compiled_scene import Shapes

FOOT_M = 0.03
"""How far ankle and ball keep from where they may not stand: about half a foot's width."""
_OPEN_M = 2.0
"""How far from things floor may be to count as open."""


def open_floor(every: Sequence[Shapes]) -> tuple[Floats, Floats32, float]:
    """How far cells of the floor are from all shapes at least: grid, (cells,), and how far it is beyond the grid."""
    from choreograph.verbs.plan._compiled_field import clear_of

    boxes = np.concatenate([shapes.box for shapes in every])
    if not len(boxes):
        return np.array([0.0, 0.0, 1.0, 0.0, 0.0]), np.zeros(0, np.float32), 0.0
    low, high = boxes[:, :2].min(axis=0) - _OPEN_M - 0.5, boxes[:, 2:].max(axis=0) + _OPEN_M + 0.5
    cell = max(0.1, math.sqrt(float((high - low).prod()) / MAX_CELLS))
    counts = np.ceil((high - low) / cell).astype(int)
    out = np.full(counts, _OPEN_M, np.float32)
    for shapes in every:
        clear_of(out, shapes, low, cell, _OPEN_M)
    return np.array([*low, cell, *counts], float), out.ravel(), _OPEN_M


def distance_grid(points: Floats, within: float) -> tuple[Floats, Floats32]:
    """A grid of distances from a line through points (N, 2), as far as matters: grid and (cells,), metres."""
    cell = max(0.05, within / 8)
    low, high = points.min(axis=0) - within - 2 * cell, points.max(axis=0) + within + 2 * cell
    counts = np.ceil((high - low) / cell).astype(int)
    if counts.prod() > MAX_CELLS:
        cell *= math.sqrt(counts.prod() / MAX_CELLS) * 1.01
        counts = np.ceil((high - low) / cell).astype(int)
    out = np.full(counts, np.float32(1e9))
    for a, b in pairwise(points):
        first = np.maximum(0, ((np.minimum(a, b) - within - 2 * cell - low) / cell).astype(int))
        last = np.minimum(counts, ((np.maximum(a, b) + within + 2 * cell - low) / cell).astype(int) + 1)
        x = low[0] + (np.arange(first[0], last[0]) + 0.5) * cell
        z = low[1] + (np.arange(first[1], last[1]) + 0.5) * cell
        along = b - a
        share = ((x[:, None] - a[0]) * along[0] + (z - a[1]) * along[1]) / max(float(along @ along), 1e-12)
        share = np.clip(share, 0, 1)
        away = np.hypot(x[:, None] - a[0] - share * along[0], z - a[1] - share * along[1])
        part = out[first[0] : last[0], first[1] : last[1]]
        np.minimum(part, away.astype(np.float32), out=part)
    return np.array([*low, cell, *counts], float), out.ravel()


def line_distance(points: Floats, line: Floats) -> Floats:
    """Distances of points (N, 2) from a line through points (K, 2), (N,), metres."""
    start, along = line[:-1], np.diff(line, axis=0)
    at = points[:, None] - start
    share = np.clip((at * along).sum(-1) / np.maximum((along**2).sum(-1), 1e-12), 0, 1)
    away = at - share[..., None] * along
    return np.asarray(np.hypot(away[..., 0], away[..., 1]).min(axis=1))
