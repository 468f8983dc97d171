"""Squares of a node's torque rows: two groups of columns at a time, over the rows that both have.

`spec` is from `problem.Problem.spec`, groups from `panels`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from choreograph.base.arrays import Floats, Ints
from choreograph.base.compiling import njit
from choreograph.dynamics._compiled_spatial import lean

fast: Any = njit(cache=True, nogil=True, fastmath=True)


@fast
def squares_of(spec: Any, k: int, rows: Floats, weights: Floats, nf: int, mat: Floats, buffers: Any) -> None:
    """Σ w r rᵀ over rows, into the upper half of a node's matrix."""
    counts, common = spec[19][2], spec[19][3]
    one, other, out, ones, runs, begins, wide = buffers
    _find_runs(spec, k, nf, runs, begins, wide)
    for a in range(len(counts)):
        runs_a = runs[begins[a] : begins[a + 1]]
        for b in range(a, len(counts)):
            runs_b, size = runs[begins[b] : begins[b + 1]], counts[a, b]
            left, right = (
                one[: size * wide[a]].reshape((size, wide[a])),
                other[: size * wide[b]].reshape((size, wide[b])),
            )
            _pack(rows, common[a, b], runs_a, weights, left)
            _pack(rows, common[a, b], runs_b, ones, right)
            block = out[: wide[a] * wide[b]].reshape((wide[a], wide[b]))
            np.dot(left.T, right, block)
            _place(block, runs_a, runs_b, mat)


@lean
def _find_runs(spec: Any, k: int, nf: int, runs: Ints, begins: Ints, wide: Ints) -> None:
    """Columns of each group that stand in a row: first in the rows, first in the matrix, how many."""
    columns, point_group = spec[19][0], spec[19][1]
    active, ny = spec[4], spec[2].shape[1]
    count = 0
    for g in range(len(columns)):
        first, size = columns[g]
        wide[g] = 3 * size
        for s in range(3):
            runs[count, 0], runs[count, 1], runs[count, 2] = (
                s * ny + first,
                s * ny + first + (nf if s == 2 else 0),
                size,
            )
            count += 1
        f, before = 0, -2
        for p in range(len(point_group)):
            if not active[k, p]:
                continue
            if point_group[p] == g:
                if before == f - 3:
                    runs[count - 1, 2] += 3
                else:
                    runs[count, 0], runs[count, 1], runs[count, 2] = 3 * ny + f, 2 * ny + f, 3
                    count += 1
                wide[g] += 3
                before = f
            f += 3
        begins[g + 1] = count


@lean
def _pack(rows: Floats, which: Ints, runs: Ints, weights: Floats, out: Floats) -> None:
    """Some columns of some rows, each row by its weight."""
    for t in range(len(out)):
        i = which[t]
        at, weight = 0, weights[i]
        for run in range(len(runs)):
            first, size = runs[run, 0], runs[run, 2]
            part, to = rows[i, first : first + size], out[t, at : at + size]
            for c in range(size):
                to[c] = weight * part[c]
            at += size


@lean
def _place(block: Floats, runs_a: Ints, runs_b: Ints, mat: Floats) -> None:
    """A block of two groups' columns into the upper half of the matrix."""
    i = 0
    for one in range(len(runs_a)):
        row, high = runs_a[one, 1], runs_a[one, 2]
        j = 0
        for other in range(len(runs_b)):
            col, size = runs_b[other, 1], runs_b[other, 2]
            if col >= row:
                for r in range(high):
                    to, part = mat[row + r, col : col + size], block[i + r, j : j + size]
                    for c in range(size):
                        to[c] = part[c]
            else:
                for c in range(size):
                    to = mat[col + c, row : row + high]
                    for r in range(high):
                        to[r] = block[i + r, j + c]
            j += size
        i += high
