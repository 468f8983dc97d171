"""Tables of a graph that is too large to have them of all its edges: nodes are paged in where the search comes.

What is known of every frame is computed once and kept in the cache: some 100 bytes a frame. Of edges, whose rows would
be ten times that, only those have rows that leave a node which a walk has reached; they get numbers of their own, their
places in the tables, which is what the kernels call edges. Continuations are found of the nodes that the beam looks
ahead from; see `ways.py`.
"""

from __future__ import annotations

import threading
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choreograph.base.arrays import Complexes, Flags, Floats, Ints, Ints32, seal
from choreograph.base.errors import RequestError
from choreograph.features.root_tracks import RootTracks
from choreograph.graph.cache import Content, find_key, find_or_build
from choreograph.graph.model import MotionGraph
from choreograph.motion.labels import matches_label, say_labels
from choreograph.verbs.follow.kernel_inputs import KernelTables, find_headings, so_far
from choreograph.verbs.follow.lazy_continuations import END, ROW, Frames, Net, Ways
from choreograph.verbs.follow.node_rows import NodeRows, find_node_rows
from choreograph.verbs.follow.tables import (
    MAX_LABELS,
    clip_ways,
    find_faulty,
    find_roots,
    find_rough,
    find_rows,
    steps_in_frame,
)

METHOD = 1
"""One more whenever the same graph would give other tracks."""
MOST_ROWS = 3_000_000
"""Rows of all edges up to which a graph has tables of all of them: some 300 MB."""
MOST_BYTES = 1 << 30
"""Size of what is paged in from which on the next search begins with empty tables."""
_ROOM = 1 << 20
"""Rows that there is room for at first, as a planning step needs; memory that is not written to costs nothing."""


class EdgeColumns(NamedTuple):
    """The graph's edges, as the kernel that fills rows takes them."""

    kind: NDArray[np.int8]
    clip: Ints32
    start: Ints32
    stop: Ints32
    target_clip: Ints32
    target_start: Ints32
    yaw: Floats
    x: Floats
    z: Floats


class Tracks(NamedTuple):
    """Root tracks, as that kernel takes them."""

    offsets: Ints
    last: Ints
    ratio: Floats
    place: Complexes
    facing: Floats
    words: Ints32
    height: Floats
    faults_before: Ints
    abrupt_before: Ints


class RowsOut(NamedTuple):
    """Where that kernel writes what it finds."""

    way: Floats
    """x, z and step of each row, (R, 3)."""
    facing: Floats
    label_words: Ints32
    bent_over: Floats
    so_far: Floats
    """Way made since the edge began, (R,)."""
    faulty: Flags
    """Whether each edge shows a fault, (K,)."""
    rough: Floats
    """How often it shows something abrupt, (K,)."""


class EdgesOut(NamedTuple):
    """Where another kernel writes what it finds of edges; see `KernelTables`."""

    first: Ints
    length: Ints
    edge_way: Floats
    target: Ints
    yaw: Floats
    target_clip: Ints
    turn: Floats
    shift: Floats
    bend: Floats
    number: Ints
    """Which edges of the graph they are."""


class Pool:
    """Arrays of one length that grows."""

    def __init__(self, shapes: dict[str, tuple[tuple[int, ...], Any]], room: int = 1024) -> None:
        self.count = 0
        self._arrays = {name: np.empty((room, *shape), dtype) for name, (shape, dtype) in shapes.items()}

    @property
    def nbytes(self) -> int:
        """Size of what they hold."""
        return sum(array[: self.count].nbytes for array in self._arrays.values())

    def __getitem__(self, name: str) -> NDArray[Any]:
        """An array of this name, as far as it is filled."""
        return seal(self._arrays[name][: self.count])

    def extend(self, more: int) -> dict[str, NDArray[Any]]:
        """So many more rows, of each array by its name, for somebody to fill."""
        count, self.count = self.count, self.count + more
        for name, array in self._arrays.items():
            if self.count > len(array):
                larger = np.empty((max(2 * len(array), self.count), *array.shape[1:]), array.dtype)
                larger[:count] = array[:count]
                self._arrays[name] = larger
        return {name: array[count : self.count] for name, array in self._arrays.items()}


