"""The mannequin's trunk: pelvis, waist and chest as one loft along the spine; shoulders, neck and head."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.interpolate import PchipInterpolator

from choreograph.base.arrays import Floats
from choreograph.figure._loft import LoftSurface, Section, loft
from choreograph.figure._pose import NECK_RISE, CoveredJoints, Pose, neck_joint
from choreograph.figure._strand import CLAY, shade, smoothstep, square_to, unit

# Height between hip line (0) and shoulder line (1); half width as shares of (hip width, chest width, stature);
# half depth and shift ahead as shares of stature; exponent of the outline.
_TRUNK = (
    (-0.145, 0.26, 0.0, 0.000, 0.020, -0.006, 2.0),
    (-0.125, 0.46, 0.0, 0.000, 0.034, -0.006, 2.1),
    (-0.08, 0.74, 0.0, 0.000, 0.050, -0.005, 2.2),
    (-0.02, 0.93, 0.0, 0.000, 0.0605, -0.006, 2.3),
    (0.07, 0.98, 0.0, 0.000, 0.0625, -0.006, 2.3),
    (0.17, 0.93, 0.0, 0.000, 0.0585, -0.003, 2.3),
    (0.30, 0.43, 0.40, 0.000, 0.0525, 0.000, 2.3),
    (0.42, 0.25, 0.58, 0.000, 0.0525, 0.001, 2.3),
    (0.56, 0.05, 0.86, 0.000, 0.0580, 0.002, 2.4),
    (0.70, 0.00, 0.99, 0.000, 0.0635, 0.004, 2.4),
    (0.82, 0.00, 1.06, 0.000, 0.0640, 0.004, 2.6),
    (0.92, 0.00, 1.10, 0.000, 0.0600, 0.001, 2.9),
    (1.00, 0.00, 1.09, 0.000, 0.0550, -0.001, 3.2),
    (1.06, 0.00, 1.00, 0.000, 0.0495, -0.003, 3.2),
    (1.11, 0.00, 0.80, 0.000, 0.0430, -0.004, 3.0),
    (1.15, 0.00, 0.52, 0.006, 0.0365, -0.004, 2.6),
    (1.19, 0.00, 0.19, 0.016, 0.0300, -0.004, 2.2),
    (1.22, 0.00, 0.00, 0.022, 0.0220, -0.003, 2.0),
)


def shape_torso(pose: Pose, drawn: CoveredJoints) -> list[LoftSurface]:
    """Pelvis, waist and chest as one broad, flat loft along the spine."""
    skeleton, size = pose.skeleton, pose.stature
    neck = neck_joint(skeleton)
    spine = pose.chain(neck, skeleton.hips)
    drawn.bones.update(spine[1:])
    hips = [skeleton.need(f"{side}_upper_leg") for side in ("left", "right")]
    shoulders = [skeleton.need(f"{side}_upper_arm") for side in ("left", "right")]
    for joint in hips:
        drawn.bones.update(pose.chain(joint, skeleton.hips)[1:])
    for joint in shoulders:
        drawn.bones.update(_hang(pose, joint, spine))
    hip_line = pose.points[hips].mean(axis=0)
    base = pose.neck_base
    shoulder_line = base - pose.up * NECK_RISE * size
    hip_width = float(np.linalg.norm(pose.points[hips[0]] - pose.points[hips[1]])) / 2 + 0.044 * size
    reach = float(np.linalg.norm(pose.points[shoulders[0]] - pose.points[shoulders[1]])) / 2
    hip_width = float(np.clip(hip_width, 0.085 * size, 0.115 * size))
    chest_width = float(np.clip(0.82 * reach, 0.080 * size, 0.115 * size))

    heights = np.array([float((pose.at(j) - hip_line) @ pose.up) for j in spine])
    inner = [j for j, h in zip(spine, heights, strict=True) if 0.03 * size < h < heights[-1] - 0.03 * size]
    knots = np.array([hip_line, *(pose.at(j) for j in inner), base])
    top = float((shoulder_line - hip_line) @ pose.up)
    collars = [_collar(pose, side, joint) for side, joint in zip(("left", "right"), shoulders, strict=True)]
    sections = []
    table = np.array(_TRUNK)
    fine = np.concatenate([table[:3, 0], np.linspace(table[3, 0], table[-3, 0], 22), table[-2:, 0]])
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
                flanks=(collars[1], collars[0]),
                flank_share=0.85 * float(smoothstep((at - 0.76) / 0.26)),
            )
        )
    parts = [loft([s.facing(pose.up) for s in sections], 32)]
    for side, joint in zip(("left", "right"), shoulders, strict=True):
        parts.append(_shoulder(pose, side, joint, shoulder_line))
    return parts


def _hang(pose: Pose, joint: int, trunk: Sequence[int]) -> list[int]:
    """The joints between the trunk and a limb's first joint, that one included."""
    way = []
    while joint >= 0 and joint not in trunk:
        way.append(joint)
        joint = int(pose.skeleton.parents[joint])
    return way


