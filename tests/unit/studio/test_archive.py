"""A .mog file opened in the studio: its clips stay in it, and of very many some are told at a time."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from tests.unit.studio.running import CLIPS, Studio, hear, opened, say, until

from choreograph.base.errors import RequestError
from choreograph.build.graph import build_graph
from choreograph.demo import demo_clip
from choreograph.graph.store import save_graph
from choreograph.studio import archive as module
from choreograph.studio import session
from choreograph.studio import verb_requests as asking
from choreograph.studio.archive import Archive, clip_number, file_stamp, recording_id
from choreograph.studio.protocol import PROTOCOL

pytestmark = pytest.mark.slow

NAMES = sorted(CLIPS)


@pytest.fixture
def mog(studio: Studio, tmp_path: Path) -> Path:
    shutil.copy(studio.session.places.graph, tmp_path / "people.mog")
    return tmp_path / "people.mog"


def test_clips_are_asked_for_by_words_a_page_at_a_time(mog: Path) -> None:
    archive = Archive(mog)
    whole = archive.page("", None, 0, 100)
    assert whole.total == len(archive) == len(CLIPS)
    assert [clip.name for clip in whole.clips] == NAMES
    assert [clip.name for clip in archive.page("", None, 2, 2).clips] == NAMES[2:4]
    assert archive.page("", None, 99, 2).clips == []
    turns = archive.page("turn not left", None, 0, 9)
    assert [clip.name for clip in turns.clips] == ["walk_turn_90_right"]
    assert sum(folder.clips for folder in turns.folders) == turns.total == 1
    nothing = archive.page("wlak", None, 0, 9)
    assert (nothing.total, nothing.clips) == (0, [])
    assert "wlak" in nothing.hint
    with pytest.raises(RequestError):
        archive.page("(walk", None, 0, 9)
    for folder in whole.folders:
        own = archive.page("", folder.name, 0, 99).clips
        assert len(own) == folder.clips and {clip.folder for clip in own} == {folder.name}


def test_clips_are_in_the_order_that_people_expect(tmp_path: Path) -> None:
    """Whatever order they were built in."""
    walk = demo_clip("walk", 30.0)
    graph = build_graph([replace(walk, name=name) for name in ("take 10", "take 2", "Take 1")])
    save_graph(graph, tmp_path / "takes.mog")
    listed = Archive(tmp_path / "takes.mog").page("", None, 0, 9).clips
    assert [clip.name for clip in listed] == ["Take 1", "take 2", "take 10"]


def test_ids_are_of_the_file_as_it_is(mog: Path) -> None:
    archive = Archive(mog)
    key = recording_id(1, file_stamp(mog))
    assert key in archive and archive[key].name == NAMES[1]
    assert archive[key].frames > 1 and archive[key].joints
    assert key.replace("m1-", "m999-") not in archive and "m1-000000000000" not in archive and "c1" not in archive
    assert clip_number(key) == 1 and clip_number("walk") is None and clip_number(key, "000000000000") is None
    assert len(archive.entries()) == len(archive)
    assert archive.entry("m1-000000000000") is None


def test_opening_copies_nothing(mog: Path) -> None:
    with opened(mog) as studio:
        studio.settle()
        project = studio.get("project")
        kept = mog.parent / ".choreograph-people"
        assert project["archive"] is None and len(project["clips"]) == len(CLIPS)
        assert not list(kept.rglob("*.npz")) and not list(kept.rglob("*.f32"))
        clip = project["document"]["clips"][0]["id"]
        frames = studio.http.get(f"/api/motions/clip/{clip}/frames")
        assert len(frames.content) == project["clips"][0]["frames"] * 4 * (3 + 4 * len(project["clips"][0]["joints"]))
        assert len(list(kept.rglob("*.f32"))) == 1, "what is played is kept, and nothing else"


def test_of_many_clips_the_document_lists_none(mog: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MANY_CLIPS", 3)
    with opened(mog) as studio:
        studio.settle()
        project = studio.get("project")
        assert project["document"]["clips"] == project["recordings"] == project["clips"] == []
        assert project["archive"]["clips"] == len(CLIPS)
        assert project["graph"]["current"]
        assert (project["graph"]["clip_count"], project["graph"]["kept_count"]) == (len(CLIPS), len(CLIPS))
        first = project["archive"]["first"]
        motion = studio.get(f"motions/clip/{first}")
        assert motion["name"] == NAMES[0]
        assert studio.http.get(f"/api/figures/{motion['skeleton']}.glb").status_code == 200
        assert studio.http.get(f"/api/clips/{first}/thumbnail.png").headers["content-type"] == "image/png"
        assert studio.get("archive", query="veer")["total"] == 2
        assert studio.http.get("/api/archive", params={"query": "(veer"}).status_code == 422
        # One that is taken into the library can be changed; the graph is still that of the archive.
        taken = {"id": f"c{first}", "source": first, "name": "mine", "trim": [5, 40]}
        state = studio.change("Take walk", clips=[taken])
        assert state["graph"]["current"] and state["clips"][0]["frames"] == 35
        assert [made["id"] for made in studio.get("project")["recordings"]] == [first]
        command = studio.send("POST", "code", {"kind": "build"})["command"]
        assert (mog.parent / ".choreograph-people" / "recordings" / f"{first}.npz").is_file() and first in command
        curve = studio.get("graph/curve")
        assert curve["threshold_m"]
    with opened(mog) as again:
        assert not again.get("jobs"), "it is known already"
        assert again.get("project")["document"]["clips"][0]["name"] == "mine"


def test_an_archive_is_learned_from_until_clips_of_it_are_taken(mog: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MANY_CLIPS", 3)
    way = [[t / 10, 0.0, 0.12 * t] for t in range(40)]
    with opened(mog) as studio:
        studio.settle()
        whole = studio.send("POST", "perform/examples", {"request": {}})
        assert {one["name"] for one in whole["examples"]} == set(CLIPS)
        some = studio.send("POST", "perform/examples", {"request": {"only": "veer"}})
        assert len(some["examples"]) == 2
        pose = {"at_s": 0, "pose": {"clip": NAMES[0]}}
        asks = {"perform": {"samples": way}, "complete": {"duration_s": 2, "goals": [pose], "only": "walk"}}
        for verb, ask in asks.items():
            job = studio.wait(studio.send("POST", "jobs", {"kind": verb, "ask": ask}))
            assert job["state"] == "done", job
            result = studio.get(f"results/{job['results'][0]}")
            assert str(mog) in result["command"] and str(mog) in result["python"]
        first = studio.get("project")["archive"]["first"]
        studio.change("Take a clip", clips=[{"id": f"c{first}", "source": first, "name": "mine"}])
        own = studio.send("POST", "perform/examples", {"request": {}})
        assert [one["name"] for one in own["examples"]] == ["mine"]


def test_an_archive_can_be_used_before_it_is_measured(mog: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MANY_CLIPS", 3)
    with opened(mog) as studio:
        graph = studio.get("project")["graph"]
        assert (graph["measured"], graph["current"], graph["clip_count"]) == (False, True, len(CLIPS))
        studio.settle()
        project = studio.get("project")
        measured = project["graph"]
        assert measured["measured"] and measured["kept_count"] == len(CLIPS) and measured["transitions"] > 0
        same = ("built_from", "settings", "threshold_m", "rate_hz", "clip_count", "frames", "labels", "notes")
        assert {name: measured[name] for name in same} == {name: graph[name] for name in same}
        # Nobody has asked for it: it is what the first page will show.
        kept = mog.parent / ".choreograph-people" / "cache"
        assert (kept / f"{project['archive']['skeleton']}.glb").is_file() and len(list(kept.glob("*.f32"))) == 1


def test_a_figure_that_several_ask_for_is_made_once(mog: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(mog) as studio:
        studio.settle()
        asked: list[str] = []
        submit = studio.session.looks.submit
        monkeypatch.setattr(studio.session.looks, "submit", lambda name, *ask: asked.append(name) or submit(name, *ask))
        address = f"/api/figures/{studio.get('project')['clips'][0]['skeleton']}.glb"
        with ThreadPoolExecutor(3) as pool:
            answers = list(pool.map(lambda _: studio.http.get(address), range(3)))
        assert len({answer.content for answer in answers}) == 1 and asked.count("figure") == 1


@pytest.mark.parametrize("processors", [2, 8])
def test_verbs_are_made_ready_when_a_page_is_there(mog: Path, processors: int, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(mog) as first:  # the graph is known from then on
        first.settle()
    monkeypatch.setattr(session, "count_processors", lambda: processors)
    prepared: list[str] = []
    monkeypatch.setattr(asking.Asking, "prepare", lambda _, verb: prepared.append(verb))
    with opened(mog) as studio:
        assert prepared == (["follow"] if processors == 8 else [])
        with studio.page() as page:
            say(page, "hello", protocol=PROTOCOL)
            hear(page, "welcome")
            until(lambda: prepared)
        assert set(prepared) == {"follow"}


def test_a_file_that_has_changed_is_opened_anew(mog: Path, studio: Studio) -> None:
    with opened(mog) as first:
        first.settle()
        before = first.get("project")["document"]["clips"][0]["source"]
    from choreograph.build.files import remove_from_file

    remove_from_file(mog, [NAMES[-1]])
    with opened(mog) as second:
        second.settle()
        project = second.get("project")
        assert [entry["name"] for entry in project["document"]["clips"]] == NAMES[:-1]
        assert project["document"]["clips"][0]["source"] != before
        assert project["graph"]["current"] and project["graph"]["clip_count"] == len(CLIPS) - 1


def test_a_project_of_files_has_no_archive(studio: Studio) -> None:
    assert studio.get("project")["archive"] is None
    assert studio.http.get("/api/archive").status_code == 404


def test_places_are_found_in_the_library(studio: Studio) -> None:
    entries = {entry["name"]: entry["id"] for entry in studio.get("project")["document"]["clips"]}
    turns = studio.send("POST", "find", {"turn": "45..", "only": "not right"})
    assert {place["clip"] for place in turns["places"]} == {entries["walk_turn_90_left"]}
    example = {"like": f"clip:{entries['walk_turn_90_right']}", "start_s": 1.0, "end_s": 2.0}
    nearest = studio.send("POST", "find", example)["places"][0]
    assert nearest["clip"] == entries["walk_turn_90_right"] and nearest["start_s"] == pytest.approx(1.0, abs=0.05)
    assert studio.send("POST", "find", {"only": "wlak"})["hint"]
    assert studio.http.post("/api/find", json={"speed": "fast"}).status_code == 422
    assert studio.http.post("/api/find", json={"like": "clip:nobody", "start_s": 1}).status_code == 404
    matches = studio.get("library/matches", query='"veer left" or clip:*right')
    assert set(matches) == {entries[name] for name in ("walk_veer_left", "walk_veer_right", "walk_turn_90_right")}
    assert studio.http.get("/api/library/matches", params={"query": "(a"}).status_code == 422


def test_places_are_found_in_an_archive(mog: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MANY_CLIPS", 3)
    with opened(mog) as studio:
        studio.settle()
        found = studio.send("POST", "find", {"turn": "45.."})["places"]
        names = {studio.get(f"motions/clip/{place['clip']}")["name"] for place in found}
        assert names == {"walk_turn_90_left", "walk_turn_90_right"} == {place["name"] for place in found}
