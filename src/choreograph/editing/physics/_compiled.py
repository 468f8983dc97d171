"""A motion problem's values and its banded Newton matrix, node by node.

Unknowns stand in blocks: block b holds the spline's coefficients c_b (ny) and behind them the forces (3 for each point
that pushes) at node b − 1. At node k the spline and its derivatives are sums over c_k, c_{k+1} and c_{k+2}, so a node
touches three blocks in a row, and the matrix is banded. Nodes need not be equally far apart. `spec` is from
`problem.Problem.spec`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from choreograph.dynamics._compiled import derivatives, make_work, values

Array = NDArray[np.float64]
Ints = NDArray[np.int32]

fast: Any = njit(cache=True, nogil=True, fastmath=True)

FORCE_ROWS = 5
"""Inequalities of a force: four sides of the friction pyramid, and the most it may be."""


@fast
def coordinates(spec: Any, x: Array) -> Any:
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
def _chain(spec: Any, work: Any, point: int, idx: Ints, arm: Array, turn: Array) -> int:
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
def evaluate(spec: Any, x: Array, tau: Array, q_out: Array, p_out: Array) -> float:
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
def _force_rate(spec: Any, x: Array, weight: float) -> float:
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
def _times_w(spec: Any, m: Array, out: Array) -> None:
    """m · W (n, ny), by parts: a dense one for the basis, the rest picked."""
    dense, picks = spec[7], spec[8]
    d = dense.shape[1]
    out[:, :d] = np.dot(m, dense)
    for c in range(len(picks)):
        for r in range(m.shape[0]):
            out[r, d + c] = m[r, picks[c]]


@fast
def _w_times(spec: Any, m: Array, out: Array) -> None:
    """Wᵀ · m (ny, ·)."""
    dense, picks = spec[7], spec[8]
    d = dense.shape[1]
    out[:d] = np.dot(dense.T, m)
    for c in range(len(picks)):
        out[d + c] = m[picks[c]]


@fast
def _contact_terms(
    spec: Any, x: Array, k: int, work: Any, mu: Array, lam_p: Array, der: Any, arms: Array, jac_f: Array, cross: Array
) -> None:
    """Add what points do to a node's derivatives.

    Forces at the points to ∂τ/∂q (der[0]) and the Hessian (der[3]), their own columns ∂τ/∂f (n, nf) and the mixed
    Hessian (n, nf); the multipliers of the points' places, lam_p (P, 3), to the Hessian; ∂p/∂q into arms (P, 3, n).
    """
    off, ny, active = spec[1], spec[2].shape[1], spec[4]
    n, npts = spec[3].shape[1], len(spec[5])
    idx = np.empty(n, np.int32)
    arm, turn = np.empty((n + 1, 3)), np.empty((n, 3))
    om, beyond = np.empty((n, 3)), np.empty((n, 3))
    at, col = off[k + 1] + ny, 0
    jq, hqq = der[0], der[3]
    arms[:, :, :] = 0.0
    for p in range(npts):
        size = _chain(spec, work, p, idx, arm, turn)
        for c in range(size):
            for b in range(3):
                arms[p, b, idx[c]] = arm[c, b]
        lx, ly, lz = lam_p[p, 0], lam_p[p, 1], lam_p[p, 2]
        on = active[k, p]
        fx = fy = fz = 0.0
        if on:
            fx, fy, fz = x[at], x[at + 1], x[at + 2]
            at += 3
            sx = sy = sz = 0.0
            for c in range(size):
                m = mu[idx[c]]
                sx += m * turn[c, 0]
                sy += m * turn[c, 1]
                sz += m * turn[c, 2]
                om[c, 0], om[c, 1], om[c, 2] = sx, sy, sz
            sx = sy = sz = 0.0
            for c in range(size - 1, -1, -1):
                beyond[c, 0], beyond[c, 1], beyond[c, 2] = sx, sy, sz
                m = mu[idx[c]]
                sx += m * arm[c, 0]
                sy += m * arm[c, 1]
                sz += m * arm[c, 2]
        for j in range(size):
            qx, qy, qz = arm[j, 0], arm[j, 1], arm[j, 2]
            tx, ty, tz = turn[j, 0], turn[j, 1], turn[j, 2]
            if on:
                ox, oy, oz = om[j, 0], om[j, 1], om[j, 2]
                wx, wy, wz = beyond[j, 0], beyond[j, 1], beyond[j, 2]
                # a_j × w beyond j, once
                ex, ey, ez = ty * wz - tz * wy, tz * wx - tx * wz, tx * wy - ty * wx
                cross[idx[j], col] -= oy * qz - oz * qy + ex
                cross[idx[j], col + 1] -= oz * qx - ox * qz + ey
                cross[idx[j], col + 2] -= ox * qy - oy * qx + ez
                jac_f[idx[j], col] = -qx
                jac_f[idx[j], col + 1] = -qy
                jac_f[idx[j], col + 2] = -qz
            for i in range(j + 1):
                ax, ay, az = turn[i, 0], turn[i, 1], turn[i, 2]
                cx, cy, cz = ay * qz - az * qy, az * qx - ax * qz, ax * qy - ay * qx  # ∂²p/∂q_i∂q_j
                value = lx * cx + ly * cy + lz * cz
                if on:
                    force = fx * cx + fy * cy + fz * cz
                    jq[idx[i], idx[j]] -= force
                    if i != j:
                        jq[idx[j], idx[i]] -= force
                    ix, iy, iz = om[i, 0], om[i, 1], om[i, 2]
                    rx, ry, rz = ox - ix, oy - iy, oz - iz
                    gx = ry * qz - rz * qy + ex
                    gy = rz * qx - rx * qz + ey
                    gz = rx * qy - ry * qx + ez
                    hx = iy * cz - iz * cy + ay * gz - az * gy
                    hy = iz * cx - ix * cz + az * gx - ax * gz
                    hz = ix * cy - iy * cx + ax * gy - ay * gx
                    value -= fx * hx + fy * hy + fz * hz
                hqq[idx[i], idx[j]] += value
                if i != j:
                    hqq[idx[j], idx[i]] += value
        if on:
            col += 3


@fast
def assemble(
    spec: Any,
    x: Array,
    mu: Array,
    lam_p: Array,
    row_w: Array,
    row_g: Array,
    q_w: Array,
    q_g: Array,
    p_w: Array,
    p_g: Array,
    y_w: Array,
    f_w: Array,
    f_g: Array,
    r_w: Array,
    r_g: Array,
    band: Array,
    grad: Array,
    jac: Array,
    arms_y: Array,
) -> None:
    """The banded matrix and the gradient; keeps the Jacobians for what follows.

    Args:
        spec: The problem.
        x: Unknowns, (N,).
        mu: Multipliers of the torque rows, 2 w τ among them, (K, n).
        lam_p: Multipliers of the points' coordinates, (K, P, 3).
        row_w: Weight with which each torque row's square enters the matrix, (K, n).
        row_g: Weight with which each row enters the gradient, (K, n).
        q_w, q_g: The same for coordinates.
        p_w, p_g: The same for points, (K, P, 3).
        y_w: Weight of the square of each low-dimensional coordinate, (K, ny).
        f_w, f_g: For forces' rows, (K, P, 5).
        r_w, r_g: For the change of each point's upward force to the next node, (K − 1, P).
        band: Gets the lower band, (N, width): band[c, r − c].
        grad: Gets the gradient, (N,).
        jac: Gets the torque rows' Jacobian by (c_k, c_{k+1}, c_{k+2}, f), (K, n, 3 ny + 3 P).
        arms_y: Gets the points' Jacobian by the low-dimensional coordinates, (K, P, 3, ny).
    """  # fmt: skip
    tree, off, w, q0, active = spec[0], spec[1], spec[2], spec[3], spec[4]
    gravity, spans, stencils = spec[9][0], spec[16], spec[15]
    w_rate, slope = spec[9][2], spec[9][3]
    quad_y, quad_a, base = spec[10], spec[11], spec[12]
    y, v, a = coordinates(spec, x)
    count, n, npts, ny = len(y), q0.shape[1], len(spec[5]), w.shape[1]
    qv, qa, q = v @ w.T + spec[13], a @ w.T + spec[14], y @ w.T + q0
    work = make_work(n, gravity)
    tau = np.empty(n)
    der = (
        np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n)),
        np.zeros((n, n)),
    )  # fmt: skip
    arms = np.empty((npts, 3, n))
    jy, jv, ja = np.empty((n, ny)), np.empty((n, ny)), np.empty((n, ny))
    half = np.empty((n, ny))
    hes, mixed = np.empty((4, ny, ny)), np.empty((2, ny, ny))
    moved = np.empty((3 * npts, ny))
    small = np.empty((ny, 3 * npts))
    band[:, :] = 0.0
    grad[:] = 0.0
    full = 3 * ny
    wq = np.empty((n, ny))
    for k in range(count):
        h, st = spans[k], stencils[k]
        values(tree, gravity, q[k], qv[k], qa[k], work, tau)
        derivatives(tree, q[k], qv[k], qa[k], mu[k], work, der)
        nf = off[k + 2] - off[k + 1] - ny
        jac_f, cross = np.zeros((n, nf)), np.zeros((n, nf))
        _contact_terms(spec, x, k, work, mu[k], lam_p[k], der, arms, jac_f, cross)
        _times_w(spec, der[0], jy)
        _times_w(spec, der[1], jv)
        _times_w(spec, der[2], ja)
        m = full + nf
        rows = jac[k]
        for i in range(n):
            for s in range(3):
                s0, s1, s2 = st[0, s], st[1, s], st[2, s]
                for r in range(ny):
                    rows[i, s * ny + r] = s0 * jy[i, r] + s1 * jv[i, r] + s2 * ja[i, r]
            for r in range(nf):
                rows[i, full + r] = jac_f[i, r]
        mat = _squares(rows, row_w[k], m, ny)
        for t in range(4):
            _times_w(spec, der[3 + t], half)
            _w_times(spec, half, hes[t])
        for r in range(ny):
            for c in range(ny):
                mixed[0, r, c], mixed[1, r, c] = hes[1, c, r], hes[3, c, r]
        # What depends on the coordinates alone: points, limits, the distance from the basis.
        top = hes[0]
        _times_w(spec, arms.reshape(3 * npts, n), moved)
        for p in range(npts):
            for b in range(3):
                row = arms_y[k, p, b]
                row[:] = moved[3 * p + b]
                weight = p_w[k, p, b]
                if weight != 0.0:
                    for r in range(ny):
                        for c in range(ny):
                            top[r, c] += weight * row[r] * row[c]
        for i in range(n):
            for r in range(ny):
                wq[i, r] = q_w[k, i] * w[i, r]
        top += np.dot(w.T, wq)
        top += h * quad_y
        for r in range(ny):
            top[r, r] += y_w[k, r]
        for al in range(3):
            for be in range(al, 3):  # `_scatter` reads no more
                yy, yv, vy = st[0, al] * st[0, be], st[0, al] * st[1, be], st[1, al] * st[0, be]
                vv, ya, ay = st[1, al] * st[1, be], st[0, al] * st[2, be], st[2, al] * st[0, be]
                aa = h * st[2, al] * st[2, be]
                for r in range(ny):
                    for c in range(r if al == be else 0, ny):
                        mat[al * ny + r, be * ny + c] += (
                            yy * top[r, c] + yv * hes[1, r, c] + vy * mixed[0, r, c] + vv * hes[2, r, c]
                            + ya * hes[3, r, c] + ay * mixed[1, r, c] + aa * quad_a[r, c]
                        )  # fmt: skip
        if nf:
            _w_times(spec, cross, small[:, :nf])
            for al in range(3):
                for r in range(ny):
                    for c in range(nf):
                        value = st[0, al] * small[r, c]
                        mat[al * ny + r, full + c] += value
                        mat[full + c, al * ny + r] += value
        # The gradient in the same local order.
        g = np.zeros(m)
        for i in range(n):
            weight = row_g[k, i]
            for r in range(m):
                g[r] += weight * rows[i, r]
        gy = np.zeros(ny)
        for i in range(n):
            for r in range(ny):
                gy[r] += q_g[k, i] * w[i, r]
        for p in range(npts):
            for b in range(3):
                for r in range(ny):
                    gy[r] += p_g[k, p, b] * arms_y[k, p, b, r]
        gy += h * np.dot(quad_y, y[k] - base[k])
        ga = h * np.dot(quad_a, a[k])
        for al in range(3):
            for r in range(ny):
                g[al * ny + r] += st[0, al] * gy[r] + st[2, al] * ga[r]
        # Forces: friction, most, rate.
        c = full
        for p in range(npts):
            if not active[k, p]:
                continue
            _force_local(mat, g, c, f_w[k, p], f_g[k, p], slope)
            c += 3
        _scatter(off, k, ny, nf, mat, g, band, grad)
    _rate_terms(spec, x, 2.0 * w_rate, r_w, r_g, band, grad)


@fast
def _squares(rows: Array, weights: Array, m: int, ny: int) -> Array:
    """Σ w r rᵀ over rows (n, m): those blocks, (m, m), that `_scatter` reads; the others are left as they come."""
    n, full = len(weights), 3 * ny
    one, left, out = np.empty((m, n)), np.empty((m, n)), np.empty((m, m))
    for i in range(n):
        for r in range(m):
            one[r, i] = rows[i, r]
            left[r, i] = weights[i] * rows[i, r]
    for start in (0, ny, 2 * ny, full):
        stop = min(start + ny, m) if start < full else m
        if stop > start:
            out[start:stop, start:] = np.dot(left[start:stop], one[start:].T)
    for r in range(full, m):
        for c in range(2 * ny, full):
            out[r, c] = out[c, r]
    return out


@fast
def _force_local(mat: Array, g: Array, c: int, weight: Array, push: Array, slope: float) -> None:
    """Rows s·fy ± fx, s·fy ± fz, most − fy of one force."""
    for row in range(FORCE_ROWS):
        x = 1.0 if row == 0 else (-1.0 if row == 1 else 0.0)
        z = 1.0 if row == 2 else (-1.0 if row == 3 else 0.0)
        y = slope if row < 4 else -1.0
        t = (x, y, z)
        for a in range(3):
            g[c + a] += push[row] * t[a]
            for b in range(3):
                mat[c + a, c + b] += weight[row] * t[a] * t[b]


@fast
def _scatter(off: Ints, k: int, ny: int, nf: int, mat: Array, g: Array, band: Array, grad: Array) -> None:
    m = 3 * ny + nf
    place = np.empty(m, np.int64)
    for s in range(3):
        for r in range(ny):
            place[s * ny + r] = off[k + s] + r
    for r in range(nf):
        place[3 * ny + r] = off[k + 1] + ny + r
    for i in range(m):
        grad[place[i]] += g[i]
    # Blocks in the order of the unknowns: c_k, c_{k+1}, forces, c_{k+2}; of each pair the later is the row.
    first = (0, ny, 3 * ny, 2 * ny)
    sizes = (ny, ny, nf, ny)
    for one in range(4):
        for j in range(first[one], first[one] + sizes[one]):
            pj = place[j]
            row = band[pj]
            for i in range(j, first[one] + sizes[one]):
                row[place[i] - pj] += mat[j, i]
            for other in range(one + 1, 4):
                start = first[other]
                if sizes[other]:
                    at = place[start] - pj
                    for i in range(sizes[other]):
                        row[at + i] += mat[j, start + i]


@fast
def _rate_terms(spec: Any, x: Array, twice: float, r_w: Array, r_g: Array, band: Array, grad: Array) -> None:
    """The objective's squared differences of forces from node to node, and what limits of them add.

    A point that does not push has no force.
    """
    off, ny, active, gaps = spec[1], spec[2].shape[1], spec[4], spec[17]
    count, npts = active.shape
    places = np.full((count, npts), -1, np.int64)
    for k in range(count):
        at = off[k + 1] + ny
        for p in range(npts):
            if active[k, p]:
                places[k, p] = at
                at += 3
    for k in range(count - 1):
        for p in range(npts):
            i, j = places[k, p], places[k + 1, p]
            for b in range(3):
                fi = x[i + b] if i >= 0 else 0.0
                fj = x[j + b] if j >= 0 else 0.0
                weight = twice / gaps[k]
                push = weight * (fj - fi)
                if b == 1:
                    weight += r_w[k, p]
                    push += r_g[k, p]
                if i >= 0:
                    band[i + b, 0] += weight
                    grad[i + b] -= push
                if j >= 0:
                    band[j + b, 0] += weight
                    grad[j + b] += push
                if i >= 0 and j >= 0:
                    band[i + b, j - i] -= weight


@fast
def pushed(
    spec: Any, row_g: Array, q_g: Array, p_g: Array, f_g: Array, r_g: Array, jac: Array, arms_y: Array, grad: Array
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
def forward(spec: Any, dx: Array, jac: Array, arms_y: Array) -> Any:
    """How torque rows (K, n), coordinates (K, n), points (K, P, 3) and the state (K, ny) change along dx."""
    off, w = spec[1], spec[2]
    ny = w.shape[1]
    count, n = jac.shape[0], jac.shape[1]
    npts = arms_y.shape[1]
    dy, _, _ = coordinates(spec, dx)
    dq = dy @ w.T
    rows, pts = np.zeros((count, n)), np.zeros((count, npts, 3))
    for k in range(count):
        nf = off[k + 2] - off[k + 1] - ny
        local = np.empty(3 * ny + nf)
        for s in range(3):
            local[s * ny : (s + 1) * ny] = dx[off[k + s] : off[k + s] + ny]
        local[3 * ny :] = dx[off[k + 1] + ny : off[k + 1] + ny + nf]
        for i in range(n):
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
    return rows, dq, pts, dy


@fast
def backward(spec: Any, root: Array, pts: Array, state: Array, jac: Array, arms_y: Array, out: Array) -> None:
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
