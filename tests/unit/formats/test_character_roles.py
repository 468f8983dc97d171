"""Roles that a file tells (VRM's human bones, a file beside the character), and Khronos' validator on exports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.formats.test_gltf import validate

import choreograph as cg
from choreograph.base.errors import FormatError, RoleError
from choreograph.demo import demo_clip
from choreograph.finishing.retarget_clean import put_on
from choreograph.formats import write_clip
from choreograph.formats._glb import chunks, pack
from choreograph.formats.character import read_character, write_character
from choreograph.formats.character_roles import read_roles, single_roles, write_roles
from choreograph.motion.role_map import LEG_ROLES

BONES = {
    "hips": "hips", "neck": "neck", "head": "head",
    **{f"{side}{bone}": f"{side}_{part}" for side in ("left", "right") for bone, part in (
        ("UpperLeg", "upper_leg"), ("LowerLeg", "lower_leg"), ("Foot", "foot"), ("Toes", "toe"),
        ("Shoulder", "clavicle"), ("UpperArm", "upper_arm"), ("LowerArm", "forearm"), ("Hand", "hand"))},
}  # fmt: skip


def _nameless(folder: Path, extension: str | None) -> tuple[Path, dict[str, str]]:
    """The mannequin without names that tell anything and with left and right exchanged in the names; the true roles."""
    clip = demo_clip("walk", 30.0)
    write_clip(folder / "plain.glb", clip)
    document, body = chunks((folder / "plain.glb").read_bytes())
    roles = single_roles(clip.skeleton)
    for skin in document["skins"]:
        skin.pop("extras", None)
    nodes = {node.get("name"): k for k, node in enumerate(document["nodes"])}
    told = {bone: nodes[roles[role]] for bone, role in BONES.items() if roles[role]}
    names = {}
    for k in document["skins"][0]["joints"]:
        names[document["nodes"][k]["name"]] = document["nodes"][k]["name"] = f"pitfall_{k}"
    document["asset"]["generator"] = "somebody"
    if extension == "VRMC_vrm":
        bones: Any = {bone: {"node": node} for bone, node in told.items()}
        document["extensions"] = {"VRMC_vrm": {"specVersion": "1.0", "humanoid": {"humanBones": bones}}}
    elif extension == "VRM":
        bones = [{"bone": bone, "node": node} for bone, node in told.items()]
        document["extensions"] = {"VRM": {"humanoid": {"humanBones": bones}}}
    if extension:
        document["extensionsUsed"] = [extension]
    (folder / "hero.vrm").write_bytes(pack(document, bytes(body)))
    return folder / "hero.vrm", {role: names[name] for role, name in roles.items() if name}


@pytest.mark.parametrize("extension", ["VRMC_vrm", "VRM"])
def test_a_vrm_file_tells_its_bones(tmp_path: Path, extension: str) -> None:
    file, roles = _nameless(tmp_path, extension)
    character = read_character(file)
    assert {role: name for role, name in single_roles(character.skeleton).items() if name} == roles
    walk = demo_clip("walk", 30.0)
    result = cg.retarget(walk, str(file))
    assert result.metrics["legs"].value < 1 and result.metrics["arms"].value < 0.1
    write_character(tmp_path / "walks.vrm", character, result.best.clips[0])
    before, after = (chunks(path.read_bytes())[0] for path in (file, tmp_path / "walks.vrm"))
    for kind in ("extensions", "meshes", "skins", "materials"):
        assert after.get(kind) == before.get(kind)


@pytest.mark.parametrize(
    "humanoid",
    [None, 3, {}, {"humanBones": 3}, {"humanBones": {"hips": 3, "head": {"node": 99}, "neck": {"node": "x"}}}],
)
def test_broken_human_bones_are_passed_over(tmp_path: Path, humanoid: Any) -> None:
    file, _ = _nameless(tmp_path, "VRMC_vrm")
    document, body = chunks(file.read_bytes())
    document["extensions"]["VRMC_vrm"]["humanoid"] = humanoid
    file.write_bytes(pack(document, bytes(body)))
    assert all(read_character(file).skeleton.find(role) is not None for role in LEG_ROLES)


def test_a_file_beside_the_character_has_the_last_word(tmp_path: Path) -> None:
    file, roles = _nameless(tmp_path, None)
    swapped = {"left_hand": roles["right_hand"], "right_hand": roles["left_hand"], "head": ""}
    write_roles(file, swapped)
    assert read_roles(file) == swapped
    found = single_roles(read_character(file).skeleton)
    assert found["left_hand"] == roles["right_hand"] and found["right_hand"] == roles["left_hand"]
    assert found["head"] == ""
    write_roles(file, {"left_foot": "nobody"})
    with pytest.raises((RoleError, FormatError), match="nobody"):
        read_character(file)
    for text in ("{", "[]", '{"left_foot": 3}', "\xff"):
        file.with_suffix(".roles.json").write_text(text)
        with pytest.raises(FormatError, match="left_foot"):
            read_character(file)


@pytest.mark.parametrize("rig", ["CesiumMan.glb", "RobotExpressive.glb", "RiggedFigure.glb", "Xbot.glb"])
def test_the_validator_finds_nothing_new_in_exports(recordings: Path, tmp_path: Path, rig: str) -> None:
    file = recordings / "rigs" / rig
    character = read_character(file)
    moved = put_on(demo_clip("walk", 30.0), character.skeleton, sole_m=character.sole_m).clip
    write_character(tmp_path / rig, character, moved)
    before, after = validate(file, tmp_path / rig)
    known = {message["code"] for message in before["messages"]}
    # Keys of the animations that were replaced are left in the file unused, which is a hint (severity 2).
    new = [m for m in after["messages"] if m["code"] not in known and m["severity"] < 2]
    assert after["numErrors"] <= before["numErrors"] and not new, new
    one, other = (chunks(path.read_bytes())[0] for path in (file, tmp_path / rig))
    for kind in ("meshes", "skins", "materials", "textures", "images", "samplers"):
        assert other.get(kind) == one.get(kind)
    blob, again = (bytes(chunks(path.read_bytes())[1]) for path in (file, tmp_path / rig))
    assert again[: len(blob)] == blob
    assert json.dumps(other["accessors"][: len(one["accessors"])]) == json.dumps(one["accessors"])
    assert np.isfinite(moved.root_pos).all()
