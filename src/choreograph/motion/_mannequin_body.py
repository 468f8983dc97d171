"""The mannequin's anatomy: which lofts a skeleton's joints call for, and how wide each is where.

Directions come from the pose itself (spine, hip line, shoulder line), thicknesses from stature and bone lengths; so a
T-pose, legs astride or a bent knee give the same body. What has no known role becomes plain tapering tubes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from choreograph.maths import quat
from choreograph.motion._mannequin_loft import Section, Surface, loft
from choreograph.motion._mannequin_strand import (
    CLAY,
    LEFT_TINT,
    NO_TINT,
    RIGHT_TINT,
    Bone,
    Girth,
    ball,
    shade,
    smoothstep,
    square_to,
    strand,
    unit,
)
from choreograph.motion.roles import split_side
from choreograph.motion.skeleton import Skeleton

Array = NDArray[np.float64]

_SHORTEST = 1e-4
"""Bones below a tenth of a millimetre are none."""
_NECK_RISE = 0.030
"""Height of the neck's base above the shoulder joints, as a share of stature."""


@dataclass(frozen=True, eq=False)
class Pose:
    """A skeleton in the pose that the mannequin is drawn in, and the body's own directions and size there."""

    skeleton: Skeleton
    points: Array
    """Joint positions, (J, 3), metres."""
    tips: Array
    """End sites, (T, 3), metres."""
    up: Array
    left: Array
    ahead: Array
    stature: float
    neck_base: Array
    """Where the neck rises from the shoulders, (3,)."""

    def at(self, joint: int) -> Array:
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

    def ends(self, joint: int) -> list[Array]:
        """The end sites of a joint that lie away from it."""
        found = [self.tips[k] for k in np.flatnonzero(self.skeleton.tip_parents == joint)]
        return [tip for tip in found if np.linalg.norm(tip - self.points[joint]) > _SHORTEST]


def shape_body(skeleton: Skeleton, points: Array, tips: Array) -> list[Surface]:
    """The parts of the mannequin.

    Args:
        skeleton: Joints and their roles.
        points: Joint positions in the pose to draw it in, (J, 3), metres.
        tips: Positions of the end sites in that pose, (T, 3), metres.
    """
    pose = take_measure(skeleton, points, tips)
    drawn: set[int] = set()
    parts: list[Surface] = []
    if is_human(skeleton):
        parts += _torso(pose, drawn) + _head(pose, drawn)
        for side, tint in (("left", LEFT_TINT), ("right", RIGHT_TINT)):
            parts += _leg(pose, side, tint, drawn) + _foot(pose, side, tint, drawn)
            parts += _arm(pose, side, tint, drawn) + _hand(pose, side, tint, drawn)
    parts += _plain(pose, drawn)
    if not parts:
        parts.append(ball(points[0], np.full(3, 0.05), 0, CLAY))
    return parts


def is_human(skeleton: Skeleton) -> bool:
    """Whether the joints are known that make a torso, two legs, two arms and a head."""
    limbs = ("upper_leg", "lower_leg", "foot", "upper_arm", "forearm")
    needed = ["hips", *(f"{side}_{limb}" for side in ("left", "right") for limb in limbs)]
    if any(skeleton.find(role) is None for role in needed):
        return False
    return skeleton.find("neck") is not None or skeleton.find("head") is not None


def neck_joint(skeleton: Skeleton) -> int:
    """Where the neck leaves the torso of a human skeleton."""
    found = skeleton.find("neck")
    return found if found is not None else skeleton.need("head")


def straightness(skeleton: Skeleton, points: Array) -> Array:
    """How much human poses look like a person standing straight with arms down or out, (F,), at most 1.

    Args:
        skeleton: A human skeleton.
        points: Joint positions, (F, J, 3).
    """

    def direction(low: int, high: int) -> Array:
        way = points[:, high] - points[:, low]
        return way / np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-9)

    def cosine(a: Array, b: Array) -> Array:
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


def straighten(skeleton: Skeleton, points: Array, rot: Array) -> tuple[Array, Array]:
    """A human pose with its legs along the spine's line, and knees and elbows straight, by the least turns.

    Args:
        skeleton: A human skeleton.
        points: Joint positions, (J, 3).
        rot: Global joint rotations, (J, 4).
    """
    points, rot = np.array(points), np.array(rot)
    up = unit(points[neck_joint(skeleton)] - points[skeleton.hips])
    for side in ("left", "right"):
        for upper, lower, end in (("upper_leg", "lower_leg", "foot"), ("upper_arm", "forearm", "hand")):
            first, second = skeleton.need(f"{side}_{upper}"), skeleton.need(f"{side}_{lower}")
            third = skeleton.find(f"{side}_{end}")
            if upper == "upper_leg":
                _aim(skeleton, points, rot, first, second, -up)
            if third is not None:
                _aim(skeleton, points, rot, second, third, points[second] - points[first])
    return points, rot


