"""A motion laid on another rig by roles: bones along the source's, legs solved for ankles and balls, feet level.

Feet are compared by how they stand, not by rest poses: a recorded foot's own flat pose is found in the frames in which
it stands, a target's is its rest pose, or, where that cannot be (a ball straight below the ankle, or as high), the one
that people's feet have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from choreograph.maths import quat
from choreograph.motion import ik, kinematics
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import runs, with_detected_contacts
from choreograph.motion.role_map import SIDES, RoleMap, foot_bone
from choreograph.motion.roles import FOOT_ROLES
from choreograph.motion.skeleton import Skeleton

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

SOFT_SHARE = 0.995
"""Share of a leg's length up to which it reaches freely; targets are scaled from a pose that was reached, so they are
seldom farther, and holding back sooner would move feet that stand."""
_SETTLE_S = 0.06
"""Time in which a foot that comes down is level."""
_HAND_OVER_S = 0.1
"""Time over which a foot goes from standing on its heel to standing on its ball."""
_SWING_S = 0.15
"""Time over which a foot that was lifted is led by its bones, and before it comes down by its place."""
_ANKLE_SHARE = 0.1
"""Height of an ankle joint above the sole as a share of thigh and shin: 0.08 to 0.11 in most recordings."""
_DROP_SHARE = 0.055
"""Height of an ankle above the ball of the foot, likewise."""
_UPRIGHT = float(np.cos(np.radians(9.0)))
"""How nearly upright neck and head are in a rest pose that was drawn, as a cosine."""
_BOWED = (np.radians(8.0), np.radians(40.0))
"""Pitch of a head throughout a recording that is the skeleton's doing, not the person's."""
_MOMENT_S = 0.2
"""Time for which feet stand at least in a recording that tells how they do."""
_STEEP = np.radians(60.0)
_SHALLOW = np.radians(6.0)
"""Slopes from ankle to ball between which a rest pose is that of a foot on the floor."""


@dataclass(frozen=True, eq=False)
class Stance:
    """How a body stands: what its feet look like flat on the floor."""

    ankle_m: float
    """Height of its ankles above the floor, metres."""
    flat: Mapping[str, Array]
    """Rotation of each side's foot, against its rest pose, in which it is flat and points along +z, (4,)."""


def body_stance(skeleton: Skeleton, sole_m: float | None = None) -> Stance:
    """How a body stands by its build alone: on its skin's lowest vertex where that is known."""
    flat = {side: flat_pose(skeleton, side, skinned=sole_m is not None) for side in SIDES}
    return Stance(ankle_height(skeleton, sole_m), flat)


def recorded_stance(clip: Clip) -> Stance | None:
    """How a body stands in a recording; None where it does so for less than a moment."""
    clip = with_detected_contacts(clip)
    heights, poses = [], {}
    for side in SIDES:
        heel, ball = columns(clip, side)
        frames = np.flatnonzero(heel & ball)
        if len(frames) < max(3.0, _MOMENT_S * clip.fps):
            return None
        ankle = clip.skeleton.need(f"{side}_foot")
        heights.append(float(np.median(clip.global_positions()[frames, ankle, 1])))
        poses[side] = _standing_pose(clip.global_rotations()[frames, ankle], foot_bone(clip.skeleton, side))
    return Stance(float(np.mean(heights)), poses)


