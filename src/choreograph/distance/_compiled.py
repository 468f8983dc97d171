"""Compiled kernels of the distance stage; imported on first use, since importing numba takes a while.

All of them read one `Library`: the windows of all clips in one numbering, window n beginning with frame n.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from choreograph.base.arrays import Flags, Floats, Floats32, Ints
from choreograph.base.compiling import njit
from choreograph.distance.library import Library

Array32 = Floats32

QUANTUM = 2.0**-40  # window.QUANTUM; a compiled function keeps the constants of its own module


CLEAR = -1  # in place of a neighbour's number: no neighbour comes near


class Buffers(NamedTuple):
    """Room for one rectangle of window pairs: what stays in cache while it is worked on."""

    plane_a: Array32
    path_a: Array32
    path_b: Array32
    energy_b: Array32
    centre_b: Array32
    extra_b: Array32
    heights: Array32
    planes: Array32
    spare: Array32
    table: Array32


@njit(cache=True, nogil=True)
def make_buffers(rows: int, columns: int, joints: int, length: int) -> Buffers:
    """Room for rectangles of up to `rows` x `columns` windows with their halos."""
    frames_a, frames_b = rows + length + 1, columns + length + 1
    return Buffers(
        np.empty((frames_a, 2 * joints), np.float32),
        np.empty((frames_a, 2), np.float32),
        np.empty((2, 2 * frames_b), np.float32),
        np.empty(columns + 2, np.float32),
        np.empty((2, columns + 2), np.float32),
        np.empty((2, columns + 2), np.float32),
        np.empty(frames_a * frames_b, np.float32),
        np.empty(frames_a * 2 * frames_b, np.float32),
        np.empty(frames_a * 2 * frames_b, np.float32),
        np.empty((rows + 4, columns + 4), np.float32),
    )


class Travel(NamedTuple):
    """Uniform motion over the floor: where it is in a block's first frame, and how it moves, metres per frame."""

    x: float
    z: float
    vx: float
    vz: float


@njit(cache=True, nogil=True)
def travel(centroid: Floats, start: int, stop: int) -> Travel:
    """The uniform motion nearest to the centroids in frames [start, stop)."""
    count = stop - start
    x, z, vx, vz = 0.0, 0.0, 0.0, 0.0
    for i in range(count):
        lever = i - (count - 1) / 2
        x += centroid[start + i, 0] / count
        z += centroid[start + i, 1] / count
        vx += lever * centroid[start + i, 0]
        vz += lever * centroid[start + i, 1]
    if count > 1:
        scale = 12 / (count * (count * count - 1.0))
        vx, vz = vx * scale, vz * scale
    return Travel(x - vx * (count - 1) / 2, z - vz * (count - 1) / 2, vx, vz)


@njit(cache=True, nogil=True)
def largest_size(library: Library, start: int, stop: int, off: Travel) -> float:
    """The largest squared norm of frames [start, stop) with the uniform motion `off` taken off their centroids."""
    largest = 0.0
    for i in range(stop - start):
        x = library.centroid[start + i, 0] - off.x - i * off.vx
        z = library.centroid[start + i, 1] - off.z - i * off.vz
        largest = max(largest, library.size[start + i] + x * x + z * z)
    return largest


@njit(cache=True, nogil=True)
def multiply_planes(
    library: Library, top: int, left: int, v: Travel, w: Travel, buffers: Buffers, out: Array32
) -> None:
    """Real and imaginary parts of products of floor positions, by turns, into `out`, (frames a, 2 x frames b).

    The joints come from one matrix product; the centroids, with uniform motions v and w taken off, are added to it.
    """
    frames_a, frames_b, width = out.shape[0], out.shape[1] // 2, library.plane.shape[2]
    plane, path, other = buffers.plane_a[:frames_a], buffers.path_a, buffers.path_b
    for i in range(frames_a):
        for k in range(width):
            plane[i, k] = library.plane[top + i, 0, k]
        path[i, 0] = library.centroid[top + i, 0] - v.x - i * v.vx
        path[i, 1] = library.centroid[top + i, 1] - v.z - i * v.vz
    for j in range(frames_b):
        x = np.float32(library.centroid[left + j, 0] - w.x - j * w.vx)
        z = np.float32(library.centroid[left + j, 1] - w.z - j * w.vz)
        other[0, 2 * j], other[0, 2 * j + 1] = x, -z
        other[1, 2 * j], other[1, 2 * j + 1] = z, x
    np.dot(plane, library.plane[left : left + frames_b].reshape(2 * frames_b, width).T, out)
    with_x, with_z = other[0], other[1]
    for i in range(frames_a):
        x, z, row = path[i, 0], path[i, 1], out[i]
        for j in range(2 * frames_b):
            row[j] += x * with_x[j] + z * with_z[j]


