"""Compiled kernels of pruning; imported on first use, since importing numba takes a while."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from choreograph.base.arrays import Flags, Floats, Floats32, Ints, Ints32
from choreograph.base.compiling import njit
from choreograph.distance._compiled import measure_pair
from choreograph.distance.library import Library

if TYPE_CHECKING:
    from choreograph.distance.prefilter import Few, Outlines
    from choreograph.distance.runs import Runs

Array32 = Floats32

TALL, WIDE = 14, 56  # strips on the sides of a block: the products of their coarse runs, and its boxes, stay in cache
KEPT = 32  # runs.KEPT; a compiled function keeps the constants of its own module
EACH = 300  # frame products that take as long as what a rectangle costs whatever its size
ROOM = np.float32(1e-6)  # metres, far above float32's error in sums of distances
SLACK = np.float32(4e-6)  # float32's error in D relative to the energies: sums are shorter than those of whole windows


@njit(cache=True, nogil=True)
def measure_radii(library: Library, first: Ints, stop: Ints, middle: Ints) -> Floats:
    """The largest distance of windows [first, stop) from window `middle`, metres, (R,)."""
    radii = np.zeros(len(first))
    for r in range(len(first)):
        for window in range(first[r], stop[r]):
            if window != middle[r]:
                radii[r] = max(radii[r], math.sqrt(measure_pair(library, middle[r], window)[0]))
    return radii


# Handing the runs, many arrays, to a function and counting references to them takes longer than most of these do.
inlined = njit(cache=True, nogil=True, forceinline=True)
summed = njit(cache=True, nogil=True, forceinline=True, fastmath={"reassoc", "contract"})


@summed
def least_between(a: Array32, b: Array32, total: np.float32) -> np.float32:
    """A lower bound on the squared distance of two windows, below 0 where there is none.

    Args:
        a, b: Their outlines.
        total: The sum of their energies.
    """
    y, re, im = np.float32(0), np.float32(0), np.float32(0)
    for k in range(KEPT):
        y += a[k] * b[k]
        re += a[KEPT + k] * b[KEPT + k] + a[2 * KEPT + k] * b[2 * KEPT + k]
        im += a[2 * KEPT + k] * b[KEPT + k] - a[KEPT + k] * b[2 * KEPT + k]
    return total - np.float32(2) * (y + math.sqrt(re * re + im * im)) - SLACK * total


@inlined
def least_squared(outline: Array32, energy: Array32, p: int, q: int) -> np.float32:
    """The same of two runs' representatives."""
    return least_between(outline[p], outline[q], energy[p] + energy[q])


@inlined
def is_open(outline: Array32, energy: Array32, radius: Array32, p: int, q: int, threshold: np.float32) -> bool:
    """Whether the bound on the distance of two runs leaves room for windows within the threshold."""
    far = radius[p] + radius[q] + threshold
    return least_squared(outline, energy, p, q) <= far * far


@njit(cache=True, nogil=True)
def near_windows(
    few: Few, there: Outlines, begins: Ints, classes: tuple[Ints, Ints], thresholds: Array32, strips: int
) -> Flags:
    """Which windows may be within the threshold of one of a strip of a few others, (strips, windows).

    Runs are compared with runs first; where that does not settle it, the windows inside with windows.

    Args:
        few: The few others.
        there: Outlines of the windows.
        begins: (R + 1,): first window of each of their runs.
        classes: Of the clip of each run of the few, and of each run there.
        thresholds: By classes, metres.
        strips: How many strips the few have.
    """
    longest = np.max(begins[1:] - begins[:-1])
    middle, each = np.empty(3 * KEPT, np.float32), np.empty((longest, 3 * KEPT), np.float32)
    near = np.zeros((strips, begins[-1]), np.bool_)
    for q in range(len(begins) - 1):
        first, count = begins[q], begins[q + 1] - begins[q]
        at, known = first + there.middle[q], False
        for k in range(3 * KEPT):
            middle[k] = there.outline[at, k] * there.scale[k]
        for p in range(len(few.strip)):
            threshold = thresholds[classes[0][p], classes[1][q]]
            far = few.radius[p] + there.radius[q] + threshold
            if least_between(few.outline[p], middle, few.energy[p] + there.energy[at]) > far * far:
                continue
            if not known:
                for n in range(count):
                    for k in range(3 * KEPT):
                        each[n, k] = there.outline[first + n, k] * there.scale[k]
                known = True
            for child in range(few.children[p], few.children[p + 1]):
                far = few.radius[child] + there.radius[q] + threshold
                if least_between(few.outline[child], middle, few.energy[child] + there.energy[at]) > far * far:
                    continue
                for n in range(count):
                    if near[few.strip[p], first + n]:
                        continue
                    far = few.radius[child] + there.rounding[first + n] + threshold
                    total = few.energy[child] + there.energy[first + n]
                    near[few.strip[p], first + n] = least_between(few.outline[child], each[n], total) <= far * far
    return near


