"""What the search looks up instead of computing: where edges take the root. Of a small graph, of all its edges.

What is known of every frame is computed once and kept in the cache: some 100 bytes a frame. Rows of edges are ten times
that: tables of a small graph have those of all edges, which the cache keeps too. Of a large one, only those edges have
rows that leave a node which a walk has reached; they get numbers of their own, their places in the tables, which is
what the kernels call edges. Continuations are then found of the nodes that the beam looks ahead from; see
`lazy_continuations.py`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choreograph.base.arrays import Floats, Ints, seal
from choreograph.base.errors import RequestError
from choreograph.features.root_tracks import RootTracks
from choreograph.graph.cache import Content, Key, find_key, find_or_build
from choreograph.graph.model import MotionGraph
from choreograph.motion.bend import SMOOTH_S
from choreograph.motion.labels import matches_label, say_labels
from choreograph.verbs.follow.continuations import find_continuations
from choreograph.verbs.follow.edge_rows import (
    clip_ways,
    find_faulty,
    find_roots,
    find_rough,
    find_rows,
    steps_in_frame,
)
from choreograph.verbs.follow.kernel_inputs import KernelTables, find_headings, recorded_lateral, so_far
from choreograph.verbs.follow.lazy_continuations import END, ROW, Frames, Net, Ways
from choreograph.verbs.follow.node_rows import NodeRows, find_node_rows
from choreograph.verbs.follow.table_columns import EdgesOut, GraphEdges, GrowingArrays, RowsOut, Tracks

MAX_LABELS = 60
"""Different labels one request may ask for: bits of a word."""
METHOD = 2
"""One more whenever the same graph would give other tracks."""
METHOD_OF_ROWS = 5
"""One more whenever it would give other rows of all edges."""
MOST_ROWS = 3_000_000
"""Rows of all edges up to which a graph has tables of all of them: some 300 MB."""
MOST_BYTES = 1 << 30
"""Size of what is paged in from which on the next search begins with empty tables."""
_ROOM = 1 << 20
"""Rows that there is room for at first, as a planning step needs; memory that is not written to costs nothing."""


class EdgeTables:
    """The tables of the nodes that searches have come to, or of all of a small graph."""

    def __init__(
        self,
        graph: MotionGraph,
        roots: RootTracks | None,
        frames: Frames,
        nodes: NodeRows,
        label_sets: tuple[frozenset[str], ...],
        smooth_s: float,
    ) -> None:
        """Begin with none; use `find_tables`."""
        self.graph, self.roots, self.frames, self.nodes, self.smooth_s = graph, roots, frames, nodes, smooth_s
        self.lock = threading.RLock()
        """Held while a search pages something in: tables of other searches may be the same."""
        edges, count = graph.edges, len(graph.nodes)
        self.clip_way = frames.way
        self.node_row, self.node_heading = nodes.place[:, ROW], nodes.heading
        self.net = Net(
            nodes.place, graph.first_edge, edges.source, edges.target, edges.kind, edges.start, edges.stop, edges.yaw,
            edges.x, edges.z,
        )  # fmt: skip
        self._columns = GraphEdges(*(getattr(edges, name) for name in GraphEdges._fields))
        self.label_sets = label_sets
        self.fastest, self.lengths, self.lateral = nodes.fastest, nodes.lengths, nodes.lateral
        self.first_edge, self.last_edge = np.full(count, -1, np.int64), np.full(count, -1, np.int64)
        one: tuple[tuple[int, ...], Any] = ((), np.float64)
        whole: tuple[tuple[int, ...], Any] = ((), np.int64)
        self.rows = GrowingArrays({
            "way": ((3,), np.float64), "facing": one, "label_words": ((), np.int32), "bent_over": one, "so_far": one,
        }, room=_ROOM)  # fmt: skip
        self.edges = GrowingArrays({
            "first": whole, "length": whole, "edge_way": one, "target": whole, "yaw": one, "target_clip": whole,
            "turn": ((2,), np.float64), "shift": ((2,), np.float64), "bend": ((4,), np.float64), "faulty": ((), bool),
            "rough": one, "number": whole,
        })  # fmt: skip
        self.whole = False
        """Whether they have all edges, by the graph's numbers."""
        self._ways: dict[int, Ways] = {}
        self.derived: dict[str, Any] = {}

    @property
    def nbytes(self) -> int:
        """Size of what is paged in."""
        return self.rows.nbytes + self.edges.nbytes + sum(ways.nbytes for ways in self._ways.values())

    @property
    def node_left(self) -> Ints:
        """Frames that are left of its clip at each node."""
        return np.asarray(self.nodes.place[:, END] - self.nodes.place[:, ROW])

    def facing_at(self, graph: MotionGraph, nodes: NDArray[Any]) -> Floats:
        """Yaw of the hips at some nodes, radians."""
        return np.asarray(self.frames.facing[self.node_row[nodes]])

    def emptied(self) -> EdgeTables:
        """Tables of the same graph that have nothing paged in; searches that have these keep them."""
        made = EdgeTables(self.graph, self.roots, self.frames, self.nodes, self.label_sets, self.smooth_s)
        made.derived.update(self.derived)
        return made

    def slots(self, edges: Any) -> Ints:
        """Where edges are in the tables; those that are not are paged in."""
        edges = np.asarray(edges, np.int64)
        if self.whole:
            return edges
        source = self.graph.edges.source[edges]
        self.page_in(source)
        return np.asarray(self.first_edge[source] + edges - self.graph.first_edge[source])

    def numbers(self, slots: Any) -> Ints:
        """Which edges of the graph are there: the reverse of `slots`."""
        return np.asarray(self.edges["number"][np.asarray(slots, np.int64)])

    def page_in(self, nodes: Any) -> None:
        """Have the edges of these nodes in the tables."""
        nodes = np.asarray(nodes, np.int64)
        new = np.unique(nodes[self.first_edge[nodes] < 0])
        if len(new):
            self._add_edges(new)

    def _add_edges(self, nodes: Ints) -> None:
        from choreograph.verbs.follow import _compiled_rows

        graph, edges = self.graph, self.graph.edges
        count = (graph.first_edge[nodes + 1] - graph.first_edge[nodes]).astype(np.int64)
        slot = self.edges.count + np.cumsum(count) - count
        number = self._edges_of(nodes)
        first = np.concatenate([[0], np.cumsum(edges.stop[number] - edges.start[number], dtype=np.int64)])
        before, new, rows = self.rows.count, self.edges.extend(len(number)), self.rows.extend(int(first[-1]))
        self._fill_rows(number, first, new, rows)
        out = EdgesOut(*(new[name] for name in EdgesOut._fields))
        _compiled_rows.fill_edges(
            number, first, before, rows["so_far"], self._columns.target_clip, self.net, self.frames.way,
            self.node_heading, out,
        )  # fmt: skip
        self.first_edge[nodes], self.last_edge[nodes] = slot, slot + count

    def _fill_rows(
        self, number: Ints, first: Ints, new: dict[str, NDArray[Any]], rows: dict[str, NDArray[Any]]
    ) -> None:
        """Fill the rows of some edges, which begin at `first`, and what is known of the edges; see `fill_rows`."""
        graph, roots = self.graph, self.roots
        assert roots is not None
        if len(graph.long_blends):
            found = find_rows(roots, graph, number)
            rows["way"][:] = np.stack([found.place.real, found.place.imag, found.step], axis=1)
            rows["facing"][:], rows["label_words"][:] = found.facing, found.label_words
            rows["bent_over"][:], rows["so_far"][:] = found.bent_over, so_far(found.step, found.first, found.length)
            new["faulty"][:], new["rough"][:] = find_faulty(roots, graph, number), find_rough(roots, graph, number)
            return
        from choreograph.verbs.follow import _compiled_rows

        tracks = Tracks(*(seal(getattr(roots, name)) for name in Tracks._fields))
        out = RowsOut(*((rows | new)[name] for name in RowsOut._fields))
        _compiled_rows.fill_rows(
            number, first, steps_in_frame(roots), max(roots.usual_height, 1e-9), self._columns, tracks, out
        )

    def ways(self, step: int) -> Ways:
        """The continuations found so far, known each `step` frames."""
        if step not in self._ways:
            ways = Ways(self.net, self.frames, step)
            if self.whole and step:
                begun = self.frames.facing[self.node_row[self.graph.edges.source]]
                ways.fill(find_continuations(self.graph, self.edges, self.rows, begun, step, self.smooth_s))
            self._ways[step] = ways
        return self._ways[step]

    def page_in_all(self) -> EdgeTables:
        """Have all edges, by the graph's numbers."""
        self.page_in(np.arange(len(self.graph.nodes)))
        return self._with_all()

    @property
    def content(self) -> Content:
        """What the cache keeps of tables of all edges."""
        arrays = self.edges.whole | self.rows.whole | self.nodes.arrays() | _named(self.frames)
        return Content({"label_sets": [sorted(said) for said in self.label_sets], **self.nodes.facts()}, arrays)

    @classmethod
    def of_all(cls, graph: MotionGraph, content: Content, smooth_s: float) -> EdgeTables:
        """The same from an entry of the cache; a ValueError where it contradicts itself or the graph."""
        sets = tuple(frozenset(said) for said in content.facts["label_sets"])
        frames = _frames_of(content, graph, len(sets))
        nodes = NodeRows.of(content.facts, content.arrays, len(graph.nodes), len(frames.heading))
        made = cls(graph, None, frames, nodes, sets, smooth_s)
        edges, rows = ({name: content.arrays[name] for name in pool.whole} for pool in (made.edges, made.rows))
        first, length, words, table = edges["first"], edges["length"], rows["label_words"], graph.edges
        for pool, arrays, count in ((made.edges, edges, len(table)), (made.rows, rows, int(length.sum()))):
            if any(arrays[name].shape != (count, *array.shape[1:]) for name, array in pool.whole.items()):
                raise ValueError("the tables do not fit the graph")
            pool.fill(arrays)
        if not (np.array_equal(first, np.cumsum(length) - length) and np.array_equal(edges["target"], table.target)):
            raise ValueError("the rows of the tables are out of order")
        if len(words) and not 0 <= words.min() <= words.max() < len(sets):
            raise ValueError("label_words leads beyond the tables")
        return made._with_all()

    def _with_all(self) -> EdgeTables:
        edges = self.edges
        first = self.graph.first_edge.astype(np.int64)
        self.whole, self.first_edge, self.last_edge = True, first, first[1:]
        self.fastest = float(self.rows["way"][:, 2].max(initial=1e-6))
        seconds = edges["length"] / self.graph.rate_hz
        self.lateral = recorded_lateral(edges["edge_way"], seconds, edges["bend"][:, 3])
        return self

    def _edges_of(self, nodes: Ints) -> Ints:
        """The graph's edges that leave these nodes, one node's after another's."""
        begin = self.graph.first_edge[nodes].astype(np.int64)
        count = self.graph.first_edge[nodes + 1] - begin
        return np.asarray(np.repeat(begin - np.cumsum(count) + count, count) + np.arange(count.sum()))

    def label_bits(self, labels: list[str]) -> Ints:
        """For each set of labels, which of these hold, as bits.

        Raises:
            RequestError: A label that no frame of the graph has; the message lists those there are.
        """
        if len(labels) > MAX_LABELS:
            raise RequestError(f"at most {MAX_LABELS} different labels can be asked for at once")
        known = sorted(frozenset().union(*self.label_sets))
        words = np.zeros(len(self.label_sets), np.int64)
        for bit, wanted in enumerate(labels):
            matches = {text for text in known if matches_label(wanted, text)}
            if not matches:
                raise RequestError(f"no clip of the graph is labelled {wanted!r}; labels are: {say_labels(known)}")
            for k, said in enumerate(self.label_sets):
                if said & matches:
                    words[k] |= 1 << bit
        return words

    def filled(self, tables: KernelTables, step: int | None) -> KernelTables:
        """A request's tables with all that is paged in by now, but for what is its own."""
        edges, rows, ways = self.edges, self.rows, self.ways(step or 0)
        shared = ("first", "length", "edge_way", "target", "yaw", "target_clip", "turn", "shift", "bend")
        return tables._replace(
            **{name: edges[name] for name in shared},
            **{name: rows[name] for name in ("way", "facing", "bent_over", "so_far")},
            first_way=seal(ways.first.view()),
            last_way=seal(ways.last.view()),
            ways=seal(ways.places.view()),
        )