def remap(clip: Clip, found: RoleMap, stance: Stance) -> tuple[Array, Array, Flags]:
    """Root positions (F, 3), local rotations (F, J, 4) and foot plants of the target that moves as the clip does."""
    clip = with_detected_contacts(clip)
    skeleton = found.target
    scale = leg_length(skeleton) / leg_length(clip.skeleton)
    there, turned = clip.global_positions(), clip.global_rotations()
    flat = {side: flat_frames(clip, side) for side in SIDES}
    _level_head(clip, found)
    world = _world_rotations(found, turned)
    headings = {}
    for side in SIDES:
        headings[side] = _turn_foot(found, world, turned, side, clip, flat[side], stance.flat[side])
    local = kinematics.to_local(world, skeleton.parents)

    ankles = {side: clip.skeleton.need(f"{side}_foot") for side in SIDES}
    standing = float(np.mean([np.median(there[flat[side], ankles[side], 1]) for side in SIDES]))
    raised = stance.ankle_m
    wider = _hip_width(skeleton) - scale * _hip_width(clip.skeleton)

    def carried(points: Array) -> Array:
        """Points of the source, scaled; ankles that stand do so at the target's own height."""
        return np.asarray(scale * (points - [0.0, standing, 0.0]) + [0.0, raised, 0.0])

    hips = [clip.skeleton.need(f"{side}_upper_leg") for side in SIDES]
    middle = carried(there[:, hips].mean(axis=1))
    position, _ = kinematics.forward(np.zeros_like(middle), local, skeleton.offsets[None], skeleton.parents)
    own = [skeleton.need(f"{side}_upper_leg") for side in SIDES]
    root = middle - position[:, own].mean(axis=1)
    position = position + root[:, None]
    for side in SIDES:
        balls = clip.skeleton.find(f"{side}_toe"), foot_bone(skeleton, side)
        target = carried(there[:, ankles[side]])
        heading = _plant_headings(clip, side, headings[side])
        if balls[0] is not None and balls[1] is not None:
            reach = quat.rotate(world[:, skeleton.need(f"{side}_foot")], balls[1])
            target = _by_ball(clip, side, (target, carried(there[:, balls[0]]), reach, heading), flat[side])
        away = 0.5 * wider if side == "left" else -0.5 * wider
        target = target + away * np.stack([np.cos(heading), np.zeros(len(heading)), -np.sin(heading)], axis=1)
        target = _let_swing(clip, side, target, position[:, skeleton.need(f"{side}_foot")], raised)
        _solve_leg(skeleton, side, (local, world, position), target)
    return root, local, contacts_on(clip, skeleton)


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


def flat_pose(skeleton: Skeleton, side: str, *, skinned: bool) -> Array:
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


def _level_head(clip: Clip, found: RoleMap) -> None:
    """Take out how far a head is bowed throughout where its rest pose is a drawing, not a pose.

    Skeletons fitted to markers have a neck and head straight up at rest; people's heads then sit 15 to 30 degrees off.
    """
    source = clip.skeleton
    here, head, neck = found.target.find("head"), source.find("head"), source.find("neck")
    if here is None or head is None or neck is None or found.low[here] != head:
        return
    rest = source.rest_positions()
    bones = [rest[head] - rest[neck], *source.tip_offsets[source.tip_parents == head]]
    upright = all(bone[1] > _UPRIGHT * np.linalg.norm(bone) > 0 for bone in bones)
    if len(bones) < 2 or not upright:
        return
    ahead = quat.rotate(clip.global_rotations()[:, head], np.array([0.0, 0.0, 1.0]))
    pitch = float(np.median(np.arcsin(np.clip(ahead[:, 1], -1.0, 1.0))))
    if _BOWED[0] < abs(pitch) < _BOWED[1]:
        found.align[here] = quat.multiply(quat.from_axis_angle([1.0, 0.0, 0.0], pitch), found.align[here])


def _hip_width(skeleton: Skeleton) -> float:
    """Distance between the hip joints, metres."""
    rest = skeleton.rest_positions()
    return float(np.linalg.norm(rest[skeleton.need("left_upper_leg")] - rest[skeleton.need("right_upper_leg")]))


def _world_rotations(found: RoleMap, turned: Array) -> Array:
    """Global rotations of the target's joints, (F, J, 4): the source's, laid on; those without one as their parent."""
    parents = found.target.parents
    world = np.empty((len(turned), len(parents), 4))
    exact = np.flatnonzero((found.low >= 0) & (found.share <= 0))
    world[:, exact] = quat.multiply(turned[:, found.low[exact]], found.align[exact])
    for j in np.flatnonzero((found.low >= 0) & (found.share > 0)):
        between = quat.slerp(turned[:, found.low[j]], turned[:, found.high[j]], np.full(len(turned), found.share[j]))
        world[:, j] = quat.multiply(between, found.align[j])
    for j in np.flatnonzero(found.low < 0):
        world[:, j] = world[:, parents[j]] if parents[j] >= 0 else quat.IDENTITY
    return world


# ------------------------------------------------------------------------------------------------------------ feet


