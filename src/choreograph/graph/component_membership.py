"""How clips stand to the largest component: counted from the minima and the nodes, in one pass over many millions.

Since the part of a clip that is in the largest component is one range of cut points, from its first node to its last,
nothing has to be connected anew to count what is inside; only what lies outside is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choreograph.base.arrays import Flags, Ints
from choreograph.graph.cache import Content, find_key, find_or_build
from choreograph.graph.connect import thresholds_of
from choreograph.graph.model import MotionGraph

_CHUNK = 1 << 17
"""Minima taken at a time: columns of half a megabyte, which stay in the processor's cache."""
_MANY = 1_000_000
"""Minima from which on the cache has what was counted: of six million, that takes a second."""
_METHOD = 1
"""One more whenever the same graph would be counted otherwise."""


@dataclass(frozen=True, eq=False)
class Standing:
    """What is inside the largest component and what is not, by clip (C,)."""

    first: Ints
    """First and last node of each clip, frames at the graph's rate; both 0 where it has none."""
    last: Ints
    recorded: Ints
    """Frames that can be shown as they were recorded."""
    shown: Ints
    """Frames that can be shown as recorded or within a blend."""
    out: Ints
    """Transitions that leave it, inside or not."""
    into: Ints
    reached: Flags
    """Whether the largest component leads to it."""
    leading: Flags
    """Whether it leads to the largest component."""
    transitions: int
    """All below the threshold, both directions, also those that `max_transitions` leaves out."""
    inside: int
    """Of these, the ones with both ends in the largest component."""
    long_blends: int
    """Of these, the ones longer than a window."""
    cut_points: int
    dead_ends: int
    """Cut points on no cycle."""
    sinks: int
    """Cut points on a cycle, but not in the largest component."""


def node_ranges(graph: MotionGraph) -> tuple[Ints, Ints]:
    """First and last node of each clip, (C,) each, frames at the graph's rate; both 0 where a clip has none.

    All of the clip between them is recorded motion that the graph can show.
    """
    first, last = np.zeros((2, len(graph.infos)), np.int64)
    nodes = graph.nodes  # in the order of clips and frames
    starts = np.flatnonzero(np.diff(nodes.clip, prepend=-1))
    if len(starts):
        ends = np.append(starts[1:], len(nodes)) - 1
        first[nodes.clip[starts]], last[nodes.clip[ends]] = nodes.frame[starts], nodes.frame[ends]
    return first, last


def find_standing(graph: MotionGraph) -> Standing:
    """How each clip stands to the largest component: counted, or of a large graph, as the cache has it."""
    if graph.count_rows("minima") < _MANY:
        return measure_standing(graph)
    # Minima follow from the motion, the settings and how far they were looked for.
    settings = {**graph.settings.as_dict(), "threshold_m": graph.threshold_m, "searched_m": graph.searched_m}
    return find_or_build(
        find_key(graph, "standing", _METHOD, ("motion", "labels", "edges"), **settings),
        lambda: measure_standing(graph),
        _pack,
        lambda content: _unpack(content, len(graph.infos)),
    )


def _pack(standing: Standing) -> Content:
    plain = asdict(standing)
    counted = {name: value for name, value in plain.items() if isinstance(value, int)}
    return Content(counted, {name: value for name, value in plain.items() if name not in counted})


def _unpack(content: Content, clips: int) -> Standing:
    if any(column.shape != (clips,) for column in content.arrays.values()):
        raise ValueError("other clips were counted")
    counted: dict[str, Any] = {**content.facts, **content.arrays}
    return Standing(**counted)


