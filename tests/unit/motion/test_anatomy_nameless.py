"""Rigs whose names say nothing: every role is found by the tree's shape, whatever order, unit, axes and rest pose."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from choreograph.base import quat
from choreograph.base.errors import RoleError
from choreograph.demo import demo_clip
from choreograph.formats import read_clip
from choreograph.motion.retarget import retarget
from choreograph.motion.role_map import LEG_ROLES, SIDES
from choreograph.motion.skeleton import Skeleton
from choreograph.verbs.retarget.search import read_body

_ARM_ROLES = tuple(f"{side}_{part}" for side in SIDES for part in ("clavicle", "upper_arm", "forearm", "hand"))
_ROLES = ("hips", "neck", "head", *_ARM_ROLES, *LEG_ROLES, *(f"{side}_toe" for side in SIDES))
_TURNS = {
    "y up": quat.IDENTITY,
    "faces -z": quat.from_yaw(np.pi),
    "z up": quat.from_axis_angle([1.0, 0.0, 0.0], np.pi / 2),
    "lies on its face": quat.from_axis_angle([1.0, 0.0, 0.0], -np.pi / 2),
}
_BODIES = [
    *("rigs/Xbot.glb", "rigs/CesiumMan.glb", "rigs/RiggedFigure.glb", "rigs/RobotExpressive.glb"),
    *("rigs/Samba_Dancing.fbx", "cmu/16/16_47.amc", "cmu_more/108/108_01.amc", "cmu_bvh/16_47.bvh"),
    *("odd_files/mixamo_samba_mixed_orders_colon_names.bvh", "odd_files/pybvh_mixed_orders_CRLF.bvh"),
    *("odd_files/three_pirouette.bvh", "odd_files/geno_6ch_75joints_2frames.bvh", "odd_files/test_freebvh.bvh"),
]


def _arms_lowered(body: Skeleton, angle: float) -> Skeleton:
    offsets = np.array(body.offsets)
    for side, sign in (("left", -1.0), ("right", 1.0)):
        turn = quat.from_axis_angle([0.0, 0.0, 1.0], sign * angle)
        below = {body.need(f"{side}_upper_arm")}
        for joint, parent in enumerate(body.parents):
            if int(parent) in below:
                below.add(joint)
                offsets[joint] = quat.rotate(turn, offsets[joint])
    return Skeleton(body.names, body.parents, offsets, body.tip_parents, body.tip_offsets, body.roles)


def _nameless(body: Skeleton, seed: int, turn: np.ndarray, scale: float) -> tuple[Skeleton, list[int]]:
    """The body with numbers for names and its branches in another order; the body's joint for each of its joints."""
    rng = np.random.default_rng(seed)
    order, waiting = [], [0]
    while waiting:
        joint = waiting.pop()
        order.append(joint)
        waiting += rng.permutation(body.children(joint)).astype(int).tolist()
    place = np.argsort(order)
    names = tuple(f"Bone.{k:03d}" for k in rng.permutation(len(order)))
    parents = np.array([place[body.parents[j]] if body.parents[j] >= 0 else -1 for j in order], np.int32)
    tips = scale * quat.rotate(turn, body.tip_offsets) if len(body.tip_offsets) else body.tip_offsets
    tip_parents = place[body.tip_parents].astype(np.int32)
    return Skeleton(names, parents, scale * quat.rotate(turn, body.offsets[order]), tip_parents, tips), order


def _check(body: Skeleton, turn: str, scale: float, angle: float, seed: int) -> None:
    bare, order = _nameless(_arms_lowered(body, angle), seed, np.asarray(_TURNS[turn]), scale)
    rest = body.rest_positions()
    for role in _ROLES:
        here, there = bare.find(role), body.find(role)
        if role == "hips" and here is not None:
            continue  # what both legs hang from; names may mean the joint beside it
        assert (here is None) == (there is None), role
        if here is not None and there is not None:
            assert order[here] == there or np.allclose(rest[order[here]], rest[there]), role


@pytest.mark.parametrize("turn", _TURNS)
@pytest.mark.parametrize("seed", range(3))
def test_the_demo_body(turn: str, seed: int) -> None:
    body = demo_clip("walk", 30.0).skeleton
    _check(body, turn, (1.0, 100.0, 0.01)[seed], (0.0, 0.5, 1.0)[seed], seed)