@inlined
def holds(box: tuple[int, int, int, int], a0: int, a1: int, b0: int, b1: int) -> bool:
    """Whether a box holds all pairs of windows [a0, a1) and [b0, b1)."""
    return box[0] <= a0 and a1 <= box[1] and box[2] <= b0 and b1 <= box[3]


@inlined
def stretch_box(
    box: tuple[int, int, int, int],
    runs: Runs,
    rows: tuple[int, int],
    columns: tuple[int, int],
    threshold: np.float32,
    apart: int,
    room: np.float32,
) -> tuple[int, int, int, int]:
    """The box of windows, empty if all 0, stretched around the pairs of runs that may hold something.

    Args:
        box: First window and one past the last of the rows, then of the columns.
        runs: Runs of either kind.
        rows: First run and one past the last.
        columns: First run and one past the last.
        threshold: Metres.
        apart: The least number of windows from one to the other that is asked for, if any.
        room: How far the longer runs that these are part of are apart, at least, less the threshold, metres: two of
            them whose reaches together are less lie too far apart.
    """
    first, stop, reach, radius = runs.first, runs.stop, runs.reach, runs.radius
    outline, energy = runs.outline, runs.energy
    for p in range(rows[0], rows[1]):
        for q in range(columns[0], columns[1]):
            if reach[p] + reach[q] < room or holds(box, first[p], stop[p], first[q], stop[q]):
                continue
            if apart > 0 and stop[q] - 1 - first[p] < apart:
                continue
            if not is_open(outline, energy, radius, p, q, threshold):
                continue
            if box[1] == 0:
                box = (first[p], stop[p], first[q], stop[q])
            a0, a1, b0, b1 = box
            box = (min(a0, first[p]), max(a1, stop[p]), min(b0, first[q]), max(b1, stop[q]))
    return box


@inlined
def positives(values: Array32, out: Ints32) -> int:
    """Write the places of values that are not negative to `out`, and return how many there are."""
    count = 0
    for j in range(len(values)):
        out[count] = j
        count += values[j] >= 0
    return count


