"""Walk: the edges of a motion graph that a search chose, and where on the floor the first one begins."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from choreograph.graph.model import MotionGraph
from choreograph.maths.floor import FloorTransform
from choreograph.motion.arrays import frozen


@dataclass(frozen=True, eq=False)
class Walk:
    """A way through a motion graph.

    Edge k shows the frames [start, stop) of its clip (mixed with the target clip's, if it is a transition), laid on the
    floor by `placements` row k. At the graph's rate, frames follow each other without gap or repeat.
    """

    graph: MotionGraph
    edges: NDArray[np.int32]
    """Rows of `graph.edges`, each leaving the node at which the one before it arrived."""
    start: FloorTransform = field(default_factory=FloorTransform)
    """Lays the first edge's clip, as it was recorded, on the floor."""
    frames: int | None = None
    """How many frames at the graph's rate are wanted, if fewer than the edges show."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "edges", frozen(self.edges, np.int32))
        table = self.graph.edges
        if len(self.edges) == 0:
            raise ValueError("a walk needs at least one edge")
        if not np.array_equal(table.target[self.edges[:-1]], table.source[self.edges[1:]]):
            raise ValueError("the edges of a walk must follow one another")
        if self.frames is not None and not 1 <= self.frames <= int(self.edge_frames.sum()):
            raise ValueError(f"the edges show {int(self.edge_frames.sum())} frames; {self.frames} were wanted")

    @cached_property
    def edge_frames(self) -> NDArray[np.int32]:
        """Frames that each edge shows, at the graph's rate, (E,)."""
        table = self.graph.edges
        return frozen(table.stop[self.edges] - table.start[self.edges], np.int32)

    def __len__(self) -> int:
        """Frames at the graph's rate."""
        return int(self.edge_frames.sum()) if self.frames is None else self.frames

    @cached_property
    def placements(self) -> FloorTransform:
        """The floor transform of each edge's source clip, as a batch of E.

        Each is the product of all transitions before it. In double precision ten thousand of them stay within a
        billionth of a metre of the exact product, so nothing is re-anchored.
        """
        table = self.graph.edges
        yaw, x, z = np.empty((3, len(self.edges)))
        here = self.start
        for k, edge in enumerate(self.edges):
            yaw[k], x[k], z[k] = here.yaw, here.x, here.z
            here = here @ table.transform(int(edge))
        return FloorTransform(yaw, x, z)
