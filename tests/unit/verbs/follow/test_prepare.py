from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from choreograph.graph import cache
from choreograph.graph.model import MotionGraph
from choreograph.graph.store import open_graph, save_graph
from choreograph.motion.bend import SMOOTH_S
from choreograph.scene.path_shapes import named_path
from choreograph.verbs.follow import continuations, prepare
from choreograph.verbs.follow.kernel_inputs import fixed_arrays
from choreograph.verbs.follow.prepare import find_edge_tables
from choreograph.verbs.follow.search import follow
from choreograph.verbs.follow.tables import EdgeTables

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
    monkeypatch.setattr(prepare, "build_edge_tables", fail)
    monkeypatch.setattr(continuations, "_build", fail)
    opened = open_graph(tmp_path / "walks.mog")
    kept = find_edge_tables(opened)
    assert opened.clips._kept == {}, "no clip was read"  # type: ignore[attr-defined]
    for field in fields(EdgeTables):
        if field.name in ("known_continuations", "derived"):
            continue
        here, there = getattr(kept, field.name), getattr(bend_tables, field.name)
        assert np.array_equal(here, there) if isinstance(here, np.ndarray) else here == there, field.name
        assert getattr(here, "dtype", None) == getattr(there, "dtype", None), field.name
    for here, there in zip(fixed_arrays(kept, opened), fixed_arrays(bend_tables, graph), strict=True):
        assert np.array_equal(here, there)
    assert np.array_equal(follow(opened, path).clip.root_pos, first.clip.root_pos)
    assert (tmp_path / "walks.mog").read_bytes() == before


def test_other_labels_and_other_edges_have_tables_of_their_own(
    graph: MotionGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    find_edge_tables(graph)
    monkeypatch.setattr(prepare, "build_edge_tables", fail)
    find_edge_tables(graph)
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
            find_edge_tables(other)


def test_tables_that_do_not_fit_are_built_anew(graph: MotionGraph, bend_tables: EdgeTables) -> None:
    find_edge_tables(graph)
    key = cache.find_key(
        graph, "edge tables", prepare.METHOD, ("motion", "labels", "edges"), rate_hz=graph.rate_hz, smooth_s=SMOOTH_S
    )  # fmt: skip
    assert key is not None
    content = cache.read_entry(key)
    assert content is not None
    for name, value in (
        ("x", bend_tables.x[1:]),
        ("label_words", bend_tables.label_words + 99),
        ("first", bend_tables.first + 1),
    ):
        cache.write_entry(key, cache.Content(content.facts, {**content.arrays, name: value}))
        assert np.array_equal(getattr(find_edge_tables(graph), name), getattr(bend_tables, name))
