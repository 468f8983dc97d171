"""What the search looks up instead of computing: where every edge takes the root, frame by frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choreograph.base.arrays import Complexes, Flags, Floats, Ints, Ints32, seal
from choreograph.base.errors import RequestError
from choreograph.features.root_tracks import TREMBLE_S, RootTracks
from choreograph.graph.model import MotionGraph
from choreograph.graph.tables import TRANSITION
from choreograph.motion.labels import matches_label, say_labels
from choreograph.verbs.follow.continuations import Continuations, find_continuations

MAX_LABELS = 60
"""Different labels one request may ask for: bits of a word."""


@dataclass(frozen=True, eq=False)
class EdgeTables:
    """The root's way along every edge, in the coordinates of the edge's source clip.

    Row `first[e] + k` is where the root is k + 1 frames after leaving edge e's source node. So an edge's last row is
    the root at the node it arrives at, and no frame is counted twice.
    """

    x: Floats
    z: Floats
    step: Floats
    """Way made since the row before, metres, summed at the clips' own rate: hips sway, and coarser sums lose that."""
    facing: Floats
    """Yaw of the hips, radians."""
    turned: Floats
    """How far the hips have turned since the edge's source node, radians."""
    label_words: Ints32
    """Which set of labels holds, as an index into `label_sets`."""
    label_sets: tuple[frozenset[str], ...]
    first: Ints
    length: Ints
    fastest: float
    """Longest step of all rows."""
    faulty: Flags
    """Edges that show a fault of the recording, (E,)."""
    rough: Floats
    """How often each edge shows a joint that turns abruptly, as in one of a thousand, (E,)."""
    bent_over: Floats
    """How much lower than usual the body is in each row, as a share of its usual height, (R,)."""
    clip_way: Floats
    """x, z and way made since its clip's start, of every frame of every clip, (R, 3)."""
    node_row: Ints
    """The row of `clip_way` that each node stands at."""
    node_left: Ints
    """Frames of the clip after it."""
    smooth_s: float = TREMBLE_S
    """Width of the low-pass under which the root's way is taken."""
    known_continuations: dict[int, Continuations] = field(default_factory=dict, repr=False)
    """Continuations on that were found before, by the frames between their moments."""

    derived: dict[str, Any] = field(default_factory=dict, repr=False)
    """What was computed from the tables before, by name."""

    @property
    def way(self) -> Floats:
        """x, z and way made since the row before, (R, 3), metres."""
        fixed = self.derived.get("fixed")
        return np.stack([self.x, self.z, self.step], axis=1) if fixed is None else np.asarray(fixed.way)

    @cached_property
    def lengths(self) -> tuple[int, int]:
        """Frames of the longest edge and of a usual one."""
        return int(self.length.max(initial=1)), int(np.median(self.length)) if len(self.length) else 1

    def facing_at(self, graph: MotionGraph, nodes: NDArray[Any]) -> Floats:
        """Yaw of the hips at some nodes, radians."""
        row = self.first[graph.first_edge[nodes]]
        return np.asarray(self.facing[row] - self.turned[row])

    def continuations(self, graph: MotionGraph, step: int) -> Continuations:
        """The continuations of every node, known each `step` frames; found once."""
        if step not in self.known_continuations:
            self.known_continuations[step] = find_continuations(
                graph, self.first, self.length, self.way, self.turned, step, self.smooth_s
            )
        return self.known_continuations[step]

    def bits(self, labels: Sequence[str]) -> Ints:
        """For each row, which of the labels hold, as bits.

        Raises:
            RequestError: A label that no frame of the graph has; the message lists those there are.
        """
        if not labels:
            return np.zeros(len(self.label_words), np.int64)
        if len(labels) > MAX_LABELS:
            raise RequestError(f"at most {MAX_LABELS} different labels can be asked for at once")
        known = sorted(frozenset().union(*self.label_sets))
        words = np.zeros(len(self.label_sets), np.int64)
        for bit, wanted in enumerate(labels):
            matches = [text for text in known if matches_label(wanted, text)]
            if not matches:
                raise RequestError(f"no clip of the graph is labelled {wanted!r}; labels are: {say_labels(known)}")
            for k, words_here in enumerate(self.label_sets):
                if words_here.intersection(matches):
                    words[k] |= 1 << bit
        return words[self.label_words]


