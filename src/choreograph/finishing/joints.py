"""Hands and feet brought to where they should be at given times: what finishing moved is made good by arms and legs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Floats, Ints, seal
from choreograph.finishing.exact import room_around
from choreograph.motion import ik
from choreograph.motion.clip import Clip
from choreograph.motion.skeleton import Skeleton

_FADE_S = 0.3
"""Seconds before and behind a moment over which a limb is led to its place and back."""
_MOST_M = {"arm": 0.3, "leg": 0.12}
"""How far a limb is moved at most: what is farther shows, and stays a problem."""
_LIMBS = {
    "arm": ("upper_arm", "forearm", "hand", ("hand", "fingers")),
    "leg": ("upper_leg", "lower_leg", "foot", ("foot", "toe")),
}


class JointCorrection(Protocol):
    """Anything that says where a joint is to be when, such as a request's joint constraint."""

    @property
    def at_s(self) -> float:
        """When, seconds."""

    @property
    def joint(self) -> str:
        """Its name or role."""

    @property
    def position(self) -> tuple[float | None, float | None, float | None]:
        """x, y and z, metres; None for any."""


def meet_joints(clip: Clip, goals: Sequence[JointCorrection], exact: Ints) -> Clip:
    """The motion with hands and feet at their places at given times, as far as arms and legs reach.

    Args:
        clip: The motion.
        goals: Where joints are to be when; those that are neither of a hand nor of a foot are left alone.
        exact: Frames that are to stay as they are.
    """
    for number, goal in enumerate(goals):
        limb = _limb_of(clip.skeleton, goal.joint)
        if limb is None or all(value is None for value in goal.position):
            continue
        kind, bones, joint = limb
        frame = min(round(goal.at_s * clip.fps), len(clip) - 1)
        if frame in exact:
            continue
        pos = clip.global_positions()
        here = pos[frame, joint]
        missing = np.array([0.0 if v is None else v - h for v, h in zip(goal.position, here, strict=True)])
        if not 1e-4 < np.linalg.norm(missing) <= _MOST_M[kind]:
            continue
        others = [
            other.at_s
            for k, other in enumerate(goals)
            if k != number and _limb_of(clip.skeleton, other.joint) is not None and other.at_s != goal.at_s
        ]
        before, behind = room_around(frame / clip.fps, np.array([*(exact / clip.fps), *others]), _FADE_S)
        away = (np.arange(len(clip)) - frame) / clip.fps
        share = np.clip(np.abs(away) / np.maximum(np.where(away < 0, before, behind), 1e-9), 0.0, 1.0)
        fade = (1 - share) ** 2 * (1 + 2 * share)
        rows = np.flatnonzero(fade > 0)
        clip = _moved(clip, bones, pos, rows, fade[rows, None] * missing)
    return clip


def _moved(clip: Clip, bones: tuple[int, int, int], pos: Floats, rows: Ints, change: Floats) -> Clip:
    """The motion with the end of a limb moved in some frames; hand or foot keep the way they are turned."""
    rot, local = clip.global_rotations()[rows], np.array(clip.local_rot)
    upper, middle, end = (pos[rows, bone] for bone in bones)
    axis = ik.hinge_axes(upper, middle, end, rot[:, bones[0]])
    turns = ik.solve_limb(upper, middle, end, axis, end + change, soft_share=1.0)
    part = local[rows]
    ik.write_limb(part, rot, clip.skeleton.parents, bones, turns, rot[:, bones[2]])
    local[rows] = part
    return replace(clip, local_rot=seal(quat.make_continuous(local)))


def _limb_of(skeleton: Skeleton, name: str) -> tuple[str, tuple[int, int, int], int] | None:
    """The limb that a joint is the end of: its kind, its three joints, and the joint itself; None for any other."""
    joint = skeleton.names.index(name) if name in skeleton.names else skeleton.find(name)
    if joint is None:
        return None
    for kind, (upper, lower, end, tips) in _LIMBS.items():
        for side in ("left", "right"):
            if joint in (skeleton.find(f"{side}_{tip}") for tip in tips):
                bones = [skeleton.find(f"{side}_{part}") for part in (upper, lower, end)]
                if None not in bones:
                    return kind, tuple(bones), joint  # type: ignore[return-value]
    return None