@pytest.mark.parametrize("file", _BODIES)
def test_bodies_of_all_kinds(recordings: Path, file: str) -> None:
    body = read_clip(recordings / file).skeleton  # a skin would tell more
    for seed, turn in enumerate(_TURNS):
        _check(body, turn, (1.0, 100.0)[seed % 2], (0.0, 0.5)[seed // 2], seed)


def test_arms_that_lie_in_one_line_at_rest_are_left_to_be_named(recordings: Path) -> None:
    body, *_ = read_body(str(recordings / "odd_files" / "vicon_6ch_all_scinot.bvh"))
    bare, order = _nameless(body, 0, np.asarray(quat.IDENTITY), 1.0)
    assert all(bare.find(role) is None for role in _ARM_ROLES)
    assert [order[bare.need(role)] for role in ("head", *LEG_ROLES)] == [
        body.need(role) for role in ("head", *LEG_ROLES)
    ]


@pytest.mark.parametrize("halved", [("lower_leg",), ("hand",), ("lower_leg", "foot", "forearm", "hand")])
def test_bones_that_are_halved_for_their_twist(halved: tuple[str, ...]) -> None:
    body = demo_clip("walk", 30.0).skeleton
    joints: list[tuple[str, int, tuple[float, float, float]]] = []
    place: dict[int, int] = {}
    for joint, parent in enumerate(body.parents):
        above, offset = place.get(int(parent), -1), np.array(body.offsets[joint])
        if body.roles[joint].removeprefix("left_").removeprefix("right_") in halved:
            offset /= 2
            joints.append(("twist", above, tuple(offset)))
            above = len(joints) - 1
        place[joint] = len(joints)
        joints.append((body.names[joint], above, tuple(offset)))
    bare = _built([(f"Bone.{k:03d}", *rest) for k, (_, *rest) in enumerate(joints)])
    for role in (*_ARM_ROLES, *LEG_ROLES, "left_toe"):
        assert bare.need(role) == place[body.need(role)], role


def test_hair_tails_and_coats_are_no_limbs(recordings: Path) -> None:
    body, *_ = read_body(str(recordings / "rigs" / "CesiumMan.glb"))
    joints = [("", int(parent), tuple(offset)) for parent, offset in zip(body.parents, body.offsets, strict=True)]
    for k in (-1.0, 1.0):
        _limb(joints, body.need("head"), {f"{k}{n}": (0.05 * k, -0.1, -0.05) for n in range(5)})
    for k in range(8):
        angle = np.pi * k / 4
        first = (0.15 * np.cos(angle), -0.03, 0.15 * np.sin(angle))
        _limb(joints, body.hips, {f"{k}{n}": (0.0, -0.12, 0.0) if n else first for n in range(4)})
    _limb(joints, body.hips, {f"tail{n}": (0.0, -0.02, -0.12) for n in range(6)})
    bare = _built([(f"Bone.{k:03d}", *rest) for k, (_, *rest) in enumerate(joints)])
    for role in ("head", *LEG_ROLES, "left_upper_arm", "left_forearm", "left_hand"):
        assert bare.need(role) == body.need(role), role


def test_a_sword_in_one_hand_leaves_both_arms() -> None:
    body = demo_clip("walk", 30.0).skeleton
    joints = [("", int(parent), tuple(offset)) for parent, offset in zip(body.parents, body.offsets, strict=True)]
    _limb(joints, body.need("right_hand"), {"hilt": (-0.05, 0.0, 0.1), "point": (0.0, 0.0, 0.9)})
    bare = _built([(f"Bone.{k:03d}", *rest) for k, (_, *rest) in enumerate(joints)])
    for role in ("head", *LEG_ROLES, *_ARM_ROLES):
        assert bare.need(role) == body.need(role), role


def test_wings_that_are_longer_are_no_arms() -> None:
    body = demo_clip("walk", 30.0).skeleton
    joints = [("", int(parent), tuple(offset)) for parent, offset in zip(body.parents, body.offsets, strict=True)]
    chest = int(body.parents[body.need("left_clavicle")])
    for side in (-1.0, 1.0):
        _limb(joints, chest, {f"{side}{n}": (0.35 * side, 0.1, -0.1) for n in range(4)})
    bare = _built([(f"Bone.{k:03d}", *rest) for k, (_, *rest) in enumerate(joints)])
    for role in ("head", *LEG_ROLES, *_ARM_ROLES):
        assert bare.need(role) == body.need(role), role


def _limb(joints: list[tuple[str, int, tuple[float, float, float]]], at: int, bones: dict[str, tuple]) -> None:
    for name, offset in bones.items():
        joints.append((name, at, offset))
        at = len(joints) - 1


def _built(joints: list[tuple[str, int, tuple[float, float, float]]]) -> Skeleton:
    names, parents, offsets = zip(*joints, strict=True)
    return Skeleton(names, np.array(parents, np.int32), np.array(offsets))


def test_names_that_tell_some_of_the_legs_are_completed() -> None:
    joints = [("Root", -1, (0.0, 0.9, 0.0)), ("Spine", 0, (0.0, 0.25, 0.0)), ("Chest", 1, (0.0, 0.25, 0.0))]
    joints += [("Neck", 2, (0.0, 0.15, 0.0)), ("Head", 3, (0.0, 0.1, 0.0))]
    for side, x in (("Left", 1.0), ("Right", -1.0)):
        leg = {"Leg01": (0.1 * x, 0.0, 0.0), "Leg02": (0.0, -0.42, 0.0), "Foot01": (0.0, -0.4, 0.0),
               "Foot02": (0.0, -0.06, 0.13)}  # fmt: skip
        arm = {"Arm01": (0.18 * x, 0.1, 0.0), "Arm02": (0.28 * x, 0.0, 0.0), "Hand": (0.25 * x, 0.0, 0.0)}
        for at, bones in ((0, leg), (2, arm)):
            _limb(joints, at, {f"{side}{name}": offset for name, offset in bones.items()})
    body = _built(joints)
    found = [body.names[body.need(f"left_{part}")] for part in ("upper_leg", "lower_leg", "foot", "toe", "upper_arm")]
    assert found == ["LeftLeg01", "LeftLeg02", "LeftFoot01", "LeftFoot02", "LeftArm01"]


def test_sides_that_are_named_as_seen_from_the_front_are_those_of_the_body() -> None:
    body = demo_clip("walk", 30.0).skeleton
    other = {"Left": "Right", "Right": "Left"}
    names = tuple(re.sub("Left|Right", lambda found: other[found[0]], name) for name in body.names)
    assert names != body.names
    seen = Skeleton(names, body.parents, body.offsets, body.tip_parents, body.tip_offsets)
    assert seen.roles == body.roles


@pytest.mark.parametrize("named", [True, False])
def test_a_fox_is_told_that_it_has_no_two_legs(named: bool) -> None:
    joints = [("b_Hip", -1, (0.0, 0.6, 0.0)), ("b_Spine01", 0, (0.0, 0.0, 0.3)), ("b_Spine02", 1, (0.0, 0.0, 0.3))]
    joints += [("b_Neck", 2, (0.0, 0.2, 0.1)), ("b_Head", 3, (0.0, 0.1, 0.15))]
    _limb(joints, 0, {f"b_Tail{k}": (0.0, 0.0, -0.15) for k in range(3)})
    for side, x in (("Left", 1.0), ("Right", -1.0)):
        back = {"Leg01": (0.1 * x, -0.05, 0.0), "Leg02": (0.0, -0.2, 0.05), "Foot01": (0.0, -0.2, -0.08),
                "Foot02": (0.0, -0.13, 0.05)}  # fmt: skip
        front = {"UpperArm": (0.1 * x, -0.05, 0.0), "ForeArm": (0.0, -0.25, 0.0), "Hand": (0.0, -0.28, 0.05)}
        for at, bones in ((0, back), (2, front)):
            _limb(joints, at, {f"b_{side}{name}": offset for name, offset in bones.items()})
    fox = _built(joints if named else [(f"Bone{k}", *rest) for k, (_, *rest) in enumerate(joints)])
    with pytest.raises(RoleError, match=r"(no|not all of the) legs (were )?found in the character: left upper leg"):
        retarget(demo_clip("walk", 30.0), fox)


def test_feet_that_would_hang_below_each_other_hang_nowhere() -> None:
    """Each of two thighs points at the other one's hub: both at once would be a ring."""
    places = np.array([[0, 0, 0], [0, 0, 0], [0, 3, 0], [0, 1, 0], [0, 2, 0], [0, 2, 0], [0, 1, 0], [1, 0, 0]], float)
    parents = np.array([-1, 0, 0, 1, 3, 2, 5, 0])
    offsets = places - places[parents] * (parents >= 0)[:, None]
    tips = np.arange(8)
    body = Skeleton(tuple(f"j{k}" for k in tips), parents, offsets, tips, np.full((8, 3), 0.5))
    assert "left_foot" not in body.roles
