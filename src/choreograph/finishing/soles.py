"""Feet without a joint at the ball: their front stays above the floor, so that a heel that rises tips them over it.

Recorded feet bend at the ball. A foot that is all of one piece would dip its front into the floor as its heel rises.
"""

from __future__ import annotations

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Floats
from choreograph.base.quantiles import quantile
from choreograph.finishing.footskate import low_pass
from choreograph.motion import kinematics
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import runs
from choreograph.motion.role_map import SIDES, foot_bone

_STEEPEST = 0.95
"""Share of a foot's length by which its front may be higher than its ankle: about 70 degrees."""
_EASE_S = 0.03
"""Width (standard deviation) of the low-pass that lets a foot meet the floor without a kink."""


def keep_soles_up(clip: Clip) -> Clip:
    """The clip with feet that have no ball turned up, about the ankle, where their front would be below the floor.

    Args:
        clip: A motion whose plants are known. A foot without an end in its skeleton is left as it is.
    """
    skeleton = clip.skeleton
    fronts = {skeleton.find(f"{side}_foot"): foot_bone(skeleton, side) for side in SIDES if not _has_ball(clip, side)}
    if all(front is None for front in fronts.values()):
        return clip
    local = np.array(clip.local_rot)
    at, turned = clip.global_positions(), clip.global_rotations()
    for foot, front in fronts.items():
        if foot is None or front is None:
            continue
        above = turned[:, skeleton.parents[foot]]
        way = quat.rotate(turned[:, foot], front)
        height = at[:, foot, 1]
        length = max(float(np.linalg.norm(front)), 1e-9)
        lift = np.maximum(_floors(clip, foot, height) + front[1] - height - way[:, 1], 0.0)
        eased = way[:, 1] + low_pass(lift[:, None], _EASE_S * clip.fps)[:, 0]
        pitch = [np.arcsin(np.clip(heights / length, -1.0, _STEEPEST)) for heights in (way[:, 1], eased)]
        across = quat.rotate(turned[:, foot], np.array([1.0, 0.0, 0.0]))
        turn = quat.from_rotvec((pitch[0] - pitch[1])[:, None] * across)
        local[:, foot] = quat.multiply(quat.inverse(above), quat.multiply(turn, turned[:, foot]))
    return clip.with_poses(clip.root_pos, kinematics.unit_and_continuous(local))


def _has_ball(clip: Clip, side: str) -> bool:
    return clip.skeleton.find(f"{side}_toe") is not None


def _floors(clip: Clip, foot: int, height: Floats) -> Floats:
    """How high an ankle stands on the floor below it, (F,): the lower one of where it stood and where it will."""
    frames = np.arange(len(height))
    plants = [] if clip.contacts is None else runs(clip.contacts[:, clip.skeleton.feet.index(foot)])
    if not plants:
        return np.full(len(height), float(height.min()))
    stands = np.array([quantile(height[start:stop], 0.2) for start, stop in plants])
    last = np.searchsorted([start for start, _ in plants], frames, side="right") - 1
    following = np.searchsorted([stop for _, stop in plants], frames, side="right")
    ends = len(plants) - 1
    return np.asarray(np.minimum(stands[np.clip(last, 0, ends)], stands[np.clip(following, 0, ends)]))
