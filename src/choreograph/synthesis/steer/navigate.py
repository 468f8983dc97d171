"""Keeping to a line: the task that is asked for most, with a look at the step after the next."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from choreograph.synthesis.steer.basis import Dimension
from choreograph.synthesis.steer.costs import Ahead, StepCosts
from choreograph.synthesis.steer.tasks import TRIED_BENT, Choices, SteerTask, wrapped

if TYPE_CHECKING:
    from choreograph.synthesis.steer.policy import ValueFunction

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

DEEP = 6
"""Steps that are weighed by their best next step, the best ones. What is learned of half turns is not exact, and one
step turns by little: a step more tells who begins to turn from who walks on."""


@dataclass(frozen=True)
class Navigate(SteerTask):
    """Keep to a line: its state is the offset to the left of it, the angle of travel against it, and its curvature."""

    name: ClassVar[str] = "navigate"
    held: ClassVar[int] = 1
    mirror: ClassVar[tuple[int, ...]] = (-1, -1, -1)

    deviation_weight: float = 1.0
    direction_weight: float = 1.0
    horizon_s: float = 4.0
    offset_m: float = 4.0
    """Bound of the offset."""
    curvature: float = 1.0
    """Bound of the curvature, 1/m."""

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        """Offset (m), angle (rad), curvature (1/m)."""
        return (
            Dimension("offset", -self.offset_m, self.offset_m, 9, warp=0.4),
            Dimension("angle", -math.pi, math.pi, 16, periodic=True, warp=0.3),
            Dimension("curvature", -self.curvature, self.curvature, 5),
        )

    @property
    def slope(self) -> float:
        """What each metre beyond the bound of the offset costs."""
        return self.deviation_weight * self.horizon_s

    @property
    def weights(self) -> Array:
        """Of deviation and direction, (2,)."""
        return np.array([self.deviation_weight, self.direction_weight])

    @property
    def direction(self) -> float:
        """What a second costs in a direction 1 rad off."""
        return self.direction_weight

    @property
    def _changed(self) -> bool:
        """Whether someone's own task says otherwise what steps cost or where they lead: kernels do not know that."""
        return type(self).cost is not Navigate.cost or type(self).moved is not Navigate.moved

    def beyond(self, after: Array, cuts: Indices, own: Ahead) -> Array:
        """What no spline tells, (A,): offsets beyond the bound, as if each metre stayed for as long as the horizon is;
        and turning back, which has a ridge at half a turn, where left and right are as good, and depends on whether
        the recording turns at that cut."""
        offsets = self.slope * np.maximum(np.abs(after[:, 0]) - self.offset_m, 0.0)
        return np.asarray(offsets + own.turning_at(cuts, after[:, 1]))

    def moved(self, state: Array, moves: Array, seconds: Array) -> Array:
        """Offset and angle to a line of constant curvature."""
        offset, angle, curvature = state
        yaw, x, z = moves.T
        cos, sin = math.cos(angle), math.sin(angle)
        left, ahead = offset + x * cos + z * sin, -x * sin + z * cos
        turned = np.zeros(len(moves))
        if abs(curvature) >= 1e-4:
            side = math.copysign(1.0, curvature)
            across = 1 / curvature - left
            turned = side * np.arctan2(ahead, side * across)
            left = side * (abs(1 / curvature) - np.hypot(across, ahead))
        return np.stack([left, wrapped(angle + yaw - turned), np.full(len(moves), curvature)], axis=1)

    def _rate(self, offset: Array, angle: Array) -> Array:
        return self.deviation_weight * (np.sqrt(offset**2 + 0.0025) - 0.05) + self.direction_weight * np.abs(angle)

    def cost(self, state: Array, after: Array, moves: Array, seconds: Array) -> Array:
        """Deviation and direction, over the step."""
        both = self._rate(state[0], state[1]) + self._rate(after[:, 0], after[:, 1])
        return np.asarray(0.5 * seconds * both)

    def add_scores(
        self, cut: int, state: Array, costs: StepCosts, own: Ahead, value: ValueFunction | None, out: Array
    ) -> None:
        """The same, compiled."""
        if value is None or self._changed:
            super().add_scores(cut, state, costs, own, value, out)
            return
        from choreograph.synthesis.steer import _compiled

        steps = costs.steps
        low, high = steps.ranges[steps.cut_foot[cut] :][:2]
        coefficients, table = value.held_at(state[2:])
        _compiled.navigate_scores(
            cut, low, high, state, steps.start, steps.stop, steps.align, steps.moves, steps.seconds, costs.discount,
            own.turning, self.weights, table, coefficients, value.kinds, self.slope, out,
        )  # fmt: skip

    def best(
        self,
        cut: int,
        state: Array,
        costs: StepCosts,
        own: Ahead,
        value: ValueFunction | None,
        out: Array,
        *,
        deep: bool = True,
    ) -> tuple[int, int, float]:
        """The same, compiled, with only the best steps tried bent."""
        if value is None or self._changed:
            return super().best(cut, state, costs, own, value, out)
        from choreograph.synthesis.steer import _compiled

        steps = costs.steps
        return _compiled.navigate_best(  # type: ignore[no-any-return]
            cut, steps.ranges, steps.cut_foot, state, steps.start, steps.stop, steps.align, steps.moves, steps.seconds,
            costs.discount, costs.price, *own, costs.bend, self.weights, value.basis.table, value.splines, value.kinds,
            self.slope, costs.reach, TRIED_BENT, costs.near, costs.near_moves,
            DEEP if deep else 1,
        )  # fmt: skip

    def choices(
        self, cuts: Indices, states: Array, costs: StepCosts, own: Ahead, value: ValueFunction
    ) -> Choices | None:
        """The same, compiled."""
        if self._changed:
            return None
        from choreograph.synthesis.steer import _compiled

        steps, made = costs.steps, Choices(np.empty(len(cuts), np.int64), np.empty(len(cuts)), np.empty(states.shape))
        _compiled.navigate_choices(
            cuts, states, steps.ranges, steps.cut_foot, steps.start, steps.stop, steps.align, steps.moves,
            steps.seconds, costs.discount, costs.price, *own, costs.bend, self.weights, value.basis.table,
            value.splines, value.kinds, self.slope, costs.reach, TRIED_BENT, costs.near, costs.near_moves,
            *made,
        )  # fmt: skip
        return made
