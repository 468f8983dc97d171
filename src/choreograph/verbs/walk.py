"""Walk: the edges of a motion graph that a search chose, and where on the floor the first one begins."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from choreograph.base.arrays import Floats, Ints, Ints32, frozen
from choreograph.base.floor import FloorTransform
from choreograph.graph.model import MotionGraph
from choreograph.graph.tables import TRANSITION
from choreograph.motion.montage import Layer, Montage

if TYPE_CHECKING:
    from choreograph.finishing.settings import FinishSettings


@dataclass(frozen=True, eq=False)
class Walk:
    """A way through a motion graph.

    Edge k shows the frames [start, stop) of its clip (mixed with the target clip's, if it is a transition), laid on the
    floor by `placements` row k. At the graph's rate, frames follow each other without gap or repeat.
    """

    graph: MotionGraph
    edges: Ints32
    """Rows of `graph.edges`, each leaving the node at which the one before it arrived."""
    start: FloorTransform = field(default_factory=FloorTransform)
    """Lays the first edge's clip, as it was recorded, on the floor."""
    frames: int | None = None
    """How many frames at the graph's rate are wanted, if fewer than the edges show."""
    bends: Floats | None = None
    """How each edge is bent: the floor transform, as yaw, x, z, that is done to what comes after it, in coordinates of
    the edge's clip, (E, 3). None for a walk that shows the clips as they were recorded."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "edges", frozen(self.edges, np.int32))
        if self.bends is not None:
            object.__setattr__(self, "bends", frozen(self.bends))
            if self.bends.shape != (len(self.edges), 3):
                raise ValueError(f"{len(self.edges)} edges need as many bends of yaw, x, z, not {self.bends.shape}")
        table = self.graph.edges
        if len(self.edges) == 0:
            raise ValueError("a walk needs at least one edge")
        if not np.array_equal(table.target[self.edges[:-1]], table.source[self.edges[1:]]):
            raise ValueError("the edges of a walk must follow one another")
        if self.frames is not None and not 1 <= self.frames <= int(self.edge_frames.sum()):
            raise ValueError(f"the edges show {int(self.edge_frames.sum())} frames; {self.frames} were wanted")

    @cached_property
    def edge_frames(self) -> Ints32:
        """Frames that each edge shows, at the graph's rate, (E,)."""
        table = self.graph.edges
        return frozen(table.stop[self.edges] - table.start[self.edges], np.int32)

    def __len__(self) -> int:
        """Frames at the graph's rate."""
        return int(self.edge_frames.sum()) if self.frames is None else self.frames

    @cached_property
    def placements(self) -> FloorTransform:
        """The floor transform of each edge's source clip, as a batch of E.

        Each is the product of all transitions and bends before it. In double precision ten thousand of them stay within
        a billionth of a metre of the exact product, so nothing is re-anchored.
        """
        return self._lay(self.bends)

    @cached_property
    def unbent(self) -> FloorTransform:
        """The placements that the walk would have without its bends, as a batch of E."""
        return self.placements if self.bends is None else self._lay(None)

    def _lay(self, bends: Floats | None) -> FloorTransform:
        table = self.graph.edges
        yaw, x, z = np.empty((3, len(self.edges)))
        here = self.start
        for k, edge in enumerate(self.edges):
            yaw[k], x[k], z[k] = here.yaw, here.x, here.z
            if bends is not None:
                here = here @ FloorTransform(*(float(value) for value in bends[k]))
            here = here @ table.transform(int(edge))
        return FloorTransform(yaw, x, z)

    def as_montage(self, settings: FinishSettings | None = None) -> Montage:
        """The walk as layers: the clips that its edges show, and over each transition the clip that it enters.

        A walk counts frames at the graph's rate R. Output frame i shows the walk at graph frame i * R / rate, so at
        30 Hz and 120 frames per second every graph frame becomes four recorded ones, and a blend of ten frames mixes
        forty.

        Args:
            settings: The output's rate, and how transitions are blended.
        """
        from choreograph.finishing.blend import blend_share, group_weights, joint_exponents
        from choreograph.finishing.settings import FinishSettings

        settings = settings or FinishSettings()
        graph, table = self.graph, self.graph.edges
        used = np.unique(np.concatenate([table.clip[self.edges], table.target_clip[self.edges]]))
        rate = settings.rate_hz or max(graph.infos[clip].fps for clip in used)
        first = np.concatenate([[0], np.cumsum(self.edge_frames)])
        count = math.ceil(len(self) * rate / graph.rate_hz - 1e-6)
        moment = np.arange(count) * (graph.rate_hz / rate)
        step = np.minimum(np.searchsorted(first, moment + 1e-9, side="right") - 1, len(self.edges) - 1)
        edge, into = self.edges[step], np.maximum(moment - first[step], 0.0)
        blended = np.flatnonzero(table.kind[edge] == TRANSITION)
        b_edge, b_into = edge[blended], into[blended]
        own_frame, entered_frame = graph.mixed_frames(edge, into)
        here = self.unbent
        there = here @ FloorTransform(table.yaw[self.edges], table.x[self.edges], table.z[self.edges])
        exponents = joint_exponents(graph.skeleton.roles, settings.preset, settings.exponents)
        window = table.stop[b_edge] - table.start[b_edge]
        lasts = blend_share(table.distance_m[b_edge], window / graph.rate_hz, settings.blend_m_s2)
        t = b_into / window
        # The root's way is mixed over the whole window, as the search takes it to be.
        way, _ = group_weights(t, settings.blend, exponents[:1])
        joints, groups = group_weights((t - 0.5) / lasts + 0.5, settings.blend, exponents[1:])
        arriving, groups = np.hstack([way, joints]), np.append(0, groups + 1)
        leaving = np.ones((count, arriving.shape[1]))
        leaving[blended] -= arriving
        # A window that ends with its clip may want the moment after the clip's last frame: there it holds still, with
        # hardly any weight left.
        layers = [
            Layer(
                at=np.arange(count),
                clip=table.clip[edge],
                frame=graph.own_frames(table.clip[edge], own_frame),
                place=here.as_rows()[step],
                weight=leaving,
            ),
            Layer(
                at=blended,
                clip=table.target_clip[b_edge],
                frame=graph.own_frames(table.target_clip[b_edge], entered_frame[blended]),
                place=there.as_rows()[step[blended]],
                weight=arriving,
            ),
        ]
        names = tuple(info.name for info in graph.infos)
        bend = None if self.bends is None else self._bend(step, into)
        return Montage(graph.clips, names, graph.skeleton, rate, layers, groups=groups, repair=False, bend=bend)

    def _bend(self, step: Ints, into: Floats) -> Floats:
        """What bends do to each frame, as floor transforms, (F, 3), given its edge and how far it is into that."""
        assert self.bends is not None
        here, recorded = (FloorTransform(*t.as_rows()[step].T) for t in (self.placements, self.unbent))
        part = FloorTransform(*self.bends[step].T).part(into / self.edge_frames[step])
        return (here @ part @ recorded.inverse()).as_rows()
