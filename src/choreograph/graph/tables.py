"""The tables that a motion graph is made of: minima, transitions, long blends, nodes and edges, as columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from choreograph.base.arrays import Floats, Ints, Ints32, frozen
from choreograph.base.floor import FloorTransform

SEGMENT, TRANSITION = 0, 1
"""Kinds of edges: a piece of a clip as it was recorded, or a blend from one clip into another."""


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of one length, read-only."""

    dtypes: ClassVar[Mapping[str, Any]]

    def __post_init__(self) -> None:
        lengths = set()
        for entry in fields(self):
            column = frozen(getattr(self, entry.name), self.dtypes[entry.name])
            object.__setattr__(self, entry.name, column)
            lengths.add(column.shape)
        if len(lengths) != 1 or len(next(iter(lengths))) != 1:
            raise ValueError(f"columns of {type(self).__name__} have different shapes: {sorted(lengths)}")

    def __len__(self) -> int:
        """Number of rows."""
        return len(getattr(self, fields(self)[0].name))

    def columns(self) -> dict[str, NDArray[Any]]:
        """The columns by name."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}

    def take(self, rows: NDArray[Any]) -> Any:
        """These rows, by index or mask, as a table."""
        return type(self)(**{name: column[rows] for name, column in self.columns().items()})


@dataclass(frozen=True, eq=False)
class Minima(Table):
    """Pairs of windows that are nearer than their eight neighbours, each once: clip_a <= clip_b.

    Ordered by clip_a, clip_b, frame_a and frame_b.
    """

    clip_a: Ints32
    frame_a: Ints32
    """Where the window starts."""
    clip_b: Ints32
    frame_b: Ints32
    distance_m: Floats
    """Root-mean-square distance per joint, metres."""
    yaw: Floats
    """With x and z: the floor transform that lays B's window on A's."""
    x: Floats
    z: Floats

    dtypes: ClassVar[Mapping[str, Any]] = {
        **dict.fromkeys(("clip_a", "frame_a", "clip_b", "frame_b"), np.int32),
        **dict.fromkeys(("distance_m", "yaw", "x", "z"), np.float64),
    }


@dataclass(frozen=True, eq=False)
class Transitions(Table):
    """Continuations from one clip into another: leave `source` at a window's start, blend a window, go on in `target`.

    Blended frame k of L mixes source_frame + k with target_frame + k; the next frame shown is target_frame + L. Long
    blends are aligned in time instead, see `LongBlends`.
    """

    source_clip: Ints32
    source_frame: Ints32
    target_clip: Ints32
    target_frame: Ints32
    frames: Ints32
    """How many frames it shows."""
    arrive_frame: Ints32
    """The frame of the target clip that comes after them."""
    distance_m: Floats
    yaw: Floats
    """With x and z: the floor transform that lays the target's window on the source's."""
    x: Floats
    z: Floats

    dtypes: ClassVar[Mapping[str, Any]] = {
        **dict.fromkeys(("source_clip", "source_frame", "target_clip", "target_frame"), np.int32),
        **dict.fromkeys(("frames", "arrive_frame"), np.int32),
        **dict.fromkeys(("distance_m", "yaw", "x", "z"), np.float64),
    }

    def column(self, name: str) -> NDArray[Any]:
        """A column by its name."""
        return np.asarray(getattr(self, name))

    def places(self, offsets: Ints) -> tuple[Ints, Ints]:
        """The places that they leave and arrive at, counted through all clips; a clip's begin at its offset."""
        return offsets[self.source_clip] + self.source_frame, offsets[self.target_clip] + self.arrive_frame

    def table(self) -> Transitions:
        """Itself."""
        return self

    def transform(self, row: int) -> FloorTransform:
        """The floor transform of one transition."""
        return FloorTransform(float(self.yaw[row]), float(self.x[row]), float(self.z[row]))


@dataclass(frozen=True, eq=False)
class LongBlends(Transitions):
    """Transitions longer than a window, between clips that no shorter one joins, aligned in time at foot contacts."""

    first: Ints32
    """Row of `Alignment` for the moment at which each begins; one for every frame that it shows follows, and one for
    the moment at which it ends."""

    dtypes: ClassVar[Mapping[str, Any]] = {**Transitions.dtypes, "first": np.int32}


@dataclass(frozen=True, eq=False)
class Alignment(Table):
    """Which frames of two clips are mixed with each other, frame by frame of long blends, at the graph's rate."""

    source: Floats
    target: Floats

    dtypes: ClassVar[Mapping[str, Any]] = dict.fromkeys(("source", "target"), np.float64)


@dataclass(frozen=True, eq=False)
class Nodes(Table):
    """Cut points: places in clips, by clip and frame."""

    clip: Ints32
    frame: Ints32

    dtypes: ClassVar[Mapping[str, Any]] = {"clip": np.int32, "frame": np.int32}


@dataclass(frozen=True, eq=False)
class Edges(Table):
    """What can be shown next, ordered by the node that it leaves.

    A segment shows frames [start, stop) of `clip` and arrives at stop. A transition starts at `start` of `clip`,
    mixes its frames [start, stop) with as many of `target_clip` from `target_start` on, and arrives after them. A long
    blend shows as many frames as that, but which ones `MotionGraph.mixed_frames` tells.
    """

    source: Ints32
    target: Ints32
    kind: NDArray[np.int8]
    """SEGMENT or TRANSITION."""
    clip: Ints32
    start: Ints32
    stop: Ints32
    target_clip: Ints32
    target_start: Ints32
    """First frame of the target clip that is shown; a segment's own start."""
    distance_m: Floats
    """Of the transition; 0 for a segment."""
    yaw: Floats
    """With x and z: the floor transform that lays the target clip on the source clip; identity for a segment."""
    x: Floats
    z: Floats

    dtypes: ClassVar[Mapping[str, Any]] = {
        **dict.fromkeys(("source", "target", "clip", "start", "stop", "target_clip", "target_start"), np.int32),
        **dict.fromkeys(("distance_m", "yaw", "x", "z"), np.float64),
        "kind": np.int8,
    }

    def first_of(self, nodes: int) -> Ints32:
        """Where the edges of each of so many nodes begin, and where the last one's end, (N + 1,)."""
        return frozen(np.cumsum(np.bincount(self.source + 1, minlength=nodes + 1)), np.int32)

    def transform(self, edge: int) -> FloorTransform:
        """The floor transform of one edge."""
        return FloorTransform(float(self.yaw[edge]), float(self.x[edge]), float(self.z[edge]))


TABLES: Mapping[str, type[Table]] = {
    "minima": Minima,
    "nodes": Nodes,
    "edges": Edges,
    "long_blends": LongBlends,
    "alignment": Alignment,
}
"""The tables a graph is kept as; the rest follows from them."""


@cache
def empty_table(part: str) -> Table:
    """The table of `TABLES` without rows."""
    kind = TABLES[part]
    return kind(**{name: np.zeros(0, dtype) for name, dtype in kind.dtypes.items()})
