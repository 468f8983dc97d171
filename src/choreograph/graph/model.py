"""The motion graph as plain data: nodes are places in clips, edges are pieces of clips and transitions between them.

Everything here is arrays, ready for compiled searches. A node (clip, frame) means "about to show this frame"; an edge
shows some frames and arrives at another node. Frames count at the graph's rate; clips keep their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from choreograph.errors import RequestError
from choreograph.graph.settings import GraphSettings
from choreograph.maths.floor import FloorTransform
from choreograph.motion.arrays import frozen
from choreograph.motion.clip import Clip, Label, Note
from choreograph.motion.skeleton import Skeleton

if TYPE_CHECKING:
    from choreograph.graph.fingerprint import Fingerprint

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

    clip_a: NDArray[np.int32]
    frame_a: NDArray[np.int32]
    """Where the window starts."""
    clip_b: NDArray[np.int32]
    frame_b: NDArray[np.int32]
    distance_m: NDArray[np.float64]
    """Root-mean-square distance per joint, metres."""
    yaw: NDArray[np.float64]
    """With x and z: the floor transform that lays B's window on A's."""
    x: NDArray[np.float64]
    z: NDArray[np.float64]

    dtypes: ClassVar[Mapping[str, Any]] = {
        **dict.fromkeys(("clip_a", "frame_a", "clip_b", "frame_b"), np.int32),
        **dict.fromkeys(("distance_m", "yaw", "x", "z"), np.float64),
    }


@dataclass(frozen=True, eq=False)
class Transitions(Table):
    """Continuations from one clip into another: leave `source` at a window's start, blend a window, go on in `target`.

    Blended frame k of L mixes source_frame + k with target_frame + k; the next frame shown is target_frame + L.
    """

    source_clip: NDArray[np.int32]
    source_frame: NDArray[np.int32]
    target_clip: NDArray[np.int32]
    target_frame: NDArray[np.int32]
    distance_m: NDArray[np.float64]
    yaw: NDArray[np.float64]
    """With x and z: the floor transform that lays the target's window on the source's."""
    x: NDArray[np.float64]
    z: NDArray[np.float64]

    dtypes: ClassVar[Mapping[str, Any]] = {
        **dict.fromkeys(("source_clip", "source_frame", "target_clip", "target_frame"), np.int32),
        **dict.fromkeys(("distance_m", "yaw", "x", "z"), np.float64),
    }

    def transform(self, row: int) -> FloorTransform:
        """The floor transform of one transition."""
        return FloorTransform(float(self.yaw[row]), float(self.x[row]), float(self.z[row]))


@dataclass(frozen=True, eq=False)
class Nodes(Table):
    """Cut points: places in clips, by clip and frame."""

    clip: NDArray[np.int32]
    frame: NDArray[np.int32]

    dtypes: ClassVar[Mapping[str, Any]] = {"clip": np.int32, "frame": np.int32}


@dataclass(frozen=True, eq=False)
class Edges(Table):
    """What can be shown next, ordered by the node that it leaves.

    A segment shows frames [start, stop) of `clip` and arrives at stop. A transition starts at `start` of `clip`,
    mixes its frames [start, stop) with as many of `target_clip` from `target_start` on, and arrives after them.
    """

    source: NDArray[np.int32]
    target: NDArray[np.int32]
    kind: NDArray[np.int8]
    """SEGMENT or TRANSITION."""
    clip: NDArray[np.int32]
    start: NDArray[np.int32]
    stop: NDArray[np.int32]
    target_clip: NDArray[np.int32]
    target_start: NDArray[np.int32]
    """First frame of the target clip that is shown; a segment's own start."""
    distance_m: NDArray[np.float64]
    """Of the transition; 0 for a segment."""
    yaw: NDArray[np.float64]
    """With x and z: the floor transform that lays the target clip on the source clip; identity for a segment."""
    x: NDArray[np.float64]
    z: NDArray[np.float64]

    dtypes: ClassVar[Mapping[str, Any]] = {
        **dict.fromkeys(("source", "target", "clip", "start", "stop", "target_clip", "target_start"), np.int32),
        **dict.fromkeys(("distance_m", "yaw", "x", "z"), np.float64),
        "kind": np.int8,
    }

    def transform(self, edge: int) -> FloorTransform:
        """The floor transform of one edge."""
        return FloorTransform(float(self.yaw[edge]), float(self.x[edge]), float(self.z[edge]))


