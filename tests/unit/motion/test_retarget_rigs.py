"""Motion on another rig: bones point where they did, feet stand where they stood, and it comes back."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from choreograph.base import quat
from choreograph.base.errors import RoleError
from choreograph.demo import demo_clip
from choreograph.finishing.footskate import clean_feet
from choreograph.formats import read_clip
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import with_detected_contacts
from choreograph.motion.retarget import leg_length, retarget, way_scale
from choreograph.motion.role_map import map_roles
from choreograph.motion.skeleton import Skeleton

ARMS = [("upper_arm", "forearm"), ("forearm", "hand")]
LEGS = [("upper_leg", "lower_leg"), ("lower_leg", "foot")]


def _directions(clip: Clip, start: str, end: str) -> np.ndarray:
    at = clip.global_positions()
    bone = at[:, clip.skeleton.need(end)] - at[:, clip.skeleton.need(start)]
    return bone / np.linalg.norm(bone, axis=1, keepdims=True)


def _apart(one: Clip, other: Clip, bones: list[tuple[str, str]]) -> float:
    """Mean angle between the limbs' bones, degrees."""
    angles = []
    for side in ("left", "right"):
        for start, end in bones:
            ends = f"{side}_{start}", f"{side}_{end}"
            cosine = np.sum(_directions(one, *ends) * _directions(other, *ends), axis=1)
            angles.append(np.degrees(np.arccos(np.clip(cosine, -1, 1))))
    return float(np.mean(angles))


def _wander(clip: Clip) -> list[float]:
    """How far ankles wander while they stand, metres."""
    assert clip.contacts is not None
    found = []
    for column, joint in enumerate(clip.skeleton.feet):
        edges = np.flatnonzero(np.diff(np.concatenate([[0], clip.contacts[:, column].astype(int), [0]])))
        for start, stop in edges.reshape(-1, 2):
            spot = clip.global_positions()[start:stop, joint][:, [0, 2]]
            found.append(float(np.linalg.norm(spot - spot.mean(axis=0), axis=1).max()))
    return found


def other_rig(skeleton: Skeleton) -> tuple[Skeleton, int]:
    """The same body as another program might rig it: arms hang 60° down at rest, other names and sizes, a helper."""
    offsets = 1.2 * np.array(skeleton.offsets)
    for side, angle in (("left", -np.pi / 3), ("right", np.pi / 3)):
        top = skeleton.need(f"{side}_upper_arm")
        turn = quat.from_axis_angle([0.0, 0.0, 1.0], angle)
        below = {top}
        for joint in range(top + 1, len(skeleton)):
            if int(skeleton.parents[joint]) in below:
                below.add(joint)
                offsets[joint] = quat.rotate(turn, offsets[joint])
    names = tuple(f"Bone.{k:03d}" for k in range(len(skeleton)))
    helper = len(names)
    parents = np.append(skeleton.parents, skeleton.need("left_forearm"))
    offsets = np.vstack([offsets, [0.05, 0.0, 0.0]])
    return Skeleton((*names, "twist"), parents, offsets, roles=(*skeleton.roles, "other")), helper


def test_an_a_pose_takes_the_pose_of_a_t_pose() -> None:
    clip = demo_clip("walk_turn_90_left", 30.0)
    rig, helper = other_rig(clip.skeleton)
    moved = retarget(clip, rig)
    assert _apart(clip, moved, ARMS) < 0.01 and _apart(clip, moved, LEGS) < 0.5
    scale = leg_length(rig) / leg_length(clip.skeleton)
    ankle = clip.skeleton.need("left_foot")
    gap = moved.global_positions()[:, ankle] - scale * clip.global_positions()[:, ankle]
    assert np.ptp(gap, axis=0).max() < 0.02
    assert np.allclose(moved.local_rot[:, helper], quat.IDENTITY)
    back = retarget(moved, clip.skeleton)
    assert np.linalg.norm(back.global_positions() - clip.global_positions(), axis=2).mean() < 0.005


