"""A banded interior point for motion problems.

An ℓ1 merit function with a second-order correction guards the steps; near a solution, where constraints curve more than
the merit bears, a filter lets steps pass that either mend them or lower the objective.

Far from a solution a step is not cut where the first of thousands of slacks would be used up: each slack stops by
itself, just before nothing, and the rest goes on, as long as the merit falls by more than the cut step promises. What
is then broken comes back in the next steps. Where such haste leads nowhere, the search begins again without it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.distance.blas import one_thread_each
from choreograph.verbs.physics.newton import NewtonSolver, Point, Values
from choreograph.verbs.physics.program import TrajectoryProgram

LAST_BARRIER = 1e-5
WARM_BARRIER = 1e-4
"""Barrier parameter at solutions while something is dragged: within a thousandth of the least objective."""
WARM_SLACK = 1e-3
FEASIBLE = 1e-6
"""Largest violation of a constraint at a solution: BW, BW·m, m, rad."""
_START_VIOLATION = 2e-3
"""Violation at which the kinematic stage is near enough."""
_NEAR, _ASTRAY = 1e-2, 0.3
"""Violation below which the filter counts, and up to which it lets steps go."""
_GETS_ON, _HASTY = (0.7, 25), (0.5, 10)
"""A search that does not bring its violation below this share of itself in so many iterations leads nowhere; one in
haste sooner."""
_HASTY_STEPS = 40
"""After which haste has led nowhere."""
_KEEPS = 0.01
"""Share of itself that a slack keeps where it stops by itself."""
STILL, STILLER = 1e2, 1e3
"""What a change of the state costs in the kinematic stage, once its first step has made the motion smooth: feet come to
their places, and all else stays. Without it motions drift to poses that no leg can bear."""
_SETTLED = ((1e-4, 12), (1e-5, 4))
"""In a flat valley steps stay long and gain nothing: a motion that holds and was not bettered by this share of the
objective in so many iterations is the answer."""
_TOLERANCE = 2e-3
"""Of the Lagrangian's gradient, against an objective scaled by 50."""


@dataclass(frozen=True, eq=False)
class TrajectorySolution:
    """What came of it."""

    x: Floats
    status: str
    """"converged", "feasible" (every constraint holds, the objective could still fall) or "not converged"."""
    iterations: int
    violation: float
    objective: float
    optimality: float
    """Size of Newton's last step."""
    point: Point
    factorizations: int = 0


def solve(
    problem: TrajectoryProgram,
    *,
    warm: Point | None = None,
    barriers: tuple[float, float] = (1e-3, LAST_BARRIER),
    first_slack: float = 0.1,
    iterations: int = 120,
    kinematic: float = 0.0,
    start: Floats | None = None,
    watch: Callable[[int, Floats, float], None] | None = None,
) -> TrajectorySolution:
    """The motion that a problem asks for, or the best that was reached.

    Args:
        problem: What is asked.
        warm: Where a search on a problem of the same size ended.
        barriers: Barrier parameter at the start, and at the solution.
        first_slack: Least slack at the start.
        iterations: At most.
        kinematic: Above 0 mechanics is left out, and this is what a change of the state costs.
        start: Unknowns to begin with, instead of the problem's guess.
        watch: Hears the iteration, the unknowns and the violation; may raise to stop.
    """
    with one_thread_each():  # each node's matrices are small
        solver = NewtonSolver(problem, kinematic=kinematic > 0)
        at = _begin(solver, warm, start, barriers[0], first_slack)
        path = barriers if warm is None else (LAST_BARRIER * 10, barriers[1])
        if kinematic > 0 or problem.soft is not None:
            return _solve(solver, at, path, iterations, watch, still=kinematic)
        quick = _solve(solver, at, path, min(iterations, _HASTY_STEPS), watch, hasty=True)
        if quick.status != "not converged" or warm is not None:  # from there other starts are tried
            return quick
        slow = _solve(solver, at, path, iterations, watch)
        return replace(slow, iterations=quick.iterations + slow.iterations)