def build_edge_tables(graph: MotionGraph, smooth_s: float = TREMBLE_S) -> EdgeTables:
    """The tables of a graph; the root blends with the smooth weight, which differs little between kinds of blend.

    Args:
        graph: The graph.
        smooth_s: Width of the low-pass under which the root's way is taken: half a step takes out its sway too.
    """
    roots = find_roots(graph, smooth_s)
    per_frame = steps_in_frame(roots)
    every = np.arange(len(graph.edges))
    rows = find_rows(roots, graph, every)
    begun, _ = _facing_and_labels(roots, graph, every, np.zeros(len(every)))
    return EdgeTables(
        seal(rows.place.real.copy()), seal(rows.place.imag.copy()), seal(rows.step), seal(rows.facing),
        seal(_turned(begun, rows.facing, rows.first)), seal(rows.label_words), tuple(roots.sets),
        seal(rows.first), seal(rows.length), float(rows.step.max(initial=1e-6)),
        seal(find_faulty(roots, graph, every)), seal(find_rough(roots, graph, every)),
        seal(rows.bent_over), *clip_ways(roots, graph, per_frame),
        smooth_s=smooth_s,
    )  # fmt: skip


class Rows(NamedTuple):
    """What is known of some edges frame by frame, one edge's rows after another's; see `EdgeTables`."""

    place: Complexes
    step: Floats
    facing: Floats
    label_words: Ints32
    bent_over: Floats
    first: Ints
    length: Ints


def steps_in_frame(roots: RootTracks) -> int:
    """Into how many steps a frame is divided along which the root's way is summed."""
    return max(1, round(float(roots.ratio.max())))


def find_roots(graph: MotionGraph, smooth_s: float) -> RootTracks:
    """Where the roots of a graph's clips go."""
    return RootTracks(graph.clips, [info.own_frames for info in graph.infos], graph.rate_hz, smooth_s)


def find_rows(roots: RootTracks, graph: MotionGraph, edges: Ints) -> Rows:
    """The rows of some edges."""
    per_frame = steps_in_frame(roots)
    length = (graph.edges.stop[edges] - graph.edges.start[edges]).astype(np.int64)
    first = np.cumsum(length) - length
    row_edge = np.repeat(edges, length)
    ahead: Floats = np.asarray(np.arange(len(row_edge)) - np.repeat(first, length) + 1.0, np.float64)
    # Root at finer and finer times within each frame, the last of which is the frame itself.
    before = None
    step = np.zeros(len(row_edge))
    for k in range(per_frame + 1):
        here = _root(roots, graph, row_edge, ahead - 1.0 + k / per_frame)
        if before is not None:
            step += np.abs(here - before)
        before = here
    assert before is not None
    facing, words = _facing_and_labels(roots, graph, row_edge, ahead)
    return Rows(before, step, facing, words, _lower(roots, graph, row_edge, ahead), first, length)


def _root(roots: RootTracks, graph: MotionGraph, edge: Ints, ahead: Floats) -> Complexes:
    """The root, `ahead` frames into each edge."""
    edges = graph.edges
    leaving, entering = graph.mixed_frames(edge, ahead)
    here = roots.at(edges.clip[edge], leaving)
    blended = np.flatnonzero(edges.kind[edge] == TRANSITION)
    e, t = edge[blended], ahead[blended]
    there = roots.at(edges.target_clip[e], entering[blended])
    there = there * np.exp(-1j * edges.yaw[e]) + edges.x[e] + 1j * edges.z[e]
    t = t / (edges.stop[e] - edges.start[e])
    weight = t * t * (3.0 - 2.0 * t)
    here[blended] += weight * (there - here[blended])
    return here


def find_rough(roots: RootTracks, graph: MotionGraph, edge: Ints) -> Floats:
    """How often edges show a joint that turns as abruptly as few recorded ones do, (N,)."""
    edges, counts = graph.edges, roots.abrupt_before

    def inside(clip: NDArray[Any], start: NDArray[Any], end: Floats) -> Floats:
        low, high = (np.rint(roots.own(clip, frame.astype(float))).astype(np.int64) for frame in (start, end))
        return np.asarray(counts[high] - counts[low], float)

    left, entered = _ends(graph, edge)
    here = inside(edges.clip[edge], edges.start[edge], left)
    there = inside(edges.target_clip[edge], edges.target_start[edge], entered)
    return np.where(edges.kind[edge] == TRANSITION, 0.5 * (here + there), here)