@njit(cache=True, nogil=True)
def sum_diagonals(values: Array32, rows: int, columns: int, length: int, step: int, out: Array32) -> None:
    """Sums of `length` neighbours down each diagonal: out[i, j] = values[i, j] + values[i+1, j+step] + ...

    Each row comes from the one above by adding an element and taking one off, whatever the length. Whole arrays and
    counts rather than slices, since only what is known to be contiguous is vectorised.
    """
    out[0, :columns] = 0
    for k in range(length):
        for j in range(columns):
            out[0, j] += values[k, j + k * step]
    for i in range(1, rows):
        for j in range(step):
            total = np.float32(0)
            for k in range(length):
                total += values[i + k, j + k * step]
            out[i, j] = total
        above, row, leaving = out[i - 1], out[i, step:], values[i - 1]
        entering = values[i + length - 1, length * step :]
        for j in range(columns - step):
            row[j] = above[j] + (entering[j] - leaving[j])


@njit(cache=True, nogil=True)
def sum_windows(values: Array32, spare: Array32, boxes: tuple[int, int], step: int) -> None:
    """Window sums down the diagonals, in place: sums over one box, then sums of those over the other."""
    first, second = boxes
    rows, columns = values.shape[0] - first + 1, values.shape[1] - (first - 1) * step
    sum_diagonals(values, rows, columns, first, step, spare)
    sum_diagonals(spare, rows - second + 1, columns - (second - 1) * step, second, step, values)


@njit(cache=True, nogil=True, fastmath={"contract"})
def distance_row(
    y: Array32,
    turned: Array32,
    scale: np.float32,
    row: tuple[np.float32, np.float32, np.float32, np.float32, np.float32],
    energy: Array32,
    centre: Array32,
    extra: Array32,
    out: Array32,
) -> None:
    """D of one row of window pairs, into `out`.

    Args:
        y: Sums of products of heights, (columns,), still to be scaled.
        turned: Sums of real and imaginary parts by turns, (2 x columns,), alike.
        scale: What to scale them by.
        row: Energy, centre x and z, and extra real and imaginary part of the row's window.
        energy: The same of the columns' windows, (columns,).
        centre: (2, columns or more).
        extra: (2, columns or more).
        out: (columns or more,).
    """
    energy_a, ax, az, extra_re, extra_im = row
    cx, cz, er, ei = centre[0], centre[1], extra[0], extra[1]
    for j in range(len(energy)):
        s = scale * turned[2 * j] - ax * cx[j] - az * cz[j] + (extra_re + er[j])
        t = scale * turned[2 * j + 1] - az * cx[j] + ax * cz[j] + (extra_im + ei[j])
        out[j] = energy_a + energy[j] - np.float32(2) * (scale * y[j] + math.sqrt(s * s + t * t))


@njit(cache=True, nogil=True, fastmath={"nnan", "nsz", "reassoc"})
def smallest(values: Array32) -> np.float32:
    """The smallest of the values, none of which is NaN."""
    least = np.float32(np.inf)
    for j in range(len(values)):
        if values[j] < least:
            least = values[j]
    return least


