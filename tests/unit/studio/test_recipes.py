"""What is shown for building and exporting does what the studio did."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.studio.running import CLIPS, Studio, opened
from typer.testing import CliRunner

from choreograph.cli.main import app
from choreograph.demo import demo_clip
from choreograph.formats import read_clip, write_clip
from choreograph.formats._glb import chunks, pack
from choreograph.graph.model import MotionGraph
from choreograph.graph.store import open_graph


def run(code: dict[str, str]) -> list[str]:
    """Run the command lines, then the program; the comments between the lines."""
    comments = []
    for line in code["command"].splitlines():
        if line.startswith("#"):
            comments.append(line)
            continue
        words = shlex.split(line)
        assert words[0] == "choreograph"
        ran = CliRunner().invoke(app, words[1:], catch_exceptions=False)
        assert ran.exit_code == 0, ran.output
    return comments


def run_python(code: dict[str, str]) -> None:
    exec(compile(code["python"], "shown", "exec"), {})


def same_graph(made: MotionGraph, wanted: MotionGraph, *, names: bool = True) -> None:
    if names:
        assert {clip.name for clip in made.clips} == {clip.name for clip in wanted.clips}
    assert sorted(len(clip) for clip in made.clips) == sorted(len(clip) for clip in wanted.clips)
    assert len(made.edges) == len(wanted.edges)
    assert made.settings == wanted.settings
    assert made.threshold_m == pytest.approx(wanted.threshold_m)


def test_building_a_folder_names_the_folder(
    studio: Studio, recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also with the studio's own folder of copies in it."""
    monkeypatch.chdir(tmp_path)
    code = studio.send("POST", "code", {"kind": "build"})
    assert shlex.split(code["command"])[:5] == ["choreograph", "build", str(recorded), "-o", "graph.mog"]
    wanted = open_graph(studio.session.places.graph)
    assert run(code) == []
    same_graph(open_graph("graph.mog"), wanted)
    run_python(code)
    same_graph(open_graph("graph.mog"), wanted)


