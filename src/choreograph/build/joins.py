"""What would bring in the clips that a graph left out: a threshold, by way of which clips, or nothing up to a limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from choreograph.base.arrays import Flags, Indices, Ints32
from choreograph.base.progress import Progress
from choreograph.build.comparison import WindowComparison, merge_minima
from choreograph.graph.model import MotionGraph
from choreograph.graph.report import Join, joining_thresholds
from choreograph.graph.subgraph import make_part, spread_clips
from choreograph.graph.tables import Minima

_STEP_M = 0.001
"""Joining thresholds are known to a millimetre."""
QUICK_PAIRS = 20_000_000
"""Pairs of windows that are compared in a moment, so that nobody needs to ask for it."""
_MOST_PAIRS = 20 * QUICK_PAIRS
"""Pairs of windows beyond which it takes longer than advice may."""
_SAMPLE_LOST, _SAMPLE_INSIDE = 2_000, 60_000
"""Frames of the clips that are looked at then: of those left out, and of the graph."""


@dataclass(frozen=True)
class JoinAdvice:
    """What would bring in clips that a graph left out."""

    joins: tuple[Join, ...]
    lost: int
    """Clips that it left out."""
    sampled: bool
    """Whether some of them were looked at, by way of some of the graph's clips."""

    def __str__(self) -> str:
        """What was looked at, where that was not all."""
        if not self.sampled:
            return ""
        return f"looked at {len(self.joins)} of the {self.lost} clips left out, and at some of the graph"


def advise(
    graph: MotionGraph,
    ceiling_m: float | None = None,
    *,
    progress: Progress | None = None,
    workers: int | None = None,
    since: int = 0,
) -> JoinAdvice:
    """What would bring in the clips that the graph left out: all of them, or some where to compare all takes too long.

    >>> import choreograph as cg
    >>> from choreograph.demo import demo_clip
    >>> graph = cg.build_graph([demo_clip("walk", 30.0), demo_clip("walk_fast", 30.0), demo_clip("run", 30.0)])
    >>> advice = advise(graph)
    >>> advice.lost, advice.sampled
    (1, False)

    Args:
        graph: The graph.
        ceiling_m: Largest threshold to try, metres; `ceiling_of` the graph if None.
        progress: Hears how far the work has come.
        workers: Threads to compare with.
        since: Of a graph that is too large for all, only clips from this number on are looked at: whoever adds to it
            asks about these.
    """
    far = ceiling_of(graph) if ceiling_m is None else ceiling_m
    if not is_long(graph):
        joins = find_joins(graph, far, progress=progress, workers=workers)
        return JoinAdvice(joins, len(lost_clips(graph)), sampled=False)
    joins = sample_joins(graph, far, progress=progress, workers=workers, since=since)
    return JoinAdvice(joins, int(np.count_nonzero(lost_clips(graph) >= since)), sampled=True)


def find_joins(
    graph: MotionGraph, ceiling_m: float, *, progress: Progress | None = None, workers: int | None = None
) -> tuple[Join, ...]:
    """What brings in each clip that the graph left out, in the order of its clips.

    Only pairs with such a clip are compared anew, so a still lower threshold may do where several clips of the graph
    would have to come nearer to each other too; the one told surely does.

    >>> import choreograph as cg
    >>> from choreograph.demo import demo_clip
    >>> graph = cg.build_graph([demo_clip("walk", 30.0), demo_clip("walk_fast", 30.0), demo_clip("run", 30.0)])
    >>> [join.clip for join in find_joins(graph, 0.4)]
    ['run']

    Args:
        graph: The graph.
        ceiling_m: Largest threshold to try, metres.
        progress: Hears how far the work has come.
        workers: Threads to compare with.
    """
    lost = lost_clips(graph)
    if not len(lost):
        return ()
    if ceiling_m <= graph.threshold_m:
        return tuple(Join(graph.infos[n].name, ceiling_m) for n in lost)
    search = WindowComparison(graph.clips, graph.infos, graph.settings, progress=progress, workers=workers)
    minima, _ = search.find(ceiling_m, lost.tolist())
    old = graph.minima
    rest = ~(np.isin(old.clip_a, lost) | np.isin(old.clip_b, lost))
    return joins_from(graph, merge_minima([minima, old.take(rest)]), ceiling_m)


def sample_joins(
    graph: MotionGraph,
    ceiling_m: float,
    *,
    progress: Progress | None = None,
    workers: int | None = None,
    since: int = 0,
) -> tuple[Join, ...]:
    """What brings in some of the clips that a large graph left out, by way of some of its clips.

    The thresholds told surely do; a lower one may, by way of a clip that was not looked at. Arguments are those of
    `find_joins`, and the number of the first clip that anybody asks about.
    """
    lost = lost_clips(graph)
    some = _spread(lost[lost >= since], graph.clip_frames, _SAMPLE_LOST)
    if not some:
        return ()
    inside = [number for number in spread_clips(graph, _SAMPLE_INSIDE) if number not in set(lost.tolist())]
    part = make_part(graph, [*some, *inside])
    names = {graph.infos[number].name for number in some}
    joins = find_joins(part, ceiling_m, progress=progress, workers=workers)
    return tuple(join for join in joins if join.clip in names)