def test_a_body_can_go_where_the_motion_goes() -> None:
    clip = demo_clip("walk_turn_90_left", 30.0)
    rig, _ = other_rig(clip.skeleton)
    hips = clip.skeleton.hips

    def apart(moved: Clip) -> float:
        gap = moved.global_positions()[:, hips] - clip.global_positions()[:, hips]
        return float(np.linalg.norm(gap[:, [0, 2]], axis=1).max())

    kept = retarget(clip, rig, keep_way=True)
    assert apart(kept) < 0.05 < 0.3 < apart(retarget(clip, rig))
    ankle = clip.skeleton.need("left_foot")
    gap = kept.global_positions()[:, ankle] - clip.global_positions()[:, ankle]
    assert np.linalg.norm(gap[:, [0, 2]], axis=1).max() < 0.1
    giant = rig.scaled(2.0)
    assert way_scale(clip.skeleton, rig) == 1.0
    assert way_scale(clip.skeleton, giant) == pytest.approx(leg_length(giant) / leg_length(clip.skeleton))


def test_plants_do_not_slip_more_than_scaled() -> None:
    clip = with_detected_contacts(demo_clip("walk", 30.0))
    rig, _ = other_rig(clip.skeleton)
    moved = retarget(clip, rig)
    scale = leg_length(rig) / leg_length(clip.skeleton)
    assert np.median(_wander(moved)) <= 1.1 * scale * np.median(_wander(clip)) + 1e-3


@pytest.mark.parametrize("rig", ["Xbot.glb", "CesiumMan.glb", "RiggedFigure.glb"])
def test_characters_walk_as_recorded(recordings: Path, rig: str) -> None:
    clip = with_detected_contacts(read_clip(recordings / "cmu" / "16" / "16_47.amc"))
    skeleton = read_clip(recordings / "rigs" / rig).skeleton
    moved = retarget(clip, skeleton)
    assert _apart(clip, moved, ARMS) < 0.1 and _apart(clip, moved, LEGS) < 3
    back = retarget(moved, clip.skeleton)
    roles = ["hips", "head", *(f"{s}_{p}" for s in ("left", "right") for p in ("hand", "foot", "forearm", "lower_leg"))]
    joints = [clip.skeleton.need(role) for role in roles]
    gap = np.linalg.norm(back.global_positions()[:, joints] - clip.global_positions()[:, joints], axis=2)
    assert gap.mean() < 0.02
    scale = leg_length(skeleton) / leg_length(clip.skeleton)
    cleaned = [clean_feet(one) for one in (clip, moved)]
    # Feet whose ball lies nearly below the ankle move it with every pitch: there the slip is larger than the source's.
    limit = 1.1 * scale * np.median(_wander(cleaned[0])) if rig == "Xbot.glb" else 0.008
    assert np.median(_wander(cleaned[1])) < limit


def test_feet_that_hang_from_the_root_reach_the_shins(recordings: Path) -> None:
    skeleton = read_clip(recordings / "rigs" / "RobotExpressive.glb").skeleton
    moved = retarget(demo_clip("walk", 30.0), skeleton)
    at, rest = moved.global_positions(), skeleton.rest_positions()
    for side in ("left", "right"):
        knee, ankle = skeleton.need(f"{side}_lower_leg"), skeleton.need(f"{side}_foot")
        assert np.linalg.norm(at[:, ankle] - at[:, knee], axis=1) == pytest.approx(
            np.linalg.norm(rest[ankle] - rest[knee]), abs=1e-6
        )


def test_spines_of_other_lengths_share_their_bend() -> None:
    clip = demo_clip("walk", 30.0)
    skeleton = clip.skeleton
    spine = [j for j, role in enumerate(skeleton.roles) if role == "spine"]
    found = map_roles(skeleton, skeleton)
    assert [skeleton.names[found.low[j]] for j in spine] == [skeleton.names[j] for j in spine]
    assert found.as_names()[skeleton.names[spine[0]]] == skeleton.names[spine[0]]


def test_a_body_without_legs_is_refused_by_what_is_missing() -> None:
    clip = demo_clip("walk", 30.0)
    count = 10
    snake = Skeleton(
        tuple(f"b{k}" for k in range(count)), np.arange(-1, count - 1), np.tile([0.0, 0.1, 0.0], (count, 1))
    )
    with pytest.raises(RoleError, match=r"no legs found in the character: left upper leg"):
        retarget(clip, snake)