def _aim(skeleton: Skeleton, points: Array, rot: Array, joint: int, child: int, direction: Array) -> None:
    """Turn a joint, and all that hangs from it, in place, until a child lies in the given direction."""
    bone = points[child] - points[joint]
    if np.linalg.norm(bone) < _SHORTEST or np.linalg.norm(direction) < _SHORTEST:
        return
    turn = quat.between_vectors(bone, direction)
    moved = [joint, *(j for j in _below(skeleton, joint) if j >= 0)]
    points[moved] = points[joint] + quat.rotate(turn, points[moved] - points[joint])
    rot[moved] = quat.multiply(turn, rot[moved])


def take_measure(skeleton: Skeleton, points: Array, tips: Array) -> Pose:
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
        above = float(((shoulders[0] + shoulders[1]) / 2 - base) @ up) / stature + _NECK_RISE
        base = base + up * stature * float(np.clip(above, -0.02, 0.08))
    return Pose(skeleton, points, tips, up, left, ahead, stature, base)


# ---------------------------------------------------------------------------------------------------- trunk and head

# Height between hip line (0) and shoulder line (1); half width as shares of (hip width, chest width, stature);
# half depth and shift ahead as shares of stature; exponent of the outline.
_TRUNK = (
    (-0.155, 0.30, 0.0, 0.000, 0.030, -0.004, 2.0),
    (-0.135, 0.50, 0.0, 0.000, 0.042, -0.004, 2.1),
    (-0.09, 0.74, 0.0, 0.000, 0.052, -0.005, 2.2),
    (-0.02, 0.93, 0.0, 0.000, 0.0605, -0.006, 2.3),
    (0.07, 0.98, 0.0, 0.000, 0.0625, -0.006, 2.3),
    (0.17, 0.93, 0.0, 0.000, 0.0585, -0.003, 2.3),
    (0.30, 0.43, 0.40, 0.000, 0.0525, 0.000, 2.3),
    (0.42, 0.25, 0.58, 0.000, 0.0525, 0.001, 2.3),
    (0.56, 0.05, 0.86, 0.000, 0.0580, 0.002, 2.4),
    (0.70, 0.00, 1.00, 0.000, 0.0635, 0.004, 2.4),
    (0.82, 0.00, 1.08, 0.000, 0.0640, 0.004, 2.4),
    (0.91, 0.00, 1.09, 0.000, 0.0590, 0.001, 2.4),
    (0.985, 0.00, 0.99, 0.000, 0.0490, -0.003, 2.3),
    (1.05, 0.00, 0.74, 0.000, 0.0385, -0.005, 2.2),
    (1.10, 0.00, 0.36, 0.012, 0.0310, -0.005, 2.0),
    (1.135, 0.00, 0.00, 0.022, 0.0220, -0.004, 2.0),
)


