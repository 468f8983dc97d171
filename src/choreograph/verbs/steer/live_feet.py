"""Feet that stay where they stand while characters are shown, frame by frame, without a look ahead."""

from __future__ import annotations

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Flags, Floats, Ints
from choreograph.finishing.footskate import find_legs
from choreograph.motion import kinematics
from choreograph.verbs.steer.frame_pool import FramePool

_MEMORY = 15
"""Numbers remembered of a leg, as in `_compiled_clean`."""


class LiveFeet:
    """The feet of a crowd."""

    def __init__(self, pool: FramePool) -> None:
        """Begin with nobody.

        Args:
            pool: The recordings' frames: says how knees bend.
        """
        skeleton = pool.skeleton
        legs = find_legs(skeleton)
        self._legs = np.array(
            [
                (leg.hip, leg.knee, leg.ankle, -1 if leg.toe is None else leg.toe, leg.heel_column, leg.toe_column)
                for leg in legs
            ],
            np.int64,
        )
        self._parents, self._offsets = skeleton.parents.astype(np.int64), np.array(skeleton.offsets)
        self._hinges = _find_hinges(pool, self._legs)
        self._memory, self._shifts = np.zeros((0, len(legs), _MEMORY)), np.zeros((0, 3))

    def add(self) -> None:
        """One more character."""
        self._memory = np.concatenate([self._memory, np.zeros((1, *self._memory.shape[1:]))])
        self._shifts = np.concatenate([self._shifts, np.zeros((1, 3))])

    def clean(self, root: Floats, rot: Floats, held: Flags, dt: float) -> None:
        """Keep feet that stand where they are, in place.

        Args:
            root: Root positions, (N, 3), metres; changed.
            rot: Local rotations, (N, J, 4); changed.
            held: Which foot joints stand, (N, feet).
            dt: Seconds since the last frame.
        """
        from choreograph.verbs.steer import _compiled_clean

        _compiled_clean.clean(
            root, rot, held, self._parents, self._offsets, self._legs, self._hinges, self._memory, self._shifts, dt
        )


def _find_hinges(pool: FramePool, legs: Ints) -> Floats:
    """The axis of each knee in the thigh's frame, (L, 3), unit: a positive turn of the shin about it bends the leg."""
    some = slice(None, None, max(1, len(pool.root) // 2000))
    pos, rot = kinematics.forward(pool.root[some], pool.rot[some], pool.skeleton.offsets[None], pool.skeleton.parents)
    axes = np.empty((len(legs), 3))
    for m, (hip, knee, ankle, *_) in enumerate(legs):
        thigh, shin = pos[:, knee] - pos[:, hip], pos[:, ankle] - pos[:, knee]
        size = np.linalg.norm(thigh, axis=1) * np.linalg.norm(shin, axis=1)
        normal = np.cross(thigh, shin) / np.maximum(size, 1e-12)[:, None]
        own = quat.rotate(quat.inverse(rot[:, hip]), normal).mean(axis=0)
        own[0] += 1e-6
        axes[m] = own / np.linalg.norm(own)
    return axes
