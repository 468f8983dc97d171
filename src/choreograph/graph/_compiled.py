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


@njit(cache=True)
def nearest_of_each(first: NDArray[np.int64], distance: NDArray[np.float64], most: int) -> NDArray[np.bool_]:
    """Which rows are among the nearest of their group, of equal ones the first; groups begin at `first`, and end."""
    kept = np.ones(len(distance), np.bool_)
    for n in range(len(first) - 1):
        start, stop = first[n], first[n + 1]
        if stop - start > most:
            order = np.argsort(distance[start:stop], kind="mergesort")
            for k in range(most, stop - start):
                kept[start + order[k]] = False
    return kept
