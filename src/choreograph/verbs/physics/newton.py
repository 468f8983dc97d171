"""Newton's matrix and step of a motion problem with a barrier.

Inequalities have slacks and are condensed; equalities enter the matrix as Jᵀ ρ J, and their multipliers are refined, so
that the matrix is banded and positive definite: LAPACK's banded Cholesky factors it, and where that fails the curvature
is wrong and a diagonal is added. Rows of forces grow with the square of the nodes' rate, places and poses do not; ρ is
as much smaller for the former, else the matrix is so uneven that rounding alone spoils its factors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.motion.facts import GRAVITY_M_S2
from choreograph.verbs.physics.program import OBJECTIVE_SCALE, TrajectoryProgram

_FAR_RHO, _NEAR_RHO = (1e12, 1e7), (1e12, 1e9)
"""What an equality adds to the matrix, its weight ρ times the square of its row: those of forces, and those of places
and poses; far from a solution, where the latter contradict each other, and nearer, where all have to hold closely."""
_NEAR = 1e-2
"""Violation from which on the latter counts. Much later, and a foot that rolls by the twist of a whole leg comes to its
place so slowly that what is left takes a step that forces do not bear."""
_LEFT = 1e-9
"""What a Newton step may leave of the linearised equalities."""
_FAR = 1e-4
"""Violation above which steps only refine their multipliers."""
_MARGIN_RAD = 0.008


@dataclass
class Point:
    """Where the solver is: unknowns, slacks, multipliers."""

    x: Floats
    slack: Floats
    dual: Floats
    root: Floats
    """Multipliers of the root's rows, (K, 6)."""
    places: Floats
    """Of the held points, (K, P, 3)."""
    poses: Floats
    """Of the given states, (K, ny)."""


@dataclass
class Values:
    """Everything at a point."""

    objective: float
    tau: Floats
    q: Floats
    points: Floats
    y: Floats
    bounds: Floats
    """Inequalities, non-negative where they hold."""

    root: Floats = field(default_factory=lambda: np.zeros(0))
    places: Floats = field(default_factory=lambda: np.zeros(0))
    poses: Floats = field(default_factory=lambda: np.zeros(0))
    wanted_root: Floats = field(default_factory=lambda: np.zeros(0))
    """What nothing gives and a softer problem wants to be nothing, (K, 6)."""
    wanted_places: Floats = field(default_factory=lambda: np.zeros(0))
    """Likewise how far held points are from their places, (K, P, 3)."""

    @property
    def violation(self) -> float:
        """The largest of any constraint."""
        worst = max(float(np.abs(part).max(initial=0.0)) for part in (self.root, self.places, self.poses))
        return max(worst, float(-self.bounds.min(initial=0.0)))


