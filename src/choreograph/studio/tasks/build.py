"""Building the project's graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from choreograph.base.errors import RequestError
from choreograph.build.files import build_file
from choreograph.build.staging import ClipStream
from choreograph.graph import coverage
from choreograph.graph.coverage import report_coverage
from choreograph.graph.model import MotionGraph
from choreograph.graph.report import APART, DEAD_END, ISLAND, KEPT, UNREACHED, Join, compute_connectivity, report_graph
from choreograph.graph.settings import GraphSettings
from choreograph.studio.archive import MANY_CLIPS, graph_ask
from choreograph.studio.context import WorkerContext
from choreograph.studio.document import ClipEntry, GraphAsk
from choreograph.studio.facts import ClipReport, Coverage, Curve, GraphSummary, LabelTime, SpeedBand
from choreograph.studio.field_labels import in_labels
from choreograph.studio.worker import TaskChannel

_WHY = {
    KEPT: "",
    APART: "nothing in the other clips is near enough to any of it",
    DEAD_END: "it can be reached, but nothing leads from it back to the rest",
    UNREACHED: "it leads to the rest, but nothing leads to it",
    ISLAND: "its parts lead to each other only, and neither to the rest nor from it",
}
_LOST_TOLD = 60
"""Clips of an archive that fell out which are told one by one."""
_CURVE_POINTS = 81  # of the curve that the page draws, for graphs up to `_CURVE_MINIMA`
_CURVE_MINIMA = 50_000
"""Minima up to which the curve has all its points: some seconds of work."""


def build(context: WorkerContext, ask: dict[str, Any], channel: TaskChannel) -> tuple[str, GraphSummary, Curve]:
    """Build the graph of the document's clips; its file, what became of the clips, and connectivity by threshold.

    Asked as `entries`, `settings`, `key`, the name of what is built, and `notes`, what is to be said with it.
    """
    entries: list[ClipEntry] = ask["entries"]
    if not entries:
        raise RequestError("there are no clips to build a graph of; drop motion files on the window first")
    names = [entry.model_dump_json() for entry in entries]
    graph = build_file(
        context.places.graph,
        ClipStream(names, lambda number: [context.clip(entries[number])]),
        graph_settings(ask["settings"]),
        overwrite=True,
        progress=channel.progress,
        command="choreograph studio",
    )
    return str(context.places.graph), *summarise(graph, ask["key"], list(ask["notes"]))


def summary(context: WorkerContext, ask: dict[str, Any], channel: TaskChannel) -> tuple[str, GraphSummary, Curve]:
    """What became of the clips of a graph that was built elsewhere; asked as `graph`, its file."""
    return ask["graph"], *summarise(context.graph(ask["graph"]), "")


def graph_settings(ask: GraphAsk) -> GraphSettings:
    """The settings that the page's fields stand for."""
    return GraphSettings(**ask.model_dump())


def summarise(
    graph: MotionGraph, key: str, notes: list[str] | None = None, joins: Sequence[Join] = ()
) -> tuple[GraphSummary, Curve]:
    """What the page shows of a graph."""
    report = report_graph(graph, joins=joins)
    # Of an archive some that fell out are told, first those of which it is known what would bring them in.
    lost = sorted(report.lost, key=lambda clip: clip.join is None)[:_LOST_TOLD]
    summary = GraphSummary(
        built_from=key,
        current=True,
        settings=graph_ask(graph.settings),
        threshold_m=graph.threshold_m,
        rate_hz=graph.rate_hz,
        clip_count=len(report.clips),
        kept_count=len(report.clips) - len(report.lost),
        clips=[
            ClipReport(
                name=clip.name,
                state=clip.state,
                frames=clip.frames,
                shown=clip.shown,
                transitions=clip.transitions_out + clip.transitions_in,
                why=_WHY[clip.state],
                joins_at_m=clip.joins_at_m,
                join="" if clip.join is None else str(clip.join),
            )
            for clip in (report.clips if len(report.clips) <= MANY_CLIPS else lost)
        ],
        transitions=report.kept_transitions,
        frames=report.frames,
        shown=report.shown,
        labels=[label.label for label in report.labels],
        notes=[*(in_labels(str(note)) for note in graph.notes), *(notes or [])],
        coverage=_coverage(report_coverage(graph, joins, labels=report.labels)) if graph.searched_m else None,
    )
    if len(report.clips) > MANY_CLIPS:  # some eighty times as long as all else together: when somebody looks at it
        return summary, Curve(threshold_m=[], shown_share=[], clip_share=[], transitions=[])
    return summary, curve_of(graph, graph.minima, max(graph.searched_m, graph.threshold_m))


def _coverage(facts: coverage.Coverage) -> Coverage:
    """What the page shows of what the recordings can do."""
    labels = [
        LabelTime(
            label=entry.label,
            seconds=entry.recorded / facts.rate_hz,
            outside_s=(entry.frames - entry.recorded) / facts.rate_hz,
        )
        for entry in facts.labels
    ]
    bands = [
        SpeedBand(
            said=str(band),
            seconds=band.seconds,
            outside_s=band.outside_s,
            left_m=band.left_m,
            right_m=band.right_m,
            bent_m=band.bent_m,
        )
        for band in facts.bands
    ]
    advice = [in_labels(str(entry)) for entry in facts.advice]
    return Coverage(bands=bands, stops=facts.stops, labels=labels, advice=advice)


def curve(context: WorkerContext, graph: str, channel: TaskChannel) -> Curve:
    """Connectivity by threshold of a graph in a file; coarser, the larger it is."""
    opened = context.graph(graph)
    points = int(np.clip(_CURVE_POINTS * _CURVE_MINIMA / max(len(opened.minima), 1), 5, _CURVE_POINTS))
    return curve_of(opened, opened.minima, max(opened.searched_m, opened.threshold_m), points)


def curve_of(graph: MotionGraph, minima: Any, ceiling_m: float, points: int = _CURVE_POINTS) -> Curve:
    """Connectivity at thresholds from 0 to a ceiling, up to which the minima are known."""
    connectivity = compute_connectivity(minima, graph.settings, graph.infos, np.linspace(0, ceiling_m, points))
    return Curve(
        threshold_m=connectivity.threshold_m.tolist(),
        shown_share=connectivity.shown_share.tolist(),
        clip_share=connectivity.clip_share.tolist(),
        transitions=connectivity.transitions.tolist(),
    )
