"""Carrying a clip onto another body: the same joints with other lengths, or another rig altogether.

The root's path is scaled by the ratio of leg lengths, and so are the ankles' paths: a foot that stood still in the
recording stands still here too, at a spot scaled with the rest. The legs are then solved analytically so that the
ankles are where they should be, with knees bent in the plane they were bent in and feet turned as they were turned.

Where joints are the same, their rotations are kept; a foot of another length would stand in or above the floor, and a
constant lift per foot puts its ball where the scaled recording has it. Where they are not, every bone points where the
source's does (`role_map`), and the root lies so that the middle of the hip joints is where it should be.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from choreograph.maths import quat
from choreograph.motion import ik, kinematics
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import with_detected_contacts
from choreograph.motion.role_map import SIDES, RoleMap, foot_bone, map_roles
from choreograph.motion.roles import FOOT_ROLES
from choreograph.motion.skeleton import Skeleton

Array = NDArray[np.float64]

_DOWN_SHARE = 0.25
"""A foot counts as down in the quarter of the frames in which its toe is lowest: less than any gait's stance."""
_SOFT_SHARE = 0.995
"""Share of a leg's length up to which it reaches freely; targets are scaled from a pose that was reached, so they are
seldom farther, and holding back sooner would move feet that stand."""
_SETTLE_S = 0.06
"""Time in which a foot that comes down is level."""
_HAND_OVER_S = 0.1
"""Time over which a foot goes from standing on its heel to standing on its ball."""


def retarget(
    clip: Clip, skeleton: Skeleton, *, sole_m: float | None = None, given: Mapping[str, str] | None = None
) -> Clip:
    """The clip's motion on another body; the clip itself if the skeletons match already.

    Args:
        clip: The motion, on its own body.
        skeleton: The body that is to move.
        sole_m: Height of its soles in the rest pose with the root at the origin, metres; else of its lowest point. A
            skin's lowest vertex is lower than any joint.
        given: Joints of the body, by name, with the source's joint that each takes its rotation from.

    Raises:
        RoleError: If no legs are known, whose lengths give the scale.
    """
    if clip.skeleton.matches(skeleton) and not given:
        return clip
    if clip.skeleton.same_joints(skeleton) and not given:
        return _carry(clip, skeleton)
    return _remap(clip, map_roles(clip.skeleton, skeleton, given), sole_m)


# ------------------------------------------------------------------------------------------------- the same joints


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
        turns = ik.solve_limb(*joints, ik.hinge_axes(*joints, turned[:, hip]), target, _SOFT_SHARE)
        ik.write_limb(rotations, turned, parents, (hip, knee, ankle), turns, turned[:, ankle])
    contacts = clip.contacts if skeleton.feet == clip.skeleton.feet else None
    return _made(clip, skeleton, root, rotations, contacts)


