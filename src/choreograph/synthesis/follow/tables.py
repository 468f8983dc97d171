"""What the search looks up instead of computing: where every edge takes the root, frame by frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choreograph.errors import RequestError
from choreograph.graph.model import TRANSITION, MotionGraph
from choreograph.maths import quat
from choreograph.motion.arrays import seal
from choreograph.motion.clip import Clip
from choreograph.motion.labels import matches_label, say_labels
from choreograph.synthesis.follow.continuations import Continuations, find_continuations

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

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

    @property
    def way(self) -> Floats:
        """x, z and way made since the row before, (R, 3), metres."""
        return np.stack([self.x, self.z, self.step], axis=1)

    def continuations(self, graph: MotionGraph, step: int) -> Continuations:
        """The ways on from every node, known each `step` frames; found once."""
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
        seal(_faulty(roots, graph)), seal(_rough(roots, graph)),
        seal(_lower(roots, graph, row_edge, ahead)), *_clip_ways(roots, graph, per_frame),
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
        self.height = np.empty(self.offsets[-1])
        """Of the highest joint above the lowest."""
        turning: list[Floats] = []
        for c, info in enumerate(graph.infos):
            clip, here = clips[c], slice(self.offsets[c], self.offsets[c + 1])
            self.place[here] = _calm(clip.root_pos[:, 0] + 1j * clip.root_pos[:, 2], smooth_s * info.fps)
            self.facing[here] = clip.facing()
            self.height[here] = np.ptp(clip.global_positions()[..., 1], axis=1)
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


def _lower(roots: _Roots, graph: MotionGraph, edge: Ints, ahead: Floats) -> Floats:
    """How much lower than usual the body is in each row, as a share of its usual height, (R,)."""
    clip, frame = _heavier(graph, edge, ahead)
    height = roots.height[np.rint(roots.own(clip, frame)).astype(np.int64)]
    usual = float(np.median(roots.height)) if len(roots.height) else 1.0
    return np.maximum(1.0 - height / max(usual, 1e-9), 0.0)


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
    clip, frame = _heavier(graph, edge, ahead)
    own = np.rint(roots.own(clip, frame)).astype(np.int64)
    facing = roots.facing[own] + np.where(_late(graph, edge, ahead), graph.edges.yaw[edge], 0.0)
    return facing, roots.words[own], tuple(roots.sets)


def _late(graph: MotionGraph, edge: Ints, ahead: Floats) -> NDArray[np.bool_]:
    """Whether a row shows more of the clip that its edge leads to."""
    edges = graph.edges
    return np.asarray((edges.kind[edge] == TRANSITION) & (2 * ahead >= edges.stop[edge] - edges.start[edge]))


def _heavier(graph: MotionGraph, edge: Ints, ahead: Floats) -> tuple[Ints, Floats]:
    """The clip that weighs more in each row, and its frame at the graph's rate."""
    edges, late = graph.edges, _late(graph, edge, ahead)
    clip = np.where(late, edges.target_clip[edge], edges.clip[edge])
    return clip, np.where(late, edges.target_start[edge], edges.start[edge]) + ahead


def _turned(begun: Floats, facing: Floats, first: Ints) -> Floats:
    """How far each row has turned since its edge began, by way of the rows between."""
    turn = np.diff(facing, prepend=0.0)
    turn[first] = facing[first] - begun
    turned = np.cumsum((turn + np.pi) % (2 * np.pi) - np.pi)
    before = np.concatenate([[0.0], turned])[first]
    return np.asarray(turned - np.repeat(before, np.diff(first, append=len(facing))))
