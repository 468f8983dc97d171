"""Inverse dynamics of a tree of single axes by one recursion: values, Jacobian, and the Hessian of a weighted sum.

Spatial vectors are about the world's origin, angular part first. S_j is the axis of degree of freedom j, p its parent;
× acts on motions and ×* on forces. μ weighs the rows whose Hessian is wanted, u is the motion that it makes.

    v_j = v_p + S_j q̇_j        a_j = a_p + S_j q̈_j + (v_p × S_j) q̇_j, a_0 = gravity upwards        u_j = u_p + S_j μ_j

Summed over what each one carries: F = I a + v ×* (I v), I, B(·) = (·) ×* (I v) + v ×* (I ·) − I (v × ·),
D = I (u × ·) and its transpose, H = I u, C = v ×* (I u) − u ×* (I v) + I (u × v).

Twins in plain NumPy, by differences, are in the tests, beside Pinocchio and CasADi.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int32]

fast: Any = njit(cache=True, nogil=True, fastmath=True)
lean: Any = njit(cache=True, nogil=True, fastmath=True, _nrt=False)
"""For kernels that make no arrays: views of rows then cost nothing."""


@lean
def _ld(x: Any, j: int) -> Any:
    return (x[j, 0], x[j, 1], x[j, 2], x[j, 3], x[j, 4], x[j, 5])


@lean
def _st(x: Any, j: int, t: Any) -> None:
    x[j, 0] = t[0]
    x[j, 1] = t[1]
    x[j, 2] = t[2]
    x[j, 3] = t[3]
    x[j, 4] = t[4]
    x[j, 5] = t[5]


@lean
def _plus(a: Any, b: Any) -> Any:
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5])


@lean
def _less(a: Any, b: Any) -> Any:
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3], a[4] - b[4], a[5] - b[5])


@lean
def _times(s: float, a: Any) -> Any:
    return (s * a[0], s * a[1], s * a[2], s * a[3], s * a[4], s * a[5])


@lean
def _dot(a: Any, b: Any) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]


@lean
def _crm(a: Any, b: Any) -> Any:
    """Motion × motion."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
        a[1] * b[5] - a[2] * b[4] + a[4] * b[2] - a[5] * b[1],
        a[2] * b[3] - a[0] * b[5] + a[5] * b[0] - a[3] * b[2],
        a[0] * b[4] - a[1] * b[3] + a[3] * b[1] - a[4] * b[0],
    )


@lean
def _crf(a: Any, f: Any) -> Any:
    """Motion ×* force."""
    return (
        a[1] * f[2] - a[2] * f[1] + a[4] * f[5] - a[5] * f[4],
        a[2] * f[0] - a[0] * f[2] + a[5] * f[3] - a[3] * f[5],
        a[0] * f[1] - a[1] * f[0] + a[3] * f[4] - a[4] * f[3],
        a[1] * f[5] - a[2] * f[4],
        a[2] * f[3] - a[0] * f[5],
        a[0] * f[4] - a[1] * f[3],
    )


@lean
def _inertia(x: Any, j: int, v: Any) -> Any:
    """I v, the inertia as mass, mass times centre, and six numbers about the origin."""
    m, hx, hy, hz = x[j, 0], x[j, 1], x[j, 2], x[j, 3]
    xx, yy, zz, xy, xz, yz = x[j, 4], x[j, 5], x[j, 6], x[j, 7], x[j, 8], x[j, 9]
    return (
        xx * v[0] + xy * v[1] + xz * v[2] + hy * v[5] - hz * v[4],
        xy * v[0] + yy * v[1] + yz * v[2] + hz * v[3] - hx * v[5],
        xz * v[0] + yz * v[1] + zz * v[2] + hx * v[4] - hy * v[3],
        m * v[3] - hy * v[2] + hz * v[1],
        m * v[4] - hz * v[0] + hx * v[2],
        m * v[5] - hx * v[1] + hy * v[0],
    )


