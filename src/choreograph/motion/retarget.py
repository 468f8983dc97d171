"""Carrying a clip onto another body: the same joints with other lengths, or another rig altogether.

The root's path is scaled by the ratio of leg lengths, and so are the ankles' paths: a foot that stood still in the
recording stands still here too, at a spot scaled with the rest. The legs are then solved analytically so that the
ankles are where they should be, with knees bent in the plane they were bent in and feet turned as they were turned.

Where joints and rest poses are the same, rotations are kept; a foot of another length would stand in or above the
floor, and a constant lift per foot puts its ball where the scaled recording has it. Where they are not, every bone
points where the source's does (`role_map`), and the root lies so that the middle of the hip joints is where it should
be.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from choreograph.motion import ik, kinematics
from choreograph.motion.arrays import seal
from choreograph.motion.clip import Clip
from choreograph.motion.hung_feet import rehang
from choreograph.motion.remap import SOFT_SHARE, remap
from choreograph.motion.role_map import LEG_ROLES, SIDES, limb_bones, map_roles
from choreograph.motion.skeleton import Skeleton
from choreograph.motion.stance import Stance, body_stance, leg_length

Array = NDArray[np.float64]

_DOWN_SHARE = 0.25
"""A foot counts as down in the quarter of the frames in which its toe is lowest: less than any gait's stance."""

_ALIKE = float(np.cos(np.radians(1.0)))
"""How nearly bones of two rest poses point the same way where they are the same pose, as a cosine."""


def retarget(
    clip: Clip,
    skeleton: Skeleton,
    *,
    sole_m: float | None = None,
    given: Mapping[str, str] | None = None,
    stance: Stance | None = None,
) -> Clip:
    """The clip's motion on another body; the clip itself if the skeletons match already.

    Args:
        clip: The motion, on its own body.
        skeleton: The body that is to move.
        sole_m: Height of its soles in the rest pose with the root at the origin, metres; else of its lowest point. A
            skin's lowest vertex is lower than any joint.
        given: Joints of the body, by name, with the source's joint that each takes its rotation from.
        stance: How the body stands in a recording of it, where there is one (`recorded_stance`).

    Raises:
        RoleError: If no legs are known, whose lengths give the scale.
    """
    if clip.skeleton.matches(skeleton) and not given:
        return clip
    if clip.skeleton.same_joints(skeleton) and not given and _posed_alike(clip.skeleton, skeleton):
        return _carry(clip, skeleton)
    rehung = rehang(skeleton)
    body = skeleton if rehung is None else rehung.body
    root, rotations, contacts = remap(clip, map_roles(clip.skeleton, body, given), stance or body_stance(body, sole_m))
    made = _made(clip, body, root, rotations, contacts)
    return made if rehung is None else rehung.on_rig(made)


# ------------------------------------------------------------------------------------------------- the same joints


def _posed_alike(source: Skeleton, target: Skeleton) -> bool:
    """Whether limbs point the same way in both rest poses, so that the same rotations are the same pose."""
    if any(body.find(role) is None for body in (source, target) for role in LEG_ROLES):
        return True
    one, other = limb_bones(source), limb_bones(target)
    if one.shape != other.shape:
        return False
    sizes = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    return bool(np.all(np.sum(one * other, axis=1) >= _ALIKE * sizes))


def _carry(clip: Clip, skeleton: Skeleton) -> Clip:
    """Joint rotations kept, legs solved for scaled ankles."""
    scale = skeleton.leg_length / clip.skeleton.leg_length
    root = clip.root_pos * scale
    rotations = np.array(clip.local_rot)
    wanted = clip.global_positions() * scale
    parents = skeleton.parents
    offsets = skeleton.offsets[None]
    position, turned = kinematics.forward(root, rotations, offsets, parents)
    legs = _legs(skeleton)
    lifts = [_lift(wanted, position, ankle, toe) for _, _, ankle, toe in legs]
    if lifts:
        raised = np.array([0.0, float(np.mean(lifts)), 0.0])
        root, position = root + raised, position + raised
    for (hip, knee, ankle, _), lift in zip(legs, lifts, strict=True):
        target = wanted[:, ankle] + np.array([0.0, lift, 0.0])
        joints = position[:, hip], position[:, knee], position[:, ankle]
        turns = ik.solve_limb(*joints, ik.hinge_axes(*joints, turned[:, hip]), target, SOFT_SHARE)
        ik.write_limb(rotations, turned, parents, (hip, knee, ankle), turns, turned[:, ankle])
    contacts = clip.contacts if skeleton.feet == clip.skeleton.feet else None
    return _made(clip, skeleton, root, rotations, contacts)


def _made(
    clip: Clip,
    skeleton: Skeleton,
    root: Array,
    rotations: Array,
    contacts: NDArray[np.bool_] | None,
) -> Clip:
    return Clip(
        skeleton,
        clip.fps,
        seal(root),
        seal(kinematics.unit_and_continuous(rotations)),
        clip.name,
        labels=clip.labels,
        contacts=contacts,
        source=clip.source,
    )


def _legs(skeleton: Skeleton) -> list[tuple[int, int, int, int | None]]:
    """Hip, knee, ankle and toe joint of each leg whose bones follow one another."""
    found = []
    for side in SIDES:
        joints = [skeleton.find(f"{side}_{part}") for part in ("upper_leg", "lower_leg", "foot", "toe")]
        hip, knee, ankle, toe = joints
        if hip is None or knee is None or ankle is None:
            continue
        if skeleton.parents[knee] == hip and skeleton.parents[ankle] == knee:
            found.append((hip, knee, ankle, toe))
    return found


def _lift(wanted: Array, position: Array, ankle: int, toe: int | None) -> float:
    """How much higher an ankle must be for the ball of the foot to come down to the height it should have."""
    if toe is None:
        return 0.0
    height = wanted[:, toe, 1]
    down = height <= np.quantile(height, _DOWN_SHARE)
    drop = position[:, ankle, 1] - position[:, toe, 1]
    return float(np.mean((height + drop - wanted[:, ankle, 1])[down]))


__all__ = ["leg_length", "retarget"]
