"""Bends of a walk's edges: how the search bends them, and the bent walk led onto its path."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from choreograph.base.arrays import Complexes, Floats, Ints
from choreograph.motion.bend import fit_curve, low_pass
from choreograph.scene.path import Path
from choreograph.verbs.follow.kernel_inputs import KernelTables

STIFF_S = 0.25
"""Seconds over which a walk that was found is pulled onto its path."""
_ROUNDS = 6
"""How often progress along the path and the curve are fitted to each other."""
_NEAR_M = 0.3
"""How far progress may move in one of them."""
_FAR_M = 1.5
"""Distance from the path at which a walk is pulled there a quarter as much as near to it."""
_PROGRESS_S = 0.12
"""Width of the low-pass over progress along the path."""


def bent_roots(tables: KernelTables, edges: Ints, rows: Ints, bends: Floats) -> Complexes:
    """x + iz of the root in a row of each bent edge, in coordinates of the edge's clip; bends are (turn, stretch)."""
    turn, stretch = bends.T
    begin = tables.bend[edges, 0] + 1j * tables.bend[edges, 1]
    there = tables.way[rows, 0] + 1j * tables.way[rows, 1]
    bent = (turn != 0) | (stretch != 0)  # the others may have no way at all
    half = 0.5 * turn[bent] * tables.so_far[rows[bent]] / tables.edge_way[edges[bent]]
    away = (1 + stretch[bent]) * np.sinc(half / np.pi) * (there - begin)[bent] * np.exp(-1j * half)
    there[bent] = begin[bent] + away
    return there


def bend_transforms(tables: KernelTables, edges: Sequence[int] | Ints, bends: Sequence[tuple[float, float]]) -> Floats:
    """What the bends of edges do to all that comes after them, as floor transforms in the edges' clips, (E, 3)."""
    edge, bend = np.asarray(edges, np.int64), np.asarray(bends, float).reshape(-1, 2)
    end = tables.first[edge] + tables.length[edge] - 1
    recorded = tables.way[end, 0] + 1j * tables.way[end, 1]
    shift = bent_roots(tables, edge, end, bend) - recorded * np.exp(-1j * bend[:, 0])
    return np.stack([bend[:, 0], shift.real, shift.imag], axis=1)


def lead_onto(parts: Sequence[tuple[Path, Floats]]) -> Callable[[Floats, float], Floats]:
    """A course for finishing: the curve nearest to its path that a walk which was found for it can be bent to.

    Args:
        parts: The paths that the walk was to follow one after another, and for each how far along it the search took
            its frames to be, metres, evenly spaced in time.
    """
    counts = np.cumsum([len(progress) for _, progress in parts])

    def course(way: Floats, fps: float) -> Floats:
        ends = np.rint(counts * (len(way) / counts[-1])).astype(int)
        spans = [slice(a, b) for a, b in pairwise([0, *ends]) if b > a]
        kept = [part for part, a, b in zip(parts, [0, *ends], ends, strict=False) if b > a]
        along = [_resampled(progress, s.stop - s.start) for (_, progress), s in zip(kept, spans, strict=True)]
        curve, wanted, weight = way, np.empty_like(way), np.empty(len(way))
        for _ in range(_ROUNDS):
            for k, ((path, _), span) in enumerate(zip(kept, spans, strict=True)):
                along[k] = _progress(path, along[k], curve[span], fps)
                wanted[span] = path.at(along[k])
            # Who is far from the path, as on the way to it, is not torn there.
            far = np.linalg.norm(wanted - way, axis=1) / _FAR_M
            weight[:] = 1 / (1 + far * far) ** 2
            curve = fit_curve(way, wanted, weight, fps, STIFF_S)
        return curve

    return course


def _resampled(values: Floats, count: int) -> Floats:
    return np.interp(np.linspace(0, 1, count), np.linspace(0, 1, len(values)), values)


def _progress(path: Path, along: Floats, curve: Floats, fps: float) -> Floats:
    """How far along the path each place of a curve is, near to what was thought before, (F,), metres."""
    ahead = ((curve - path.at(along)) * path.tangent(along)).sum(axis=1)
    along = low_pass(along + np.clip(ahead, -_NEAR_M, _NEAR_M), _PROGRESS_S * fps)
    return np.clip(np.maximum.accumulate(along), 0.0, path.length)
