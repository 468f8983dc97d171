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

BLOCK = 96  # coarse runs on a side: their products stay in cache
EACH = 300  # frame products that take as long as what a rectangle costs whatever its size
SLACK = np.float32(4e-6)  # float32's error in D relative to the energies: sums are shorter than those of whole windows


@njit(cache=True, nogil=True)
def measure_radii(library: Library, first: Ints, stop: Ints, middle: Ints) -> Array:
    """The largest distance of windows [first, stop) from window `middle`, metres, (R,)."""
    radii = np.zeros(len(first))
    for r in range(len(first)):
        for window in range(first[r], stop[r]):
            if window != middle[r]:
                radii[r] = max(radii[r], math.sqrt(measure_pair(library, middle[r], window)[0]))
    return radii


@njit(cache=True, nogil=True, fastmath={"contract"})
def excess_row(
    y: Array32,
    re: Array32,
    im: Array32,
    energy_a: np.float32,
    radius_a: np.float32,
    energy: Array32,
    reach: Array32,
    out: Array32,
) -> None:
    """How far the bounds on D lie above what the runs' radii and the threshold ask, into `out`: above 0 rules out."""
    for j in range(len(out)):
        total, far = energy_a + energy[j], radius_a + reach[j]
        bound = total - np.float32(2) * (y[j] + math.sqrt(re[j] * re[j] + im[j] * im[j]))
        out[j] = bound - far * far - SLACK * total


@njit(cache=True, nogil=True)
def fill_excess(
    runs: Runs,
    turned: Array32,
    clips: Ints,
    thresholds: Array32,
    rows: tuple[int, int],
    columns: tuple[int, int],
    products: Array32,
    reach: Array32,
    out: Array32,
) -> None:
    """Excess of runs `rows` x `columns`, into the top left of `out`.

    Args:
        runs: Runs of either kind.
        turned: (R, 2C): their projections turned by a quarter, -z then x.
        clips: Clip of each run.
        thresholds: (clips, clips): metres.
        rows: First run and one past the last.
        columns: First run and one past the last.
        products: Room for (3, rows x columns).
        reach: Room for (columns,).
        out: At least (rows, columns).
    """
    height, width = rows[1] - rows[0], columns[1] - columns[0]
    size = height * width
    y, re = products[0, :size].reshape(height, width), products[1, :size].reshape(height, width)
    im = products[2, :size].reshape(height, width)
    np.dot(runs.heights[rows[0] : rows[1]], runs.heights[columns[0] : columns[1]].T, y)
    np.dot(runs.floor[rows[0] : rows[1]], runs.floor[columns[0] : columns[1]].T, re)
    np.dot(runs.floor[rows[0] : rows[1]], turned[columns[0] : columns[1]].T, im)
    energy = runs.energy[columns[0] : columns[1]]
    for i in range(height):
        p = rows[0] + i
        for j in range(width):
            q = columns[0] + j
            reach[j] = runs.radius[q] + thresholds[clips[p], clips[q]]
        excess_row(y[i], re[i], im[i], runs.energy[p], runs.radius[p], energy, reach, out[i, :width])


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def stretch_box(
    runs: Runs, rows: tuple[int, int], columns: tuple[int, int], threshold: np.float32, apart: int, box: Ints
) -> None:
    """Stretch a box of windows, empty if all 0, around the pairs of runs that may hold something.

    Args:
        runs: Runs of either kind.
        rows: First run and one past the last.
        columns: First run and one past the last.
        threshold: Metres.
        apart: The least number of windows from one to the other that is asked for.
        box: First window and one past the last of the rows, then of the columns.
    """
    heights, floor, half = runs.heights, runs.floor, runs.floor.shape[1] // 2
    for p in range(rows[0], rows[1]):
        for q in range(columns[0], columns[1]):
            if runs.stop[q] - 1 - runs.first[p] < apart:
                continue
            y, re, im = np.float32(0), np.float32(0), np.float32(0)
            for k in range(heights.shape[1]):
                y += heights[p, k] * heights[q, k]
            for k in range(half):
                re += floor[p, k] * floor[q, k] + floor[p, half + k] * floor[q, half + k]
                im += floor[p, half + k] * floor[q, k] - floor[p, k] * floor[q, half + k]
            total, far = runs.energy[p] + runs.energy[q], runs.radius[p] + runs.radius[q] + threshold
            if total - np.float32(2) * (y + math.sqrt(re * re + im * im)) - far * far > SLACK * total:
                continue
            if box[1] == 0:
                box[0], box[2] = runs.first[p], runs.first[q]
            box[0], box[1] = min(box[0], runs.first[p]), max(box[1], runs.stop[p])
            box[2], box[3] = min(box[2], runs.first[q]), max(box[3], runs.stop[q])


