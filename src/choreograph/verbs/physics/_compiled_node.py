"""One node's derivatives along the directions of the state, by one recursion over the body.

The state moves the body along the columns of W. For each of these directions r the motions that it makes are summed
down the tree, and the forces that it changes up the tree, so that no derivative by single joints is ever needed:

    V_j = V_p + S_j W_jr, and likewise of δv, δa, δu (`choreograph.dynamics._compiled` says what these are)

Derivatives of the rows and of μ·τ are products of these with what each degree of freedom carries. A contact's force f
at point p adds −f·ṗ(μ) to μ·τ; with N = Σ p fᵀ − (p·f) 1, l = Σ f and R = Σ (f·w) 1 − w fᵀ, w the point's speed by μ,
summed over what each one carries, the force's moment changes by e = N ω + v × l along an axis (ω, v). A multiplier of a
point's place acts as a force does. Directions that move the same part of the body go sixteen at a time, over that part.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.base.compiling import njit
from choreograph.dynamics._compiled import carry
from choreograph.dynamics._compiled_spatial import bent, bent_back, crf, dot, inertia, lean, load, moved, plus, times

fast: Any = njit(cache=True, nogil=True, fastmath=True)

LANES = 16
"""Directions that are done at once."""
PRODUCTS = 9
"""Of each degree of freedom along a direction: its row by state, velocity and acceleration, and six vectors whose
products with W's rows are the Hessian of μ·τ."""
_DOWN, _UP = 24 * LANES, 18 * LANES


@fast
def make_room(spec: Any) -> Any:
    """Room for one node's derivatives.

    Products (panels, n, PRODUCTS · LANES), nothing where a panel's directions do not reach; points by state (P, 3, ny);
    the Hessian by state and force (ny, 3 P); rows by force (n, 3 P); and what only this module uses.
    """
    n, ny, npts, panels = spec[3].shape[1], spec[2].shape[1], len(spec[5]), len(spec[18][2])
    return (
        np.zeros((panels, n, PRODUCTS * LANES)), np.zeros((npts, 3, ny)), np.zeros((ny, 3 * npts)),
        np.zeros((n, 3 * npts)), np.zeros((n, 33)), np.zeros((npts, 6)), np.zeros((n, 24)), np.zeros((n, 18)),
        np.zeros((n, 31)), np.zeros((n + 1) * _DOWN), np.zeros(n * _UP),
    )  # fmt: skip


@lean
def node(spec: Any, x: Floats, k: int, mu: Floats, lam_p: Floats, work: Any, room: Any) -> None:
    """Fill a node's room, after `values` has been called there with the same `work`.

    Args:
        spec: The problem.
        x: Unknowns.
        k: The node.
        mu: Multipliers of its torque rows, (n,).
        lam_p: Multipliers of the points' places, (P, 3).
        work: From `make_work`.
        room: From `make_room`.
    """
    tree = spec[0]
    carry(tree, mu, work)
    _touch(spec, x, k, lam_p, work, room)
    parents = tree[0]
    for j in range(len(parents)):
        _gather(j, work, room)
    starts, members, columns, shares, reaches = spec[18]
    for panel in range(len(columns)):
        _panel(
            parents, members[starts[panel] : starts[panel + 1]], columns[panel, 1], shares[panel], room, room[0][panel]
        )
        _points_along(spec, k, columns[panel], reaches[panel], room)


