"""Where edges take the root, frame by frame: what the search looks up instead of computing it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choreograph.base.arrays import Complexes, Flags, Floats, Ints, Ints32, seal
from choreograph.features.root_tracks import RootTracks
from choreograph.graph.model import MotionGraph
from choreograph.graph.tables import TRANSITION


class EdgeRows(NamedTuple):
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


def find_rows(roots: RootTracks, graph: MotionGraph, edges: Ints) -> EdgeRows:
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
    return EdgeRows(before, step, facing, words, _lower(roots, graph, row_edge, ahead), first, length)


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


def turned_since(begun: Floats, facing: Floats, first: Ints) -> Floats:
    """How far each row has turned since its edge began, by way of the rows between."""
    turn = np.diff(facing, prepend=0.0)
    turn[first] = facing[first] - begun
    turned = np.cumsum((turn + np.pi) % (2 * np.pi) - np.pi)
    before = np.concatenate([[0.0], turned])[first]
    return np.asarray(turned - np.repeat(before, np.diff(first, append=len(facing))))
