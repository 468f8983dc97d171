"""The motion graph as plain data: nodes are places in clips, edges are pieces of clips and transitions between them.

Everything here is arrays, ready for compiled searches. A node (clip, frame) means "about to show this frame"; an edge
shows some frames and arrives at another node. Frames count at the graph's rate; clips keep their own.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from choreograph.base.arrays import Flags, Floats, Ints, Ints32, frozen
from choreograph.base.errors import RequestError
from choreograph.graph.info import ClipInfo, Origin
from choreograph.graph.settings import GraphSettings
from choreograph.graph.tables import (
    TRANSITION,
    Alignment,
    Edges,
    LongBlends,
    Minima,
    Nodes,
    Table,
    Transitions,
    empty_table,
)
from choreograph.motion.clip import Clip
from choreograph.motion.skeleton import Skeleton

if TYPE_CHECKING:
    from choreograph.graph.fingerprint import Fingerprint

_PARTS_KEPT = 4
"""Parts of a graph that were asked for lately and are kept, with all that was computed for them."""


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
        self._parts: OrderedDict[Hashable, MotionGraph] = OrderedDict()
        self.usual_clips: Flags | None = None
        """Of a wider graph, the clips that take part in the narrower one too, (C,)."""
        self.made_by: tuple[Callable[..., MotionGraph], tuple[Any, ...]] | None = None
        """What gives the same graph again, such as its file: another process is told this instead of its arrays."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.made_by or super().__reduce_ex__(protocol)

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

    @property
    def found_blends(self) -> LongBlends:
        """Transitions that are longer than a window, whether they take part or wait to be asked for."""
        return self._tables["long_blends"] if "long_blends" in self._tables else empty_table("long_blends")  # type: ignore[return-value]

    @property
    def long_blends(self) -> LongBlends:
        """Those that take part: none unless the settings ask for them."""
        return self.found_blends if self.settings.max_blend_s else empty_table("long_blends")  # type: ignore[return-value]

    @cached_property
    def wider(self) -> MotionGraph:
        """The graph in which the long blends that wait take part, and the clips they join; itself where none do."""
        from choreograph.graph.subgraph import widen

        return widen(self)

    @property
    def alignment(self) -> Alignment:
        """Which frames long blends mix."""
        return self._tables["alignment"] if "alignment" in self._tables else empty_table("alignment")  # type: ignore[return-value]

    @cached_property
    def _long_edges(self) -> Ints32:
        """The long blend that each edge is, by its row there, (E,); -1 for all others."""
        places = np.full(len(self.edges), -1, np.int32)
        blends, edges = self.long_blends, self.edges
        if len(blends):
            columns = (blends.source_clip, blends.source_frame, blends.target_clip, blends.target_frame, blends.frames)
            rows = {key: row for row, key in enumerate(zip(*(column.tolist() for column in columns), strict=True))}
            which = np.flatnonzero(edges.kind == TRANSITION)
            length = edges.stop[which] - edges.start[which]
            keys = (edges.clip[which], edges.start[which], edges.target_clip[which], edges.target_start[which], length)
            for edge, key in zip(which, zip(*(column.tolist() for column in keys), strict=True), strict=True):
                places[edge] = rows.get(key, -1)
        return frozen(places, np.int32)

    def mixed_frames(self, edge: NDArray[Any], into: Floats) -> tuple[Floats, Floats]:
        """Which frames of their two clips edges mix, (N,) each, at the graph's rate.

        Args:
            edge: The edges, (N,).
            into: How many frames into each, from 0 to as many as it shows, (N,).
        """
        source, target = self.edges.start[edge] + into, self.edges.target_start[edge] + into
        if len(self.long_blends):
            blend = self._long_edges[edge]
            own = np.flatnonzero(blend >= 0)
            frames = self.long_blends.frames[blend[own]]
            at = np.clip(into[own], 0.0, frames)
            whole = np.minimum(np.floor(at).astype(np.int64), frames - 1)
            row, part = self.long_blends.first[blend[own]] + whole, at - whole
            for mixed, column in ((source, self.alignment.source), (target, self.alignment.target)):
                mixed[own] = column[row] + part * (column[row + 1] - column[row])
        return source, target

    def count_rows(self, part: str) -> int:
        """How many rows a table has, such as "edges"; of a file's, without reading it."""
        count = getattr(self._tables, "count", None)
        return len(self._tables[part]) if count is None else int(count(part))

    def read_columns(self, part: str, names: Sequence[str], room: int = 0) -> dict[str, NDArray[Any]]:
        """Some columns of a table; of a file's, without reading the others, and without keeping them.

        Args:
            part: The table.
            names: Its columns.
            room: How many rows that may be written to they have at their end, whatever is in them.
        """
        columns = getattr(self._tables, "columns", None)
        if columns is not None:
            return dict(columns(part, names, room))
        from choreograph.graph.lazy import with_room

        return with_room({name: getattr(self._tables[part], name) for name in names}, room)

    def iterate_columns(self, part: str) -> Iterator[tuple[str, NDArray[Any]]]:
        """The columns of a table with their names; each holds until the next one is asked for."""
        iterate = getattr(self._tables, "iterate", None)
        if iterate is not None and part in self._tables:
            return iterate(part)  # type: ignore[no-any-return]
        table = self._tables[part] if part in self._tables else empty_table(part)
        return iter(table.columns().items())

    @cached_property
    def clip_frames(self) -> Ints32:
        """Frames of each clip at the graph's rate, (C,)."""
        return frozen([info.frames for info in self.infos], np.int32)

    @cached_property
    def transitions(self) -> Transitions:
        """Every transition below the threshold that the settings keep, inside the largest component or not."""
        from choreograph.graph import connect

        known = self.minima, self.settings, self.threshold_m, self.infos, self.long_blends
        return connect.all_transitions(*known).table()

    @cached_property
    def first_edge(self) -> Ints32:
        """Where each node's edges begin, (N + 1,): node n has the edges [first_edge[n], first_edge[n + 1])."""
        edges, known = self.edges, getattr(self._tables, "first_edge", None)
        return edges.first_of(len(self.nodes)) if known is None else known

    def find_clip(self, name: str) -> int:
        """Index of the clip with this name."""
        for index, info in enumerate(self.infos):
            if info.name == name:
                return index
        names = [info.name for info in self.infos]
        some = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
        raise RequestError(f"no clip of the graph is called {name!r}; there are: {some}")

    def only(self, query: str) -> MotionGraph:
        """The graph of the clips that a query finds; nothing is built anew, or read before it is used.

        >>> import choreograph as cg
        >>> from choreograph.demo import demo_clip
        >>> graph = cg.build_graph([demo_clip(name, 30.0) for name in ("walk", "walk_turn_90_left", "jump")])
        >>> [info.name for info in graph.only("walk not turn").infos]
        ['walk']

        Args:
            query: Words of labels, names, folders and people, with and, or and not: "walk or run", "person:16".

        Raises:
            RequestError: If it finds nothing, or cannot be understood.
        """
        from choreograph.graph.subgraph import matching_clips

        return self.kept_part(query, lambda: matching_clips(self.infos, query))

    def kept_part(self, key: Hashable, choose: Callable[[], Iterable[int]]) -> MotionGraph:
        """The graph of clips chosen by their numbers; the same object for the same key, while it is kept."""
        from choreograph.graph.subgraph import make_part

        if key not in self._parts:
            self._parts[key] = make_part(self, choose())
        self._parts.move_to_end(key)
        while len(self._parts) > _PARTS_KEPT:
            self._parts.popitem(last=False)
        return self._parts[key]

    def own_frame(self, clip: int, frame: float) -> float:
        """The place in a clip, in frames at its own rate, of a frame at the graph's rate."""
        info = self.infos[clip]
        return min(frame * info.fps / self.rate_hz, info.own_frames - 1)

    def own_frames(self, clip: Ints32, frame: Floats) -> Floats:
        """The same for many: places in clips, (N,), in frames at their own rates, not beyond their last ones."""
        steps, last = self._own_rates
        return np.minimum(frame * steps[clip], last[clip])

    @cached_property
    def _own_rates(self) -> tuple[Floats, Ints]:
        """Own frames of each clip in one of the graph's, (C,), and the number of its last one, (C,)."""
        steps = frozen([info.fps / self.rate_hz for info in self.infos])
        return steps, frozen([info.own_frames - 1 for info in self.infos], np.int64)

    def random_walk(self, steps: int, rng: np.random.Generator, start: int | None = None) -> Ints32:
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


def random_walk_numpy(first_edge: Ints32, target: Ints32, start: int, draws: Floats) -> Ints32:
    """The plain twin of the compiled random walk."""
    node, walk = start, np.empty(len(draws), np.int32)
    for step, draw in enumerate(draws):
        low, high = first_edge[node], first_edge[node + 1]
        walk[step] = low + int(draw * (high - low))
        node = target[walk[step]]
    return walk