class PagedTables:
    """The tables of the nodes that searches have come to; see `EdgeTables` for those of all of a small graph."""

    def __init__(self, graph: MotionGraph, roots: RootTracks, frames: Frames, nodes: NodeRows, smooth_s: float) -> None:
        """Begin with none; use `find_paged_tables`."""
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
        self._columns = EdgeColumns(*(getattr(edges, name) for name in EdgeColumns._fields))
        self._tracks = Tracks(*(seal(getattr(roots, name)) for name in Tracks._fields))
        self.label_sets = tuple(roots.sets)
        self.fastest, self.lengths, self.lateral = nodes.fastest, nodes.lengths, nodes.lateral
        self.first_edge, self.last_edge = np.full(count, -1, np.int64), np.full(count, -1, np.int64)
        one: tuple[tuple[int, ...], Any] = ((), np.float64)
        whole: tuple[tuple[int, ...], Any] = ((), np.int64)
        self.rows = Pool({
            "way": ((3,), np.float64), "facing": one, "label_words": ((), np.int32), "bent_over": one, "so_far": one,
        }, room=_ROOM)  # fmt: skip
        self.edges = Pool({
            "first": whole, "length": whole, "edge_way": one, "target": whole, "yaw": one, "target_clip": whole,
            "turn": ((2,), np.float64), "shift": ((2,), np.float64), "bend": ((4,), np.float64), "faulty": ((), bool),
            "rough": one, "number": whole,
        })  # fmt: skip
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

    def emptied(self) -> PagedTables:
        """Tables of the same graph that have nothing paged in; searches that have these keep them."""
        made = PagedTables(self.graph, self.roots, self.frames, self.nodes, self.smooth_s)
        made.derived.update(self.derived)
        return made

    def slots(self, edges: Any) -> Ints:
        """Where edges are in the tables; those that are not are paged in."""
        edges = np.asarray(edges, np.int64)
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
        from choreograph.verbs.follow import _compiled_paging

        graph, edges = self.graph, self.graph.edges
        count = (graph.first_edge[nodes + 1] - graph.first_edge[nodes]).astype(np.int64)
        slot = self.edges.count + np.cumsum(count) - count
        number = self._edges_of(nodes)
        first = np.concatenate([[0], np.cumsum(edges.stop[number] - edges.start[number], dtype=np.int64)])
        before, new, rows = self.rows.count, self.edges.extend(len(number)), self.rows.extend(int(first[-1]))
        self._fill_rows(number, first, new, rows)
        out = EdgesOut(*(new[name] for name in EdgesOut._fields))
        _compiled_paging.fill_edges(
            number, first, before, rows["so_far"], self._columns.target_clip, self.net, self.frames.way,
            self.node_heading, out,
        )  # fmt: skip
        self.first_edge[nodes], self.last_edge[nodes] = slot, slot + count

    def _fill_rows(
        self, number: Ints, first: Ints, new: dict[str, NDArray[Any]], rows: dict[str, NDArray[Any]]
    ) -> None:
        """Fill the rows of some edges, which begin at `first`, and what is known of the edges; see `fill_rows`."""
        graph, roots = self.graph, self.roots
        if len(graph.long_blends):
            found = find_rows(roots, graph, number)
            rows["way"][:] = np.stack([found.place.real, found.place.imag, found.step], axis=1)
            rows["facing"][:], rows["label_words"][:] = found.facing, found.label_words
            rows["bent_over"][:], rows["so_far"][:] = found.bent_over, so_far(found.step, found.first, found.length)
            new["faulty"][:], new["rough"][:] = find_faulty(roots, graph, number), find_rough(roots, graph, number)
            return
        from choreograph.verbs.follow import _compiled_paging

        out = RowsOut(*((rows | new)[name] for name in RowsOut._fields))
        _compiled_paging.fill_rows(
            number, first, steps_in_frame(roots), max(roots.usual_height, 1e-9), self._columns, self._tracks, out
        )

    def ways(self, step: int) -> Ways:
        """The continuations found so far, known each `step` frames."""
        if step not in self._ways:
            self._ways[step] = Ways(self.net, self.frames, step)
        return self._ways[step]

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


def find_paged_tables(graph: MotionGraph, smooth_s: float) -> PagedTables:
    """Empty tables of a graph; what they need of its frames and nodes is read from the cache or computed."""
    parts = ("motion", "labels")
    key = find_key(graph, "root tracks", METHOD, parts, rate_hz=graph.rate_hz, smooth_s=smooth_s)
    roots, frames = find_or_build(key, lambda: _build(graph, smooth_s), _pack, lambda content: _unpack(content, graph))
    nodes = find_or_build(
        find_key(graph, "node rows", METHOD, (*parts, "edges"), rate_hz=graph.rate_hz, smooth_s=smooth_s),
        lambda: find_node_rows(graph, roots, frames),
        lambda rows: Content(rows.facts(), {"place": rows.place, "heading": rows.heading}),
        lambda content: NodeRows.of(content.facts, content.arrays, len(graph.nodes), len(frames.heading)),
    )
    return PagedTables(graph, roots, frames, nodes, smooth_s)


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
    return Content({"label_sets": [sorted(said) for said in roots.sets]}, arrays | frames._asdict())


def _unpack(content: Content, graph: MotionGraph) -> tuple[RootTracks, Frames]:
    """What an entry holds; a ValueError where it contradicts itself or the graph."""
    arrays = content.arrays
    sets = [frozenset(said) for said in content.facts["label_sets"]]
    roots = RootTracks.from_arrays({name[6:]: array for name, array in arrays.items() if name[:6] == "track "}, sets)
    frames = Frames(**{name: arrays[name] for name in Frames._fields})
    count = int(graph.clip_frames.sum())
    if any(len(array) != count for array in frames) or frames.way.shape != (count, 3):
        raise ValueError("the frames are those of other clips")
    if not np.array_equal(np.diff(roots.offsets), [info.own_frames for info in graph.infos]):
        raise ValueError("the tracks are those of other clips")
    if count and not 0 <= frames.words.min() <= frames.words.max() < len(sets):
        raise ValueError("a frame has labels that are not there")
    return roots, frames
