"""A banded interior point for motion problems.

Inequalities have slacks and are condensed; equalities enter the matrix as ρ JᵀJ, and their multipliers are refined, so
that the matrix is banded and positive definite: LAPACK's banded Cholesky factors it, and where that fails the curvature
is wrong and a diagonal is added. An ℓ1 merit function with a second-order correction guards the steps.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choreograph.editing.physics.problem import Problem

Array = NDArray[np.float64]

RHO = 1e7
"""Weight of the equalities in the matrix."""
LAST_BARRIER = 1e-5
FEASIBLE = 1e-6
"""Largest violation of a constraint at a solution: BW, BW·m, m, rad."""
_MARGIN_RAD = 0.008
_START_VIOLATION = 2e-3
"""Violation at which the kinematic stage is near enough."""
_TOLERANCE = 2e-3
"""Of the Lagrangian's gradient, against an objective scaled by 50."""


@dataclass
class Point:
    """Where the solver is: unknowns, slacks, multipliers."""

    x: Array
    slack: Array
    dual: Array
    root: Array
    """Multipliers of the root's rows, (K, 6)."""
    places: Array
    """Of the held points, (K, P, 3)."""
    poses: Array
    """Of the given states, (K, ny)."""


@dataclass
class Values:
    """Everything at a point."""

    objective: float
    tau: Array
    q: Array
    points: Array
    y: Array
    bounds: Array
    """Inequalities, non-negative where they hold."""

    root: Array = field(default_factory=lambda: np.zeros(0))
    places: Array = field(default_factory=lambda: np.zeros(0))
    poses: Array = field(default_factory=lambda: np.zeros(0))

    @property
    def violation(self) -> float:
        """The largest of any constraint."""
        worst = max(float(np.abs(part).max(initial=0.0)) for part in (self.root, self.places, self.poses))
        return max(worst, float(-self.bounds.min(initial=0.0)))


@dataclass(frozen=True, eq=False)
class Solution:
    """What came of it."""

    x: Array
    status: str
    """"converged", "feasible" (every constraint holds, the objective could still fall) or "not converged"."""
    iterations: int
    violation: float
    objective: float
    optimality: float
    """Size of Newton's last step."""
    point: Point
    factorizations: int = 0


