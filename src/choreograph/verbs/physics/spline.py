"""Cubic B-splines with a knot at each node of a grid; nodes need not be equally far apart."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from choreograph.base.arrays import Floats


def even_grid(count: int, h: float) -> Floats:
    """Times (K,) of nodes h seconds apart."""
    return np.arange(count, dtype=float) * h


@dataclass(frozen=True, eq=False)
class NodeGrid:
    """Nodes of a spline; a spline on K of them has K + 2 coefficients.

    >>> grid = NodeGrid(np.array([0.0, 0.1, 0.3, 0.4]))
    >>> values = np.array([[0.0], [1.0], [0.5], [0.0]])
    >>> again, _, _ = grid.at(grid.through(values), grid.times)
    >>> bool(np.allclose(again, values))
    True
    """

    times: Floats
    """(K,), seconds, increasing."""

    @cached_property
    def knots(self) -> Floats:
        """With three more at both ends, as far apart as the nodes there, (K + 6,)."""
        t = self.times
        before, after = t[1] - t[0], t[-1] - t[-2]
        more = np.arange(1, 4)
        return np.concatenate([t[0] - before * more[::-1], t, t[-1] + after * more])

    @cached_property
    def spans(self) -> Floats:
        """The time that each node stands for, (K,), seconds."""
        gaps = np.diff(self.times)
        padded = np.concatenate([gaps[:1], gaps, gaps[-1:]])
        return np.asarray(0.5 * (padded[:-1] + padded[1:]))

    @cached_property
    def stencils(self) -> Floats:
        """Value and two derivatives at each node as sums over its three coefficients, (K, 3, 3)."""
        t, count = self.knots, len(self.times)
        k = np.arange(count) + 3
        here, one, two, back, far = t[k], t[k + 1], t[k + 2], t[k - 1], t[k - 2]
        out = np.zeros((count, 3, 3))
        wide = one - back
        out[:, 0, 0] = (one - here) ** 2 / (wide * (one - far))
        out[:, 0, 2] = (here - back) ** 2 / (wide * (two - back))
        out[:, 0, 1] = 1 - out[:, 0, 0] - out[:, 0, 2]
        left, right = 3 / (one - far), 3 / (two - back)
        early, late = (one - here) / wide, (here - back) / wide
        out[:, 1] = np.stack([-left * early, left * early - right * late, right * late], axis=1)
        out[:, 2] = (2 / wide)[:, None] * np.stack([left, -left - right, right], axis=1)
        return out

    def through(self, values: Floats, bends: tuple[Floats, Floats] | None = None) -> Floats:
        """Coefficients (K + 2, …) of the spline through values (K, …).

        Args:
            values: At the nodes.
            bends: Second derivatives at both ends, each (…); none without them.
        """
        from scipy.linalg import solve_banded

        count = len(values)
        if count == 1:
            return np.repeat(values, 3, axis=0)
        st, band = self.stencils, np.zeros((5, count + 2))
        for c in range(3):
            band[3 - c, c : c + count] = st[:, 0, c]  # row k + 1, column k + c
            band[2 - c, c] = st[0, 2, c]
            band[4 - c, count - 1 + c] = st[-1, 2, c]
        right = np.zeros((count + 2, *values.shape[1:]))
        right[1:-1] = values
        if bends is not None:
            right[0], right[-1] = bends
        return np.asarray(solve_banded((2, 2), band, right))

    def at(self, coefficients: Floats, times: Floats) -> tuple[Floats, Floats, Floats]:
        """Value and two derivatives of a spline at times (F,) from the first node, each (F, …)."""
        from scipy.interpolate import BSpline

        spline = BSpline(self.knots, coefficients, 3)
        inside = np.clip(times, self.times[0], self.times[-1])
        return spline(inside), spline(inside, 1), spline(inside, 2)

    def finer(self, per_gap: int) -> Floats:
        """Times of a grid that many times as fine, (per_gap · (K − 1) + 1,)."""
        at = np.arange((len(self.times) - 1) * per_gap + 1) / per_gap
        return np.interp(at, np.arange(len(self.times)), self.times)

    def carried(self, other: NodeGrid, coefficients: Floats) -> Floats:
        """The spline of another grid as one of this grid's: the same one, if this has all of its nodes.

        Times are shares of the whole.
        """
        scale = float(other.times[-1]) / float(self.times[-1])
        value, _, bend = other.at(coefficients, self.times * scale)
        return self.through(value, (bend[0] * scale**2, bend[-1] * scale**2))