def _torso(pose: Pose, drawn: set[int]) -> list[Surface]:
    """Pelvis, waist and chest as one broad, flat loft along the spine."""
    skeleton, size = pose.skeleton, pose.stature
    neck = neck_joint(skeleton)
    spine = pose.chain(neck, skeleton.hips)
    drawn.update(spine[1:])
    hips = [skeleton.need(f"{side}_upper_leg") for side in ("left", "right")]
    shoulders = [skeleton.need(f"{side}_upper_arm") for side in ("left", "right")]
    for joint in hips:
        drawn.update(pose.chain(joint, skeleton.hips)[1:])
    for joint in shoulders:
        drawn.update(_hang(pose, joint, spine))
    hip_line = pose.points[hips].mean(axis=0)
    base = pose.neck_base
    shoulder_line = base - pose.up * _NECK_RISE * size
    hip_width = float(np.linalg.norm(pose.points[hips[0]] - pose.points[hips[1]])) / 2 + 0.044 * size
    reach = float(np.linalg.norm(pose.points[shoulders[0]] - pose.points[shoulders[1]])) / 2
    hip_width = float(np.clip(hip_width, 0.085 * size, 0.115 * size))
    chest_width = float(np.clip(0.82 * reach, 0.080 * size, 0.115 * size))

    heights = np.array([float((pose.at(j) - hip_line) @ pose.up) for j in spine])
    inner = [j for j, h in zip(spine, heights, strict=True) if 0.03 * size < h < heights[-1] - 0.03 * size]
    knots = np.array([hip_line, *(pose.at(j) for j in inner), base])
    top = float((shoulder_line - hip_line) @ pose.up)
    sections = []
    table = np.array(_TRUNK)
    fine = np.concatenate([table[:3, 0], np.linspace(table[3, 0], table[-3, 0], 22), table[-2:, 0]])
    from scipy.interpolate import PchipInterpolator

    for at, of_hips, of_chest, of_size, deep, ahead, square in PchipInterpolator(table[:, 0], table)(fine):
        height = at * top
        centre = _along(knots, (knots - hip_line) @ pose.up, height, pose.up)
        width = of_hips * hip_width + of_chest * chest_width + of_size * size
        sections.append(
            Section(
                centre + pose.ahead * ahead * size,
                -pose.left * width,
                pose.ahead * deep * size,
                _spine_weights(spine, heights, height, 0.045 * size),
                CLAY * (1 - 0.10 * np.exp(-(((at - 0.36) / 0.09) ** 2))),
                square,
            )
        )
    sections = [_turned(s, pose.up) for s in sections]
    parts = [loft(sections, 32)]
    for side, joint in zip(("left", "right"), shoulders, strict=True):
        parts.append(_shoulder(pose, side, joint, shoulder_line))
    return parts


def _turned(section: Section, along: Array) -> Section:
    """The section with its outline running the way round that makes the loft's outside face out."""
    if float(np.cross(section.across, section.deep) @ along) >= 0:
        return section
    return Section(section.centre, -section.across, section.deep, section.weights, section.colour, section.square)


def _hang(pose: Pose, joint: int, trunk: Sequence[int]) -> list[int]:
    """The joints between the trunk and a limb's first joint, that one included."""
    way = []
    while joint >= 0 and joint not in trunk:
        way.append(joint)
        joint = int(pose.skeleton.parents[joint])
    return way


def _along(knots: Array, heights: Array, height: float, up: Array) -> Array:
    """The point at a height on the line through knots, smoothed; straight on beyond its ends."""
    if height <= heights[0]:
        return np.asarray(knots[0] + up * (height - heights[0]))
    if height >= heights[-1]:
        return np.asarray(knots[-1] + up * (height - heights[-1]))
    from scipy.interpolate import PchipInterpolator

    order = np.argsort(heights)
    keep = np.concatenate([[True], np.diff(heights[order]) > 1e-6])
    return np.asarray(PchipInterpolator(heights[order][keep], knots[order][keep])(height))


def _spine_weights(spine: Sequence[int], heights: Array, height: float, reach: float) -> dict[int, float]:
    """How a slice of the torso follows the joints of the spine: each takes over smoothly where it sits."""
    weights: dict[int, float] = {spine[0]: 1.0}
    for joint, level in list(zip(spine, heights, strict=True))[1:-1]:
        # The pelvis keeps what lies around it: a first vertebra at the root's own place begins above it.
        level = max(float(level), float(heights[0]) + 0.7 * reach)
        share = float(smoothstep(0.5 + 0.5 * (height - level) / reach))
        weights = {j: w * (1 - share) for j, w in weights.items()}
        weights[joint] = share
    return {j: w for j, w in weights.items() if w > 1e-6}


def _shoulder(pose: Pose, side: str, joint: int, shoulder_line: Array) -> Surface:
    """The slope from the neck to the top of the arm, carried by the collar bone."""
    size = pose.stature
    collar = pose.skeleton.find(f"{side}_clavicle")
    carrier = int(pose.skeleton.parents[joint]) if collar is None else collar
    spine = int(pose.skeleton.parents[carrier]) if collar is not None and carrier > 0 else carrier
    end = pose.at(joint) - pose.up * 0.004 * size
    start = shoulder_line + 0.32 * (end - shoulder_line) + pose.up * 0.011 * size - pose.ahead * 0.005 * size
    along = unit(end - start)
    ahead = square_to(pose.ahead, along)
    across = np.cross(ahead, along)
    sections = []
    profile = (
        (-0.55, 0.4, 0.4),
        (-0.3, 0.8, 0.8),
        (0.0, 1.0, 1.0),
        (0.35, 1.03, 1.0),
        (0.7, 1.05, 0.98),
        (1.0, 1.0, 0.97),
    )
    for t, tall, deep in profile:
        share = float(smoothstep(0.15 + 0.85 * t))
        weights = {carrier: share}
        weights[spine] = weights.get(spine, 0.0) + 1 - share
        sections.append(
            Section(
                start + (end - start) * t,
                across * 0.031 * size * tall,
                ahead * 0.034 * size * deep,
                {j: w for j, w in weights.items() if w > 0},
                CLAY,
            )
        )
    radius = 0.022 * size
    for angle in np.linspace(0.3, 1.5, 4):
        shrink = float(np.cos(angle))
        sections.append(
            Section(
                end + along * radius * float(np.sin(angle)),
                across * 0.0254 * size * shrink,
                ahead * 0.0306 * size * shrink,
                {carrier: 1.0},
                CLAY,
            )
        )
    return loft(sections, 16)


