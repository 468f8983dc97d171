"""Solving in stages: legs to where they stand, then mechanics; and what to try where that does not do."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from choreograph.base.arrays import Floats, Indices
from choreograph.verbs.physics.interior_point import (
    LAST_BARRIER,
    STILL,
    STILLER,
    WARM_BARRIER,
    TrajectorySolution,
    solve,
)
from choreograph.verbs.physics.newton import NewtonSolver, Point
from choreograph.verbs.physics.program import TrajectoryProgram
from choreograph.verbs.physics.verify import FinePath, Verification, fine, verify

Watch = Callable[[int, Floats, float], None]

KINEMATIC_STEPS = 12
STRAIGHT, STIFFER, RECORDED = "straight line", "stiffer line", "recorded motion"
TWO_STAGES, WIDER = "two stages", "wider barrier"
"""What a search begins from: lines between key poses, feet brought to their places; where those lead nowhere the same
with all but the feet held more firmly; the recorded motion, if there is one;
what mechanics alone, without effort, comes to, the paper's first stage; the lines again with more room."""
_SOON = 20
"""Iterations in which a neighbouring solution should lead to a new one."""


@dataclass(frozen=True, eq=False)
class Solved:
    """A solution with the problem that it is of."""

    problem: TrajectoryProgram
    solution: TrajectorySolution
    iterations: int
    """Of all stages and tries."""
    start: str = STRAIGHT
    """What it was found from."""

    @cached_property
    def path(self) -> FinePath:
        """What it does between its nodes."""
        return fine(self.problem, self.solution.x)

    @cached_property
    def checked(self) -> Verification:
        """How well it holds there."""
        return verify(self.problem, self.solution.x, self.path)

    @property
    def converged(self) -> bool:
        """Whether every constraint holds and nothing better is near."""
        return self.solution.status == "converged"