@lean
def _bent(x: Any, j: int, v: Any) -> Any:
    """B v; B does not see linear motions, so three columns are all it has."""
    b = x[j]
    return (
        b[0] * v[0] + b[1] * v[1] + b[2] * v[2],
        b[3] * v[0] + b[4] * v[1] + b[5] * v[2],
        b[6] * v[0] + b[7] * v[1] + b[8] * v[2],
        b[9] * v[0] + b[10] * v[1] + b[11] * v[2],
        b[12] * v[0] + b[13] * v[1] + b[14] * v[2],
        b[15] * v[0] + b[16] * v[1] + b[17] * v[2],
    )


@lean
def _bent_back(x: Any, j: int, v: Any) -> Any:
    """Bᵀ v: its angular part; it has no linear one."""
    b = x[j]
    return (
        b[0] * v[0] + b[3] * v[1] + b[6] * v[2] + b[9] * v[3] + b[12] * v[4] + b[15] * v[5],
        b[1] * v[0] + b[4] * v[1] + b[7] * v[2] + b[10] * v[3] + b[13] * v[4] + b[16] * v[5],
        b[2] * v[0] + b[5] * v[1] + b[8] * v[2] + b[11] * v[3] + b[14] * v[4] + b[17] * v[5],
        0.0,
        0.0,
        0.0,
    )


@lean
def _moved(x: Any, j: int, v: Any) -> Any:
    """D v; D is symmetric, and its block of linear by linear motions is nothing."""
    d = x[j]
    return (
        d[0] * v[0] + d[1] * v[1] + d[2] * v[2] + d[6] * v[3] + d[7] * v[4] + d[8] * v[5],
        d[1] * v[0] + d[3] * v[1] + d[4] * v[2] + d[9] * v[3] + d[10] * v[4] + d[11] * v[5],
        d[2] * v[0] + d[4] * v[1] + d[5] * v[2] + d[12] * v[3] + d[13] * v[4] + d[14] * v[5],
        d[6] * v[0] + d[9] * v[1] + d[12] * v[2],
        d[7] * v[0] + d[10] * v[1] + d[13] * v[2],
        d[8] * v[0] + d[11] * v[1] + d[14] * v[2],
    )


@lean
def frames(tree: Any, q: Array, rot: Array, org: Array, axis: Array) -> None:
    """Frame (rotation and origin) and spatial axis of every degree of freedom at coordinates q (n,).

    Args:
        tree: Parents, whether each turns, axes, offsets, masses, centres, inertias; see `tree_of`.
        q: Coordinates, (n,).
        rot: Gets the rotations, (n, 3, 3).
        org: Gets the origins, (n, 3).
        axis: Gets the spatial axes, (n, 6).
    """
    parents, turns, axes, offsets = tree[0], tree[1], tree[2], tree[3]
    for j in range(len(q)):
        p = parents[j]
        if p < 0:
            for a in range(3):
                org[j, a] = offsets[j, a]
                for b in range(3):
                    rot[j, a, b] = 1.0 if a == b else 0.0
        else:
            for a in range(3):
                org[j, a] = (
                    org[p, a]
                    + rot[p, a, 0] * offsets[j, 0]
                    + rot[p, a, 1] * offsets[j, 1]
                    + rot[p, a, 2] * offsets[j, 2]
                )
                for b in range(3):
                    rot[j, a, b] = rot[p, a, b]
        x, y, z = axes[j, 0], axes[j, 1], axes[j, 2]
        wx = rot[j, 0, 0] * x + rot[j, 0, 1] * y + rot[j, 0, 2] * z
        wy = rot[j, 1, 0] * x + rot[j, 1, 1] * y + rot[j, 1, 2] * z
        wz = rot[j, 2, 0] * x + rot[j, 2, 1] * y + rot[j, 2, 2] * z
        if turns[j]:
            ox, oy, oz = org[j, 0], org[j, 1], org[j, 2]
            axis[j, 0], axis[j, 1], axis[j, 2] = wx, wy, wz
            axis[j, 3], axis[j, 4], axis[j, 5] = oy * wz - oz * wy, oz * wx - ox * wz, ox * wy - oy * wx
            c, s = np.cos(q[j]), np.sin(q[j])
            for b in range(3):  # the world's axis turns every column
                u, v, w = rot[j, 0, b], rot[j, 1, b], rot[j, 2, b]
                along = (wx * u + wy * v + wz * w) * (1 - c)
                rot[j, 0, b] = c * u + s * (wy * w - wz * v) + along * wx
                rot[j, 1, b] = c * v + s * (wz * u - wx * w) + along * wy
                rot[j, 2, b] = c * w + s * (wx * v - wy * u) + along * wz
        else:
            axis[j, 0] = axis[j, 1] = axis[j, 2] = 0.0
            axis[j, 3], axis[j, 4], axis[j, 5] = wx, wy, wz
            org[j, 0] += wx * q[j]
            org[j, 1] += wy * q[j]
            org[j, 2] += wz * q[j]


