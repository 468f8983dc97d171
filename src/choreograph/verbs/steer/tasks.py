"""Tasks: what is wanted, as a few numbers that change with every step, what they cost, and how a step changes them.

A task of your own is a class with `dimensions`, `moved` and `cost`, in NumPy; the tasks here have compiled kernels that
do the same faster.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from choreograph.base.arrays import Flags, Floats, Ints
from choreograph.base.floor import compose
from choreograph.verbs.steer.basis import Dimension, SplineBasis
from choreograph.verbs.steer.costs import Ahead, StepCosts, score_steps

if TYPE_CHECKING:
    from choreograph.verbs.steer.policy import ValueFunction


TRIED_BENT = 12
"""Steps that are tried bent, the best unbent ones: with 12 of 110 the choice is the same in 99 of 100 situations."""


class Choices(NamedTuple):
    """The best step of each of M samples."""

    steps: Ints
    """(M,)."""
    spent: Floats
    """What each costs by itself, (M,)."""
    after: Floats
    """The states that they lead to, (M, D)."""


class SteerTask(ABC):
    """What is wanted of a character, apart from how the body moves from step to step.

    Its state is a handful of numbers. Moves are given as the character sees them: by how much it turns (yaw), how far
    it comes to the left (x) and ahead (z).
    """

    name: ClassVar[str]
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
    def moved(self, state: Floats, moves: Floats, seconds: Floats) -> Floats:
        """The states (A, D) to which each of A moves (A, 3), of so many seconds (A,), leads from a state (D,)."""

    @abstractmethod
    def cost(self, state: Floats, after: Floats, moves: Floats, seconds: Floats) -> Floats:
        """What each of the A moves costs, (A,), given the states before (D,) and after (A, D)."""

    def state(self, place: Floats) -> Floats | None:
        """The state (D,) of a character at heading, x and z; None where the task does not count.

        Tasks of your own say it here. What the others are about, a line or obstacles, the character knows.
        """
        return None

    @property
    def direction(self) -> float:
        """What a second costs in a direction 1 rad off; 0 where the second number of the state is no such angle."""
        return 0.0

    def beyond(self, after: Floats, cuts: Ints, own: Ahead) -> Floats:
        """What is known of states (A, D) at cuts (A,) beside what is learned, (A,): what those outside of the bounds
        cost more than those at the bounds do."""
        return np.zeros(len(after))

    def known(self, after: Floats) -> Flags:
        """In which states (A, D) there is anything left to do, (A,); the others are worth nothing."""
        return np.ones(len(after), bool)

    @property
    def basis(self) -> SplineBasis:
        """Of its value function."""
        return SplineBasis(self.dimensions)

    def best(
        self,
        cut: int,
        state: Floats,
        costs: StepCosts,
        own: Ahead,
        value: ValueFunction | None,
        out: Floats,
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

    def choices(self, cuts: Ints, states: Floats, costs: StepCosts, own: Ahead, value: ValueFunction) -> Choices | None:
        """What `best` says, no step further, of many samples at once; None where they have to be asked for one by one.

        Args:
            cuts: (M,).
            states: (M, D).
            costs: The steps and what they cost by themselves.
            own: What each step costs against gait and speed, and what follows from each cut on.
            value: What ends are worth.
        """
        return None

    def add_scores(
        self, cut: int, state: Floats, costs: StepCosts, own: Ahead, value: ValueFunction | None, out: Floats
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


class CompiledTask(SteerTask):
    """A task with kernels that do what `moved` and `cost` say, and choose steps by it, faster."""

    kernels: ClassVar[str]
    """Module of its kernels `scores`, `best` and `choices`."""
    deep: ClassVar[int] = 1
    """Steps that are weighed by their best next step, the best ones."""

    @property
    @abstractmethod
    def numbers(self) -> Floats:
        """What its kernels have to know of it."""

    def add_scores(
        self, cut: int, state: Floats, costs: StepCosts, own: Ahead, value: ValueFunction | None, out: Floats
    ) -> None:
        """The same, compiled."""
        kernels = _find_kernels(type(self))
        if value is None or kernels is None:
            super().add_scores(cut, state, costs, own, value, out)
        else:
            kernels.scores(cut, state, costs.table, own, value.worth, self.numbers, out)

    def best(
        self,
        cut: int,
        state: Floats,
        costs: StepCosts,
        own: Ahead,
        value: ValueFunction | None,
        out: Floats,
        *,
        deep: bool = True,
    ) -> tuple[int, int, float]:
        """The same, compiled, with only the best steps tried bent."""
        kernels = _find_kernels(type(self))
        if value is None or kernels is None:
            return super().best(cut, state, costs, own, value, out)
        most = self.deep if deep else 1
        return kernels.best(cut, state, costs.table, own, value.worth, self.numbers, TRIED_BENT, most)  # type: ignore[no-any-return]

    def choices(self, cuts: Ints, states: Floats, costs: StepCosts, own: Ahead, value: ValueFunction) -> Choices | None:
        """The same, compiled."""
        kernels = _find_kernels(type(self))
        if kernels is None:
            return None
        choices = Choices(np.empty(len(cuts), np.int64), np.empty(len(cuts)), np.empty(states.shape))
        kernels.choices(cuts, states, costs.table, own, value.worth, self.numbers, TRIED_BENT, *choices)
        return choices


@cache
def _find_kernels(task: type[CompiledTask]) -> Any:
    """The kernels of a task; None where someone's own says otherwise what steps cost or where they lead."""
    home = next(one for one in task.__mro__ if "kernels" in vars(one))
    if any(getattr(task, name) is not getattr(home, name) for name in ("cost", "moved")):
        return None
    return import_module(f"choreograph.verbs.steer.{task.kernels}")


def wrapped(angle: Floats) -> Floats:
    """Angles from -π to below π."""
    return np.asarray(angle - 2 * math.pi * np.floor(angle / (2 * math.pi) + 0.5))


@dataclass(frozen=True)
class Spin(SteerTask):
    """Turn at a rate: its state is how far the body is ahead of where it should face by now, and the rate."""

    name: ClassVar[str] = "spin"
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

    def moved(self, state: Floats, moves: Floats, seconds: Floats) -> Floats:
        """The angle after each step."""
        angle = wrapped(state[0] + moves[:, 0] - state[1] * seconds)
        return np.stack([angle, np.full(len(moves), state[1])], axis=1)

    def cost(self, state: Floats, after: Floats, moves: Floats, seconds: Floats) -> Floats:
        """How far the body is off, over the step, at most a right angle: who lags by more may as well begin anew."""
        both = min(abs(state[0]), math.pi / 2) + np.minimum(np.abs(after[:, 0]), math.pi / 2)
        return np.asarray(0.5 * self.direction_weight * seconds * both)
