"""Retargeting through its faces: files of characters, the map, and what is said."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import choreograph as cg
from choreograph.base.errors import FormatError, RequestError
from choreograph.demo import demo_clip
from choreograph.formats._glb import chunks
from choreograph.motion.clip import Clip
from choreograph.motion.skeleton import Skeleton


@pytest.fixture
def hero(recordings: Path) -> Path:
    return recordings / "rigs" / "Xbot.glb"


def _run(*words: str) -> int:
    from typer.testing import CliRunner

    from choreograph.cli.main import app

    return CliRunner().invoke(app, list(words), catch_exceptions=False).exit_code


def test_a_character_keeps_everything_but_its_animations(hero: Path, tmp_path: Path) -> None:
    walk = demo_clip("walk", 30.0)
    result = cg.retarget(walk, str(hero))
    moved = result.best.clips[0]
    character = cg.read_character(hero)
    cg.write_character(tmp_path / "out.glb", character, moved)
    before, bytes_before = chunks(hero.read_bytes())
    after, bytes_after = chunks((tmp_path / "out.glb").read_bytes())
    for kind in ("meshes", "skins", "materials", "scenes"):
        assert after.get(kind) == before.get(kind)
    assert bytes(bytes_after[: len(bytes_before)]) == bytes(bytes_before)
    assert [one["name"] for one in after["animations"]] == [moved.name]
    again = cg.read_clip(tmp_path / "out.glb")
    assert np.abs(again.global_positions() - moved.global_positions()).max() < 1e-5


def test_a_character_that_faces_backwards(hero: Path, tmp_path: Path) -> None:
    document, body = chunks(hero.read_bytes())
    scene = document["scenes"][document.get("scene", 0)]
    document["nodes"].append({"name": "turned", "rotation": [0, 1, 0, 0], "children": scene["nodes"]})
    scene["nodes"] = [len(document["nodes"]) - 1]
    from choreograph.formats._glb import pack

    (tmp_path / "back.glb").write_bytes(pack(document, bytes(body)))
    character = cg.read_character(tmp_path / "back.glb")
    rest = character.skeleton.rest_positions()
    assert rest[character.skeleton.need("left_foot"), 0] > 0.05
    walk = demo_clip("walk", 30.0)
    moved = cg.retarget(walk, str(tmp_path / "back.glb")).best.clips[0]
    cg.write_character(tmp_path / "out.glb", character, moved)
    again = cg.read_clip(tmp_path / "out.glb")
    assert np.abs(again.global_positions() - moved.global_positions()).max() < 1e-5
    plain = cg.retarget(walk, str(hero)).best.clips[0]
    assert np.abs(plain.global_positions() - moved.global_positions()).max() < 1e-3


def test_command_writes_character_and_map(hero: Path, tmp_path: Path) -> None:
    cg.write_clip(tmp_path / "walk.bvh", demo_clip("walk", 30.0))
    out, joints = tmp_path / "out.glb", tmp_path / "map.json"
    assert _run("retarget", str(tmp_path / "walk.bvh"), "--to", str(hero), "-o", str(out), "--map", str(joints)) == 0
    named = json.loads(joints.read_text())
    assert named["mixamorig:LeftUpLeg"] and "mixamorig:LeftToe_End" not in named
    assert "meshes" in chunks(out.read_bytes())[0]


def test_arms_that_nothing_tells_are_asked_for(recordings: Path, tmp_path: Path) -> None:
    body = cg.read_clip(recordings / "odd_files" / "vicon_6ch_all_scinot.bvh")
    names = tuple(f"Bone.{k:03d}" for k in range(len(body.skeleton)))
    bare = Skeleton(
        names, *(getattr(body.skeleton, part) for part in ("parents", "offsets", "tip_parents", "tip_offsets"))
    )
    cg.write_clip(tmp_path / "bare.bvh", Clip(bare, body.fps, body.root_pos, body.local_rot, "bare"))
    answer = cg.retarget(demo_clip("walk", 30.0), str(tmp_path / "bare.bvh")).best
    (problem,) = answer.problems
    assert problem.kind == "joint_unmapped" and "No joint of the character for left upper arm" in problem.text
    assert "(roles)" in problem.text and "Bone.009" in problem.text


def test_any_verb_can_show_a_character(hero: Path, tmp_path: Path) -> None:
    cg.write_clip(tmp_path / "walk.bvh", demo_clip("walk", 30.0))
    words = ["bend", str(tmp_path / "walk.bvh"), "-p", "circle:radius=3", "--best-effort"]
    assert _run(*words, "--character", str(hero), "-o", str(tmp_path / "a.glb")) == 0
    plain, worn = chunks(hero.read_bytes())[0], chunks((tmp_path / "a.glb").read_bytes())[0]
    assert worn["meshes"] == plain["meshes"]


def test_figures_say_how_well_it_fits(hero: Path) -> None:
    result = cg.retarget(demo_clip("walk", 30.0), str(hero))
    assert result.metrics["arms"].value < 1 and result.metrics["legs"].value < 3
    assert result.metrics["ankles"].value < 0.01 and not result.problems


def test_a_skeleton_alone_is_a_body(recordings: Path, tmp_path: Path) -> None:
    cg.write_clip(tmp_path / "walk.bvh", demo_clip("walk", 30.0))
    asf, out = recordings / "cmu_more" / "108" / "108.asf", tmp_path / "out.amc"
    assert _run("retarget", str(tmp_path / "walk.bvh"), "--to", str(asf), "-o", str(out)) == 0
    recorded = cg.read_clip(recordings / "cmu_more" / "108" / "108_01.amc")
    assert cg.read_clip(out).skeleton.leg_length == pytest.approx(recorded.skeleton.leg_length, rel=1e-3)


def test_bad_input(recordings: Path, tmp_path: Path) -> None:
    walk = demo_clip("walk", 30.0)
    with pytest.raises(RequestError, match="whose body"):
        cg.retarget(walk, "")
    with pytest.raises(FormatError, match="no skin"):
        cg.retarget(walk, str(recordings / "rigs" / "facecap.glb"))
    with pytest.raises(FormatError, match=r"no such file|cannot be read"):
        cg.retarget(walk, str(tmp_path / "nobody.glb"))


def test_the_body_is_looked_for_beside_the_request_and_called_as_its_recording(tmp_path: Path) -> None:
    """Copies of the studio's clips are named by what they hold, not by their files."""
    walk = demo_clip("walk", 30.0)
    cg.write_clip(tmp_path / "0a1b2c.npz", walk)
    request = cg.RetargetRequest("0a1b2c.npz").resolved(tmp_path)
    assert request.to == str(tmp_path / "0a1b2c.npz")
    assert cg.retarget(walk, request).best.name == f"{walk.name} on {walk.name}"
    assert cg.RetargetRequest("elsewhere.glb").resolved(tmp_path).to == "elsewhere.glb"
