"""Writes the .mog file of the present schema version, and what a reader must find in it."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

from choreograph.build.graph import build_graph
from choreograph.graph import schema
from choreograph.graph.report import report_graph
from choreograph.graph.settings import GraphSettings, LabelThreshold
from choreograph.graph.store import open_graph, save_graph
from choreograph.synthesis.perform.store import CutSettings, open_segments
from choreograph.synthesis.solve.cuts import VERSION, find_cuts
from choreograph.synthesis.solve.hierarchy import HierarchySettings

HERE = Path(__file__).parent
FEET = CutSettings("plants", ("track",), ("left_foot", "right_foot"))


def main() -> None:
    walk = runpy.run_path(str(HERE.parent / "unit" / "graph" / "conftest.py"))["walk"]
    clips = [walk("straight", 2.4, fps=20.0), walk("left", 2.4, fps=20.0, phase=1.0, turn=0.5, label="turn")]
    settings = GraphSettings(
        rate_hz=20, mirror=True, label_thresholds=(LabelThreshold("walk", "turn", 0.06),), weights={"foot": 2.0}
    )
    graph = build_graph(clips, settings)
    report = report_graph(graph)
    path = HERE / f"graph_v{schema.latest_version()}.mog"
    save_graph(graph, path, command="made for tests")
    base = open_segments(path, FEET)
    cuts = find_cuts(open_graph(path), HierarchySettings(max_cut_cost=1.0), keep=True)
    facts = {
        "clips": [info.name for info in graph.infos],
        "counts": [report.nodes, report.kept_transitions, report.minima],
        "threshold_m": graph.threshold_m,
        "distance_sum_m": float(graph.edges.distance_m.sum()),
        "segments": [base.name(k) for k in range(len(base))],
        "cuts": [cuts.roots, cuts.groups, cuts.leaves],
        "cuts_version": VERSION,
        "heights_m": [float(clip.global_positions()[:, :, 1].max()) for clip in graph.clips],
    }
    path.with_suffix(".json").write_text(json.dumps(facts, indent=2) + "\n")


if __name__ == "__main__":
    main()
