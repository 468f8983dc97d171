"""Compiled kernels of the graph; each has a plain twin that tests compare it with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from choreograph.base.arrays import Flags, Floats, Ints, Ints32
from choreograph.base.compiling import njit


@njit(cache=True)
def random_walk(first_edge: Ints32, target: Ints32, start: int, draws: Floats) -> Ints32:
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
def leave_places(
    clip_a: Ints32,
    frame_a: Ints32,
    clip_b: Ints32,
    frame_b: Ints32,
    offsets: Ints,
    window: int,
) -> tuple[Ints, Ints32]:
    """See `transitions.leave_places`: transitions are counted out by the places that they leave.

    Of one place, those to earlier places come first, and each half is in its order, since minima are.
    """
    first = np.zeros(offsets[-1] + 2, np.int64)
    for n in range(len(clip_a)):
        at_a, at_b = offsets[clip_a[n]] + frame_a[n], offsets[clip_b[n]] + frame_b[n]
        first[at_b + 2] += at_a + 2 * window <= offsets[clip_a[n] + 1]
        first[at_a + 2] += at_b + 2 * window <= offsets[clip_b[n] + 1]
    for place in range(2, len(first)):
        first[place] += first[place - 1]
    row = np.empty(first[-1], np.int32)
    # While they are put in place, the next element says where the next one goes.
    for n in range(len(clip_a)):
        at_a, at_b = offsets[clip_a[n]] + frame_a[n], offsets[clip_b[n]] + frame_b[n]
        if at_a + 2 * window <= offsets[clip_a[n] + 1]:
            row[first[at_b + 1]] = ~n
            first[at_b + 1] += 1
    for n in range(len(clip_a)):
        at_a, at_b = offsets[clip_a[n]] + frame_a[n], offsets[clip_b[n]] + frame_b[n]
        if at_b + 2 * window <= offsets[clip_b[n] + 1]:
            row[first[at_a + 1]] = n
            first[at_a + 1] += 1
    return first[:-1], row


@njit(cache=True)
def end_places(
    row: Ints32,
    clip_a: Ints32,
    frame_a: Ints32,
    clip_b: Ints32,
    frame_b: Ints32,
    offsets: Ints,
    window: int,
    leave: Ints32,
    arrive: Ints32,
) -> None:
    """Write the places that each transition, as `leave_places` has it, leaves and arrives at.

    To arrays that are given, here and below: NumPy makes large ones of large pages, which the system gives faster.
    """
    for k in range(len(row)):
        n = row[k] if row[k] >= 0 else ~row[k]
        at_a, at_b = offsets[clip_a[n]] + frame_a[n], offsets[clip_b[n]] + frame_b[n]
        leave[k] = at_a if row[k] >= 0 else at_b
        arrive[k] = window + (at_b if row[k] >= 0 else at_a)


@njit(cache=True)
def arrive_places(
    row: Ints32,
    clip_a: Ints32,
    frame_a: Ints32,
    clip_b: Ints32,
    frame_b: Ints32,
    offsets: Ints,
    window: int,
    arrive: Ints32,
) -> None:
    """Write the places that each transition arrives at; see `end_places`."""
    for k in range(len(row)):
        if row[k] >= 0:
            arrive[k] = offsets[clip_b[row[k]]] + frame_b[row[k]] + window
        else:
            arrive[k] = offsets[clip_a[~row[k]]] + frame_a[~row[k]] + window


@njit(cache=True)
def pick(row: Ints32, forward: NDArray[Any], backward: NDArray[Any], made: NDArray[Any]) -> None:
    """Of each row n write the value in one column, of each ~n that in another."""
    for k in range(len(row)):
        made[k] = forward[row[k]] if row[k] >= 0 else backward[~row[k]]


@njit(cache=True)
def nearest_of_each(first: Ints, row: Ints32, distance: Floats, most: int) -> Flags:
    """Which rows are among the nearest of their group, of equal ones the first.

    Args:
        first: Where groups begin, and their end.
        row: Of each row, the distance n that it has, or ~n.
        distance: Metres.
        most: How many a group keeps.
    """
    kept = np.ones(len(row), np.bool_)
    for n in range(len(first) - 1):
        start, stop = first[n], first[n + 1]
        if stop - start > most:
            own = np.empty(stop - start)
            for k in range(stop - start):
                number = row[start + k]
                own[k] = distance[number if number >= 0 else ~number]
            farthest = np.partition(own, most - 1)[most - 1]
            room = most
            for k in range(stop - start):
                room -= own[k] < farthest
            for k in range(stop - start):
                if own[k] == farthest and room > 0:
                    room -= 1
                elif own[k] >= farthest:
                    kept[start + k] = False
    return kept


@njit(cache=True)
def left_out_between(first: Ints, kept: Flags, parts: Ints32, arrive: Ints32) -> tuple[Ints, Ints]:
    """Transitions left out that lead from one part to another, and the places that they leave."""
    found, leave, count = np.empty(1024, np.int64), np.empty(1024, np.int64), 0
    for place in range(len(first) - 1):
        for n in range(first[place], first[place + 1]):
            if kept[n] or parts[arrive[n]] == parts[place]:
                continue
            if count == len(found):
                found, leave = np.append(found, np.empty_like(found)), np.append(leave, np.empty_like(leave))
            found[count], leave[count] = n, place
            count += 1
    return found[:count], leave[:count]


@njit(cache=True)
def count_places(offsets: Ints, clip: Ints32, frame: Ints32) -> Ints:
    """See `transitions.count_places`."""
    found = np.zeros(offsets[-1] + 1, np.int64)
    for n in range(len(clip)):
        found[offsets[clip[n]] + frame[n]] += 1
    return found


@njit(cache=True)
def interleave(
    second: Flags,
    one: NDArray[Any],
    other: NDArray[Any],
    rows: Ints,
    made: NDArray[Any],
) -> None:
    """See `transitions.interleave`."""
    taken = 0
    for n in range(len(second)):
        if second[n]:
            made[n] = other[rows[taken]]
            taken += 1
        else:
            made[n] = one[n - taken]


@njit(cache=True)
def links_between(parts: Ints32, first: Ints, target: Ints32, goes_on: Flags) -> tuple[Ints32, Ints32]:
    """Links that lead from one part to another: their parts, as often as there are links; see `strong_components`."""
    rows, columns, count = np.empty(1024, np.int32), np.empty(1024, np.int32), 0
    for place in range(len(goes_on)):
        for link in range(first[place], first[place + 1] + goes_on[place]):
            there = target[link] if link < first[place + 1] else place + 1
            if parts[there] == parts[place]:
                continue
            if count == len(rows):
                rows, columns = np.append(rows, np.empty_like(rows)), np.append(columns, np.empty_like(columns))
            rows[count], columns[count] = parts[place], parts[there]
            count += 1
    return rows[:count], columns[:count]


@njit(cache=True)
def strong_components(first: Ints, target: Ints32, goes_on: Flags) -> Ints32:
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
