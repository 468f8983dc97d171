"""What paged tables know of every node, and what is known of all edges together: computed once, and kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choreograph.base.arrays import Floats, Ints32, seal
from choreograph.features.root_tracks import RootTracks
from choreograph.graph.model import MotionGraph
from choreograph.verbs.follow.edge_rows import find_rows
from choreograph.verbs.follow.kernel_inputs import recorded_lateral, turns_of
from choreograph.verbs.follow.lazy_continuations import ROW, Frames

_SAMPLE = 20_000
"""Edges by which it is known how sharply recorded people turn."""
_FASTER = 1.25
"""How much longer a step within a blend may be than any recorded one."""


class NodeRows(NamedTuple):
    """What is known of all nodes and edges."""

    place: Ints32
    """See `Net.node`."""
    heading: Floats
    """Direction of travel at each node, (N,)."""
    fastest: float
    """Longest way the root makes in a frame, metres."""
    lengths: tuple[int, int]
    """Frames of the longest edge and of a usual one."""
    lateral: tuple[float, float]
    """Lateral acceleration that recorded walks and runs show, m/s²; by some edges."""

    def facts(self) -> dict[str, Any]:
        """All but the arrays, as plain values."""
        return {"fastest": self.fastest, "lengths": self.lengths, "lateral": self.lateral}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The arrays by their names."""
        return {"place": self.place, "heading": self.heading}

    @staticmethod
    def of(facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], nodes: int, frames: int) -> NodeRows:
        """What an entry of the cache holds; a ValueError where it contradicts itself or the graph."""
        place, heading = arrays["place"], arrays["heading"]
        if place.shape != (nodes, 4) or place.dtype != np.int32 or heading.shape != (nodes,):
            raise ValueError("the nodes are those of another graph")
        if nodes and not 0 <= place.min() <= place.max() < frames:
            raise ValueError("a node lies beyond the frames")
        (longest, usual), (slow, fast) = facts["lengths"], facts["lateral"]
        return NodeRows(
            place, heading, float(facts["fastest"]), (int(longest), int(usual)), (float(slow), float(fast))
        )  # fmt: skip


def find_node_rows(graph: MotionGraph, roots: RootTracks, frames: Frames) -> NodeRows:
    """What is known of the nodes and edges of a graph."""
    edges, clip = graph.edges, graph.nodes.clip
    begin = np.concatenate([[0], np.cumsum(graph.clip_frames.astype(np.int64))])
    row = np.minimum(begin[clip] + graph.nodes.frame, begin[clip + 1] - 1)
    ends = np.searchsorted(clip, np.arange(len(graph.infos)), side="right") - 1
    place = seal(np.stack([row, begin[clip], begin[clip + 1] - 1, row[ends[clip]]], axis=1).astype(np.int32))
    heading = seal(frames.heading[row])
    steps = np.diff(frames.way[:, 2])
    length = edges.stop - edges.start
    some = np.arange(0, len(edges), len(edges) // _SAMPLE + 1)
    rows = find_rows(roots, graph, some)
    way = np.add.reduceat(rows.step, rows.first)
    turns = turns_of(graph, some, frames.way, place[:, ROW], heading)
    return NodeRows(
        place,
        heading,
        fastest=_FASTER * float(np.where(steps > 0, steps, 0.0).max(initial=1e-6)),
        lengths=(int(length.max(initial=1)), int(np.median(length)) if len(length) else 1),
        lateral=recorded_lateral(way, rows.length / graph.rate_hz, turns[:, 3]),
    )
