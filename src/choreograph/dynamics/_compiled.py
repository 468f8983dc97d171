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

from choreograph.base.arrays import Floats, Ints32
from choreograph.base.compiling import njit
from choreograph.dynamics._compiled_spatial import (
    bent,
    bent_back,
    crf,
    crm,
    dot,
    inertia,
    lean,
    less,
    load,
    moved,
    plus,
    store,
    times,
)

fast: Any = njit(cache=True, nogil=True, fastmath=True)


@lean
def frames(tree: Any, q: Floats, rot: Floats, org: Floats, axis: Floats) -> None:
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
def _inertias(tree: Any, rot: Floats, org: Floats, out: Floats) -> None:
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
def _turned(m: Floats, r: Floats, a: int, b: int) -> float:
    """An entry of R M Rᵀ."""
    return (
        r[a, 0] * (m[0, 0] * r[b, 0] + m[0, 1] * r[b, 1] + m[0, 2] * r[b, 2])
        + r[a, 1] * (m[1, 0] * r[b, 0] + m[1, 1] * r[b, 1] + m[1, 2] * r[b, 2])
        + r[a, 2] * (m[2, 0] * r[b, 0] + m[2, 1] * r[b, 1] + m[2, 2] * r[b, 2])
    )


@lean
def values(tree: Any, gravity: float, q: Floats, v: Floats, a: Floats, work: Any, tau: Floats) -> None:
    """Generalised forces tau (n,) that a motion needs; `work` is from `make_work`."""
    rot, org, axis, vel, acc, inert, force = work[0], work[1], work[2], work[3], work[4], work[5], work[6]
    parents, masses = tree[0], tree[4]
    n = len(q)
    frames(tree, q, rot, org, axis)
    _inertias(tree, rot, org, inert)
    for j in range(n):
        s = load(axis, j)
        p = parents[j]
        if p < 0:
            vp = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
            ap = (0.0, 0.0, 0.0, 0.0, gravity, 0.0)
        else:
            vp, ap = load(vel, p), load(acc, p)
        vj = plus(vp, times(v[j], s))
        aj = plus(plus(ap, times(a[j], s)), times(v[j], crm(vp, s)))
        store(vel, j, vj)
        store(acc, j, aj)
        if masses[j] > 0:
            store(force, j, plus(inertia(inert, j, aj), crf(vj, inertia(inert, j, vj))))
        else:
            store(force, j, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0))
    for j in range(n - 1, -1, -1):
        f = load(force, j)
        tau[j] = dot(load(axis, j), f)
        p = parents[j]
        if p >= 0:
            store(force, p, plus(load(force, p), f))


