"""A motion laid on another rig by roles: bones along the source's, legs solved for ankles and balls, feet level.

Feet are compared by how they stand, not by rest poses: a recorded foot's own flat pose is found in the frames in which
it stands, a target's is its rest pose, or, where that cannot be (a ball straight below the ankle, or as high), the one
that people's feet have.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Flags, Floats, Indices, Ints32
from choreograph.base.quantiles import medians, quantile
from choreograph.motion import ik, kinematics
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import with_detected_contacts
from choreograph.motion.foot_geometry import FootGeometry, columns, flat_frames, leg_length, standing_pose
from choreograph.motion.foot_paths import (
    Limb,
    by_ball,
    let_swing,
    plant_headings,
    stands_flat,
    within,
)
from choreograph.motion.role_map import SIDES, RoleMap, chain_between, foot_bone, pelvis
from choreograph.motion.roles import FOOT_ROLES
from choreograph.motion.skeleton import Skeleton

_WRITTEN = -2
"""Stands for the source's joint where a rotation between two of them is there already."""
_PITCH_S = 0.03
"""Time over which a foot that is let go takes the recorded pitch again; slower, it would be drawn along the floor."""
_UPRIGHT = float(np.cos(np.radians(9.0)))
"""How nearly upright neck and head are in a rest pose that was drawn, as a cosine."""
_BOWED = (np.radians(8.0), np.radians(40.0))
"""Pitch of a head throughout a recording that is the skeleton's doing, not the person's."""
_LOWER_SHARE = 0.6
"""How much a foot that is kept flat while its ankle begins to rise is kept down: wholly, and legs would stretch."""
_SAME_FLOOR = 0.5
"""Share of an ankle's height by which feet may stand higher or lower on the same floor."""
_SAME_FOOT = 0.05
"""Share of a foot's length by which another one differs that is levelled where it stands."""
_SAME_WIDTH = 0.02
"""Share by which hips may differ in width without being turned otherwise."""
_STRIDE_S = 0.5
"""Width (standard deviation) of the low-pass that tells which way a pelvis faces over a stride."""
_PELVIS_SHARE = (0.2, 1.5)
"""How much less or more than the source's a pelvis may turn within a stride."""


def remap(clip: Clip, roles: RoleMap, stance: FootGeometry, along: float | None = None) -> tuple[Floats, Floats, Flags]:
    """Root positions (F, 3), local rotations (F, J, 4) and foot plants of the target that moves as the clip does.

    Args:
        clip: The motion.
        roles: Which joint is which.
        stance: How the target stands.
        along: Scale of the way along the floor; the legs' if None.
    """
    clip = with_detected_contacts(clip)
    skeleton = roles.target
    scale = leg_length(skeleton) / leg_length(clip.skeleton)
    scales = np.array([scale if along is None else along, scale, scale if along is None else along])
    there, turned = clip.global_positions(), clip.global_rotations()
    flat = {side: flat_frames(clip, side) for side in SIDES}
    stands = {side: stands_flat(clip, side) for side in SIDES}
    if not clip.skeleton.same_joints(skeleton):
        level_head(clip, roles)
    levels = {side: foot_aligns(roles, turned, side, flat[side], stance.flat[side]) for side in SIDES}
    world = world_rotations(roles, turned)
    wider = hip_width(skeleton) - scale * hip_width(clip.skeleton)
    across = across_stride(clip)
    _turn_pelvis(clip, roles, world, across, scale)
    headings = {}
    for side in SIDES:
        stands[side] = replace(stands[side], weight=_unlike(roles, side, scale) * stands[side].weight)
        flatter = np.maximum(stands[side].weight, _pitch_less(clip, roles, side, levels[side], stance, scale))
        headings[side] = _settle_foot(roles, (turned, world), side, levels[side], flatter)
    local = kinematics.to_local(world, skeleton.parents)

    ankles = {side: clip.skeleton.need(f"{side}_foot") for side in SIDES}
    standing = float(np.mean([quantile(there[flat[side], ankles[side], 1], 0.5) for side in SIDES]))
    raised = stance.ankle_m

    def carried(points: Floats) -> Floats:
        """Points of the source, scaled; ankles that stand do so at the target's own height."""
        return np.asarray(scales * (points - [0.0, standing, 0.0]) + [0.0, raised, 0.0])

    hips = [clip.skeleton.need(f"{side}_upper_leg") for side in SIDES]
    middle = carried(there[:, hips].mean(axis=1))
    legs = [_leg(skeleton, side, world) for side in SIDES]
    root = middle - (legs[0][0] + legs[1][0]) / 2
    for side, led in zip(SIDES, legs, strict=True):
        has_ball = skeleton.find(f"{side}_toe") is not None
        balls = clip.skeleton.find(f"{side}_toe"), foot_bone(skeleton, side) if has_ball else None
        target = carried(there[:, ankles[side]])
        heading = plant_headings(clip, side, headings[side])
        if balls[0] is not None and balls[1] is not None:
            reach = quat.rotate(world[:, skeleton.need(f"{side}_foot")], balls[1])
            target = by_ball(clip, side, (target, carried(there[:, balls[0]]), reach, heading), flat[side])
        lower = _down(stands[side].low, target[:, 1], standing, scale, raised)
        target[:, 1] += _LOWER_SHARE * stands[side].weight * lower
        aside = plant_headings(clip, side, np.arctan2(-across[:, 2], across[:, 0]))
        away = 0.5 * wider if side == "left" else -0.5 * wider
        target = target + away * np.stack([np.cos(aside), np.zeros(len(aside)), -np.sin(aside)], axis=1)
        joints = led[0] + root, led[1] + root, led[2] + root
        target = let_swing(clip, side, target, joints, raised)
        _solve_leg(skeleton, side, (local, world, joints), target)
    return root, local, contacts_on(clip, skeleton)