@lean
def _inertias(tree: Any, rot: Array, org: Array, out: Array) -> None:
    """Spatial inertias about the world's origin, (n, 10)."""
    masses, centres, inertias = tree[4], tree[5], tree[6]
    for j in range(len(masses)):
        m = masses[j]
        if m <= 0:
            out[j, :] = 0.0
            continue
        r = rot[j]
        cx = org[j, 0] + r[0, 0] * centres[j, 0] + r[0, 1] * centres[j, 1] + r[0, 2] * centres[j, 2]
        cy = org[j, 1] + r[1, 0] * centres[j, 0] + r[1, 1] * centres[j, 1] + r[1, 2] * centres[j, 2]
        cz = org[j, 2] + r[2, 0] * centres[j, 0] + r[2, 1] * centres[j, 1] + r[2, 2] * centres[j, 2]
        out[j, 0], out[j, 1], out[j, 2], out[j, 3] = m, m * cx, m * cy, m * cz
        out[j, 4] = _turned(inertias[j], r, 0, 0) + m * (cy * cy + cz * cz)
        out[j, 5] = _turned(inertias[j], r, 1, 1) + m * (cx * cx + cz * cz)
        out[j, 6] = _turned(inertias[j], r, 2, 2) + m * (cx * cx + cy * cy)
        out[j, 7] = _turned(inertias[j], r, 0, 1) - m * cx * cy
        out[j, 8] = _turned(inertias[j], r, 0, 2) - m * cx * cz
        out[j, 9] = _turned(inertias[j], r, 1, 2) - m * cy * cz


@lean
def _turned(m: Array, r: Array, a: int, b: int) -> float:
    """An entry of R M Rᵀ."""
    return (
        r[a, 0] * (m[0, 0] * r[b, 0] + m[0, 1] * r[b, 1] + m[0, 2] * r[b, 2])
        + r[a, 1] * (m[1, 0] * r[b, 0] + m[1, 1] * r[b, 1] + m[1, 2] * r[b, 2])
        + r[a, 2] * (m[2, 0] * r[b, 0] + m[2, 1] * r[b, 1] + m[2, 2] * r[b, 2])
    )


