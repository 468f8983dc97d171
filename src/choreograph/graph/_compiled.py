"""Compiled kernels of the graph; each has a plain twin that tests compare it with."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True)
def random_walk(
    first_edge: NDArray[np.int32], target: NDArray[np.int32], start: int, draws: NDArray[np.float64]
) -> NDArray[np.int32]:
    """Edges of a walk; draw k in [0, 1) picks among the edges of the node reached after k steps."""
    walk = np.empty(len(draws), np.int32)
    node = start
    for step in range(len(draws)):
        low, high = first_edge[node], first_edge[node + 1]
        edge = low + int(draws[step] * (high - low))
        walk[step] = edge
        node = target[edge]
    return walk
