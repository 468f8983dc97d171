from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from choreograph.graph import cache
from choreograph.graph.model import MotionGraph
from choreograph.graph.store import open_graph, save_graph
from choreograph.motion.bend import SMOOTH_S
from choreograph.scene.path_shapes import named_path
from choreograph.verbs.follow import continuations
from choreograph.verbs.follow import tables as tables_of
from choreograph.verbs.follow.search import follow
from choreograph.verbs.follow.tables import EdgeTables, find_tables

pytestmark = pytest.mark.usefixtures("empty_cache")


def fail(*_: object) -> None:
    raise AssertionError("was built again")


def test_tables_and_continuations_come_back_as_they_were(
    graph: MotionGraph, bend_tables: EdgeTables, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = named_path("s", radius=2)
    first = follow(graph, path)
    assert {entry.kind for entry in cache.list_entries()} == {"edge tables", "continuations"}
    save_graph(graph, tmp_path / "walks.mog")
    before = (tmp_path / "walks.mog").read_bytes()
    monkeypatch.setattr(tables_of, "_empty_tables", fail)
    monkeypatch.setattr(continuations, "_build", fail)
    opened = open_graph(tmp_path / "walks.mog")
    kept = find_tables(opened)
    assert opened.clips._kept == {}, "no clip was read"  # type: ignore[attr-defined]
    for here, there in ((kept.edges, bend_tables.edges), (kept.rows, bend_tables.rows)):
        for name, array in there.whole.items():
            assert np.array_equal(here[name], array) and here[name].dtype == array.dtype, name
    assert (kept.fastest, kept.lateral, kept.lengths) == (bend_tables.fastest, bend_tables.lateral, bend_tables.lengths)
    assert kept.label_sets == bend_tables.label_sets
    assert np.array_equal(follow(opened, path).clip.root_pos, first.clip.root_pos)
    assert (tmp_path / "walks.mog").read_bytes() == before


def test_other_labels_and_other_edges_have_tables_of_their_own(
    graph: MotionGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    find_tables(graph)
    monkeypatch.setattr(tables_of, "_empty_tables", fail)
    find_tables(graph)
    names = ("minima", "nodes", "edges")
    edges = graph.edges.take(np.arange(len(graph.edges) - 1))
    for infos, table in ((graph.infos[:1] * len(graph.infos), graph.edges), (graph.infos, edges)):
        other = MotionGraph(
            graph.settings,
            graph.threshold_m,
            graph.clips,
            infos,
            {**{name: getattr(graph, name) for name in names}, "edges": table},
            searched_m=graph.searched_m,
        )
        with pytest.raises(AssertionError, match="built again"):
            find_tables(other)


def test_tables_that_do_not_fit_are_built_anew(graph: MotionGraph, bend_tables: EdgeTables) -> None:
    find_tables(graph)
    parts, numbers = ("motion", "labels", "edges"), {"rate_hz": graph.rate_hz, "smooth_s": SMOOTH_S}
    key = cache.find_key(graph, "edge tables", tables_of.METHOD_OF_ROWS, parts, **numbers)
    assert key is not None
    content = cache.read_entry(key)
    assert content is not None
    rows, edges = bend_tables.rows, bend_tables.edges
    for name, value in (
        ("way", rows["way"][1:]),
        ("label_words", rows["label_words"] + 99),
        ("first", edges["first"] + 1),
    ):
        cache.write_entry(key, cache.Content(content.facts, {**content.arrays, name: value}))
        kept = find_tables(graph)
        assert np.array_equal((kept.edges.whole | kept.rows.whole)[name], (edges.whole | rows.whole)[name])