class Solver:
    """Newton's method on a problem with a barrier."""

    def __init__(self, problem: Problem, *, kinematic: bool = False) -> None:
        """Make room for it.

        Args:
            problem: What is asked.
            kinematic: Whether mechanics is left out: poses, contacts, limits and smoothness alone count.
        """
        from choreograph.editing.physics import _compiled

        self.problem, self.kernel, self.spec = problem, _compiled, problem.kinematic_spec if kinematic else problem.spec
        self.kinematic = kinematic
        count, points, n = problem.nodes, problem.active.shape[1], len(problem.origin)
        self.ny = problem.w.shape[1]
        self.n, self.count, self.npts = n, count, points
        self.h, self.w_torque = problem.h, float(self.spec[9][2])
        lower, upper = np.array(problem.dofs.lower), np.array(problem.dofs.upper)
        # A little inside of the limits, so that they hold between the nodes too.
        self.low, self.high = lower[6:] + _MARGIN_RAD, upper[6:] - _MARGIN_RAD
        self.most = problem.torque_limits[6:]
        per_node = [
            np.isfinite(self.most), np.isfinite(self.most), np.isfinite(self.high), np.isfinite(self.low),
        ]  # fmt: skip
        masks = [np.tile(mask, (count, 1)) for mask in per_node]
        if kinematic:
            masks[0][:] = masks[1][:] = False
        masks.append(np.repeat(problem.active[:, :, None], _compiled.FORCE_ROWS, axis=2))
        masks.append(~problem.held & np.isfinite(problem.floor) & (not kinematic))
        self.shapes = [mask.shape for mask in masks]
        self.mask = np.concatenate([mask.ravel() for mask in masks])
        self.cuts = np.cumsum([mask.size for mask in masks])[:-1]
        self.band = np.zeros((problem.size, problem.width))
        self.grad = np.zeros(problem.size)
        self.jac = np.zeros((count, n, 3 * self.ny + 3 * points))
        self.arms = np.zeros((count, points, 3, self.ny))
        self.held3 = np.repeat(problem.held[:, :, None], 3, axis=2).astype(float)
        self.given = problem.pose_mask.astype(float)
        self.factorizations = 0

    # ------------------------------------------------------------------ values

    def values(self, x: Array) -> Values:
        """All of a problem's values at x."""
        problem = self.problem
        tau, q = np.empty((self.count, self.n)), np.empty((self.count, self.n))
        points = np.empty((self.count, self.npts, 3))
        objective = self.kernel.evaluate(self.spec, x, tau, q, points)
        y, _, _ = self.kernel.coordinates(self.spec, x)
        found = Values(float(objective), tau, q, points, y, np.zeros(0))
        found.root = 0.0 * tau[:, :6] if self.kinematic else tau[:, :6]
        found.places = self.held3 * (points - problem.targets)
        found.poses = self.given * (y - problem.pose_values)
        found.bounds = self._bounds(tau, q, points, problem.forces(x))
        return found

    def _bounds(self, tau: Array, q: Array, points: Array, forces: Array, ends: bool = True) -> Array:
        """Inequalities; with `ends` False their linear parts, for directions."""
        one = 1.0 if ends else 0.0
        s, most = self.problem.slope, self.problem.most_force
        fx, fy, fz = forces[..., 0], forces[..., 1], forces[..., 2]
        push = np.stack([s * fy + fx, s * fy - fx, s * fy + fz, s * fy - fz, one * most - fy], axis=2)
        with np.errstate(invalid="ignore"):
            parts = [
                one * self.most - tau[:, 6:], one * self.most + tau[:, 6:], one * self.high - q[:, 6:],
                q[:, 6:] - one * self.low, push, points[..., 1] - one * self.problem.floor,
            ]  # fmt: skip
        return np.concatenate([part.ravel() for part in parts])[self.mask]

    def spread(self, values: Array) -> list[Array]:
        """A value per inequality as arrays: torques high, low, coordinates high, low, forces, floor."""
        full = np.zeros(len(self.mask))
        full[self.mask] = values
        return [part.reshape(shape) for part, shape in zip(np.split(full, self.cuts), self.shapes, strict=True)]

    # ------------------------------------------------------------------ steps

    def assemble(self, at: Point, now: Values, barrier: float) -> None:
        """Fill matrix and gradient."""
        sigma = at.dual / at.slack
        push = barrier / at.slack - sigma * (now.bounds - at.slack)
        z_hi, z_lo, _, _, _, z_floor = self.spread(at.dual)
        s_hi, s_lo, sq_hi, sq_lo, s_force, s_floor = self.spread(sigma)
        g_hi, g_lo, gq_hi, gq_lo, g_force, g_floor = self.spread(push)
        inner = 2 * self.h * self.w_torque
        mu, row_w, row_g = np.empty_like(now.tau), np.empty_like(now.tau), np.zeros_like(now.tau)
        mu[:, :6], row_w[:, :6] = (0.0, 0.0) if self.kinematic else (at.root, RHO)
        mu[:, 6:] = inner * now.tau[:, 6:] + z_hi - z_lo
        row_w[:, 6:] = inner + s_hi + s_lo
        row_g[:, 6:] = inner * now.tau[:, 6:] + g_hi - g_lo
        q_w, q_g = np.zeros_like(now.tau), np.zeros_like(now.tau)
        q_w[:, 6:], q_g[:, 6:] = sq_hi + sq_lo, gq_hi - gq_lo
        lam, p_w, p_g = at.places * self.held3, RHO * self.held3, np.zeros_like(self.held3)
        lam[..., 1] -= z_floor
        p_w[..., 1] += s_floor
        p_g[..., 1] -= g_floor
        self.kernel.assemble(
            self.spec, at.x, mu, lam, row_w, row_g, q_w, q_g, p_w, p_g, RHO * self.given, s_force, -g_force,
            self.band, self.grad, self.jac, self.arms,
        )  # fmt: skip

    def factor(self, least: float) -> tuple[Any, float]:
        """Cholesky factors of the band, and the diagonal that it took."""
        from scipy.linalg.lapack import dpbtrf

        shift = least
        for _ in range(24):
            matrix = self.band.copy()
            if shift:
                matrix[:, 0] += shift
            factors, info = dpbtrf(matrix.T, lower=1, overwrite_ab=1)
            self.factorizations += 1
            if info == 0:
                return factors, shift
            shift = max(1e-3, 8.0 * shift)
        raise np.linalg.LinAlgError("no diagonal makes the matrix positive definite")

    def direction(self, factors: Any, at: Point, now: Values, refine: int = 3) -> tuple[Array, tuple[Array, ...]]:
        """Newton's step and the equalities' new multipliers."""
        from scipy.linalg.lapack import dpbtrs

        root, places, poses = np.array(at.root), np.array(at.places), np.array(at.poses)
        step = np.zeros(len(at.x))
        for turn in range(refine):
            right = np.array(self.grad)
            self.kernel.backward(
                self.spec, (0.0 if self.kinematic else 1.0) * root + RHO * now.root,
                self.held3 * (places + RHO * now.places), self.given * (poses + RHO * now.poses),
                self.jac, self.arms, right,
            )  # fmt: skip
            step, _ = dpbtrs(factors, -right, lower=1)
            rows, _, points, y = self.kernel.forward(self.spec, step, self.jac, self.arms)
            if self.kinematic:
                rows = 0.0 * rows
            left = (now.root + rows[:, :6], now.places + self.held3 * points, now.poses + self.given * y)
            root, places, poses = root + RHO * left[0], places + RHO * left[1], poses + RHO * left[2]
            if turn and max(float(np.abs(part).max(initial=0.0)) for part in left) < 1e-9:
                break
        return step, (root, places, poses)

    def along(self, step: Array) -> Array:
        """How the inequalities change along a step."""
        rows, q, points, _ = self.kernel.forward(self.spec, step, self.jac, self.arms)
        return self._bounds(rows, q, points, self.problem.forces(step), ends=False)