# Height from chin (-1) to crown (1); half width, half depth and shift ahead as shares of the head's own.
_HEAD = (
    (-1.00, 0.12, 0.10, 0.36),
    (-0.985, 0.30, 0.26, 0.34),
    (-0.94, 0.49, 0.44, 0.31),
    (-0.84, 0.65, 0.62, 0.25),
    (-0.66, 0.78, 0.77, 0.17),
    (-0.42, 0.87, 0.88, 0.09),
    (-0.12, 0.96, 0.97, 0.02),
    (0.20, 1.00, 1.00, -0.02),
    (0.48, 0.93, 0.94, -0.04),
    (0.71, 0.75, 0.77, -0.05),
    (0.87, 0.53, 0.55, -0.05),
    (0.96, 0.30, 0.31, -0.05),
    (0.995, 0.12, 0.12, -0.05),
)


def _head(pose: Pose, drawn: set[int]) -> list[Surface]:
    """Neck and an egg of a head, as high above the neck's base as a person's is."""
    skeleton, size = pose.skeleton, pose.stature
    neck = neck_joint(skeleton)
    found = skeleton.find("head")
    last = found if found is not None else neck
    way = pose.chain(last, neck) or [last]
    drawn.update(way[1:])
    below = int(skeleton.parents[neck]) if skeleton.parents[neck] >= 0 else neck
    tips = pose.ends(last) + [pose.at(c) for c in skeleton.children(last) if skeleton.roles[c] in ("other", "head")]
    base = pose.neck_base
    up = pose.up
    reach = 0.0
    if tips:
        crown = max(tips, key=lambda p: float((p - base) @ pose.up))
        if float((crown - base) @ pose.up) > 0.06 * size:
            up, reach = unit(crown - base), float(np.linalg.norm(crown - base))
    elif last != neck and np.linalg.norm(pose.at(last) - base) > 0.02 * size:
        up = unit(unit(pose.at(last) - base) + pose.up)
    # From the base of the neck to the crown is a little less than a sixth of a person's height; markers may sit lower or higher.
    reach = float(np.clip(reach, 0.152 * size, 0.165 * size))
    half = 0.065 * size
    middle = base + up * (reach - half)
    ahead = square_to(pose.ahead, up)
    middle = middle + ahead * 0.010 * size
    across = np.cross(ahead, up)
    sections = [
        Section(
            middle + up * half * at + ahead * 0.054 * size * shift,
            across * 0.0455 * size * width,
            ahead * 0.054 * size * deep,
            {last: 1.0},
            CLAY,
            2.15,
        )
        for at, width, deep, shift in _HEAD
    ]
    for child in skeleton.children(last):
        if skeleton.roles[child] in ("other", "head"):
            drawn.add(child)
    drawn.add(-1 - last)
    joints = [below, *way]
    places = np.array([float((pose.at(j) - base) @ up) for j in joints])
    # However deep in the chest the neck's first joint sits, the neck bends above the shoulders.
    places = np.maximum(places, 0.006 * size)
    stem = []
    bottom, top = base - pose.up * 0.045 * size - pose.ahead * 0.004 * size, middle - ahead * 0.012 * size
    for t in np.linspace(0, 1, 9):
        point = bottom + (top - bottom) * t
        height = float((point - base) @ up)
        weights: dict[int, float] = {below: 1.0}
        for joint, level in list(zip(joints, places, strict=True))[1:]:
            share = float(smoothstep(0.5 + 0.5 * (height - level) / (0.032 * size)))
            weights = {j: w * (1 - share) for j, w in weights.items()}
            weights[joint] = weights.get(joint, 0.0) + share
        wide = 0.0295 + 0.010 * float((1 - t) ** 3) - 0.02 * float(max(0.0, 0.2 - t) / 0.2)
        weights = {j: w for j, w in weights.items() if w > 1e-6}
        colour = CLAY * shade(float(t) - 0.36, 0.25)
        stem.append(Section(point, across * wide * size, ahead * 1.04 * wide * size, weights, colour))
    return [loft(sections, 24), loft(stem, 20)]