@lean
def _touch(spec: Any, x: Floats, k: int, lam_p: Floats, work: Any, room: Any) -> None:
    """Where points are and how fast under μ, what forces at them are to all that carry them, and rows by force."""
    parents, turns = spec[0][0], spec[0][1]
    active, holders, offsets = spec[4], spec[5], spec[6]
    rot, org, axis, mot = work[0], work[1], work[2], work[7]
    by_force, con, points = room[3], room[4], room[5]
    con[:, :] = 0.0
    by_force[:, :] = 0.0
    at, col = spec[1][k + 1] + spec[2].shape[1], 0
    for p in range(len(holders)):
        j = holders[p]
        for b in range(3):
            points[p, b] = org[j, b]
            for c in range(3):
                points[p, b] += rot[j, b, c] * offsets[p, c]
        px, py, pz = points[p, 0], points[p, 1], points[p, 2]
        u = load(mot, j)
        wx = u[3] + u[1] * pz - u[2] * py
        wy = u[4] + u[2] * px - u[0] * pz
        wz = u[5] + u[0] * py - u[1] * px
        points[p, 3], points[p, 4], points[p, 5] = wx, wy, wz
        row = con[j]
        _load(row[21:], px, py, pz, lam_p[p, 0], lam_p[p, 1], lam_p[p, 2])
        if not active[k, p]:
            continue
        fx, fy, fz = x[at], x[at + 1], x[at + 2]
        at += 3
        _load(row, px, py, pz, fx, fy, fz)
        gain = fx * wx + fy * wy + fz * wz
        row[12] += gain - wx * fx
        row[13] -= wx * fy
        row[14] -= wx * fz
        row[15] -= wy * fx
        row[16] += gain - wy * fy
        row[17] -= wy * fz
        row[18] -= wz * fx
        row[19] -= wz * fy
        row[20] += gain - wz * fz
        while j >= 0:
            if turns[j]:
                ax, ay, az = axis[j, 0], axis[j, 1], axis[j, 2]
                dx, dy, dz = px - org[j, 0], py - org[j, 1], pz - org[j, 2]
                by_force[j, col] = az * dy - ay * dz
                by_force[j, col + 1] = ax * dz - az * dx
                by_force[j, col + 2] = ay * dx - ax * dy
            else:
                for b in range(3):
                    by_force[j, col + b] = -axis[j, 3 + b]
            j = parents[j]
        col += 3
    for j in range(len(parents) - 1, 0, -1):
        for c in range(33):
            con[parents[j], c] += con[j, c]


@lean
def _load(row: Floats, px: float, py: float, pz: float, fx: float, fy: float, fz: float) -> None:
    """Add l = f and N = p fᵀ − (p·f) 1 of a force at a point."""
    along = px * fx + py * fy + pz * fz
    row[0] += fx
    row[1] += fy
    row[2] += fz
    row[3] += px * fx - along
    row[4] += px * fy
    row[5] += px * fz
    row[6] += py * fx
    row[7] += py * fy - along
    row[8] += py * fz
    row[9] += pz * fx
    row[10] += pz * fy
    row[11] += pz * fz - along


@lean
def _moment(c: Any, at: int, s: Any) -> Any:
    """N ω + v × l, how forces' moment changes along a motion."""
    return (
        c[at + 3] * s[0] + c[at + 4] * s[1] + c[at + 5] * s[2] + s[4] * c[at + 2] - s[5] * c[at + 1],
        c[at + 6] * s[0] + c[at + 7] * s[1] + c[at + 8] * s[2] + s[5] * c[at] - s[3] * c[at + 2],
        c[at + 9] * s[0] + c[at + 10] * s[1] + c[at + 11] * s[2] + s[3] * c[at + 1] - s[4] * c[at],
    )


@lean
def _gather(j: int, work: Any, room: Any) -> None:
    """The vectors of one degree of freedom that every direction is multiplied with."""
    axis, inert, force = work[2], work[5], work[6]
    big_b, big_d, big_h, big_c = work[8], work[9], work[10], work[11]
    con, down, up, coef = room[4][j], room[6][j], room[7][j], room[8][j]
    s, du, dv, da = load(axis, j), load(work[12], j), load(work[13], j), load(work[14], j)
    h = load(big_h, j)
    e, e_place, e_du = _moment(con, 0, s), _moment(con, 21, s), _moment(con, 0, du)
    x = plus(plus(inertia(inert, j, da), bent(big_b, j, dv)), crf(s, load(force, j)))
    x = (x[0] - e[0], x[1] - e[1], x[2] - e[2], x[3], x[4], x[5])
    y = plus(times(2.0, inertia(inert, j, dv)), bent(big_b, j, s))
    g = inertia(inert, j, s)
    bts = bent_back(big_b, j, s)
    sh = crf(s, h)
    xv = plus(moved(big_d, j, dv), bent_back(big_b, j, du))
    xv = plus(plus(xv, crf(s, load(big_c, j))), crf(dv, h))
    xa = plus(inertia(inert, j, du), sh)
    yv = plus(moved(big_d, j, s), sh)
    for b in range(3):
        coef[b], coef[3 + b] = bts[b], e[b]
        r = 12 + 3 * b
        coef[6 + b] = e_place[b] - e_du[b] + con[r] * s[0] + con[r + 1] * s[1] + con[r + 2] * s[2]
    for b in range(6):
        down[b], down[6 + b], down[12 + b], down[18 + b] = s[b], dv[b], da[b], du[b]
        up[b], up[6 + b], up[12 + b] = x[b], y[b], g[b]
        coef[9 + b], coef[15 + b], coef[21 + b] = xv[b], xa[b], yv[b]
    # Each with itself: once where both orders count, by half where its transpose is added.
    turn = coef[6] * s[0] + coef[7] * s[1] + coef[8] * s[2]
    coef[27] = 0.5 * (dot(du, x) + dot(dv, xv) + dot(da, xa) + turn)
    coef[28] = dot(du, y) + dot(dv, yv)
    coef[29] = 0.5 * dot(s, yv)
    coef[30] = dot(du, g)


