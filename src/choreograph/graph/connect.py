"""From local minima to a connected graph: transitions, cut points, segments, the largest strong component.

Pure functions of arrays and settings; `build` finds the minima, `report` asks what another threshold would give.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choreograph.base.arrays import Flags, Floats, Indices, Ints, Ints32, seal
from choreograph.graph.info import ClipInfo
from choreograph.graph.joining import JoinedEdges, JoinedTables, join_many
from choreograph.graph.settings import EVERYTHING, GraphSettings
from choreograph.graph.tables import SEGMENT, TRANSITION, Edges, LongBlends, Minima, Nodes, Table, Transitions
from choreograph.graph.transitions import (
    Chosen,
    count_places,
    find_transitions,
    interleave,
    number_places,
    parts_of_places,
)
from choreograph.motion.labels import matches_label


def all_transitions(
    minima: Minima,
    settings: GraphSettings,
    threshold_m: float,
    infos: Sequence[ClipInfo],
    long_blends: LongBlends | None = None,
) -> Transitions | Chosen:
    """The transitions below the threshold, as many of them as the settings keep, and the long blends."""
    frames = np.array([info.frames for info in infos], np.int32)
    near = minima.distance_m <= thresholds_of(minima, settings, threshold_m, infos)
    most = settings.most_transitions(int(frames.sum(dtype=np.int64)))
    every = find_transitions(minima if near.all() else minima.take(near), frames, settings.window_frames, most)
    return every if long_blends is None or not len(long_blends) else with_long_blends(every.table(), long_blends)


def with_long_blends(transitions: Transitions, blends: LongBlends) -> Transitions:
    """The transitions and the long blends, in the order in which transitions are."""
    both = {name: np.concatenate([column, getattr(blends, name)]) for name, column in transitions.columns().items()}
    order = np.lexsort([both[name] for name in ("target_frame", "target_clip", "source_frame", "source_clip")])
    return Transitions(**{name: column[order] for name, column in both.items()})


def thresholds_of(minima: Minima, settings: GraphSettings, threshold_m: float, infos: Sequence[ClipInfo]) -> Floats:
    """The threshold of each minimum, (M,), metres: the general one, or the strictest of those for its labels.

    A window has the labels of its middle frame.
    """
    limits = np.broadcast_to(np.float64(threshold_m), len(minima))
    if not settings.label_thresholds:
        return limits
    texts = {text for entry in settings.label_thresholds for text in (entry.first, entry.second)}
    middle = settings.window_frames // 2
    offsets = np.concatenate([[0], np.cumsum([info.frames for info in infos])])
    at_a = offsets[minima.clip_a] + minima.frame_a + middle
    at_b = offsets[minima.clip_b] + minima.frame_b + middle
    parts = {text: _frames_with(text, infos, settings.rate_hz) for text in texts}
    special = np.full(len(minima), np.inf)
    for entry in settings.label_thresholds:
        first, second = parts[entry.first], parts[entry.second]
        fits = (first[at_a] & second[at_b]) | (second[at_a] & first[at_b])
        special[fits] = np.minimum(special[fits], entry.threshold_m)
    return np.where(np.isfinite(special), special, limits)


def _frames_with(text: str, infos: Sequence[ClipInfo], rate_hz: float) -> Flags:
    """Which of all clips' frames, one clip after another at the graph's rate, carry a label."""
    return np.concatenate([label_mask(info, text, rate_hz) for info in infos])


@dataclass(frozen=True, eq=False)
class ConnectLimits:
    """How far minima can matter between two clips, by classes of clips that the same label thresholds concern."""

    table: Floats
    """(K, K), symmetric, metres."""
    classes: tuple[int, ...]
    """Class of each clip, (C,)."""

    def of(self, minima: Minima) -> Floats:
        """The limit of each minimum, (M,)."""
        if self.table.size == 1:
            return np.broadcast_to(self.table[0], len(minima))
        classes = np.array(self.classes, np.intp)
        return np.asarray(self.table[classes[minima.clip_a], classes[minima.clip_b]])


def limits_between(infos: Sequence[ClipInfo], settings: GraphSettings, threshold_m: float) -> ConnectLimits:
    """The largest threshold of any two windows of two clips, under this general one."""
    entries = settings.label_thresholds
    texts = {text for entry in entries for text in (entry.first, entry.second)}
    sets = [
        frozenset(text for text in texts if any(matches_label(text, label.text) for label in info.labels))
        for info in infos
    ]
    groups = sorted(set(sets), key=sorted)
    table = np.full((len(groups), len(groups)), threshold_m)
    for i, one in enumerate(groups):
        for j, other in enumerate(groups):
            for entry in entries:
                if (entry.first in one and entry.second in other) or (entry.second in one and entry.first in other):
                    table[i, j] = max(table[i, j], entry.threshold_m)
    return ConnectLimits(table, tuple(groups.index(texts_of) for texts_of in sets))


def missing_labels(infos: Sequence[ClipInfo], settings: GraphSettings) -> list[str]:
    """Labels that have a threshold of their own but are on no clip."""
    pairs = [text for entry in settings.label_thresholds for text in (entry.first, entry.second)]
    known = {label.text for info in infos for label in info.labels}
    return [wanted for wanted in dict.fromkeys(pairs) if not any(matches_label(wanted, text) for text in known)]


def label_mask(info: ClipInfo, text: str, rate_hz: float) -> Flags:
    """Which frames of a clip, at the graph's rate, carry a label that says this, (F,)."""
    at = np.minimum(np.arange(info.frames) * (info.fps / rate_hz), info.own_frames - 1)
    mask = np.zeros(info.frames, bool)
    for label in info.labels:
        if matches_label(text, label.text):
            mask |= (at >= label.start - 1e-9) & (at < label.stop - 1e-9)
    return mask