def columns(clip: Clip, side: str) -> tuple[Flags, Flags]:
    """Whether a foot's heel and ball stand, (F,) each; the ball as the heel where there is none."""
    assert clip.contacts is not None
    roles = [role for role in FOOT_ROLES if clip.skeleton.find(role) is not None]
    heel = clip.contacts[:, roles.index(f"{side}_foot")]
    return heel, clip.contacts[:, roles.index(f"{side}_toe")] if f"{side}_toe" in roles else heel


def flat_frames(clip: Clip, side: str) -> NDArray[np.intp]:
    """Frames in which a foot stands flat; those in which its ankle is lowest where it never does."""
    heel, ball = columns(clip, side)
    frames = np.flatnonzero(heel & ball)
    if len(frames) < 3:
        height = clip.global_positions()[:, clip.skeleton.need(f"{side}_foot"), 1]
        frames = np.flatnonzero(height <= np.quantile(height, 0.1) + 1e-9)
    return frames


def _standing_pose(turns: Array, bone: Array | None) -> Array:
    """The usual rotation of a foot that stands, without its heading: its bone points along +z, (4,)."""
    usual = quat.multiply(quat.inverse(quat.from_yaw(quat.yaw_of(turns))), turns)
    tilt = quat.from_rotvec(np.median(quat.as_rotvec(usual), axis=0))
    if bone is None:
        return tilt
    along = quat.rotate(tilt, bone)
    heading = np.arctan2(along[0], along[2]) if np.hypot(along[0], along[2]) > 1e-3 else 0.0
    return quat.multiply(quat.from_yaw(-heading), tilt)


def _turn_foot(
    found: RoleMap, world: Array, turned: Array, side: str, clip: Clip, flat: NDArray[np.intp], own: Array
) -> Array:
    """Turn a foot and its toes as the source's are turned against their own flat pose: then the target is flat, too.

    The yaw of the foot comes back, (F,).
    """
    ankle, there = found.target.need(f"{side}_foot"), found.source.need(f"{side}_foot")
    if found.low[ankle] != there:
        return quat.yaw_of(world[:, ankle])  # somebody said otherwise
    standing = _standing_pose(turned[flat, there], foot_bone(found.source, side))
    recorded = quat.multiply(turned[:, there], quat.inverse(standing))
    sole = _settled(recorded, _stands_flat(clip, side))
    world[:, ankle] = quat.multiply(sole, own)
    toe, beyond = found.target.find(f"{side}_toe"), found.source.find(f"{side}_toe")
    if toe is not None and beyond is not None:
        # Toes bend against the foot as the source's do, from straight.
        bend = quat.multiply(quat.inverse(recorded), turned[:, beyond])
        straight = quat.from_rotvec(np.median(quat.as_rotvec(bend[flat]), axis=0))
        world[:, toe] = quat.multiply(quat.multiply(sole, quat.multiply(bend, quat.inverse(straight))), own)
    elif toe is not None:
        world[:, toe] = world[:, ankle]
    for joint in range(ankle + 1, len(found.target)):
        parent = int(found.target.parents[joint])
        if found.low[joint] < 0 and joint != toe and _hangs_from(found.target, joint, ankle):
            world[:, joint] = world[:, parent]
    return quat.yaw_of(sole)


def _hangs_from(skeleton: Skeleton, joint: int, top: int) -> bool:
    while joint > top:
        joint = int(skeleton.parents[joint])
    return joint == top


def _stands_flat(clip: Clip, side: str) -> Array:
    """How surely a foot stands flat, (F,), 0 to 1: it comes to rest and rises again over a short time."""
    heel, ball = columns(clip, side)
    width = max(1, round(_SETTLE_S * clip.fps))
    flat = np.concatenate([[0], (heel & ball).astype(int), [0]])
    weight = np.zeros(len(heel))
    for start, stop in np.flatnonzero(np.diff(flat)).reshape(-1, 2):
        inside = np.arange(stop - start)
        edge = np.minimum(inside + 1 if start > 0 else width, stop - start - inside if stop < len(heel) else width)
        weight[start:stop] = np.clip(edge / (width + 1), 0.0, 1.0)
    return np.asarray(weight * weight * (3 - 2 * weight))


def _settled(turns: Array, stands: Array) -> Array:
    """Rotations of a foot, level while it stands: the higher an ankle, the more a slight pitch would move it."""
    return quat.slerp(turns, quat.from_yaw(quat.yaw_of(turns)), stands)


