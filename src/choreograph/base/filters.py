"""Smoothing without SciPy's filters, which take longer to import than many a command takes."""

from __future__ import annotations

import numpy as np

from choreograph.base.arrays import Floats


def gaussian(values: Floats, sigma: float, reach: int) -> Floats:
    """Values (F, ...) averaged under a Gaussian of `sigma` frames that reaches so far: (F - 2 x reach, ...)."""
    weights = np.exp(-0.5 * np.square(np.arange(-reach, reach + 1) / sigma))
    weights /= weights.sum()
    columns = np.asarray(values, float).reshape(len(values), -1).T
    sums = np.stack([np.convolve(column, weights, "valid") for column in columns], axis=1)
    return sums.reshape(len(sums), *np.shape(values)[1:])


def held_gaussian(values: Floats, sigma: float) -> Floats:
    """Values (F, ...) averaged under a Gaussian of `sigma` frames, held at their ends; sums go as SciPy's do."""
    reach = int(4 * sigma + 0.5)
    weights = np.exp(-0.5 / (sigma * sigma) * np.square(np.arange(-reach, reach + 1)))
    weights /= weights.sum()
    frames = len(values)
    padded = np.pad(np.asarray(values, float), ((reach, reach), *((0, 0),) * (np.ndim(values) - 1)), mode="edge")
    total = padded[reach : reach + frames] * weights[reach]
    for k in range(reach):
        total += (padded[k : k + frames] + padded[2 * reach - k : 2 * reach - k + frames]) * weights[k]
    return np.asarray(total)


def running_maximum(values: Floats, size: int) -> Floats:
    """The largest of the values (F,) around each, an odd number of them; beyond the ends they go on mirrored."""
    padded = np.pad(values, size // 2, mode="symmetric")
    return np.asarray(np.lib.stride_tricks.sliding_window_view(padded, size).max(axis=-1))