@dataclass(frozen=True, eq=False)
class TransitionCuts:
    """All places where transitions leave or arrive, and which of them are strongly connected."""

    clip: Ints32
    """Of each cut point, (N,); ordered by clip and frame."""
    frame: Ints32
    leave: Ints32
    """Cut point that each transition leaves, (T,)."""
    arrive: Ints32
    """Cut point that each transition arrives at, (T,)."""
    component: Ints32
    """Strong component of each cut point, (N,)."""
    largest: int
    """The component with the most frames; -1 if none has a cycle."""

    @property
    def inside(self) -> Flags:
        """Whether each cut point is in the largest component, (N,)."""
        return self.component == self.largest


def cut_clips(transitions: Transitions | Chosen, clip_frames: Ints32) -> TransitionCuts:
    """Cut points of the transitions, and the strong components of the graph they make with the clips between them.

    Since time runs forward in a clip, the part of a clip that is in a component is one range of cut points, and all
    of the clip between them is recorded motion that the component can show.
    """
    offsets = np.concatenate([[0], np.cumsum(clip_frames, dtype=np.int64)])
    leave_at, arrive_at = transitions.places(offsets)
    places, leave, arrive = number_places(leave_at, arrive_at, int(offsets[-1]))
    del leave_at, arrive_at
    clip = (np.searchsorted(offsets, places, side="right") - 1).astype(np.int32)
    frame = (places - offsets[clip]).astype(np.int32)
    if not len(places):
        nothing = np.zeros(0, np.int32)
        return TransitionCuts(nothing, nothing, nothing, nothing, nothing, -1)
    forward = np.flatnonzero(clip[1:] == clip[:-1])
    component = parts_of_places(len(places), forward, leave, arrive)
    # Recorded frames between cut points of one component, plus the blends that keep it together.
    size = np.zeros(component.max() + 1, np.int64)
    same = component[forward] == component[forward + 1]
    np.add.at(size, component[forward[same]], places[forward[same] + 1] - places[forward[same]])
    same = component[leave] == component[arrive]
    size += np.bincount(component[leave[same]], minlength=len(size))
    largest = int(size.argmax()) if size.any() else -1
    return TransitionCuts(clip, frame, leave, arrive, component, largest)


def keep_largest(transitions: Transitions | Chosen, cuts: TransitionCuts) -> tuple[Nodes, Edges]:
    """Nodes and edges of the largest strong component."""
    inside = cuts.inside
    rows = np.flatnonzero(inside[cuts.leave] & inside[cuts.arrive]) if len(inside) else np.zeros(0, np.intp)
    # Cut points of transitions that were not kept divide nothing.
    used = np.zeros(len(inside), bool)
    used[cuts.leave[rows]] = used[cuts.arrive[rows]] = True
    places = np.flatnonzero(used)
    nodes = Nodes(clip=cuts.clip[places], frame=cuts.frame[places])
    renumber = np.cumsum(used, dtype=np.int32) - np.int32(1)
    forward = np.flatnonzero(nodes.clip[1:] == nodes.clip[:-1])
    no_shift = np.zeros(len(forward))
    start = nodes.frame[forward]
    leave, arrive = renumber[cuts.leave[rows]], renumber[cuts.arrive[rows]]
    if ((leave[1:] == leave[:-1]) & (arrive[1:] < arrive[:-1])).any():  # as with long blends
        order = np.lexsort((arrive, leave))
        rows, leave, arrive = rows[order], leave[order], arrive[order]
    # Of one node, the segment comes first, then its transitions in their order.
    blends = np.ones(len(forward) + len(rows), bool)
    blends[np.arange(len(forward)) + np.searchsorted(leave, forward)] = False

    every, column = np.arange(len(rows)), transitions.column

    # One column at a time, since there may be many millions.
    def both(own: NDArray[Any], column: NDArray[Any], chosen: Indices = rows) -> NDArray[Any]:
        return seal(interleave(blends, own, column, chosen))

    edges = Edges(
        source=both(forward.astype(np.int32), leave, every),
        target=both((forward + 1).astype(np.int32), arrive, every),
        kind=seal(np.where(blends, np.int8(TRANSITION), np.int8(SEGMENT))),
        clip=both(nodes.clip[forward], column("source_clip")),
        start=both(start, column("source_frame")),
        stop=both(nodes.frame[forward + 1], column("source_frame") + column("frames")),
        target_clip=both(nodes.clip[forward], column("target_clip")),
        target_start=both(start, column("target_frame")),
        distance_m=both(no_shift, column("distance_m")),
        yaw=both(no_shift, column("yaw")),
        x=both(no_shift, column("x")),
        z=both(no_shift, column("z")),
    )
    return nodes, edges


