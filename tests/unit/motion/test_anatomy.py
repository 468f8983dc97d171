"""Roles by shape: what names would have told, told by the tree alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from choreograph.demo import demo_clip
from choreograph.formats import read_clip
from choreograph.motion.skeleton import Skeleton

MAIN = {
    f"{side}_{part}"
    for side in ("left", "right")
    for part in ("upper_leg", "lower_leg", "foot", "toe", "upper_arm", "forearm", "hand")
} | {"hips", "spine", "neck", "head"}


def _blind(skeleton: Skeleton, turn: np.ndarray | None = None, scale: float = 1.0) -> Skeleton:
    turn = np.eye(3) if turn is None else turn
    return Skeleton(
        tuple(f"Bone.{k:03d}" for k in range(len(skeleton))), skeleton.parents, scale * skeleton.offsets @ turn.T,
        skeleton.tip_parents, scale * skeleton.tip_offsets @ turn.T,
    )  # fmt: skip


def _main(skeleton: Skeleton) -> dict[str, int]:
    return {role: skeleton.need(role) for role in MAIN}


@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_names_are_not_needed(scale: float) -> None:
    known = demo_clip("walk", 30.0).skeleton
    assert _main(_blind(known, scale=scale)) == _main(known)


def test_axes_do_not_matter() -> None:
    known = demo_clip("walk", 30.0).skeleton
    z_up = np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])
    assert _main(_blind(known, z_up)) == _main(known)


def test_what_has_no_legs_has_no_roles() -> None:
    count = 12
    snake = Skeleton(
        tuple(f"b{k}" for k in range(count)), np.arange(-1, count - 1), np.tile([0.0, 0.1, 0.0], (count, 1))
    )
    assert snake.find("left_foot") is None


@pytest.mark.parametrize("rig", ["CesiumMan.glb", "RiggedFigure.glb"])
def test_rigs_whose_names_say_nothing(recordings: Path, rig: str) -> None:
    skeleton = read_clip(recordings / "rigs" / rig).skeleton
    assert set(skeleton.roles) >= MAIN
    rest = skeleton.rest_positions()
    for part in ("upper_leg", "foot", "upper_arm", "hand"):
        assert rest[skeleton.need(f"left_{part}"), 0] > 0 > rest[skeleton.need(f"right_{part}"), 0]
    assert rest[skeleton.need("head"), 1] > rest[skeleton.need("hips"), 1] > rest[skeleton.need("left_foot"), 1]


@pytest.mark.parametrize("file", ["cmu/16/16_47.amc", "cmu_bvh/16_15.bvh", "rigs/Samba_Dancing.fbx", "rigs/Xbot.glb"])
def test_recorded_bodies_without_their_names(recordings: Path, file: str) -> None:
    known = read_clip(recordings / file).skeleton
    assert _main(_blind(known)) == _main(known)


def test_sides_told_by_place_alone_mirror_as_named_ones_do() -> None:
    clip = demo_clip("walk_turn_90_left", 30.0)
    names = tuple(f"Bone.{k:03d}" for k in range(len(clip.skeleton)))
    body = clip.skeleton
    nameless = Skeleton(names, body.parents, body.offsets, body.tip_parents, body.tip_offsets)
    assert nameless.roles == body.roles
    other = replace(clip, skeleton=nameless, contacts=None)
    assert np.allclose(other.mirrored().global_positions(), clip.mirrored().global_positions(), atol=1e-9)
