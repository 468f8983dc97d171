"""From local minima to transitions, in their order, as many as are to be kept: also of many millions, in seconds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from choreograph.graph.tables import Minima, Transitions
from choreograph.maths.floor import FloorTransform
from choreograph.motion.arrays import seal

_MANY = 1 << 18
"""Transitions from which on places are grouped by a compiled kernel, which need not put them into a matrix first."""


def find_transitions(minima: Minima, clip_frames: NDArray[np.int32], window: int, most: int = 0) -> Transitions:
    """Both transitions of every minimum, by source clip, source frame, target clip and target frame.

    Left out are those after which no whole window is left in the target: they lead nowhere.

    Args:
        minima: In their order.
        clip_frames: Frames of each clip.
        window: Frames of a blend.
        most: How many to keep from a place, the nearest ones, and as many more as hold together what they all held; 0
            for all.
    """
    fits_b = minima.frame_b + 2 * window <= clip_frames[minima.clip_b]
    fits_a = minima.frame_a + 2 * window <= clip_frames[minima.clip_a]
    # Of one place, those to earlier places come first, and each half is in its order: minima are.
    row = np.concatenate([np.flatnonzero(fits_a), np.flatnonzero(fits_b)]).astype(np.int32)
    backward = int(np.count_nonzero(fits_a))
    offsets = np.concatenate([[0], np.cumsum(clip_frames, dtype=np.int64)])
    at_a, at_b = offsets[minima.clip_a] + minima.frame_a, offsets[minima.clip_b] + minima.frame_b
    leave = np.concatenate([at_b[row[:backward]], at_a[row[backward:]]])
    enter = np.concatenate([at_a[row[:backward]], at_b[row[backward:]]])
    del at_a, at_b, fits_a, fits_b
    order = sort_pairs(leave, enter, int(offsets[-1]))
    if most and len(order):
        order = order[_nearest(leave[order], enter[order] + window, minima.distance_m[row[order]], offsets, most)]
    del leave, enter
    row, back = row[order], order < backward
    ends = {}
    for kind, (own, other) in {"source": ("a", "b"), "target": ("b", "a")}.items():
        for part in ("clip", "frame"):
            column = getattr(minima, f"{part}_{own}")[row]
            column[back] = getattr(minima, f"{part}_{other}")[row[back]]
            ends[f"{kind}_{part}"] = seal(column)
    yaw, x, z = minima.yaw[row], minima.x[row], minima.z[row]
    other_way = FloorTransform(yaw[back], x[back], z[back]).inverse()
    yaw[back], x[back], z[back] = other_way.yaw, other_way.x, other_way.z
    return Transitions(
        **ends,
        frames=seal(np.full(len(row), window, np.int32)),
        arrive_frame=seal(ends["target_frame"] + np.int32(window)),
        distance_m=seal(minima.distance_m[row]),
        yaw=seal(yaw),
        x=seal(x),
        z=seal(z),
    )


def sort_pairs(first: NDArray[Any], second: NDArray[Any], count: int) -> NDArray[np.int32]:
    """The order of pairs of numbers by the first, which are below `count`, then by the second.

    Pairs whose seconds ascend already, as those of millions of edges do, are only counted out by their firsts.
    """
    from scipy.sparse import coo_matrix

    shape = max(count, 1), 1
    links = coo_matrix((np.arange(len(first), dtype=np.int32), (first, np.zeros(len(first), np.int8))), shape=shape)
    links.has_canonical_format = True  # so that it neither sorts nor sums up
    order = links.tocsr().data
    ahead, after = first[order], second[order]
    if ((ahead[1:] == ahead[:-1]) & (after[1:] < after[:-1])).any():
        order = np.lexsort((second, first)).astype(np.int32)
    return np.asarray(order)


def _nearest(
    leave: NDArray[Any], arrive: NDArray[Any], distance: NDArray[np.float64], offsets: NDArray[np.int64], most: int
) -> NDArray[np.bool_]:
    """Which transitions to keep: the nearest from each place, and as many more as hold together what they all held.

    What can reach what within a strong component stays as it was: of the transitions left out, those that lead from one
    part of a component to another come back, the nearest for any two parts.

    Args:
        leave: Place that each leaves, ascending; places count through all clips.
        arrive: Place that each arrives at.
        distance: Of each, metres.
        offsets: First place of each clip, and one past the last.
        most: How many to keep from a place.
    """
    first = np.flatnonzero(np.diff(leave, prepend=-1))
    if len(leave) - first[-1] <= most and not (np.diff(first) > most).any():
        return np.ones(len(leave), bool)
    from choreograph.graph import _compiled

    kept = _compiled.nearest_of_each(np.append(first, len(leave)), distance, most)
    places, leave, arrive = number_places(leave, arrive, int(offsets[-1]))
    clip = np.searchsorted(offsets, places, side="right")
    forward = np.flatnonzero(clip[1:] == clip[:-1])
    parts = parts_of_places(len(places), forward, leave[kept], arrive[kept])
    out = np.flatnonzero(~kept)
    out = out[parts[leave[out]] != parts[arrive[out]]]
    # With all of them, parts that were a whole are again: to be found of the parts alone.
    rows = parts[np.concatenate([forward, leave[kept], leave[out]])]
    columns = parts[np.concatenate([forward + 1, arrive[kept], arrive[out]])]
    apart = rows != columns
    whole = strong_parts(int(parts.max()) + 1, rows[apart], columns[apart])
    begin, end = parts[leave[out]].astype(np.int64), parts[arrive[out]].astype(np.int64)
    same = whole[begin] == whole[end]
    out, key = out[same], (begin * len(whole) + end)[same]
    order = np.lexsort((distance[out], key))
    kept[out[order[np.flatnonzero(np.diff(key[order], prepend=-1))]]] = True
    return np.asarray(kept)


def number_places(
    leave: NDArray[Any], arrive: NDArray[Any], count: int
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """The places that are left or arrived at, ascending, and the number among them of each that is."""
    used = np.zeros(count + 1, bool)
    used[leave] = used[arrive] = True
    number = np.cumsum(used, dtype=np.int32) - np.int32(1)
    return np.flatnonzero(used), number[leave], number[arrive]


def parts_of_places(
    count: int, forward: NDArray[Any], leave: NDArray[np.int32], arrive: NDArray[np.int32]
) -> NDArray[np.int32]:
    """The strong component of each of so many places, (count,).

    Args:
        count: How many there are.
        forward: Those after which the next one follows in the same clip.
        leave: Place that each transition leaves, ascending.
        arrive: Place that it arrives at.
    """
    if len(leave) < _MANY:
        return strong_parts(count, np.concatenate([forward, leave]), np.concatenate([forward + 1, arrive]))
    from choreograph.graph import _compiled

    first = np.concatenate([[0], np.cumsum(np.bincount(leave, minlength=count))])
    goes_on = np.zeros(count, bool)
    goes_on[forward] = True
    return np.asarray(_compiled.strong_components(first, arrive, goes_on))


def strong_parts(count: int, rows: NDArray[Any], columns: NDArray[Any]) -> NDArray[np.int32]:
    """The strong component of each of so many points, (count,), that links lead between."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    links = coo_matrix((np.ones(len(rows)), (rows, columns)), shape=(count, count)).tocsr()
    return np.asarray(connected_components(links, directed=True, connection="strong")[1], np.int32)