@njit(cache=True, nogil=True)
def enclose_open(
    coarse: Runs,
    outward: Array32,
    inward: Array32,
    fine: Runs,
    children: Ints,
    clips: Ints,
    classes: Ints,
    thresholds: Array32,
    chosen: Flags,
    length: int,
    begins: Ints,
    rows: tuple[int, int],
    columns: tuple[int, int],
) -> tuple[Ints, Ints]:
    """For each pair of strips, the smallest box around the pairs of fine runs that may hold something.

    Pairs of coarse runs are sifted by the sign of a matrix product first, then by the bound on their distance, then by
    that of the fine runs inside. Boxes of a block of strips are kept at hand while it is worked on.

    Args:
        coarse: Coarse runs.
        outward: (R, K): as rows of the matrix product.
        inward: (R, K): as its columns.
        fine: Fine runs.
        children: (R + 1,): first fine run of each coarse one.
        clips: (R,): clip of each coarse run.
        classes: Class of each clip.
        thresholds: (classes, classes): metres.
        chosen: Of each clip; rows are of chosen ones. Columns are later ones, and where not chosen, also earlier ones.
        length: Frames of a window: windows of one clip that share frames are no candidates.
        begins: (S + 1,): first coarse run of each strip.
        rows: First strip of the rows, and one past the last.
        columns: The same of the columns.

    Returns:
        Row strip x S + column strip of each box, ascending, and the boxes, (B, 4): the first window and one past the
        last, of the row's strip and of the column's.
    """
    strips, most = len(begins) - 1, np.max(begins[1:] - begins[:-1])
    keys, boxes, count = np.empty(1024, np.int64), np.empty((1024, 4), np.int64), 0
    here = np.empty((TALL * WIDE, 4), np.int64)
    product = np.empty(TALL * WIDE * most * most, np.float32)
    found = np.empty(WIDE * most + 1, np.int32)
    every = chosen.all()
    # Taken out of the runs once: reaching into them counts references, again and again.
    parent, first, last, radius = coarse.parent, coarse.first, coarse.stop, coarse.radius
    outline, energy = coarse.outline, coarse.energy
    for top in range(rows[0], rows[1], TALL):
        bottom = min(top + TALL, rows[1])
        p0, p1 = begins[top], begins[bottom]
        if not every and not chosen[clips[p0:p1]].any():
            continue
        for left in range(max(top, columns[0]) if every else columns[0], columns[1], WIDE):
            right = min(left + WIDE, columns[1])
            q0, q1 = begins[left], begins[right]
            signs = product[: (p1 - p0) * (q1 - q0)].reshape(p1 - p0, q1 - q0)
            np.dot(outward[p0:p1], inward[q0:q1].T, signs)
            here[:] = 0
            for p in range(p0, p1):
                clip, row = clips[p], (parent[p] - top) * WIDE - left
                if not chosen[clip]:
                    continue
                for n in range(positives(signs[p - p0], found)):
                    q = q0 + found[n]
                    if q < p and chosen[clips[q]]:
                        continue
                    at = row + parent[q]
                    box = (here[at, 0], here[at, 1], here[at, 2], here[at, 3])
                    if holds(box, first[p], last[p], first[q], last[q]):
                        continue
                    limit = thresholds[classes[clip], classes[clips[q]]]
                    squared = least_squared(outline, energy, p, q)
                    far = radius[p] + radius[q] + limit
                    if squared > far * far:
                        continue
                    room = np.float32(math.sqrt(max(squared, np.float32(0)))) - limit - ROOM
                    box = stretch_box(
                        box,
                        fine,
                        (children[p], children[p + 1]),
                        (children[q], children[q + 1]),
                        limit,
                        length if clip == clips[q] else 0,
                        room,
                    )
                    here[at, 0], here[at, 1], here[at, 2], here[at, 3] = box
            for n in range(TALL * WIDE):
                if here[n, 1] == 0:
                    continue
                if count == len(keys):
                    keys = np.concatenate((keys, np.empty_like(keys)))
                    boxes = np.concatenate((boxes, np.empty_like(boxes)))
                keys[count], boxes[count] = (top + n // WIDE) * strips + left + n % WIDE, here[n]
                count += 1
    order = np.argsort(keys[:count])
    return keys[:count][order], boxes[:count][order]


@njit(cache=True, nogil=True)
def gather_boxes(keys: Ints, boxes: Ints, strips: Ints, halo: int) -> Ints:
    """Rectangles, (R, 6), that hold all boxes; neighbours in a row are joined where one large costs less than two.

    A rectangle of m x n windows costs as many frame products as (m + halo) x (n + halo), and what is the same for all.

    Args:
        keys: As given by `enclose_open`.
        boxes: As given by `enclose_open`.
        strips: (S, 3): clip, first window, one past the last.
        halo: Frames that a rectangle needs beyond its windows.
    """
    out = np.empty((len(keys), 6), np.int64)
    count, row = 0, -1
    for n in range(len(keys)):
        a0, a1, b0, b1 = boxes[n]
        here, clip_b = keys[n] // len(strips), strips[keys[n] % len(strips), 0]
        clip_a = strips[here, 0]
        cost = EACH + (a1 - a0 + halo) * (b1 - b0 + halo)
        if here == row and out[count - 1, 3] == clip_b:
            last = out[count - 1]
            top, bottom = min(last[1], a0), max(last[2], a1)
            apart = EACH + (last[2] - last[1] + halo) * (last[5] - last[4] + halo) + cost
            if EACH + (bottom - top + halo) * (b1 - last[4] + halo) <= apart:
                last[1], last[2], last[5] = top, bottom, b1
                continue
        out[count, 0], out[count, 1], out[count, 2] = clip_a, a0, a1
        out[count, 3], out[count, 4], out[count, 5] = clip_b, b0, b1
        count, row = count + 1, here
    for n in range(count):
        if out[n, 0] > out[n, 3]:
            for k in range(3):
                out[n, k], out[n, k + 3] = out[n, k + 3], out[n, k]
    return out[:count]
