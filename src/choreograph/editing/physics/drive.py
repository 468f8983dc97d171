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
    stage = solve(problem, kinematic=True, iterations=KINEMATIC_STEPS, watch=watch)
    best = solve(problem, start=stage.x, iterations=iterations, watch=watch)
    total = stage.iterations + best.iterations
    # Where a straight line leads nowhere: the recorded motion, if there is one; a wider barrier; on from the best.
    for attempt in range(3):
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
    found = solve(problem, start=x, first_barrier=1e-4, first_slack=0.02, iterations=iterations, watch=watch)
    if found.status == "not converged":
        return solve_in_stages(problem, watch=watch)
    return Solved(problem, found, found.iterations)
