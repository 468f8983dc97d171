"""From local minima to transitions, in their order, as many as are to be kept: also of many millions, in seconds."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choreograph.base.arrays import Flags, Floats, Indices, Ints, Ints32, seal
from choreograph.base.floor import FloorTransform
from choreograph.graph.tables import Minima, Transitions

_MANY = 1 << 18
"""Transitions from which on places are grouped by a compiled kernel, which need not put them into a matrix first."""

_AT_ONCE = 1 << 16
"""Minima that are turned round at a time: of many millions, what comes between would take as much memory as they do."""


class Chosen:
    """Transitions as rows of the minima that they are of, see `leave_places`.

    Each column is made when it is asked for, since all columns of many millions would take more memory than the graph.

    Attributes:
        minima: All of them.
        first: Where the transitions of each place begin, and their end, (frames of all clips + 1,).
        row: Of each transition, its minimum.
        window: Frames of a blend.
        part: Strong component of each place, where it is known, (frames of all clips,).
    """

    def __init__(
        self,
        minima: Minima,
        first: Ints,
        row: Ints32,
        window: int,
        known: tuple[Ints32 | None, Ints32 | None] = (None, None),
    ) -> None:
        """Take attributes, and where known the places that transitions arrive at and the parts of all places."""
        self.minima, self.first, self.row, self.window = minima, first, row, window
        self._arrive, self.part = known

    def __len__(self) -> int:
        """How many there are."""
        return len(self.row)

    @property
    def are_many(self) -> bool:
        """Whether there are so many that kernels take them."""
        return len(self) >= _MANY

    def arrive(self, offsets: Ints) -> Ints32:
        """The places that they arrive at, counted through all clips."""
        return self.places(offsets)[1] if self._arrive is None else self._arrive

    def table(self) -> Transitions:
        """All columns of all of them."""
        return Transitions(**{name: seal(self.column(name)) for name in Transitions.dtypes})

    def places(self, offsets: Ints) -> tuple[Ints32, Ints32]:
        """The places that they leave and arrive at, counted through all clips."""
        minima = self.minima
        columns = minima.clip_a, minima.frame_a, minima.clip_b, minima.frame_b
        if len(self) < _MANY:
            a, b = offsets[minima.clip_a] + minima.frame_a, offsets[minima.clip_b] + minima.frame_b
            leave, enter = self._pick(a, b), self._pick(b, a)
            return leave.astype(np.int32), (enter + self.window).astype(np.int32)
        from choreograph.graph import _compiled

        ends = np.empty(len(self), np.int32), np.empty(len(self), np.int32)
        _compiled.end_places(self.row, *columns, offsets, self.window, *ends)
        return ends

    def column(self, name: str) -> NDArray[Any]:
        """A column of `Transitions`."""
        minima, dtype = self.minima, Transitions.dtypes[name]
        if name == "frames":
            return np.full(len(self), self.window, dtype)
        if name == "arrive_frame":
            return np.asarray(self.column("target_frame") + dtype(self.window))
        if name == "distance_m":
            return self._pick(minima.distance_m, minima.distance_m)
        if name in ("yaw", "x", "z"):
            return self._pick(getattr(minima, name), self._other_way[name])
        side, _, part = name.partition("_")
        a, b = getattr(minima, f"{part}_a"), getattr(minima, f"{part}_b")
        return self._pick(a, b) if side == "source" else self._pick(b, a)

    @cached_property
    def _other_way(self) -> dict[str, Floats]:
        """Yaw, x and z of all minima the other way."""
        count = len(self.minima)
        columns = {name: np.empty(count) for name in ("yaw", "x", "z")}
        for start in range(0, count, _AT_ONCE):
            here = slice(start, start + _AT_ONCE)
            back = FloorTransform(*(getattr(self.minima, name)[here] for name in columns)).inverse()
            for name, column in columns.items():
                column[here] = getattr(back, name)
        return columns

    def _pick(self, forward: NDArray[Any], backward: NDArray[Any]) -> NDArray[Any]:
        """Of each transition, its minimum's value in one column, or in another if it leads from b to a."""
        if len(self) < _MANY:
            back = self.row < 0
            row = np.where(back, ~self.row, self.row)
            return np.where(back, backward[row], forward[row])
        from choreograph.graph import _compiled

        column = np.empty(len(self), forward.dtype)
        _compiled.pick(self.row, forward, backward, column)
        return column


def find_transitions(minima: Minima, clip_frames: Ints32, window: int, most: int = 0) -> Chosen:
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
        return _nearest(first, row, minima, clip_frames, window, most)
    return Chosen(minima, first, row, window)


