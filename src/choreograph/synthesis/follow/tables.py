"""What the search looks up instead of computing: where every edge takes the root, frame by frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choreograph.errors import RequestError
from choreograph.graph.model import TRANSITION, MotionGraph
from choreograph.maths import quat
from choreograph.motion.arrays import seal
from choreograph.motion.bend import find_way
from choreograph.motion.clip import Clip
from choreograph.motion.labels import matches_label, say_labels
from choreograph.synthesis.follow.continuations import Continuations, find_continuations
from choreograph.synthesis.path import Path

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

PATH_STEP_M = 0.01
"""Spacing of the points that the path is looked up in; between them it is straight."""
TREMBLE_S = 0.012
"""Width (standard deviation) of the low-pass under which the root's way is summed. At 120 Hz the tremble of recorded
hips adds up to 1 % to their way; clean-up takes it out of the motion, so the search must not count on it."""
_IMPOSSIBLE_RAD_S2 = 6000.0
"""Angular acceleration that no large joint reaches: recorded runs and jumps stay below 4,000, slips of the capture
begin at 9,000."""
_SURE_PARTS = ("hips", "spine", "hip", "upper_leg", "lower_leg", "clavicle", "upper_arm")
"""Parts whose recorded rotations are smooth; hands, feet and heads tremble even in good recordings."""
_USUAL = 99.9
"""Percentile of all joints' accelerations in the graph's clips beyond which one is abrupt."""
GUIDE_M = 0.6
"""Metres over which corners of the path are rounded for those who are bent along it."""
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
    label_words: NDArray[np.int32]
    """Which set of labels holds, as an index into `label_sets`."""
    label_sets: tuple[frozenset[str], ...]
    first: Ints
    length: Ints
    fastest: float
    """Longest step of all rows."""
    faulty: NDArray[np.bool_]
    """Edges that show a fault of the recording, (E,)."""
    rough: Floats
    """How often each edge shows a joint that turns abruptly, as in one of a thousand, (E,)."""
    clip_way: Floats
    """x, z and way made since its clip's start, of every frame of every clip, (R, 3)."""
    node_row: Ints
    """The row of `clip_way` that each node stands at."""
    node_left: Ints
    """Frames of the clip after it."""
    smooth_s: float = TREMBLE_S
    """Width of the low-pass under which the root's way is taken."""
    known_continuations: dict[int, Continuations] = field(default_factory=dict, repr=False)
    """Continuations that are known already, by the frames between their moments."""

    @property
    def way(self) -> Floats:
        """x, z and way made since the row before, (R, 3), metres."""
        return np.stack([self.x, self.z, self.step], axis=1)

    def continuations(self, graph: MotionGraph, step: int) -> Continuations:
        """The continuations of every node, known each `step` frames; computed once."""
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
    edges = graph.edges
    per_frame = max(1, round(max(info.fps for info in graph.infos) / graph.rate_hz))
    roots = _Roots(graph, smooth_s)
    length = (edges.stop - edges.start).astype(np.int64)
    first = np.concatenate([[0], np.cumsum(length)[:-1]])
    row_edge = np.repeat(np.arange(len(edges)), length)
    ahead = np.arange(len(row_edge)) - first[row_edge] + 1.0
    # Root at finer and finer times within each frame, the last of which is the frame itself.
    before = None
    step = np.zeros(len(row_edge))
    for k in range(per_frame + 1):
        here = _root(roots, graph, row_edge, ahead - 1.0 + k / per_frame)
        if before is not None:
            step += np.abs(here - before)
        before = here
    assert before is not None
    facing, words, sets = _facing_and_labels(roots, graph, row_edge, ahead)
    begun, _, _ = _facing_and_labels(roots, graph, np.arange(len(edges)), np.zeros(len(edges)))
    return EdgeTables(
        seal(before.real.copy()), seal(before.imag.copy()), seal(step), seal(facing),
        seal(_turned(begun, facing, first)), seal(words), sets,
        seal(first.astype(np.int64)), seal(length), float(step.max(initial=1e-6)),
        seal(_faulty(roots, graph)), seal(_rough(roots, graph)), *_clip_ways(roots, graph, per_frame),
        smooth_s=smooth_s,
    )  # fmt: skip