def _solve(
    solver: NewtonSolver,
    at: Point,
    barriers: tuple[float, float],
    iterations: int,
    watch: Callable[[int, Floats, float], None] | None,
    hasty: bool = False,
    still: float = 0.0,
) -> TrajectorySolution:
    problem, kinematic = solver.problem, solver.kinematic
    barrier, last_barrier = barriers
    now = solver.values(at.x)
    seen = _Filter(hasty)
    penalty, shift, best = 1.0, 0.0, (np.inf, np.inf, at, now)
    optimality = np.inf
    status, done = "not converged", 0
    enough = _START_VIOLATION if kinematic else 0.0
    least, since, flat = np.inf, 0, [0, 0]
    share, patience = _HASTY if hasty else _GETS_ON
    for done in range(iterations + 1):
        if watch is not None:
            watch(done, at.x, now.violation)
        if now.violation < enough and done > 1:
            break
        if now.violation < share * least or now.violation < _NEAR:
            least, since = now.violation, done
        elif done - since > patience and problem.soft is None:
            break
        solver.assemble(at, now, barrier)
        factors, used = solver.factor(shift)
        shift = still if kinematic else used / 3 if used > 1e-3 else 0.0
        step, multipliers = solver.direction(factors, at, now)
        rise = solver.along(step)
        slack_step = rise + (now.bounds - at.slack)
        dual_step = barrier / at.slack - at.dual / at.slack * slack_step - at.dual
        # The step's size in the matrix's measure tells how far the Lagrangian's gradient is from nothing.
        optimality = float(np.abs(step).max(initial=0.0))
        infeasible = max(now.violation, float(np.abs(now.bounds - at.slack).max(initial=0.0)))
        gap = float(np.abs(at.slack * at.dual - barrier).max(initial=0.0))
        if now.violation < best[0] or (now.violation < FEASIBLE and now.objective < best[1]):
            best = (max(now.violation, FEASIBLE), now.objective, at, now)
        level = barrier <= last_barrier * 1.001 and best[0] <= FEASIBLE and problem.soft is None
        gain = abs(now.objective - best[1])
        flat = [
            count + 1 if level and gain < share * abs(best[1]) else 0
            for count, (share, _) in zip(flat, _SETTLED, strict=True)
        ]
        if any(count > most for count, (_, most) in zip(flat, _SETTLED, strict=True)):
            _, _, at, now = best
            status = "converged"
            break
        if optimality < 10 * _TOLERANCE and infeasible < 10 * barrier and gap < 5 * barrier:
            if barrier <= last_barrier * 1.001 and now.violation <= 0.5 * FEASIBLE and optimality < _TOLERANCE:
                status = "converged"
                break
            if barrier > last_barrier * 1.001:
                before, barrier = barrier, max(last_barrier, min(0.2 * barrier, barrier**1.5))
                seen = _Filter(hasty)
                slack_step, dual_step, step, multipliers = _again(solver, at, now, (before, barrier), factors)
        at, now, penalty = _search(
            solver, at, now, (barrier, penalty), factors, (step, slack_step, dual_step, multipliers), seen
        )
    if status != "converged" and problem.soft is None:  # where constraints are wishes, the last point is the best
        _, _, at, now = best if best[0] <= max(now.violation, FEASIBLE) else (0.0, 0.0, at, now)
        status = "feasible" if now.violation <= FEASIBLE else status
    return TrajectorySolution(at.x, status, done, now.violation, now.objective, optimality, at, solver.factorizations)


class _Filter:
    """Points that were left: sums of violations and barrier objectives, one of which later points must better."""

    def __init__(self, hasty: bool = False) -> None:
        self.hasty = hasty
        self._left: list[tuple[float, float]] = []

    def add(self, now: Values, slack: Floats, barrier: float) -> None:
        objective, wrong = _merit(now, slack, barrier, 0.0)
        self._left.append((wrong, objective))

    def accepts(self, then: Values, slack: Floats, barrier: float) -> bool:
        objective, wrong = _merit(then, slack, barrier, 0.0)
        if not np.isfinite(objective) or then.violation > _ASTRAY:
            return False
        return all(wrong < 0.99 * w or objective < o - 1e-3 * w for w, o in self._left)


def _again(
    solver: NewtonSolver, at: Point, now: Values, barriers: tuple[float, float], factors: Any
) -> tuple[Any, ...]:
    """The step for a smaller barrier, with the same matrix's factors: only the gradient changes."""
    solver.lower(at, *barriers)
    barrier = barriers[1]
    step, multipliers = solver.direction(factors, at, now)
    slack_step = solver.along(step) + (now.bounds - at.slack)
    return slack_step, barrier / at.slack - at.dual / at.slack * slack_step - at.dual, step, multipliers


def _begin(solver: NewtonSolver, warm: Point | None, start: Floats | None, barrier: float, least: float) -> Point:
    problem = solver.problem
    if warm is not None and len(warm.x) == problem.size and warm.root.shape[0] == problem.nodes:
        now = solver.values(warm.x)
        if len(now.bounds) == len(warm.dual):
            slack = np.maximum(now.bounds, np.maximum(WARM_SLACK, 0.2 * warm.slack))
            return Point(
                warm.x, slack, np.clip(warm.dual, 1e-6, 10 * LAST_BARRIER / slack), warm.root, warm.places, warm.poses
            )
    x = problem.start() if start is None else start
    now = solver.values(x)
    slack = np.maximum(now.bounds, least)
    return Point(
        x, slack, barrier / slack, np.zeros((solver.count, 6)), np.zeros((solver.count, solver.npts, 3)),
        np.zeros((solver.count, solver.ny)),
    )  # fmt: skip


def _most(values: Floats, step: Floats, share: float) -> float:
    """How far one may go until the first value has lost this share of itself."""
    falling = step < 0
    return float(min(1.0, (-share * values[falling] / step[falling]).min(initial=1.0)))


