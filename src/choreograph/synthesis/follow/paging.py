"""Tables of a graph that is too large to have them of all its edges: nodes are paged in where the search comes.

What is known of every frame is computed once and kept in the cache: some 100 bytes a frame. Of edges, whose rows would
be ten times that, only those have rows that leave a node which a walk has reached; they get numbers of their own, their
places in the tables, which is what the kernels call edges. Continuations are found of the nodes that these lead to,
with two transitions at most.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choreograph.errors import RequestError
from choreograph.features.root_tracks import RootTracks
from choreograph.graph.cache import Content, find_key, find_or_build
from choreograph.graph.model import MotionGraph
from choreograph.motion.arrays import seal
from choreograph.motion.labels import matches_label, say_labels
from choreograph.synthesis.follow.continuations import MOMENTS, TURN_BIN_RAD, TURN_BINS
from choreograph.synthesis.follow.kernel_inputs import KernelTables, find_headings, recorded_lateral, so_far, turns_of
from choreograph.synthesis.follow.tables import (
    MAX_LABELS,
    clip_ways,
    find_faulty,
    find_roots,
    find_rough,
    find_rows,
    steps_in_frame,
)

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

METHOD = 1
"""One more whenever the same graph would give other tracks."""
MOST_ROWS = 3_000_000
"""Rows of all edges up to which a graph has tables of all of them: some 300 MB."""
MOST_BYTES = 1 << 30
"""Size of what is paged in from which on the next search begins with empty tables."""
_SAMPLE = 20_000
"""Edges by which it is known how sharply recorded people turn."""
_CHANGES, _ENOUGH, _SECOND_CHANGES = 32, 6, 36
"""Continuations with one transition that are looked at, from how many found on none with two are, and how many else."""
_FASTER = 1.25
"""How much longer a step within a blend may be than any recorded one."""


class Net(NamedTuple):
    """Nodes and edges as the kernels take them; edges as the graph has them, rows of nodes as in `Frames`."""

    node_row: Ints
    node_begin: Ints
    """First row of the node's clip."""
    node_end: Ints
    """Last row of the node's clip."""
    node_last: Ints
    """Row of the last node in the node's clip, up to which it can be played on."""
    first_edge: NDArray[np.int32]
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    kind: NDArray[np.int8]
    start: NDArray[np.int32]
    stop: NDArray[np.int32]
    yaw: Floats
    x: Floats
    z: Floats


class Frames(NamedTuple):
    """What is known of every frame of every clip, one clip after another, at the graph's rate."""

    way: Floats
    """x, z and way made since the clip's start, (R, 3), metres."""
    facing: Floats
    turned: Floats
    """Facing without leaps, radians, from wherever the clip begins."""
    words: NDArray[np.int32]
    """Which set of labels holds."""
    heading: Floats
    """Direction of travel."""


class EdgeColumns(NamedTuple):
    """The graph's edges, as the kernel that fills rows takes them."""

    kind: NDArray[np.int8]
    clip: NDArray[np.int32]
    start: NDArray[np.int32]
    stop: NDArray[np.int32]
    target_clip: NDArray[np.int32]
    target_start: NDArray[np.int32]
    yaw: Floats
    x: Floats
    z: Floats


class Tracks(NamedTuple):
    """Root tracks, as that kernel takes them."""

    offsets: Ints
    last: Ints
    ratio: Floats
    place: NDArray[np.complex128]
    facing: Floats
    words: NDArray[np.int32]
    height: Floats
    faults_before: Ints
    abrupt_before: Ints


class Pool:
    """Arrays of one length that grows."""

    def __init__(self, shapes: dict[str, tuple[tuple[int, ...], Any]]) -> None:
        self.count = 0
        self._arrays = {name: np.empty((1024, *shape), dtype) for name, (shape, dtype) in shapes.items()}

    @property
    def nbytes(self) -> int:
        """Size of the arrays."""
        return sum(array.nbytes for array in self._arrays.values())

    def __getitem__(self, name: str) -> NDArray[Any]:
        """An array of this name, as far as it is filled."""
        return seal(self._arrays[name][: self.count])

    def add(self, **columns: NDArray[Any]) -> None:
        """Put rows behind those there are."""
        more = len(next(iter(columns.values())))
        for name, values in columns.items():
            array = self._arrays[name]
            if self.count + more > len(array):
                larger = np.empty((max(2 * len(array), self.count + more), *array.shape[1:]), array.dtype)
                larger[: self.count] = array[: self.count]
                self._arrays[name] = array = larger
            array[self.count : self.count + more] = values
        self.count += more


