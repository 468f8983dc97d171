"""Feet on the floor, and hands: stances of a motion, where each foot stands flat, and limbs that reach there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Flags, Floats, Ints32
from choreograph.dynamics.contacts import GROUPS, PARTS, ContactPoints
from choreograph.dynamics.dofs import Dofs, tree_of
from choreograph.motion.contacts import runs
from choreograph.verbs.physics.pose_basis import arm_dofs, leg_dofs

_STIFF = 30.0
"""Radians that a leg rather bends than its foot is a metre off its place."""
_ROOT_SHARE = 0.15
"""Metres by which the root rather shifts than legs bend by a radian, where a straight leg is too short or too long."""


@dataclass(frozen=True)
class Stance:
    """A foot or hand that carries, in frames or nodes [start, stop)."""

    side: int
    """0 left foot, 1 right, 2 left hand, 3 right."""
    start: int
    stop: int


LIMBS = ("left foot", "right foot", "left hand", "right hand")


def limb_groups(side: int) -> slice:
    """Groups of contact points that a limb has."""
    if side < 2:
        return slice(len(PARTS) * side, len(PARTS) * (side + 1))
    return slice(len(GROUPS) + side - 2, len(GROUPS) + side - 1)


def find_stances(flags: Flags) -> list[Stance]:
    """The stances of feet and hands, by any part that is down, (F, 6) or (F, 8), in the order in which they begin."""
    sides = range(2 if flags.shape[1] == len(GROUPS) else 4)
    down = [np.asarray(flags[:, limb_groups(side)].any(axis=1)) for side in sides]
    stances = [Stance(side, start, stop) for side in sides for start, stop in runs(down[side])]
    return sorted(stances, key=lambda one: (one.start, one.side))


class Legs:
    """The legs of a body, and arms that carry: where its contact points are, and poses that put them somewhere."""

    def __init__(self, dofs: Dofs, points: ContactPoints) -> None:
        """Find the degrees of freedom that carry the points.

        Args:
            dofs: The body's.
            points: Of the feet, four for each, and of hands that carry, one for each.
        """
        self.dofs, self.points = dofs, points
        self.holders = np.array(dofs.holders[points.joints], np.int32)
        seats, turns = dofs.seats[points.joints], dofs.seat_rots[points.joints]
        self.offsets = np.asarray(seats + quat.rotate(turns, points.offsets))
        self.sides = [np.flatnonzero(points.groups // len(PARTS) == side) for side in (0, 1)]
        self.legs = [leg_dofs(dofs, side) for side in ("left_", "right_")]
        if points.groups.max() >= len(GROUPS):
            self.sides = [*self.sides, *(np.flatnonzero(points.groups == len(GROUPS) + hand) for hand in (0, 1))]
            self.legs += [arm_dofs(dofs, side) for side in ("left_", "right_")]
        self._tree = tree_of(dofs)

    def positions(self, q: Floats) -> Floats:
        """Contact points (F, P, 3) at coordinates (F, n)."""
        from choreograph.dynamics import _compiled

        return np.asarray(_compiled.points(self._tree, np.ascontiguousarray(q), self.holders, self.offsets))

    def flat(self, q: Floats, side: int, level: float) -> Floats:
        """Where a foot's points (4, 3) are when the leg bends as little as can be until all are on a level."""
        mine = self.sides[side]

        def off(points: Floats) -> Floats:
            return np.asarray(points[..., mine, 1] - level)

        bent, _ = self._solve(q, self.legs[side], off)
        spot, was = self.positions(np.stack([bent, q]))[:, mine]
        spot[:, [0, 2]] += (was - spot)[:, [0, 2]].mean(axis=0)
        spot[:, 1] = level
        return np.asarray(spot)

    def reach(self, q: Floats, held: Flags, targets: Floats) -> tuple[Floats, float]:
        """The pose (n,) with its legs bent so that held points (P,) are at targets (P, 3); and how far they still are.

        The distance is in metres, the largest of any point.
        """
        if not held.any():
            return np.array(q), 0.0

        def off(points: Floats) -> Floats:
            return np.asarray((points - targets)[..., held, :].reshape(*points.shape[:-2], -1))

        bent, left = self._solve(q, np.concatenate([np.arange(3), *self.legs]).astype(np.int32), off)
        return bent, float(np.abs(left).max())

    def near(self, q: Floats, held: Flags, targets: Floats) -> Floats:
        """A pose (n,) near q whose held points are about at their targets: a compromise that never strays far."""
        free = np.concatenate([np.arange(3), *self.legs]).astype(np.int32)
        scale = np.where(free < 3, 0.5 * _ROOT_SHARE, 1.0)

        def off(points: Floats) -> Floats:
            return np.asarray((points - targets)[..., held, :].reshape(*points.shape[:-2], -1))

        at = np.array(q)
        for _ in range(7):
            left, jac = self._linear(at, free, off)
            # Where all go in one step: points to their targets, and coordinates back to q as far as that allows.
            arms = _STIFF * jac * scale
            right = arms.T @ (_STIFF * (jac @ at[free] - left)) + q[free] / scale
            aim = np.linalg.solve(arms.T @ arms + np.eye(len(free)), right)
            move = aim * scale - at[free]
            at[free] += move * min(1.0, 0.6 / max(float(np.abs(move).max()), 1e-12))
        return at

    def _linear(self, q: Floats, free: Ints32, off: Callable[[Floats], Floats]) -> tuple[Floats, Floats]:
        """What is off at q, and how that changes with the free coordinates."""
        from choreograph.dynamics import _compiled

        places, moves = _compiled.point_motions(self._tree, q, self.holders, self.offsets)
        left = off(places)
        return left, (off(places + moves[free]) - left).T  # `off` is linear

    def _solve(self, q: Floats, free: Ints32, off: Callable[[Floats], Floats]) -> tuple[Floats, Floats]:
        """Gauss–Newton: the nearest pose at which `off` vanishes, as far as it can."""
        q = np.array(q)
        scale = np.where(free < 3, _ROOT_SHARE, 1.0)
        for _ in range(40):
            left, jac = self._linear(q, free, off)
            if float(np.abs(left).max(initial=0.0)) < 1e-10:
                break
            move, *_ = np.linalg.lstsq(jac * scale, left, rcond=1e-4)
            move *= scale
            q[free] -= move * min(1.0, 0.3 / max(float(np.abs(move).max(initial=0.0)), 1e-12))
        return q, off(self.positions(q[None])[0])
