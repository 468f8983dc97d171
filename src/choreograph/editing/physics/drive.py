"""Solving in stages: legs to where they stand, then mechanics; and what to try where that does not do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from choreograph.editing.physics.interior_point import Solution, solve
from choreograph.editing.physics.problem import Problem, spline_through

Array = NDArray[np.float64]
Watch = Callable[[int, Array, float], None]

KINEMATIC_STEPS = 12
_TRIES = ((1e-3, 0.1, True), (1e-2, 0.3, True), (1e-3, 0.1, False))
"""First barrier, first slack, and whether legs are put where they stand first: tried in turn."""


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


def solve_in_stages(problem: Problem, iterations: int = 70, watch: Watch | None = None) -> Solved:
    """The motion that a problem asks for, from its guess.

    Args:
        problem: What is asked.
        iterations: Of each try, at most.
        watch: Hears the iteration, the unknowns and the violation.
    """
    best: Solution | None = None
    total = 0
    for barrier, slack, first in _TRIES:
        start = None
        if first:
            stage = solve(problem, kinematic=True, iterations=KINEMATIC_STEPS, first_slack=slack, watch=watch)
            start, total = stage.x, total + stage.iterations
        found = solve(
            problem, start=start, first_barrier=barrier, first_slack=slack, iterations=iterations, watch=watch
        )
        total += found.iterations
        if best is None or found.violation < best.violation or found.status == "converged":
            best = found
        if best.status in ("converged", "feasible"):
            break
    assert best is not None
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
    found = solve(problem, start=x, first_barrier=1e-4, first_slack=0.02, iterations=iterations, watch=watch)
    if found.status == "not converged":
        return solve_in_stages(problem, watch=watch)
    return Solved(problem, found, found.iterations)
