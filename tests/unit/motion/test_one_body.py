"""Recordings of several bodies on one, and what retargeting keeps on the way there and back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from choreograph.demo import demo_clip
from choreograph.finishing.retarget_clean import put_on
from choreograph.formats import read_clip
from choreograph.motion.clip import Clip
from choreograph.motion.detached_feet import rehang
from choreograph.motion.foot_geometry import recorded_stance
from choreograph.motion.retarget import retarget
from choreograph.motion.skeleton import Skeleton
from choreograph.motion.unify_skeletons import on_one_body
from choreograph.verbs.retarget.measure import ARMS, LEGS, bone_angles
from choreograph.verbs.retarget.search import read_body

BODIES = [
    *("rigs/Xbot.glb", "rigs/CesiumMan.glb", "rigs/RobotExpressive.glb", "rigs/Samba_Dancing.fbx"),
    *("odd_files/pybvh_mixed_orders_CRLF.bvh", "odd_files/three_pirouette.bvh", "odd_files/vicon_6ch_all_scinot.bvh"),
    *("odd_files/geno_6ch_75joints_2frames.bvh", "odd_files/mixamo_samba_mixed_orders_colon_names.bvh"),
]


@pytest.mark.parametrize("body", BODIES)
def test_there_and_back_on_every_body(recordings: Path, body: str) -> None:
    clip = read_clip(recordings / "cmu" / "16" / "16_47.amc")
    skeleton, stance, _ = read_body(str(recordings / body))
    made = put_on(clip, skeleton, stance=stance, clean=False).raw
    most = 4.0 if "Robot" in body else 3.0
    assert np.degrees(bone_angles(clip, made, ARMS).mean()) < 0.1
    assert np.degrees(bone_angles(clip, made, LEGS).mean()) < most
    back = retarget(made, clip.skeleton, stance=recorded_stance(clip))
    roles = ["hips", "head", *(f"{s}_{p}" for s in ("left", "right") for p in ("hand", "foot", "forearm", "lower_leg"))]
    joints = [clip.skeleton.need(role) for role in roles]
    gap = np.linalg.norm(back.global_positions()[:, joints] - clip.global_positions()[:, joints], axis=2)
    assert gap.mean() < 0.02


def test_bodies_of_all_kinds_become_one(recordings: Path) -> None:
    clips = [read_clip(recordings / "cmu" / "16" / f"{name}.amc") for name in ("16_15", "16_47")]
    files = ("cmu_more/108/108_01.amc", "rigs/Samba_Dancing.fbx", "odd_files/three_pirouette.bvh")
    others = [read_clip(recordings / file)[:60] for file in files]
    stick = Skeleton(("a", "b"), np.array([-1, 0], np.int32), np.array([[0.0, 0, 0], [0, 1, 0]]))
    bone = Clip(stick, 30.0, np.zeros((9, 3)), np.tile([1.0, 0, 0, 0], (9, 2, 1)), "bone")
    made, notes = on_one_body([others[0], *clips, *others[1:], bone])
    assert [clip.name for clip in made] == [others[0].name, "16_15", "16_47", *(clip.name for clip in others[1:])]
    assert all(clip.skeleton.matches(clips[0].skeleton) for clip in made) and made[1] is clips[0]
    assert [note.kind for note in notes] == ["retargeted", "retargeted", "retargeted", "left-out"]
    assert "'bone' was left out: no legs found" in str(notes[-1])
    # Whoever comes from elsewhere stands as high as the body's own recordings do.
    stance = recorded_stance(clips[1])
    assert stance is not None
    for clip in made[3:]:
        low = np.quantile(clip.global_positions()[:, clip.skeleton.need("left_foot"), 1], 0.05)
        assert low == pytest.approx(stance.ankle_m, abs=0.04)


def test_partners_stay_together(recordings: Path) -> None:
    couple = [read_clip(recordings / "cmu" / who / f"{who}_05.amc")[:400] for who in ("60", "61")]
    made, notes = on_one_body(couple)
    assert [note.kind for note in notes] == ["retargeted"]

    def gap(clips: list[Clip]) -> np.ndarray:
        one, other = (clip.global_positions()[:, clip.skeleton.hips] for clip in clips)
        return one - other

    assert np.linalg.norm((gap(made) - gap(couple))[:, [0, 2]], axis=1).max() < 0.03


def test_feet_that_hang_elsewhere_are_the_body_s(recordings: Path) -> None:
    rig, *_ = read_body(str(recordings / "rigs" / "RobotExpressive.glb"))
    rehung = rehang(rig)
    assert rehung is not None and rehang(rehung.body) is None
    clip = retarget(demo_clip("walk", 30.0), rehung.body)
    shown = rehung.on_rig(clip)
    names = [rehung.body.names.index(name) for name in rig.names]
    assert shown.global_positions() == pytest.approx(clip.global_positions()[:, names], abs=1e-9)


def test_joints_that_only_their_place_tells_are_twins() -> None:
    walk = demo_clip("walk", 30.0).skeleton
    names = tuple(f"Bone.{k:03d}" for k in range(len(walk)))
    bare = Skeleton(names, walk.parents, walk.offsets, walk.tip_parents, walk.tip_offsets)
    assert (bare.mirror_pairs == walk.mirror_pairs).all()


def test_a_stub_below_the_ankle_is_no_toe(recordings: Path) -> None:
    skeleton = read_clip(recordings / "odd_files" / "pybvh_mixed_orders_CRLF.bvh").skeleton
    assert skeleton.find("left_toe") is None
    skeleton = read_clip(recordings / "odd_files" / "vicon_6ch_all_scinot.bvh").skeleton
    assert skeleton.names[skeleton.need("left_toe")] == "LeftToeBase"


def test_what_stands_on_four_legs_has_no_two() -> None:
    names, parents, offsets = (
        ["a", "b", "c", "d"],
        [-1, 0, 1, 2],
        [[0, 0.6, 0], [0, 0, 0.3], [0, 0, 0.3], [0, 0.2, 0.2]],
    )
    for base, side in ((2, 1), (2, -1), (0, 1), (0, -1)):
        parent = base
        for k in range(4):
            names.append(f"e{len(names)}")
            parents.append(parent)
            offsets.append([0.1 * side if k == 0 else 0.0, -0.05 if k == 0 else -0.18, 0.0])
            parent = len(names) - 1
    dog = Skeleton(tuple(names), np.array(parents, np.int32), np.array(offsets))
    assert dog.find("left_foot") is None