def _merit(now: Values, slack: Floats, barrier: float, penalty: float) -> tuple[float, float]:
    """The ℓ1 merit, and the sum of violations."""
    wrong = sum(float(np.abs(part).sum()) for part in (now.root, now.places, now.poses, now.bounds - slack))
    return now.objective - barrier * float(np.log(slack).sum()) + penalty * wrong, wrong


def _search(
    solver: NewtonSolver, at: Point, now: Values, how: tuple[float, float], factors: Any, steps: tuple[Any, ...],
    seen: _Filter,
) -> tuple[Point, Values, float]:  # fmt: skip
    """The next point: as far along the step as the merit falls enough, or the filter lets it."""
    barrier, penalty = how
    step, slack_step, dual_step, (root, places, poses) = steps
    share = max(0.99, 1 - barrier)
    far, far_dual = _most(at.slack, slack_step, share), _most(at.dual, dual_step, share)
    _, wrong = _merit(now, at.slack, barrier, 0.0)
    # ∇f·dx − Σ barrier/s ds, the gradient without the inequalities' part being hidden in `grad`.
    slope = (
        float(solver.grad @ step)
        + float(
            (barrier / at.slack - at.dual / at.slack * (now.bounds - at.slack)) @ (slack_step - (now.bounds - at.slack))
        )
        - float((barrier / at.slack) @ slack_step)
    )
    if wrong > 1e-9:
        penalty = max(penalty, 1.5 * slope / wrong + 1e-3, penalty)
    start, _ = _merit(now, at.slack, barrier, penalty)
    fall = min(slope - penalty * wrong, -1e-12)
    ahead = _hastened(solver, at, steps, far, (barrier, penalty, start, fall)) if seen.hasty else None
    length, corrected = far, False
    for attempt in range(18):
        if ahead is not None:
            moved, then, length = ahead
            break
        moved = Point(at.x + length * step, at.slack + length * slack_step, at.dual, at.root, at.places, at.poses)
        then = solver.values(moved.x)
        merit, _ = _merit(then, moved.slack, barrier, penalty)
        if np.isfinite(merit) and merit <= start + 1e-4 * length * fall + 1e-10 * abs(start):
            break
        if now.violation < _NEAR and seen.accepts(then, moved.slack, barrier):
            break
        if attempt == 0 and not corrected:
            corrected = True
            better = _corrected(solver, at, now, then, moved, factors, (step, slack_step), (barrier, penalty, share))
            if better is not None and better[2] <= start + 1e-4 * far * fall:
                moved, then = better[0], better[1]
                break
        length *= 0.5
    seen.add(now, at.slack, barrier)
    dual = np.maximum(at.dual + far_dual * dual_step, 1e-12)
    # Multipliers that have lost touch with their slacks come back.
    dual = np.clip(dual, barrier / (1e8 * moved.slack), 1e8 * barrier / moved.slack)
    blend = min(1.0, length)
    begin_at = Point(
        moved.x, moved.slack, dual, at.root + blend * (root - at.root), at.places + blend * (places - at.places),
        at.poses + blend * (poses - at.poses),
    )  # fmt: skip
    return begin_at, then, penalty


def _hastened(
    solver: NewtonSolver, at: Point, steps: tuple[Any, ...], far: float, how: tuple[float, float, float, float]
) -> tuple[Point, Values, float] | None:
    """A longer step, where each slack stops by itself: longer than up to `far`, where the first one would stop."""
    step, slack_step = steps[:2]
    barrier, penalty, start, fall = how
    length = 1.0
    while length > 1.5 * far and length > 0.02:
        slack = np.maximum(at.slack + length * slack_step, _KEEPS * at.slack)
        moved = replace(at, x=at.x + length * step, slack=slack)
        then = solver.values(moved.x)
        merit, _ = _merit(then, slack, barrier, penalty)
        if np.isfinite(merit) and merit <= start + max(0.1 * length, far) * fall:
            return moved, then, length
        length *= 0.5
    return None


def _corrected(
    solver: NewtonSolver, at: Point, now: Values, then: Values, moved: Point, factors: Any,
    steps: tuple[Floats, Floats], how: tuple[float, float, float],
) -> tuple[Point, Values, float] | None:  # fmt: skip
    """The second-order correction: a further step that takes the constraints' curvature into account."""
    from scipy.linalg.lapack import dpbtrs

    barrier, penalty, share = how
    right = np.zeros(len(at.x))
    solver.back(solver.weighed((then.root, then.places, then.poses)), right)
    more, _ = dpbtrs(factors, -right, lower=1)
    step = steps[0] + more
    slack_step = solver.along(step) + (now.bounds - at.slack)
    far = _most(at.slack, slack_step, share)
    point = Point(at.x + far * step, at.slack + far * slack_step, at.dual, at.root, at.places, at.poses)
    value = solver.values(point.x)
    merit, _ = _merit(value, point.slack, barrier, penalty)
    return (point, value, merit) if np.isfinite(merit) else None