class NewtonSolver:
    """Newton's method on a problem with a barrier."""

    def __init__(self, problem: TrajectoryProgram, *, kinematic: bool = False) -> None:
        """Make room for it.

        Args:
            problem: What is asked.
            kinematic: Whether mechanics is left out: poses, contacts, limits and smoothness alone count.
        """
        from choreograph.verbs.physics import _compiled, _compiled_matrix

        self.problem, self.spec = problem, problem.kinematic_spec if kinematic else problem.spec
        self.kernel, self.matrix = _compiled, _compiled_matrix
        self.kinematic, self.loose = kinematic, kinematic or problem.soft is not None
        soft = problem.soft
        spans = problem.spline.spans
        scale = spans[:, None] * OBJECTIVE_SCALE
        nothing = 0.0 * scale
        self.root_w = nothing if soft is None else scale * soft.root
        self.place_w = (nothing if soft is None else scale * soft.places)[:, :, None]
        count, points, n = problem.nodes, problem.active.shape[1], len(problem.origin)
        self.ny = problem.w.shape[1]
        self.n, self.count, self.npts = n, count, points
        self.h, self.w_torque = spans[:, None], float(self.spec[9][1])
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
        masks.append(np.repeat(problem.active[:, :, None], _compiled_matrix.FORCE_ROWS, axis=2))
        masks.append(~problem.held & np.isfinite(problem.floor) & (not kinematic))
        self.together = problem.together
        masks.append(np.asarray(self.together.any(axis=1, keepdims=True)) & (not kinematic))
        self.most_change = np.zeros((count - 1, 1))
        changes = np.zeros((count - 1, points), bool)
        if problem.force_rate is not None and not kinematic:
            self.most_change = problem.force_rate * np.diff(problem.times)[:, None]
            changes = problem.active[1:] | problem.active[:-1]
        masks += [changes, changes]
        self.shapes = [mask.shape for mask in masks]
        self.mask = np.concatenate([mask.ravel() for mask in masks])
        self.cuts = np.cumsum([mask.size for mask in masks])[:-1]
        self.band = np.zeros((problem.size, problem.width))
        self._fill: Callable[[], None] = lambda: None
        self._room, self._failed = self.band, False
        self.grad = np.zeros(problem.size)
        self.jac = np.zeros((count, n, 3 * self.ny + 3 * points))
        self.arms = np.zeros((count, points, 3, self.ny))
        # An acceleration of the whole body by the coefficient at a node, in gravities, is what a row of forces is like.
        flat = (GRAVITY_M_S2 / problem.spline.stencils[:, 2, 1, None]) ** 2
        self.far, self.near = (
            (forces * flat, np.array(rest), np.array(rest)) for forces, rest in (_FAR_RHO, _NEAR_RHO)
        )
        self.rho = self.far
        self.held3 = np.repeat(problem.held[:, :, None], 3, axis=2).astype(float)
        self.given = problem.pose_mask.astype(float)
        self.factorizations = 0

    # ------------------------------------------------------------------ values

    def values(self, x: Floats) -> Values:
        """All of a problem's values at x."""
        problem = self.problem
        tau, q = np.empty((self.count, self.n)), np.empty((self.count, self.n))
        points = np.empty((self.count, self.npts, 3))
        objective = self.kernel.evaluate(self.spec, x, tau, q, points)
        y, _, _ = self.kernel.coordinates(self.spec, x)
        result = Values(float(objective), tau, q, points, y, np.zeros(0))
        result.root = 0.0 * tau[:, :6] if self.kinematic else tau[:, :6]
        result.places = self.held3 * (points - problem.targets)
        if problem.soft is not None:
            result.wanted_root, result.wanted_places = self._beyond(result.root), result.places
            result.objective += 0.5 * float((self.root_w * result.wanted_root**2).sum())
            result.objective += 0.5 * float((self.place_w * result.places**2).sum())
            result.root, result.places = 0.0 * result.root, 0.0 * result.places
        result.poses = self.given * (y - problem.pose_values)
        result.bounds = self._bounds(tau, q, points, problem.forces(x))
        return result

    def _beyond(self, root: Floats) -> Floats:
        """What the root's rows are beyond what is free."""
        free = 0.0 if self.problem.soft is None else self.problem.soft.free
        return np.asarray(root - np.clip(root, -free, free))

    def _bounds(self, tau: Floats, q: Floats, points: Floats, forces: Floats, ends: bool = True) -> Floats:
        """Inequalities; with `ends` False their linear parts, for directions."""
        one = 1.0 if ends else 0.0
        s, most = self.problem.slope, self.problem.most_forces
        fx, fy, fz = forces[..., 0], forces[..., 1], forces[..., 2]
        change = np.diff(fy, axis=0)
        push = np.stack([s * fy + fx, s * fy - fx, s * fy + fz, s * fy - fz, one * most - fy], axis=2)
        with np.errstate(invalid="ignore"):
            parts = [
                one * self.most - tau[:, 6:], one * self.most + tau[:, 6:], one * self.high - q[:, 6:],
                q[:, 6:] - one * self.low, push, points[..., 1] - one * self.problem.floor,
                one * self.problem.most_together - (self.together * fy).sum(axis=1),
                one * self.most_change - change, one * self.most_change + change,
            ]  # fmt: skip
        return np.concatenate([part.ravel() for part in parts])[self.mask]

    def spread(self, values: Floats) -> list[Floats]:
        """A value per inequality as arrays: torques high, low, coordinates high, low, forces, floor, feet
        together, rates."""
        full = np.zeros(len(self.mask))
        full[self.mask] = values
        return [part.reshape(shape) for part, shape in zip(np.split(full, self.cuts), self.shapes, strict=True)]

    # ------------------------------------------------------------------ steps

    def assemble(self, at: Point, now: Values, barrier: float) -> None:
        """Fill matrix and gradient."""
        self.rho = self.far if now.violation > _NEAR else self.near
        sigma = at.dual / at.slack
        z_hi, z_lo, _, _, _, z_floor, _, _, _ = self.spread(at.dual)
        s_hi, s_lo, sq_hi, sq_lo, s_force, s_floor, s_both, s_up, s_down = self.spread(sigma)
        both = s_both * self.together
        row_g, q_g, p_g, f_g, r_g = self._pushes(barrier / at.slack - sigma * (now.bounds - at.slack))
        if self.kinematic:
            self._fill = partial(
                self.matrix.assemble_places, self.spec, at.x, _beside_root(sq_hi + sq_lo), q_g,
                self.rho[1] * self.held3, p_g, self.rho[2] * self.given, s_force, f_g, both, s_up + s_down, r_g,
                self.band, self.grad, self.arms,
            )  # fmt: skip
            self._fill()
            return
        inner = 2 * self.h * self.w_torque
        mu, row_w = np.empty_like(now.tau), np.empty_like(now.tau)
        mu[:, :6], row_w[:, :6] = at.root, self.rho[0]
        mu[:, 6:] = inner * now.tau[:, 6:] + z_hi - z_lo
        row_w[:, 6:] = inner + s_hi + s_lo
        row_g[:, 6:] += inner * now.tau[:, 6:]
        q_w = _beside_root(sq_hi + sq_lo)
        lam, p_w = at.places * self.held3, self.rho[1] * self.held3
        if self.problem.soft is not None:
            mu[:, :6] = row_g[:, :6] = self.root_w * now.wanted_root
            row_w[:, :6] = self.root_w * (now.wanted_root != 0)
            lam, p_w = self.place_w * now.wanted_places, self.place_w * self.held3
            p_g += lam
        lam[..., 1] -= z_floor
        p_w[..., 1] += s_floor
        self._fill = partial(
            self.matrix.assemble, self.spec, at.x, mu, lam, row_w, row_g, q_w, q_g, p_w, p_g, self.rho[2] * self.given,
            s_force, f_g, both, s_up + s_down, r_g, self.band, self.grad, self.jac, self.arms,
        )  # fmt: skip
        self._fill()

    def lower(self, at: Point, before: float, barrier: float) -> None:
        """Change the gradient to a smaller barrier's; the matrix is the same."""
        parts = self._pushes((barrier - before) / at.slack)
        self.kernel.pushed(self.spec, *parts, self.jac, self.arms, self.grad)

    def _pushes(self, push: Floats) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """What inequalities, each by a weight, add to the gradient: by rows, coordinates, points, forces, rates."""
        g_hi, g_lo, gq_hi, gq_lo, g_force, g_floor, g_both, g_up, g_down = self.spread(push)
        g_force[..., -1] += g_both * self.together  # as if each point's own most were reached
        row_g, q_g = np.zeros((self.count, self.n)), np.zeros((self.count, self.n))
        row_g[:, 6:], q_g[:, 6:] = g_hi - g_lo, gq_hi - gq_lo
        p_g = np.zeros((self.count, self.npts, 3))
        p_g[..., 1] = -g_floor
        return row_g, q_g, p_g, -g_force, g_up - g_down

    def factor(self, least: float) -> tuple[Any, float]:
        """Cholesky factors, which last until the next ones, and the diagonal that it took.

        They take the band's place; after one that failed a copy is kept, since failures come in a row.
        """
        from scipy.linalg.lapack import dpbtrf

        shift, reused = least, self._failed
        for attempt in range(24):
            matrix = self.band
            if reused:
                matrix = self._room
                matrix[:] = self.band
            if shift:
                matrix[:, 0] += shift
            factors, info = dpbtrf(matrix.T, lower=1, overwrite_ab=1)
            self.factorizations += 1
            if info == 0:
                self._failed = attempt > 0
                return factors, shift
            shift = max(1e-3, 8.0 * shift)
            if not reused:
                self._fill()
                self._room, reused = np.empty_like(self.band), True
        raise np.linalg.LinAlgError("no diagonal makes the matrix positive definite")

    def direction(self, factors: Any, at: Point, now: Values, most: int = 14) -> tuple[Floats, tuple[Floats, ...]]:
        """Newton's step and the equalities' new multipliers: by conjugate gradients over the multipliers.

        With the equalities as Jᵀ ρ J in the matrix K, what a step leaves of them falls as J K⁻¹ Jᵀ says, which is
        nearly 1 / ρ: with that as preconditioner a few turns do. Points of one foot are more than it takes to hold it,
        so far from a solution their linearised places contradict each other: there, plain refinement stops short of
        that.
        """
        from scipy.linalg.lapack import dpbtrs

        had, have = (at.root, at.places, at.poses), (now.root, now.places, now.poses)
        right = np.array(self.grad)
        self.back(tuple(old + part for old, part in zip(had, self.weighed(have), strict=True)), right)
        step, _ = dpbtrs(factors, -right, lower=1)
        more = [np.zeros_like(part) for part in had]
        left = [part + change for part, change in zip(have, self._ahead(step), strict=True)]
        towards = self.weighed(left)
        size = _product(left, towards)
        far = now.violation > _FAR
        for _ in range(2 if far else most):
            if max(float(np.abs(part).max(initial=0.0)) for part in left) < _LEFT:
                break
            right = np.zeros(len(at.x))
            self.back(towards, right)
            turn, _ = dpbtrs(factors, right, lower=1)
            change = self._ahead(turn)
            curve = _product(towards, change)
            if not curve > 0:
                break
            share = 1.0 if far else size / curve
            step = step - share * turn
            for part, way, rest, gone in zip(more, towards, left, change, strict=True):
                part += share * way
                rest -= share * gone
            ahead = self.weighed(left)
            before, size = size, _product(left, ahead)
            if size > before:
                break
            reused = 0.0 if far else size / before
            towards = tuple(one + reused * way for one, way in zip(ahead, towards, strict=True))
        return step, tuple(old + new + rest for old, new, rest in zip(had, more, self.weighed(left), strict=True))

    def weighed(self, parts: Sequence[Floats]) -> tuple[Floats, ...]:
        """What equalities are, each times its ρ."""
        return tuple(np.asarray(rho * part) for rho, part in zip(self.rho, parts, strict=True))

    def back(self, parts: tuple[Floats, ...], out: Floats) -> None:
        """Add Jᵀ of the equalities."""
        root = 0.0 * parts[0] if self.loose else parts[0]
        hard = self.held3 * (self.problem.soft is None)
        self.kernel.backward(self.spec, root, hard * parts[1], self.given * parts[2], self.jac, self.arms, out)

    def _ahead(self, step: Floats) -> tuple[Floats, Floats, Floats]:
        """How the equalities change along a step."""
        root, points, y = self.kernel.forward(self.spec, step, self.jac, self.arms, 6)
        if self.loose:
            root[:] = 0.0
        return root, self.held3 * points * (self.problem.soft is None), self.given * y

    def along(self, step: Floats) -> Floats:
        """How the inequalities change along a step."""
        rows, points, y = self.kernel.forward(self.spec, step, self.jac, self.arms, self.n)
        return self._bounds(rows, y @ self.problem.w.T, points, self.problem.forces(step), ends=False)


def _beside_root(joints: Floats) -> Floats:
    """Values of the joints (K, n − 6) as values of all coordinates, the root's nothing."""
    return np.concatenate([np.zeros((len(joints), 6)), joints], axis=1)


def _product(one: Sequence[Floats], other: Sequence[Floats]) -> float:
    return sum(float(np.vdot(a, b)) for a, b in zip(one, other, strict=True))