def solve(
    problem: Problem,
    *,
    warm: Point | None = None,
    first_barrier: float = 1e-3,
    first_slack: float = 0.1,
    iterations: int = 120,
    kinematic: bool = False,
    start: Array | None = None,
    watch: Callable[[int, Array, float], None] | None = None,
) -> Solution:
    """The motion that a problem asks for, or the best that was reached.

    Args:
        problem: What is asked.
        warm: Where a search on a problem of the same size ended.
        first_barrier: Barrier parameter at the start.
        first_slack: Least slack at the start.
        iterations: At most.
        kinematic: Whether mechanics is left out.
        start: Unknowns to begin with, instead of the problem's guess.
        watch: Hears the iteration, the unknowns and the violation; may raise to stop.
    """
    solver = Solver(problem, kinematic=kinematic)
    at = _begin(solver, warm, start, first_barrier, first_slack)
    now = solver.values(at.x)
    barrier = first_barrier if warm is None else LAST_BARRIER * 10
    penalty, shift, best = 1.0, 0.0, (np.inf, np.inf, at, now)
    optimality = np.inf
    status, done = "not converged", 0
    enough = _START_VIOLATION if kinematic else 0.0
    for done in range(iterations + 1):
        if watch is not None:
            watch(done, at.x, now.violation)
        if now.violation < enough and done > 1:
            break
        solver.assemble(at, now, barrier)
        factors, used = solver.factor(shift)
        shift = used / 3 if used > 1e-3 else 0.0
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
        if optimality < 10 * _TOLERANCE and infeasible < 10 * barrier and gap < 5 * barrier:
            if barrier <= LAST_BARRIER * 1.001 and now.violation <= 0.5 * FEASIBLE and optimality < _TOLERANCE:
                status = "converged"
                break
            barrier = max(LAST_BARRIER, min(0.2 * barrier, barrier**1.5))
            slack_step, dual_step, step, multipliers = _again(solver, at, now, barrier, factors)
        at, now, penalty = _search(
            solver, at, now, barrier, penalty, factors, (step, slack_step, dual_step, multipliers)
        )
    if status != "converged":
        _, _, at, now = best if best[0] <= max(now.violation, FEASIBLE) else (0.0, 0.0, at, now)
        status = "feasible" if now.violation <= FEASIBLE else status
    return Solution(at.x, status, done, now.violation, now.objective, optimality, at, solver.factorizations)