@dataclass(frozen=True)
class ClipInfo:
    """What is known of a clip without reading its frames."""

    name: str
    fps: float
    """Its own rate."""
    own_frames: int
    """Frames at its own rate."""
    frames: int
    """Frames at the graph's rate."""
    labels: tuple[Label, ...] = ()
    """At its own rate."""
    path: str = ""
    """Where its file was when the graph was built."""
    sha256: str = ""
    mirror_of: int | None = None
    """The clip of which it is the mirror image."""

    @property
    def seconds(self) -> float:
        """Length in seconds."""
        return self.own_frames / self.fps


@dataclass(frozen=True)
class Provenance:
    """A step in a graph file's history."""

    at: str
    """When, UTC, as in ISO 8601."""
    command: str
    """What was done."""
    package_version: str
    evaluated_share: float = 1.0
    """Share of the window pairs to be compared whose distance had to be computed."""


TABLES: Mapping[str, type[Table]] = {"minima": Minima, "nodes": Nodes, "edges": Edges}
"""The tables a graph is kept as; the rest follows from them."""


@dataclass(frozen=True)
class Origin:
    """How a graph came about, and what its file says besides clips and tables."""

    evaluated_share: float = 1.0
    """Share of all pairs of windows whose distance had to be computed when the graph was last built or changed."""
    notes: Sequence[Note] = ()
    """What was left out, and why."""
    history: Sequence[Provenance] = ()
    """How its file came about; empty for a graph that has not been saved."""
    path: Path | None = None
    """The file that it was opened from, if it was."""
    pairs: Sequence[tuple[int, int]] = ()
    """Who leads whom, by the clips' numbers; empty where nobody has said so."""
    cut_settings: Mapping[str, Any] = field(default_factory=dict)
    """How the clips are cut into segments for performing, where somebody has chosen it, as plain values."""
    fingerprint: Callable[[], Fingerprint] | None = None
    """Tells what the file's content is, without reading its arrays."""