def test_building_changed_clips(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Trimmed and mirrored by commands; renamed and labelled by the program, and the command says so."""
    folder = tmp_path / "walks"
    folder.mkdir()
    for name in CLIPS[:3]:
        write_clip(folder / f"{name}.npz", demo_clip(name, 30.0))
    with opened(folder) as studio:
        studio.settle()
        clips = studio.get("project")["document"]["clips"]
        clips[0] |= {"trim": [5, 60], "mirrored": True}
        clips[1] |= {"name": "it's mine", "labels": [{"text": "stroll", "start": 2, "stop": 30}]}
        settings = {"threshold_m": 0.08, "window_s": 0.4, "rate_hz": 15.0, "taper": "uniform", "mirror": True}
        studio.change("Change clips", clips=clips, graph=settings)
        job = studio.wait(studio.send("POST", "jobs", {"kind": "build"}))
        assert job["state"] == "done", job
        studio.settle()
        code = studio.send("POST", "code", {"kind": "build"})
        wanted = open_graph(studio.session.places.graph)
    monkeypatch.chdir(tmp_path)
    comments = run(code)
    assert len(comments) == 1
    assert comments[0].endswith(": it's mine")
    same_graph(open_graph("graph.mog"), wanted, names=False)
    run_python(code)
    made = open_graph("graph.mog")
    same_graph(made, wanted)
    assert {c.name: c.labels for c in made.clips} == {c.name: c.labels for c in wanted.clips}


@pytest.mark.parametrize("suffix", [".npz", ".png"])
@pytest.mark.parametrize("which", ["clip", "result"])
def test_exporting(studio: Studio, which: str, suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if which == "clip":
        motion = f"clip:{studio.get('project')['document']['clips'][0]['id']}"
    else:
        made = studio.wait(studio.send("POST", "jobs", {"kind": "follow", "ask": {"points": [[0, 0], [0, 3]]}}))
        motion = f"result:{made['results'][0]}"
    ask = {"kind": "export", "ask": {"motion": motion, "suffix": suffix}}
    job = studio.wait(studio.send("POST", "jobs", ask))
    [file] = job["results"]
    wanted = studio.session.places.exports / job["id"] / file
    code = studio.send("POST", "code", ask)
    for do in (run, run_python):
        do(code)
        if suffix == ".npz":
            np.testing.assert_array_equal(read_clip(file).local_rot, read_clip(wanted).local_rot)
            np.testing.assert_array_equal(read_clip(file).root_pos, read_clip(wanted).root_pos)
        else:
            assert Path(file).stat().st_size > 1000
        Path(file).unlink()


def hero(folder: Path) -> bytes:
    """A character: the mannequin of a body 1.2 times as large, with other names."""
    clip = demo_clip("walk", 30.0)
    skeleton = clip.skeleton.scaled(1.2)
    names = tuple(f"hero_{name}" for name in skeleton.names)
    write_clip(folder / "hero.glb", clip.with_frames(1.2 * clip.root_pos, clip.local_rot).with_skeleton(skeleton))
    document, body = chunks((folder / "hero.glb").read_bytes())
    renamed = dict(zip(skeleton.names, names, strict=True))
    for node in document["nodes"]:
        node["name"] = renamed.get(node.get("name", ""), node.get("name", ""))
    for skin in document["skins"]:
        skin.pop("extras", None)
    document["asset"]["generator"] = "somebody"
    document.pop("animations", None)
    return pack(document, bytes(body))


@pytest.mark.parametrize("suffix", [".glb", ".npz", ".png"])
def test_exporting_a_character(studio: Studio, suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    sent = studio.http.post("/api/characters", files=[("file", ("hero.glb", hero(tmp_path)))])
    assert sent.status_code == 200, sent.text
    project = studio.get("project")
    before = project["view"]
    studio.send("PUT", "view", {**before, "character": sent.json()["id"], "character_name": "hero"})
    try:
        motion = f"clip:{project['document']['clips'][0]['id']}"
        ask = {"kind": "export", "ask": {"motion": motion, "suffix": suffix}}
        job = studio.wait(studio.send("POST", "jobs", ask))
        [file] = job["results"]
        wanted = studio.session.places.exports / job["id"] / file
        code = studio.send("POST", "code", ask)
    finally:
        studio.send("PUT", "view", before)
    for do in (run, run_python):
        do(code)
        if suffix == ".png":
            assert Path(file).stat().st_size > 1000
        else:
            made, theirs = read_clip(file), read_clip(wanted)
            assert made.skeleton.names == theirs.skeleton.names and made.skeleton.names[0].startswith("hero_")
            assert np.abs(made.global_positions() - theirs.global_positions()).max() < 1e-4
        Path(file).unlink()


def test_the_picture_of_a_result_shows_the_character(studio: Studio, tmp_path: Path) -> None:
    ask = {"points": [[0.0, 0.0], [0.0, 2.0]]}
    job = studio.wait(studio.send("POST", "jobs", {"kind": "follow", "ask": ask}))
    facts = studio.http.post("/api/characters", files=[("file", ("hero.glb", hero(tmp_path)))]).json()
    address = f"/api/results/{job['results'][0]}/thumbnail.png"
    plain, worn = (studio.http.get(address, params=asked) for asked in ({}, {"character": facts["id"]}))
    assert worn.status_code == 200 and worn.content.startswith(b"\x89PNG")
    assert worn.content != plain.content
    assert studio.http.get(address, params={"character": "cnobody"}).status_code == 404


def test_roles_of_a_character(studio: Studio, tmp_path: Path) -> None:
    facts = studio.http.post("/api/characters", files=[("file", ("hero.glb", hero(tmp_path)))]).json()
    assert facts["missing"] == [] and facts["roles"]["left_foot"].startswith("hero_")
    roles = {**facts["roles"], "left_hand": facts["roles"]["right_hand"], "right_hand": ""}
    other = studio.send("POST", f"characters/{facts['id']}/roles", {"name": "hero", "roles": roles})
    assert other["id"] != facts["id"] and other["roles"] == roles
    assert studio.get(f"characters/{other['id']}")["roles"] == roles
    assert studio.get(f"characters/{facts['id']}")["roles"] == facts["roles"]
    nobody = {"name": "hero", "roles": {"left_foot": "nobody"}}
    assert studio.http.post(f"/api/characters/{facts['id']}/roles", json=nobody).status_code == 422
    assert studio.http.get("/api/characters/cnobody").status_code == 404


def test_what_cannot_be_said(studio: Studio, empty: Studio) -> None:
    def refused(where: Studio, body: dict[str, Any]) -> str:
        answer = where.http.post("/api/code", json=body)
        assert answer.status_code == 422, answer.text
        text: str = answer.json()["error"]
        return text

    assert "no clips" in refused(empty, {"kind": "build"})
    assert "results carry their own" in refused(studio, {"kind": "follow"})
    assert "ask.threshold_m" in refused(studio, {"kind": "build", "ask": {"threshold_m": -1}})
    missing = {"kind": "export", "ask": {"motion": "result:none", "suffix": ".bvh"}}
    assert studio.http.post("/api/code", json=missing).status_code == 404
