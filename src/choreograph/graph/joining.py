"""Nodes and edges of very many transitions: counted, not sorted, and columns of edges made when they are asked for.

An edge is kept as the minimum that it is of and the nodes that it leads between, 12 bytes instead of 61: whoever writes
the columns to a file one after another never has them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choreograph.base.arrays import Flags, Floats, Ints, Ints32, seal
from choreograph.base.floor import FloorTransform
from choreograph.graph.tables import SEGMENT, TRANSITION, Edges, Minima, Nodes, Table
from choreograph.graph.transitions import Chosen, strong_places

_NOTHING = np.int32(-(2**31))
"""What a segment has in place of a minimum."""
_AT_ONCE = 1 << 16
"""Edges that are turned round at a time."""


class JoinedEdges:
    """Edges, column by column."""

    def __init__(self, minima: Minima, nodes: Nodes, rows: tuple[Ints32, ...], window: int) -> None:
        """Take minima, nodes, and of each edge the minimum n, or ~n if it leads from b to a, its source and target."""
        self._minima, self._nodes, self._window = minima, nodes, window
        self._row, self._source, self._target = rows

    def __len__(self) -> int:
        """How many edges there are."""
        return len(self._row)

    def table(self) -> Edges:
        """All columns."""
        return Edges(
            **{name: seal(column) for name, column in self._columns(lambda _, dtype: np.empty(len(self), dtype))}
        )

    def columns(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """The columns of `Edges` with their names; each holds until the next one is asked for."""
        rooms: dict[int, Floats] = {}

        def room(number: int, dtype: type) -> NDArray[Any]:
            if number not in rooms:
                rooms[number] = np.empty(len(self))
            return rooms[number].view(dtype)[: len(self)]

        return self._columns(room)

    def _columns(self, room: Callable[[int, type], NDArray[Any]]) -> Iterator[tuple[str, NDArray[Any]]]:
        """The columns, each made in one of three rooms."""
        from choreograph.graph import _compiled_join

        nodes, source, target, window = self._nodes, self._source, self._target, np.int32(self._window)
        yield "source", source
        yield "target", target
        blends = self._row != _NOTHING
        kind = room(0, np.int8)
        kind[:] = blends
        kind *= np.int8(TRANSITION - SEGMENT)
        kind += np.int8(SEGMENT)
        yield "kind", kind
        for name, of, end in (("clip", nodes.clip, source), ("start", nodes.frame, source)):
            yield name, np.take(of, end, out=room(0, np.int32), mode="clip")
        stop = room(0, np.int32)
        np.take(nodes.frame, source, out=stop, mode="clip")
        stop += window
        yield "stop", _replace(stop, nodes.frame, target, blends)
        yield "target_clip", np.take(nodes.clip, target, out=room(0, np.int32), mode="clip")
        start = room(0, np.int32)
        np.take(nodes.frame, target, out=start, mode="clip")
        start -= window
        yield "target_start", _replace(start, nodes.frame, source, blends)
        names = "yaw", "x", "z"
        turned = [room(number, np.float64) for number in range(3)]
        _compiled_join.pick_rows(self._row, _NOTHING, self._minima.distance_m, turned[0])
        yield "distance_m", turned[0]
        turned = [room(number, np.float64) for number in range(3)]
        for name, column in zip(names, turned, strict=True):
            _compiled_join.pick_rows(self._row, _NOTHING, getattr(self._minima, name), column)
        self._turn(turned)
        yield from zip(names, turned, strict=True)

    def _turn(self, transforms: list[Floats]) -> None:
        """Yaw, x and z of transitions from b to a the other way."""
        for begin in range(0, len(self._row), _AT_ONCE):
            own = self._row[begin : begin + _AT_ONCE]
            back = begin + np.flatnonzero((own < 0) & (own != _NOTHING))
            turned = FloorTransform(*(column[back] for column in transforms)).inverse()
            for column, values in zip(transforms, (turned.yaw, turned.x, turned.z), strict=True):
                column[back] = values


def _replace(column: Ints32, values: Ints32, rows: Ints32, stays: Flags) -> Ints32:
    """A column, with rows of other values in it where it does not stay."""
    other = np.flatnonzero(~stays)
    column[other] = values[rows[other]]
    return column


class JoinedTables(Mapping[str, Table]):
    """Tables of a graph whose edges are made when somebody asks for them."""

    def __init__(self, tables: Mapping[str, Table], edges: JoinedEdges) -> None:
        self._kept, self._edges = dict(tables), edges

    def __contains__(self, part: object) -> bool:
        """Whether there is a table of this name, which need not be made for that."""
        return part == "edges" or part in self._kept

    def __iter__(self) -> Iterator[str]:
        return iter([*(part for part in self._kept if part != "edges"), "edges"])

    def __len__(self) -> int:
        """Number of tables."""
        return len({*self._kept, "edges"})

    def __getitem__(self, part: str) -> Table:
        """The table of this name."""
        if part == "edges" and part not in self._kept:
            self._kept[part] = self._edges.table()
        return self._kept[part]

    def count(self, part: str) -> int:
        """Rows of a table."""
        return len(self._edges) if part == "edges" else len(self._kept[part])

    def iterate(self, part: str) -> Iterator[tuple[str, NDArray[Any]]]:
        """Columns of a table with their names; one of edges holds until the next is asked for."""
        if part == "edges" and part not in self._kept:
            return self._edges.columns()
        return iter(self._kept[part].columns().items())


class Joined(NamedTuple):
    """The largest strong component of very many transitions."""

    nodes: Nodes
    edges: JoinedEdges
    recorded: Ints
    """Frames of each clip that can be shown as they were recorded, (C,)."""
    shown: Ints
    """Frames of each clip that can be shown, as recorded or within a blend, (C,)."""


def join_many(transitions: Chosen, clip_frames: Ints32) -> Joined:
    """The same as cutting clips, keeping the largest component and counting its frames, without a table of anything."""
    from choreograph.graph import _compiled_join

    offsets = np.concatenate([[0], np.cumsum(clip_frames, dtype=np.int64)])
    first, row, arrive = transitions.first, transitions.row, transitions.arrive(offsets)
    goes_on = np.ones(len(first) - 1, bool)
    goes_on[offsets[1:] - 1] = False
    part = transitions.part if transitions.part is not None else strong_places(first, arrive, goes_on)
    size = _compiled_join.sizes_of_parts(first, arrive, part, goes_on)
    inside = part == size.argmax() if size.any() else np.zeros(len(part), bool)
    left, reached, count = _compiled_join.mark_inside(first, arrive, inside)
    used = left | reached
    places = np.flatnonzero(used)
    clip = (np.searchsorted(offsets, places, side="right") - 1).astype(np.int32)
    nodes = Nodes(clip=seal(clip), frame=seal((places - offsets[clip]).astype(np.int32)))
    follows = np.zeros(len(places), bool)
    follows[:-1] = clip[1:] == clip[:-1]
    rows = tuple(np.empty(count + int(np.count_nonzero(follows)), np.int32) for _ in range(3))
    number = np.cumsum(used, dtype=np.int32) - np.int32(1)
    _compiled_join.fill_edges(first, row, arrive, inside, places, number, follows, _NOTHING, *rows)
    window = transitions.window
    edges = JoinedEdges(transitions.minima, nodes, rows, window)
    # Frames between nodes, of blends that leave and of those that arrive.
    segments = places[np.flatnonzero(follows)], places[np.flatnonzero(follows) + 1]
    leave, enter = np.flatnonzero(left), np.flatnonzero(reached) - window
    recorded = _frames_within(offsets, [segments])
    return Joined(
        nodes, edges, recorded, _frames_within(offsets, [segments, (leave, leave + window), (enter, enter + window)])
    )


def _frames_within(offsets: Ints, ranges: list[tuple[Ints, Ints]]) -> Ints:
    """How many frames of each clip lie in one of the ranges of places [start, stop), (C,)."""
    count = int(offsets[-1]) + 1
    steps = np.zeros(count, np.int64)
    for start, stop in ranges:
        steps += np.bincount(start, minlength=count) - np.bincount(stop, minlength=count)
    before = np.concatenate([[0], np.cumsum(np.cumsum(steps[:-1]) > 0)])
    return np.asarray(np.diff(before[offsets]))