def _plant_headings(clip: Clip, side: str, heading: Array) -> Array:
    """The heading of a foot, (F,), one for each time it stands, and from one to the next between.

    A heel that rises turns the foot a little; what lies to its side or before it must not move for that.
    """
    heel, ball = columns(clip, side)
    whole = np.unwrap(heading)
    frames, values = [], []
    for start, stop in runs(heel | ball):
        flat = (heel & ball)[start:stop]
        usual = float(np.median(whole[start:stop][flat] if flat.any() else whole[start:stop]))
        frames += [start, stop - 1]
        values += [usual, usual]
    return np.interp(np.arange(len(heading)), frames, values) if frames else whole


def _let_swing(clip: Clip, side: str, stands_at: Array, swings_at: Array, lowest: float) -> Array:
    """Where an ankle is to be, (F, 3): at its place while it stands, where its bones lead it while it swings.

    Both are the same on legs of the same proportions.
    """
    heel, ball = columns(clip, side)
    stands = heel | ball
    if not stands.any():
        return stands_at
    frames = np.arange(len(stands))
    known = np.flatnonzero(stands)
    after = np.searchsorted(known, frames)
    gap = np.minimum(
        np.abs(frames - known[np.clip(after - 1, 0, len(known) - 1)]),
        np.abs(known[np.clip(after, 0, len(known) - 1)] - frames),
    )
    share = np.clip(gap / max(1.0, _SWING_S * clip.fps), 0.0, 1.0)
    share = (share * share * (3 - 2 * share))[:, None]
    low = np.minimum(stands_at[:, 1], lowest)
    led = np.column_stack([swings_at[:, 0], np.maximum(swings_at[:, 1], low), swings_at[:, 2]])
    return np.asarray((1 - share) * stands_at + share * led)


def _by_ball(clip: Clip, side: str, places: tuple[Array, Array, Array, Array], flat: NDArray[np.intp]) -> Array:
    """Where an ankle is to be, (F, 3): as the source's, or so that the ball of a raised heel stays where it stands."""
    wanted, ball_at, reach, heading = places
    heel, ball = columns(clip, side)
    # Feet of other lengths: at rest on the floor both ways agree.
    gap = wanted + reach - ball_at
    yaw = quat.from_yaw(heading)
    kept = quat.rotate(yaw, np.median(quat.rotate(quat.inverse(yaw), gap)[flat], axis=0))
    by_ball = ball_at + kept - reach
    width = max(1, round(_HAND_OVER_S * clip.fps))
    kernel = np.ones(2 * width + 1) / (2 * width + 1)
    on_ball = (ball & ~heel).astype(float)
    weight = np.convolve(np.pad(on_ball, width, mode="edge"), kernel, mode="valid")
    weight = np.where(on_ball > 0, 1.0, np.where(heel, 0.0, weight))
    smooth = np.convolve(np.pad(weight, width, mode="edge"), kernel, mode="valid")
    weight = np.where(heel | (on_ball > 0), weight, smooth)[:, None]
    return np.asarray((1 - weight) * wanted + weight * by_ball)


def _solve_leg(skeleton: Skeleton, side: str, pose: tuple[Array, Array, Array], target: Array) -> None:
    """Bring an ankle to its target; the pose is changed."""
    local, world, position = pose
    hip, knee, ankle = (skeleton.need(f"{side}_{part}") for part in ("upper_leg", "lower_leg", "foot"))
    joints = position[:, hip], position[:, knee], position[:, ankle]
    turns = ik.solve_limb(*joints, ik.hinge_axes(*joints, world[:, hip]), target, SOFT_SHARE)
    ik.write_limb(local, world, skeleton.parents, (hip, knee, ankle), turns, world[:, ankle])


def contacts_on(clip: Clip, skeleton: Skeleton) -> Flags:
    """The source's foot plants by role; a toe that the source lacks stands when its foot does."""
    assert clip.contacts is not None
    there = [role for role in FOOT_ROLES if clip.skeleton.find(role) is not None]
    here = [role for role in FOOT_ROLES if skeleton.find(role) is not None]
    of = [there.index(role if role in there else role.replace("_toe", "_foot")) for role in here]
    return np.asarray(clip.contacts[:, of])
