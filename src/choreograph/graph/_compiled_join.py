"""Compiled kernels that make nodes and edges of very many transitions; `connect` has the plain way to the same."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from choreograph.base.arrays import Flags, Ints, Ints32
from choreograph.base.compiling import njit


@njit(cache=True)
def keep_rows(first: Ints, values: Ints32, kept: Flags) -> tuple[Ints, Ints32]:
    """The groups with those of their values alone that are kept; where they begin, and their end."""
    begin = np.empty_like(first)
    made, count = np.empty(kept.sum(), values.dtype), 0
    for group in range(len(first) - 1):
        begin[group] = count
        for n in range(first[group], first[group + 1]):
            if kept[n]:
                made[count] = values[n]
                count += 1
    begin[-1] = count
    return begin, made


@njit(cache=True)
def sizes_of_parts(first: Ints, arrive: Ints32, part: Ints32, goes_on: Flags) -> Ints:
    """Frames of each strong component between places that are left or arrived at, and a frame for each transition."""
    size = np.zeros(part.max() + 1, np.int64)
    used = np.zeros(len(part), np.bool_)
    for place in range(len(part)):
        for n in range(first[place], first[place + 1]):
            used[place] = used[arrive[n]] = True
            size[part[place]] += part[place] == part[arrive[n]]
    last = -1
    for place in range(len(part)):
        if used[place]:
            if last >= 0 and part[last] == part[place]:
                size[part[place]] += place - last
            last = place
        if not goes_on[place]:
            last = -1
    return size


@njit(cache=True)
def mark_inside(first: Ints, arrive: Ints32, inside: Flags) -> tuple[Flags, Flags, int]:
    """Places that transitions between places inside leave, those that they arrive at, and how many there are."""
    left, reached, count = np.zeros(len(inside), np.bool_), np.zeros(len(inside), np.bool_), 0
    for place in range(len(inside)):
        if not inside[place]:
            continue
        for n in range(first[place], first[place + 1]):
            if inside[arrive[n]]:
                left[place] = reached[arrive[n]] = True
                count += 1
    return left, reached, count


@njit(cache=True)
def fill_edges(
    first: Ints,
    row: Ints32,
    arrive: Ints32,
    inside: Flags,
    places: Ints,
    number: Ints32,
    follows: Flags,
    nothing: int,
    made: Ints32,
    source: Ints32,
    target: Ints32,
) -> None:
    """Write of each edge its minimum, `nothing` for a segment, and the nodes that it leads from and to.

    Of one node, the segment comes first, then its transitions in their order.

    Args:
        first: Where the transitions of each place begin, and their end.
        row: Of each, the minimum that it is of.
        arrive: The place that it arrives at.
        inside: Whether each place is in the graph.
        places: Of each node.
        number: Of the node at each place.
        follows: Whether the next node is in the same clip.
        nothing: What a segment has in place of a minimum.
        made: Minima.
        source: Nodes.
        target: Nodes.
    """
    count = 0
    for node in range(len(places)):
        place = places[node]
        if follows[node]:
            made[count], source[count], target[count] = nothing, node, node + 1
            count += 1
        for n in range(first[place], first[place + 1]):
            if inside[arrive[n]]:
                made[count], source[count], target[count] = row[n], node, number[arrive[n]]
                count += 1


@njit(cache=True)
def pick_rows(row: Ints32, nothing: int, values: NDArray[Any], made: NDArray[Any]) -> None:
    """Write of each row n, and of each ~n, the value; 0 where there is nothing."""
    for k in range(len(row)):
        if row[k] == nothing:
            made[k] = 0
        else:
            made[k] = values[row[k] if row[k] >= 0 else ~row[k]]


@njit(cache=True)
def are_ordered(a: Ints32, b: Ints32, c: Ints32, d: Ints32) -> bool:
    """Whether rows ascend by the first key, then by the second and so on."""
    ordered = True
    for n in range(1, len(a)):
        ordered &= (a[n], b[n], c[n], d[n]) >= (a[n - 1], b[n - 1], c[n - 1], d[n - 1])
    return ordered


@njit(cache=True)
def places_of(
    a: Ints32, b: Ints32, c: Ints32, d: Ints32, few_a: Ints32, few_b: Ints32, few_c: Ints32, few_d: Ints32
) -> Ints:
    """Where each of a few rows, in order, comes among rows in order: before which one, behind equal ones."""
    found, low = np.empty(len(few_a), np.int64), 0
    for k in range(len(few_a)):
        row, high = (few_a[k], few_b[k], few_c[k], few_d[k]), len(a)
        while low < high:
            middle = (low + high) // 2
            if row < (a[middle], b[middle], c[middle], d[middle]):
                high = middle
            else:
                low = middle + 1
        found[k] = low
    return found


@njit(cache=True)
def insert_rows(column: NDArray[Any], at: Ints, values: NDArray[Any]) -> None:
    """Put values before rows of a column, ascending, whose last rows, as many as these, are free."""
    end = len(column) - len(values)
    for k in range(len(values) - 1, -1, -1):
        for n in range(end - 1, at[k] - 1, -1):
            column[n + k + 1] = column[n]
        column[at[k] + k] = values[k]
        end = at[k]
