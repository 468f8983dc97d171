"""Hands that touch something do so on another body, and arms that touch nothing are left alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from choreograph.base import quat
from choreograph.demo import demo_clip
from choreograph.finishing.hand_reach import find_touches, hand_joints, keep_touches
from choreograph.finishing.retarget_clean import put_on
from choreograph.motion import ik
from choreograph.motion.clip import Clip
from choreograph.motion.skeleton import Skeleton
from choreograph.verbs.retarget.measure import ARMS, bone_angles

SIDES = ("left", "right")


def _posed(wanted: dict[str, np.ndarray]) -> Clip:
    """A standing body whose wrists are where they are wanted, seen from the middle of its hips, (F, 3)."""
    clip = replace(demo_clip("stand", 30.0), contacts=None, labels=())
    skeleton = clip.skeleton
    frames = len(next(iter(wanted.values())))
    clip = clip.with_poses(np.tile(clip.root_pos[:1], (frames, 1)), np.tile(clip.local_rot[:1], (frames, 1, 1)))
    local, pos, rot = np.array(clip.local_rot), clip.global_positions(), clip.global_rotations()
    hips = pos[:, [skeleton.need(f"{side}_upper_leg") for side in SIDES]].mean(axis=1)
    for side, places in wanted.items():
        shoulder, elbow, wrist = (skeleton.need(f"{side}_{part}") for part in ("upper_arm", "forearm", "hand"))
        joints = pos[:, shoulder], pos[:, elbow], pos[:, wrist]
        axes = np.tile([-1.0, 0.0, 0.0], (frames, 1))
        turns = ik.solve_limb(*joints, axes, hips + places, 1.0)
        ik.write_limb(local, rot, skeleton.parents, (shoulder, elbow, wrist), turns, rot[:, wrist])
    return clip.with_poses(np.array(clip.root_pos), quat.make_continuous(local))


def _longer_arms(skeleton: Skeleton, share: float) -> Skeleton:
    """The same body with other names and longer arms."""
    offsets = np.array(skeleton.offsets)
    for side in SIDES:
        for part in ("forearm", "hand"):
            offsets[skeleton.need(f"{side}_{part}")] *= share
    names = tuple(f"Bone.{k:03d}" for k in range(len(skeleton)))
    return Skeleton(names, skeleton.parents, offsets, roles=skeleton.roles)


def test_clapping_hands_meet() -> None:
    gap = 0.06 + 0.2 * (1 + np.cos(np.linspace(0, 4 * np.pi, 61)))
    ahead = np.tile([0.0, 0.45, 0.3], (61, 1))
    clip = _posed({side: ahead + sign * gap[:, None] * [1.0, 0, 0] for side, sign in (("left", 1), ("right", -1))})
    rig = _longer_arms(clip.skeleton, 1.25)
    held, free = put_on(clip, rig), put_on(clip, rig, hands=False)
    assert held.touches is not None and (held.touches.meet > 0.99).any() and (held.touches.meet == 0).any()
    assert held.touches.misses(held.clip).max() < 0.005 < 0.05 < held.touches.misses(free.clip).max()
    apart = held.touches.meet == 0
    assert np.degrees(bone_angles(clip, held.clip, ARMS)[apart]).max() < 0.1
    speed = np.abs(np.diff(held.clip.global_positions()[:, hand_joints(rig)], axis=0)).max()
    assert speed < 2.5 * np.abs(np.diff(free.clip.global_positions()[:, hand_joints(rig)], axis=0)).max()


def test_hands_rest_on_hips() -> None:
    places = {side: np.tile([sign * 0.17, 0.22, 0.05], (40, 1)) for side, sign in (("left", 1), ("right", -1))}
    clip = _posed(places)
    rig = _longer_arms(clip.skeleton, 1.2)
    held, free = put_on(clip, rig), put_on(clip, rig, hands=False)
    assert held.touches is not None and held.touches.rests.all()
    assert held.touches.misses(held.clip).max() < 0.005 < 0.03 < held.touches.misses(free.clip).min()


@pytest.mark.parametrize("name", ["walk", "jump_high"])
def test_arms_that_touch_nothing_are_left_alone(name: str) -> None:
    clip = demo_clip(name, 30.0)
    made = put_on(clip, _longer_arms(clip.skeleton, 1.2))
    assert made.touches is not None and not made.touches.any()
    assert np.degrees(bone_angles(clip, made.clip, ARMS)).max() < 0.1
    assert keep_touches(made.clip, made.touches) is made.clip


def test_bodies_without_arms_touch_nothing() -> None:
    clip = demo_clip("walk", 30.0)
    roles = tuple("other" if "arm" in role else role for role in clip.skeleton.roles)
    armless = clip.with_skeleton(
        Skeleton(clip.skeleton.names, clip.skeleton.parents, clip.skeleton.offsets, roles=roles)
    )
    assert find_touches(armless, clip) is None
