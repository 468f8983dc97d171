"""Carrying a clip onto another person's skeleton: the same joints, other bone lengths.

Joint rotations are kept. The root's path is scaled by the ratio of leg lengths, and so are the ankles' paths: a foot
that stood still in the recording stands still here too, at a spot scaled with the rest. The legs are then solved
analytically so that the ankles are where they should be, with knees bent in the plane they were bent in and feet
turned as they were turned. A foot of another length would stand in or above the floor; a constant lift per foot, from
the frames in which it is down, puts its ball where the scaled recording has it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choreograph.errors import SkeletonMismatch
from choreograph.maths import quat
from choreograph.motion import ik, kinematics
from choreograph.motion.clip import Clip
from choreograph.motion.skeleton import Skeleton

Array = NDArray[np.float64]

_DOWN_SHARE = 0.25
"""A foot counts as down in the quarter of the frames in which its toe is lowest: less than any gait's stance."""
_SOFT_SHARE = 0.995
"""Share of a leg's length up to which it reaches freely; targets are scaled from a pose that was reached, so they are
seldom farther, and holding back sooner would move feet that stand."""


def retarget(clip: Clip, skeleton: Skeleton) -> Clip:
    """The clip's motion on a skeleton with the same joints; the clip itself if the skeletons match already.

    Raises:
        SkeletonMismatch: If the joints differ, not just the bones' lengths.
        RoleError: If no legs are known, whose lengths give the scale.
    """
    if clip.skeleton.matches(skeleton):
        return clip
    if not clip.skeleton.same_joints(skeleton):
        try:
            skeleton.check_matches(clip.skeleton, f"the skeleton and clip {clip.name!r}")
        except SkeletonMismatch as error:
            raise SkeletonMismatch(f"{error}; only clips with the same joints can be carried over") from None
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
    return Clip(
        skeleton,
        clip.fps,
        root,
        quat.make_continuous(quat.normalise(rotations)),
        clip.name,
        labels=clip.labels,
        contacts=contacts,
        source=clip.source,
    )


def _legs(skeleton: Skeleton) -> list[tuple[int, int, int, int | None]]:
    """Hip, knee, ankle and toe joint of each leg whose bones follow one another."""
    found = []
    for side in ("left", "right"):
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
