"""Compiled kernels that make windows ready for comparison; imported on first use, since importing numba takes a while.

All sums over a window go frame by frame, so that equal windows get equal bits wherever they lie.
"""

from __future__ import annotations

import math

import numpy as np

from choreograph.base.arrays import Floats, Floats32, Ints
from choreograph.base.compiling import njit

Array32 = Floats32


@njit(cache=True, nogil=True)
def measure_windows(
    positions: Floats, heavy: Ints, share: Floats, weights: Floats
) -> tuple[Floats, Floats, Floats, Floats, Floats, Floats]:
    """See `window.measure_windows_numpy`."""
    frames, joints, length = len(positions), len(heavy), len(weights)
    root = np.sqrt(share)
    heights, floor = np.empty((frames, joints)), np.empty((frames, 2, joints))
    centroid, origin, inner = np.empty((frames, 2)), np.zeros(2), np.empty(frames)
    for f in range(frames):
        x, z = 0.0, 0.0
        for j in range(joints):
            x += share[j] * positions[f, heavy[j], 0]
            z += share[j] * positions[f, heavy[j], 2]
        centroid[f, 0], centroid[f, 1] = x, z
        origin[0] += x / frames
        origin[1] += z / frames
        total = 0.0
        for j in range(joints):
            own_y = positions[f, heavy[j], 1] * root[j]
            own_x, own_z = (positions[f, heavy[j], 0] - x) * root[j], (positions[f, heavy[j], 2] - z) * root[j]
            heights[f, j], floor[f, 0, j], floor[f, 1, j] = own_y, own_x, own_z
            total += own_y * own_y + own_x * own_x + own_z * own_z
        inner[f] = total
    for f in range(frames):
        centroid[f, 0] -= origin[0]
        centroid[f, 1] -= origin[1]
    count = max(0, frames - length + 1)
    centre, energy = np.zeros((count, 2)), np.zeros(count)
    for n in range(count):
        x, z, own, spread = 0.0, 0.0, 0.0, 0.0
        for k in range(length):
            x += weights[k] * centroid[n + k, 0]
            z += weights[k] * centroid[n + k, 1]
            own += weights[k] * inner[n + k]
        # The spread of the centroids about their mean, not the difference of two large numbers.
        for k in range(length):
            spread += weights[k] * ((centroid[n + k, 0] - x) ** 2 + (centroid[n + k, 1] - z) ** 2)
        centre[n, 0], centre[n, 1], energy[n] = x, z, own + spread
    return heights, floor, centroid, origin, centre, energy


@njit(cache=True, nogil=True)
def lower(
    heights: Floats, floor: Floats, centroid: Floats, energy: Floats, level: Floats, weights: Floats, bounds: Ints
) -> tuple[Floats, Floats, Array32, Array32, Floats]:
    """See `library.lower_numpy`."""
    frames, joints, length = len(heights), len(level), len(weights)
    low, plane = np.empty((frames, joints), np.float32), np.empty((frames, 2, 2 * joints), np.float32)
    size, less = np.empty(frames), np.empty(frames)
    for f in range(frames):
        total, taken = 0.0, 0.0
        for j in range(joints):
            y, x, z = np.float32(heights[f, j] - level[j]), np.float32(floor[f, 0, j]), np.float32(floor[f, 1, j])
            low[f, j] = y
            plane[f, 0, j], plane[f, 0, joints + j] = x, z
            plane[f, 1, j], plane[f, 1, joints + j] = -z, x
            total += float(y) ** 2 + float(x) ** 2 + float(z) ** 2
            taken += (level[j] - 2 * heights[f, j]) * level[j]
        size[f], less[f] = total, taken
    lowered, moment = np.full(frames, math.inf), np.zeros((frames, 2))
    middle = (length - 1) / 2
    for clip in range(len(bounds)):
        for n in range(bounds[clip, 0], bounds[clip, 1]):
            taken, along_x, along_z = 0.0, 0.0, 0.0
            for k in range(length):
                taken += weights[k] * less[n + k]
                along_x += weights[k] * (k - middle) * centroid[n + k, 0]
                along_z += weights[k] * (k - middle) * centroid[n + k, 1]
            lowered[n], moment[n, 0], moment[n, 1] = energy[n] + taken, along_x, along_z
    return lowered, moment, low, plane, size