def find_tables(graph: MotionGraph, smooth_s: float = SMOOTH_S, *, whole: bool | None = None) -> EdgeTables:
    """The tables for following a path, read from the cache or built; of a large graph they are empty yet.

    Searches on one graph can share them: `FollowSearch(graph, request, tables=tables)`.

    Args:
        graph: The graph.
        smooth_s: Width of the low-pass under which the root's way is taken; that of a search that bends if not given.
        whole: Whether they have all edges; as the graph's size allows if not given.
    """
    rows = int(graph.edges.stop.sum(dtype=np.int64) - graph.edges.start.sum(dtype=np.int64))
    if not (rows <= MOST_ROWS if whole is None else whole):
        return _empty_tables(graph, smooth_s, find_key)
    parts = ("motion", "labels", "edges")
    return find_or_build(
        find_key(graph, "edge tables", METHOD_OF_ROWS, parts, rate_hz=graph.rate_hz, smooth_s=smooth_s),
        lambda: _empty_tables(graph, smooth_s, lambda *_, **__: None).page_in_all(),
        lambda tables: tables.content,
        lambda content: EdgeTables.of_all(graph, content, smooth_s),
    )


def _empty_tables(graph: MotionGraph, smooth_s: float, find_key: Callable[..., Key | None]) -> EdgeTables:
    """Empty tables; what they need of frames and nodes is read from the cache or computed."""
    parts = ("motion", "labels")
    key = find_key(graph, "root tracks", METHOD, parts, rate_hz=graph.rate_hz, smooth_s=smooth_s)
    roots, frames = find_or_build(key, lambda: _build(graph, smooth_s), _pack, lambda content: _unpack(content, graph))
    nodes = find_or_build(
        find_key(graph, "node rows", METHOD, (*parts, "edges"), rate_hz=graph.rate_hz, smooth_s=smooth_s),
        lambda: find_node_rows(graph, roots, frames),
        lambda rows: Content(rows.facts(), rows.arrays()),
        lambda content: NodeRows.of(content.facts, content.arrays, len(graph.nodes), len(frames.heading)),
    )
    return EdgeTables(graph, roots, frames, nodes, tuple(roots.sets), smooth_s)


