"""What a graph kept and lost, by clip and by label, and what it would take to keep more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from choreograph.base.arrays import Floats, Ints
from choreograph.graph import connect
from choreograph.graph.component_membership import Standing, find_standing, node_ranges
from choreograph.graph.info import ClipInfo
from choreograph.graph.model import MotionGraph
from choreograph.graph.settings import GraphSettings
from choreograph.graph.tables import SEGMENT, Minima
from choreograph.motion.labels import label_parts

KEPT, APART, DEAD_END, UNREACHED, ISLAND = "kept", "apart", "dead end", "unreached", "island"
"""How a clip stands to the graph: part of it; with no transition to or from it; it can be reached but not left again
for the rest; it leads there but is never reached; its own small part that neither reaches nor is reached."""


@dataclass(frozen=True)
class Join:
    """What would bring a lost clip into the graph."""

    clip: str
    looked_to_m: float
    """Thresholds up to this one were tried, metres."""
    threshold_m: float | None = None
    """The one that brings it in, metres; None where none does."""
    bridge: tuple[str, str] | None = None
    """A lost clip, this one or another that comes in with it, and the clip of the graph that it joins by."""
    nearest_m: float | None = None
    """How near it comes to a clip of the graph, metres, if within what was looked at."""

    def __str__(self) -> str:
        if self.threshold_m is None:
            text = f"nothing below {100 * self.looked_to_m:.3g} cm brings it in"
            if self.nearest_m is None:
                return text
            return f"{text}: it comes as near as {100 * self.nearest_m:.1f} cm, but is too short to come and go"
        if self.bridge is None:
            return f"joins at {100 * self.threshold_m:.1f} cm"
        own, other = self.bridge
        if own == self.clip:
            return f"joins at {100 * self.threshold_m:.1f} cm, by way of {other}"
        return f"joins at {100 * self.threshold_m:.1f} cm together with {own}, which bridges to {other}"


@dataclass(frozen=True)
class ClipReport:
    """What became of one clip."""

    name: str
    labels: tuple[str, ...]
    frames: int
    """At the graph's rate."""
    recorded: int
    """Frames that can be shown as they were recorded."""
    shown: int
    """Frames that can be shown as recorded or within a blend."""
    transitions_out: int
    """Transitions that leave it, kept or not."""
    transitions_in: int
    state: str
    joins_at_m: float | None = None
    """A threshold that brings a lost clip in, metres, if one was looked for and found."""
    join: Join | None = None
    """What would bring a lost clip in, if somebody has looked."""


@dataclass(frozen=True)
class LabelReport:
    """What became of the frames of which a label, or a part of one such as "run" in "run/jog", says one thing."""

    label: str
    frames: int
    recorded: int


@dataclass(frozen=True)
class GraphReport:
    """What a graph is made of."""

    rate_hz: float
    window_frames: int
    threshold_m: float
    minima: int
    transitions: int
    """Below the threshold, both directions counted, with a whole window left where they arrive."""
    kept_transitions: int
    thinned_transitions: int
    """Within the largest component, but left out: each place keeps the nearest ones only."""
    long_blends: int
    """Of the transitions kept, those longer than a window."""
    waiting: int
    """Clips left out that long blends join where a request asks for what they show."""
    nodes: int
    segments: int
    cut_points: int
    """Nodes before the largest component was taken."""
    dead_ends: int
    """Cut points on no cycle."""
    sinks: int
    """Cut points on a cycle, but not in the largest component."""
    frames: int
    recorded: int
    shown: int
    evaluated_share: float
    clips: tuple[ClipReport, ...]
    labels: tuple[LabelReport, ...]

    @property
    def lost(self) -> tuple[ClipReport, ...]:
        """The clips of which nothing was kept."""
        return tuple(clip for clip in self.clips if clip.state != KEPT)

    def as_dict(self) -> dict[str, Any]:
        """The report as plain values, for JSON."""
        return asdict(self)


def report_graph(
    graph: MotionGraph, joins_at_m: Mapping[str, float] | None = None, *, joins: Sequence[Join] = ()
) -> GraphReport:
    """What the graph kept and lost.

    >>> import choreograph as cg
    >>> from choreograph.demo import demo_clip
    >>> report_graph(cg.build_graph([demo_clip("walk", 30.0)])).clips[0].name
    'walk'

    Args:
        graph: The graph.
        joins_at_m: Thresholds that bring lost clips in, by name, as from `find_joining_thresholds`.
        joins: What brings lost clips in, as from `find_joins`, which says more.
    """
    known = {join.clip: join for join in joins}
    thresholds = {name: join.threshold_m for name, join in known.items()} | dict(joins_at_m or {})
    standing = find_standing(graph)
    states = _states(standing)
    clips = tuple(
        ClipReport(
            name=info.name,
            labels=tuple(dict.fromkeys(label.text for label in info.labels)),
            frames=info.frames,
            recorded=int(standing.recorded[n]),
            shown=int(standing.shown[n]),
            transitions_out=int(standing.out[n]),
            transitions_in=int(standing.into[n]),
            state=states[n],
            joins_at_m=thresholds.get(info.name),
            join=known.get(info.name),
        )
        for n, info in enumerate(graph.infos)
    )
    segments = len(graph.nodes) - len(np.unique(graph.nodes.clip))
    links = graph.count_rows("edges") - segments
    return GraphReport(
        rate_hz=graph.rate_hz,
        window_frames=graph.window_frames,
        threshold_m=graph.threshold_m,
        minima=graph.count_rows("minima"),
        transitions=standing.transitions,
        kept_transitions=links,
        thinned_transitions=standing.inside - links,
        long_blends=standing.long_blends,
        waiting=len(np.unique(graph.wider.nodes.clip)) - len(np.unique(graph.nodes.clip)),
        nodes=len(graph.nodes),
        segments=segments,
        cut_points=standing.cut_points,
        dead_ends=standing.dead_ends,
        sinks=standing.sinks,
        frames=int(graph.clip_frames.sum(dtype=np.int64)),
        recorded=int(standing.recorded.sum()),
        shown=int(standing.shown.sum()),
        evaluated_share=graph.evaluated_share,
        clips=clips,
        labels=label_reports(graph),
    )


