"""IPOPT, by way of CasADi, on the same problem with the same derivatives: a second solver, for where the first fails.

The extra `ipopt` brings it. Tests hold the first solver to it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from choreograph.base.arrays import Flags, Floats, Ints
from choreograph.base.errors import MissingExtra
from choreograph.verbs.physics.interior_point import FEASIBLE, TrajectorySolution
from choreograph.verbs.physics.newton import NewtonSolver, Point, Values
from choreograph.verbs.physics.program import TrajectoryProgram
from choreograph.verbs.physics.solve_stages import Watch

_PAIRS = ((0, 1), (2, 3), (7, 8))
"""Inequalities of a solver that limit one thing from above and from below: torques, coordinates, rates of forces."""


def has_ipopt() -> bool:
    """Whether it is installed."""
    from importlib.util import find_spec

    return find_spec("casadi") is not None


def solve_ipopt(
    problem: TrajectoryProgram,
    start: Floats,
    *,
    iterations: int = 200,
    seconds: float = 60.0,
    watch: Watch | None = None,
) -> TrajectorySolution:
    """The motion that a problem asks for, or the best that IPOPT reached.

    Args:
        problem: What is asked; its constraints are demanded, not wished for.
        start: Unknowns to begin with.
        iterations: At most.
        seconds: Of processor time, at most.
        watch: Hears the evaluation, the unknowns and the violation; may raise to stop.

    Raises:
        MissingExtra: If CasADi is not installed.
    """
    try:
        import casadi
    except ImportError as error:
        raise MissingExtra("IPOPT", "ipopt") from error
    nlp = _Nlp(problem, watch)
    parts = _callbacks(casadi, nlp)
    x = casadi.MX.sym("x", problem.size)
    f, g = parts["fg"](x)
    options = {
        "grad_f": parts["grad_f"], "jac_g": parts["jac_g"], "hess_lag": parts["hess_lag"], "no_nlp_grad": True,
        "print_time": False, "error_on_fail": False, "calc_lam_x": False, "calc_lam_p": False, "calc_f": False,
        "calc_g": False,
        "ipopt": {
            "max_iter": iterations, "max_cpu_time": seconds, "tol": 1e-6, "constr_viol_tol": 0.3 * FEASIBLE,
            "acceptable_iter": 0, "nlp_scaling_method": "none", "mu_init": 1e-3, "print_level": 0, "sb": "yes",
        },
    }  # fmt: skip
    solver = casadi.nlpsol("motion", "ipopt", {"x": x, "f": f, "g": g}, options)
    low, high = np.zeros(nlp.rows), np.concatenate([np.zeros(nlp.equal), nlp.widths])
    try:
        answer = solver(x0=start, lbg=low, ubg=high)
    except RuntimeError:
        if nlp.stopped is None:
            raise
    if nlp.stopped is not None:
        raise nlp.stopped
    return _solution(nlp, np.asarray(answer["x"]).ravel(), np.asarray(answer["lam_g"]).ravel(), solver.stats())


def _solution(nlp: _Nlp, x: Floats, lam: Floats, stats: dict[str, Any]) -> TrajectorySolution:
    now = nlp.solver.values(x)
    root, places, poses = nlp.split(lam[: nlp.equal])
    slack = np.maximum(now.bounds, 1e-9)
    point = Point(x, slack, np.maximum(nlp.duals(lam[nlp.equal :]), 1e-12), root, places, poses)
    done = bool(stats["success"]) and now.violation <= FEASIBLE
    status = "converged" if done else "feasible" if now.violation <= FEASIBLE else "not converged"
    return TrajectorySolution(x, status, int(stats["iter_count"]), now.violation, now.objective, 0.0, point)


class _Nlp:
    """The problem as one function of all unknowns: equalities first, then inequalities, with sparse derivatives."""

    def __init__(self, problem: TrajectoryProgram, watch: Watch | None) -> None:
        self.problem, self.watch = problem, watch
        self.solver = NewtonSolver(problem)
        self.held, self.given = self.solver.held3.astype(bool), problem.pose_mask
        self.equal = 6 * problem.nodes + int(self.held.sum()) + int(self.given.sum())
        # Limits on both sides are one row with a width.
        every = self.solver.spread(np.ones(int(self.solver.mask.sum())))
        self.masks = [part.astype(bool) for part in every]
        for high, low in _PAIRS:
            self.masks[low] &= ~self.masks[high]
        self.kept = np.concatenate([part.ravel() for part in self.masks])[self.solver.mask]
        self.widths = self._widths([part.astype(bool) for part in every])
        self.rows = self.equal + int(self.kept.sum())
        self.evaluations = 0
        self.stopped: BaseException | None = None
        self._at: Floats | None = None
        self._now: Values | None = None
        self._pattern()

    # ------------------------------------------------------------------ values

    def values(self, x: Floats) -> Values:
        """All values at x, computed once."""
        if self._at is None or self._now is None or not np.array_equal(x, self._at):
            self._at, self._now = np.array(x), self.solver.values(x)
            self.evaluations += 1
            if self.watch is not None and self.stopped is None:
                try:
                    self.watch(self.evaluations, x, self._now.violation)
                except BaseException as error:  # handed on once IPOPT has returned
                    self.stopped = error
            if self.stopped is not None:
                raise RuntimeError("stopped")
        return self._now

    def constraints(self, now: Values) -> Floats:
        """Equalities, then inequalities."""
        return np.concatenate([now.root.ravel(), now.places[self.held], now.poses[self.given], now.bounds[self.kept]])

    def _widths(self, every: list[Flags]) -> Floats:
        """How large each inequality that is kept may get."""
        s = self.solver
        wide = [np.full(part.shape, np.inf) for part in every]
        sizes = (2 * s.most, s.high - s.low, 2 * s.most_change)
        for (high, low), size in zip(_PAIRS, sizes, strict=True):
            wide[high] = np.where(every[low], size, np.inf)
        return np.concatenate([part.ravel() for part in wide])[s.mask][self.kept]

    def spread(self, lam: Floats) -> list[Floats]:
        """Multipliers of the inequalities that are kept, as the solver's arrays."""
        full = np.zeros(len(self.kept))
        full[self.kept] = lam
        return self.solver.spread(full)

    def duals(self, lam: Floats) -> Floats:
        """Multipliers of all inequalities, as the first solver has them."""
        parts = self.spread(lam)
        for high, low in _PAIRS:
            parts[low] = np.where(self.masks[low], parts[low], -parts[high])
        return np.concatenate([-part.ravel() for part in parts])[self.solver.mask]

    def split(self, lam: Floats) -> tuple[Floats, Floats, Floats]:
        """Multipliers of the equalities as arrays: root, places, poses."""
        root = lam[: 6 * self.problem.nodes].reshape(-1, 6)
        places, poses = np.zeros(self.held.shape), np.zeros(self.given.shape)
        cut = 6 * self.problem.nodes + int(self.held.sum())
        places[self.held], poses[self.given] = lam[6 * self.problem.nodes : cut], lam[cut:]
        return root, places, poses

    # ------------------------------------------------------------------ derivatives

    def assemble(self, x: Floats, factor: float, lam: Floats) -> None:
        """Fill the solver's band and gradient with those of factor · objective + lam · constraints, over the factor."""
        s, now = self.solver, self.values(x)
        root, places, _ = self.split(lam[: self.equal] / factor)
        z_hi, z_lo, _, _, _, z_floor, _, _, _ = self.spread(lam[self.equal :] / factor)
        inner = 2 * s.h * s.w_torque
        mu, row_w, row_g = np.empty_like(now.tau), np.zeros_like(now.tau), np.zeros_like(now.tau)
        mu[:, :6], mu[:, 6:] = root, inner * now.tau[:, 6:] - z_hi + z_lo
        row_w[:, 6:], row_g[:, 6:] = inner, inner * now.tau[:, 6:]
        places[..., 1] += z_floor
        zero, points = np.zeros_like(now.tau), np.zeros(self.held.shape)
        forces, rates = np.zeros((s.count, s.npts, s.matrix.FORCE_ROWS)), np.zeros((s.count - 1, s.npts))
        s.matrix.assemble(
            s.spec, x, mu, places, row_w, row_g, zero, zero, points, points, np.zeros(self.given.shape), forces, forces,
            np.zeros((s.count, s.npts)), rates, rates, s.band, s.grad, s.jac, s.arms,
        )  # fmt: skip

    def gradient(self, x: Floats) -> Floats:
        """Of the objective."""
        self.assemble(x, 1.0, np.zeros(self.rows))
        return np.array(self.solver.grad)

    def hessian(self, x: Floats, factor: float, lam: Floats) -> Floats:
        """Entries of the upper triangle, in the order of the pattern."""
        factor = max(factor, 1e-8)
        self.assemble(x, factor, lam)
        return np.asarray(factor * self.solver.band[self.hess_cols, self.hess_offsets])

    def jacobian(self, x: Floats) -> Floats:
        """Entries, in the order of the pattern."""
        self.assemble(x, 1.0, np.zeros(self.rows))
        s, problem = self.solver, self.problem
        stencil = problem.spline.stencils[:, 0]
        arms = stencil[:, None, None, :, None] * s.arms[:, :, :, None, :]  # (K, P, 3, 3, ny)
        jac = [s.jac[k, :, : 3 * s.ny + self.forces[k]] for k in range(s.count)]
        out = [part[:6].ravel() for part in jac]
        out.append(arms[self.held].ravel())
        out.append(np.repeat(stencil[:, None, :], s.ny, axis=1)[self.given].ravel())
        hi, lo, q_hi, q_lo, push, floor, both, up, down = self.masks
        out += [-part[6:][hi[k]].ravel() for k, part in enumerate(jac)]
        out += [part[6:][lo[k]].ravel() for k, part in enumerate(jac)]
        lines = stencil[:, None, :, None] * problem.w[None, 6:, None, :]  # (K, n − 6, 3, ny)
        out += [-lines[q_hi].ravel(), lines[q_lo].ravel()]
        t = problem.slope
        rows = np.array([[1, t, 0], [-1, t, 0], [0, t, 1], [0, t, -1], [0, -1, 0]], dtype=float)
        out.append(np.tile(rows, (*push.shape[:2], 1, 1))[push].ravel())
        out.append(arms[:, :, 1][floor].ravel())
        out.append(np.full(int((s.together & both).sum()), -1.0))
        for mask, sign in ((up, -1.0), (down, 1.0)):
            active = problem.active
            values = np.stack([-sign * active[:-1], sign * active[1:]], axis=2).astype(float)[mask]
            out.append(values[values != 0])
        return np.concatenate(out)[self.order]

    def _pattern(self) -> None:
        """Rows and columns of the Jacobian's entries, and places of the Hessian's."""
        s, problem = self.solver, self.problem
        off, ny, count = problem.offs.astype(np.int64), s.ny, s.count
        self.forces = np.asarray(off[2:-1] - off[1:-2] - ny)
        three = off[np.arange(count)[:, None] + np.arange(3)][:, :, None] + np.arange(ny)  # (K, 3, ny)
        push_at = np.full((count, s.npts), -1, np.int64)
        for k in range(count):
            push_at[k, problem.active[k]] = off[k + 1] + ny + 3 * np.arange(int(problem.active[k].sum()))
        node = [np.concatenate([three[k].ravel(), off[k + 1] + ny + np.arange(self.forces[k])]) for k in range(count)]
        hi, lo, q_hi, q_lo, push, floor, both, up, down = self.masks
        each: list[Ints] = []  # the columns of each row, in the rows' order
        each += [columns for columns in node for _ in range(6)]
        each += list(np.broadcast_to(three[:, None, None], (*self.held.shape, 3, ny))[self.held].reshape(-1, 3 * ny))
        each += list(np.swapaxes(three, 1, 2)[self.given])
        for mask in (hi, lo):
            each += [node[k] for k in range(count) for _ in range(int(mask[k].sum()))]
        for mask in (q_hi, q_lo):
            each += [three[k].ravel() for k in range(count) for _ in range(int(mask[k].sum()))]
        for k, p, _ in np.argwhere(push):
            each.append(push_at[k, p] + np.arange(3))
        each += [three[k].ravel() for k, _ in np.argwhere(floor)]
        each += [push_at[k, s.together[k]] + 1 for k, _ in np.argwhere(both)]
        for mask in (up, down):
            for k, p in np.argwhere(mask):
                each.append(np.array([at + 1 for at in (push_at[k, p], push_at[k + 1, p]) if at >= 0]))
        rows = np.repeat(np.arange(self.rows), [len(columns) for columns in each])
        columns = np.concatenate(each)
        self.order = np.lexsort((rows, columns))
        self.jac_rows, self.jac_cols = rows[self.order], columns[self.order]
        # The lower band's [c, o] is the upper triangle's (c, c + o); casadi wants them column by column.
        first, offset = np.meshgrid(np.arange(problem.size), np.arange(problem.width), indexing="ij")
        inside = first + offset < problem.size
        first, offset = first[inside], offset[inside]
        by_column = np.lexsort((first, first + offset))
        self.hess_cols, self.hess_offsets = first[by_column], offset[by_column]