def _along(knots: Floats, heights: Floats, height: float, up: Floats) -> Floats:
    """The point at a height on the line through knots, smoothed; straight on beyond its ends."""
    if height <= heights[0]:
        return np.asarray(knots[0] + up * (height - heights[0]))
    if height >= heights[-1]:
        return np.asarray(knots[-1] + up * (height - heights[-1]))
    order = np.argsort(heights)
    keep = np.concatenate([[True], np.diff(heights[order]) > 1e-6])
    return np.asarray(PchipInterpolator(heights[order][keep], knots[order][keep])(height))


def _spine_weights(spine: Sequence[int], heights: Floats, height: float, reach: float) -> dict[int, float]:
    """How a slice of the torso follows the joints of the spine: each takes over smoothly where it sits."""
    weights: dict[int, float] = {spine[0]: 1.0}
    for joint, level in list(zip(spine, heights, strict=True))[1:-1]:
        # The pelvis keeps what lies around it: a first vertebra at the root's own place begins above it.
        level = max(float(level), float(heights[0]) + 0.7 * reach)
        share = float(smoothstep(0.5 + 0.5 * (height - level) / reach))
        weights = {j: w * (1 - share) for j, w in weights.items()}
        weights[joint] = share
    return {j: w for j, w in weights.items() if w > 1e-6}


def _collar(pose: Pose, side: str, shoulder: int) -> int:
    """The joint that carries a shoulder: the collar bone, else what the arm hangs from."""
    clavicle = pose.skeleton.find(f"{side}_clavicle")
    return int(pose.skeleton.parents[shoulder]) if clavicle is None else clavicle