@njit(cache=True, nogil=True)
def enclose_open(
    coarse: Runs,
    turned: Array32,
    fine: Runs,
    children: Ints,
    clips: Ints,
    thresholds: Array32,
    length: int,
    start: int,
    stop: int,
    first_strip: int,
    boxes: Ints,
) -> None:
    """For each pair of strips, the smallest box around the pairs of fine runs that may hold something.

    Args:
        coarse: Coarse runs.
        turned: (R, 2C): their projections turned by a quarter.
        fine: Fine runs.
        children: (R + 1,): first fine run of each coarse one.
        clips: (R,): clip of each coarse run.
        thresholds: (clips, clips): metres.
        length: Frames of a window: windows of one clip that share frames are no candidates.
        start: First coarse run of the rows, which begins a strip.
        stop: One past the last.
        first_strip: The strip of the first row of `boxes`.
        boxes: (rows, S, 4), given as 0, filled with the first window and one past the last, of the row's strip and
            of the column's; all 0 where nothing is open, and before each strip's own column.
    """
    products, reach = np.empty((3, BLOCK * BLOCK), np.float32), np.empty(BLOCK, np.float32)
    excess = np.empty((BLOCK, BLOCK), np.float32)
    for top in range(start, stop, BLOCK):
        bottom = min(top + BLOCK, stop)
        for left in range(top, len(coarse.first), BLOCK):
            right = min(left + BLOCK, len(coarse.first))
            fill_excess(coarse, turned, clips, thresholds, (top, bottom), (left, right), products, reach, excess)
            for p in range(top, bottom):
                row, values = boxes[coarse.parent[p] - first_strip], excess[p - top]
                if smallest(values[: right - left]) > 0:
                    continue
                for q in range(max(p, left), right):
                    if values[q - left] <= 0:
                        rows, columns = (children[p], children[p + 1]), (children[q], children[q + 1])
                        apart = length if clips[p] == clips[q] else 0
                        limit = thresholds[clips[p], clips[q]]
                        stretch_box(fine, rows, columns, limit, apart, row[coarse.parent[q]])


@njit(cache=True, nogil=True)
def gather_boxes(boxes: Ints, first_strip: int, strips: Ints, chosen: NDArray[np.bool_], halo: int) -> Ints:
    """Rectangles, (R, 6), that hold all boxes; neighbours in a row are joined where one large costs less than two.

    A rectangle of m x n windows costs as many frame products as (m + halo) x (n + halo), and what is the same for all.

    Args:
        boxes: As filled by `enclose_open`.
        first_strip: The strip of the first row.
        strips: (S, 3): clip, first window, one past the last.
        chosen: Of each clip; a pair of which neither is chosen is left out.
        halo: Frames that a rectangle needs beyond its windows.
    """
    out = np.empty((np.count_nonzero(boxes[:, :, 1]), 6), np.int64)
    count = 0
    for i in range(boxes.shape[0]):
        clip_a, fresh = strips[first_strip + i, 0], True
        for s in range(first_strip + i, boxes.shape[1]):
            a0, a1, b0, b1 = boxes[i, s]
            clip_b = strips[s, 0]
            if a1 == 0 or not (chosen[clip_a] or chosen[clip_b]):
                continue
            cost = EACH + (a1 - a0 + halo) * (b1 - b0 + halo)
            if not fresh and out[count - 1, 3] == clip_b:
                last = out[count - 1]
                top, bottom = min(last[1], a0), max(last[2], a1)
                apart = EACH + (last[2] - last[1] + halo) * (last[5] - last[4] + halo) + cost
                if EACH + (bottom - top + halo) * (b1 - last[4] + halo) <= apart:
                    last[1], last[2], last[5] = top, bottom, b1
                    continue
            out[count, 0], out[count, 1], out[count, 2] = clip_a, a0, a1
            out[count, 3], out[count, 4], out[count, 5] = clip_b, b0, b1
            count, fresh = count + 1, False
    return out[:count]
