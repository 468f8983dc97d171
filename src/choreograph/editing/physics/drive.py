"""Solving in stages: legs to where they stand, then mechanics; and what to try where that does not do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from choreograph.editing.physics.interior_point import LAST_BARRIER, Solution, solve
from choreograph.editing.physics.newton import Point, Solver
from choreograph.editing.physics.problem import Problem, spline_at_times, spline_through

Array = NDArray[np.float64]
Watch = Callable[[int, Array, float], None]

KINEMATIC_STEPS = 12
_SOON = 20
"""Iterations in which a neighbouring solution should lead to a new one."""


@dataclass(frozen=True, eq=False)
class Solved:
    """A solution with the problem that it is of."""

    problem: Problem
    solution: Solution
    iterations: int
    """Of all stages and tries."""

    @property
    def converged(self) -> bool:
        """Whether every constraint holds and nothing better is near."""
        return self.solution.status == "converged"


def solve_in_stages(problem: Problem, iterations: int = 90, watch: Watch | None = None, tries: int = 4) -> Solved:
    """The motion that a problem asks for, from its guess.

    Args:
        problem: What is asked.
        iterations: Of each try, at most.
        watch: Hears the iteration, the unknowns and the violation.
        tries: With how many starts, at most.
    """
    stage = solve(problem, kinematic=True, iterations=KINEMATIC_STEPS, watch=watch)
    best = solve(problem, start=stage.x, iterations=iterations, watch=watch)
    total = stage.iterations + best.iterations
    # Where a straight line leads nowhere: the recorded motion, if there is one; a wider barrier; on from the best.
    for attempt in range(tries - 1):
        if best.status in ("converged", "feasible"):
            break
        if attempt == 0 and problem.second_guess is not None:
            start, barrier, slack = problem.start(problem.second_guess), 1e-3, 0.1
        elif attempt < 2:
            start, barrier, slack = stage.x, 1e-2, 0.3
        else:
            start, barrier, slack = best.x, 1e-3, 0.05
        found = solve(
            problem, start=start, first_barrier=barrier, first_slack=slack, iterations=iterations, watch=watch
        )
        total += found.iterations
        best = found if found.violation < best.violation or found.status == "converged" else best
    return Solved(problem, best, total)


def solve_again(problem: Problem, before: Solved, iterations: int = 60, watch: Watch | None = None) -> Solved:
    """The motion of a problem that differs a little from a solved one: from there, moved as far as the guess moved.

    Falls back to `solve_in_stages` where the two differ in size, or that does not converge.
    """
    old = before.problem
    same = problem.size == old.size and np.array_equal(problem.active, old.active)
    if not same or not before.converged:
        return solve_in_stages(problem, watch=watch)
    x = np.array(before.solution.x)
    shift = spline_through(problem.guess - old.guess)
    ny = problem.w.shape[1]
    for block, change in zip(problem.offs[:-1], shift, strict=True):
        x[block : block + ny] += change
    found = solve(problem, warm=replace(before.solution.point, x=x), iterations=_SOON, watch=watch)
    if found.status == "not converged":
        found = solve(problem, start=x, first_barrier=1e-4, first_slack=0.02, iterations=iterations, watch=watch)
    if found.status == "not converged":
        return solve_in_stages(problem, watch=watch)
    return Solved(problem, found, found.iterations)


def solve_finer(problem: Problem, before: Solved, iterations: int = 60, watch: Watch | None = None) -> Solved:
    """The same motion on another grid of nodes, from where a coarser one led.

    Args:
        problem: The same question with more nodes.
        before: What was found on fewer.
        iterations: At most.
        watch: Hears the iteration, the unknowns and the violation.
    """
    start = carry_over(before, problem)
    if problem.nodes == 2 * before.problem.nodes - 1:
        found = solve(problem, warm=_twice(before, problem, start), iterations=iterations, watch=watch)
    else:
        found = solve(problem, start=start, first_barrier=1e-4, first_slack=0.02, iterations=iterations, watch=watch)
    if found.status == "not converged":
        found = solve(problem, start=start, iterations=iterations, watch=watch)
    return Solved(problem, found, before.iterations + found.iterations)


def carry_over(before: Solved, problem: Problem) -> Array:
    """Unknowns of a problem that are the motion and the forces found with other nodes, at the same shares of time."""
    old = before.problem
    at = np.linspace(0.0, (old.nodes - 1) * old.h, problem.nodes)
    y, _, _ = spline_at_times(old.coefficients(before.solution.x), old.h, at)
    x = problem.start(y)
    if problem.nodes == 2 * old.nodes - 1:
        _put(problem, x, subdivided(old.coefficients(before.solution.x)))
    low = np.clip((at / old.h).astype(int), 0, old.nodes - 2)
    share = (at / old.h - low)[:, None, None]
    nodes = old.forces(before.solution.x)
    forces = (1 - share) * nodes[low] + share * nodes[low + 1]
    ny = problem.w.shape[1]
    for k in range(problem.nodes):
        pushing = forces[k, problem.active[k]]
        pushing[:, 1] = np.maximum(pushing[:, 1], 1e-3)
        x[problem.offs[k + 1] + ny : problem.offs[k + 2]] = pushing.ravel()
    return x


def _twice(before: Solved, problem: Problem, x: Array) -> Point:
    """Slacks and multipliers for twice as many nodes; there are twice as many of them, each half as large."""
    old, at = Solver(before.problem), before.solution.point
    new = Solver(problem)

    def between(values: Array) -> Array:
        out = np.repeat(values, 2, axis=0)[: problem.nodes]
        out[1::2] = 0.5 * (values[:-1] + values[1:])
        return out

    slack = np.maximum(new.values(x).bounds, 1e-4)
    duals = np.concatenate([between(part).ravel() for part in old.spread(at.dual)])[new.mask]
    return Point(
        x, slack, np.maximum(0.5 * duals, LAST_BARRIER / slack), 0.5 * between(at.root), 0.5 * between(at.places),
        0.5 * between(at.poses),
    )  # fmt: skip


def subdivided(coefficients: Array) -> Array:
    """The same cubic B-spline with twice as many knots: coefficients (2K + 1, …) from (K + 2, …)."""
    out = np.empty((2 * len(coefficients) - 3, *coefficients.shape[1:]))
    out[0::2] = 0.5 * (coefficients[:-1] + coefficients[1:])
    out[1::2] = (coefficients[:-2] + 6 * coefficients[1:-1] + coefficients[2:]) / 8
    return out


def _put(problem: Problem, x: Array, coefficients: Array) -> None:
    ny = problem.w.shape[1]
    for block, values in zip(problem.offs[:-1], coefficients, strict=True):
        x[block : block + ny] = values