# --------------------------------------------------------------------------------------------------------------- legs


def _limb(pose: Pose, joints: Sequence[int], end: Array) -> list[Bone]:
    """The bones along a chain of joints to an end point, those without length left out."""
    points = [*(pose.at(j) for j in joints), end]
    bones: list[Bone] = []
    for joint, start, stop in zip(joints, points[:-1], points[1:], strict=True):
        if np.linalg.norm(stop - start) > _SHORTEST:
            bones.append(Bone(joint, start, stop))
    return bones


def _leg(pose: Pose, side: str, tint: Array, drawn: set[int]) -> list[Surface]:
    """Thigh and shin as one tube that bends at the knee."""
    skeleton, size = pose.skeleton, pose.stature
    hip, knee, ankle = (skeleton.need(f"{side}_{part}") for part in ("upper_leg", "lower_leg", "foot"))
    way = pose.chain(ankle, hip)
    if knee not in way:
        return []
    drawn.update(way[1:])
    thigh = _merge(pose, way[: way.index(knee)], pose.at(knee))
    shin = _merge(pose, way[way.index(knee) : -1], pose.at(ankle))
    if thigh is None or shin is None:
        return []
    # (place, half width, half depth, shift ahead), shares of stature.
    profile = (
        (0.00, 0.0485, 0.0510, -0.005),
        (0.16, 0.0520, 0.0575, -0.003),
        (0.45, 0.0460, 0.0505, 0.003),
        (0.80, 0.0370, 0.0390, 0.002),
        (1.00, 0.0325, 0.0350, 0.001),
        (1.12, 0.0318, 0.0342, -0.003),
        (1.30, 0.0340, 0.0370, -0.008),
        (1.55, 0.0288, 0.0305, -0.006),
        (1.85, 0.0190, 0.0205, -0.003),
        (2.00, 0.0195, 0.0225, -0.003),
    )
    limit = min(1.0, 2.2 * min(thigh.length, shin.length) / (0.245 * size))
    girths = [Girth(at, w * size * limit, d * size * limit, f * size * limit) for at, w, d, f in profile]
    return strand(
        [thigh, shin],
        girths,
        _knee_ahead(pose, thigh, shin),
        tint=tint,
        sides=20,
        rings=10,
        root=hip,
        fade=0.12 * size,
        round_start=0.8,
    )


def _knee_ahead(pose: Pose, thigh: Bone, shin: Bone) -> Array:
    return square_to(pose.ahead, unit(unit(thigh.end - thigh.start) + unit(shin.end - shin.start)))


def _merge(pose: Pose, joints: Sequence[int], end: Array) -> Bone | None:
    """One bone from the first joint to the end: a limb's twist joints in between count as part of it."""
    bone = Bone(joints[0], pose.at(joints[0]), end)
    return bone if bone.length > _SHORTEST else None


# Place from heel (0) to ball (1) and on to the toes' tip (2); half width and height of the top above the sole as
# shares of stature; how far the middle lies inside.
_FOOT = (
    (0.00, 0.0090, 0.0210),
    (0.03, 0.0145, 0.0290),
    (0.10, 0.0178, 0.0390),
    (0.22, 0.0190, 0.0470),
    (0.36, 0.0195, 0.0480),
    (0.52, 0.0212, 0.0400),
    (0.70, 0.0240, 0.0310),
    (0.86, 0.0262, 0.0250),
    (1.00, 0.0270, 0.0215),
    (1.25, 0.0268, 0.0190),
    (1.50, 0.0250, 0.0170),
    (1.75, 0.0212, 0.0145),
    (1.92, 0.0150, 0.0115),
    (2.00, 0.0080, 0.0085),
)