def _spread(numbers: Indices, frames: Ints32, most: int) -> list[int]:
    """Clips spread evenly over these, at least one, of up to so many frames."""
    count = len(numbers)
    while count > 1 and frames[numbers[:: -(-len(numbers) // count)]].sum() > most:
        count -= max(1, count // 8)
    return [int(number) for number in numbers[:: -(-len(numbers) // count)]] if count else []


def joins_from(graph: MotionGraph, minima: Minima, ceiling_m: float) -> tuple[Join, ...]:
    """The same, of local minima that are known up to the ceiling between lost clips and all others."""
    lost = lost_clips(graph)
    joined = joining_thresholds(minima, graph.settings, graph.infos, graph.threshold_m, ceiling_m)
    number = {info.name: n for n, info in enumerate(graph.infos)}
    steps: dict[float, list[int]] = {}
    for name, threshold in joined.items():
        steps.setdefault(threshold, []).append(number[name])
    inside = np.ones(len(graph.infos), bool)
    inside[lost] = False
    bridges: dict[int, tuple[str, str]] = {}
    for threshold in sorted(steps):
        group = steps[threshold]
        bridge = _bridge(graph, minima, group, inside, threshold)
        bridges |= {} if bridge is None else dict.fromkeys(group, bridge)
        inside[group] = True
    nearest = _nearest(minima, lost, len(graph.infos), ~np.isin(np.arange(len(graph.infos)), lost))
    return tuple(
        Join(graph.infos[n].name, ceiling_m, joined.get(graph.infos[n].name), bridges.get(n), nearest[n]) for n in lost
    )


def find_joining_thresholds(
    graph: MotionGraph, ceiling_m: float, *, progress: Progress | None = None, workers: int | None = None
) -> dict[str, float]:
    """Thresholds that bring in the clips that the graph left out, metres by clip name.

    Arguments are those of `find_joins`. Clips that stay out up to the ceiling are not in the result.
    """
    joins = find_joins(graph, ceiling_m, progress=progress, workers=workers)
    return {join.clip: join.threshold_m for join in joins if join.threshold_m is not None}


def lost_clips(graph: MotionGraph) -> Indices:
    """Numbers of the clips of which the graph shows nothing."""
    return np.flatnonzero(np.bincount(graph.nodes.clip, minlength=len(graph.infos)) == 0)


def is_quick(graph: MotionGraph) -> bool:
    """Whether finding joins takes but a moment: few pairs of windows are to be compared."""
    return _pairs(graph) <= QUICK_PAIRS


def is_long(graph: MotionGraph) -> bool:
    """Whether finding all joins takes longer than advice may."""
    return _pairs(graph) > _MOST_PAIRS


def _pairs(graph: MotionGraph) -> int:
    """Pairs of frames of lost clips and all."""
    return int(graph.clip_frames[lost_clips(graph)].sum()) * int(graph.clip_frames.sum())


def ceiling_of(graph: MotionGraph) -> float:
    """How far to look for joins unless somebody says: as far as a goal may go, less far in large graphs."""
    far = max(4 * graph.threshold_m, graph.settings.ceiling_m)
    return min(far if is_quick(graph) else 4 * graph.threshold_m, 10.0)


def _bridge(
    graph: MotionGraph, minima: Minima, group: Sequence[int], inside: Flags, threshold_m: float
) -> tuple[str, str] | None:
    """The clip of a group and the clip inside whose minimum, the farthest of those needed, lets the group in."""
    new = np.zeros(len(inside), bool)
    new[list(group)] = True
    crossing = (new[minima.clip_a] & inside[minima.clip_b]) | (inside[minima.clip_a] & new[minima.clip_b])
    crossing &= minima.distance_m <= threshold_m
    rows = np.flatnonzero(crossing)
    if not len(rows):
        return None
    # What the last millimetre brought made the difference; else the nearest pair there is.
    late = rows[minima.distance_m[rows] > threshold_m - _STEP_M]
    row = int(late[0]) if len(late) else int(rows[minima.distance_m[rows].argmin()])
    a, b = int(minima.clip_a[row]), int(minima.clip_b[row])
    mine, other = (a, b) if new[a] else (b, a)
    return graph.infos[mine].name, graph.infos[other].name


def _nearest(minima: Minima, lost: Indices, count: int, inside: Flags) -> dict[int, float | None]:
    """How near each lost clip comes to one inside, metres; None where it does not within what was looked at."""
    least = np.full(count, np.inf)
    for mine, other in ((minima.clip_a, minima.clip_b), (minima.clip_b, minima.clip_a)):
        rows = inside[other] & ~inside[mine]
        np.minimum.at(least, mine[rows], minima.distance_m[rows])
    return {int(n): float(least[n]) if np.isfinite(least[n]) else None for n in lost}