def _made(
    clip: Clip,
    skeleton: Skeleton,
    root: Array,
    rotations: Array,
    contacts: NDArray[np.bool_] | None,
    local_pos: Array | None = None,
) -> Clip:
    return Clip(
        skeleton,
        clip.fps,
        root,
        quat.make_continuous(quat.normalise(rotations)),
        clip.name,
        local_pos=local_pos,
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


# --------------------------------------------------------------------------------------------------- another rig


def _remap(clip: Clip, found: RoleMap, sole_m: float | None) -> Clip:
    """Bones laid along the source's, the root by the middle of the hips, legs solved for ankles and balls."""
    clip = with_detected_contacts(clip)
    assert clip.contacts is not None
    skeleton = found.target
    scale = leg_length(skeleton) / leg_length(clip.skeleton)
    there, turned = clip.global_positions(), clip.global_rotations()
    rest = skeleton.rest_positions()

    flat = {side: _flat_frames(clip, side) for side in SIDES}
    world = _world_rotations(found, turned)
    for side in SIDES:
        _level_foot(found, world, turned, side, flat[side], _stands_flat(clip, side))
    local = kinematics.to_local(world, skeleton.parents)

    ankles = {side: clip.skeleton.need(f"{side}_foot") for side in SIDES}
    standing = float(np.mean([np.median(there[flat[side], ankles[side], 1]) for side in SIDES]))
    sole = _sole(clip, skeleton, scale, flat) if sole_m is None else sole_m
    raised = float(np.mean([rest[skeleton.need(f"{side}_foot"), 1] - sole for side in SIDES]))
    wider = _hip_width(skeleton) - scale * _hip_width(clip.skeleton)

    def carried(points: Array) -> Array:
        """Points of the source, scaled; ankles that stand do so at the target's own height."""
        return scale * (points - [0.0, standing, 0.0]) + [0.0, raised, 0.0]

    hips = [clip.skeleton.need(f"{side}_upper_leg") for side in SIDES]
    middle = carried(there[:, hips].mean(axis=1))
    position, _ = kinematics.forward(np.zeros_like(middle), local, skeleton.offsets[None], skeleton.parents)
    own = [skeleton.need(f"{side}_upper_leg") for side in SIDES]
    root = middle - position[:, own].mean(axis=1)
    position = position + root[:, None]
    local_pos: Array | None = None
    for side in SIDES:
        target = _ankle_targets(clip, found, side, world, carried, flat[side])
        target = target + _sideways(clip, side, 0.5 * wider)
        local_pos = _solve_leg(skeleton, side, (local, world, position), target, local_pos)
    if local_pos is not None:
        local_pos[:, 0] = root
    return _made(clip, skeleton, root, local, _contacts(clip, skeleton), local_pos)


def leg_length(skeleton: Skeleton) -> float:
    """Mean length of thigh plus shin, metres, also where the foot hangs from something else than the shin."""
    rest = skeleton.rest_positions()
    lengths = []
    for side in SIDES:
        hip, knee, ankle = (skeleton.need(f"{side}_{part}") for part in ("upper_leg", "lower_leg", "foot"))
        lengths.append(np.linalg.norm(rest[knee] - rest[hip]) + np.linalg.norm(rest[ankle] - rest[knee]))
    return float(np.mean(lengths))


def _sole(clip: Clip, skeleton: Skeleton, scale: float, flat: Mapping[str, NDArray[np.intp]]) -> float:
    """Height of the target's soles at rest where no skin tells: as far below its lowest foot joint as the source's."""
    rest = skeleton.rest_positions()
    lowest = min(float(rest[joint, 1]) for joint in skeleton.feet)
    there = clip.global_positions()
    heights = []
    for side in SIDES:
        toe = clip.skeleton.find(f"{side}_toe")
        joint = clip.skeleton.need(f"{side}_foot") if toe is None else toe
        heights.append(float(np.median(there[flat[side], joint, 1])))
    return lowest - max(0.0, scale * float(np.mean(heights)))


def _hip_width(skeleton: Skeleton) -> float:
    """Distance between the hip joints, metres."""
    rest = skeleton.rest_positions()
    return float(np.linalg.norm(rest[skeleton.need("left_upper_leg")] - rest[skeleton.need("right_upper_leg")]))


def _sideways(clip: Clip, side: str, metres: float) -> Array:
    """A step to the side of a foot's heading, (F, 3): hips that are wider stand wider.

    A foot that stands has one heading, so what stood still does so at its new place.
    """
    at = clip.global_positions()
    ankle, toe = clip.skeleton.need(f"{side}_foot"), clip.skeleton.find(f"{side}_toe")
    if toe is None:
        heading = quat.yaw_of(clip.global_rotations()[:, ankle])
    else:
        bone = at[:, toe] - at[:, ankle]
        heading = np.arctan2(bone[:, 0], bone[:, 2])
    away = metres if side == "left" else -metres
    return np.stack([away * np.cos(heading), np.zeros(len(at)), -away * np.sin(heading)], axis=1)


def _world_rotations(found: RoleMap, turned: Array) -> Array:
    """Global rotations of the target's joints, (F, J, 4): the source's, laid on; those without one as their parent."""
    parents = found.target.parents
    world = np.empty((len(turned), len(parents), 4))
    for j in range(len(parents)):
        if found.low[j] >= 0:
            source = turned[:, found.low[j]]
            if found.share[j] > 0:
                source = quat.slerp(source, turned[:, found.high[j]], np.full(len(turned), found.share[j]))
            world[:, j] = quat.multiply(source, found.align[j])
        else:
            world[:, j] = world[:, parents[j]] if parents[j] >= 0 else quat.IDENTITY
    return world


def _columns(clip: Clip, side: str) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether a foot's heel and ball stand, (F,) each; the ball as the heel where there is none."""
    assert clip.contacts is not None
    roles = [role for role in FOOT_ROLES if clip.skeleton.find(role) is not None]
    heel = clip.contacts[:, roles.index(f"{side}_foot")]
    return heel, clip.contacts[:, roles.index(f"{side}_toe")] if f"{side}_toe" in roles else heel


def _flat_frames(clip: Clip, side: str) -> NDArray[np.intp]:
    """Frames in which a foot stands flat; those in which its ankle is lowest where it never does."""
    heel, ball = _columns(clip, side)
    frames = np.flatnonzero(heel & ball)
    if len(frames) < 3:
        height = clip.global_positions()[:, clip.skeleton.need(f"{side}_foot"), 1]
        frames = np.flatnonzero(height <= np.quantile(height, 0.1) + 1e-9)
    return frames


def _level_foot(found: RoleMap, world: Array, turned: Array, side: str, flat: NDArray[np.intp], stands: Array) -> None:
    """Take out of a foot and its toes the tilt that the source has when it stands: then the target is flat, too."""
    ankle, there = found.target.need(f"{side}_foot"), found.source.need(f"{side}_foot")
    usual = quat.as_rotvec(_without_yaw(turned[flat, there]))
    tilt = quat.from_rotvec(np.median(usual, axis=0))
    world[:, ankle] = quat.multiply(quat.multiply(turned[:, there], quat.inverse(tilt)), found.align[ankle])
    world[:, ankle] = _settled(world[:, ankle], stands)
    toe, beyond = found.target.find(f"{side}_toe"), found.source.find(f"{side}_toe")
    if toe is not None and beyond is not None:
        # Toes bend against the foot as the source's do, from straight.
        bend = quat.multiply(quat.inverse(turned[:, there]), turned[:, beyond])
        rest = quat.from_rotvec(np.median(quat.as_rotvec(bend[flat]), axis=0))
        bent = quat.multiply(bend, quat.inverse(rest))
        align = found.align[ankle]
        own = quat.multiply(quat.multiply(quat.inverse(align), bent), align)
        world[:, toe] = quat.multiply(world[:, ankle], own)
    for joint in range(ankle + 1, len(found.target)):
        parent = found.target.parents[joint]
        if found.low[joint] < 0 and parent in (ankle, toe):
            world[:, joint] = world[:, parent]


def _stands_flat(clip: Clip, side: str) -> Array:
    """How surely a foot stands flat, (F,), 0 to 1: it comes to rest and rises again over a short time."""
    heel, ball = _columns(clip, side)
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
    level = quat.from_yaw(quat.yaw_of(turns))
    return quat.slerp(turns, level, stands)


def _without_yaw(turns: Array) -> Array:
    return quat.multiply(quat.inverse(quat.from_yaw(quat.yaw_of(turns))), turns)


def _ankle_targets(
    clip: Clip, found: RoleMap, side: str, world: Array, carried: object, flat: NDArray[np.intp]
) -> Array:
    """Where an ankle is to be, (F, 3): as the source's, or so that the ball of a raised heel stays where it stands."""
    there = clip.global_positions()
    ankle_s, ankle_t = clip.skeleton.need(f"{side}_foot"), found.target.need(f"{side}_foot")
    wanted: Array = carried(there[:, ankle_s])  # type: ignore[operator]
    bones = foot_bone(found.target, side), clip.skeleton.find(f"{side}_toe")
    if bones[0] is None or bones[1] is None:
        return wanted
    heel, ball = _columns(clip, side)
    ball_at: Array = carried(there[:, bones[1]])  # type: ignore[operator]
    reach = quat.rotate(world[:, ankle_t], bones[0])
    yaw = quat.from_yaw(quat.yaw_of(world[:, ankle_t]))
    # Feet of other lengths: at rest on the floor both ways agree.
    gap = quat.rotate(quat.inverse(yaw), wanted + reach - ball_at)
    kept = quat.rotate(yaw, np.median(gap[flat], axis=0))
    by_ball = ball_at + kept - reach
    width = max(1, round(_HAND_OVER_S * clip.fps))
    kernel = np.ones(2 * width + 1) / (2 * width + 1)
    on_ball = (ball & ~heel).astype(float)
    weight = np.convolve(np.pad(on_ball, width, mode="edge"), kernel, mode="valid")
    weight = np.where(on_ball > 0, 1.0, np.where(heel, 0.0, weight))
    smooth = np.convolve(np.pad(weight, width, mode="edge"), kernel, mode="valid")
    weight = np.where(heel | (on_ball > 0), weight, smooth)[:, None]
    return np.asarray((1 - weight) * wanted + weight * by_ball)


def _solve_leg(
    skeleton: Skeleton, side: str, pose: tuple[Array, Array, Array], target: Array, local_pos: Array | None
) -> Array | None:
    """Bring an ankle to its target; the pose is changed. Joint positions come back where a foot hangs elsewhere."""
    local, world, position = pose
    hip, knee, ankle = (skeleton.need(f"{side}_{part}") for part in ("upper_leg", "lower_leg", "foot"))
    rest = skeleton.rest_positions()
    end = position[:, knee] + quat.rotate(world[:, knee], rest[ankle] - rest[knee])
    joints = position[:, hip], position[:, knee], end
    turns = ik.solve_limb(*joints, ik.hinge_axes(*joints, world[:, hip]), target, _SOFT_SHARE)
    above, parents = ankle, skeleton.parents
    while above >= 0 and above != knee:
        above = int(parents[above])
    if above == knee:
        ik.write_limb(local, world, parents, (hip, knee, ankle), turns, world[:, ankle])
        return local_pos
    # The foot hangs from something else than the shin: it is put where the shin ends.
    swing, bend = turns
    shin = quat.multiply(swing, bend)
    thigh_rot = quat.multiply(swing, world[:, hip])
    local[:, hip] = quat.multiply(quat.inverse(world[:, parents[hip]]), thigh_rot)
    over = quat.multiply(swing, world[:, parents[knee]])
    local[:, knee] = quat.multiply(quat.inverse(over), quat.multiply(shin, world[:, knee]))
    knee_at = position[:, hip] + quat.rotate(swing, position[:, knee] - position[:, hip])
    reached = knee_at + quat.rotate(shin, end - position[:, knee])
    if local_pos is None:
        local_pos = np.tile(skeleton.offsets, (len(target), 1, 1))
    holder = int(parents[ankle])
    local_pos[:, ankle] = quat.rotate(quat.inverse(world[:, holder]), reached - position[:, holder])
    return local_pos


def _contacts(clip: Clip, skeleton: Skeleton) -> NDArray[np.bool_] | None:
    """The source's foot plants by role, where all of the target's foot joints have one."""
    assert clip.contacts is not None
    there = [role for role in FOOT_ROLES if clip.skeleton.find(role) is not None]
    here = [role for role in FOOT_ROLES if skeleton.find(role) is not None]
    if not set(here) <= set(there):
        return None
    return np.asarray(clip.contacts[:, [there.index(role) for role in here]])