@lean
def _panel(parents: Any, members: Any, size: int, shares: Floats, room: Any, out: Floats) -> None:
    """Products (n, PRODUCTS · LANES) along the directions of one panel, over the part of the body they belong to."""
    down, up, coef, below, above = room[6], room[7], room[8], room[9], room[10]
    last, lanes = len(parents) * _DOWN, 4 * ((size + 3) // 4)  # where nothing moves; whole vector registers
    for m in range(len(members)):
        j = members[m]
        p = parents[j]
        before = below[p * _DOWN : (p + 1) * _DOWN] if p >= 0 else below[last : last + _DOWN]
        now, sums = below[j * _DOWN : (j + 1) * _DOWN], above[j * _UP : (j + 1) * _UP]
        for c in range(4):
            _add(now[6 * LANES * c :], before[6 * LANES * c :], _vector(down[j], 6 * c), shares[j], lanes)
        for c in range(3):
            _set(sums[6 * LANES * c :], _vector(up[j], 6 * c), shares[j], lanes)
    for m in range(len(members) - 1, -1, -1):
        j = members[m]
        p = parents[j]
        sums = above[j * _UP : (j + 1) * _UP]
        if p >= 0:
            to = above[p * _UP : (p + 1) * _UP]
            for c in range(_UP):
                to[c] += sums[c]
        before = below[p * _DOWN : (p + 1) * _DOWN] if p >= 0 else below[last : last + _DOWN]
        _row_products(before, sums, down[j], up[j], coef[j], lanes, out[j])
        _curve_products(before, shares[j], up[j], coef[j], lanes, out[j, 3 * LANES :])


@lean
def _vector(x: Floats, at: int) -> Any:
    return (x[at], x[at + 1], x[at + 2], x[at + 3], x[at + 4], x[at + 5])


@lean
def _add(now: Floats, before: Floats, t: Any, w: Floats, lanes: int) -> None:
    for r in range(lanes):
        now[r] = before[r] + t[0] * w[r]
        now[LANES + r] = before[LANES + r] + t[1] * w[r]
        now[2 * LANES + r] = before[2 * LANES + r] + t[2] * w[r]
        now[3 * LANES + r] = before[3 * LANES + r] + t[3] * w[r]
        now[4 * LANES + r] = before[4 * LANES + r] + t[4] * w[r]
        now[5 * LANES + r] = before[5 * LANES + r] + t[5] * w[r]


@lean
def _set(now: Floats, t: Any, w: Floats, lanes: int) -> None:
    for r in range(lanes):
        now[r] = t[0] * w[r]
        now[LANES + r] = t[1] * w[r]
        now[2 * LANES + r] = t[2] * w[r]
        now[3 * LANES + r] = t[3] * w[r]
        now[4 * LANES + r] = t[4] * w[r]
        now[5 * LANES + r] = t[5] * w[r]


@lean
def _six(t: Any, a: Floats, first: int, r: int) -> float:
    return (
        t[0] * a[first * LANES + r]
        + t[1] * a[(first + 1) * LANES + r]
        + t[2] * a[(first + 2) * LANES + r]
        + t[3] * a[(first + 3) * LANES + r]
        + t[4] * a[(first + 4) * LANES + r]
        + t[5] * a[(first + 5) * LANES + r]
    )


@lean
def _three(t: Any, a: Floats, first: int, r: int) -> float:
    return t[0] * a[first * LANES + r] + t[1] * a[(first + 1) * LANES + r] + t[2] * a[(first + 2) * LANES + r]


@lean
def _row_products(
    before: Floats, sums: Floats, down: Floats, up: Floats, coef: Floats, lanes: int, out: Floats
) -> None:
    """A torque row by state, velocity and acceleration.

    `before` has what all that carry it do, 24 × LANES; `sums` what all that it carries need, 18 × LANES.
    """
    s, g = _vector(down, 0), _vector(up, 12)
    b, e = (coef[0], coef[1], coef[2]), (coef[3], coef[4], coef[5])
    for r in range(lanes):
        out[r] = (
            _six(s, sums, 0, r) + _three(b, before, 6, r) + _six(g, before, 12, r) - _three(e, before, 0, r)
        )  # fmt: skip
        out[LANES + r] = _six(s, sums, 6, r) + _three(b, before, 0, r) + 2.0 * _six(g, before, 6, r)
        out[2 * LANES + r] = _six(s, sums, 12, r) + _six(g, before, 0, r)


@lean
def _curve_products(before: Floats, w: Floats, up: Floats, coef: Floats, lanes: int, out: Floats) -> None:
    """The Hessian's vectors of one degree of freedom."""
    x, y, g = _vector(up, 0), _vector(up, 6), _vector(up, 12)
    z, xv, xa, yv = (coef[6], coef[7], coef[8]), _vector(coef, 9), _vector(coef, 15), _vector(coef, 21)
    own, own_qv, own_vv, own_qa = coef[27], coef[28], coef[29], coef[30]
    for r in range(lanes):
        out[r] = (
            _six(x, before, 18, r) + _six(xv, before, 6, r) + _six(xa, before, 12, r) + _three(z, before, 0, r)
            + own * w[r]
        )  # fmt: skip
        out[LANES + r] = _six(y, before, 18, r) + _six(yv, before, 6, r) + own_qv * w[r]
        out[2 * LANES + r] = _six(xv, before, 0, r) + 2.0 * _six(xa, before, 6, r)
        out[3 * LANES + r] = _six(yv, before, 0, r) + own_vv * w[r]
        out[4 * LANES + r] = _six(g, before, 18, r) + own_qa * w[r]
        out[5 * LANES + r] = _six(xa, before, 0, r)


@lean
def _points_along(spec: Any, k: int, columns: Any, reaches: Any, room: Any) -> None:
    """How points move along a panel's directions, and how the velocity that μ gives them changes."""
    active, holders = spec[4], spec[5]
    moved, mixed, points, below = room[1], room[2], room[5], room[9]
    col = 0
    for p in range(len(holders)):
        at = below[holders[p] * _DOWN : (holders[p] + 1) * _DOWN]
        x, y, z = points[p, 0], points[p, 1], points[p, 2]
        wx, wy, wz = points[p, 3], points[p, 4], points[p, 5]
        on = active[k, p]
        for lane in range(columns[1]):
            r = columns[0] + lane
            if not reaches[p]:
                if on:
                    mixed[r, col] = mixed[r, col + 1] = mixed[r, col + 2] = 0.0
                continue
            ox, oy, oz = at[lane], at[LANES + lane], at[2 * LANES + lane]
            moved[p, 0, r] = at[3 * LANES + lane] + oy * z - oz * y
            moved[p, 1, r] = at[4 * LANES + lane] + oz * x - ox * z
            moved[p, 2, r] = at[5 * LANES + lane] + ox * y - oy * x
            if on:
                ux, uy, uz = at[18 * LANES + lane], at[19 * LANES + lane], at[20 * LANES + lane]
                mixed[r, col] = oz * wy - oy * wz - at[21 * LANES + lane] + uz * y - uy * z
                mixed[r, col + 1] = ox * wz - oz * wx - at[22 * LANES + lane] + ux * z - uz * x
                mixed[r, col + 2] = oy * wx - ox * wy - at[23 * LANES + lane] + uy * x - ux * y
        if on:
            col += 3