def measure_standing(graph: MotionGraph) -> Standing:
    """How each clip stands to the largest component.

    >>> import choreograph as cg
    >>> from choreograph.demo import demo_clip
    >>> standing = measure_standing(cg.build_graph([demo_clip("walk", 30.0)]))
    >>> bool(standing.shown[0] >= standing.recorded[0] > 0)
    True
    """
    frames = graph.clip_frames.astype(np.int64)
    count = len(frames)
    # One spare place per clip: a transition may arrive after the last frame.
    offsets = np.concatenate([[0], np.cumsum(frames + 1)])
    first, last = node_ranges(graph)
    has_nodes = np.zeros(count, bool)
    has_nodes[graph.nodes.clip] = True
    inside = np.zeros(offsets[-1], bool)
    for clip in np.flatnonzero(has_nodes):
        inside[offsets[clip] + first[clip] : offsets[clip] + last[clip] + 1] = True
    cut, left, arrived = np.zeros((3, offsets[-1]), bool)
    steps = np.zeros(offsets[-1] + 1, np.int32)  # +1 where frames begin to be shown, -1 where they no longer are
    out, into = np.zeros((2, count), np.int64)
    total = within = 0
    outside: list[tuple[Ints, Ints]] = []
    for source, start, target, arrive in _transitions(graph, frames):
        leave_at, arrive_at = offsets[source] + start, offsets[target] + arrive
        cut[leave_at] = cut[arrive_at] = True
        out += np.bincount(source, minlength=count)
        into += np.bincount(target, minlength=count)
        both = inside[leave_at] & inside[arrive_at]
        left[leave_at[both]] = arrived[arrive_at[both]] = True
        total, within = total + len(both), within + int(both.sum())
        outside.append((leave_at[~both], arrive_at[~both]))
    window = graph.window_frames
    for at, begin in ((np.flatnonzero(left), 0), (np.flatnonzero(arrived), -window)):
        steps[at + begin] += 1
        steps[at + begin + window] -= 1
    longer = 0
    if len(blends := graph.long_blends):
        leave_at = offsets[blends.source_clip] + blends.source_frame
        arrive_at = offsets[blends.target_clip] + blends.arrive_frame
        cut[leave_at] = cut[arrive_at] = True
        out += np.bincount(blends.source_clip, minlength=count)
        into += np.bincount(blends.target_clip, minlength=count)
        both = inside[leave_at] & inside[arrive_at]
        longer = int(both.sum())
        total, within = total + len(both), within + longer
        outside.append((leave_at[~both], arrive_at[~both]))
        stop = np.minimum(leave_at + blends.frames, offsets[blends.source_clip + 1] - 1)
        begin_at = offsets[blends.target_clip] + blends.target_frame
        for low, high in ((leave_at[both], stop[both]), (begin_at[both], arrive_at[both])):
            np.add.at(steps, low, 1)
            np.add.at(steps, high, -1)
    np.add.at(steps, offsets[:-1] + first, 1)
    np.add.at(steps, offsets[:-1] + last, -1)
    covered = np.cumsum(steps[:-1]) > 0
    leave, arrive = (np.concatenate([pair[k] for pair in outside] or [np.zeros(0, np.int64)]) for k in (0, 1))
    dead, sinks, reached, leading = _outside(cut, inside, leave, arrive, offsets)
    return Standing(
        first=first,
        last=last,
        recorded=last - first,
        shown=np.add.reduceat(covered.astype(np.int64), offsets[:-1]) if count else np.zeros(0, np.int64),
        out=out,
        into=into,
        reached=reached,
        leading=leading,
        transitions=total,
        inside=within,
        long_blends=longer,
        cut_points=int(cut.sum()),
        dead_ends=dead,
        sinks=sinks,
    )


def _transitions(graph: MotionGraph, frames: Ints) -> Iterator[tuple[NDArray[Any], ...]]:
    """Transitions of a window's length, some at a time: source clip and frame, target clip and frame of arrival."""
    window = graph.window_frames
    columns = graph.read_columns("minima", ("clip_a", "frame_a", "clip_b", "frame_b", "distance_m"))
    limits = None
    if graph.settings.label_thresholds:
        limits = thresholds_of(graph.minima, graph.settings, graph.threshold_m, graph.infos)
    for low in range(0, len(columns["distance_m"]), _CHUNK):
        rows = slice(low, low + _CHUNK)
        near = columns["distance_m"][rows] <= (graph.threshold_m if limits is None else limits[rows])
        a, b = ((columns[f"clip_{x}"][rows][near], columns[f"frame_{x}"][rows][near]) for x in "ab")
        for (source, start), (target, other) in ((a, b), (b, a)):
            fits = other + 2 * window <= frames[target]
            yield source[fits], start[fits], target[fits], other[fits] + window


def _outside(cut: Flags, inside: Flags, leave: Ints, arrive: Ints, offsets: Ints) -> tuple[int, int, Flags, Flags]:
    """Cut points outside of the largest component on no cycle, and on one; clips that it reaches; that lead to it.

    Args:
        cut: Places that are cut points, (P,).
        inside: Places in the largest component, (P,).
        leave: Places that transitions with an end outside leave, (T,).
        arrive: Where they arrive, (T,).
        offsets: First place of each clip, (C + 1,).
    """
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    places = np.flatnonzero(cut)
    own = ~inside[places]
    clip = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))[places]
    count = int(own.sum())
    # All inside is one place, the last.
    number = np.where(own, np.cumsum(own) - 1, count)
    ahead = np.flatnonzero((clip[1:] == clip[:-1]) & (own[1:] | own[:-1]))
    row = np.cumsum(cut, dtype=np.int32) - 1  # of each place among the cut points
    start, stop = number[row[leave]], number[row[arrive]]
    rows, columns = np.concatenate([number[ahead], start]), np.concatenate([number[ahead + 1], stop])
    links = csr_matrix((np.ones(len(rows), np.int8), (rows, columns)), shape=(count + 1, count + 1))
    _, component = connected_components(links, directed=True, connection="strong")
    looped = np.zeros(count + 1, bool)
    looped[component[start[component[start] == component[stop]]]] = True
    on_cycle = int(looped[component[:count]].sum())
    touched = []
    for graph in (links, links.T.tocsr()):
        clips = np.zeros(len(offsets) - 1, bool)
        if inside.any():
            order = breadth_first_order(graph, count, directed=True, return_predecessors=False)
            clips[clip[own][order[order < count]]] = True
            clips[clip[~own]] = True
        touched.append(clips)
    return count - on_cycle, on_cycle, touched[0], touched[1]