class _Roots:
    """Root positions (x + iz), facing and labels of all clips, one after another at their own rates."""

    def __init__(self, graph: MotionGraph, smooth_s: float = TREMBLE_S) -> None:
        clips = graph.clips
        self.offsets = np.concatenate([[0], np.cumsum([info.own_frames for info in graph.infos])])
        self.last = self.offsets[1:] - 1
        self.ratio = np.array([info.fps / graph.rate_hz for info in graph.infos])
        self.place = np.empty(self.offsets[-1], complex)
        self.facing = np.empty(self.offsets[-1])
        self.faults = np.zeros(self.offsets[-1], np.int64)
        self.sets: dict[frozenset[str], int] = {frozenset(): 0}
        self.words = np.zeros(self.offsets[-1], np.int32)
        self.abrupt = np.zeros(self.offsets[-1], np.int64)
        """How many joints turn abruptly in each frame."""
        turning: list[Floats] = []
        for c, info in enumerate(graph.infos):
            clip, here = clips[c], slice(self.offsets[c], self.offsets[c + 1])
            self.place[here] = _calm(clip.root_pos[:, 0] + 1j * clip.root_pos[:, 2], smooth_s * info.fps)
            self.facing[here] = clip.facing()
            turning.append(accelerations(clip))
            self.faults[here] = find_faults(clip, turning[-1])
            cuts = sorted({0, info.own_frames, *(x.start for x in info.labels), *(x.stop for x in info.labels)})
            for a, b in pairwise(cuts):
                said = frozenset(x.text for x in info.labels if x.start <= a < x.stop)
                self.words[self.offsets[c] + a : self.offsets[c] + b] = self.sets.setdefault(said, len(self.sets))

        usual = np.percentile(np.concatenate([x.ravel() for x in turning]), _USUAL) if turning else 0.0
        for start, x in zip(self.offsets, turning, strict=False):
            self.abrupt[start + 1 : start + 1 + len(x)] = (x > usual).sum(axis=1)

    def own(self, clip: NDArray[Any], frame: Floats) -> Floats:
        """Where a frame at the graph's rate stands among all clips' own frames."""
        return np.minimum(self.offsets[clip] + frame * self.ratio[clip], self.last[clip])

    def at(self, clip: NDArray[Any], frame: Floats) -> NDArray[np.complex128]:
        """Root at a fractional frame."""
        own = self.own(clip, frame)
        low = own.astype(np.int64)
        high = np.minimum(low + 1, self.last[clip])
        return np.asarray(self.place[low] + (own - low) * (self.place[high] - self.place[low]))


def _calm(place: NDArray[np.complex128], sigma: float) -> NDArray[np.complex128]:
    """A curve under a narrow Gaussian of `sigma` frames; beyond its ends it goes on as it was, so it is not slowed."""
    width = min(round(4 * sigma), len(place) - 1)
    if width < 1:
        return place
    weights = np.exp(-0.5 * (np.arange(-width, width + 1) / sigma) ** 2)
    padded = np.pad(place, width, mode="reflect", reflect_type="odd")
    return np.convolve(padded, weights / weights.sum(), mode="valid")


def _root(roots: _Roots, graph: MotionGraph, edge: Ints, ahead: Floats) -> NDArray[np.complex128]:
    """The root, `ahead` frames into each edge."""
    edges = graph.edges
    here = roots.at(edges.clip[edge], edges.start[edge] + ahead)
    blended = np.flatnonzero(edges.kind[edge] == TRANSITION)
    e, t = edge[blended], ahead[blended]
    there = roots.at(edges.target_clip[e], edges.target_start[e] + t)
    there = there * np.exp(-1j * edges.yaw[e]) + edges.x[e] + 1j * edges.z[e]
    t = t / (edges.stop[e] - edges.start[e])
    weight = t * t * (3.0 - 2.0 * t)
    here[blended] += weight * (there - here[blended])
    return here


