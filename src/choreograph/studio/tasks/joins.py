"""What a higher threshold would bring into the graph."""

from __future__ import annotations

from typing import Any

from choreograph.build.comparison import WindowComparison
from choreograph.build.joins import advise, ceiling_of, find_joins, is_long, joins_from
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
    if is_long(graph):
        advice = advise(graph, progress=channel.progress)
        summary, curve = summarise(graph, ask["key"], joins=advice.joins)
        notes = list(dict.fromkeys([*ask["notes"], str(advice)]))
        return ask["graph"], summary.model_copy(update={"notes": notes}), curve
    curve_m = min(max(TIMES * graph.threshold_m, graph.searched_m), 1.0)
    search = WindowComparison(graph.clips, graph.infos, graph.settings, progress=channel.progress)
    minima, _ = search.find(curve_m)
    ceiling_m = max(curve_m, min(ceiling_of(graph), 1.0))
    joins = joins_from(graph, minima, curve_m)
    if any(join.threshold_m is None for join in joins) and ceiling_m > curve_m:
        # Few stay out, and only pairs with them matter farther away.
        joins = find_joins(graph, ceiling_m, progress=channel.progress)
    summary, _ = summarise(graph, ask["key"], joins=joins)
    summary = summary.model_copy(update={"notes": ask["notes"]})
    return ask["graph"], summary, curve_of(graph, minima, curve_m)