@lean
def values(tree: Any, gravity: float, q: Array, v: Array, a: Array, work: Any, tau: Array) -> None:
    """Generalised forces tau (n,) that a motion needs; `work` is from `make_work`."""
    rot, org, axis, vel, acc, inert, force = work[0], work[1], work[2], work[3], work[4], work[5], work[6]
    parents, masses = tree[0], tree[4]
    n = len(q)
    frames(tree, q, rot, org, axis)
    _inertias(tree, rot, org, inert)
    for j in range(n):
        s = _ld(axis, j)
        p = parents[j]
        if p < 0:
            vp = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
            ap = (0.0, 0.0, 0.0, 0.0, gravity, 0.0)
        else:
            vp, ap = _ld(vel, p), _ld(acc, p)
        vj = _plus(vp, _times(v[j], s))
        aj = _plus(_plus(ap, _times(a[j], s)), _times(v[j], _crm(vp, s)))
        _st(vel, j, vj)
        _st(acc, j, aj)
        if masses[j] > 0:
            _st(force, j, _plus(_inertia(inert, j, aj), _crf(vj, _inertia(inert, j, vj))))
        else:
            _st(force, j, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    for j in range(n - 1, -1, -1):
        f = _ld(force, j)
        tau[j] = _dot(_ld(axis, j), f)
        p = parents[j]
        if p >= 0:
            _st(force, p, _plus(_ld(force, p), f))


@lean
def derivatives(tree: Any, q: Array, v: Array, a: Array, mu: Array, work: Any, out: Any) -> None:
    """Derivatives of the generalised forces, after `values` has been called at the same place with the same `work`.

    Args:
        tree: The body.
        q: Coordinates, (n,).
        v: Their rates.
        a: Their accelerations.
        mu: Weights of the rows, (n,), whose sum's Hessian is wanted.
        work: From `make_work`.
        out: Arrays (n, n): ∂τ/∂q, ∂τ/∂q̇, ∂τ/∂q̈; Hessian of μ·τ by q q, q q̇, q̇ q̇, q q̈. Filled where one of the
            two carries the other; the rest must be nothing before.
    """
    carry(tree, mu, work)
    for j in range(len(q)):
        _pairs(tree[0], j, work, out)


@lean
def carry(tree: Any, mu: Array, work: Any) -> None:
    """What μ moves, how each axis' motion changes what follows it, and the sums over what each one carries."""
    axis, vel, acc, inert = work[2], work[3], work[4], work[5]
    mot, big_b, big_d, big_h, big_c = work[7], work[8], work[9], work[10], work[11]
    du, dv, da = work[12], work[13], work[14]
    parents, masses = tree[0], tree[4]
    n = len(parents)
    zero = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for j in range(n):
        s = _ld(axis, j)
        p = parents[j]
        if p < 0:
            up, vp, ap = zero, zero, (0.0, 0.0, 0.0, 0.0, work[15][0], 0.0)
        else:
            up, vp, ap = _ld(mot, p), _ld(vel, p), _ld(acc, p)
        u = _plus(up, _times(mu[j], s))
        _st(mot, j, u)
        vs = _crm(vp, s)
        _st(du, j, _crm(up, s))
        _st(dv, j, vs)
        _st(da, j, _plus(_crm(ap, s), _crm(vp, vs)))
        if masses[j] > 0:
            _bodies(inert, j, u, _ld(vel, j), big_b, big_d, big_h, big_c)
        else:
            big_h[j, :] = 0.0
            big_c[j, :] = 0.0
            big_b[j, :] = 0.0
            big_d[j, :] = 0.0
    for j in range(n - 1, 0, -1):
        p = parents[j]
        for r in range(10):
            inert[p, r] += inert[j, r]
        for r in range(6):
            big_h[p, r] += big_h[j, r]
            big_c[p, r] += big_c[j, r]
        for r in range(18):
            big_b[p, r] += big_b[j, r]
        for r in range(15):
            big_d[p, r] += big_d[j, r]


@lean
def _bodies(inert: Array, j: int, u: Any, v: Any, big_b: Array, big_d: Array, big_h: Array, big_c: Array) -> None:
    """B, D, H and C of one body."""
    iv, iu = _inertia(inert, j, v), _inertia(inert, j, u)
    _st(big_h, j, iu)
    _st(big_c, j, _plus(_less(_crf(v, iu), _crf(u, iv)), _inertia(inert, j, _crm(u, v))))
    x, y, z = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    bx, by, bz = _column(inert, j, v, iv, x), _column(inert, j, v, iv, y), _column(inert, j, v, iv, z)
    for r in range(6):
        big_b[j, 3 * r], big_b[j, 3 * r + 1], big_b[j, 3 * r + 2] = bx[r], by[r], bz[r]
    dx, dy, dz = _inertia(inert, j, _crm(u, x)), _inertia(inert, j, _crm(u, y)), _inertia(inert, j, _crm(u, z))
    d = big_d[j]
    d[0], d[1], d[2] = 2.0 * dx[0], dy[0] + dx[1], dz[0] + dx[2]
    d[3], d[4], d[5] = 2.0 * dy[1], dz[1] + dy[2], 2.0 * dz[2]
    # Of linear motions, the mass times centre × (u × ·), and the transpose of what is linear above.
    cx, cy, cz, ux, uy, uz = inert[j, 1], inert[j, 2], inert[j, 3], u[0], u[1], u[2]
    along = cx * ux + cy * uy + cz * uz
    d[6], d[7], d[8] = cx * ux - along + dx[3], cy * ux + dx[4], cz * ux + dx[5]
    d[9], d[10], d[11] = cx * uy + dy[3], cy * uy - along + dy[4], cz * uy + dy[5]
    d[12], d[13], d[14] = cx * uz + dz[3], cy * uz + dz[4], cz * uz - along + dz[5]


@lean
def _column(inert: Array, j: int, v: Any, iv: Any, e: Any) -> Any:
    """B e of one body."""
    return _less(_plus(_crf(e, iv), _crf(v, _inertia(inert, j, e))), _inertia(inert, j, _crm(v, e)))


@lean
def _pairs(parents: Ints, j: int, work: Any, out: Any) -> None:
    """All entries for j with itself and each of its ancestors."""
    axis, inert, force = work[2], work[5], work[6]
    big_b, big_d, big_h, big_c = work[8], work[9], work[10], work[11]
    du, dv, da = work[12], work[13], work[14]
    jq, jv, ja, hqq, hqv, hvv, hqa = out
    s, dvj = _ld(axis, j), _ld(dv, j)
    f, h, c = _ld(force, j), _ld(big_h, j), _ld(big_c, j)
    x = _plus(_plus(_inertia(inert, j, _ld(da, j)), _bent(big_b, j, dvj)), _crf(s, f))
    y = _plus(_times(2.0, _inertia(inert, j, dvj)), _bent(big_b, j, s))
    g = _inertia(inert, j, s)
    bts = _bent_back(big_b, j, s)
    sh = _crf(s, h)
    xv = _plus(_moved(big_d, j, dvj), _bent_back(big_b, j, _ld(du, j)))
    xv = _plus(_plus(xv, _crf(s, c)), _crf(dvj, h))
    xa = _plus(_inertia(inert, j, _ld(du, j)), sh)
    yv = _plus(_moved(big_d, j, s), sh)
    i = j
    while i >= 0:
        si, ui, vi, ai = _ld(axis, i), _ld(du, i), _ld(dv, i), _ld(da, i)
        jq[i, j] = _dot(si, x)
        jv[i, j] = _dot(si, y)
        ja[i, j] = _dot(si, g)
        hqq[i, j] = _dot(ui, x) + _dot(vi, xv) + _dot(ai, xa)
        hqv[i, j] = _dot(ui, y) + _dot(vi, yv)
        hvv[i, j] = _dot(si, yv)
        hqa[i, j] = _dot(ui, g)
        if i != j:
            jq[j, i] = _dot(vi, bts) + _dot(ai, g)
            jv[j, i] = _dot(si, bts) + 2.0 * _dot(vi, g)
            ja[j, i] = ja[i, j]
            hqq[j, i] = hqq[i, j]
            hqv[j, i] = _dot(si, xv) + 2.0 * _dot(vi, xa)
            hvv[j, i] = hvv[i, j]
            hqa[j, i] = _dot(si, xa)
        i = parents[i]


@fast
def make_work(n: int, gravity: float) -> Any:
    """Room for one node's recursion."""
    return (
        np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 6)), np.empty((n, 6)), np.empty((n, 6)),
        np.empty((n, 10)), np.empty((n, 6)), np.empty((n, 6)), np.empty((n, 18)), np.empty((n, 15)),
        np.empty((n, 6)), np.empty((n, 6)), np.empty((n, 6)), np.empty((n, 6)), np.empty((n, 6)),
        np.full(1, gravity),
    )  # fmt: skip


