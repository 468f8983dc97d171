"""How good a value function's choices are: what they cost, against what a long search finds."""

from __future__ import annotations

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.base.floor import compose
from choreograph.verbs.steer.controller import SteerPolicy
from choreograph.verbs.steer.costs import StepObjective


def policy_cost(policy: SteerPolicy, cut: int, state: Floats, seconds: float, task: str = "navigate") -> float:
    """The discounted cost of what a value function chooses, from a cut and a state on.

    Args:
        policy: Steps, costs, value functions.
        cut: Where the character begins.
        state: Of the task.
        seconds: How long it goes on.
        task: Its name.
    """
    costs, steps, what = policy.costs, policy.costs.steps, policy.tasks[task]
    own = costs.following(StepObjective(), what.direction).with_cuts(policy.values[task].cuts)
    out = np.empty((len(steps), len(costs.bend)))
    total, factor, now, state = 0.0, 1.0, 0.0, np.array(state, float)
    while now < seconds:
        step, bend, _ = what.best(cut, state, costs, own, policy.values[task], out)
        move, lasts = compose(steps.align[cut, steps.start[step]], steps.moves[step, bend])[None], steps.seconds[[step]]
        after = what.moved(state, move, lasts)
        spent = costs.price[cut, steps.start[step]] + costs.bend[bend] + own.goal[step]
        total += factor * (spent + float(what.cost(state, after, move, lasts)[0]))
        factor *= costs.discount[step]
        now, cut, state = now + float(lasts[0]), int(steps.stop[step]), after[0]
    return total


def beam_cost(
    policy: SteerPolicy, cut: int, state: Floats, seconds: float, width: int, task: str = "navigate"
) -> float:
    """The least discounted cost that a beam search finds; half of the beam is chosen by cost so far, half with the
    value function as a heuristic.

    Args:
        policy: Steps, costs, value functions.
        cut: Where the character begins.
        state: Of the task.
        seconds: How long it goes on.
        width: Of the beam.
        task: Its name.
    """
    costs, steps, what = policy.costs, policy.costs.steps, policy.tasks[task]
    own = costs.following(StepObjective(), what.direction).with_cuts(policy.values[task].cuts)
    bends = len(costs.bend)
    cuts, states = np.array([cut]), np.array(state, float)[None]
    cost, factor, time = np.zeros(1), np.ones(1), np.zeros(1)
    best = np.inf
    while len(cuts):
        parts: list[tuple[Floats, ...]] = []
        for n in range(len(cuts)):
            low, high = steps.ranges[steps.cut_foot[cuts[n]] :][:2]
            moves = compose(steps.align[cuts[n], steps.start[low:high]][:, None], steps.moves[low:high]).reshape(-1, 3)
            lasts = np.repeat(steps.seconds[low:high], bends)
            after = what.moved(states[n], moves, lasts)
            spent = np.repeat(costs.price[cuts[n], steps.start[low:high]] + own.goal[low:high], bends)
            spent = spent + np.tile(costs.bend, high - low) + what.cost(states[n], after, moves, lasts)
            discount = factor[n] * np.repeat(costs.discount[low:high], bends)
            parts.append(
                (np.repeat(steps.stop[low:high], bends), after, cost[n] + factor[n] * spent, discount, time[n] + lasts)
            )
        ends, after, total, factors, times = (np.concatenate(column) for column in zip(*parts, strict=True))
        over = times >= seconds
        if over.any():
            best = min(best, float(total[over].min()))
        left = np.flatnonzero(~over & (total < best))
        later = what.known(after[left]) * policy.values[task].at(after[left], ends[left])
        later = later + what.beyond(after[left], ends[left], own)
        guess = total[left] + factors[left] * (later + own.cuts[ends[left]])
        beam = np.unique(np.concatenate([left[np.argsort(key)[: width // 2]] for key in (total[left], guess)]))
        cuts, states, cost = ends[beam].astype(np.int64), after[beam], total[beam]
        factor, time = factors[beam], times[beam]
    return best