class MotionGraph:
    """Clips, the transitions between them, and the largest part of it all in which every place can reach every other.

    Nodes and edges are that part only, so a walk along them never ends; `transitions` are all there are.
    """

    def __init__(
        self,
        settings: GraphSettings,
        threshold_m: float,
        clips: Sequence[Clip],
        infos: Sequence[ClipInfo],
        tables: Mapping[str, Table],
        *,
        searched_m: float,
        origin: Origin | None = None,
    ) -> None:
        self.settings = settings
        self.threshold_m = threshold_m
        """The threshold in force: the settings' own, or the one that a goal led to."""
        self.clips = clips
        """At their own rate; from a file, each is read when it is asked for."""
        self.infos = tuple(infos)
        self.searched_m = searched_m
        """General threshold up to which minima were looked for, metres; label thresholds may reach farther."""
        self.origin = origin = origin or Origin()
        self.evaluated_share, self.path = origin.evaluated_share, origin.path
        self.notes, self.history, self.pairs = tuple(origin.notes), tuple(origin.history), tuple(origin.pairs)
        self.cut_settings = dict(origin.cut_settings)
        self._fingerprint = origin.fingerprint
        self._tables = tables

    def __repr__(self) -> str:
        return f"MotionGraph({len(self.infos)} clips, {len(self.nodes)} nodes, {len(self.edges)} edges)"

    @property
    def window_frames(self) -> int:
        """Length of a window and of a blend, in frames at the graph's rate."""
        return self.settings.window_frames

    @property
    def rate_hz(self) -> float:
        """Frames per second of everything that counts frames here."""
        return self.settings.rate_hz

    @property
    def skeleton(self) -> Skeleton:
        """The skeleton that all clips share."""
        return self.clips[0].skeleton

    @cached_property
    def fingerprint(self) -> Fingerprint:
        """What its content is told by: what was computed from it holds as long as this is the same."""
        if self._fingerprint is not None:
            return self._fingerprint()
        from choreograph.graph.fingerprint import fingerprint_graph

        return fingerprint_graph(self)

    @property
    def minima(self) -> Minima:
        """Every local minimum that was found, also those above the threshold."""
        return self._tables["minima"]  # type: ignore[return-value]

    @property
    def nodes(self) -> Nodes:
        """Cut points in the largest component."""
        return self._tables["nodes"]  # type: ignore[return-value]

    @property
    def edges(self) -> Edges:
        """Segments and transitions in the largest component."""
        return self._tables["edges"]  # type: ignore[return-value]

    @cached_property
    def clip_frames(self) -> NDArray[np.int32]:
        """Frames of each clip at the graph's rate, (C,)."""
        return frozen([info.frames for info in self.infos], np.int32)

    @cached_property
    def transitions(self) -> Transitions:
        """Every transition below the threshold, inside the largest component or not."""
        from choreograph.graph import connect

        limits = connect.thresholds_of(self.minima, self.settings, self.threshold_m, self.infos)
        near = self.minima.take(self.minima.distance_m <= limits)
        return connect.find_transitions(near, self.clip_frames, self.window_frames)

    @cached_property
    def first_edge(self) -> NDArray[np.int32]:
        """Where each node's edges begin, (N + 1,): node n has the edges [first_edge[n], first_edge[n + 1])."""
        return frozen(np.searchsorted(self.edges.source, np.arange(len(self.nodes) + 1)), np.int32)

    def find_clip(self, name: str) -> int:
        """Index of the clip with this name."""
        for index, info in enumerate(self.infos):
            if info.name == name:
                return index
        names = [info.name for info in self.infos]
        some = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
        raise RequestError(f"no clip of the graph is called {name!r}; there are: {some}")

    def own_frame(self, clip: int, frame: float) -> float:
        """The place in a clip, in frames at its own rate, of a frame at the graph's rate."""
        info = self.infos[clip]
        return min(frame * info.fps / self.rate_hz, info.own_frames - 1)

    def own_frames(self, clip: NDArray[np.int32], frame: NDArray[np.float64]) -> NDArray[np.float64]:
        """The same for many: places in clips, (N,), in frames at their own rates, not beyond their last ones."""
        steps, last = self._own_rates
        return np.minimum(frame * steps[clip], last[clip])

    @cached_property
    def _own_rates(self) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Own frames of each clip in one of the graph's, (C,), and the number of its last one, (C,)."""
        steps = frozen([info.fps / self.rate_hz for info in self.infos])
        return steps, frozen([info.own_frames - 1 for info in self.infos], np.int64)

    def random_walk(self, steps: int, rng: np.random.Generator, start: int | None = None) -> NDArray[np.int32]:
        """Edges of a walk of this many steps, each drawn evenly from those that leave the node reached.

        Args:
            steps: Number of edges.
            rng: Where chance comes from.
            start: First node; drawn if None.

        Raises:
            RequestError: If nothing is connected, or there is no such node.
        """
        if len(self.nodes) == 0:
            raise RequestError("the graph is empty: no place in its clips can be left and come back to")
        if start is None:
            start = int(rng.integers(len(self.nodes)))
        if not 0 <= start < len(self.nodes):
            raise RequestError(f"node {start} does not exist; there are {len(self.nodes)}")
        from choreograph.graph import _compiled

        return _compiled.random_walk(self.first_edge, self.edges.target, start, rng.random(steps))  # type: ignore[no-any-return]


def random_walk_numpy(
    first_edge: NDArray[np.int32], target: NDArray[np.int32], start: int, draws: NDArray[np.float64]
) -> NDArray[np.int32]:
    """The plain twin of the compiled random walk."""
    node, walk = start, np.empty(len(draws), np.int32)
    for step, draw in enumerate(draws):
        low, high = first_edge[node], first_edge[node + 1]
        walk[step] = low + int(draw * (high - low))
        node = target[walk[step]]
    return walk