def solve_in_stages(
    problem: TrajectoryProgram,
    iterations: int = 90,
    watch: Watch | None = None,
    tries: int = 4,
    tried: Solved | None = None,
) -> Solved:
    """The motion that a problem asks for, from its guess.

    Args:
        problem: What is asked.
        iterations: Of each try, at most.
        watch: Hears the iteration, the unknowns and the violation.
        tries: With how many starts beside the first, at most.
        tried: What the first start has come to already.
    """
    stage = solve(problem, kinematic=STILL, iterations=KINEMATIC_STEPS, watch=watch)
    total, came = stage.iterations, STRAIGHT
    if tried is None:
        best = solve(problem, start=stage.x, iterations=iterations, watch=watch)
        total += best.iterations
    else:
        best = tried.solution
    others = [STIFFER] + [RECORDED] * (problem.second_guess is not None) + [TWO_STAGES, WIDER]
    for name in others[:tries]:
        if best.status != "not converged":
            break
        start, barrier, slack = stage.x, 1e-3, 0.1
        if name == STIFFER:
            again = solve(problem, kinematic=STILLER, iterations=KINEMATIC_STEPS, watch=watch)
            start, total = again.x, total + again.iterations
        elif name == RECORDED:
            start = problem.start(problem.second_guess)
        elif name == TWO_STAGES:
            easy = replace(problem, weights=problem.weights.with_(torque=0.0))
            lazy = solve(easy, start=stage.x, iterations=iterations // 2, watch=watch)
            start, total = lazy.x, total + lazy.iterations
        else:
            barrier, slack = 1e-2, 0.3
        trial = solve(
            problem,
            start=start,
            barriers=(barrier, LAST_BARRIER),
            first_slack=slack,
            iterations=iterations,
            watch=watch,
        )
        total += trial.iterations
        if trial.violation < best.violation or trial.status != "not converged":
            best, came = trial, name
    return Solved(problem, best, total, came)


def solve_again(problem: TrajectoryProgram, before: Solved, iterations: int = 60, watch: Watch | None = None) -> Solved:
    """The motion of a problem that differs a little from a solved one: from there, moved as far as the guess moved.

    Falls back to `solve_in_stages` where the two differ in size, or that does not converge.
    """
    old = before.problem
    same = problem.size == old.size and np.array_equal(problem.active, old.active)
    if not same or not before.converged:
        return solve_in_stages(problem, watch=watch)
    x = np.array(before.solution.x)
    shift = problem.spline.through(problem.guess - old.guess)
    ny = problem.w.shape[1]
    for block, change in zip(problem.offs[:-1], shift, strict=True):
        x[block : block + ny] += change
    trial = solve(
        problem, warm=replace(before.solution.point, x=x), barriers=(1e-3, WARM_BARRIER), iterations=_SOON, watch=watch
    )
    if trial.status == "not converged":
        trial = solve(
            problem, start=x, barriers=(1e-4, LAST_BARRIER), first_slack=0.02, iterations=iterations, watch=watch
        )
    if trial.status == "not converged":
        return solve_in_stages(problem, watch=watch)
    return Solved(problem, trial, trial.iterations, before.start)


def solve_finer(problem: TrajectoryProgram, before: Solved, iterations: int = 50, watch: Watch | None = None) -> Solved:
    """The same motion on another grid of nodes, from where a coarser one led.

    Args:
        problem: The same question with more nodes.
        before: What was found on fewer.
        iterations: At most.
        watch: Hears the iteration, the unknowns and the violation.
    """
    start, total = carry_over(before, problem), before.iterations
    trial: TrajectorySolution | None = None
    if problem.nodes > before.problem.nodes:
        trial = solve(problem, warm=_more_nodes(before, problem, start), iterations=iterations, watch=watch)
        total += trial.iterations
    if trial is None or trial.status == "not converged":
        trial = solve(
            problem,
            start=start,
            barriers=(1e-4, LAST_BARRIER),
            first_slack=0.02,
            iterations=2 * iterations,
            watch=watch,
        )
        total += trial.iterations
    if trial.status == "not converged":
        trial = solve(problem, start=start, iterations=iterations, watch=watch)
        total += trial.iterations
    return Solved(problem, trial, total, before.start)


def carry_over(before: Solved, problem: TrajectoryProgram) -> Floats:
    """Unknowns of a problem that are the motion and the forces found with other nodes, at the same shares of time."""
    old, x = before.problem, np.zeros(problem.size)
    ny = problem.w.shape[1]
    coefficients = problem.spline.carried(old.spline, old.coefficients(before.solution.x))
    for block, values in zip(problem.offs[:-1], coefficients, strict=True):
        x[block : block + ny] = values
    low, share = _places(old, problem)
    nodes = old.forces(before.solution.x)
    forces = (1 - share)[:, None, None] * nodes[low] + share[:, None, None] * nodes[low + 1]
    for k in range(problem.nodes):
        pushing = forces[k, problem.active[k]]
        pushing[:, 1] = np.maximum(pushing[:, 1], 1e-3)
        x[problem.offs[k + 1] + ny : problem.offs[k + 2]] = pushing.ravel()
    return x


def _places(old: TrajectoryProgram, problem: TrajectoryProgram) -> tuple[Indices, Floats]:
    """For each node the one before it in an older problem, and how far behind that it is, 0 to 1."""
    at = np.interp(problem.times / problem.times[-1], old.times / old.times[-1], np.arange(old.nodes))
    at = np.where(np.abs(at - np.rint(at)) < 1e-6, np.rint(at), at)
    low = np.minimum(at.astype(int), old.nodes - 2)
    return low, at - low


def _more_nodes(before: Solved, problem: TrajectoryProgram, x: Floats) -> Point:
    """Slacks and multipliers on more nodes: as between the old ones, each as much smaller as nodes stand for less."""
    old, at = NewtonSolver(before.problem), before.solution.point
    new = NewtonSolver(problem)
    low, share = _places(before.problem, problem)
    less = problem.spline.spans / before.problem.spline.spans[np.where(share > 0.5, low + 1, low)]

    def between(values: Floats) -> Floats:
        column = share.reshape(-1, *[1] * (values.ndim - 1))
        out = (1 - column) * values[low] + column * values[low + 1]
        return np.asarray(out * less.reshape(column.shape))

    slack = np.maximum(new.values(x).bounds, 1e-4)
    parts = old.spread(at.dual)
    # Limits of rates belong to the gaps between nodes.
    gaps = np.minimum(low[:-1], before.problem.nodes - 2)
    spread = [*(between(part) for part in parts[:-2]), *(part[gaps] for part in parts[-2:])]
    duals = np.concatenate([part.ravel() for part in spread])[new.mask]
    return Point(
        x, slack, np.maximum(duals, LAST_BARRIER / slack), between(at.root), between(at.places), between(at.poses)
    )