@njit(cache=True, nogil=True)
def fill_table(library: Library, top: int, bottom: int, left: int, right: int, buffers: Buffers) -> float:
    """D of the window pairs [top, bottom) x [left, right), in float32, into buffers.table[1:, 1:].

    Frame products come from matrix multiplication; running sums down the diagonals make them window products, and one
    pass by row forms D. Around the rectangle the table holds infinity.

    Returns:
        The squared size of the frames: float32's error is in proportion to it.
    """
    first, second = library.boxes
    scale, length = np.float32(1 / (first * second)), first + second - 1
    rows, columns = bottom - top, right - left
    na, nb = rows + length - 1, columns + length - 1
    v, w = travel(library.centroid, top, top + na), travel(library.centroid, left, left + nb)
    # With uniform motions v and w taken off, S lacks  v conj(M_b) + M_a conj(w) - v conj(w) spread,  M being moments.
    middle, spread = (length - 1) / 2, 0.0
    for k in range(length):
        spread += library.weights[k] * (k - middle) ** 2
    energy, centre, extra, table = buffers.energy_b[:columns], buffers.centre_b, buffers.extra_b, buffers.table
    for j in range(columns):
        n = left + j
        energy[j] = library.lowered[n]
        centre[0, j] = library.centre[n, 0] - w.x - w.vx * (j + middle)
        centre[1, j] = library.centre[n, 1] - w.z - w.vz * (j + middle)
        mx, mz = library.moment[n, 0] - w.vx * spread, library.moment[n, 1] - w.vz * spread
        extra[0, j] = v.vx * mx + v.vz * mz
        extra[1, j] = v.vz * mx - v.vx * mz
    y, turned = buffers.heights[: na * nb].reshape(na, nb), buffers.planes[: 2 * na * nb].reshape(na, 2 * nb)
    np.dot(library.low[top : top + na], library.low[left : left + nb].T, y)
    multiply_planes(library, top, left, v, w, buffers, turned)
    sum_windows(y, buffers.spare[: na * nb].reshape(na, nb), library.boxes, 1)
    sum_windows(turned, buffers.spare[: 2 * na * nb].reshape(na, 2 * nb), library.boxes, 2)
    table[0, : columns + 2] = np.inf
    table[rows + 1, : columns + 2] = np.inf
    for i in range(rows):
        n = top + i
        mx, mz = library.moment[n, 0], library.moment[n, 1]
        row = (
            np.float32(library.lowered[n]),
            np.float32(library.centre[n, 0] - v.x - v.vx * (i + middle)),
            np.float32(library.centre[n, 1] - v.z - v.vz * (i + middle)),
            np.float32(w.vx * mx + w.vz * mz),
            np.float32(w.vx * mz - w.vz * mx),
        )
        distance_row(y[i], turned[i], scale, row, energy, centre, extra, table[i + 1, 1:])
        table[i + 1, 0] = np.inf
        table[i + 1, columns + 1] = np.inf
    return largest_size(library, top, top + na, v) + largest_size(library, left, left + nb, w)