@fast
def trajectory(tree: Any, gravity: float, q: Array, v: Array, a: Array) -> Array:
    """Generalised forces (F, n) along a motion, coordinates and derivatives each (F, n)."""
    out = np.empty(q.shape)
    work = make_work(q.shape[1], gravity)
    for f in range(len(q)):
        values(tree, gravity, q[f], v[f], a[f], work, out[f])
    return out


@fast
def all_derivatives(tree: Any, gravity: float, q: Array, v: Array, a: Array, mu: Array) -> Any:
    """Forces and all derivatives at one place: τ, then as `derivatives` orders them; for tests and small uses."""
    n = len(q)
    work = make_work(n, gravity)
    tau = np.empty(n)
    values(tree, gravity, q, v, a, work, tau)
    out = (
        np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n)),
        np.zeros((n, n)),
    )  # fmt: skip
    derivatives(tree, q, v, a, mu, work, out)
    return tau, out


@fast
def points(tree: Any, q: Array, holders: Ints, offsets: Array) -> Array:
    """Positions (F, P, 3) of points fixed to degrees of freedom, at coordinates (F, n)."""
    n = q.shape[1]
    rot, org, axis = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 6))
    out = np.empty((len(q), len(holders), 3))
    for f in range(len(q)):
        frames(tree, q[f], rot, org, axis)
        for k in range(len(holders)):
            j = holders[k]
            for b in range(3):
                out[f, k, b] = (
                    org[j, b]
                    + rot[j, b, 0] * offsets[k, 0]
                    + rot[j, b, 1] * offsets[k, 1]
                    + rot[j, b, 2] * offsets[k, 2]
                )
    return out