def _again(solver: Solver, at: Point, now: Values, barrier: float, factors: Any) -> tuple[Any, ...]:
    """The step for a smaller barrier, with the same matrix's factors: only the gradient changes."""
    solver.assemble(at, now, barrier)
    step, multipliers = solver.direction(factors, at, now)
    slack_step = solver.along(step) + (now.bounds - at.slack)
    return slack_step, barrier / at.slack - at.dual / at.slack * slack_step - at.dual, step, multipliers


def _begin(solver: Solver, warm: Point | None, start: Array | None, barrier: float, least: float) -> Point:
    problem = solver.problem
    if warm is not None and len(warm.x) == problem.size and warm.root.shape[0] == problem.nodes:
        now = solver.values(warm.x)
        if len(now.bounds) == len(warm.dual):
            slack = np.maximum(now.bounds, np.maximum(1e-3, 0.2 * warm.slack))
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


def _most(values: Array, step: Array, share: float) -> float:
    """How far one may go until the first value has lost this share of itself."""
    falling = step < 0
    return float(min(1.0, (-share * values[falling] / step[falling]).min(initial=1.0)))


def _merit(now: Values, slack: Array, barrier: float, penalty: float) -> tuple[float, float]:
    """The ℓ1 merit, and the sum of violations."""
    wrong = sum(float(np.abs(part).sum()) for part in (now.root, now.places, now.poses, now.bounds - slack))
    return now.objective - barrier * float(np.log(slack).sum()) + penalty * wrong, wrong


def _search(
    solver: Solver, at: Point, now: Values, barrier: float, penalty: float, factors: Any, steps: tuple[Any, ...]
) -> tuple[Point, Values, float]:
    """The next point: as far along the step as the merit falls enough."""
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
    length, corrected = far, False
    for attempt in range(18):
        moved = Point(at.x + length * step, at.slack + length * slack_step, at.dual, at.root, at.places, at.poses)
        then = solver.values(moved.x)
        merit, _ = _merit(then, moved.slack, barrier, penalty)
        if np.isfinite(merit) and merit <= start + 1e-4 * length * fall + 1e-10 * abs(start):
            break
        if attempt == 0 and not corrected:
            corrected = True
            better = _corrected(solver, at, now, then, moved, factors, (step, slack_step), (barrier, penalty, share))
            if better is not None and better[2] <= start + 1e-4 * far * fall:
                moved, then = better[0], better[1]
                break
        length *= 0.5
    dual = np.maximum(at.dual + far_dual * dual_step, 1e-12)
    # Multipliers that have lost touch with their slacks come back.
    dual = np.clip(dual, barrier / (1e8 * moved.slack), 1e8 * barrier / moved.slack)
    blend = min(1.0, length)
    made = Point(
        moved.x, moved.slack, dual, at.root + blend * (root - at.root), at.places + blend * (places - at.places),
        at.poses + blend * (poses - at.poses),
    )  # fmt: skip
    return made, then, penalty


def _corrected(
    solver: Solver, at: Point, now: Values, then: Values, moved: Point, factors: Any, steps: tuple[Array, Array],
    how: tuple[float, float, float],
) -> tuple[Point, Values, float] | None:  # fmt: skip
    """The second-order correction: a further step that takes the constraints' curvature into account."""
    from scipy.linalg.lapack import dpbtrs

    barrier, penalty, share = how
    right = np.zeros(len(at.x))
    solver.kernel.backward(
        solver.spec, RHO * then.root, RHO * then.places, RHO * then.poses, solver.jac, solver.arms, right
    )
    more, _ = dpbtrs(factors, -right, lower=1)
    step = steps[0] + more
    slack_step = solver.along(step) + (now.bounds - at.slack)
    far = _most(at.slack, slack_step, share)
    point = Point(at.x + far * step, at.slack + far * slack_step, at.dual, at.root, at.places, at.poses)
    value = solver.values(point.x)
    merit, _ = _merit(value, point.slack, barrier, penalty)
    return (point, value, merit) if np.isfinite(merit) else None
