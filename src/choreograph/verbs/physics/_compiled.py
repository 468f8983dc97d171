"""A motion problem's values and its banded Newton matrix, node by node.

Unknowns stand in blocks: block b holds the spline's coefficients c_b (ny) and behind them the forces (3 for each point
that pushes) at node b − 1. At node k the spline and its derivatives are sums over c_k, c_{k+1} and c_{k+2}, so a node
touches three blocks in a row, and the matrix is banded. Nodes need not be equally far apart. `spec` is from
`problem.Problem.spec`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from choreograph.base.arrays import Floats, Ints32
from choreograph.base.compiling import njit
from choreograph.dynamics._compiled import make_work, values

fast: Any = njit(cache=True, nogil=True, fastmath=True)


@fast
def coordinates(spec: Any, x: Floats) -> Any:
    """The low-dimensional state at the nodes and its two derivatives, each (K, ny)."""
    off, ny, stencils = spec[1], spec[2].shape[1], spec[15]
    count = len(off) - 3
    y, v, a = np.empty((count, ny)), np.empty((count, ny)), np.empty((count, ny))
    for k in range(count):
        i, j, m = off[k], off[k + 1], off[k + 2]
        st = stencils[k]
        for r in range(ny):
            p, q, s = x[i + r], x[j + r], x[m + r]
            y[k, r] = st[0, 0] * p + st[0, 1] * q + st[0, 2] * s
            v[k, r] = st[1, 0] * p + st[1, 1] * q + st[1, 2] * s
            a[k, r] = st[2, 0] * p + st[2, 1] * q + st[2, 2] * s
    return y, v, a


@fast
def _chain(spec: Any, work: Any, point: int, idx: Ints32, arm: Floats, turn: Floats) -> int:
    """How many degrees of freedom move a point; root first, their indices, ∂p/∂q and axes; its position in arm[-1]."""
    parents, turns = spec[0][0], spec[0][1]
    holder, offset = spec[5][point], spec[6][point]
    rot, org, axis = work[0], work[1], work[2]
    count = 0
    j = holder
    while j >= 0:
        count += 1
        j = parents[j]
    px = org[holder, 0] + rot[holder, 0, 0] * offset[0] + rot[holder, 0, 1] * offset[1] + rot[holder, 0, 2] * offset[2]
    py = org[holder, 1] + rot[holder, 1, 0] * offset[0] + rot[holder, 1, 1] * offset[1] + rot[holder, 1, 2] * offset[2]
    pz = org[holder, 2] + rot[holder, 2, 0] * offset[0] + rot[holder, 2, 1] * offset[1] + rot[holder, 2, 2] * offset[2]
    j = holder
    for c in range(count - 1, -1, -1):
        idx[c] = j
        if turns[j]:
            ax, ay, az = axis[j, 0], axis[j, 1], axis[j, 2]
            dx, dy, dz = px - org[j, 0], py - org[j, 1], pz - org[j, 2]
            turn[c, 0], turn[c, 1], turn[c, 2] = ax, ay, az
            arm[c, 0], arm[c, 1], arm[c, 2] = ay * dz - az * dy, az * dx - ax * dz, ax * dy - ay * dx
        else:
            turn[c, 0] = turn[c, 1] = turn[c, 2] = 0.0
            arm[c, 0], arm[c, 1], arm[c, 2] = axis[j, 3], axis[j, 4], axis[j, 5]
        j = parents[j]
    last = len(arm) - 1
    arm[last, 0], arm[last, 1], arm[last, 2] = px, py, pz
    return count


@fast
def evaluate(spec: Any, x: Floats, tau: Floats, q_out: Floats, p_out: Floats) -> float:
    """Objective; fills the torques less what contacts give (K, n), coordinates (K, n) and points (K, P, 3)."""
    tree, off, w, q0, active = spec[0], spec[1], spec[2], spec[3], spec[4]
    gravity, spans = spec[9][0], spec[16]
    w_torque, w_rate = spec[9][1], spec[9][2]
    quad_y, quad_a, base = spec[10], spec[11], spec[12]
    y, v, a = coordinates(spec, x)
    count, n, npts = len(y), q0.shape[1], len(spec[5])
    ny = w.shape[1]
    work = make_work(n, gravity)
    idx = np.empty(n, np.int32)
    arm, turn = np.empty((n + 1, 3)), np.empty((n, 3))
    qv, qa = v @ w.T + spec[13], a @ w.T + spec[14]
    q_out[:, :] = y @ w.T + q0
    total = 0.0
    for k in range(count):
        h = spans[k]
        values(tree, gravity, q_out[k], qv[k], qa[k], work, tau[k])
        at = off[k + 1] + ny
        for p in range(npts):
            size = _chain(spec, work, p, idx, arm, turn)
            for b in range(3):
                p_out[k, p, b] = arm[n, b]
            if active[k, p]:
                fx, fy, fz = x[at], x[at + 1], x[at + 2]
                at += 3
                for c in range(size):
                    tau[k, idx[c]] -= arm[c, 0] * fx + arm[c, 1] * fy + arm[c, 2] * fz
        for i in range(6, n):
            total += h * w_torque * tau[k, i] ** 2
        dy = y[k] - base[k]
        total += 0.5 * h * (dy @ (quad_y @ dy)) + 0.5 * h * (a[k] @ (quad_a @ a[k]))
    total += _force_rate(spec, x, w_rate)
    return total


@fast
def _force_rate(spec: Any, x: Floats, weight: float) -> float:
    off, ny, active, gaps = spec[1], spec[2].shape[1], spec[4], spec[17]
    count, npts = active.shape
    total = 0.0
    before = np.zeros((npts, 3))
    now = np.zeros((npts, 3))
    for k in range(count + 1):
        now[:, :] = 0.0
        if k < count:
            at = off[k + 1] + ny
            for p in range(npts):
                if active[k, p]:
                    for b in range(3):
                        now[p, b] = x[at + b]
                    at += 3
        if 0 < k < count:
            for p in range(npts):
                for b in range(3):
                    total += weight / gaps[k - 1] * (now[p, b] - before[p, b]) ** 2
        for p in range(npts):
            for b in range(3):
                before[p, b] = now[p, b]
    return total


@fast
def pushed(
    spec: Any,
    row_g: Floats,
    q_g: Floats,
    p_g: Floats,
    f_g: Floats,
    r_g: Floats,
    jac: Floats,
    arms_y: Floats,
    grad: Floats,
) -> None:
    """Add to the gradient what weights of rows, coordinates, points, forces and rates give, as `assemble` does."""
    off, w, active = spec[1], spec[2], spec[4]
    slope, stencils = spec[9][3], spec[15]
    ny, n = w.shape[1], jac.shape[1]
    count, npts = arms_y.shape[0], arms_y.shape[1]
    places = np.full((count, npts), -1, np.int64)
    gq = q_g @ w
    for k in range(count):
        nf = off[k + 2] - off[k + 1] - ny
        g = np.zeros(3 * ny + nf)
        for i in range(n):
            weight = row_g[k, i]
            if weight != 0.0:
                for r in range(3 * ny + nf):
                    g[r] += weight * jac[k, i, r]
        gy = gq[k].copy()
        c = 3 * ny
        for p in range(npts):
            for b in range(3):
                weight = p_g[k, p, b]
                if weight != 0.0:
                    for r in range(ny):
                        gy[r] += weight * arms_y[k, p, b, r]
            if active[k, p]:
                push = f_g[k, p]
                g[c] += push[0] - push[1]
                g[c + 1] += slope * (push[0] + push[1] + push[2] + push[3]) - push[4]
                g[c + 2] += push[2] - push[3]
                places[k, p] = off[k + 1] + ny + c - 3 * ny
                c += 3
        for s in range(3):
            for r in range(ny):
                grad[off[k + s] + r] += g[s * ny + r] + stencils[k, 0, s] * gy[r]
        for r in range(nf):
            grad[off[k + 1] + ny + r] += g[3 * ny + r]
    for k in range(count - 1):
        for p in range(npts):
            if places[k, p] >= 0:
                grad[places[k, p] + 1] -= r_g[k, p]
            if places[k + 1, p] >= 0:
                grad[places[k + 1, p] + 1] += r_g[k, p]


@fast
def forward(spec: Any, dx: Floats, jac: Floats, arms_y: Floats, most: int) -> Any:
    """How the first so many torque rows (K, most), points (K, P, 3) and the state (K, ny) change along dx."""
    off, ny = spec[1], spec[2].shape[1]
    count, npts = jac.shape[0], arms_y.shape[1]
    dy, _, _ = coordinates(spec, dx)
    rows, pts = np.empty((count, most)), np.empty((count, npts, 3))
    for k in range(count):
        nf = off[k + 2] - off[k + 1] - ny
        local = np.empty(3 * ny + nf)
        for s in range(3):
            local[s * ny : (s + 1) * ny] = dx[off[k + s] : off[k + s] + ny]
        local[3 * ny :] = dx[off[k + 1] + ny : off[k + 1] + ny + nf]
        for i in range(most):
            total = 0.0
            for r in range(len(local)):
                total += jac[k, i, r] * local[r]
            rows[k, i] = total
        for p in range(npts):
            for b in range(3):
                total = 0.0
                for r in range(ny):
                    total += arms_y[k, p, b, r] * dy[k, r]
                pts[k, p, b] = total
    return rows, pts, dy


@fast
def backward(spec: Any, root: Floats, pts: Floats, state: Floats, jac: Floats, arms_y: Floats, out: Floats) -> None:
    """Add Jᵀ of the equalities: root rows (K, 6), points (K, P, 3), state (K, ny)."""
    off, ny, stencils = spec[1], spec[2].shape[1], spec[15]
    count, npts = arms_y.shape[0], arms_y.shape[1]
    for k in range(count):
        share = stencils[k, 0]
        nf = off[k + 2] - off[k + 1] - ny
        for i in range(6):
            weight = root[k, i]
            for s in range(3):
                for r in range(ny):
                    out[off[k + s] + r] += weight * jac[k, i, s * ny + r]
            for r in range(nf):
                out[off[k + 1] + ny + r] += weight * jac[k, i, 3 * ny + r]
        for r in range(ny):
            total = state[k, r]
            for p in range(npts):
                for b in range(3):
                    total += pts[k, p, b] * arms_y[k, p, b, r]
            for s in range(3):
                out[off[k + s] + r] += share[s] * total
