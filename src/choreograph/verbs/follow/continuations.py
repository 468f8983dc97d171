"""The continuations of every node: what walks are compared by.

A continuation is a real walk of a second or so: one for every way of turning that the graph offers at the node, each
with the fewest transitions. The beam asks which of them keeps nearest to the path.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from choreograph.base.arrays import Floats, Ints, seal
from choreograph.graph.cache import Content, find_key, find_or_build
from choreograph.graph.model import MotionGraph
from choreograph.graph.tables import TRANSITION
from choreograph.verbs.follow.edge_rows import turned_since

METHOD = 1
"""One more whenever the same graph would give other continuations."""
MOMENTS = 4
"""Moments at which the root's place on a continuation is known."""
TURN_BINS = 7
"""Classes of turn in each half of a continuation, an odd number; the outermost are open."""
MOST_CONTINUATIONS = TURN_BINS**2
"""Of one node."""
TURN_BIN_RAD = np.radians(30.0)
"""Width of a class: a corner of a path is met by one, a bend by another."""


class Continuations(NamedTuple):
    """The continuations of all nodes, one node's after another's."""

    first: Ints
    """Each node's first continuation, (N + 1,)."""
    places: Floats
    """x, z and length at the moments of each one, (W, MOMENTS, 3), in coordinates of the node's clip, metres."""
    changes: Floats
    """Transitions of each one, (W,)."""


class Columns(Protocol):
    """Arrays of one length by their names."""

    def __getitem__(self, name: str) -> NDArray[Any]: ...


def find_continuations(
    graph: MotionGraph, edges: Columns, rows: Columns, begun: Floats, step: int, smooth_s: float
) -> Continuations:
    """The continuations of every node of a graph, read from the cache or built.

    Args:
        graph: The graph.
        edges, rows: What the graph's tables have of all edges and rows.
        begun: Yaw of the hips where each edge begins, (E,), radians.
        step: Frames between the moments at which a way is known.
        smooth_s: Width of the low-pass under which the tables were built.
    """
    key = find_key(
        graph, "continuations", METHOD, ("motion", "edges"), rate_hz=graph.rate_hz, step=step, smooth_s=smooth_s
    )
    return find_or_build(
        key,
        lambda: _build(graph, edges, rows, begun, step),
        lambda continuations: Content({}, continuations._asdict()),
        lambda content: _unpack(content, graph),
    )


def _unpack(content: Content, graph: MotionGraph) -> Continuations:
    """The continuations of an entry; a ValueError where they contradict themselves or the graph."""
    found = Continuations(**content.arrays)
    count = len(found.changes)
    if found.first.shape != (len(graph.nodes) + 1,) or found.places.shape != (count, MOMENTS, 3):
        raise ValueError("the continuations do not fit the graph")
    if found.first[0] != 0 or found.first[-1] != count or (np.diff(found.first) < 0).any():
        raise ValueError("the continuations are out of order")
    return found


def _build(graph: MotionGraph, edges: Columns, rows: Columns, begun: Floats, step: int) -> Continuations:
    from choreograph.verbs.follow import _compiled_continuations

    first, length = edges["first"], edges["length"]
    changes = (graph.edges.kind == TRANSITION).astype(np.int64)
    begin, edge_of, then = _compiled_continuations.find_continuations(
        graph.first_edge.astype(np.int64), first, length, edges["target"], changes,
        turned_since(begun, rows["facing"], first), step * MOMENTS, TURN_BINS, TURN_BIN_RAD,
    )  # fmt: skip
    places, count = _compiled_continuations.lay_ways(
        begin, edge_of, then, first, length, rows["way"], edges["turn"], edges["shift"], changes, step, MOMENTS
    )
    return Continuations(seal(begin - begin[0]), seal(places), seal(count))