def _callbacks(casadi: Any, nlp: _Nlp) -> dict[str, Any]:
    """The problem's functions as CasADi's; they live as long as the dictionary does."""
    dense = casadi.Sparsity.dense
    size, rows = nlp.problem.size, nlp.rows
    jac = casadi.Sparsity.triplet(rows, size, nlp.jac_rows.tolist(), nlp.jac_cols.tolist())
    last = nlp.hess_cols + nlp.hess_offsets
    hess = casadi.Sparsity.triplet(size, size, nlp.hess_cols.tolist(), last.tolist())
    state, none, one = dense(size, 1), casadi.Sparsity(0, 0), dense(1, 1)

    class Call(casadi.Callback):  # type: ignore[misc]
        def __init__(self, name: str, into: list[Any], out: list[Any], work: Any) -> None:
            casadi.Callback.__init__(self)
            self.into, self.out, self.work = into, out, work
            self.construct(name, {})

        def get_n_in(self) -> int:
            return len(self.into)

        def get_n_out(self) -> int:
            return len(self.out)

        def get_sparsity_in(self, i: int) -> Any:
            return self.into[i]

        def get_sparsity_out(self, i: int) -> Any:
            return self.out[i]

        def eval(self, arguments: Any) -> Any:
            flat = [np.asarray(one).ravel() for one in arguments]
            return self.work(flat)

    def both(given: Any) -> Any:
        now = nlp.values(given[0])
        return [now.objective, nlp.constraints(now)]

    def slope(given: Any) -> Any:
        gradient = nlp.gradient(given[0])
        return [nlp.values(given[0]).objective, gradient]

    def rows_of(given: Any) -> Any:
        entries = nlp.jacobian(given[0])
        return [nlp.constraints(nlp.values(given[0])), casadi.DM(jac, entries.tolist())]

    def curves(given: Any) -> Any:
        return [casadi.DM(hess, nlp.hessian(given[0], float(given[2][0]), given[3]).tolist())]

    bounds = dense(rows, 1)
    return {
        "fg": Call("fg", [state], [one, bounds], both),
        "grad_f": Call("grad_f", [state, none], [one, state], slope),
        "jac_g": Call("jac_g", [state, none], [bounds, jac], rows_of),
        "hess_lag": Call("hess_lag", [state, none, one, bounds], [hess], curves),
    }
