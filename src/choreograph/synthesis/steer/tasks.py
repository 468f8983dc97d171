"""Tasks: what is wanted, as a few numbers that change with every step, what they cost, and how a step changes them.

A task of your own is a class with `dimensions`, `moved` and `cost`, in NumPy; the tasks here have compiled kernels that
do the same faster.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from choreograph.synthesis.steer.basis import Basis, Dimension
from choreograph.synthesis.steer.costs import Ahead, StepCosts, score_steps

if TYPE_CHECKING:
    from choreograph.synthesis.steer.policy import ValueFunction

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

TRIED_BENT = 12
"""Steps that are tried bent, the best unbent ones: with 12 of 110 the choice is the same in 99 of 100 situations."""
DEEP = 6
"""Steps against a line that are weighed by their best next step, the best ones. What is learned of half turns is not
exact, and one step turns by little: a step more tells who begins to turn from who walks on."""


class SteerTask(ABC):
    """What is wanted of a character, apart from how the body moves from step to step.

    Its state is a handful of numbers. Moves are given as the character sees them: by how much it turns (yaw), how far
    it comes to the left (x) and ahead (z).
    """

    name: ClassVar[str]
    held: ClassVar[int] = 0
    """How many of the last dimensions stay as they are from step to step."""
    mirror: ClassVar[tuple[int, ...]] = ()
    """For each dimension -1 if it has the other sign in the mirror image of a situation, else 1; empty where left and
    right are not alike."""
    by_gait: ClassVar[bool] = True
    """Whether a state is worth something else to who stands, walks or runs: then each has a spline of its own."""

    @property
    @abstractmethod
    def dimensions(self) -> tuple[Dimension, ...]:
        """Of the state: bounds, knots, whether it is an angle."""

    @abstractmethod
    def moved(self, state: Array, moves: Array, seconds: Array) -> Array:
        """The states (A, D) to which each of A moves (A, 3), of so many seconds (A,), leads from a state (D,)."""

    @abstractmethod
    def cost(self, state: Array, after: Array, moves: Array, seconds: Array) -> Array:
        """What each of the A moves costs, (A,), given the states before (D,) and after (A, D)."""

    def state(self, place: Array) -> Array | None:
        """The state (D,) of a character at heading, x and z; None where the task does not count.

        Tasks of your own say it here. What the others are about, a line or obstacles, the character knows.
        """
        return None

    @property
    def direction(self) -> float:
        """What a second costs in a direction 1 rad off; 0 where the second number of the state is no such angle."""
        return 0.0

    def beyond(self, after: Array, cuts: Indices, own: Ahead) -> Array:
        """What is known of states (A, D) at cuts (A,) beside what is learned, (A,): what those outside of the bounds
        cost more than those at the bounds do."""
        return np.zeros(len(after))

    def known(self, after: Array) -> NDArray[np.bool_]:
        """In which states (A, D) there is anything left to do, (A,); the others are worth nothing."""
        return np.ones(len(after), bool)

    @property
    def basis(self) -> Basis:
        """Of its value function."""
        return Basis(self.dimensions)

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
        """The best step, its bend and its score, where nothing but this task counts.

        Args:
            cut: The cut that the character is at.
            state: (D,).
            costs: The steps and what they cost by themselves.
            own: What each step costs against gait and speed, and what follows from each cut on.
            value: What ends are worth; None for nothing.
            out: Room for scores, (S, B).
            deep: Whether the next step but one may count too.
        """
        low, high = score_steps(costs, cut, own, out)
        self.add_scores(cut, state, costs, own, value, out)
        # A score that is no number is found, not passed over.
        step, bend = divmod(int(out[low:high].argmin()), out.shape[1])
        return low + step, bend, float(out[low + step, bend])

    def add_scores(
        self, cut: int, state: Array, costs: StepCosts, own: Ahead, value: ValueFunction | None, out: Array
    ) -> None:
        """Add to `out` (S, B) what each step costs and what its end is worth.

        Args:
            cut: The cut that the character is at.
            state: (D,).
            costs: The steps and what they cost by themselves.
            own: What is known of what follows.
            value: What ends are worth; None for nothing.
            out: Only rows of steps that fit are changed.
        """
        steps = costs.steps
        low, high = (int(k) for k in steps.ranges[steps.cut_foot[cut] :][:2])
        bends = steps.moves.shape[1]
        moves = compose(steps.align[cut, steps.start[low:high]][:, None], steps.moves[low:high]).reshape(-1, 3)
        seconds = np.repeat(steps.seconds[low:high], bends)
        after = self.moved(state, moves, seconds)
        scores = self.cost(state, after, moves, seconds)
        if value is not None:
            ends = np.repeat(steps.stop[low:high], bends)
            scores = scores + np.repeat(costs.discount[low:high], bends) * (
                self.known(after) * value.at(after, ends) + self.beyond(after, ends, own)
            )
        out[low:high] += np.asarray(scores).reshape(-1, bends)


def compose(first: Array, then: Array) -> Array:
    """Moves (…, 3) done one after another."""
    cos, sin = np.cos(first[..., 0]), np.sin(first[..., 0])
    x = then[..., 1] * cos + then[..., 2] * sin + first[..., 1]
    z = -then[..., 1] * sin + then[..., 2] * cos + first[..., 2]
    return np.stack(np.broadcast_arrays(first[..., 0] + then[..., 0], x, z), axis=-1)


def wrapped(angle: Array) -> Array:
    """Angles from -π to below π."""
    return np.asarray(angle - 2 * math.pi * np.floor(angle / (2 * math.pi) + 0.5))


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
        if value is None:
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
        if value is None or type(self).cost is not Navigate.cost or type(self).moved is not Navigate.moved:
            return super().best(cut, state, costs, own, value, out)
        from choreograph.synthesis.steer import _compiled

        steps = costs.steps
        return _compiled.navigate_best(  # type: ignore[no-any-return]
            cut, steps.ranges, steps.cut_foot, state, steps.start, steps.stop, steps.align, steps.moves, steps.seconds,
            costs.discount, costs.price, *own, costs.bend, self.weights, value.basis.table, value.splines, value.kinds,
            self.slope, TRIED_BENT, costs.near, DEEP if deep else 1, out.reshape(-1)[: len(steps)],
        )  # fmt: skip


@dataclass(frozen=True)
class Spin(SteerTask):
    """Turn at a rate: its state is how far the body is ahead of where it should face by now, and the rate."""

    name: ClassVar[str] = "spin"
    held: ClassVar[int] = 1
    mirror: ClassVar[tuple[int, ...]] = (-1, -1)

    direction_weight: float = 1.0
    fastest: float = math.pi
    """Bound of the rate, rad/s."""

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        """Angle (rad), rate (rad/s)."""
        return (
            Dimension("angle", -math.pi, math.pi, 12, periodic=True),
            Dimension("rate", -self.fastest, self.fastest, 7),
        )

    def moved(self, state: Array, moves: Array, seconds: Array) -> Array:
        """The angle after each step."""
        angle = wrapped(state[0] + moves[:, 0] - state[1] * seconds)
        return np.stack([angle, np.full(len(moves), state[1])], axis=1)

    def cost(self, state: Array, after: Array, moves: Array, seconds: Array) -> Array:
        """How far the body is off, over the step, at most a right angle: who lags by more may as well begin anew."""
        both = min(abs(state[0]), math.pi / 2) + np.minimum(np.abs(after[:, 0]), math.pi / 2)
        return np.asarray(0.5 * self.direction_weight * seconds * both)


@dataclass(frozen=True)
class Avoid(SteerTask):
    """Keep clear of something that moves: its state is where that is, to the left and ahead, and its velocity."""

    name: ClassVar[str] = "avoid"
    by_gait: ClassVar[bool] = False
    mirror: ClassVar[tuple[int, ...]] = (-1, 1, -1, 1)

    obstacle_weight: float = 30.0
    radius_m: float = 0.6
    """Sum of the radii; obstacles of another size are moved nearer or farther by as much."""
    margin_m: float = 0.5
    """How far from its rim an obstacle begins to cost."""
    turning_weight: float = 0.2
    """Cost of a turn by 1 rad: what makes a small turn early better than a large one late."""
    parts: int = 4
    """Moments of a step at which the distance is taken."""

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        """Place to the left and ahead (m), velocity to the left and ahead (m/s)."""
        return (
            Dimension("left", -3.5, 3.5, 8, warp=1.0),
            Dimension("ahead", -2.5, 6.5, 9),
            Dimension("speed_left", -2.0, 2.0, 5),
            Dimension("speed_ahead", -2.0, 2.0, 5),
        )

    def known(self, after: Array) -> NDArray[np.bool_]:
        """Whether the obstacle is near enough to count."""
        inside = [(one.low <= after[:, k]) & (after[:, k] <= one.high) for k, one in enumerate(self.dimensions[:2])]
        return inside[0] & inside[1]

    def moved(self, state: Array, moves: Array, seconds: Array) -> Array:
        """Where the obstacle is after each step, seen from the character."""
        x, z = state[0] + state[2] * seconds - moves[:, 1], state[1] + state[3] * seconds - moves[:, 2]
        cos, sin = np.cos(moves[:, 0]), np.sin(moves[:, 0])
        vx, vz = state[2], state[3]
        return np.stack([x * cos - z * sin, x * sin + z * cos, vx * cos - vz * sin, vx * sin + vz * cos], axis=1)

    def cost(self, state: Array, after: Array, moves: Array, seconds: Array) -> Array:
        """How near it comes, over the step, and how far the character turns."""
        near = np.zeros(len(moves))
        for k in range(1, self.parts + 1):
            s = k / self.parts
            x = state[0] + s * (state[2] * seconds - moves[:, 1])
            z = state[1] + s * (state[3] * seconds - moves[:, 2])
            near += np.clip(1 - (np.hypot(x, z) - self.radius_m) / self.margin_m, 0.0, 1.3) ** 2
        return np.asarray(
            self.obstacle_weight * seconds * near / self.parts + self.turning_weight * np.abs(moves[:, 0])
        )

    def add_scores(
        self, cut: int, state: Array, costs: StepCosts, own: Ahead, value: ValueFunction | None, out: Array
    ) -> None:
        """The same, compiled."""
        if value is None:
            super().add_scores(cut, state, costs, own, value, out)
            return
        from choreograph.synthesis.steer import _compiled

        steps = costs.steps
        low, high = steps.ranges[steps.cut_foot[cut] :][:2]
        _compiled.avoid_scores(
            cut, low, high, state, steps.start, steps.stop, steps.align, steps.moves, steps.seconds, costs.discount,
            self._numbers(), value.basis.table, value.splines, value.kinds, out,
        )  # fmt: skip

    def _numbers(self) -> Array:
        return np.array([self.obstacle_weight, self.radius_m, self.margin_m, self.turning_weight, self.parts], float)

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
        if value is None:
            return super().best(cut, state, costs, own, value, out)
        from choreograph.synthesis.steer import _compiled

        steps = costs.steps
        low, high = steps.ranges[steps.cut_foot[cut] :][:2]
        return _compiled.avoid_best(  # type: ignore[no-any-return]
            cut, low, high, state, steps.start, steps.stop, steps.align, steps.moves, steps.seconds, costs.discount,
            costs.price, own.goal, own.cuts, costs.bend, self._numbers(), value.basis.table, value.splines, value.kinds,
            TRIED_BENT, out.reshape(-1)[: len(steps)],
        )  # fmt: skip
