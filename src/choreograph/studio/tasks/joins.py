"""What a higher threshold would bring into the graph."""

from __future__ import annotations

from typing import Any

from choreograph.build.comparison import Search
from choreograph.graph.report import joining_thresholds
from choreograph.studio.context import WorkerContext
from choreograph.studio.facts import Curve, GraphSummary
from choreograph.studio.tasks.build import curve_of, summarise
from choreograph.studio.worker import TaskChannel

TIMES = 3.0
"""Thresholds up to this many times the graph's own are looked at."""


def joins(context: WorkerContext, ask: dict[str, Any], channel: TaskChannel) -> tuple[str, GraphSummary, Curve]:
    """The graph's summary with the thresholds at which lost clips join, and its curve beyond its own threshold.

    Asked as `graph`, the file, `key`, its name, and `notes`, what was said of it when it was built.
    """
    graph = context.graph(ask["graph"])
    ceiling_m = min(max(TIMES * graph.threshold_m, graph.searched_m), 1.0)
    minima, _ = Search(graph.clips, graph.infos, graph.settings, progress=channel.progress).find(ceiling_m)
    joined = joining_thresholds(minima, graph.settings, graph.infos, graph.threshold_m, ceiling_m)
    summary, _ = summarise(graph, ask["key"], joins_at_m=joined)
    summary = summary.model_copy(update={"notes": ask["notes"]})
    return ask["graph"], summary, curve_of(graph, minima, ceiling_m)