def find_faulty(roots: RootTracks, graph: MotionGraph, edge: Ints) -> Flags:
    """Which of some edges show a frame with a fault, of either clip where they blend, (N,)."""
    edges, counts = graph.edges, roots.faults_before

    def inside(clip: NDArray[Any], start: NDArray[Any], end: Floats) -> Flags:
        low = np.floor(roots.own(clip, start.astype(float))).astype(np.int64)
        high = np.ceil(roots.own(clip, end)).astype(np.int64) + 1
        return np.asarray(counts[high] > counts[low])

    left, entered = _ends(graph, edge)
    here = inside(edges.clip[edge], edges.start[edge], left)
    return here | inside(edges.target_clip[edge], edges.target_start[edge], entered)


def _ends(graph: MotionGraph, edge: Ints) -> tuple[Floats, Floats]:
    """The frames of both clips at which edges end, (N,)."""
    return graph.mixed_frames(edge, (graph.edges.stop[edge] - graph.edges.start[edge]).astype(float))


def _lower(roots: RootTracks, graph: MotionGraph, edge: Ints, ahead: Floats) -> Floats:
    """How much lower than usual the body is in each row, as a share of its usual height, (R,)."""
    clip, frame = _heavier(graph, edge, ahead)
    height = roots.height[np.rint(roots.own(clip, frame)).astype(np.int64)]
    return np.maximum(1.0 - height / max(roots.usual_height, 1e-9), 0.0)


def clip_ways(roots: RootTracks, graph: MotionGraph, per_frame: int) -> tuple[Floats, Ints, Ints]:
    """Where every clip goes if it is played on, and where the nodes are in that."""
    frames = graph.clip_frames.astype(np.int64)
    begin = np.concatenate([[0], np.cumsum(frames)])
    clip = np.repeat(np.arange(len(frames)), frames)
    frame = np.arange(begin[-1]) - begin[clip]
    way = np.zeros(len(clip))
    before = roots.at(clip, np.maximum(frame - 1.0, 0.0))
    for k in range(1, per_frame + 1):
        here = roots.at(clip, np.maximum(frame - 1.0 + k / per_frame, 0.0))
        way += np.where(frame > 0, np.abs(here - before), 0.0)
        before = here
    walked = np.cumsum(way)
    walked -= walked[begin[clip]]
    nodes = graph.nodes
    row = begin[nodes.clip] + nodes.frame
    left = frames[nodes.clip] - 1 - nodes.frame
    return seal(np.stack([before.real, before.imag, walked], axis=1)), seal(row), seal(left.astype(np.int64))


def _facing_and_labels(roots: RootTracks, graph: MotionGraph, edge: Ints, ahead: Floats) -> tuple[Floats, Ints32]:
    """Facing and labels of the clip that weighs more in each row."""
    clip, frame = _heavier(graph, edge, ahead)
    own = np.rint(roots.own(clip, frame)).astype(np.int64)
    facing = roots.facing[own] + np.where(_late(graph, edge, ahead), graph.edges.yaw[edge], 0.0)
    return facing, roots.words[own]


def _late(graph: MotionGraph, edge: Ints, ahead: Floats) -> Flags:
    """Whether a row shows more of the clip that its edge leads to."""
    edges = graph.edges
    return np.asarray((edges.kind[edge] == TRANSITION) & (2 * ahead >= edges.stop[edge] - edges.start[edge]))


def _heavier(graph: MotionGraph, edge: Ints, ahead: Floats) -> tuple[Ints, Floats]:
    """The clip that weighs more in each row, and its frame at the graph's rate."""
    edges, late = graph.edges, _late(graph, edge, ahead)
    clip = np.where(late, edges.target_clip[edge], edges.clip[edge])
    leaving, entering = graph.mixed_frames(edge, ahead)
    return clip, np.where(late, entering, leaving)


def _turned(begun: Floats, facing: Floats, first: Ints) -> Floats:
    """How far each row has turned since its edge began, by way of the rows between."""
    turn = np.diff(facing, prepend=0.0)
    turn[first] = facing[first] - begun
    turned = np.cumsum((turn + np.pi) % (2 * np.pi) - np.pi)
    before = np.concatenate([[0.0], turned])[first]
    return np.asarray(turned - np.repeat(before, np.diff(first, append=len(facing))))
