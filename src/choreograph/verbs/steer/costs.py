"""What steps cost whatever the task is: blends, bends, and steps that are not of the gait or speed that is wanted."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
from annotated_types import Ge, Gt, Le
from pydantic import Field

from choreograph.base.arrays import Floats, Ints
from choreograph.base.errors import RequestError
from choreograph.base.floor import compose
from choreograph.contract.request import Advanced, Seconds
from choreograph.verbs.steer.steps import BENDS, STAND_M_S, StepClips

IDLE_M_S = 0.6
"""Speed below which someone idles or shuffles; who walks slowly still does 0.7."""
ANGLES = 48
"""Angles for which it is known what turning costs: every 7.5°, with half a turn, where left and right are as good."""
NEAR = 64
"""Steps that are looked at as the next but one."""
_ROUNDS, _EXACT = 40, 0.02
"""Of value iteration over cuts and angles, at most; and by how little values change then."""
_SPEED_GRID = 4
"""Parts of 1 m/s to which wanted speeds are rounded in what turning costs: it hardly depends on them."""
CostWeight = Annotated[float, Ge(0), Le(1e4)]


class SteerWeights(Advanced):
    """What counts how much. A cost of 1 is a second at a metre from the line."""

    panel: ClassVar[str] = "Weights"

    deviation: CostWeight = 1.0
    """Cost of a second at 1 m from the line."""
    direction: CostWeight = 1.0
    """Cost of a second in a direction that is 1 rad (57°) off."""
    blend: CostWeight = 0.04
    """Cost of a blend between two recordings that fit each other as well as the best usually do; one between bodies
    twice as far apart costs four times as much."""
    label: CostWeight = 3.0
    """Cost of a second without the label of the goal."""
    speed: CostWeight = 2.0
    """Cost of a second at 1 m/s off the speed of the goal."""
    torso: CostWeight = 0.7
    """Cost of a second with the torso 1 rad off its direction."""
    turn: CostWeight = 1.0
    """Cost of a second at 1 rad/s off the turning rate of the goal."""
    obstacle: CostWeight = 30.0
    """Cost of a second within an obstacle."""
    idle: CostWeight = 4.0
    """Cost of a second of standing where the goal has no speed, no turn and no label that stands; less the faster the
    character is, nothing from walking speed on."""
    bend: CostWeight = 0.03
    """Cost of a step that is bent as far as it may be."""


class SteerAdvanced(Advanced):
    """What costs how much, and how far ahead."""

    discount_s: Annotated[Seconds, Gt(0.1), Le(100)] = 4.0
    """Time after which costs count e times less than now."""
    weights: SteerWeights = Field(default_factory=SteerWeights)
    """What counts how much."""


@dataclass(frozen=True)
class StepObjective:
    """What every step should be like, wherever the character is."""

    speed: float | None = None
    """m/s."""
    label: str | None = None
    """A label of the steps, or stand, walk, run."""
    torso: float | None = None
    """Where the hips shall face against the direction of travel, radians."""
    turn: float | None = None
    """How fast the hips shall turn, rad/s."""


class StepTable(NamedTuple):
    """N cuts and S steps as kernels read them: where steps lead, and what they cost by themselves."""

    ranges: Ints
    """Steps that begin on foot f are [ranges[f], ranges[f + 1]), (4,)."""
    foot: Ints
    """Of each cut, (N,)."""
    start: Ints
    """Cut at which each step begins, (S,)."""
    stop: Ints
    """Cut at which it ends, (S,)."""
    align: Floats
    """How cuts are laid on each other, (N, N, 3)."""
    moves: Floats
    """Where steps lead, for each bend, (S, B, 3); the first is unbent."""
    seconds: Floats
    """(S,)."""
    discount: Floats
    """Of what follows each step, (S,)."""
    price: Floats
    """Of the blend from cut to cut, (N, N)."""
    bend: Floats
    """Cost of each bend, (B,)."""
    near: Ints
    """The steps that each cut goes over to most cheaply, (N, M), -1 behind the last: those looked at as next steps."""
    near_moves: Floats
    """Where each of those leads from the cut, unbent, (N, M, 3)."""
    reach: float
    """How far any step leads from any cut, at most, metres."""


class Ahead(NamedTuple):
    """What is known exactly of what steps cost, and of what follows them, under a goal."""

    goal: Floats
    """What each step costs against the wanted gait and speed, (S,)."""
    cuts: Floats
    """What gait, speed and blends cost from each cut on, (N,)."""
    turning: Floats
    """How much more it costs to come to the wanted direction, from each cut and angle on, (N, A), evenly from -π on;
    (N, 1) of zeros where directions do not count."""

    def with_cuts(self, more: Floats) -> Ahead:
        """The same with more to pay from each cut on, (N,)."""
        return self._replace(cuts=self.cuts + more)

    def turning_at(self, cuts: Ints, angle: Floats) -> Floats:
        """What coming to the wanted direction costs at these cuts (M,) and angles (M,), (M,)."""
        count = self.turning.shape[1]
        at = (angle + np.pi) * (count / (2 * np.pi))
        first = np.floor(at).astype(np.int64)
        share = at - first
        low, high = self.turning[cuts, first % count], self.turning[cuts, (first + 1) % count]
        return np.asarray((1 - share) * low + share * high)


@dataclass(frozen=True, eq=False)
class StepCosts:
    """The costs of steps under some weights."""

    steps: StepClips
    settings: SteerAdvanced
    _turnings: dict[tuple[StepObjective, float], Floats] = field(default_factory=dict)

    @cached_property
    def price(self) -> Floats:
        """Of the blend from cut to cut, (N, N); none where the recording goes on as it was."""
        share = self.steps.distance / self.steps.usual_m
        price = self.settings.weights.blend * np.where(np.isfinite(share), np.minimum(share, 1e3), 1e3) ** 2
        np.fill_diagonal(price, 0.0)
        return price

    @cached_property
    def near(self) -> Ints:
        """The steps that each cut goes over to most cheaply, (N, M), -1 behind the last."""
        steps = self.steps
        out = np.full((len(steps.cut_foot), min(NEAR, int(np.diff(steps.ranges).max()))), -1, np.int64)
        for cut, foot in enumerate(steps.cut_foot):
            low, high = steps.ranges[foot : foot + 2]
            order = np.argsort(self.price[cut, steps.start[low:high]], kind="stable")[: out.shape[1]]
            out[cut, : len(order)] = low + order
        return out

    @cached_property
    def near_moves(self) -> Floats:
        """Where each of those leads from the cut, unbent, (N, M, 3)."""
        every = np.arange(len(self.near))[:, None]
        return compose(self.steps.align[every, self.steps.start[self.near]], self.steps.moves[self.near, 0])

    @cached_property
    def reach(self) -> float:
        """How far any step leads from any cut, at most, metres."""
        steps = self.steps
        shift = np.where(np.isfinite(steps.distance), np.hypot(steps.align[..., 1], steps.align[..., 2]), 0.0)
        return float(shift.max(initial=0.0) + np.hypot(steps.moves[..., 1], steps.moves[..., 2]).max(initial=0.0))

    @cached_property
    def discount(self) -> Floats:
        """Of what follows each step, (S,)."""
        return np.exp(-self.steps.seconds / self.settings.discount_s)

    @cached_property
    def bend(self) -> Floats:
        """Cost of each bend, (B,)."""
        return self.settings.weights.bend * BENDS**2

    @cached_property
    def table(self) -> StepTable:
        """All of it as kernels read it."""
        # Copies, which are of one kind wherever the steps come from: kernels are compiled once.
        steps = self.steps
        return StepTable(
            np.array(steps.ranges), np.array(steps.cut_foot), np.array(steps.start), np.array(steps.stop),
            np.array(steps.align), np.array(steps.moves), np.array(steps.seconds), self.discount, self.price,
            self.bend, self.near, self.near_moves, self.reach,
        )  # fmt: skip

    def goal(self, objective: StepObjective) -> Floats:
        """What each step costs against what is objective, (S,)."""
        steps, weights = self.steps, self.settings.weights
        rate = np.zeros(len(steps))
        if objective.speed is None and objective.turn is None and not self._stands(objective.label):
            rate += weights.idle * np.maximum(1 - steps.speed / IDLE_M_S, 0.0)
        if objective.speed is not None:
            rate += weights.speed * np.abs(steps.speed - objective.speed)
        if objective.label is not None:
            fits = steps.matching(objective.label)
            if not fits.any():
                raise RequestError(
                    f"no step is a {objective.label!r}; there are: {', '.join(steps.gaits)}", where="label"
                )
            rate += weights.label * ~fits
        if objective.torso is not None:
            rate += weights.torso * np.abs(np.angle(np.exp(1j * (steps.torso - objective.torso))))
        if objective.turn is not None:
            rate += weights.turn * np.abs(steps.turn / steps.seconds - objective.turn)
        return rate * steps.seconds

    def _stands(self, label: str | None) -> bool:
        """Whether a label is one of standing, as `stand` and jumps on the spot are: most of its time is."""
        if label is None:
            return False
        fits = self.steps.matching(label)
        idle = fits & (self.steps.speed < STAND_M_S)
        return bool(self.steps.seconds[idle].sum() > self.steps.seconds[fits].sum() / 2)

    def ahead(self, goal: Floats) -> Floats:
        """The least that blends and these costs of steps will come to from each cut on, (N,)."""
        from choreograph.verbs.steer import _compiled

        return _compiled.clip_values(self.table, goal, 400)  # type: ignore[no-any-return]

    def following(self, objective: StepObjective, direction_weight: float = 0.0) -> Ahead:
        """What is known exactly of what follows each step, where a direction counts so much."""
        goal = self.goal(objective)
        ahead = self.ahead(goal)
        if direction_weight <= 0:
            return Ahead(goal, ahead, np.zeros((len(ahead), 1)))
        speed = None if objective.speed is None else round(objective.speed * _SPEED_GRID) / _SPEED_GRID
        return Ahead(goal, ahead, self._turning(replace(objective, speed=speed), direction_weight))

    def _turning(self, objective: StepObjective, weight: float) -> Floats:
        """How much more it costs to come to the wanted direction from each cut and angle on, (N, A)."""
        from choreograph.verbs.steer import _compiled

        key = objective, weight
        if key not in self._turnings:
            if len(self._turnings) > 60:
                self._turnings.clear()
            goal = self.goal(objective)
            ahead = self.ahead(goal)
            known = self._turnings.get((StepObjective(), weight))
            if known is None:  # what an even turn at 2 rad/s would cost
                known = np.tile(weight / 4 * np.linspace(-np.pi, np.pi, ANGLES, endpoint=False) ** 2, (len(ahead), 1))
            begin = ahead[:, None] + known
            values = _compiled.turning_values(self.table, goal, ahead, weight, begin, _ROUNDS, _EXACT)
            self._turnings[key] = values - ahead[:, None]
        return self._turnings[key]


def score_steps(costs: StepCosts, cut: int, own: Ahead, out: Floats) -> tuple[int, int]:
    """Write into `out` (S, B) what steps cost whatever the task is; the range of those that fit."""
    from choreograph.verbs.steer import _compiled

    _compiled.base_scores(cut, costs.table, own, out)
    steps = costs.steps
    low, high = (int(k) for k in steps.ranges[steps.cut_foot[cut] :][:2])
    return low, high
