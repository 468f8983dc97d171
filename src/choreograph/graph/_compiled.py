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


@njit(cache=True)
def strong_components(
    first: NDArray[np.int64], target: NDArray[np.int32], goes_on: NDArray[np.bool_]
) -> NDArray[np.int32]:
    """The strong component of each place, (N,), by Tarjan's algorithm.

    Args:
        first: Where the links of each place begin, and how many there are, (N + 1,).
        target: Place that each link leads to.
        goes_on: Whether each place is linked to the one after it too, (N,).
    """
    count = len(goes_on)
    component = np.full(count, -1, np.int32)
    number, low = np.zeros(count, np.int32), np.zeros(count, np.int32)
    following = first[:-1].copy()
    path, waiting = np.empty(count, np.int32), np.empty(count, np.int32)
    found = parts = held = 0
    for root in range(count):
        if number[root] > 0:
            continue
        depth, path[0], new = 1, root, True
        while depth > 0:
            here = path[depth - 1]
            if new:
                found += 1
                number[here] = low[here] = found
                waiting[held] = here
                held += 1
                new = False
            link = following[here]
            if link < first[here + 1] + goes_on[here]:
                following[here] = link + 1
                there = target[link] if link < first[here + 1] else here + 1
                if number[there] == 0:
                    path[depth] = there
                    depth, new = depth + 1, True
                elif component[there] < 0:
                    low[here] = min(low[here], number[there])
                continue
            depth -= 1
            if depth > 0:
                low[path[depth - 1]] = min(low[path[depth - 1]], low[here])
            if low[here] == number[here]:
                while component[here] < 0:
                    held -= 1
                    component[waiting[held]] = parts
                parts += 1
    return component
