"""Compiled kernels of root tracks; imported on first use, since importing numba takes a while."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choreograph.base.arrays import Floats, Ints
from choreograph.base.compiling import njit


@njit(cache=True, nogil=True)
def accelerations(rot: Floats, fps: float) -> Floats:
    """See `root_tracks.accelerations_numpy`."""
    frames, joints = rot.shape[0], rot.shape[1]
    out = np.empty((max(frames - 2, 0), joints))
    spin = np.zeros((joints, 3))
    for f in range(frames - 1):
        for j in range(joints):
            aw, ax, ay, az = rot[f, j, 0], -rot[f, j, 1], -rot[f, j, 2], -rot[f, j, 3]
            bw, bx, by, bz = rot[f + 1, j, 0], rot[f + 1, j, 1], rot[f + 1, j, 2], rot[f + 1, j, 3]
            w = aw * bw - ax * bx - ay * by - az * bz
            x = aw * bx + ax * bw + ay * bz - az * by
            y = aw * by - ax * bz + ay * bw + az * bx
            z = aw * bz + ax * by - ay * bx + az * bw
            square = x * x + y * y + z * z
            if square < 2.5e-3:
                # Nearly always: the arc sine's series, exact in double precision, takes a fifth of an arc tangent.
                scale = 2.0 * (1.0 + square * (1 / 6 + square * (3 / 40 + square * (5 / 112 + square * (35 / 1152)))))
            else:
                sine = np.sqrt(square)
                scale = 2.0 * np.arctan2(sine, abs(w)) / sine
            scale *= fps if w >= 0.0 else -fps
            dx, dy, dz = scale * x - spin[j, 0], scale * y - spin[j, 1], scale * z - spin[j, 2]
            if f > 0:
                out[f - 1, j] = fps * np.sqrt(dx * dx + dy * dy + dz * dz)
            spin[j, 0], spin[j, 1], spin[j, 2] = scale * x, scale * y, scale * z
    return out


@njit(cache=True, nogil=True)
def heights(pos: Floats) -> Floats:
    """Of the highest joint above the lowest in each frame, (F,), of positions (F, J, 3)."""
    out = np.empty(len(pos))
    for f in range(len(pos)):
        low = high = pos[f, 0, 1]
        for j in range(1, pos.shape[1]):
            low, high = min(low, pos[f, j, 1]), max(high, pos[f, j, 1])
        out[f] = high - low
    return out


@njit(cache=True, nogil=True)
def count_above(values: NDArray[np.floating], limit: float) -> Ints:
    """How many of each row are above a limit, (F,), of values (F, J)."""
    out = np.zeros(len(values), np.int64)
    for f in range(len(values)):
        for j in range(values.shape[1]):
            out[f] += values[f, j] > limit
    return out


@njit(cache=True, nogil=True)
def count_bins(words: NDArray[np.uint32], counts: Ints) -> None:
    """Count words (F, J) by their upper halves, (65536,), besides those counted before."""
    for f in range(len(words)):
        for j in range(words.shape[1]):
            counts[words[f, j] >> 16] += 1