def accelerations(clip: Clip) -> Floats:
    """Angular acceleration of every joint in all frames but the first and the last, (F - 2, J), rad/s²."""
    spin = quat.as_rotvec(quat.multiply(quat.inverse(clip.local_rot[:-1]), clip.local_rot[1:])) * clip.fps
    return np.asarray(np.linalg.norm(np.diff(spin, axis=0), axis=2) * clip.fps)


def find_faults(clip: Clip, turning: Floats | None = None) -> NDArray[np.bool_]:
    """Frames at which a trunk, leg or upper arm turns as no body can: where the capture slipped, (F,).

    Args:
        clip: The recording.
        turning: Its `accelerations`, if they are known.
    """
    sure = [j for j, role in enumerate(clip.skeleton.roles) if role.endswith(_SURE_PARTS)]
    faults = np.zeros(len(clip), bool)
    if len(clip) < 3 or not sure:
        return faults
    turning = accelerations(clip) if turning is None else turning
    jerked = turning[:, sure].max(axis=1) > _IMPOSSIBLE_RAD_S2
    for shift in range(3):  # the fault is in one of the three frames that the difference was taken over
        faults[shift : len(clip) - 2 + shift] |= jerked
    return faults


def _rough(roots: _Roots, graph: MotionGraph) -> Floats:
    """How often an edge shows a joint that turns as abruptly as few recorded ones do, (E,)."""
    edges = graph.edges
    counts = np.concatenate([[0], np.cumsum(roots.abrupt)])

    def inside(clip: NDArray[Any], start: NDArray[Any]) -> Floats:
        low, high = (
            np.rint(roots.own(clip, frame.astype(float))).astype(np.int64)
            for frame in (start, start + edges.stop - edges.start)
        )
        return np.asarray(counts[high] - counts[low], float)

    here, there = inside(edges.clip, edges.start), inside(edges.target_clip, edges.target_start)
    return np.where(edges.kind == TRANSITION, 0.5 * (here + there), here)


def _faulty(roots: _Roots, graph: MotionGraph) -> NDArray[np.bool_]:
    """Which edges show a frame with a fault, of either clip where they blend."""
    edges = graph.edges
    counts = np.concatenate([[0], np.cumsum(roots.faults)])

    def inside(clip: NDArray[Any], start: NDArray[Any], frames: NDArray[Any]) -> NDArray[np.bool_]:
        low = np.floor(roots.own(clip, start.astype(float))).astype(np.int64)
        high = np.ceil(roots.own(clip, (start + frames).astype(float))).astype(np.int64) + 1
        return np.asarray(counts[high] > counts[low])

    frames = edges.stop - edges.start
    here = inside(edges.clip, edges.start, frames)
    return here | inside(edges.target_clip, edges.target_start, frames)


def _clip_ways(roots: _Roots, graph: MotionGraph, per_frame: int) -> tuple[Floats, Ints, Ints]:
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


def _facing_and_labels(
    roots: _Roots, graph: MotionGraph, edge: Ints, ahead: Floats
) -> tuple[Floats, NDArray[np.int32], tuple[frozenset[str], ...]]:
    """Facing and labels of the clip that weighs more in each row."""
    edges = graph.edges
    late = (edges.kind[edge] == TRANSITION) & (2 * ahead >= edges.stop[edge] - edges.start[edge])
    clip = np.where(late, edges.target_clip[edge], edges.clip[edge])
    frame = np.where(late, edges.target_start[edge], edges.start[edge]) + ahead
    own = np.rint(roots.own(clip, frame)).astype(np.int64)
    facing = roots.facing[own] + np.where(late, edges.yaw[edge], 0.0)
    return facing, roots.words[own], tuple(roots.sets)


