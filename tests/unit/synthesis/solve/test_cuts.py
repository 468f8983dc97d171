from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import numpy as np
import pytest

from choreograph.build.files import add_to_file
from choreograph.demo import demo_clip
from choreograph.errors import GraphFileError, RequestError
from choreograph.graph.model import MotionGraph
from choreograph.graph.store import open_graph, save_graph
from choreograph.synthesis.solve import cuts as cuts_module
from choreograph.synthesis.solve.cuts import find_cuts, keep_cuts, read_cuts
from choreograph.synthesis.solve.hierarchy import Hierarchy, HierarchySettings
from choreograph.synthesis.solve.request import BodyTarget, SolveRequest
from choreograph.synthesis.solve.search import solve

REQUEST = SolveRequest(3.0, (BodyTarget(0.0, (0.0, 0.0), 0.0), BodyTarget(3.0, (1.0, 2.0), 1.0)))
COMPAT = Path(__file__).parents[3] / "compat"


@pytest.fixture
def mog(walks: MotionGraph, tmp_path: Path) -> Path:
    path = tmp_path / "walks.mog"
    save_graph(walks, path)
    return path


def change(path: Path, query: str, *values: object) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute(query, values)
    connection.close()


def test_cuts_come_back_as_they_were_and_give_the_same_answers(
    mog: Path, cuts: Hierarchy, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = open_graph(mog)
    assert read_cuts(graph) is None
    before = graph.fingerprint
    found = find_cuts(graph, keep=True)
    again = open_graph(mog)
    assert again.fingerprint == before and [p.name for p in mog.parent.iterdir()] == [mog.name]
    monkeypatch.setattr(cuts_module, "build_frame_table", None)  # no clip is looked at again
    kept = find_cuts(again)
    for name in ("source", "target", "cost", "child"):
        assert np.array_equal(getattr(kept, name), getattr(cuts, name))
    for name in ("base", "clip_of", "real", "place", "turn", "joints", "features"):
        assert np.array_equal(getattr(kept.frames, name), getattr(cuts.frames, name)), name
    assert (kept.roots, kept.groups, kept.max_cut_cost) == (found.roots, found.groups, found.max_cut_cost)
    costs = [
        solve(again, REQUEST, seconds=None, evaluations=5_000, hierarchy=h)[0].cost for h in (kept, cuts)
    ]  # fmt: skip
    assert costs[0] == costs[1]


def test_other_settings_and_other_clips_make_kept_cuts_stale(mog: Path) -> None:
    find_cuts(open_graph(mog), keep=True)
    assert read_cuts(open_graph(mog), HierarchySettings(max_cut_cost=2.0)) is None
    change(mog, "UPDATE setting SET value = '{\"foot\": 9.0}' WHERE name = 'weights'")
    assert read_cuts(open_graph(mog)) is None
    find_cuts(open_graph(mog), keep=True)
    add_to_file(mog, [demo_clip("walk_weave", 30.0)])
    grown = open_graph(mog)
    assert read_cuts(grown) is None
    assert len(find_cuts(grown, keep=True).frames.base) == 6
    assert read_cuts(open_graph(mog)) is not None


def test_a_graph_without_a_file_and_a_file_that_changed_meanwhile(
    walks: MotionGraph, cuts: Hierarchy, mog: Path
) -> None:
    with pytest.raises(RequestError, match="not opened from a file"):
        keep_cuts(walks, cuts)
    opened = open_graph(mog)
    add_to_file(mog, [demo_clip("walk_weave", 30.0)])
    before = mog.read_bytes()
    with pytest.raises(RequestError, match="holds other clips"):
        keep_cuts(opened, cuts)
    assert mog.read_bytes() == before


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("source", lambda a: a + 10_000_000),
        ("target", lambda a: np.where(np.arange(len(a)) == 5, -1, a)),
        ("child", lambda a: np.where(a >= 0, 0, a)),
        ("cost", lambda a: a * np.nan),
        ("base", lambda a: a + 1),
        ("features", lambda a: a[:-1]),
        ("source", lambda a: np.concatenate([a[a.argsort()[::-1][:40]], a[40:]])),
    ],
)
def test_cuts_that_point_nowhere_are_refused(mog: Path, cuts: Hierarchy, name: str, spoil) -> None:  # type: ignore[no-untyped-def]
    import zlib

    find_cuts(open_graph(mog), keep=True)
    value = getattr(cuts, name) if hasattr(cuts, name) else getattr(cuts.frames, name)
    value = np.ascontiguousarray(spoil(value)).astype(np.int32 if name == "base" else value.dtype)
    data = value.tobytes()
    shape = ",".join(map(str, value.shape))
    change(mog, "UPDATE hierarchy_array SET shape = ?, crc32 = ?, data = ? WHERE name = ?",
           shape, zlib.crc32(data), data, name)  # fmt: skip
    with pytest.raises(GraphFileError, match="damaged"):
        read_cuts(open_graph(mog))


def test_facts_of_another_version_do_not_count_and_damaged_ones_are_refused(mog: Path) -> None:
    find_cuts(open_graph(mog), keep=True)
    with sqlite3.connect(mog) as connection:
        facts = json.loads(connection.execute("SELECT facts FROM hierarchy").fetchone()[0])
    connection.close()
    change(mog, "UPDATE hierarchy SET facts = ?", json.dumps({**facts, "version": 0}))
    assert read_cuts(open_graph(mog)) is None
    change(mog, "UPDATE hierarchy SET facts = 'oops'")
    with pytest.raises(GraphFileError, match="damaged"):
        read_cuts(open_graph(mog))


def test_a_file_of_the_first_version_is_read_where_nothing_may_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "old.mog"
    shutil.copy(COMPAT / "graph_v1.mog", copy)
    before = copy.read_bytes()
    monkeypatch.setattr("choreograph.graph.store.os.access", lambda *_: False)
    graph = open_graph(copy)
    assert read_cuts(graph) is None and len(graph.clips) == 4 and copy.read_bytes() == before
    monkeypatch.undo()
    find_cuts(graph, keep=True)
    assert read_cuts(open_graph(copy)) is not None
