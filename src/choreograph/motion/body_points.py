"""The body that plans look at: a few points of it, and the capsules between them that must keep clear of things."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Floats, Ints
from choreograph.motion.clip import Clip
from choreograph.motion.skeleton import Skeleton

_SIDED = ("upper_arm", "forearm", "hand", "lower_leg", "foot", "toe")
ROLES = ("hips", "neck", "head", *(f"{side}_{part}" for side in ("left", "right") for part in _SIDED))
"""Joints whose poses are compared; points of the body come in this order."""
POSED = len(ROLES)
"""The points behind these are ends of bones: the top of the head, the tips of the toes."""
HEAD_TOP, LEFT_TIP, RIGHT_TIP = POSED, POSED + 1, POSED + 2  # the last of the points
POINTS = POSED + 3  # in all
HIPS = 0  # the point by which a body is placed
_STATURE_M = 1.75
"""Height of the body whose capsules these radii are."""
_TRUNK = (("hips", "neck", 0.13), ("neck", "top", 0.10))
_LIMB = (
    ("neck", "upper_arm", 0.07),
    ("upper_arm", "forearm", 0.05),
    ("forearm", "hand", 0.05),
    ("hips", "lower_leg", 0.09),
    ("lower_leg", "foot", 0.06),
    ("foot", "tip", 0.05),
)


def ankle(side: int) -> int:
    """Point of the ankle: 0 is the left one."""
    return ROLES.index(("left_foot", "right_foot")[side])


def ball(side: int) -> int:
    """Point of the ball of the foot."""
    return ROLES.index(("left_toe", "right_toe")[side])


@dataclass(frozen=True, eq=False)
class PointBody:
    """Which joints are the points, and the capsules between points."""

    joints: Ints
    """Joint of each posed point, (POSED,)."""
    tips: tuple[tuple[int, Floats], ...]
    """Joint and offset in it of the head's top and the toes' tips."""
    capsules: Ints
    """Points at the ends of each capsule, (C, 2)."""
    radii: Floats
    """(C,), metres."""
    stature_m: float

    @classmethod
    def of(cls, skeleton: Skeleton) -> PointBody:
        """The body of a skeleton; a part that it lacks is where the part that carries it is.

        Raises:
            RoleError: If it has no feet that are known.
        """
        skeleton.need("left_foot"), skeleton.need("right_foot")
        joints = np.array([_joint(skeleton, role) for role in ROLES], np.int64)
        tips = tuple(_tip(skeleton, int(joints[ROLES.index(role)])) for role in ("head", "left_toe", "right_toe"))
        scale = max(0.3, skeleton.height / _STATURE_M)
        pairs, radii = [], []
        for first, second, radius in (*_TRUNK, *_LIMB):
            for side in (0, 1) if (first, second, radius) in _LIMB else (0,):
                ends = _point(first, side), _point(second, side)
                pairs.append(ends)
                radii.append(radius * scale)
        return cls(joints, tips, np.array(pairs, np.int64), np.array(radii), skeleton.height)

    def points(self, clip: Clip, stride: int = 1) -> Floats:
        """The points of every so-manieth frame, (F, POINTS, 3), metres."""
        pos, rot = clip.global_positions()[::stride], clip.global_rotations()[::stride]
        ends = [pos[:, joint] + quat.rotate(rot[:, joint], offset) for joint, offset in self.tips]
        return np.concatenate([pos[:, self.joints], np.stack(ends, axis=1)], axis=1)


def _point(name: str, side: int) -> int:
    if name in ("top", "tip"):
        return HEAD_TOP if name == "top" else (LEFT_TIP, RIGHT_TIP)[side]
    return ROLES.index(name if name in ROLES else f"{('left', 'right')[side]}_{name}")


_CARRIERS = {"neck": "head", "head": "neck", "toe": "foot", "hand": "forearm", "forearm": "upper_arm"}


def _joint(skeleton: Skeleton, role: str) -> int:
    """The joint of a role, or of the part that carries it, or the hips."""
    for _ in range(4):
        joint = skeleton.find(role)
        if joint is not None:
            return joint
        side, _, part = role.partition("_") if role.startswith(("left_", "right_")) else ("", "", role)
        carrier = _CARRIERS.get(part)
        if carrier is None:
            break
        role = f"{side}_{carrier}" if side else carrier
    spine = [j for j, known in enumerate(skeleton.roles) if known == "spine"]
    return spine[-1] if spine and "leg" not in role else skeleton.hips


def _tip(skeleton: Skeleton, joint: int) -> tuple[int, Floats]:
    """Where a bone that nothing hangs from ends: its end site, or as far on as it is long."""
    at = np.flatnonzero(skeleton.tip_parents == joint)
    if len(at):
        return joint, np.array(skeleton.tip_offsets[at[0]])
    for child in skeleton.children(joint):
        return joint, np.array(skeleton.offsets[child])
    return joint, 0.5 * np.array(skeleton.offsets[joint])