def _turned(begun: Floats, facing: Floats, first: Ints) -> Floats:
    """How far each row has turned since its edge began, by way of the rows between."""
    turn = np.diff(facing, prepend=0.0)
    turn[first] = facing[first] - begun
    turned = np.cumsum((turn + np.pi) % (2 * np.pi) - np.pi)
    before = np.concatenate([[0.0], turned])[first]
    return np.asarray(turned - np.repeat(before, np.diff(first, append=len(facing))))


class KernelTables(NamedTuple):
    """The tables as the kernels take them."""

    way: Floats
    """x, z and way made since the row before, (R, 3), metres."""
    facing: Floats
    labels: Ints
    """Labels asked for that hold in each row, as bits."""
    first: Ints
    length: Ints
    edge_way: Floats
    """Way made along each edge, metres."""
    extra: Floats
    """Cost of taking an edge at all, m²·s."""
    target: Ints
    yaw: Floats
    turn: Floats
    """Cosine and sine of the yaw, (E, 2)."""
    shift: Floats
    """x and z, (E, 2)."""
    first_edge: Ints
    target_clip: Ints
    first_way: Ints
    """Each node's first continuation, (N + 1,)."""
    ways: Floats
    """x, z and length at a few moments of each continuation, (W, M, 3)."""
    way_cost: Floats
    """What the transitions of each cost, (W,), m²·s."""
    moment_weight: Floats
    """How much being off the path at each moment of a way on counts, (M,): less where there is time to bend."""
    so_far: Floats
    """Way made since the edge began, (R,), metres."""
    bend: Floats
    """Of each edge where it begins x, z and the heading of travel, in coordinates of its clip, and how far travel turns
    along it, (E, 4), metres and radians."""


class KernelPath(NamedTuple):
    """The path as the kernels take it, sampled evenly."""

    points: Floats
    """(N, 2), x and z."""
    speed: Floats
    """Speed asked for, m/s; negative where none is."""
    label: Ints
    """Labels asked for, as bits; one of them is enough."""
    pause_at: Floats
    pause_s: Floats
    guide: Floats
    """The path without its corners, that bent edges are led along: x, z and heading without leaps, (N, 3)."""


class KernelParams(NamedTuple):
    """The numbers that the kernels take."""

    dt: float
    gamma: float
    """Forced progress, m/s."""
    speed_weight: float
    label_weight: float
    idle_weight: float
    idle_below: float
    """Speed below which someone who was asked for no speed idles, m/s."""
    end_weight: float
    """What the squared distance from the path's end counts when the walk is over, seconds."""
    facing_weight: float
    """Zero where no facing is asked for."""
    fastest: float
    """Longest way the root makes in a frame, metres."""
    per_metre: float
    """Points of the path for each metre of it."""
    length: float
    """Of the path."""
    continuation_s: float
    """Seconds between the moments at which the beam sees a continuation."""
    heuristic_weight: float
    """How much the best continuation counts."""
    credit: float
    """What a metre of the path that is still ahead counts, m²·s."""
    facing: float
    """Yaw asked for at the end."""
    max_lateral: float
    """Lateral acceleration up to which edges are bent at a walk, m/s²; 0 for none."""
    more_lateral: float
    """How much more at a run, m/s²."""
    max_curvature: float
    """Of a bent way, 1/m, however slow."""
    max_stretch: float
    """Share by which edges may be longer or shorter."""
    bend_cost: float
    """Cost of a second at a lateral acceleration of 1 m/s² that bending adds."""
    pursuit_m: float
    """Way within which who is off the path is led back to it, metres at least."""
    pursuit_s: float
    """Seconds within which, if that is farther."""


