"""A skeleton in the pose that its mannequin is drawn in: the body's own directions, its stature, its chains."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Floats
from choreograph.figure._strand import square_to, unit
from choreograph.motion.skeleton import Skeleton

SHORTEST = 1e-4
"""Bones below a tenth of a millimetre are none."""
NECK_RISE = 0.050
"""Height of the neck's base above the shoulder joints, as a share of stature."""


@dataclass(frozen=True, eq=False)
class CoveredJoints:
    """What of a skeleton has been given a surface."""

    bones: set[int] = field(default_factory=set)
    """Joints whose bone, from their parent to them, has one."""
    tips: set[int] = field(default_factory=set)
    """Joints whose end sites have one."""

    def all_below(self, skeleton: Skeleton, joint: int) -> None:
        """Count everything that hangs from a joint as drawn."""
        hanging = below(skeleton, joint)
        self.bones.update(hanging)
        self.tips.update([joint, *hanging])


@dataclass(frozen=True, eq=False)
class Pose:
    """A skeleton in the pose that the mannequin is drawn in, and the body's own directions and size there."""

    skeleton: Skeleton
    points: Floats
    """Joint positions, (J, 3), metres."""
    tips: Floats
    """End sites, (T, 3), metres."""
    up: Floats
    left: Floats
    ahead: Floats
    stature: float
    neck_base: Floats
    """Where the neck rises from the shoulders, (3,)."""

    def at(self, joint: int) -> Floats:
        """Position of a joint."""
        return np.asarray(self.points[joint])

    def chain(self, low: int | None, high: int | None) -> list[int]:
        """The joints from `high` down the tree to `low`, both included; empty where there is no such way."""
        if low is None or high is None:
            return []
        way = [low]
        while way[-1] != high:
            parent = int(self.skeleton.parents[way[-1]])
            if parent < 0:
                return []
            way.append(parent)
        return way[::-1]

    def ends(self, joint: int) -> list[Floats]:
        """The end sites of a joint that lie away from it."""
        ends = [self.tips[k] for k in np.flatnonzero(self.skeleton.tip_parents == joint)]
        return [tip for tip in ends if np.linalg.norm(tip - self.points[joint]) > SHORTEST]


def is_human(skeleton: Skeleton) -> bool:
    """Whether the joints are known that make a torso, two legs, two arms and a head."""
    limbs = ("upper_leg", "lower_leg", "foot", "upper_arm", "forearm")
    needed = ["hips", *(f"{side}_{limb}" for side in ("left", "right") for limb in limbs)]
    if any(skeleton.find(role) is None for role in needed):
        return False
    if skeleton.find("neck") is None and skeleton.find("head") is None:
        return False
    # The trunk is drawn along the way from hips to neck, so there must be one.
    joint = neck_joint(skeleton)
    while joint > skeleton.hips:
        joint = int(skeleton.parents[joint])
    return joint == skeleton.hips


def neck_joint(skeleton: Skeleton) -> int:
    """Where the neck leaves the torso of a human skeleton."""
    neck = skeleton.find("neck")
    return neck if neck is not None else skeleton.need("head")


def straightness(skeleton: Skeleton, points: Floats) -> Floats:
    """How much human poses look like a person standing straight with arms down or out, (F,), at most 1.

    Args:
        skeleton: A human skeleton.
        points: Joint positions, (F, J, 3).
    """

    def direction(low: int, high: int) -> Floats:
        way = points[:, high] - points[:, low]
        return way / np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-9)

    def cosine(a: Floats, b: Floats) -> Floats:
        return np.asarray((a * b).sum(axis=1))

    spine = direction(skeleton.hips, neck_joint(skeleton))
    hip_line = direction(skeleton.need("right_upper_leg"), skeleton.need("left_upper_leg"))
    terms = []
    for side, sign in (("left", 1.0), ("right", -1.0)):
        hip, knee, ankle = (skeleton.need(f"{side}_{part}") for part in ("upper_leg", "lower_leg", "foot"))
        shoulder, elbow = skeleton.need(f"{side}_upper_arm"), skeleton.need(f"{side}_forearm")
        thigh, shin, arm = direction(hip, knee), direction(knee, ankle), direction(shoulder, elbow)
        terms += [-cosine(spine, thigh), cosine(thigh, shin)]
        # Arms lie anywhere between hanging and straight out; upward or across the body is worse.
        terms.append(np.minimum(1.0, 1.0 - cosine(arm, spine) - np.maximum(0.0, -sign * cosine(arm, hip_line))))
        toe = skeleton.find(f"{side}_toe")
        if toe is not None:
            terms.append(1.0 - cosine(direction(ankle, toe), shin) ** 4)
    return np.asarray(np.min(terms, axis=0) * 0.7 + np.mean(terms, axis=0) * 0.3)