def _foot(pose: Pose, side: str, tint: Array, drawn: set[int]) -> list[Surface]:
    """A wedge from heel to toes with a flat sole, bending at the ball."""
    skeleton, size = pose.skeleton, pose.stature
    knee, ankle = skeleton.need(f"{side}_lower_leg"), skeleton.need(f"{side}_foot")
    toe = skeleton.find(f"{side}_toe")
    toe = toe if toe is not None and pose.chain(toe, ankle) else None
    heel_at = pose.at(ankle)
    down = unit(heel_at - pose.at(knee))
    forwards = pose.at(toe) if toe is not None else next(iter(pose.ends(ankle)), None)
    if forwards is None or np.linalg.norm(forwards - heel_at) < 0.02 * size:
        forwards = heel_at + 0.075 * size * square_to(pose.ahead, down) + down * 0.02 * size
    # Shins stand upright on a flat foot; whatever the pose, the ankle is 3.5 to 5.5 percent of stature above the sole.
    bone = forwards - heel_at
    ball_height = 0.013 * size
    length = float(np.linalg.norm(bone))
    drop = float(np.clip(bone @ down, min(0.020 * size, 0.5 * length), min(0.040 * size, 0.7 * length)))
    level = square_to(bone, down) if abs(bone @ down) < 0.97 * length else square_to(pose.ahead, down)
    run = float(np.sqrt(length**2 - drop**2))
    # Turn both in their plane until the bone drops by that much.
    tilt = float(np.arctan2(bone @ down, bone @ level)) - float(np.arcsin(drop / length))
    flat, sole_down = level * np.cos(tilt) + down * np.sin(tilt), down * np.cos(tilt) - level * np.sin(tilt)
    toe_tips = pose.ends(toe) + [pose.at(c) for c in skeleton.children(toe)] if toe is not None else []
    toes = max((float((t - forwards) @ flat) for t in toe_tips), default=0.0)
    toes = float(np.clip(toes, 0.038 * size, 0.060 * size)) if toe is not None else 0.03 * size
    heel = 0.032 * size
    on_sole = heel_at + sole_down * (drop + ball_height)
    outward = square_to(pose.left if side == "left" else -pose.left, flat)
    sections = []
    for at, width, top in _FOOT:
        x = -heel + at * (heel + run) if at <= 1 else run + (at - 1) * toes
        high = top * size
        lift = 0.004 * size * max(0.0, at - 1) ** 2 + 0.003 * size * max(0.0, 0.1 - at) / 0.1
        centre = on_sole + flat * x - sole_down * (high / 2 + lift) + outward * 0.002 * size * np.sin(np.pi * at / 2)
        weights = {ankle: 1.0}
        if toe is not None:
            share = float(smoothstep(0.5 + 0.5 * (x - run) / (0.022 * size)))
            weights = {j: w for j, w in ((ankle, 1 - share), (toe, share)) if w > 0}
        colour = CLAY * tint * (shade(x - run, 0.018 * size) if toe is not None else 1.0)
        outline = Section(
            centre, np.cross(-sole_down, flat) * width * size, -sole_down * high / 2, weights, colour, 2.5
        )
        sections.append(_turned(outline, flat))
    drawn.add(-1 - ankle)
    if toe is not None:
        drawn.update(pose.chain(toe, ankle)[1:])
        drawn.update(_below(skeleton, toe))
    return [loft(sections, 20)]


def _below(skeleton: Skeleton, joint: int) -> list[int]:
    """Every joint that hangs from a joint, and the mark of its own tip."""
    found = [-1 - joint]
    for child in skeleton.children(joint):
        found += [child, *_below(skeleton, child)]
    return found


# --------------------------------------------------------------------------------------------------------------- arms


def _arm(pose: Pose, side: str, tint: Array, drawn: set[int]) -> list[Surface]:
    """Upper arm and forearm as one tube that bends at the elbow."""
    skeleton, size = pose.skeleton, pose.stature
    shoulder, elbow = skeleton.need(f"{side}_upper_arm"), skeleton.need(f"{side}_forearm")
    wrist = skeleton.find(f"{side}_hand")
    upper = pose.chain(elbow, shoulder)
    if not upper:
        return []
    drawn.update(upper[1:])
    lower = pose.chain(wrist, elbow)
    end = pose.at(wrist) if wrist is not None and lower else next(iter(pose.ends(elbow)), None)
    if end is None:
        end = pose.at(elbow) + unit(pose.at(elbow) - pose.at(shoulder)) * 0.146 * size
    drawn.update(lower[1:])
    drawn.add(-1 - elbow)
    first, second = _merge(pose, upper[:-1], pose.at(elbow)), _merge(pose, [elbow], end)
    if first is None or second is None:
        return []
    profile = (
        (0.00, 0.0305, 0.0320),
        (0.16, 0.0310, 0.0335),
        (0.50, 0.0255, 0.0280),
        (0.85, 0.0215, 0.0225),
        (1.00, 0.0208, 0.0215),
        (1.22, 0.0218, 0.0228),
        (1.55, 0.0185, 0.0195),
        (1.88, 0.0138, 0.0158),
        (2.00, 0.0130, 0.0158),
    )
    limit = min(1.0, 2.4 * min(first.length, second.length) / (0.16 * size))
    girths = [Girth(at, w * size * limit, d * size * limit) for at, w, d in profile]
    return strand(
        [first, second],
        girths,
        pose.ahead,
        tint=tint,
        sides=16,
        rings=9,
        root=shoulder,
        round_end=0.6,
        fade=0.09 * size,
    )