def kernel_tables(
    tables: EdgeTables,
    graph: MotionGraph,
    labels: Sequence[str],
    extra: Floats,
    ways: Continuations,
    transition_cost: float,
    moment_weight: Floats,
) -> KernelTables:
    """The tables for a request: with the labels it asks for, a cost per edge, and the continuations to compare by."""
    edges = graph.edges
    return KernelTables(
        way=seal(tables.way),
        facing=tables.facing,
        labels=seal(tables.bits(labels)),
        first=tables.first,
        length=tables.length,
        edge_way=seal(np.add.reduceat(tables.step, tables.first)),
        extra=seal(extra),
        target=seal(edges.target.astype(np.int64)),
        yaw=edges.yaw,
        turn=seal(np.stack([np.cos(edges.yaw), np.sin(edges.yaw)], axis=1)),
        shift=seal(np.stack([edges.x, edges.z], axis=1)),
        first_edge=seal(graph.first_edge.astype(np.int64)),
        target_clip=seal(edges.target_clip.astype(np.int64)),
        first_way=ways.first,
        ways=ways.places,
        way_cost=seal(transition_cost * ways.changes),
        moment_weight=seal(moment_weight),
        so_far=seal(_so_far(tables)),
        bend=seal(_find_turns(tables, graph)),
    )


def _so_far(tables: EdgeTables) -> Floats:
    """Way made since each row's edge began, (R,), metres."""
    walked = np.cumsum(tables.step)
    before = np.concatenate([[0.0], walked])[tables.first]
    return np.asarray(walked - np.repeat(before, tables.length))


def _find_turns(tables: EdgeTables, graph: MotionGraph) -> Floats:
    """Where edges begin, in which direction, and how far travel turns along them; see `KernelTables.bend`."""
    edges, frames = graph.edges, graph.clip_frames.astype(np.int64)
    begin = np.concatenate([[0], np.cumsum(frames)])
    ways = [find_way(tables.clip_way[a:b, :2], graph.rate_hz, 0.0) for a, b in pairwise(begin)]
    heading = np.concatenate([way.heading for way in ways])[tables.node_row]
    at = tables.clip_way[tables.node_row[edges.source]]
    turn = heading[edges.target] + edges.yaw - heading[edges.source]
    turn = (turn + np.pi) % (2 * np.pi) - np.pi
    return np.stack([at[:, 0], at[:, 1], heading[edges.source], turn], axis=1)


def kernel_path(path: Path) -> tuple[KernelPath, float, list[str]]:
    """The path for the kernels, its spacing, and the labels it asks for."""
    count = max(2, int(np.ceil(path.length / PATH_STEP_M)) + 1)
    step = path.length / (count - 1)
    along = np.arange(count) * step
    speed, label = np.full(count, -1.0), np.zeros(count, np.int64)
    labels = list(dict.fromkeys(s.label for s in path.stretches if s.label is not None))
    for stretch in path.stretches:
        inside = (along >= stretch.start - 1e-9) & (along <= stretch.stop + 1e-9)
        if stretch.speed is not None:
            speed[inside] = stretch.speed
        if stretch.label is not None:
            label[inside] |= 1 << labels.index(stretch.label)
    pauses = sorted((s.start, s.pause) for s in path.stretches if s.pause)
    at, seconds = (np.array([p[k] for p in pauses], float) for k in (0, 1))
    # All sealed: the kernels are compiled for one kind of array.
    arrays = path.at(along), speed, label, at, seconds, _guide(path, np.asarray(along, np.float64))
    return KernelPath(*(seal(a) for a in arrays)), step, labels


def _guide(path: Path, along: Floats) -> Floats:
    """The path without its corners at these places, and its heading, (N, 3)."""
    smooth = path.smoothed(GUIDE_M)
    places = smooth.at(along * (smooth.length / path.length))
    heading = find_way(places, len(places) / max(path.length, 1e-9), 0.0).heading
    return np.column_stack([places, heading])
