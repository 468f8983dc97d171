"""Writes the .mog files of the present schema version, and what a reader must find in them.

python -m tests.compat.make
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

from tests.unit.sine_walker import walk

from choreograph.build.graph import build_graph
from choreograph.graph import rows, schema
from choreograph.graph.report import report_graph
from choreograph.graph.settings import GraphSettings, LabelThreshold
from choreograph.graph.store import save_graph
from choreograph.verbs.perform.examples import pair_up
from choreograph.verbs.perform.prepare import CutSettings, find_segment_database, save_segments
from choreograph.verbs.solve.hierarchy import HierarchySettings
from choreograph.verbs.solve.prepare import find_hierarchy

HERE = Path(__file__).parent
FEET = ("left_foot", "right_foot")
WALKS = CutSettings("plants", ("track",), FEET)
PAIRS = CutSettings(((0.1, 0.5, 0.9, 1.3), (0.2, 0.6, 1.1)), FEET, FEET)


def main() -> None:
    rows.CHUNK_BYTES = 64  # so that these small files have chunks
    clips = [walk("straight", 2.4, fps=20.0), walk("left", 2.4, fps=20.0, phase=1.0, turn=0.5, label="turn")]
    settings = GraphSettings(
        rate_hz=20, mirror=True, label_thresholds=(LabelThreshold("walk", "turn", 0.06),), weights={"foot": 2.0}
    )
    graph = build_graph(clips, settings)
    graph.cut_settings = asdict(WALKS)
    report = report_graph(graph)
    path = HERE / f"graph_v{schema.latest_version()}.mog"
    save_graph(graph, path, command="made for tests")
    base, hierarchy = find_segment_database(graph, WALKS), find_hierarchy(graph, HierarchySettings(max_cut_cost=1.0))
    facts = {
        "clips": [info.name for info in graph.infos],
        "counts": [report.nodes, report.kept_transitions, report.minima],
        "threshold_m": graph.threshold_m,
        "distance_sum_m": float(graph.edges.distance_m.sum()),
        "segments": [base.name(k) for k in range(len(base))],
        "cuts": [hierarchy.roots, hierarchy.groups, hierarchy.leaves],
        "heights_m": [float(clip.global_positions()[:, :, 1].max()) for clip in graph.clips],
    }
    path.with_suffix(".json").write_text(json.dumps(facts, indent=2) + "\n")
    pairs = [
        pair_up(
            walk(f"a_{k}", 1.6, fps=20.0, phase=k), walk(f"b_{k}", 1.6, fps=20.0, phase=k + 1, heading=3.0), roles=FEET
        )
        for k in (1, 2)
    ]
    save_segments(HERE / f"pairs_v{schema.latest_version()}.mog", pairs, PAIRS, command="made for tests")


if __name__ == "__main__":
    main()