def _shoulder(pose: Pose, side: str, joint: int, shoulder_line: Floats) -> LoftSurface:
    """The slope from the neck to the top of the arm, carried by the collar bone."""
    size = pose.stature
    carrier = _collar(pose, side, joint)
    spine = (
        max(int(pose.skeleton.parents[carrier]), 0) if carrier == pose.skeleton.find(f"{side}_clavicle") else carrier
    )
    end = pose.at(joint) - pose.up * 0.004 * size
    start = shoulder_line + 0.32 * (end - shoulder_line) + pose.up * 0.010 * size - pose.ahead * 0.002 * size
    along = unit(end - start)
    ahead = square_to(pose.ahead, along)
    across = np.cross(ahead, along)
    sections = []
    profile = (
        (-0.50, 0.5, 0.5),
        (-0.28, 1.0, 0.95),
        (0.0, 1.28, 1.20),
        (0.35, 1.22, 1.22),
        (0.7, 1.05, 1.12),
        (1.0, 0.85, 0.97),
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
                across * 0.0264 * size * shrink,
                ahead * 0.0330 * size * shrink,
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


def shape_head(pose: Pose, drawn: CoveredJoints) -> list[LoftSurface]:
    """Neck and an egg of a head, as high above the neck's base as a person's is."""
    skeleton, size = pose.skeleton, pose.stature
    neck = neck_joint(skeleton)
    head = skeleton.find("head")
    last = head if head is not None else neck
    way = pose.chain(last, neck) or [last]
    drawn.bones.update(way[1:])
    below = int(skeleton.parents[neck]) if skeleton.parents[neck] >= 0 else neck
    base = pose.neck_base
    last, middle, up, ahead = _head_place(pose)
    half = 0.065 * size
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
            drawn.bones.add(child)
    drawn.tips.add(last)
    joints = [below, *way]
    places = np.array([float((pose.at(j) - base) @ up) for j in joints])
    # However deep in the chest the neck's first joint sits, the neck bends above the shoulders.
    places = np.maximum(places, 0.006 * size)
    stem = []
    bottom = base - pose.up * 0.050 * size - pose.ahead * 0.004 * size
    top = middle - up * 0.35 * half - ahead * 0.004 * size
    for t in np.linspace(0, 1, 9):
        point = bottom + (top - bottom) * t
        height = float((point - base) @ up)
        weights: dict[int, float] = {below: 1.0}
        for joint, level in list(zip(joints, places, strict=True))[1:]:
            share = float(smoothstep(0.5 + 0.5 * (height - level) / (0.032 * size)))
            weights = {j: w * (1 - share) for j, w in weights.items()}
            weights[joint] = weights.get(joint, 0.0) + share
        wide = 0.0290 + 0.010 * float((1 - t) ** 3) - 0.02 * float(max(0.0, 0.2 - t) / 0.2)
        weights = {j: w for j, w in weights.items() if w > 1e-6}
        colour = CLAY * shade(float(t) - 0.36, 0.25)
        stem.append(Section(point, across * wide * size, ahead * 1.04 * wide * size, weights, colour))
    return [loft(sections, 24), loft(stem, 20)]


def _head_place(pose: Pose) -> tuple[int, Floats, Floats, Floats]:
    """The joint that carries the head, its middle, and where up and ahead are for it."""
    skeleton, size = pose.skeleton, pose.stature
    neck = neck_joint(skeleton)
    head = skeleton.find("head")
    last = head if head is not None else neck
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
    # Neck base to crown is a little more than a seventh of a person's height; markers may sit lower or higher.
    reach = float(np.clip(reach, 0.148 * size, 0.160 * size))
    half = 0.065 * size
    middle = base + up * (reach - half)
    ahead = square_to(pose.ahead, up)
    middle = middle + ahead * 0.010 * size
    return last, middle, up, ahead


def shape_face(pose: Pose) -> list[LoftSurface]:
    """A brow and the line of a nose, so that the front is known at a glance; they stay sharp on the fused skin."""
    size = pose.stature
    last, middle, up, ahead = _head_place(pose)
    across = np.cross(ahead, up)
    half = 0.065 * size

    def front(at: float, aside: float) -> Floats:
        """A point of the face: its height from chin (-1) to crown (1) and how far aside, as a share of the width."""
        width, deep, shift = (float(np.interp(at, _HEAD_TABLE[:, 0], _HEAD_TABLE[:, k])) for k in (1, 2, 3))
        depth = deep * (1 - min(abs(aside) / width, 1.0) ** 2.15) ** (1 / 2.15)
        place = middle + up * half * at + across * 0.0455 * size * aside
        return np.asarray(place + ahead * 0.054 * size * (shift + depth))

    follows = {last: 1.0}
    nose = [
        Section(front(at, 0.0) + ahead * out * size, across * wide * size, ahead * 0.006 * size, follows, CLAY)
        for at, out, wide in _NOSE
    ]
    brow = [
        Section(
            front(0.13 - 0.10 * aside**2, aside) - ahead * 0.0005 * size,
            up * (0.0042 - 0.002 * abs(aside)) * size,
            ahead * (0.0045 - 0.002 * abs(aside)) * size,
            follows,
            CLAY,
        )
        for aside in np.linspace(-0.72, 0.72, 13)
    ]
    return [loft([s.facing(-up) for s in nose], 12), loft([s.facing(across) for s in brow], 10)]


_HEAD_TABLE = np.array(_HEAD)
_NOSE = (
    (0.12, -0.0060, 0.0020),
    (0.06, -0.0040, 0.0034),
    (-0.06, -0.0015, 0.0042),
    (-0.18, 0.0020, 0.0056),
    (-0.27, 0.0044, 0.0072),
    (-0.33, 0.0040, 0.0074),
    (-0.37, 0.0000, 0.0056),
    (-0.39, -0.0050, 0.0030),
)
"""The nose from the brow down: height as the head's, how far its middle lies before the face, half its width."""