class Ways:
    """Continuations of the nodes that have any."""

    def __init__(self, nodes: int) -> None:
        self.first, self.last = np.full(nodes, -1, np.int64), np.full(nodes, -1, np.int64)
        self.pool = Pool({"places": ((MOMENTS, 3), np.float64), "changes": ((), np.float64)})


class PagedTables:
    """The tables of the nodes that searches have come to; see `EdgeTables` for those of all of a small graph."""

    def __init__(self, graph: MotionGraph, roots: RootTracks, frames: Frames, smooth_s: float) -> None:
        """Begin with none; use `find_paged_tables`."""
        self.graph, self.roots, self.frames, self.smooth_s = graph, roots, frames, smooth_s
        edges, count = graph.edges, len(graph.nodes)
        begin = np.concatenate([[0], np.cumsum(graph.clip_frames.astype(np.int64))])
        clip = graph.nodes.clip
        self.clip_way = frames.way
        self.node_row = seal(np.minimum(begin[clip] + graph.nodes.frame, begin[clip + 1] - 1))
        self.node_left = seal(begin[clip + 1] - 1 - self.node_row)
        ends = np.searchsorted(clip, np.arange(len(graph.infos)), side="right") - 1
        self.net = Net(
            self.node_row, seal(begin[clip]), seal(begin[clip + 1] - 1), seal(self.node_row[ends[clip]]),
            graph.first_edge, edges.source, edges.target, edges.kind, edges.start, edges.stop, edges.yaw, edges.x,
            edges.z,
        )  # fmt: skip
        self._columns = EdgeColumns(*(getattr(edges, name) for name in EdgeColumns._fields))
        self._tracks = Tracks(*(seal(getattr(roots, name)) for name in Tracks._fields))
        self.label_sets = tuple(roots.sets)
        steps = np.diff(frames.way[:, 2])
        self.fastest = _FASTER * float(np.where(steps > 0, steps, 0.0).max(initial=1e-6))
        length = edges.stop - edges.start
        self.lengths = int(length.max(initial=1)), int(np.median(length)) if len(length) else 1
        """Frames of the longest edge and of a usual one."""
        self.node_heading = seal(frames.heading[self.node_row])
        self.first_edge, self.last_edge = np.full(count, -1, np.int64), np.full(count, -1, np.int64)
        one: tuple[tuple[int, ...], Any] = ((), np.float64)
        whole: tuple[tuple[int, ...], Any] = ((), np.int64)
        self.rows = Pool(
            {"way": ((3,), np.float64), "facing": one, "label_words": ((), np.int32), "bent_over": one, "so_far": one}
        )
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
        return self.rows.nbytes + self.edges.nbytes + sum(ways.pool.nbytes for ways in self._ways.values())

    def emptied(self) -> PagedTables:
        """Tables of the same graph that have nothing paged in; searches that have these keep them."""
        made = PagedTables(self.graph, self.roots, self.frames, self.smooth_s)
        made.derived.update(self.derived)
        return made

    @property
    def lateral(self) -> tuple[float, float]:
        """Lateral acceleration that recorded walks and runs show, m/s²; by some edges."""
        if "lateral" not in self.derived:
            every = len(self.graph.edges) // _SAMPLE + 1
            some = np.arange(0, len(self.graph.edges), every)
            rows = find_rows(self.roots, self.graph, some)
            way = np.add.reduceat(rows.step, rows.first)
            turns = turns_of(self.graph, some, self.clip_way, self.node_row, self.node_heading)
            self.derived["lateral"] = recorded_lateral(way, rows.length / self.graph.rate_hz, turns[:, 3])
        found: tuple[float, float] = self.derived["lateral"]
        return found

    def slots(self, edges: Any) -> Ints:
        """Where edges are in the tables; those that are not are paged in."""
        edges = np.asarray(edges, np.int64)
        source = self.graph.edges.source[edges]
        self.page_in(source)
        return np.asarray(self.first_edge[source] + edges - self.graph.first_edge[source])

    def numbers(self, slots: Any) -> Ints:
        """Which edges of the graph are there: the reverse of `slots`."""
        return np.asarray(self.edges["number"][np.asarray(slots, np.int64)])

    def page_in(self, nodes: Any, step: int | None = None) -> None:
        """Have the edges of these nodes in the tables, and the continuations of the nodes that they lead to.

        Args:
            nodes: The nodes.
            step: Frames between the moments of continuations, where they are wanted.
        """
        nodes = np.unique(np.asarray(nodes, np.int64))
        new = nodes[self.first_edge[nodes] < 0]
        if len(new):
            self._add_edges(new)
        if step is not None:
            self._add_continuations(nodes, step)

    def _add_edges(self, nodes: Ints) -> None:
        graph, edges = self.graph, self.graph.edges
        count = (graph.first_edge[nodes + 1] - graph.first_edge[nodes]).astype(np.int64)
        slot = self.edges.count + np.cumsum(count) - count
        number = self._edges_of(nodes)
        first = np.concatenate([[0], np.cumsum(edges.stop[number] - edges.start[number], dtype=np.int64)])
        way, facing, words, lower, walked, faulty, rough = self._find_rows(number, first)
        yaw = edges.yaw[number]
        self.edges.add(
            first=first[:-1] + self.rows.count,
            length=np.diff(first),
            edge_way=walked[first[1:] - 1],
            target=edges.target[number],
            yaw=yaw,
            target_clip=edges.target_clip[number],
            turn=np.stack([np.cos(yaw), np.sin(yaw)], axis=1),
            shift=np.stack([edges.x[number], edges.z[number]], axis=1),
            bend=turns_of(graph, number, self.clip_way, self.node_row, self.node_heading),
            faulty=faulty,
            rough=rough,
            number=number,
        )
        self.rows.add(way=way, facing=facing, label_words=words, bent_over=lower, so_far=walked)
        self.first_edge[nodes], self.last_edge[nodes] = slot, slot + count

    def _find_rows(self, number: Ints, first: Ints) -> tuple[NDArray[Any], ...]:
        """Rows of some edges that begin at `first`, and what is known of the edges; see `fill_rows`."""
        graph, roots = self.graph, self.roots
        if len(graph.long_blends):
            rows = find_rows(roots, graph, number)
            way = np.stack([rows.place.real, rows.place.imag, rows.step], axis=1)
            walked = so_far(rows.step, rows.first, rows.length)
            found = find_faulty(roots, graph, number), find_rough(roots, graph, number)
            return way, rows.facing, rows.label_words, rows.bent_over, walked, *found
        from choreograph.synthesis.follow import _compiled_paging

        made: tuple[NDArray[Any], ...] = _compiled_paging.fill_rows(
            number, first, steps_in_frame(roots), max(roots.usual_height, 1e-9), self._columns, self._tracks
        )
        return made

    def _add_continuations(self, nodes: Ints, step: int) -> None:
        from choreograph.synthesis.follow import _compiled_paging

        ways = self.ways(step)
        targets = np.unique(self.graph.edges.target[self._edges_of(nodes)].astype(np.int64))
        new = targets[ways.first[targets] < 0]
        if len(new):
            first, places, changes = _compiled_paging.near_continuations(
                new, step, MOMENTS, _ENOUGH, _CHANGES, _SECOND_CHANGES, TURN_BINS, TURN_BIN_RAD, self.net, self.frames
            )
            ways.first[new], ways.last[new] = first[:-1] + ways.pool.count, first[1:] + ways.pool.count
            ways.pool.add(places=places, changes=changes)

    def ways(self, step: int) -> Ways:
        """The continuations found so far, known each `step` frames."""
        if step not in self._ways:
            self._ways[step] = Ways(len(self.graph.nodes))
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
            ways=ways.pool["places"],
        )


def find_paged_tables(graph: MotionGraph, smooth_s: float) -> PagedTables:
    """Empty tables of a graph; what they need of its frames is read from the cache or computed."""
    parts = ("motion", "labels")
    key = find_key(graph, "root tracks", METHOD, parts, rate_hz=graph.rate_hz, smooth_s=smooth_s)
    roots, frames = find_or_build(key, lambda: _build(graph, smooth_s), _pack, lambda content: _unpack(content, graph))
    tables = PagedTables(graph, roots, frames, smooth_s)
    edges = find_key(graph, "edge sample", METHOD, (*parts, "edges"), rate_hz=graph.rate_hz, smooth_s=smooth_s)
    tables.derived["lateral"] = find_or_build(
        edges,
        lambda: tables.lateral,
        lambda found: Content({"lateral": found}, {}),
        lambda content: (float(content.facts["lateral"][0]), float(content.facts["lateral"][1])),
    )
    return tables


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
