"""The space of examples: principal components of their joint angles, the root left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from choreograph.base.arrays import Floats, Ints32
from choreograph.dynamics.dofs import Dofs
from choreograph.features.pose_space import PoseSpace, fit_pose_space
from choreograph.motion.clip import Clip

KEEP = 0.9
"""Share of the examples' variance that the space holds (the paper's equation 2)."""
LEAST = 6
"""Dimensions at least: examples that mostly stand would leave too few for what they do besides."""
_LEAST_M, _MOST_M = 0.02, 0.2
"""Standard deviation of the root's height at least, and from which range on it says nothing: who jumps or crouches."""
_RATE_HZ = 30.0
_LEG_ROLES = ("upper_leg", "lower_leg", "foot", "toe")
_ARM_ROLES = ("upper_arm", "forearm", "hand")


@dataclass(frozen=True, eq=False)
class PoseBasis:
    """A low-dimensional space of a body's joint angles."""

    dofs: Dofs
    space: PoseSpace
    legs: Ints32
    """Degrees of freedom of the legs, and of arms that carry, which leave the space where contacts ask for it."""
    height: tuple[float, float] = (0.0, np.inf)
    """Of the root above the floor in the examples, mean and standard deviation, metres; infinite where they jump."""
    off_deg: float = 0.0
    """How far the examples are from their own space, degrees per joint axis."""

    @property
    def columns(self) -> Floats:
        """How coordinates depend on the space's, in standard deviations, (n, d)."""
        out = np.zeros((len(self.dofs), self.space.dimensions))
        out[6:] = self.space.axes.T * np.sqrt(self.space.variances)
        return out

    @property
    def origin(self) -> Floats:
        """Coordinates at its middle, (n,); zero for the root."""
        return np.concatenate([np.zeros(6), self.space.mean])

    @property
    def picks(self) -> Ints32:
        """Coordinates that the rest of a state adds to: root, legs."""
        return np.concatenate([np.arange(6), self.legs]).astype(np.int32)

    def state(self, q: Floats) -> Floats:
        """States (..., ny) of coordinates (..., n): nearest in the space, legs exactly as they are."""
        inside = self.space.project(q[..., 6:]) / np.sqrt(self.space.variances)
        near = self.origin + inside @ self.columns.T
        legs = q[..., self.legs] - near[..., self.legs]
        return np.concatenate([inside, q[..., :6], legs], axis=-1)

    def coordinates(self, y: Floats) -> Floats:
        """Coordinates (..., n) of states (..., ny)."""
        d = self.space.dimensions
        out = self.origin + y[..., :d] @ self.columns.T
        out[..., self.picks] += y[..., d:]
        return np.asarray(out)

    def error_deg(self, q: Floats) -> float:
        """Mean distance of coordinates (F, n) from the space, degrees per joint axis (root mean square)."""
        return _error_deg(self.space, q[:, 6:])


def make_basis(
    dofs: Dofs, examples: Sequence[Clip], keep: float | int = KEEP, *, arms: bool = False, level: float = 0.0
) -> PoseBasis:
    """The space of some examples.

    Args:
        dofs: Of the body that they all have.
        examples: Motions of the behaviour.
        keep: Share of the variance, or the number of dimensions.
        arms: Whether arms carry too.
        level: How high above the floor this body's feet are where they stand, metres.
    """
    limbs = np.concatenate([leg_dofs(dofs), arm_dofs(dofs)]).astype(np.int32) if arms else leg_dofs(dofs)
    rows = _rows(dofs, examples)
    space = fit_pose_space(rows, keep)
    if isinstance(keep, float) and space.dimensions < LEAST:
        space = fit_pose_space(rows, LEAST)
    heights = level + np.concatenate([one.root_pos[:, 1] - feet_level(one) for one in examples])
    spread = max(float(heights.std()), _LEAST_M) if np.ptp(heights) < _MOST_M else np.inf
    height = (float(heights.mean()), spread)
    return PoseBasis(dofs, space, limbs, height, _error_deg(space, rows))


def _error_deg(space: PoseSpace, angles: Floats) -> float:
    off = angles - space.lift(space.project(angles))
    return float(np.degrees(np.sqrt((off**2).mean())))


def feet_level(clip: Clip) -> float:
    """How high the joints of a motion's feet are where they stand, metres."""
    return float(np.percentile(clip.global_positions()[:, clip.skeleton.feet, 1].min(axis=1), 10))


def _rows(dofs: Dofs, examples: Sequence[Clip]) -> Floats:
    return np.concatenate([dofs.angles(clip.resampled(min(clip.fps, _RATE_HZ)))[:, 6:] for clip in examples])


def leg_dofs(dofs: Dofs, side: str = "") -> Ints32:
    """Degrees of freedom of the legs, or of one."""
    return _limb_dofs(dofs, side, _LEG_ROLES)


def arm_dofs(dofs: Dofs, side: str = "") -> Ints32:
    """Degrees of freedom of the arms, or of one."""
    return _limb_dofs(dofs, side, _ARM_ROLES)


def _limb_dofs(dofs: Dofs, side: str, wanted: tuple[str, ...]) -> Ints32:
    roles = [dofs.skeleton.roles[int(j)] for j in dofs.joints]
    mine = [k for k, role in enumerate(roles) if k >= 6 and role.partition("_")[2] in wanted and role.startswith(side)]
    return np.array(mine, np.int32)
