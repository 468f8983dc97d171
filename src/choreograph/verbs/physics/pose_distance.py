"""How like the recordings a solved motion bends its legs: mechanics alone would let it run in a squat."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.contract.problem import Problem, ProblemKind
from choreograph.motion.clip import Clip

UNLIKE_DEG = 25.0
"""Farther from all recorded poses, legs are bent as nobody's are: jumps of asked heights and turns stay below 20°."""
_PARTS = tuple(f"{side}_{part}" for side in ("left", "right") for part in ("upper_leg", "lower_leg"))
_RATE_HZ = 30.0


def legs_off_deg(clip: Clip, recorded: Sequence[Clip]) -> float:
    """How far hips and knees are bent from the nearest recorded pose: root mean square, 95th percentile, degrees.

    Clips of other bodies do not count; 0 where none is left.
    """
    joints = [joint for part in _PARTS if (joint := clip.skeleton.find(part)) is not None]
    poses = [_some(one)[:, joints] for one in recorded if one.skeleton.same_joints(clip.skeleton)]
    if not joints or not poses:
        return 0.0
    known = np.concatenate(poses)
    nearest = [_apart(pose, known).min() for pose in _some(clip)[:, joints]]
    return float(np.degrees(np.percentile(nearest, 95)))


def unlike_problems(off_deg: float) -> Iterator[Problem]:
    """That legs are bent as they are in no recording, if they are."""
    if off_deg > UNLIKE_DEG:
        facts = {"asked": UNLIKE_DEG, "got": off_deg, "tolerance": UNLIKE_DEG, "unit": "°"}
        yield Problem.of(ProblemKind.POSE_UNNATURAL, "weights.prior", more="Raise the weight (prior).", **facts)


def _some(clip: Clip) -> Floats:
    """Rotations of some of a clip's frames, (n, J, 4)."""
    return np.asarray(clip.local_rot[:: max(1, round(clip.fps / _RATE_HZ))])


def _apart(pose: Floats, known: Floats) -> Floats:
    """Angle between rotations, root mean square over joints, of a pose (J, 4) from each of others (n, J, 4)."""
    same = np.abs(np.einsum("jk,njk->nj", pose, known))
    return np.sqrt(np.square(2 * np.arccos(np.clip(same, 0.0, 1.0))).mean(axis=1))
