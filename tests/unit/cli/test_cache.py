"""What commands compute goes to the cache, never into the .mog file they were given."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import choreograph as cg
from choreograph.base.errors import RequestError
from choreograph.cli.main import app
from choreograph.demo import demo_clip
from choreograph.graph import cache

CLIPS = ("walk", "walk_turn_90_left", "walk_turn_90_right", "walk_veer_left")
BODY = (cg.PlaceGoal(0.0, (0.0, 0.0), 0.0), cg.PlaceGoal(3.0, (0.5, 3.0), 0.0))
KINDS = {"hierarchy", "segments", "edge tables", "continuations"}
COMPAT = Path(__file__).parents[2] / "compat"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("graphs") / "walks.mog"
    cg.save_graph(cg.build_graph([demo_clip(name, 60.0) for name in CLIPS], cg.GraphSettings(threshold_m=0.08)), path)
    return path


@pytest.fixture
def mog(built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(built, tmp_path / "walks.mog"))


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def run(*words: object) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def way(path: Path) -> Path:
    rows = [f"{t:.4f},0,{1.1 * t:.4f}" for t in np.arange(0, 4, 1 / 30)]
    path.write_text("t,x,z\n" + "\n".join(rows) + "\n")
    return path


def test_python_leaves_the_file_as_it_is(mog: Path, tmp_path: Path, empty_cache: Path) -> None:
    before = digest(mog)
    graph = cg.open_graph(mog)
    cg.follow(graph, "line")
    cg.solve(graph, cg.SolveRequest(3.0, BODY, count=1, work_limit=2_000))
    cg.perform(graph, cg.read_trajectory(way(tmp_path / "way.csv")))
    cg.open_segments(mog)
    cg.report_graph(graph)
    assert digest(mog) == before
    assert {entry.kind for entry in cache.list_entries()} == KINDS
    assert all(entry.is_of(graph.fingerprint) and entry.graph == "walks.mog" for entry in cache.list_entries())


@pytest.mark.parametrize("old", [None, 1, 2, 3])
def test_commands_leave_the_file_as_it_is(mog: Path, old: int | None, tmp_path: Path, empty_cache: Path) -> None:
    if old is not None:
        shutil.copy(COMPAT / f"graph_v{old}.mog", mog)
    before = digest(mog)
    request = tmp_path / "request.json"
    body = [{"at_s": b.at_s, "position": list(b.place), "facing_deg": 0} for b in BODY]
    request.write_text(json.dumps({"length_s": 3, "body": body}))
    run("follow", mog, "--path", "line", "-o", tmp_path / "walk.bvh")
    run("solve", mog, request, "-o", tmp_path / "answers", "-n", 1, "--work-limit", 2_000)
    kinds = KINDS
    if old in (1, 2):  # their walker has no hands to perform with
        kinds = KINDS - {"segments"}
    else:
        run("perform", mog, "--trajectory", way(tmp_path / "way.csv"), "-o", tmp_path / "performed.bvh")
        run("segment", mog)
    said = run("info", mog)
    assert digest(mog) == before
    assert sorted(path.name for path in tmp_path.glob("*.mog*")) == ["walks.mog"]
    assert all(kind in said for kind in kinds) and "MB" in said and "last used" in said
    assert str(empty_cache) in said.replace("\n", "")
    facts = json.loads(run("info", mog, "--json"))
    assert {entry["kind"] for entry in facts["cache"]} == kinds
    assert all(Path(entry["path"]).stat().st_size == entry["bytes"] for entry in facts["cache"])


def test_the_cache_is_listed_and_cleared(mog: Path, empty_cache: Path) -> None:
    assert "the cache is empty" in run("cache")
    assert "nothing of it yet" in run("info", mog)
    graph = cg.open_graph(mog)
    cg.find_hierarchy(graph)
    cg.open_segments(mog)
    said = run("cache")
    assert "hierarchy" in said and "segments" in said and "walks.mog" in said and "2 entries" in said and "4 GB" in said
    facts = json.loads(run("cache", "--json"))
    assert facts["folder"] == str(empty_cache) and facts["limit_bytes"] == 4_000_000_000
    assert {entry["kind"] for entry in facts["entries"]} == {"hierarchy", "segments"}
    assert "segments" not in run("cache", "hierarchy")
    with pytest.raises(RequestError, match=r"nothing of the kind 'tables'; it holds hierarchy, segments"):
        run("cache", "--clear", "tables")
    assert "removed 1 entry" in run("cache", "--clear", "hierarchy")
    cg.follow(graph, "line")
    assert "removed 1 entry" in run("cache", "--clear", "edge-tables")
    assert "removed 1 entry" in run("cache", "--clear", "continuations")
    assert [entry.kind for entry in cache.list_entries()] == ["segments"]
    assert "removed 1 entry" in run("cache", "--clear")
    assert list(empty_cache.iterdir()) == []


def test_it_is_said_where_the_cache_is_off(monkeypatch: pytest.MonkeyPatch, empty_cache: Path, mog: Path) -> None:
    monkeypatch.setenv("CHOREOGRAPH_CACHE_GB", "0")
    cg.find_hierarchy(cg.open_graph(mog))
    assert "turned off" in run("cache") and not empty_cache.exists()