def _hand(pose: Pose, side: str, tint: Array, drawn: set[int]) -> list[Surface]:
    """A palm with fingers where the skeleton has several, else a mitten with a thumb."""
    skeleton, size = pose.skeleton, pose.stature
    wrist = skeleton.find(f"{side}_hand")
    if wrist is None or wrist in (skeleton.find(f"{side}_forearm"),):
        return []
    below = [j for j in _below(skeleton, wrist) if j >= 0]
    start = pose.at(wrist)
    elbow = pose.at(skeleton.need(f"{side}_forearm"))
    thumbs = [j for j in below if "thumb" in split_side(skeleton.names[j])[1]]
    digits = [j for j in below if j not in thumbs]
    roots = [j for j in digits if _is_digit(pose, wrist, j)]
    detailed = len(roots) >= 3
    reaches = [pose.at(j) for j in digits] + [t for j in (wrist, *digits) for t in pose.ends(j)]
    if detailed:
        tip = np.mean([pose.at(j) for j in roots], axis=0)
    else:
        tip = max(reaches, key=lambda p: float(np.linalg.norm(p - start)), default=start)
    along = unit(tip - start) if np.linalg.norm(tip - start) > 0.01 * size else unit(start - elbow)
    thumb_root = next((j for j in thumbs if np.linalg.norm(pose.at(j) - start) >= 0), None)
    wide = pose.ahead
    if detailed:
        spread = pose.at(roots[0]) - pose.at(roots[-1])
        wide = spread if np.linalg.norm(spread) > 0.01 * size else wide
    elif thumb_root is not None:
        ends = [pose.at(j) for j in thumbs] + [t for j in thumbs for t in pose.ends(j)]
        away = max(ends, key=lambda p: float(np.linalg.norm(np.cross(p - start, along)))) - start
        wide = away if np.linalg.norm(np.cross(away, along)) > 0.01 * size else wide
    wide = square_to(wide, along)
    thick = np.cross(along, wide)
    parts: list[Surface] = []
    drawn.add(-1 - wrist)
    if detailed:
        length = float(np.linalg.norm(tip - start)) + 0.006 * size
        profile = (
            (0.0, 0.0158, 0.0125),
            (0.25, 0.0195, 0.0125),
            (0.6, 0.0235, 0.0115),
            (0.9, 0.0240, 0.0100),
            (1.0, 0.0225, 0.0090),
        )
        bones = [Bone(wrist, start, start + along * length)]
        drawn.update(roots)
    else:
        length = float(np.clip(np.linalg.norm(tip - start), 0.085 * size, 0.110 * size))
        profile = (
            (0.0, 0.0150, 0.0125),
            (0.22, 0.0195, 0.0130),
            (0.48, 0.0230, 0.0115),
            (0.75, 0.0215, 0.0095),
            (0.92, 0.0165, 0.0080),
            (1.0, 0.0125, 0.0065),
        )
        bones = _mitten(pose, wrist, digits, along, length)
        drawn.update(digits)
        drawn.update(-1 - j for j in digits)
    count = len(bones)
    girths = [Girth(at * count, d * size, w * size) for at, w, d in profile]
    parts += strand(
        bones,
        girths,
        wide,
        tint=tint,
        sides=16,
        rings=10 if count == 1 else 6,
        round_end=0.9,
        root=wrist,
        round_start=0.8,
        square=2.3,
    )[:1]
    if not detailed and thumb_root is not None:
        drawn.update(thumbs)
        drawn.update(-1 - j for j in thumbs)
        parts += _thumb(pose, int(skeleton.parents[thumbs[0]]), start, along, wide, tint)
    return parts


def _is_digit(pose: Pose, wrist: int, joint: int) -> bool:
    """Whether a finger begins at this joint: it leaves the hand or a palm bone, away from the wrist, and goes on."""
    skeleton = pose.skeleton
    if skeleton.roles[joint] != skeleton.roles[wrist].replace("hand", "fingers"):
        return False
    parent = int(skeleton.parents[joint])
    away = float(np.linalg.norm(pose.at(joint) - pose.at(wrist)))
    goes_on = bool(skeleton.children(joint)) or bool(pose.ends(joint))
    return parent == wrist and away > 0.02 * pose.stature and goes_on


