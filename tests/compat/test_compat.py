"""Files of every past schema version open, say what they said when they were written, and stay as they are.

`python -m tests.compat.make` writes the files of the present version; earlier ones are never written again.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest
from tests.compat.make import PAIRS, WALKS

from choreograph.build.files import remove_from_file
from choreograph.graph import schema
from choreograph.graph.report import report_graph
from choreograph.graph.store import open_graph, save_graph
from choreograph.verbs.perform.prepare import chosen_settings, open_segments
from choreograph.verbs.solve.hierarchy import HierarchySettings
from choreograph.verbs.solve.prepare import find_hierarchy

HERE = Path(__file__).parent
FILES = sorted(HERE.glob("graph_v*.mog"))
PAIR_FILES = sorted(HERE.glob("pairs_v*.mog"))


@pytest.fixture(params=FILES, ids=lambda path: path.stem)
def copy(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return Path(shutil.copy(request.param, tmp_path))


@pytest.fixture(params=PAIR_FILES, ids=lambda path: path.stem)
def pairs(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return Path(shutil.copy(request.param, tmp_path))


def said(path: Path) -> dict:
    return json.loads((HERE / path.name).with_suffix(".json").read_text())


def tables(path: Path) -> set[str]:
    connection = sqlite3.connect(path)
    try:
        return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    finally:
        connection.close()


def test_there_is_a_file_of_every_version():
    assert [path.stem for path in FILES] == [f"graph_v{n}" for n, _, _ in schema.steps()]
    assert [path.stem for path in PAIR_FILES] == [f"pairs_v{n}" for n, _, _ in schema.steps() if n >= 3]


def test_old_files_open_and_hold_what_they_held(copy):
    graph, expected = open_graph(copy), said(copy)
    report = report_graph(graph)
    assert [info.name for info in graph.infos] == expected["clips"]
    assert (report.nodes, report.kept_transitions, report.minima) == tuple(expected["counts"])
    assert graph.threshold_m == expected["threshold_m"]
    assert float(graph.edges.distance_m.sum()) == pytest.approx(expected["distance_sum_m"])
    for clip, height in zip(graph.clips, expected["heights_m"], strict=True):
        assert float(clip.global_positions()[:, :, 1].max()) == pytest.approx(height)
    walk = graph.random_walk(100, np.random.default_rng(0))
    assert np.array_equal(graph.edges.target[walk[:-1]], graph.edges.source[walk[1:]])


def test_what_is_computed_is_what_old_files_kept_and_the_file_stays_as_it_was(copy):
    before, expected = copy.read_bytes(), said(copy)
    segments, hierarchy = open_segments(copy, WALKS), find_hierarchy(open_graph(copy), HierarchySettings(1.0))
    assert [segments.name(k) for k in range(len(segments))] == expected.get("segments", said(FILES[-1])["segments"])
    # The trees are built otherwise than by the first method; groups and cuts are the same.
    cuts = expected.get("cuts", said(FILES[-1])["cuts"])
    assert [hierarchy.groups, hierarchy.leaves] == cuts[1:]
    assert copy.read_bytes() == before and [path.name for path in copy.parent.iterdir()] == [copy.name]


def test_saving_writes_the_latest_version_without_what_a_cache_holds(copy):
    before = open_graph(copy)
    remove_from_file(copy, ["left"])
    connection = sqlite3.connect(copy)
    assert connection.execute("PRAGMA user_version").fetchone()[0] == schema.latest_version()
    connection.close()
    assert tables(copy) == tables(FILES[-1])
    assert not {"hierarchy", "hierarchy_array", "segment_base", "segment_array"} & tables(copy)
    assert open_graph(copy).cut_settings == before.cut_settings


def test_files_of_pairs_know_who_leads_whom_and_how_they_are_cut(pairs):
    before, graph = pairs.read_bytes(), open_graph(pairs)
    assert graph.pairs == ((0, 1), (2, 3)) and [info.name for info in graph.infos] == ["a_1", "b_1", "a_2", "b_2"]
    assert chosen_settings(graph) == PAIRS
    segments = open_segments(pairs)
    names = ["b_1@0.10s", "b_1@0.50s", "b_1@0.90s", "b_2@0.20s", "b_2@0.60s"]
    assert [segments.name(k) for k in range(len(segments))] == names
    assert pairs.read_bytes() == before
    save_graph(graph, pairs.with_name("new.mog"))
    again = open_graph(pairs.with_name("new.mog"))
    assert (again.pairs, chosen_settings(again)) == (graph.pairs, PAIRS)
    assert again.fingerprint == graph.fingerprint