def _build(graph: MotionGraph, smooth_s: float) -> tuple[RootTracks, Frames]:
    roots = find_roots(graph, smooth_s)
    way, _, _ = clip_ways(roots, graph, steps_in_frame(roots))
    count = graph.clip_frames.astype(np.int64)
    clip = np.repeat(np.arange(len(count)), count)
    begin = np.cumsum(count) - count
    own = np.rint(roots.own(clip, (np.arange(len(clip)) - begin[clip]).astype(float))).astype(np.int64)
    facing = roots.facing[own]
    turned = np.cumsum((np.diff(facing, prepend=facing[:1]) + np.pi) % (2 * np.pi) - np.pi)
    heading = find_headings(way, graph)
    return roots, Frames(*(seal(array) for array in (way, facing, turned, roots.words[own], heading)))


def _pack(made: tuple[RootTracks, Frames]) -> Content:
    roots, frames = made
    arrays = {f"track {name}": array for name, array in roots.arrays().items()}
    return Content({"label_sets": [sorted(said) for said in roots.sets]}, arrays | _named(frames))


def _named(frames: Frames) -> dict[str, NDArray[Any]]:
    return {f"frame {name}": array for name, array in frames._asdict().items()}


def _frames_of(content: Content, graph: MotionGraph, sets: int) -> Frames:
    """What an entry holds of frames; a ValueError where it contradicts itself or the graph."""
    frames = Frames(**{name: content.arrays[f"frame {name}"] for name in Frames._fields})
    count = int(graph.clip_frames.sum())
    if any(len(array) != count for array in frames) or frames.way.shape != (count, 3):
        raise ValueError("the frames are those of other clips")
    if count and not 0 <= frames.words.min() <= frames.words.max() < sets:
        raise ValueError("a frame has labels that are not there")
    return frames


def _unpack(content: Content, graph: MotionGraph) -> tuple[RootTracks, Frames]:
    """What an entry holds; a ValueError where it contradicts itself or the graph."""
    arrays = content.arrays
    sets = [frozenset(said) for said in content.facts["label_sets"]]
    roots = RootTracks.from_arrays({name[6:]: array for name, array in arrays.items() if name[:6] == "track "}, sets)
    frames = _frames_of(content, graph, len(sets))
    if not np.array_equal(np.diff(roots.offsets), [info.own_frames for info in graph.infos]):
        raise ValueError("the tracks are those of other clips")
    return roots, frames