def _down(low: Floats, height: Floats, standing: float, scale: float, raised: float) -> Floats:
    """How much an ankle must go up to be as high as it stands, (F,), metres; floors of other heights are kept."""
    same_floor = np.abs(low - standing) * scale < _SAME_FLOOR * raised
    return np.asarray(np.where(same_floor, raised, scale * (low - standing) + raised) - height)


def level_head(clip: Clip, roles: RoleMap) -> None:
    """Take out how far a head is bowed throughout where its rest pose is a drawing, not a pose.

    Skeletons fitted to markers have a neck and head straight up at rest; people's heads then sit 15 to 30 degrees off.
    """
    source = clip.skeleton
    here, head, neck = roles.target.find("head"), source.find("head"), source.find("neck")
    if here is None or head is None or neck is None or roles.low[here] != head:
        return
    rest = source.rest_positions()
    bones = [rest[head] - rest[neck], *source.tip_offsets[source.tip_parents == head]]
    upright = all(bone[1] > _UPRIGHT * np.linalg.norm(bone) > 0 for bone in bones)
    if len(bones) < 2 or not upright:
        return
    ahead = quat.rotate(clip.global_rotations()[:, head], np.array([0.0, 0.0, 1.0]))
    pitch = quantile(np.arcsin(np.clip(ahead[:, 1], -1.0, 1.0)), 0.5)
    if _BOWED[0] < abs(pitch) < _BOWED[1]:
        roles.align[here] = quat.multiply(quat.from_axis_angle([1.0, 0.0, 0.0], pitch), roles.align[here])


def hip_width(skeleton: Skeleton) -> float:
    """Distance between the hip joints, metres."""
    rest = skeleton.rest_positions()
    return float(np.linalg.norm(rest[skeleton.need("left_upper_leg")] - rest[skeleton.need("right_upper_leg")]))


def world_rotations(roles: RoleMap, turned: Floats) -> Floats:
    """Global rotations of the target's joints, (F, J, 4): the source's, laid on; those without one as their parent."""
    from choreograph.motion import _compiled_remap

    world = np.empty((len(turned), len(roles.target), 4))
    between = (roles.low >= 0) & (roles.share > 0)
    for j in np.flatnonzero(between):
        world[:, j] = quat.multiply(
            quat.slerp(turned[:, roles.low[j]], turned[:, roles.high[j]], roles.share[j]), roles.align[j]
        )
    takes = np.where(between, _WRITTEN, roles.low)
    _compiled_remap.lay_on(world, turned, takes, roles.align, roles.target.parents)
    return world