@lean
def derivatives(tree: Any, q: Floats, v: Floats, a: Floats, mu: Floats, work: Any, out: Any) -> None:
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
def carry(tree: Any, mu: Floats, work: Any) -> None:
    """What μ moves, how each axis' motion changes what follows it, and the sums over what each one carries."""
    axis, vel, acc, inert = work[2], work[3], work[4], work[5]
    mot, big_b, big_d, big_h, big_c = work[7], work[8], work[9], work[10], work[11]
    du, dv, da = work[12], work[13], work[14]
    parents, masses = tree[0], tree[4]
    n = len(parents)
    zero = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for j in range(n):
        s = load(axis, j)
        p = parents[j]
        if p < 0:
            up, vp, ap = zero, zero, (0.0, 0.0, 0.0, 0.0, work[15][0], 0.0)
        else:
            up, vp, ap = load(mot, p), load(vel, p), load(acc, p)
        u = plus(up, times(mu[j], s))
        store(mot, j, u)
        vs = crm(vp, s)
        store(du, j, crm(up, s))
        store(dv, j, vs)
        store(da, j, plus(crm(ap, s), crm(vp, vs)))
        if masses[j] > 0:
            _bodies(inert, j, u, load(vel, j), big_b, big_d, big_h, big_c)
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
def _bodies(inert: Floats, j: int, u: Any, v: Any, big_b: Floats, big_d: Floats, big_h: Floats, big_c: Floats) -> None:
    """B, D, H and C of one body."""
    iv, iu = inertia(inert, j, v), inertia(inert, j, u)
    store(big_h, j, iu)
    store(big_c, j, plus(less(crf(v, iu), crf(u, iv)), inertia(inert, j, crm(u, v))))
    x, y, z = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0), (0.0, 1.0, 0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    bx, by, bz = _column(inert, j, v, iv, x), _column(inert, j, v, iv, y), _column(inert, j, v, iv, z)
    for r in range(6):
        big_b[j, 3 * r], big_b[j, 3 * r + 1], big_b[j, 3 * r + 2] = bx[r], by[r], bz[r]
    dx, dy, dz = inertia(inert, j, crm(u, x)), inertia(inert, j, crm(u, y)), inertia(inert, j, crm(u, z))
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
def _column(inert: Floats, j: int, v: Any, iv: Any, e: Any) -> Any:
    """B e of one body."""
    return less(plus(crf(e, iv), crf(v, inertia(inert, j, e))), inertia(inert, j, crm(v, e)))


@lean
def _pairs(parents: Ints32, j: int, work: Any, out: Any) -> None:
    """All entries for j with itself and each of its ancestors."""
    axis, inert, force = work[2], work[5], work[6]
    big_b, big_d, big_h, big_c = work[8], work[9], work[10], work[11]
    du, dv, da = work[12], work[13], work[14]
    jq, jv, ja, hqq, hqv, hvv, hqa = out
    s, dvj = load(axis, j), load(dv, j)
    f, h, c = load(force, j), load(big_h, j), load(big_c, j)
    x = plus(plus(inertia(inert, j, load(da, j)), bent(big_b, j, dvj)), crf(s, f))
    y = plus(times(2.0, inertia(inert, j, dvj)), bent(big_b, j, s))
    g = inertia(inert, j, s)
    bts = bent_back(big_b, j, s)
    sh = crf(s, h)
    xv = plus(moved(big_d, j, dvj), bent_back(big_b, j, load(du, j)))
    xv = plus(plus(xv, crf(s, c)), crf(dvj, h))
    xa = plus(inertia(inert, j, load(du, j)), sh)
    yv = plus(moved(big_d, j, s), sh)
    i = j
    while i >= 0:
        si, ui, vi, ai = load(axis, i), load(du, i), load(dv, i), load(da, i)
        jq[i, j] = dot(si, x)
        jv[i, j] = dot(si, y)
        ja[i, j] = dot(si, g)
        hqq[i, j] = dot(ui, x) + dot(vi, xv) + dot(ai, xa)
        hqv[i, j] = dot(ui, y) + dot(vi, yv)
        hvv[i, j] = dot(si, yv)
        hqa[i, j] = dot(ui, g)
        if i != j:
            jq[j, i] = dot(vi, bts) + dot(ai, g)
            jv[j, i] = dot(si, bts) + 2.0 * dot(vi, g)
            ja[j, i] = ja[i, j]
            hqq[j, i] = hqq[i, j]
            hqv[j, i] = dot(si, xv) + 2.0 * dot(vi, xa)
            hvv[j, i] = hvv[i, j]
            hqa[j, i] = dot(si, xa)
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
def trajectory(tree: Any, gravity: float, q: Floats, v: Floats, a: Floats) -> Floats:
    """Generalised forces (F, n) along a motion, coordinates and derivatives each (F, n)."""
    out = np.empty(q.shape)
    work = make_work(q.shape[1], gravity)
    for f in range(len(q)):
        values(tree, gravity, q[f], v[f], a[f], work, out[f])
    return out


@fast
def all_derivatives(tree: Any, gravity: float, q: Floats, v: Floats, a: Floats, mu: Floats) -> Any:
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
def points(tree: Any, q: Floats, holders: Ints32, offsets: Floats) -> Floats:
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
def point_motions(tree: Any, q: Floats, holders: Ints32, offsets: Floats) -> Any:
    """Positions (P, 3) of points fixed to degrees of freedom at coordinates (n,), and how these move them, (n, P, 3).

    `holders` (P,) says which carry them, `offsets` (P, 3) where in their frames.
    """
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
def momenta(tree: Any, q: Floats, v: Floats) -> Any:
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
            vp = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0) if p < 0 else load(vel, p)
            vj = plus(vp, times(v[f, j], load(axis, j)))
            store(vel, j, vj)
            if tree[4][j] > 0:
                h = inertia(inert, j, vj)
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
