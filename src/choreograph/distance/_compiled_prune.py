"""Compiled kernels of pruning; imported on first use, since importing numba takes a while."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from choreograph.distance._compiled import measure_pair, smallest
from choreograph.distance.library import Library
from choreograph.distance.prune import Runs

Array = NDArray[np.float64]
Array32 = NDArray[np.float32]
Ints = NDArray[np.int64]

BLOCK = 1024  # coarse runs multiplied at once: products of a few rows with so many stay in cache
ROWS = 32
SLACK = np.float32(4e-6)  # float32's error in D relative to the energies: sums are shorter than those of whole windows


@njit(cache=True, nogil=True)
def measure_radii(library: Library, first: Ints, stop: Ints, middle: Ints) -> Array:
    """The largest distance of windows [first, stop) from window `middle`, metres, (R,)."""
    radii = np.zeros(len(first))
    for r in range(len(first)):
        for window in range(first[r], stop[r]):
            radii[r] = max(radii[r], math.sqrt(measure_pair(library, middle[r], window)[0]))
    return radii


@njit(cache=True, nogil=True, fastmath={"contract"})
def excess_row(
    y: Array32,
    re: Array32,
    im: Array32,
    energy_a: np.float32,
    reach_a: np.float32,
    energy: Array32,
    reach: Array32,
    out: Array32,
) -> None:
    """How far the bound on D lies above what a pair of runs has to keep to, into `out`: above 0 they are ruled out."""
    for j in range(len(energy)):
        sum_ = energy_a + energy[j]
        bound = sum_ - np.float32(2) * (y[j] + math.sqrt(re[j] * re[j] + im[j] * im[j]))
        far = reach_a + reach[j]
        out[j] = bound - far * far - SLACK * sum_


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def may_meet(fine: Runs, p: int, q: int, threshold: np.float32) -> bool:
    """Whether fine runs p and q may hold a pair of windows within the threshold."""
    y, re, im = np.float32(0), np.float32(0), np.float32(0)
    for k in range(fine.heights.shape[1]):
        y += fine.heights[p, k] * fine.heights[q, k]
    for k in range(fine.floor.shape[1]):
        re += fine.floor[p, k] * fine.floor[q, k]
        im += fine.floor[p, k] * fine.turned[q, k]
    sum_ = fine.energy[p] + fine.energy[q]
    far = threshold + fine.radius[p] + fine.radius[q]
    return sum_ - np.float32(2) * (y + math.sqrt(re * re + im * im)) <= far * far + SLACK * sum_


@njit(cache=True, nogil=True)
def mark_active(
    coarse: Runs,
    fine: Runs,
    children: Ints,
    clips: Ints,
    thresholds: Array32,
    start: int,
    stop: int,
    first_strip: int,
    active: NDArray[np.bool_],
) -> None:
    """Mark the pairs of strips that may hold a pair of windows within the threshold.

    Args:
        coarse: Coarse runs.
        fine: Fine runs.
        children: (R + 1,): first fine run of each coarse one.
        clips: (R,): clip of each coarse run.
        thresholds: (clips, clips): metres.
        start: First coarse run of the rows.
        stop: One past the last.
        first_strip: The strip of the first row of `active`.
        active: (rows, S), marked.
    """
    runs = len(coarse.first)
    flat = np.empty((3, ROWS * BLOCK), np.float32)
    excess, reach = np.empty(BLOCK, np.float32), np.empty(BLOCK, np.float32)
    for top in range(start, stop, ROWS):
        rows = min(ROWS, stop - top)
        # Earlier strips have been compared with this one already.
        for left in range(coarse_start(coarse, top), runs, BLOCK):
            columns = min(BLOCK, runs - left)
            size = rows * columns
            y, re = flat[0, :size].reshape(rows, columns), flat[1, :size].reshape(rows, columns)
            im = flat[2, :size].reshape(rows, columns)
            np.dot(coarse.heights[top : top + rows], coarse.heights[left : left + columns].T, y)
            np.dot(coarse.floor[top : top + rows], coarse.floor[left : left + columns].T, re)
            np.dot(coarse.floor[top : top + rows], coarse.turned[left : left + columns].T, im)
            for i in range(rows):
                p = top + i
                for j in range(columns):
                    reach[j] = coarse.radius[left + j] + thresholds[clips[p], clips[left + j]]
                excess_row(
                    y[i],
                    re[i],
                    im[i],
                    coarse.energy[p],
                    coarse.radius[p],
                    coarse.energy[left : left + columns],
                    reach,
                    excess,
                )
                if smallest(excess[:columns]) > 0:
                    continue
                row = active[coarse.parent[p] - first_strip]
                for j in range(columns):
                    q = left + j
                    if excess[j] <= 0 and not row[coarse.parent[q]]:
                        row[coarse.parent[q]] = any_meet(fine, children, p, q, thresholds[clips[p], clips[q]])


@njit(cache=True, nogil=True)
def coarse_start(coarse: Runs, run: int) -> int:
    """The first coarse run of the strip that a coarse run is in."""
    while run > 0 and coarse.parent[run - 1] == coarse.parent[run]:
        run -= 1
    return run


@njit(cache=True, nogil=True)
def any_meet(fine: Runs, children: Ints, p: int, q: int, threshold: np.float32) -> bool:
    """Whether any fine run of coarse run p may meet any of coarse run q."""
    for i in range(children[p], children[p + 1]):
        for j in range(children[q], children[q + 1]):
            if may_meet(fine, i, j, threshold):
                return True
    return False