def _states(standing: Standing) -> list[str]:
    """How each clip stands to the largest component."""
    linked = standing.out + standing.into
    states = []
    for n in range(len(linked)):
        if standing.shown[n]:
            states.append(KEPT)
        elif not linked[n]:
            states.append(APART)
        elif standing.reached[n]:
            states.append(DEAD_END)
        else:
            states.append(UNREACHED if standing.leading[n] else ISLAND)
    return states


def label_reports(graph: MotionGraph) -> tuple[LabelReport, ...]:
    """What became of the frames of each label, by label."""
    first, last = node_ranges(graph)
    frames: dict[str, int] = {}
    recorded: dict[str, int] = {}
    for number, info in enumerate(graph.infos):
        low, high = int(first[number]), int(last[number])
        whole = all(label.start <= 0 and label.stop >= info.own_frames for label in info.labels)
        for text in _parts(info):
            if whole:
                labelled, labelled_kept = info.frames, high - low
            else:
                mask = connect.label_mask(info, text, graph.rate_hz)
                labelled, labelled_kept = int(mask.sum()), int(mask[low:high].sum())
            frames[text] = frames.get(text, 0) + labelled
            recorded[text] = recorded.get(text, 0) + labelled_kept
    return tuple(LabelReport(text, frames[text], recorded[text]) for text in sorted(frames))


def _parts(info: ClipInfo) -> list[str]:
    return list(dict.fromkeys(part for label in info.labels for part in label_parts(label.text)))


@dataclass(frozen=True, eq=False)
class Connectivity:
    """How much hangs together, by threshold."""

    threshold_m: Floats
    """(K,), ascending."""
    recorded_share: Floats
    """Of all frames, those that can be shown as recorded, (K,)."""
    shown_share: Floats
    """Those that can be shown as recorded or within a blend, (K,)."""
    clip_share: Floats
    """Of all clips, those with a part in it, (K,)."""
    transitions: Ints
    """Transitions kept, (K,)."""


def compute_connectivity(
    minima: Minima, settings: GraphSettings, infos: Sequence[ClipInfo], thresholds_m: Floats
) -> Connectivity:
    """Connectivity at each of these thresholds; minima must reach up to the largest for it to be meant."""
    frames = sum(info.frames for info in infos)
    rows = []
    for threshold in thresholds_m:
        joined = connect.connect(minima, settings, float(threshold), infos)
        links = int((joined.edges.kind != SEGMENT).sum())
        rows.append((joined.recorded.sum() / frames, joined.shown.sum() / frames, (joined.shown > 0).mean(), links))
    table = np.array(rows, float).reshape(-1, 4).T
    return Connectivity(np.asarray(thresholds_m), table[0], table[1], table[2], table[3].astype(np.int64))


_STEP_M = 0.001
"""Joining thresholds are told to the millimetre, upwards: nobody sets a threshold finer than that."""


def joining_thresholds(
    minima: Minima, settings: GraphSettings, infos: Sequence[ClipInfo], threshold_m: float, ceiling_m: float
) -> dict[str, float]:
    """For each clip that the threshold leaves out, the lowest one, to a millimetre, at which it takes part.

    Args:
        minima: Local minima up to the ceiling.
        settings: How the graph is built.
        infos: The clips.
        threshold_m: The threshold in force.
        ceiling_m: The highest threshold to try.

    Returns:
        Thresholds in metres by clip name; clips that stay out up to the ceiling are not in it.
    """
    grid = np.arange(np.floor(threshold_m / _STEP_M) + 1, np.floor(ceiling_m / _STEP_M + 1e-9) + 1) * _STEP_M

    def inside(step: int) -> set[int]:
        """Clips that take part at a step of the grid; -1 is the threshold in force."""
        at = threshold_m if step < 0 else float(grid[step])
        return set(np.flatnonzero(connect.connect(minima, settings, at, infos).shown).tolist())

    thresholds: dict[str, float] = {}

    def search(low: int, high: int, below: set[int], above: set[int]) -> None:
        """Clips in `above` and not in `below` join in (low, high]."""
        if above == below:
            return
        if high - low == 1:
            thresholds.update({infos[n].name: float(grid[high]) for n in above - below})
            return
        middle = (low + high) // 2
        between = inside(middle)
        search(low, middle, below, between)
        search(middle, high, between, above)

    if len(grid):
        search(-1, len(grid) - 1, inside(-1), inside(len(grid) - 1))
    return thresholds