def straighten(skeleton: Skeleton, points: Floats, rot: Floats) -> tuple[Floats, Floats]:
    """A human pose stood upright, facing +z, with spine and legs in one line, and knees and elbows straight.

    The line is that of the pelvis: from the hips to the first joint of the spine.

    Args:
        skeleton: A human skeleton.
        points: Joint positions, (J, 3).
        rot: Global joint rotations, (J, 4).
    """
    points, rot = np.array(points), np.array(rot)
    spine = [neck_joint(skeleton)]
    while spine[-1] != skeleton.hips:
        spine.append(int(skeleton.parents[spine[-1]]))
    spine.reverse()
    rises = (points[j] - points[skeleton.hips] for j in spine[1:])
    up = unit(next((v for v in rises if np.linalg.norm(v) > 0.02), np.array([0.0, 1.0, 0.0])))
    for joint, child in pairwise(spine[1:]):
        _aim(skeleton, points, rot, joint, child, up)
    for side in ("left", "right"):
        for upper, lower, end in (("upper_leg", "lower_leg", "foot"), ("upper_arm", "forearm", "hand")):
            first, second = skeleton.need(f"{side}_{upper}"), skeleton.need(f"{side}_{lower}")
            third = skeleton.find(f"{side}_{end}")
            if upper == "upper_leg":
                _aim(skeleton, points, rot, first, second, -up)
            if third is not None:
                _aim(skeleton, points, rot, second, third, points[second] - points[first])
    measure = take_measure(skeleton, points, points[:0])
    upright = quat.from_matrix(np.stack([measure.left, measure.up, measure.ahead]))
    return quat.rotate(upright, points - points[:1]), quat.multiply(upright, rot)


def _aim(skeleton: Skeleton, points: Floats, rot: Floats, joint: int, child: int, direction: Floats) -> None:
    """Turn a joint, and all that hangs from it, in place, until a child lies in the given direction."""
    bone = points[child] - points[joint]
    if np.linalg.norm(bone) < SHORTEST or np.linalg.norm(direction) < SHORTEST:
        return
    turn = quat.between_vectors(bone, direction)
    moved = [joint, *below(skeleton, joint)]
    points[moved] = points[joint] + quat.rotate(turn, points[moved] - points[joint])
    rot[moved] = quat.multiply(turn, rot[moved])


def take_measure(skeleton: Skeleton, points: Floats, tips: Floats) -> Pose:
    """The body's directions and stature in a pose."""
    up, left, ahead = np.eye(3)[[1, 0, 2]]
    base = points[0]
    everything = np.concatenate([points, tips])
    stature = float(np.linalg.norm(np.ptp(everything, axis=0)))
    if is_human(skeleton):
        hips = [points[skeleton.need(f"{side}_upper_leg")] for side in ("left", "right")]
        shoulders = [points[skeleton.need(f"{side}_upper_arm")] for side in ("left", "right")]
        middle = (hips[0] + hips[1]) / 2
        trunk = points[neck_joint(skeleton)] - middle
        up = unit(trunk)
        left = square_to(unit(hips[0] - hips[1]) + unit(shoulders[0] - shoulders[1]), up)
        ahead = np.cross(left, up)
        # Thigh and shin together are 0.49 of a person's height (Drillis and Contini 1966); hip line to neck base 0.30.
        stature = 0.7 * skeleton.leg_length / 0.491 + 0.3 * float(np.linalg.norm(trunk)) / 0.30
        # Some skeletons have their first neck joint deep in the chest; a neck rises just above the shoulders.
        base = points[neck_joint(skeleton)]
        above = float(((shoulders[0] + shoulders[1]) / 2 - base) @ up) / stature + NECK_RISE
        base = base + up * stature * float(np.clip(above, -0.02, 0.10))
    return Pose(skeleton, points, tips, up, left, ahead, stature, base)


def below(skeleton: Skeleton, joint: int) -> list[int]:
    """Every joint that hangs from a joint, in the skeleton's order."""
    hanging = {joint}
    joints = []
    for j in range(joint + 1, len(skeleton)):
        if int(skeleton.parents[j]) in hanging:
            hanging.add(j)
            joints.append(j)
    return joints
