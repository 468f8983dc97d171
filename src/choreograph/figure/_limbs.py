"""The mannequin's limbs: legs and arms as tubes that bend at knee and elbow, feet as wedges, hands as mittens."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.figure._loft import LoftSurface, Section, loft
from choreograph.figure._pose import SHORTEST, CoveredJoints, Pose, below
from choreograph.figure._strand import CLAY, Girth, Strand, Tube, shade, smoothstep, square_to, strand, unit
from choreograph.motion.roles import split_side

# Place along the chain; half width, half depth and shift ahead as shares of stature.
_LEG = (
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


def shape_leg(pose: Pose, side: str, tint: Floats, drawn: CoveredJoints) -> list[LoftSurface]:
    """Thigh and shin as one tube that bends at the knee."""
    skeleton, size = pose.skeleton, pose.stature
    hip, knee, ankle = (skeleton.need(f"{side}_{part}") for part in ("upper_leg", "lower_leg", "foot"))
    way = pose.chain(ankle, hip)
    if knee not in way:
        return []
    drawn.bones.update(way[1:])
    thigh = _merge(pose, way[: way.index(knee)], pose.at(knee))
    shin = _merge(pose, way[way.index(knee) : -1], pose.at(ankle))
    if thigh is None or shin is None:
        return []
    limit = min(1.0, 2.2 * min(thigh.length, shin.length) / (0.245 * size))
    girths = [Girth(at, w * size * limit, d * size * limit, f * size * limit) for at, w, d, f in _LEG]
    return strand(
        [thigh, shin],
        girths,
        _knee_ahead(pose, thigh, shin),
        Tube(tint=tint, sides=20, rings=10, root=hip, fade=0.12 * size, round_start=0.8),
    )


def _knee_ahead(pose: Pose, thigh: Strand, shin: Strand) -> Floats:
    return square_to(pose.ahead, unit(unit(thigh.end - thigh.start) + unit(shin.end - shin.start)))


def _merge(pose: Pose, joints: Sequence[int], end: Floats) -> Strand | None:
    """One bone from the first joint to the end: a limb's twist joints in between count as part of it."""
    bone = Strand(joints[0], pose.at(joints[0]), end)
    return bone if bone.length > SHORTEST else None


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


def shape_foot(pose: Pose, side: str, tint: Floats, drawn: CoveredJoints) -> list[LoftSurface]:
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
        sections.append(outline.facing(flat))
    drawn.tips.add(ankle)
    if toe is not None:
        drawn.bones.update(pose.chain(toe, ankle)[1:])
        drawn.all_below(skeleton, toe)
    return [loft(sections, 20)]


