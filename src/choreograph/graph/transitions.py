"""From local minima to transitions, in their order, as many as are to be kept: also of many millions, in seconds."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choreograph.graph.tables import Minima, Transitions
from choreograph.maths.floor import FloorTransform
from choreograph.motion.arrays import seal

_MANY = 1 << 18
"""Transitions from which on places are grouped by a compiled kernel, which need not put them into a matrix first."""

_AT_ONCE = 1 << 16
"""Minima that are turned round at a time: of many millions, what comes between would take as much memory as they do."""


class Chosen:
    """Transitions as rows of the minima that they are of, see `leave_places`.

    Each column is made when it is asked for, since all columns of many millions would take more memory than the graph.
    """

    def __init__(self, minima: Minima, row: NDArray[np.int32], window: int) -> None:
        self._minima, self._row, self._window = minima, row, window

    def __len__(self) -> int:
        """How many there are."""
        return len(self._row)

    def table(self) -> Transitions:
        """All columns of all of them."""
        return Transitions(**{name: seal(self.column(name)) for name in Transitions.dtypes})

    def places(self, offsets: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The places that they leave and arrive at, counted through all clips."""
        minima = self._minima
        columns = minima.clip_a, minima.frame_a, minima.clip_b, minima.frame_b
        if len(self) < _MANY:
            a, b = offsets[minima.clip_a] + minima.frame_a, offsets[minima.clip_b] + minima.frame_b
            leave, enter = self._pick(a, b), self._pick(b, a)
            return leave.astype(np.int32), (enter + self._window).astype(np.int32)
        from choreograph.graph import _compiled

        ends = np.empty(len(self), np.int32), np.empty(len(self), np.int32)
        _compiled.end_places(self._row, *columns, offsets, self._window, *ends)
        return ends

    def column(self, name: str) -> NDArray[Any]:
        """A column of `Transitions`."""
        minima, dtype = self._minima, Transitions.dtypes[name]
        if name == "frames":
            return np.full(len(self), self._window, dtype)
        if name == "arrive_frame":
            return np.asarray(self.column("target_frame") + dtype(self._window))
        if name == "distance_m":
            return self._pick(minima.distance_m, minima.distance_m)
        if name in ("yaw", "x", "z"):
            return self._pick(getattr(minima, name), self._other_way[name])
        side, _, part = name.partition("_")
        a, b = getattr(minima, f"{part}_a"), getattr(minima, f"{part}_b")
        return self._pick(a, b) if side == "source" else self._pick(b, a)

    @cached_property
    def _other_way(self) -> dict[str, NDArray[np.float64]]:
        """Yaw, x and z of all minima the other way."""
        count = len(self._minima)
        made = {name: np.empty(count) for name in ("yaw", "x", "z")}
        for start in range(0, count, _AT_ONCE):
            here = slice(start, start + _AT_ONCE)
            back = FloorTransform(*(getattr(self._minima, name)[here] for name in made)).inverse()
            for name, column in made.items():
                column[here] = getattr(back, name)
        return made

    def _pick(self, forward: NDArray[Any], backward: NDArray[Any]) -> NDArray[Any]:
        """Of each transition, its minimum's value in one column, or in another if it leads from b to a."""
        if len(self) < _MANY:
            back = self._row < 0
            row = np.where(back, ~self._row, self._row)
            return np.where(back, backward[row], forward[row])
        from choreograph.graph import _compiled

        made = np.empty(len(self), forward.dtype)
        _compiled.pick(self._row, forward, backward, made)
        return made


def find_transitions(minima: Minima, clip_frames: NDArray[np.int32], window: int, most: int = 0) -> Chosen:
    """Both transitions of every minimum, by source clip, source frame, target clip and target frame.

    Left out are those after which no whole window is left in the target: they lead nowhere.

    Args:
        minima: In their order.
        clip_frames: Frames of each clip.
        window: Frames of a blend.
        most: How many to keep from a place, the nearest ones, and as many more as hold together what they all held; 0
            for all.
    """
    first, row = leave_places(minima, clip_frames, window)
    if most and (np.diff(first) > most).any():
        row = row[_nearest(first, row, minima, clip_frames, window, most)]
    return Chosen(minima, row, window)