def _mitten(pose: Pose, wrist: int, digits: Sequence[int], along: Array, length: float) -> list[Bone]:
    """The hand's own joints in a row, stretched to the hand's length."""
    row = [wrist]
    for j in digits:
        if int(pose.skeleton.parents[j]) == row[-1]:
            row.append(j)
    start = pose.at(wrist)
    reach = [float((pose.at(j) - start) @ along) for j in row]
    bones = []
    for k, joint in enumerate(row):
        stop = reach[k + 1] if k + 1 < len(row) else length
        if stop - reach[k] > 0.012 * pose.stature and stop <= length:
            low = bones[-1].end if bones else start
            bones.append(Bone(joint, low, start + along * stop))
    if not bones or np.linalg.norm(bones[-1].end - start) < length - 1e-6:
        joint = bones[-1].joint if bones else wrist
        low = bones.pop().start if bones else start
        bones.append(Bone(joint, low, start + along * length))
    return bones


def _thumb(pose: Pose, joint: int, wrist: Array, along: Array, wide: Array, tint: Array) -> list[Surface]:
    size = pose.stature
    start = wrist + along * 0.022 * size + wide * 0.013 * size
    end = wrist + along * 0.057 * size + wide * 0.0285 * size
    bones = [Bone(joint, start, end)]
    girths = [Girth(0.0, 0.0088 * size, 0.0088 * size), Girth(1.0, 0.0066 * size, 0.0066 * size)]
    return strand(bones, girths, np.cross(along, wide), tint=tint, sides=10, rings=4)


# -------------------------------------------------------------------------------------------------- whatever else is


def _plain(pose: Pose, drawn: set[int]) -> list[Surface]:
    """Tapering tubes along every chain of bones that is not drawn yet."""
    skeleton = pose.skeleton
    reach = np.zeros(len(skeleton))
    for j in range(len(skeleton) - 1, 0, -1):
        parent = skeleton.parents[j]
        step = float(np.linalg.norm(pose.points[j] - pose.points[parent]))
        reach[parent] = max(reach[parent], reach[j] + step)
    parts: list[Surface] = []
    taken: set[int] = set()
    for joint in range(1, len(skeleton)):
        if joint in drawn or joint in taken:
            continue
        row = [int(skeleton.parents[joint]), joint]
        taken.add(joint)
        while True:
            onward = [c for c in skeleton.children(row[-1]) if c not in drawn and c not in taken]
            if not onward:
                break
            row.append(max(onward, key=lambda c: (reach[c], -c)))
            taken.add(row[-1])
        tips = [] if -1 - row[-1] in drawn else pose.ends(row[-1])
        end = tips[0] if tips else pose.at(row[-1])
        bones = _limb(pose, row if tips else row[:-1], end)
        parts += _tube(pose, bones)
        parts += [s for tip in tips[1:] for s in _tube(pose, [Bone(row[-1], pose.at(row[-1]), tip)])]
    for j in range(len(skeleton)):
        alone = (j == 0 or j in drawn) and -1 - j not in drawn
        if alone and not any(c not in drawn for c in skeleton.children(j)):
            parts += [s for tip in pose.ends(j) for s in _tube(pose, [Bone(j, pose.at(j), tip)])]
    return parts


def _tube(pose: Pose, bones: Sequence[Bone]) -> list[Surface]:
    """A chain of bones as a tube, thinner towards its end, no thicker than its bones allow."""
    if not bones:
        return []
    side = split_side(pose.skeleton.names[bones[-1].joint])[0]
    tint = LEFT_TINT if side == "left" else RIGHT_TINT if side == "right" else NO_TINT
    whole = sum(b.length for b in bones)
    finger = pose.skeleton.roles[bones[-1].joint].endswith("_fingers") and whole < 0.12 * pose.stature
    thick = 0.0062 * pose.stature if finger else min(0.10 * whole, 0.035 * pose.stature)
    girths = []
    for k in range(len(bones) + 1):
        near = [bones[i].length for i in (k - 1, k) if 0 <= i < len(bones)]
        radius = min(thick * (1 - 0.45 * k / len(bones)), 0.4 * max(near))
        girths.append(Girth(float(k), radius, radius))
    sides, rings, caps = (8, 2, 3) if finger else (12, 5, 5)
    return strand(bones, girths, pose.ahead, tint=tint, sides=sides, rings=rings, caps=caps)