@fast
def point_motions(tree: Any, q: Array, holders: Ints, offsets: Array) -> Any:
    """Positions (P, 3) of points fixed to degrees of freedom at coordinates (n,), and how each moves them, (n, P, 3)."""
    parents, turns = tree[0], tree[1]
    n = len(q)
    rot, org, axis = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 6))
    places, moves = np.empty((len(holders), 3)), np.zeros((n, len(holders), 3))
    frames(tree, q, rot, org, axis)
    for k in range(len(holders)):
        j = holders[k]
        p = org[j] + rot[j] @ offsets[k]
        places[k] = p
        while j >= 0:
            move = moves[j, k]
            if turns[j]:
                x, y, z = axis[j, 0], axis[j, 1], axis[j, 2]
                dx, dy, dz = p[0] - org[j, 0], p[1] - org[j, 1], p[2] - org[j, 2]
                move[0], move[1], move[2] = y * dz - z * dy, z * dx - x * dz, x * dy - y * dx
            else:
                move[0], move[1], move[2] = axis[j, 3], axis[j, 4], axis[j, 5]
            j = parents[j]
    return places, moves


@fast
def momenta(tree: Any, q: Array, v: Array) -> Any:
    """Centre of mass, its velocity, and the angular momentum about it, each (F, 3)."""
    n = q.shape[1]
    rot, org, axis, inert = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 6)), np.empty((n, 10))
    vel = np.empty((n, 6))
    com, speed, spin = np.empty((len(q), 3)), np.empty((len(q), 3)), np.empty((len(q), 3))
    parents = tree[0]
    for f in range(len(q)):
        frames(tree, q[f], rot, org, axis)
        _inertias(tree, rot, org, inert)
        total = np.zeros(6)
        mass = 0.0
        centre = np.zeros(3)
        for j in range(n):
            p = parents[j]
            vp = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0) if p < 0 else _ld(vel, p)
            vj = _plus(vp, _times(v[f, j], _ld(axis, j)))
            _st(vel, j, vj)
            if tree[4][j] > 0:
                h = _inertia(inert, j, vj)
                mass += inert[j, 0]
                for b in range(3):
                    centre[b] += inert[j, 1 + b]
                    total[b] += h[b]
                    total[3 + b] += h[3 + b]
        for b in range(3):
            com[f, b] = centre[b] / mass
            speed[f, b] = total[3 + b] / mass
        c = com[f]
        spin[f, 0] = total[0] - (c[1] * total[5] - c[2] * total[4])
        spin[f, 1] = total[1] - (c[2] * total[3] - c[0] * total[5])
        spin[f, 2] = total[2] - (c[0] * total[4] - c[1] * total[3])
    return com, speed, spin
