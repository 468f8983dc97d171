"""Averages of neighbours in a row of points."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def gaussian_average(points: NDArray[np.float64], sigma: float, reach: int) -> NDArray[np.float64]:
    """Points averaged under a Gaussian of so many points, cut off beyond `reach`; as many fewer at either end.

    SciPy has this, but importing it takes longer than a search takes to begin.
    """
    weights = np.exp(-0.5 / sigma**2 * np.square(np.arange(-reach, reach + 1.0)))
    weights /= weights.sum()
    count = len(points) - 2 * reach
    total = points[reach : reach + count] * weights[reach]
    for k in range(reach):
        total += (points[k : k + count] + points[2 * reach - k :][:count]) * weights[k]
    return np.asarray(total)
