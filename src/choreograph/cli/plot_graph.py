"""What `choreograph plot` draws of .mog files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from choreograph.base.errors import RequestError
from choreograph.cli.common import progress_bar

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from choreograph.graph.model import MotionGraph

GRAPH_KINDS = ("graph", "distances", "connectivity", "transitions")
"""Kinds of plots of a graph, the usual one first."""


def draw_graph(path: Path, kind: str, *, clips: Sequence[str], ceiling_cm: float, theme: str) -> Figure:
    """The plot of this kind of the graph in a .mog file."""
    from choreograph.graph.store import open_graph
    from choreograph.pictures import graph_plots

    graph = open_graph(path)
    if clips and kind != "distances":
        raise RequestError("--clips is for --kind distances")
    if kind == "graph":
        return graph_plots.plot_graph(graph, theme=theme)
    if kind == "transitions":
        return graph_plots.plot_transitions(graph, theme=theme)
    if kind == "connectivity":
        return _draw_connectivity(graph, ceiling_cm / 100, theme)
    if not 1 <= len(clips) <= 2:
        raise RequestError("distances are between two clips of the graph, or within one: name them as --clips A,B")
    return graph_plots.plot_distances(graph, clips[0], clips[-1], theme=theme)


def _draw_connectivity(graph: MotionGraph, ceiling_m: float, theme: str) -> Figure:
    from choreograph.build.comparison import WindowComparison
    from choreograph.graph.report import compute_connectivity
    from choreograph.pictures import graph_plots

    if not 0 < ceiling_m <= 10:
        raise RequestError(f"the ceiling is {100 * ceiling_m:g} cm; it must be between 0 and 1000")
    with progress_bar() as progress:
        minima = graph.minima
        if ceiling_m > graph.searched_m:
            minima, _ = WindowComparison(graph.clips, graph.infos, graph.settings, progress=progress).find(ceiling_m)
        curve = compute_connectivity(minima, graph.settings, graph.infos, np.linspace(0, ceiling_m, 101))
    return graph_plots.plot_connectivity(curve, graph.threshold_m, theme=theme)
