"""Characters of all kinds of files: their surfaces follow the skeleton, on the stage too, and odd ones are refused."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.formats.test_gltf import validate

from choreograph.base import quat
from choreograph.base.errors import FormatError
from choreograph.demo import demo_clip
from choreograph.figure.mannequin import build_mannequin, skin
from choreograph.finishing.retarget_clean import put_on
from choreograph.formats import read_clip, write_clip
from choreograph.formats._glb import chunks, pack
from choreograph.formats.character import read_character, write_character
from choreograph.formats.stage_figure import stage_body, stage_figure
from choreograph.formats.surface import read_surface

RIGS = ["CesiumMan.glb", "RobotExpressive.glb", "Samba_Dancing.fbx", "Xbot.glb"]


def test_the_surface_of_our_own_file_is_the_mannequin(tmp_path: Path) -> None:
    clip = demo_clip("walk", 30.0)
    write_clip(tmp_path / "hero.glb", clip)
    surface = read_surface(read_character(tmp_path / "hero.glb"))
    assert surface is not None
    pose = clip.global_positions()[20], clip.global_rotations()[20]
    expected, _ = skin(build_mannequin(clip.skeleton), *pose)
    found, normals = surface.pose(*pose)
    assert found[: len(expected)] == pytest.approx(expected, abs=1e-4)
    assert np.linalg.norm(normals, axis=1) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("rig", RIGS)
def test_a_character_stands_on_its_soles_and_is_the_same_on_the_stage(
    recordings: Path, tmp_path: Path, rig: str
) -> None:
    character = read_character(recordings / "rigs" / rig)
    surface = read_surface(character)
    assert surface is not None and surface.mesh.colours.std(axis=0).max() > 0.01
    walk = demo_clip("walk", 30.0)
    clip = put_on(walk, character.skeleton, sole_m=character.sole_m).clip
    vertices, _ = surface.pose(clip.global_positions()[::10], clip.global_rotations()[::10])
    tall = float(np.ptp(vertices[0, :, 1]))
    # A foot without a ball to roll over dips its front below the floor when its heel rises.
    room = 0.03 if character.skeleton.find("left_toe") is None else 0.012
    assert np.median(vertices[..., 1].min(axis=1)) == pytest.approx(0.0, abs=room * tall)
    # The stage's figure, posed by rotations alone, has every vertex at the same place.
    (tmp_path / "stage.glb").write_bytes(stage_figure(character))
    other = read_character(tmp_path / "stage.glb")
    body = stage_body(character)
    again = put_on(walk, body, sole_m=character.sole_m).clip
    seen = read_surface(other)
    assert seen is not None and other.skeleton.names == body.names
    places, _ = seen.pose(again.global_positions()[30], again.global_rotations()[30])
    expected, _ = surface.pose(clip.global_positions()[30], clip.global_rotations()[30])
    assert np.sort(places, axis=0) == pytest.approx(np.sort(expected, axis=0), abs=2e-4 * tall)


def test_an_fbx_character_becomes_a_glb_that_moves_as_the_file_does(recordings: Path, tmp_path: Path) -> None:
    file = recordings / "rigs" / "Samba_Dancing.fbx"
    character, clip = read_character(file), read_clip(file)[:40]
    moved = put_on(clip, character.skeleton, sole_m=character.sole_m, clean=False).clip
    write_character(tmp_path / "samba.glb", character, moved)
    back = read_clip(tmp_path / "samba.glb")
    assert len(back.skeleton) == 67
    assert back.global_positions() == pytest.approx(moved.global_positions(), abs=2e-5)
    shape = chunks((tmp_path / "samba.glb").read_bytes())[0]
    assert [m["pbrMetallicRoughness"]["baseColorFactor"][2] > 0.1 for m in shape["materials"]] == [True, True]


def _cesium(recordings: Path) -> tuple[dict[str, Any], bytes]:
    document, body = chunks((recordings / "rigs" / "CesiumMan.glb").read_bytes())
    return copy.deepcopy(document), bytes(body)


def test_of_two_characters_one_must_be_named(recordings: Path, tmp_path: Path) -> None:
    document, body = _cesium(recordings)
    count = len(document["nodes"])
    twins = copy.deepcopy(document["nodes"])
    for node in twins:
        if "children" in node:
            node["children"] = [child + count for child in node["children"]]
        if "skin" in node:
            node["skin"] = 1
    document["nodes"] += twins
    first = document["skins"][0]
    document["skins"].append({**first, "joints": [joint + count for joint in first["joints"]]})
    (tmp_path / "two.glb").write_bytes(pack(document, body))
    with pytest.raises(FormatError, match=r"has 2 characters: #0 with 19 joints .*as in hero.glb#0"):
        read_character(tmp_path / "two.glb")
    assert len(read_character(f"{tmp_path / 'two.glb'}#1").skeleton) == 19


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda nodes, skin: nodes[skin["joints"][5]].update(scale=[1, 2, 1]), "unevenly or mirrored"),
        (lambda nodes, skin: nodes[skin["joints"][5]].update(scale=[-1, 1, 1]), "unevenly or mirrored"),
        (lambda nodes, skin: nodes[skin["joints"][5]].setdefault("children", []).append(skin["joints"][0]), "parents"),
        (lambda nodes, skin: skin["joints"].append(9999), "points to number 9999"),
        (lambda nodes, skin: skin["joints"].extend([0] * 20_000), "joints; 10000 are read at most"),
    ],
    ids=["uneven", "mirrored", "circle", "missing", "many"],
)
def test_odd_skins_are_refused(recordings: Path, tmp_path: Path, change: Any, said: str) -> None:
    document, body = _cesium(recordings)
    for node in document["nodes"]:
        node.pop("matrix", None)
    change(document["nodes"], document["skins"][0])
    (tmp_path / "odd.glb").write_bytes(pack(document, body))
    with pytest.raises(FormatError, match=said):
        read_character(tmp_path / "odd.glb")


def test_rest_rotations_do_not_matter_to_the_stage(recordings: Path, tmp_path: Path) -> None:
    (tmp_path / "stage.glb").write_bytes(stage_figure(read_character(recordings / "rigs" / "CesiumMan.glb")))
    assert read_character(tmp_path / "stage.glb").rig.rot == pytest.approx(np.tile(quat.IDENTITY, (19, 1)))


def test_a_joint_in_the_rear_half_of_the_sole_is_not_its_ball(recordings: Path, tmp_path: Path) -> None:
    document, body = _cesium(recordings)
    file = tmp_path / "hero.glb"
    file.write_bytes(pack(document, body))
    found = read_character(file).skeleton
    assert found.find("left_foot") is not None and found.find("left_toe") is None
    (tmp_path / "hero.roles.json").write_text('{"left_toe": "leg_joint_L_5"}')
    assert read_character(file).skeleton.find("left_toe") is not None, "somebody knows better"
    assert read_character(recordings / "rigs" / "Xbot.glb").skeleton.find("left_toe") is not None


@pytest.mark.parametrize(
    "rig", ["Xbot.glb", "CesiumMan.glb", "RiggedFigure.glb", "RobotExpressive.glb", "Samba_Dancing.fbx"]
)
def test_the_validator_finds_nothing_in_exports_that_was_not_there(recordings: Path, tmp_path: Path, rig: str) -> None:
    file, out = recordings / "rigs" / rig, tmp_path / "out.glb"
    character = read_character(file)
    moved = put_on(demo_clip("walk", 30.0)[:20], character.skeleton, sole_m=character.sole_m).clip
    write_character(out, character, moved)
    before = validate(file)[0]["messages"] if file.suffix == ".glb" else []
    known = {message["code"] for message in before}
    after = validate(out)[0]
    assert after["numErrors"] <= sum(message["severity"] == 0 for message in before)
    assert [m for m in after["messages"] if m["severity"] < 2 and m["code"] not in known] == []
