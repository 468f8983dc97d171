"""Single poses of one body put on another as they come: what is steered or performed live is no whole clip yet.

What `retarget` takes from a whole recording (how feet stand, where heads are carried, which way knees bend) is taken
once from some recording of the body. What is left is a table by which any pose is carried over: rotations by joints,
places by one scale, and legs that are solved for the ankles, so that a foot that stands still does so on the other
body. A page computes the same by `web/src/stage/wearing.ts`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Floats
from choreograph.motion import ik, kinematics
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import with_detected_contacts
from choreograph.motion.foot_geometry import FootGeometry, flat_frames, leg_length
from choreograph.motion.remap import across_stride, foot_aligns, hip_width, level_head, world_rotations
from choreograph.motion.retarget import way_scale
from choreograph.motion.role_map import SIDES, RoleMap, map_roles
from choreograph.motion.skeleton import Skeleton


@dataclass(frozen=True, eq=False)
class LiveMap:
    """A table by which poses of one body are put on another."""

    roles: RoleMap
    """Which joint is which; feet are aligned by how they stand."""
    scale: Floats
    """Of places, (3,)."""
    lift_m: float
    """By how much places are higher than scaled: ankles that stand do so at the body's own height."""
    half_width_m: float
    """How much farther to its side each foot stands, where hips are wider."""
    soles: Floats
    """Rotation behind a foot's of the source that leaves which way the body faces, (2, 4), left before right."""
    hinges: Floats
    """Axis of each knee in the thigh's frame, (2, 3)."""

    def poses(self, root_pos: Floats, local_rot: Floats) -> tuple[Floats, Floats]:
        """Root positions (F, 3) and local rotations (F, J, 4) of the target, each frame by itself."""
        source, target = self.roles.source, self.roles.target
        there, turned = kinematics.forward(root_pos, local_rot, source.offsets[None], source.parents)
        world = world_rotations(self.roles, turned)
        local = kinematics.to_local(world, target.parents)
        middle = self._carried(there[:, _joints(source, "upper_leg")].mean(axis=1))
        at, _ = kinematics.forward(np.zeros_like(middle), local, target.offsets[None], target.parents)
        root = middle - at[:, _joints(target, "upper_leg")].mean(axis=1)
        at = at + root[:, None]
        for k, side in enumerate(SIDES):
            ankle = source.need(f"{side}_foot")
            heading = quat.yaw_of(quat.multiply(turned[:, ankle], self.soles[k]))
            away = self.half_width_m if side == "left" else -self.half_width_m
            aside = away * np.stack([np.cos(heading), np.zeros(len(heading)), -np.sin(heading)], axis=1)
            leg = _leg(target, side)
            places = at[:, leg[0]], at[:, leg[1]], at[:, leg[2]]
            axis = ik.hinge_axes_near(self.hinges[k], *places, world[:, leg[0]])
            turns = ik.solve_limb(*places, axis, self._carried(there[:, ankle]) + aside)
            ik.write_limb(local, world, target.parents, leg, turns, world[:, leg[2]])
        return root, local

    def _carried(self, points: Floats) -> Floats:
        return np.asarray(self.scale * points + [0.0, self.lift_m, 0.0])


def live_map(clip: Clip, skeleton: Skeleton, stance: FootGeometry) -> LiveMap:
    """The table from a recorded body to another one, which goes where the recorded one goes.

    Args:
        clip: Some recording of the first.
        skeleton: The other one.
        stance: How it stands.

    Raises:
        RoleError: If no legs are known, whose lengths give the scale.
    """
    clip = with_detected_contacts(clip)
    source = clip.skeleton
    roles = map_roles(source, skeleton)
    if not source.same_joints(skeleton):
        level_head(clip, roles)
    turned, there = clip.global_rotations(), clip.global_positions()
    soles, heights, across = [], [], across_stride(clip)
    for side in SIDES:
        flat = flat_frames(clip, side)
        level = foot_aligns(roles, turned, side, flat, stance.flat[side])
        heading = quat.yaw_of(quat.multiply(turned[flat, source.need(f"{side}_foot")], level))
        outwards = np.angle(np.exp(1j * (heading - np.arctan2(-across[flat, 2], across[flat, 0]))))
        soles.append(quat.multiply(level, quat.from_yaw(-np.median(outwards))))
        heights.append(float(np.median(there[flat, source.need(f"{side}_foot"), 1])))
    scale, along = leg_length(skeleton) / leg_length(source), way_scale(source, skeleton)
    world = world_rotations(roles, turned)
    at, _ = kinematics.forward(
        np.zeros((len(clip), 3)), kinematics.to_local(world, skeleton.parents), skeleton.offsets[None], skeleton.parents
    )
    hinges = []
    for side in SIDES:
        hip, knee, ankle = _leg(skeleton, side)
        hinges.append(ik.usual_hinge(at[:, hip], at[:, knee], at[:, ankle], world[:, hip]))
    return LiveMap(
        roles,
        np.array([along, scale, along]),
        stance.ankle_m - scale * float(np.mean(heights)),
        0.5 * (hip_width(skeleton) - scale * hip_width(source)),
        np.array(soles),
        np.array(hinges),
    )


def _leg(skeleton: Skeleton, side: str) -> tuple[int, int, int]:
    """Hip, knee and ankle."""
    return skeleton.need(f"{side}_upper_leg"), skeleton.need(f"{side}_lower_leg"), skeleton.need(f"{side}_foot")


def _joints(skeleton: Skeleton, part: str) -> list[int]:
    return [skeleton.need(f"{side}_{part}") for side in SIDES]