def leave_places(minima: Minima, clip_frames: Ints32, window: int) -> tuple[Ints, Ints32]:
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
    clip_a: Ints32,
    frame_a: Ints32,
    clip_b: Ints32,
    frame_b: Ints32,
    offsets: Ints,
    window: int,
) -> tuple[Ints, Ints32]:
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
    first: Ints,
    row: Ints32,
    minima: Minima,
    clip_frames: Ints32,
    window: int,
    most: int,
) -> Chosen:
    """The nearest transitions from each place, and as many more as hold together what they all held.

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
    from choreograph.graph import _compiled, _compiled_join

    offsets = np.concatenate([[0], np.cumsum(clip_frames, dtype=np.int64)])
    columns = minima.clip_a, minima.frame_a, minima.clip_b, minima.frame_b
    nearest = _compiled.nearest_of_each(first, row, minima.distance_m, most)
    arrive = np.empty(len(row), np.int32)
    _compiled.arrive_places(row, *columns, offsets, window, arrive)
    goes_on = np.ones(len(first) - 1, bool)
    goes_on[offsets[1:] - 1] = False
    begin, ahead = _compiled_join.keep_rows(first, arrive, nearest)
    parts = _compiled.strong_components(begin, ahead, goes_on)
    out, leave = _compiled.left_out_between(first, nearest, parts, arrive)
    # With all of them, parts that were a whole are again: to be found of the parts alone.
    start, stop = parts[leave].astype(np.int64), parts[arrive[out]].astype(np.int64)
    rows, columns_ = _compiled.links_between(parts, begin, ahead, goes_on)
    whole = _strong_links(int(parts.max()) + 1, np.concatenate([rows, start]), np.concatenate([columns_, stop]))
    same = whole[start] == whole[stop]
    out, key = out[same], (start * len(whole) + stop)[same]
    numbers = row[out]
    distance = minima.distance_m[np.where(numbers < 0, ~numbers, numbers)]
    order = np.lexsort((distance, key))
    back = out[order[np.flatnonzero(np.diff(key[order], prepend=-1))]]
    if len(back):
        nearest[back] = True
        begin, ahead = _compiled_join.keep_rows(first, arrive, nearest)
    return Chosen(minima, begin, _compiled_join.keep_rows(first, row, nearest)[1], window, (ahead, whole[parts]))


def strong_places(first: Ints, arrive: Ints32, goes_on: Flags) -> Ints32:
    """The strong component of each place, of very many; see the kernel."""
    from choreograph.graph import _compiled

    return np.asarray(_compiled.strong_components(first, arrive, goes_on))


def _strong_links(count: int, rows: NDArray[Any], columns: NDArray[Any]) -> Ints32:
    """The strong component of each of so many points, (count,), that links lead between, by the kernel for places."""
    first = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=count))])
    target = columns[np.argsort(rows, kind="stable")].astype(np.int32)
    return strong_places(first, target, np.zeros(count, bool))


def number_places(leave: NDArray[Any], arrive: NDArray[Any], count: int) -> tuple[Ints, Ints32, Ints32]:
    """The places that are left or arrived at, ascending, and the number among them of each that is."""
    used = np.zeros(count + 1, bool)
    used[leave] = used[arrive] = True
    number = np.cumsum(used, dtype=np.int32) - np.int32(1)
    return np.flatnonzero(used), number[leave], number[arrive]


def count_places(offsets: Ints, clip: Ints32, frame: Ints32) -> Ints:
    """How many of the frames of clips lie at each place, (offsets[-1] + 1,); a clip's places begin at its offset."""
    if len(clip) < _MANY:
        return np.bincount(offsets[clip] + frame, minlength=int(offsets[-1]) + 1)
    from choreograph.graph import _compiled

    return np.asarray(_compiled.count_places(offsets, clip, frame))


def interleave(second: Flags, one: NDArray[Any], other: NDArray[Any], rows: Indices) -> NDArray[Any]:
    """A column of which some values are of one column, in their order, and the others are rows of another.

    Args:
        second: Whether each value is of the other column.
        one: As many values as are not.
        other: A column that has these rows.
        rows: As many as are of it.
    """
    column = np.empty(len(second), other.dtype)
    if len(second) < _MANY:
        column[~second], column[second] = one, other[rows]
        return column
    from choreograph.graph import _compiled

    _compiled.interleave(second, one, other, rows, column)
    return column


def parts_of_places(count: int, forward: NDArray[Any], leave: Ints32, arrive: Ints32) -> Ints32:
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


def strong_parts(count: int, rows: NDArray[Any], columns: NDArray[Any]) -> Ints32:
    """The strong component of each of so many points, (count,), that links lead between."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    links = coo_matrix((np.ones(len(rows)), (rows, columns)), shape=(count, count)).tocsr()
    return np.asarray(connected_components(links, directed=True, connection="strong")[1], np.int32)