@njit(cache=True, nogil=True)
def scan_rectangles(
    library: Library, rectangles: Ints, limits: Floats, slack: float, first: int, found: Ints
) -> tuple[int, int]:
    """Pairs in rectangles of window pairs that may be local minima of D, looked for in float32, missing none.

    A pair is found if it may be a minimum within the limit, given that float32 is off by at most `slack` times the
    squared size of the frames; `decide_minima` settles those in float64.

    Args:
        library: All windows.
        rectangles: (R, 6): clip a, first and one past last window, clip b, first and one past last window.
        limits: (R,): largest D wanted of each rectangle.
        slack: Bound on float32's error, relative to the squared size of the frames.
        first: The rectangle to begin with.
        found: (M, 4), filled with window a, window b, its smallest neighbour (counted by rows from 0, itself being
            4), or `CLEAR` where the pair is smaller than all of them beyond doubt, and the rectangle's number.

    Returns:
        The rectangle to go on with, where `found` might be too small for the next one, and how many were found.
    """
    rows = np.max(rectangles[first:, 2] - rectangles[first:, 1])
    columns = np.max(rectangles[first:, 5] - rectangles[first:, 4])
    length = len(library.weights)
    buffers = make_buffers(rows, columns, library.heights.shape[1], length)
    table, count = buffers.table, 0
    for r in range(first, len(rectangles)):
        clip_a, a0, a1 = rectangles[r, 0], rectangles[r, 1], rectangles[r, 2]
        clip_b, b0, b1 = rectangles[r, 3], rectangles[r, 4], rectangles[r, 5]
        if len(found) - count < (a1 - a0) * (b1 - b0):
            return r, count
        # With a halo of one window, except where the clip ends.
        top, bottom = max(a0 - 1, library.bounds[clip_a, 0]), min(a1 + 1, library.bounds[clip_a, 1])
        left, right = max(b0 - 1, library.bounds[clip_b, 0]), min(b1 + 1, library.bounds[clip_b, 1])
        error = np.float32(slack * fill_table(library, top, bottom, left, right, buffers))
        limit = np.float32(limits[r]) + error
        for a in range(a0, a1):
            i = a - top
            if smallest(table[i + 1, 1 : right - left + 1]) > limit:
                continue
            # Windows of one clip that share frames are like each other for no good reason: the band is left out,
            # though a pair beside it still has to be smaller than its neighbours inside.
            start = max(b0, a + length) if clip_a == clip_b else b0
            for b in range(start, b1):
                j = b - left
                d = table[i + 1, j + 1]
                if d > limit:
                    continue
                rival, lowest = 0, np.float32(np.inf)
                for step in range(9):
                    other = table[i + step // 3, j + step % 3]
                    if step != 4 and other < lowest:
                        rival, lowest = step, other
                if d <= lowest + 2 * error:
                    found[count, 0] = a
                    found[count, 1] = b
                    found[count, 2] = rival if d >= lowest - 2 * error else CLEAR
                    found[count, 3] = r
                    count += 1
    return len(rectangles), count


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def measure_pair(library: Library, a: int, b: int) -> tuple[float, float, float]:
    """D of windows a and b in float64, and the two parts of S: the closed form of `window`.

    The order of the sums does not depend on where the windows lie, so equal windows give equal bits.
    """
    heights, floor, centroid, weights = library.heights, library.floor, library.centroid, library.weights
    y, re, im = 0.0, 0.0, 0.0
    ax, az, bx, bz = library.centre[a, 0], library.centre[a, 1], library.centre[b, 0], library.centre[b, 1]
    for k in range(len(weights)):
        f, g = a + k, b + k
        xa, za, xb, zb = centroid[f, 0] - ax, centroid[f, 1] - az, centroid[g, 0] - bx, centroid[g, 1] - bz
        yk, rk, ik = 0.0, xa * xb + za * zb, za * xb - xa * zb
        for j in range(heights.shape[1]):
            yk += heights[f, j] * heights[g, j]
            rk += floor[f, 0, j] * floor[g, 0, j] + floor[f, 1, j] * floor[g, 1, j]
            ik += floor[f, 1, j] * floor[g, 0, j] - floor[f, 0, j] * floor[g, 1, j]
        y += weights[k] * yk
        re += weights[k] * rk
        im += weights[k] * ik
    squared = library.energy[a] + library.energy[b] - 2 * y - 2 * math.sqrt(re * re + im * im)
    return max(np.rint(squared / QUANTUM), 0.0) * QUANTUM, re, im


@njit(cache=True, nogil=True)
def decide_minima(
    library: Library, rectangles: Ints, limits: Floats, found: Ints, squared: Floats, turned: Floats
) -> Flags:
    """Which of the pairs found are minima within their limits, in float64.

    A pair yields to any neighbour that is smaller, or equal and earlier in the order of (a, b).

    Args:
        library: All windows.
        rectangles: As given to `scan_rectangles`.
        limits: As given to `scan_rectangles`.
        found: As found by `scan_rectangles`.
        squared: (M,), filled with D of the pairs that are kept.
        turned: (M, 2), filled with S of the pairs that are kept.

    Returns:
        Which are kept, (M,).
    """
    kept = np.zeros(len(found), np.bool_)
    for n in range(len(found)):
        a, b, rival, r = found[n]
        d, re, im = measure_pair(library, a, b)
        if d > limits[r]:
            continue
        squared[n], turned[n, 0], turned[n, 1] = d, re, im
        kept[n] = rival == CLEAR or not yields(library, rectangles[r, 0], a, rectangles[r, 3], b, d, rival)
    return kept


@njit(cache=True, nogil=True)
def yields(library: Library, clip_a: int, a: int, clip_b: int, b: int, d: float, rival: int) -> bool:
    """Whether one of the eight neighbours is smaller than D of windows (a, b), or equal and earlier.

    The likeliest rival is asked first, which nearly always settles it.
    """
    for turn in range(9):
        step = (rival + turn) % 9
        i, j = a + step // 3 - 1, b + step % 3 - 1
        inside = library.bounds[clip_a, 0] <= i < library.bounds[clip_a, 1]
        inside = inside and library.bounds[clip_b, 0] <= j < library.bounds[clip_b, 1]
        if step == 4 or not inside:
            continue
        other = measure_pair(library, i, j)[0]
        if other < d or (other == d and step < 4):
            return True
    return False