def leave_places(
    minima: Minima, clip_frames: NDArray[np.int32], window: int
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Transitions by the place that they leave, then by the one that they enter; places count through all clips.

    Returns:
        Where each place's begin, and their end, (frames of all clips + 1,); of each transition, the minimum n that it
        is of if it leads from a to b, and ~n if from b to a.
    """
    offsets = np.concatenate([[0], np.cumsum(clip_frames, dtype=np.int64)])
    columns = minima.clip_a, minima.frame_a, minima.clip_b, minima.frame_b
    if len(minima) < _MANY:
        return leave_places_numpy(*columns, offsets, window)
    from choreograph.graph import _compiled

    first, row = _compiled.leave_places(*columns, offsets, window)
    return first, row


def leave_places_numpy(
    clip_a: NDArray[np.int32],
    frame_a: NDArray[np.int32],
    clip_b: NDArray[np.int32],
    frame_b: NDArray[np.int32],
    offsets: NDArray[np.int64],
    window: int,
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """See `leave_places`."""
    at_a, at_b = offsets[clip_a] + frame_a, offsets[clip_b] + frame_b
    forward = np.flatnonzero(at_b + 2 * window <= offsets[clip_b + 1])
    backward = np.flatnonzero(at_a + 2 * window <= offsets[clip_a + 1])
    leave = np.concatenate([at_a[forward], at_b[backward]])
    enter = np.concatenate([at_b[forward], at_a[backward]])
    row = np.concatenate([forward, ~backward]).astype(np.int32)
    first = np.searchsorted(np.sort(leave), np.arange(offsets[-1] + 1))
    return first.astype(np.int64), row[np.lexsort((enter, leave))]


def _nearest(
    first: NDArray[np.int64],
    row: NDArray[np.int32],
    minima: Minima,
    clip_frames: NDArray[np.int32],
    window: int,
    most: int,
) -> NDArray[np.bool_]:
    """Which transitions to keep: the nearest from each place, and as many more as hold together what they all held.

    What can reach what within a strong component stays as it was: of the transitions left out, those that lead from one
    part of a component to another come back, the nearest for any two parts.

    Args:
        first: As given by `leave_places`.
        row: As given by `leave_places`.
        minima: All of them.
        clip_frames: Frames of each clip.
        window: Frames of a blend.
        most: How many to keep from a place.
    """
    from choreograph.graph import _compiled

    offsets = np.concatenate([[0], np.cumsum(clip_frames, dtype=np.int64)])
    columns = minima.clip_a, minima.frame_a, minima.clip_b, minima.frame_b
    kept = _compiled.nearest_of_each(first, row, minima.distance_m, most)
    arrive = np.empty(len(row), np.int32)
    _compiled.end_places(row, *columns, offsets, window, np.empty_like(arrive), arrive)
    goes_on = np.ones(len(first) - 1, bool)
    goes_on[offsets[1:] - 1] = False
    before = np.zeros(len(kept) + 1, np.int32)
    np.cumsum(kept, dtype=np.int32, out=before[1:])
    before = before[first].astype(np.int64)
    parts = _compiled.strong_components(before, arrive[kept], goes_on)
    out, leave = _compiled.left_out_between(first, kept, parts, arrive)
    # With all of them, parts that were a whole are again: to be found of the parts alone.
    begin, end = parts[leave].astype(np.int64), parts[arrive[out]].astype(np.int64)
    rows, columns_ = _compiled.links_between(parts, before, arrive[kept], goes_on)
    whole = strong_parts(int(parts.max()) + 1, np.concatenate([rows, begin]), np.concatenate([columns_, end]))
    same = whole[begin] == whole[end]
    out, key = out[same], (begin * len(whole) + end)[same]
    numbers = row[out]
    distance = minima.distance_m[np.where(numbers < 0, ~numbers, numbers)]
    order = np.lexsort((distance, key))
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


def count_places(offsets: NDArray[np.int64], clip: NDArray[np.int32], frame: NDArray[np.int32]) -> NDArray[np.int64]:
    """How many of the frames of clips lie at each place, (offsets[-1] + 1,); a clip's places begin at its offset."""
    if len(clip) < _MANY:
        return np.bincount(offsets[clip] + frame, minlength=int(offsets[-1]) + 1)
    from choreograph.graph import _compiled

    return np.asarray(_compiled.count_places(offsets, clip, frame))


def interleave(
    second: NDArray[np.bool_], one: NDArray[Any], other: NDArray[Any], rows: NDArray[np.intp]
) -> NDArray[Any]:
    """A column of which some values are of one column, in their order, and the others are rows of another.

    Args:
        second: Whether each value is of the other column.
        one: As many values as are not.
        other: A column that has these rows.
        rows: As many as are of it.
    """
    made = np.empty(len(second), other.dtype)
    if len(second) < _MANY:
        made[~second], made[second] = one, other[rows]
        return made
    from choreograph.graph import _compiled

    _compiled.interleave(second, one, other, rows, made)
    return made


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