@dataclass(frozen=True, eq=False)
class Connected:
    """What a threshold makes of the minima."""

    transitions: Transitions | Chosen
    nodes: Nodes
    made: Edges | JoinedEdges
    """The edges; of very many, what their columns are made of."""
    recorded: Ints
    """Frames of each clip that can be shown as they were recorded, (C,)."""
    shown: Ints
    """Frames of each clip that can be shown, as recorded or within a blend, (C,)."""

    @cached_property
    def edges(self) -> Edges:
        """All of them, in memory."""
        return self.made if isinstance(self.made, Edges) else self.made.table()

    def tables(self, others: Mapping[str, Table]) -> Mapping[str, Table]:
        """Nodes and edges, and other tables with them."""
        if isinstance(self.made, Edges):
            return {**others, "nodes": self.nodes, "edges": self.made}
        return JoinedTables({**others, "nodes": self.nodes}, self.made)


def connect(
    minima: Minima,
    settings: GraphSettings,
    threshold_m: float,
    infos: Sequence[ClipInfo],
    long_blends: LongBlends | None = None,
) -> Connected:
    """Transitions below the threshold and long blends, and the largest part of it all without dead ends."""
    frames = np.array([info.frames for info in infos], np.int32)
    transitions = all_transitions(minima, settings, threshold_m, infos, long_blends)
    if isinstance(transitions, Chosen) and transitions.are_many:
        return Connected(transitions, *join_many(transitions, frames))
    nodes, edges = keep_largest(transitions, cut_clips(transitions, frames))
    return Connected(transitions, nodes, edges, *covered_frames(nodes, edges, frames))


def find_threshold(
    minima: Minima, settings: GraphSettings, infos: Sequence[ClipInfo], goal: float | str, highest_m: float
) -> float | None:
    """The lowest general threshold up to `highest_m` that reaches a goal, metres; None if none does.

    More transitions never disconnect anything, so the lowest is found by halving.
    """
    steps = np.unique(minima.distance_m[minima.distance_m <= highest_m])

    def reached(threshold_m: float) -> bool:
        cover = connect(minima, settings, threshold_m, infos).shown
        if goal == EVERYTHING:
            return bool((cover > 0).all())
        return cover.sum() >= float(goal) * sum(info.frames for info in infos)

    if not len(steps) or not reached(float(steps[-1])):
        return None
    low, high = -1, len(steps) - 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(float(steps[middle])) else (middle, high)
    return float(steps[high])


def covered_frames(nodes: Nodes, edges: Edges, clip_frames: Ints32) -> tuple[Ints, Ints]:
    """Frames of each clip that the graph can show, (C,) each: as recorded, and as recorded or within a blend."""
    recorded = edges.kind == SEGMENT
    cover = _mark([(edges.clip[recorded], edges.start[recorded], edges.stop[recorded])], clip_frames)
    # A long blend may be longer than what it takes from either clip.
    blended = _mark(
        [
            (edges.clip, edges.start, np.minimum(edges.stop, clip_frames[edges.clip])),
            (edges.target_clip, edges.target_start, nodes.frame[edges.target]),
        ],
        clip_frames,
    )
    return cover, blended


def _mark(ranges: Sequence[tuple[Ints32, Ints32, Ints32]], clip_frames: Ints32) -> Ints:
    """How many frames of each clip lie in one of the ranges of clips [start, stop), (C,)."""
    # One spare place per clip, so that a range that stops at a clip's end does not leak into the next.
    offsets = np.concatenate([[0], np.cumsum(clip_frames.astype(np.int64) + 1)])
    steps = np.zeros(offsets[-1] + 1, np.int64)
    for clip, start, stop in ranges:
        steps += count_places(offsets, clip, start)
        steps -= count_places(offsets, clip, stop)
    inside = np.cumsum(steps)[:-1] > 0
    return np.add.reduceat(inside.astype(np.int64), offsets[:-1]) if len(clip_frames) else np.zeros(0, np.int64)
