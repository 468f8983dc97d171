"""Free durations: how long stances and flights take, so that the motion costs the least effort.

An outer search over one factor for each phase. At a solution the objective's slope along a factor is the Lagrangian's,
with unknowns and multipliers as they are, so a few evaluations give all slopes, and each step re-solves from the last
solution.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from choreograph.base.arrays import Floats, Indices
from choreograph.verbs.physics.newton import NewtonSolver
from choreograph.verbs.physics.program import TrajectoryProgram
from choreograph.verbs.physics.sketch import Sketch, paced
from choreograph.verbs.physics.solve_stages import Solved, Watch, solve_again

_STEP = 1e-5
_ROUNDS, _LEAST_GAIN, _LONGEST = 14, 2e-3, 0.12
"""Steps of the search at most; the share of the objective that a step must gain; the largest change of a factor's
logarithm in one step."""


@dataclass(frozen=True, eq=False)
class Timing:
    """What a search for durations came to."""

    sketch: Sketch
    solved: Solved
    factors: Floats
    """Times as long as given, for each phase."""
    gain: float
    """Share of the objective that free durations saved."""
    settled: bool
    """Whether no other durations nearby are better; else the search ran out of steps, or a step did not converge."""


def find_timing(
    sketch: Sketch,
    solved: Solved,
    ask: Callable[[Sketch], TrajectoryProgram],
    bounds: tuple[float, float],
    *,
    flights: bool = True,
    watch: Watch | None = None,
) -> Timing:
    """The durations of a solved sketch's phases that cost the least.

    Args:
        sketch: Of the solution.
        solved: Where the search begins.
        ask: The problem of a sketch.
        bounds: Shortest and longest that a phase may get, times as given.
        flights: Whether flights may last longer or shorter too.
        watch: Hears the iteration, the unknowns and the violation.
    """
    phase = sketch.phases()
    count = int(phase.max()) + 1
    standing = np.ones(count, bool)
    if not flights:
        air = ~(sketch.flags[:-1].any(axis=1) & sketch.flags[1:].any(axis=1))
        standing[np.unique(phase[air])] = False
    low, high = np.log(bounds[0]) * standing, np.log(bounds[1]) * standing
    at, best = np.zeros(count), solved
    start = solved.solution.objective
    slope = slopes(best, phase)
    total = 0
    metric, tried, settled = np.eye(count) / max(float(np.abs(slope).max()), 1e-9) * 0.5 * _LONGEST, 0, False
    shorten = 1.0
    while tried < _ROUNDS:
        free = ~(((at <= low) & (slope > 0)) | ((at >= high) & (slope < 0)))
        step = np.where(free, -metric @ np.where(free, slope, 0.0), 0.0)
        step *= shorten * min(1.0, _LONGEST / max(float(np.abs(step).max()), 1e-12))
        there = np.clip(at + step, low, high)
        promised = float(-slope @ (there - at))
        if promised < _LEAST_GAIN * abs(best.solution.objective):
            settled = True
            break
        tried += 1
        moved = paced(sketch, np.exp(there)[phase])
        trial = solve_again(ask(moved), best, watch=watch)
        total += trial.iterations
        if not trial.converged or trial.solution.objective > best.solution.objective - 0.05 * promised:
            shorten *= 0.35
            continue
        then = slopes(trial, phase)
        metric = _updated(metric, there - at, then - slope)
        at, best, slope, shorten = there, trial, then, min(1.0, 2 * shorten)
    gain = 1.0 - best.solution.objective / start if start > 0 else 0.0
    best = replace(best, iterations=solved.iterations + total)
    return Timing(paced(sketch, np.exp(at)[phase]), best, np.exp(at), float(gain), settled)


def slopes(solved: Solved, phase: Indices) -> Floats:
    """How the least objective changes with the logarithm of each phase's duration."""
    problem, gaps = solved.problem, np.diff(solved.problem.times)
    out = np.empty(int(phase.max()) + 1)
    for p in range(len(out)):
        ends = []
        for sign in (1.0, -1.0):
            times = np.concatenate([[0.0], np.cumsum(gaps * np.where(phase == p, np.exp(sign * _STEP), 1.0))])
            ends.append(_lagrangian(replace(problem, times=times), solved.solution.point))
        out[p] = (ends[0] - ends[1]) / (2 * _STEP)
    return out


def _lagrangian(problem: TrajectoryProgram, at: Any) -> float:
    now = NewtonSolver(problem).values(at.x)
    held = sum(float(np.vdot(a, b)) for a, b in ((at.root, now.root), (at.places, now.places), (at.poses, now.poses)))
    return now.objective + held - float(at.dual @ now.bounds)


def _updated(metric: Floats, step: Floats, change: Floats) -> Floats:
    """The inverse curvature after a step (BFGS), where it curves upwards."""
    curve = float(step @ change)
    if curve <= 1e-10:
        return metric
    left = np.eye(len(step)) - np.outer(step, change) / curve
    return np.asarray(left @ metric @ left.T + np.outer(step, step) / curve)


def timing_details(timing: Timing) -> dict[str, Any]:
    """What a result tells of durations that were found."""
    return {
        "durations": [round(float(factor), 4) for factor in timing.factors],
        "durations_settled": timing.settled,
        "effort_saved": timing.gain,
    }
