"""How bodies stand: how long their legs are, how high their ankles, and what their feet look like on the floor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Flags, Floats, Indices
from choreograph.base.quantiles import medians, quantile
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import with_detected_contacts
from choreograph.motion.role_map import SIDES, foot_bone
from choreograph.motion.roles import FOOT_ROLES
from choreograph.motion.skeleton import Skeleton

_ANKLE_SHARE = 0.1
"""Height of an ankle joint above the sole as a share of thigh and shin: 0.08 to 0.11 in most recordings."""
_DROP_SHARE = 0.055
"""Height of an ankle above the ball of the foot, likewise."""
_MOMENT_S = 0.2
"""Time for which feet stand at least in a recording that tells how they do."""
_ALIKE = float(np.cos(np.radians(10.0)))
"""How nearly feet of two rest poses point the same way where they are the same pose, as a cosine."""
_STEEP = np.radians(60.0)  # slope of a foot's bone at which a file's rest pose is not one of standing
_SHALLOW = np.radians(6.0)
"""Slopes from ankle to ball between which a rest pose is that of a foot on the floor."""


@dataclass(frozen=True, eq=False)
class FootGeometry:
    """How a body stands: what its feet look like flat on the floor."""

    ankle_m: float
    """Height of its ankles above the floor, metres."""
    flat: Mapping[str, Floats]
    """Rotation of each side's foot, against its rest pose, in which it is flat and points along +z, (4,)."""


def body_stance(skeleton: Skeleton, sole_m: float | None = None) -> FootGeometry:
    """How a body stands by its build alone: on its skin's lowest vertex where that is known."""
    flat = {side: flat_pose(skeleton, side, skinned=sole_m is not None) for side in SIDES}
    return FootGeometry(ankle_height(skeleton, sole_m), flat)


def recorded_stance(clip: Clip) -> FootGeometry | None:
    """How a body stands in a recording; None where it does so for less than a moment."""
    clip = with_detected_contacts(clip)
    heights, poses = [], {}
    for side in SIDES:
        heel, ball = columns(clip, side)
        frames = np.flatnonzero(heel & ball)
        if len(frames) < max(3.0, _MOMENT_S * clip.fps):
            return None
        ankle = clip.skeleton.need(f"{side}_foot")
        heights.append(quantile(clip.global_positions()[frames, ankle, 1], 0.5))
        poses[side] = standing_pose(clip.global_rotations()[frames, ankle], foot_bone(clip.skeleton, side))
    return FootGeometry(float(np.mean(heights)), poses)


def likely_stance(clip: Clip, skeleton: Skeleton) -> FootGeometry | None:
    """How a body with the joints of a clip's body stands: with its feet turned as those are when they stand.

    None where its feet are others: joints differ, or feet point elsewhere in the rest pose.
    """
    if not clip.skeleton.same_joints(skeleton):
        return None
    clip = with_detected_contacts(clip)
    scale = leg_length(skeleton) / leg_length(clip.skeleton)
    heights, poses = [], {}
    for side in SIDES:
        frames, bones = flat_frames(clip, side), [foot_bone(body, side) for body in (clip.skeleton, skeleton)]
        ankle, at = clip.skeleton.need(f"{side}_foot"), clip.global_positions()
        poses[side] = standing_pose(clip.global_rotations()[frames, ankle], bones[0])
        height = scale * quantile(at[frames, ankle, 1], 0.5)
        if bones[0] is not None and bones[1] is not None:
            if bones[0] @ bones[1] < _ALIKE * np.linalg.norm(bones[0]) * np.linalg.norm(bones[1]):
                return None
            # A larger foot has its ball on the same floor, and its ankle higher.
            height -= float(quat.rotate(poses[side], bones[1] - scale * bones[0])[1])
        heights.append(height)
    return FootGeometry(float(np.mean(heights)), poses)


@lru_cache(maxsize=64)
def leg_length(skeleton: Skeleton) -> float:
    """Mean length of thigh plus shin, metres, also where the foot hangs from something else than the shin."""
    rest = skeleton.rest_positions()
    lengths = []
    for side in SIDES:
        hip, knee, ankle = (skeleton.need(f"{side}_{part}") for part in ("upper_leg", "lower_leg", "foot"))
        lengths.append(np.linalg.norm(rest[knee] - rest[hip]) + np.linalg.norm(rest[ankle] - rest[knee]))
    return float(np.mean(lengths))


def ankle_height(skeleton: Skeleton, sole_m: float | None) -> float:
    """Height of the ankles above the sole, metres: by the skin, else by the lowest foot joint or as people have it."""
    rest = skeleton.rest_positions()
    if sole_m is not None:
        return float(np.mean([rest[skeleton.need(f"{side}_foot"), 1] - sole_m for side in SIDES]))
    drops = [_ANKLE_SHARE * leg_length(skeleton)]
    for side in SIDES:
        bone = foot_bone(skeleton, side)
        if bone is not None:
            drops.append(-float(quat.rotate(flat_pose(skeleton, side, skinned=False), bone)[1]))
    return max(drops)


def flat_pose(skeleton: Skeleton, side: str, *, skinned: bool) -> Floats:
    """Rotation of a foot, against its rest pose, in which it stands flat and points along +z, (4,)."""
    bone = foot_bone(skeleton, side)
    if bone is None:
        return np.array(quat.IDENTITY)
    along = float(np.hypot(bone[0], bone[2]))
    heading = float(np.arctan2(bone[0], bone[2])) if along > 1e-3 else 0.0
    turn = quat.from_yaw(-heading)
    slope = float(np.arctan2(-bone[1], along))
    if skinned or _SHALLOW <= slope <= _STEEP or skeleton.find(f"{side}_toe") is None:
        return turn
    length = float(np.linalg.norm(bone))
    wanted = float(np.arcsin(min(_DROP_SHARE * leg_length(skeleton) / max(length, 1e-9), 0.7)))
    return quat.multiply(quat.from_axis_angle([1.0, 0.0, 0.0], wanted - slope), turn)


def columns(clip: Clip, side: str) -> tuple[Flags, Flags]:
    """Whether a foot's heel and ball stand, (F,) each; the ball as the heel where there is none."""
    assert clip.contacts is not None
    roles = [role for role in FOOT_ROLES if clip.skeleton.find(role) is not None]
    heel = clip.contacts[:, roles.index(f"{side}_foot")]
    return heel, clip.contacts[:, roles.index(f"{side}_toe")] if f"{side}_toe" in roles else heel


def flat_frames(clip: Clip, side: str) -> Indices:
    """Frames in which a foot stands flat; those in which its ankle is lowest where it never does."""
    heel, ball = columns(clip, side)
    frames = np.flatnonzero(heel & ball)
    if len(frames) < 3:
        height = clip.global_positions()[:, clip.skeleton.need(f"{side}_foot"), 1]
        frames = np.flatnonzero(height <= np.quantile(height, 0.1) + 1e-9)
    return frames


def standing_pose(turns: Floats, bone: Floats | None) -> Floats:
    """The usual rotation of a foot that stands, without its heading: its bone points along +z, (4,)."""
    usual = quat.multiply(quat.inverse(quat.from_yaw(quat.yaw_of(turns))), turns)
    tilt = quat.from_rotvec(medians(quat.as_rotvec(usual)))
    if bone is None:
        return tilt
    along = quat.rotate(tilt, bone)
    heading = np.arctan2(along[0], along[2]) if np.hypot(along[0], along[2]) > 1e-3 else 0.0
    return quat.multiply(quat.from_yaw(-heading), tilt)
