"""Nodes and edges of very many transitions: counted, not sorted, and columns of edges made when they are asked for.

An edge is kept as the minimum that it is of and the nodes that it leads between, 12 bytes instead of 61: whoever writes
the columns to a file one after another never has them all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choreograph.graph.tables import SEGMENT, TRANSITION, Edges, Minima, Nodes, Table
from choreograph.graph.transitions import Chosen, strong_places
from choreograph.maths.floor import FloorTransform
from choreograph.motion.arrays import seal

_NOTHING = np.int32(-(2**31))
"""What a segment has in place of a minimum."""
_AT_ONCE = 1 << 16
"""Edges that are turned round at a time."""


class EdgeColumns:
    """Edges, column by column."""

    def __init__(self, minima: Minima, nodes: Nodes, rows: tuple[NDArray[np.int32], ...], window: int) -> None:
        """Take minima, nodes, and of each edge the minimum n, or ~n if it leads from b to a, its source and target."""
        self._minima, self._nodes, self._window = minima, nodes, window
        self._row, self._source, self._target = rows

    def __len__(self) -> int:
        """How many edges there are."""
        return len(self._row)

    def table(self) -> Edges:
        """All columns."""
        return Edges(**dict(self.columns()))

    def columns(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """The columns of `Edges` with their names; few of them are in memory at a time."""
        nodes, source, target = self._nodes, self._source, self._target
        yield "source", seal(source)
        yield "target", seal(target)
        blends = self._row != _NOTHING
        yield "kind", seal(np.where(blends, np.int8(TRANSITION), np.int8(SEGMENT)))
        yield "clip", seal(nodes.clip[source])
        start = nodes.frame[source]
        yield "start", seal(start)
        arrive, window = nodes.frame[target], np.int32(self._window)
        yield "stop", seal(np.where(blends, start + window, arrive))
        yield "target_clip", seal(nodes.clip[target])
        yield "target_start", seal(np.where(blends, arrive - window, start))
        del start, arrive, blends
        yield "distance_m", seal(self._picked(self._minima.distance_m))
        yield from self._transforms().items()

    def _picked(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        from choreograph.graph import _compiled_join

        made = np.empty(len(self._row), values.dtype)
        _compiled_join.pick_rows(self._row, _NOTHING, values, made)
        return made

    def _transforms(self) -> dict[str, NDArray[np.float64]]:
        """Yaw, x and z, of transitions from b to a the other way."""
        made = {name: self._picked(getattr(self._minima, name)) for name in ("yaw", "x", "z")}
        for begin in range(0, len(self._row), _AT_ONCE):
            own = self._row[begin : begin + _AT_ONCE]
            back = begin + np.flatnonzero((own < 0) & (own != _NOTHING))
            turned = FloorTransform(*(column[back] for column in made.values())).inverse()
            for name, column in made.items():
                column[back] = getattr(turned, name)
        return {name: seal(column) for name, column in made.items()}


class JoinedTables(Mapping[str, Table]):
    """Tables of a graph whose edges are made when somebody asks for them."""

    def __init__(self, tables: Mapping[str, Table], edges: EdgeColumns) -> None:
        self._kept, self._edges = dict(tables), edges

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
        """Columns of a table with their names; those of edges are not kept."""
        if part == "edges" and part not in self._kept:
            return self._edges.columns()
        return iter(self._kept[part].columns().items())


class Joined(NamedTuple):
    """The largest strong component of very many transitions."""

    nodes: Nodes
    edges: EdgeColumns
    recorded: NDArray[np.int64]
    """Frames of each clip that can be shown as they were recorded, (C,)."""
    shown: NDArray[np.int64]
    """Frames of each clip that can be shown, as recorded or within a blend, (C,)."""


def join_many(transitions: Chosen, clip_frames: NDArray[np.int32]) -> Joined:
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
    edges = EdgeColumns(transitions.minima, nodes, rows, window)
    # Frames between nodes, of blends that leave and of those that arrive.
    segments = places[np.flatnonzero(follows)], places[np.flatnonzero(follows) + 1]
    leave, enter = np.flatnonzero(left), np.flatnonzero(reached) - window
    recorded = _frames_within(offsets, [segments])
    return Joined(
        nodes, edges, recorded, _frames_within(offsets, [segments, (leave, leave + window), (enter, enter + window)])
    )


def _frames_within(
    offsets: NDArray[np.int64], ranges: list[tuple[NDArray[np.int64], NDArray[np.int64]]]
) -> NDArray[np.int64]:
    """How many frames of each clip lie in one of the ranges of places [start, stop), (C,)."""
    count = int(offsets[-1]) + 1
    steps = np.zeros(count, np.int64)
    for start, stop in ranges:
        steps += np.bincount(start, minlength=count) - np.bincount(stop, minlength=count)
    before = np.concatenate([[0], np.cumsum(np.cumsum(steps[:-1]) > 0)])
    return np.asarray(np.diff(before[offsets]))
