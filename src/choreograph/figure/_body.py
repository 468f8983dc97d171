"""The mannequin's anatomy: which surfaces a skeleton's joints call for.

Directions come from the pose itself (spine, hip line, shoulder line), thicknesses from stature and bone lengths; so a
T-pose, legs astride or a bent knee give the same body. What has no known role becomes plain tapering tubes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.figure._fuse import fuse
from choreograph.figure._limbs import shape_arm, shape_foot, shape_hand, shape_leg
from choreograph.figure._loft import LoftSurface
from choreograph.figure._pose import SHORTEST, CoveredJoints, Pose, is_human, take_measure
from choreograph.figure._strand import CLAY, LEFT_TINT, NO_TINT, RIGHT_TINT, Girth, Strand, Tube, ball, strand
from choreograph.figure._trunk import shape_face, shape_head, shape_torso
from choreograph.motion.roles import split_side
from choreograph.motion.skeleton import Skeleton

_CELL = 0.0105
"""Width of the cells in which the body's skin is drawn, as a share of its stature."""


def shape_body(skeleton: Skeleton, points: Floats, tips: Floats) -> list[LoftSurface]:
    """The parts of the mannequin.

    Args:
        skeleton: Joints and their roles.
        points: Joint positions in the pose to draw it in, (J, 3), metres.
        tips: Positions of the end sites in that pose, (T, 3), metres.
    """
    pose = take_measure(skeleton, points, tips)
    drawn = CoveredJoints()
    parts: list[LoftSurface] = []
    if is_human(skeleton):
        body = shape_torso(pose, drawn) + shape_head(pose, drawn)
        for side, tint in (("left", LEFT_TINT), ("right", RIGHT_TINT)):
            body += shape_leg(pose, side, tint, drawn) + shape_foot(pose, side, tint, drawn)
            body += shape_arm(pose, side, tint, drawn)
            parts += shape_hand(pose, side, tint, drawn)
        parts += shape_face(pose)
        parts.append(fuse(body, points[skeleton.need("hips")], _CELL * pose.stature))
    parts += _plain(pose, drawn)
    if not parts:
        parts.append(ball(points[0], np.full(3, 0.05), 0, CLAY))
    return parts


def _plain(pose: Pose, drawn: CoveredJoints) -> list[LoftSurface]:
    """Tapering tubes along every chain of bones that is not drawn yet."""
    skeleton = pose.skeleton
    reach = np.zeros(len(skeleton))
    for j in range(len(skeleton) - 1, 0, -1):
        parent = skeleton.parents[j]
        step = float(np.linalg.norm(pose.points[j] - pose.points[parent]))
        reach[parent] = max(reach[parent], reach[j] + step)
    parts: list[LoftSurface] = []
    used: set[int] = set()
    for joint in range(1, len(skeleton)):
        if joint in drawn.bones or joint in used:
            continue
        row = [int(skeleton.parents[joint]), joint]
        used.add(joint)
        while True:
            onward = [c for c in skeleton.children(row[-1]) if c not in drawn.bones and c not in used]
            if not onward:
                break
            row.append(max(onward, key=lambda c: (reach[c], -c)))
            used.add(row[-1])
        tips = [] if row[-1] in drawn.tips else pose.ends(row[-1])
        end = tips[0] if tips else pose.at(row[-1])
        bones = _limb(pose, row if tips else row[:-1], end)
        parts += _tube(pose, bones)
        parts += [s for tip in tips[1:] for s in _tube(pose, [Strand(row[-1], pose.at(row[-1]), tip)])]
    for j in range(len(skeleton)):
        alone = (j == 0 or j in drawn.bones) and j not in drawn.tips
        if alone and not any(c not in drawn.bones for c in skeleton.children(j)):
            parts += [s for tip in pose.ends(j) for s in _tube(pose, [Strand(j, pose.at(j), tip)])]
    return parts


def _tube(pose: Pose, bones: Sequence[Strand]) -> list[LoftSurface]:
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
    sides, rings, caps = (8, 2, 3) if finger else (12, max(2, min(5, 60 // len(bones))), 5)
    return strand(bones, girths, pose.ahead, Tube(tint=tint, sides=sides, rings=rings, caps=caps))


def _limb(pose: Pose, joints: Sequence[int], end: Floats) -> list[Strand]:
    """The bones along a chain of joints to an end point, those without length left out."""
    points = [*(pose.at(j) for j in joints), end]
    bones: list[Strand] = []
    for joint, start, stop in zip(joints, points[:-1], points[1:], strict=True):
        if np.linalg.norm(stop - start) > SHORTEST:
            bones.append(Strand(joint, start, stop))
    return bones