def lay_on_numpy(world: Floats, turned: Floats, low: Indices, align: Floats, parents: Ints32) -> None:
    """The plain twin of the kernel that lays the source's rotations on; the target's, `world`, are written.

    Args:
        world: Global rotations of the target's joints, (F, J, 4).
        turned: Those of the source's joints.
        low: Which joint of the source each is laid on, (J,); -1 where it turns as its parent does, -2 where it is
            written already.
        align: Rotations that lay rest bones along the source's, (J, 4).
        parents: Parent of each joint, (J,).
    """
    for j, takes in enumerate(low):
        if takes >= 0:
            world[:, j] = quat.multiply(turned[:, takes], align[j])
        elif takes != _WRITTEN:
            world[:, j] = world[:, parents[j]] if parents[j] >= 0 else quat.IDENTITY


def across_stride(clip: Clip) -> Floats:
    """Which way the left hip lies from the right one over a stride, along the floor, (F, 3), unit."""
    from scipy.ndimage import gaussian_filter1d

    usual = gaussian_filter1d(_across(clip) * (1.0, 0.0, 1.0), _STRIDE_S * clip.fps, axis=0, mode="nearest")
    return np.asarray(usual / np.maximum(np.linalg.norm(usual, axis=1, keepdims=True), 1e-9))


def _across(clip: Clip) -> Floats:
    """From the right hip joint to the left one, (F, 3), unit."""
    hips = [clip.skeleton.need(f"{side}_upper_leg") for side in SIDES]
    now = clip.global_positions()[:, hips[0]] - clip.global_positions()[:, hips[1]]
    return np.asarray(now / np.maximum(np.linalg.norm(now, axis=1, keepdims=True), 1e-9))


def _turn_pelvis(clip: Clip, roles: RoleMap, world: Floats, usual: Floats, scale: float) -> None:
    """Turn the pelvis so that its hip joints go as far as the source's, scaled, do; the rotations are changed.

    Hips twice as wide that turned as far would move twice as far, over feet that stand where the source's do. The
    width that a body has more goes with the way the pelvis faces over a stride, which is not scaled.
    """
    widths = scale * hip_width(clip.skeleton), hip_width(roles.target)
    joint = pelvis(roles.target)
    if roles.low[joint] < 0 or min(widths) < 1e-6 or abs(widths[1] - widths[0]) < _SAME_WIDTH * widths[1]:
        return
    now = _across(clip)
    share = np.clip(widths[0] / widths[1], *_PELVIS_SHARE)
    turn = quat.between_vectors(now, share * now + (1 - share) * usual)
    for j in np.flatnonzero(_moves_with(roles, joint)):
        world[:, j] = quat.multiply(turn, world[:, j])


def _moves_with(roles: RoleMap, joint: int) -> Flags:
    """The joints that take their rotation from the same joint of the source, or move with one that does."""
    own = (roles.low == roles.low[joint]) & (roles.share <= 0)
    for j, parent in enumerate(roles.target.parents):
        if roles.low[j] < 0 and parent >= 0 and own[parent]:
            own[j] = True
    return own


# ------------------------------------------------------------------------------------------------------------ feet


def foot_aligns(roles: RoleMap, turned: Floats, side: str, flat: Indices, own: Floats) -> Floats:
    """Align a foot and its toes by how both bodies stand: the target is flat where the source is; the map is changed.

    The rotation comes back that, behind the source's foot's, leaves how it is turned against its own flat pose, (4,).
    """
    ankle, there = roles.target.need(f"{side}_foot"), roles.source.need(f"{side}_foot")
    if roles.low[ankle] != there:
        return quat.inverse(roles.align[ankle])  # somebody said otherwise
    level = quat.inverse(standing_pose(turned[flat, there], foot_bone(roles.source, side)))
    roles.align[ankle] = quat.multiply(level, own)
    toe, beyond = roles.target.find(f"{side}_toe"), roles.source.find(f"{side}_toe")
    if toe is not None and beyond is not None:
        # Toes bend against the foot as the source's do, from straight.
        bend = quat.multiply(quat.inverse(quat.multiply(turned[flat, there], level)), turned[flat, beyond])
        straight = quat.from_rotvec(medians(quat.as_rotvec(bend)))
        roles.low[toe] = roles.high[toe] = beyond
        roles.align[toe] = quat.multiply(quat.inverse(straight), own)
    elif toe is not None:
        roles.low[toe], roles.high[toe], roles.align[toe] = there, there, roles.align[ankle]
    return level