# Place along the chain; half width and half depth as shares of stature.
_ARM = (
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


def shape_arm(pose: Pose, side: str, tint: Floats, drawn: CoveredJoints) -> list[LoftSurface]:
    """Upper arm and forearm as one tube that bends at the elbow."""
    skeleton, size = pose.skeleton, pose.stature
    shoulder, elbow = skeleton.need(f"{side}_upper_arm"), skeleton.need(f"{side}_forearm")
    wrist = skeleton.find(f"{side}_hand")
    upper = pose.chain(elbow, shoulder)
    if not upper:
        return []
    drawn.bones.update(upper[1:])
    lower = pose.chain(wrist, elbow)
    end = pose.at(wrist) if wrist is not None and lower else next(iter(pose.ends(elbow)), None)
    if end is None:
        end = pose.at(elbow) + unit(pose.at(elbow) - pose.at(shoulder)) * 0.146 * size
    drawn.bones.update(lower[1:])
    drawn.tips.add(elbow)
    first, second = _merge(pose, upper[:-1], pose.at(elbow)), _merge(pose, [elbow], end)
    if first is None or second is None:
        return []
    limit = min(1.0, 2.4 * min(first.length, second.length) / (0.16 * size))
    girths = [Girth(at, w * size * limit, d * size * limit) for at, w, d in _ARM]
    return strand(
        [first, second],
        girths,
        pose.ahead,
        Tube(tint=tint, sides=16, rings=9, root=shoulder, round_end=0.6, fade=0.09 * size),
    )


# Share of the hand's length; half width and half thickness as shares of stature.
_PALM: tuple[tuple[float, float, float], ...] = (
    (0.0, 0.0158, 0.0125),
    (0.25, 0.0195, 0.0125),
    (0.6, 0.0235, 0.0115),
    (0.9, 0.0240, 0.0100),
    (1.0, 0.0225, 0.0090),
)
_MITTEN: tuple[tuple[float, float, float], ...] = (
    (0.0, 0.0150, 0.0125),
    (0.22, 0.0195, 0.0130),
    (0.48, 0.0230, 0.0115),
    (0.75, 0.0215, 0.0095),
    (0.92, 0.0165, 0.0080),
    (1.0, 0.0125, 0.0065),
)


def shape_hand(pose: Pose, side: str, tint: Floats, drawn: CoveredJoints) -> list[LoftSurface]:
    """A palm with fingers where the skeleton has several, else a mitten with a thumb."""
    skeleton, size = pose.skeleton, pose.stature
    wrist = skeleton.find(f"{side}_hand")
    if wrist is None:
        return []
    hanging = below(skeleton, wrist)
    start = pose.at(wrist)
    elbow = pose.at(skeleton.need(f"{side}_forearm"))
    thumbs = [j for j in hanging if "thumb" in split_side(skeleton.names[j])[1]]
    digits = [j for j in hanging if j not in thumbs]
    roots = [j for j in digits if _is_digit(pose, wrist, j)]
    detailed = len(roots) >= 3
    reaches = [pose.at(j) for j in digits] + [t for j in (wrist, *digits) for t in pose.ends(j)]
    if detailed:
        tip = np.mean([pose.at(j) for j in roots], axis=0)
    else:
        tip = max(reaches, key=lambda p: float(np.linalg.norm(p - start)), default=start)
    along = unit(tip - start) if np.linalg.norm(tip - start) > 0.01 * size else unit(start - elbow)
    wide = pose.ahead
    if detailed:
        spread = pose.at(roots[0]) - pose.at(roots[-1])
        wide = spread if np.linalg.norm(spread) > 0.01 * size else wide
    elif thumbs:
        ends = [pose.at(j) for j in thumbs] + [t for j in thumbs for t in pose.ends(j)]
        away = max(ends, key=lambda p: float(np.linalg.norm(np.cross(p - start, along)))) - start
        wide = away if np.linalg.norm(np.cross(away, along)) > 0.01 * size else wide
    wide = square_to(wide, along)
    parts: list[LoftSurface] = []
    drawn.tips.add(wrist)
    if detailed:
        length = float(np.linalg.norm(tip - start)) + 0.006 * size
        profile = _PALM
        bones = [Strand(wrist, start, start + along * length)]
        drawn.bones.update(roots)
    else:
        length = float(np.clip(np.linalg.norm(tip - start), 0.085 * size, 0.110 * size))
        profile = _MITTEN
        bones = _mitten(pose, wrist, digits, along, length)
        drawn.bones.update(digits)
        drawn.tips.update(digits)
    count = len(bones)
    girths = [Girth(at * count, d * size, w * size) for at, w, d in profile]
    parts += strand(
        bones,
        girths,
        wide,
        Tube(
            tint=tint, sides=16, rings=10 if count == 1 else 6, round_end=0.9, root=wrist, round_start=0.8, square=2.3
        ),
    )[:1]
    if thumbs and not detailed:
        drawn.bones.update(thumbs)
        drawn.tips.update(thumbs)
        parts += _thumb(pose, bones[0].joint, start, along, wide, tint)
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


def _mitten(pose: Pose, wrist: int, digits: Sequence[int], along: Floats, length: float) -> list[Strand]:
    """The hand's own joints in a row, stretched to the hand's length."""
    row = [wrist]
    for j in digits:
        if int(pose.skeleton.parents[j]) == row[-1]:
            row.append(j)
    start = pose.at(wrist)
    reach = [float((pose.at(j) - start) @ along) for j in row]
    bones: list[Strand] = []
    for k, joint in enumerate(row):
        stop = reach[k + 1] if k + 1 < len(row) else length
        if stop - reach[k] > 0.012 * pose.stature and stop <= length:
            low = bones[-1].end if bones else start
            bones.append(Strand(joint, low, start + along * stop))
    if not bones or np.linalg.norm(bones[-1].end - start) < length - 1e-6:
        joint = bones[-1].joint if bones else wrist
        low = bones.pop().start if bones else start
        bones.append(Strand(joint, low, start + along * length))
    return bones


def _thumb(pose: Pose, joint: int, wrist: Floats, along: Floats, wide: Floats, tint: Floats) -> list[LoftSurface]:
    """A mitten's thumb, held by the palm: a single thumb joint is seldom where a thumb begins."""
    size = pose.stature
    start = wrist + along * 0.022 * size + wide * 0.013 * size
    end = wrist + along * 0.057 * size + wide * 0.0285 * size
    bones = [Strand(joint, start, end)]
    girths = [Girth(0.0, 0.0088 * size, 0.0088 * size), Girth(1.0, 0.0066 * size, 0.0066 * size)]
    return strand(bones, girths, np.cross(along, wide), Tube(tint=tint, sides=10, rings=4))
