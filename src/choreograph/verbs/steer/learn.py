"""Learning a value function from sampled states: fitted value iteration, and then a linear program.

V is what blends and gaits cost from the cut on (exact, see `costs`), plus a number for each cut, plus a spline over the
task's state; the numbers and the spline's coefficients are the unknowns. Fitted value iteration gives each sample the
value of its best step and fits the unknowns to these by least squares, again and again. The linear program (see
`program`) begins there; its rows are the best steps of the samples, added until every sample obeys.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from choreograph.base.arrays import Floats, Ints
from choreograph.base.errors import ChoreographError, RequestError
from choreograph.base.floor import compose
from choreograph.base.progress import Progress, silent
from choreograph.verbs.steer.basis import SplineBasis
from choreograph.verbs.steer.controller import SteerPolicy
from choreograph.verbs.steer.costs import Ahead, StepCosts, StepObjective
from choreograph.verbs.steer.evaluate import beam_cost, policy_cost
from choreograph.verbs.steer.policy import ValueFunction
from choreograph.verbs.steer.program import ProgramRows, ValueProgram
from choreograph.verbs.steer.tasks import Choices, SteerTask

_MOST = 7000
"""Samples that are drawn at most, unless it is said how many."""
_EVALUATIONS = 4
"""How often values are fitted to the same choices before choices are made anew."""
_OFTEN, _NEAR = 0.3, 0.12
"""Share of samples that are near the middle of the bounds, where characters mostly are, and how near, as a share."""
_TURNED, _ABOUT = 0.4, 0.15
"""Share of samples that are so near the middle of the bounds in all but angles, which may be any: where characters are
who turn."""
_STARTS, _SEARCH_S, _SEARCH_WIDTH = 6, 5.0, 30
"""From how many samples on a value function's choices are weighed against a search's, over which time, how wide
with 200 steps."""


@dataclass(frozen=True)
class PolicyLearning:
    """How a value function is learned."""

    samples: int | None = None
    """States drawn, with corners of the state space on top; else 7 for each basis function, and for each of
    standing, walking and running, from 600 to 7,000."""
    sweeps: int = 14
    """Of fitted value iteration, where the linear program begins."""
    rounds: int = 40
    """Of the linear program, at most; 0 to do without it."""
    tolerance: float = 0.02
    """Violation of a row, beyond what the program lets its sample off, up to which it counts as obeyed."""
    seed: int = 0
    weighed: bool = True
    """Whether its choices are weighed against a search in the end."""


LEARNING: Mapping[str, PolicyLearning] = {"program": PolicyLearning(), "fit": PolicyLearning(rounds=0)}
"""How requests name ways to learn."""
QUICK = PolicyLearning(samples=1200, sweeps=5, rounds=0, weighed=False)
"""Enough to begin with, within a second or two."""


def learn(
    task: SteerTask, costs: StepCosts, settings: PolicyLearning = PolicyLearning(), progress: Progress | None = None
) -> ValueFunction:
    """The value function of a task.

    Args:
        task: What is wanted.
        costs: The steps and what they cost by themselves.
        settings: How many samples, how exact.
        progress: Hears how many rounds are done; may cancel.

    Raises:
        RequestError: If the task raises or gives numbers that are none, or the program has no solution.
    """
    progress, began, stage = progress or silent, time.process_time(), f"learning {task.name}"
    basis, rng = task.basis, np.random.default_rng(settings.seed)
    kind = costs.steps.cut_kind if task.by_gait else np.zeros_like(costs.steps.cut_kind)
    count = min(max(7 * basis.size * (1 + kind.max()), 600), _MOST) if settings.samples is None else settings.samples
    states, cuts = draw_samples(basis, kind, int(count), rng)
    own = costs.following(StepObjective(), task.direction)
    index, weight = basis.at(states)
    program = ValueProgram(task, costs.steps, kind, (index, weight, cuts))
    value = ValueFunction(
        task.name, basis, np.zeros(program.size), np.zeros(len(kind)), kind=kind, steps=costs.steps.word
    )
    total = settings.sweeps + settings.rounds
    for sweep in range(settings.sweeps):
        progress(stage, sweep, total)
        rows = _best_steps(task, costs, cuts, states, own, value)
        for _ in range(_EVALUATIONS):
            coefficients, more = program.fit(rows.target(value))
            value = replace(value, coefficients=coefficients, cuts=more)
    done = 0
    if settings.sweeps:
        program.keep_near(value)
    while True:
        progress(stage, settings.sweeps + done, total)
        rows = _best_steps(task, costs, cuts, states, own, value)
        now = (value.splines[kind[cuts][:, None], index] * weight).sum(axis=1) + value.cuts[cuts]
        error = now - rows.target(value)
        excess = error - program.let_off
        obeyed = float(excess.max()) <= settings.tolerance and done > 0
        if obeyed or done >= settings.rounds:
            break
        program.add(np.flatnonzero(excess > settings.tolerance) if done else np.arange(len(states)), rows)
        coefficients, more = program.solve()
        value = replace(value, coefficients=coefficients, cuts=more)
        done += 1
    weighed: dict[str, object] = {"first": True}
    if settings.weighed:
        progress("weighing against a search", 0, _STARTS)
        ours, best = _against_search(SteerPolicy(costs, {task.name: task}, {task.name: value}), states, cuts, progress)
        weighed = {"policy_cost": round(ours, 4), "search_cost": round(best, 4)}
    progress(stage, total, total)
    report = {
        "samples": len(states),
        "rows": program.rows,
        "rounds": done,
        "violation": round(max(float(excess.max()), 0.0), 4),
        "let_off": round(float(program.let_off.mean()), 4),
        "error_rms": round(float(np.sqrt((error**2).mean())), 4),
        "coverage": program.coverage,
        **weighed,
        "cpu_s": round(time.process_time() - began, 3),
    }
    return replace(value, report=report)


def _against_search(policy: SteerPolicy, states: Floats, cuts: Ints, progress: Progress) -> tuple[float, float]:
    """What the choices of a value function cost from some of the samples on, and what a search finds, on average."""
    ((name, task),) = policy.tasks.items()
    inside = np.flatnonzero(task.known(states))
    starts = inside[np.linspace(0, len(inside) - 1, _STARTS).astype(int)] if len(inside) else np.zeros(0, int)
    found, width = [], int(np.clip(_SEARCH_WIDTH * 200 // len(policy.costs.steps), 6, _SEARCH_WIDTH))
    for done, n in enumerate(starts):
        progress("weighing against a search", done, len(starts))
        ours = policy_cost(policy, int(cuts[n]), states[n], _SEARCH_S, name)
        found.append((ours, min(ours, beam_cost(policy, int(cuts[n]), states[n], _SEARCH_S, width, name))))
    ours, best = np.mean(found, axis=0) if found else (0.0, 0.0)
    return float(ours), float(best)


def draw_samples(basis: SplineBasis, kind: Ints, count: int, rng: np.random.Generator) -> tuple[Floats, Ints]:
    """States (N, D) all over the bounds, as dense as the knots are, with all corners for each kind of cut; and cuts.

    Half of the cuts are any, half are as many of each kind.
    """
    t = rng.random((count, len(basis.dimensions)))
    often = np.arange(count) < _OFTEN * count
    t[often] = np.clip(0.5 + _NEAR * rng.standard_normal((int(often.sum()), t.shape[1])), 0, 1)
    angles = np.array([one.periodic for one in basis.dimensions])
    if angles.any():
        turned = ~often & (np.arange(count) < (_OFTEN + _TURNED) * count)
        about = np.clip(0.5 + _ABOUT * rng.standard_normal((int(turned.sum()), t.shape[1])), 0, 1)
        t[turned] = np.where(angles, t[turned], about)
    ends = [[0.0] if one.periodic else [0.0, 0.5, 1.0] for one in basis.dimensions]
    corners = np.stack(np.meshgrid(*ends, indexing="ij"), axis=-1).reshape(-1, len(ends))
    kinds = 1 + int(kind.max())
    wanted = np.concatenate([np.repeat(np.arange(kinds), len(corners)), rng.integers(kinds, size=count)])
    cuts = rng.integers(len(kind), size=len(wanted))
    for k in range(kinds):
        own = (wanted == k) & ((np.arange(len(wanted)) % 2 == 0) | (np.arange(len(wanted)) < kinds * len(corners)))
        cuts[own] = rng.choice(np.flatnonzero(kind == k), own.sum())
    return basis.spread(np.concatenate([*[corners] * kinds, t])), cuts


def _best_steps(
    task: SteerTask, costs: StepCosts, cuts: Ints, states: Floats, own: Ahead, value: ValueFunction
) -> ProgramRows:
    """The step of each sample that a value function says is best."""
    later = own.with_cuts(value.cuts)
    found = task.choices(cuts, states, costs, later, value) or _one_by_one(task, costs, cuts, states, later, value)
    discount, ends = costs.discount[found.steps], costs.steps.stop[found.steps]
    cost = found.spent + discount * (own.cuts[ends] + task.beyond(found.after, ends, own))
    cost -= own.cuts[cuts] + task.beyond(states, cuts, own)
    return ProgramRows(cost, discount, ends, task.known(found.after).astype(float), value.basis.at(found.after))


def _one_by_one(
    task: SteerTask, costs: StepCosts, cuts: Ints, states: Floats, own: Ahead, value: ValueFunction
) -> Choices:
    """The best step of each sample, as the task itself says."""
    steps, bends = costs.steps, costs.bend
    out = np.empty((len(steps), len(bends)))
    choices = Choices(np.empty(len(cuts), np.int64), np.empty(len(cuts)), np.empty(states.shape))
    for n, (cut, state) in enumerate(zip(cuts, states, strict=True)):
        step, bend, _ = _asked(task, state, int(cut), costs, own, value, out)
        move = compose(steps.align[cut, steps.start[step]], steps.moves[step, bend])[None]
        seconds = steps.seconds[step : step + 1]
        choices.after[n] = task.moved(state, move, seconds)[0]
        choices.steps[n] = step
        choices.spent[n] = costs.price[cut, steps.start[step]] + own.goal[step] + bends[bend]
        choices.spent[n] += float(task.cost(state, choices.after[n : n + 1], move, seconds)[0])
    return choices


def _asked(
    task: SteerTask, state: Floats, cut: int, costs: StepCosts, own: Ahead, value: ValueFunction, out: Floats
) -> tuple[int, int, float]:  # fmt: skip
    """What a task says is best; a RequestError that names the task where it raises or gives no numbers."""
    try:
        found = task.best(cut, state, costs, own, value, out, deep=False)
    except ChoreographError:
        raise
    except Exception as error:  # a user's task may raise anything
        raise RequestError(
            f"the task {task.name!r} failed at the state {np.round(state, 3).tolist()}: {type(error).__name__}: {error}"
        ) from error
    if not np.isfinite(found[2]):
        raise RequestError(
            f"the task {task.name!r} gives a cost or a state that is no number at {np.round(state, 3).tolist()}"
        )
    return found