def _settle_foot(roles: RoleMap, pose: tuple[Floats, Floats], side: str, level: Floats, stands: Floats) -> Floats:
    """Make a foot level while it stands, with all that hangs from it; its yaw comes back, (F,).

    The higher an ankle, the more a slight pitch would move it.
    """
    turned, world = pose
    ankle, there = roles.target.need(f"{side}_foot"), roles.source.need(f"{side}_foot")
    if roles.low[ankle] != there:
        return quat.yaw_of(world[:, ankle])
    recorded = quat.multiply(turned[:, there], level)
    sole = quat.slerp(recorded, quat.from_yaw(quat.yaw_of(recorded)), stands)
    turn = quat.multiply(sole, quat.inverse(recorded))
    for joint in range(ankle, len(roles.target)):
        if _hangs_from(roles.target, joint, ankle):
            world[:, joint] = quat.multiply(turn, world[:, joint])
    return quat.yaw_of(sole)


def _pitch_less(clip: Clip, roles: RoleMap, side: str, level: Floats, stance: FootGeometry, scale: float) -> Floats:
    """How much less a foot that stands is to be pitched than the recorded one, (F,), as a share.

    An ankle that is higher above the ball would go farther for the same pitch.
    """
    bones = foot_bone(roles.source, side), foot_bone(roles.target, side)
    both = (roles.source.find(f"{side}_toe"), roles.target.find(f"{side}_toe"))
    if bones[0] is None or bones[1] is None or None in both:
        return np.zeros(len(clip))
    theirs = -scale * float(quat.rotate(quat.inverse(level), bones[0])[1])
    mine = -float(quat.rotate(stance.flat[side], bones[1])[1])
    if mine <= max(theirs, 0.0):
        return np.zeros(len(clip))
    heel, ball = columns(clip, side)
    return np.asarray((1 - max(theirs, 0.0) / mine) * within(heel & ball, _PITCH_S * clip.fps))


def _unlike(roles: RoleMap, side: str, scale: float) -> float:
    """How much a foot is another one, 0 to 1: one of the same shape stands as the recorded one does, tilt and all."""
    theirs, mine = foot_bone(roles.source, side), foot_bone(roles.target, side)
    if theirs is None or mine is None or not roles.source.same_joints(roles.target):
        return 1.0
    gap = float(np.linalg.norm(mine - scale * theirs)) / max(scale * float(np.linalg.norm(theirs)), 1e-9)
    return min(gap / _SAME_FOOT, 1.0)


def _hangs_from(skeleton: Skeleton, joint: int, top: int) -> bool:
    while joint > top:
        joint = int(skeleton.parents[joint])
    return joint == top


def _leg(skeleton: Skeleton, side: str, world: Floats) -> Limb:
    """Hip, knee and ankle as bones alone lead there, with the root at the origin."""
    wanted = [skeleton.need(f"{side}_{part}") for part in ("upper_leg", "lower_leg", "foot")]
    at, places = np.zeros((len(world), 3)), {}
    for joint in chain_between(skeleton, 0, wanted[-1]):
        at = at + quat.rotate(world[:, skeleton.parents[joint]], skeleton.offsets[joint])
        places[joint] = at
    hip, knee, ankle = (places[joint] for joint in wanted)
    return hip, knee, ankle


def _solve_leg(skeleton: Skeleton, side: str, pose: tuple[Floats, Floats, Limb], target: Floats) -> None:
    """Bring an ankle to its target; the pose is changed."""
    local, world, joints = pose
    hip, knee, ankle = (skeleton.need(f"{side}_{part}") for part in ("upper_leg", "lower_leg", "foot"))
    turns = ik.solve_limb(*joints, ik.hinge_axes(*joints, world[:, hip]), target)
    ik.write_limb(local, world, skeleton.parents, (hip, knee, ankle), turns, world[:, ankle])


def contacts_on(clip: Clip, skeleton: Skeleton) -> Flags:
    """The source's foot plants by role; a toe that the source lacks stands when its foot does."""
    assert clip.contacts is not None
    there = [role for role in FOOT_ROLES if clip.skeleton.find(role) is not None]
    here = [role for role in FOOT_ROLES if skeleton.find(role) is not None]
    of = [there.index(role if role in there else role.replace("_toe", "_foot")) for role in here]
    return np.asarray(clip.contacts[:, of])
