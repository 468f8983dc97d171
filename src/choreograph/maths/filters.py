"""Smoothing without SciPy's filters, which take longer to import than many a command takes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def gaussian(values: Array, sigma: float, reach: int) -> Array:
    """Values (F, ...) averaged under a Gaussian of `sigma` frames that reaches so far: (F - 2 x reach, ...)."""
    weights = np.exp(-0.5 * np.square(np.arange(-reach, reach + 1) / sigma))
    weights /= weights.sum()
    columns = np.asarray(values, float).reshape(len(values), -1).T
    made = np.stack([np.convolve(column, weights, "valid") for column in columns], axis=1)
    return made.reshape(len(made), *np.shape(values)[1:])
