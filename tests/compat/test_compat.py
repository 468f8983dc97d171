"""Files of every past schema version open, and say what they said when they were written.

`python -m tests.compat.make` writes the file of the present version; earlier ones are never written again.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from choreograph.graph import schema
from choreograph.graph.report import report_graph
from choreograph.graph.store import open_graph
from choreograph.synthesis.perform import store
from choreograph.synthesis.perform.store import CutSettings, open_segments
from choreograph.synthesis.solve.cuts import VERSION, find_cuts, read_cuts
from choreograph.synthesis.solve.hierarchy import HierarchySettings

HERE = Path(__file__).parent
FEET = CutSettings("plants", ("track",), ("left_foot", "right_foot"))
FILES = sorted(HERE.glob("graph_v*.mog"))


def test_there_is_a_file_of_every_version():
    assert [path.stem for path in FILES] == [f"graph_v{n}" for n, _, _ in schema.steps()]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_segments_are_read_where_they_were_kept_and_made_where_not(path, tmp_path, monkeypatch):
    copy = tmp_path / path.name
    shutil.copy(path, copy)
    expected = json.loads(path.with_suffix(".json").read_text()).get("segments")
    if expected is None:
        made = open_segments(copy, FEET)
        expected = [made.name(k) for k in range(len(made))]
    monkeypatch.setattr(store, "_build", None)
    kept = open_segments(copy, FEET)
    assert len(kept) > 4 and [kept.name(k) for k in range(len(kept))] == expected


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_old_files_open_and_hold_what_they_held(path, tmp_path):
    copy = tmp_path / path.name
    shutil.copy(path, copy)
    graph = open_graph(copy)
    expected = json.loads(path.with_suffix(".json").read_text())
    report = report_graph(graph)
    assert [info.name for info in graph.infos] == expected["clips"]
    assert (report.nodes, report.kept_transitions, report.minima) == tuple(expected["counts"])
    assert graph.threshold_m == expected["threshold_m"]
    assert float(graph.edges.distance_m.sum()) == pytest.approx(expected["distance_sum_m"])
    for clip, height in zip(graph.clips, expected["heights_m"], strict=True):
        assert float(clip.global_positions()[:, :, 1].max()) == pytest.approx(height)
    # Cuts that an earlier method kept are found anew, in other trees, and kept in their place.
    settings, cuts = HierarchySettings(max_cut_cost=1.0), expected.get("cuts")
    known = cuts if expected.get("cuts_version", VERSION) == VERSION else None
    kept = read_cuts(graph, settings)
    assert (None if kept is None else [kept.roots, kept.groups, kept.leaves]) == known
    found = find_cuts(graph, settings, keep=True)
    assert cuts is None or [found.groups, found.leaves] == cuts[1:]
    again = read_cuts(open_graph(copy), settings)
    assert again is not None and np.array_equal(again.child, found.child)
    walk = graph.random_walk(100, np.random.default_rng(0))
    assert np.array_equal(graph.edges.target[walk[:-1]], graph.edges.source[walk[1:]])
