"""The ways on from every node: what walks are compared by.

From each node a few real walks of a second or so lead on: one for every way of turning that the graph offers there,
that with the fewest transitions. The beam asks which of them keeps nearest to the path.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from choreograph.graph.model import TRANSITION, MotionGraph
from choreograph.motion.arrays import seal

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOMENTS = 4
"""Moments at which the root's place on a way is known."""
TURN_BINS = 7
"""Classes of turn in each half of a way, an odd number; the outermost are open."""
TURN_BIN_RAD = np.radians(30.0)
"""Width of a class: a corner of a path is met by one, a bend by another."""


class Continuations(NamedTuple):
    """The ways on from all nodes, one node's after another's."""

    first: Ints
    """Each node's first way, (N + 1,)."""
    places: Floats
    """x, z and way made at the moments of each way, (W, MOMENTS, 3), in coordinates of the node's clip, metres."""
    changes: Floats
    """Transitions of each way, (W,)."""


def no_continuations(graph: MotionGraph) -> Continuations:
    """For searches that do not look ahead."""
    return Continuations(
        seal(np.zeros(len(graph.nodes) + 1, np.int64)), seal(np.zeros((0, MOMENTS, 3))), seal(np.zeros(0))
    )


def find_continuations(
    graph: MotionGraph, first: Ints, length: Ints, way: Floats, turned: Floats, step: int
) -> Continuations:
    """The ways on from every node of a graph.

    Args:
        graph: The graph.
        first, length: Rows of each edge, (E,).
        way: x, z and way made of each row, (R, 3).
        turned: How far the hips have turned in each row since its edge began, (R,), radians.
        step: Frames between the moments at which a way is known.
    """
    from choreograph.synthesis.follow import _compiled_continuations

    edges = graph.edges
    changes = (edges.kind == TRANSITION).astype(np.int64)
    begin, edge_of, then = _compiled_continuations.find_continuations(
        graph.first_edge.astype(np.int64), first, length, edges.target.astype(np.int64), changes,
        turned, step * MOMENTS, TURN_BINS, TURN_BIN_RAD,
    )  # fmt: skip
    turn, shift = np.stack([np.cos(edges.yaw), np.sin(edges.yaw)], axis=1), np.stack([edges.x, edges.z], axis=1)
    places, count = _compiled_continuations.lay_ways(
        begin, edge_of, then, first, length, way, turn, shift, changes, step, MOMENTS
    )
    return Continuations(seal(begin - begin[0]), seal(places), seal(count))
