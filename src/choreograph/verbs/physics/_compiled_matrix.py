"""The banded Newton matrix and the gradient of a motion problem, node by node.

A node's own matrix is in the order of the unknowns: coefficients c_k and c_{k+1}, forces, c_{k+2}. It is the squares of
the torque rows, two groups of columns at a time over the rows that both have, the curvature of everything that bends,
and forces' own limits; then it is added to the band. `spec` is from `problem.Problem.spec`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from choreograph.base.arrays import Floats, Ints32
from choreograph.base.compiling import njit
from choreograph.dynamics._compiled import frames, make_work, values
from choreograph.dynamics._compiled_spatial import lean
from choreograph.verbs.physics._compiled import coordinates
from choreograph.verbs.physics._compiled_node import LANES, PRODUCTS, make_room, node
from choreograph.verbs.physics._compiled_squares import squares_of

fast: Any = njit(cache=True, nogil=True, fastmath=True)

FORCE_ROWS = 5
"""Inequalities of a force: four sides of the friction pyramid, and the most it may be."""
_TERMS, _BLOCKS = 7, 6
"""Hessians by pairs of state, velocity and acceleration, and blocks of a node's matrix that they make."""


@fast
def assemble(
    spec: Any,
    x: Floats,
    mu: Floats,
    lam_p: Floats,
    row_w: Floats,
    row_g: Floats,
    q_w: Floats,
    q_g: Floats,
    p_w: Floats,
    p_g: Floats,
    y_w: Floats,
    f_w: Floats,
    f_g: Floats,
    b_w: Floats,
    r_w: Floats,
    r_g: Floats,
    band: Floats,
    grad: Floats,
    jac: Floats,
    arms_y: Floats,
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
        b_w: Weight of the square of what points bear together, at those of them that do, (K, P).
        r_w, r_g: For the change of each point's upward force to the next node, (K − 1, P).
        band: Gets the lower band, (N, width): band[c, r − c].
        grad: Gets the gradient, (N,).
        jac: Gets the torque rows' Jacobian by (c_k, c_{k+1}, c_{k+2}, f), (K, n, 3 ny + 3 P).
        arms_y: Gets the points' Jacobian by the low-dimensional coordinates, (K, P, 3, ny).
    """  # fmt: skip
    off, w, q0, active = spec[1], spec[2], spec[3], spec[4]
    gravity, slope, spans, stencils = spec[9][0], spec[9][3], spec[16], spec[15]
    y, v, a = coordinates(spec, x)
    count, n, npts, ny = len(y), q0.shape[1], len(spec[5]), w.shape[1]
    qv, qa, q = v @ w.T + spec[13], a @ w.T + spec[14], y @ w.T + q0
    away, most = y - spec[12], 3 * ny + 3 * npts
    work, room, tau = make_work(n, gravity), make_room(spec), np.empty(n)
    mat, g, flat = np.empty((most, most)), np.empty(most), np.empty(most + ny)
    groups = len(spec[19][0])
    squares = (
        np.empty(n * most), np.empty(n * most), np.empty(most * most), np.ones(n),
        np.empty((3 * groups + npts, 3), np.int64), np.zeros(groups + 1, np.int64), np.zeros(groups, np.int64),
    )  # fmt: skip
    terms, blocks = np.empty((_TERMS, ny, ny)), np.empty((_BLOCKS, ny, ny))
    full, held, shares = np.empty((PRODUCTS - 3, ny, ny)), np.empty((3 * npts, ny)), np.empty((_BLOCKS, _TERMS))
    terms[6] = spec[11]
    band[:, :] = 0.0
    grad[:] = 0.0
    for k in range(count):
        h, st = spans[k], stencils[k]
        values(spec[0], gravity, q[k], qv[k], qa[k], work, tau)
        node(spec, x, k, mu[k], lam_p[k], work, room)
        nf = off[k + 2] - off[k + 1] - ny
        _rows(spec, st, room, nf, jac[k])
        squares_of(spec, k, jac[k], row_w[k], nf, mat, squares)
        _curvature(spec, room, (h, st, p_w[k], q_w[k], y_w[k]), (full, held, shares, terms), blocks)
        _add_curvature(room[2], st, nf, blocks, mat)
        arms_y[k] = room[1]
        _slopes(spec, jac[k], arms_y[k], (h, st, row_g[k], q_g[k], p_g[k]), (away[k], a[k]), nf, flat, g)
        _forces(active[k], (f_w[k], f_g[k], b_w[k]), slope, 2 * ny, mat, g)
        _scatter(off, k, ny, nf, mat, g, band, grad)
    _rate_terms(spec, x, 2.0 * spec[9][2], r_w, r_g, band, grad)


@fast
def assemble_places(
    spec: Any,
    x: Floats,
    q_w: Floats,
    q_g: Floats,
    p_w: Floats,
    p_g: Floats,
    y_w: Floats,
    f_w: Floats,
    f_g: Floats,
    b_w: Floats,
    r_w: Floats,
    r_g: Floats,
    band: Floats,
    grad: Floats,
    arms_y: Floats,
) -> None:
    """The same without mechanics, and without what bends: only places, coordinates and accelerations have squares.

    Arguments are those of `assemble`; no torque row is needed.
    """
    tree, off, w, q0, active = spec[0], spec[1], spec[2], spec[3], spec[4]
    slope, spans, stencils = spec[9][3], spec[16], spec[15]
    y, _, a = coordinates(spec, x)
    count, n, npts, ny = len(y), q0.shape[1], len(spec[5]), w.shape[1]
    q, away, most = y @ w.T + q0, y - spec[12], 3 * ny + 3 * npts
    rot, org, axis = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 6))
    mat, g, flat = np.zeros((most, most)), np.empty(most), np.empty(most + ny)
    rows, row_g, mixed = np.zeros((n, most)), np.zeros(n), np.zeros((ny, 3 * npts))
    terms, blocks = np.zeros((_TERMS, ny, ny)), np.empty((_BLOCKS, ny, ny))
    held, shares = np.empty((3 * npts, ny)), np.empty((_BLOCKS, _TERMS))
    terms[6] = spec[11]
    band[:, :] = 0.0
    grad[:] = 0.0
    for k in range(count):
        h, st = spans[k], stencils[k]
        frames(tree, q[k], rot, org, axis)
        _arms(spec, rot, org, axis, arms_y[k])
        nf = off[k + 2] - off[k + 1] - ny
        mat[:, :] = 0.0
        given = (h, st, p_w[k], q_w[k], y_w[k])
        _weigh(arms_y[k].reshape(held.shape), p_w[k], held)
        np.dot(held.T, arms_y[k].reshape(held.shape), terms[0])
        _limits(spec, given, terms[0])
        _share_out(h, st, shares)
        np.dot(shares, terms.reshape((_TERMS, ny * ny)), blocks.reshape((_BLOCKS, ny * ny)))
        _add_curvature(mixed, st, nf, blocks, mat)
        _slopes(spec, rows, arms_y[k], (h, st, row_g, q_g[k], p_g[k]), (away[k], a[k]), nf, flat, g)
        _forces(active[k], (f_w[k], f_g[k], b_w[k]), slope, 2 * ny, mat, g)
        _scatter(off, k, ny, nf, mat, g, band, grad)
    _rate_terms(spec, x, 2.0 * spec[9][2], r_w, r_g, band, grad)


@lean
def _arms(spec: Any, rot: Floats, org: Floats, axis: Floats, arms: Floats) -> None:
    """How the state moves each point, (P, 3, ny): the sum over all that carry it."""
    parents, turns, w = spec[0][0], spec[0][1], spec[2]
    holders, offsets = spec[5], spec[6]
    for p in range(len(holders)):
        j = holders[p]
        px, py, pz = org[j, 0], org[j, 1], org[j, 2]
        for c in range(3):
            px += rot[j, 0, c] * offsets[p, c]
            py += rot[j, 1, c] * offsets[p, c]
            pz += rot[j, 2, c] * offsets[p, c]
        arm = arms[p]
        arm[:, :] = 0.0
        while j >= 0:
            mx, my, mz = axis[j, 3], axis[j, 4], axis[j, 5]
            if turns[j]:
                ax, ay, az = axis[j, 0], axis[j, 1], axis[j, 2]
                dx, dy, dz = px - org[j, 0], py - org[j, 1], pz - org[j, 2]
                mx, my, mz = ay * dz - az * dy, az * dx - ax * dz, ax * dy - ay * dx
            for r in range(w.shape[1]):
                arm[0, r] += mx * w[j, r]
                arm[1, r] += my * w[j, r]
                arm[2, r] += mz * w[j, r]
            j = parents[j]


@lean
def _rows(spec: Any, st: Floats, room: Any, nf: int, rows: Floats) -> None:
    """Torque rows by c_k, c_{k+1}, c_{k+2} and the forces; entries that are always nothing stay so."""
    starts, members, columns = spec[18][0], spec[18][1], spec[18][2]
    products, by_force, ny = room[0], room[3], spec[2].shape[1]
    for panel in range(len(columns)):
        first, size = columns[panel]
        for m in range(starts[panel], starts[panel + 1]):
            i = members[m]
            row, product = rows[i], products[panel, i]
            for s in range(3):
                s0, s1, s2 = st[0, s], st[1, s], st[2, s]
                part = row[s * ny + first : s * ny + first + size]
                for r in range(size):
                    part[r] = s0 * product[r] + s1 * product[LANES + r] + s2 * product[2 * LANES + r]
    for i in range(len(rows)):
        part = rows[i, 3 * ny : 3 * ny + nf]
        for r in range(nf):
            part[r] = by_force[i, r]


@fast
def _curvature(spec: Any, room: Any, given: Any, buffers: Any, blocks: Floats) -> None:
    """What bends: μ·τ, points, limits, the distance from the basis; blocks (_BLOCKS, ny, ny) by pairs of c."""
    dense, picks, columns = spec[7], spec[8], spec[18][2]
    full, held, shares, terms = buffers
    products, moved = room[0], room[1]
    ny = full.shape[1]
    for panel in range(len(products)):
        _spread(np.dot(dense.T, products[panel]), products[panel], picks, columns[panel], full)
    flat = moved.reshape(held.shape)
    _weigh(flat, given[2], held)
    np.dot(held.T, flat, terms[0])
    _pair_up(full, terms)
    _limits(spec, given, terms[0])
    _share_out(given[0], given[1], shares)
    np.dot(shares, terms.reshape((_TERMS, ny * ny)), blocks.reshape((_BLOCKS, ny * ny)))


@lean
def _share_out(h: float, st: Floats, shares: Floats) -> None:
    """How much each pair of state, velocity and acceleration counts for each pair of coefficients."""
    b = 0
    for al in range(3):
        for be in range(al, 3):
            shares[b, 0], shares[b, 3] = st[0, al] * st[0, be], st[1, al] * st[1, be]
            shares[b, 1], shares[b, 2] = st[0, al] * st[1, be], st[1, al] * st[0, be]
            shares[b, 4], shares[b, 5] = st[0, al] * st[2, be], st[2, al] * st[0, be]
            shares[b, 6] = h * st[2, al] * st[2, be]
            b += 1


@lean
def _weigh(rows: Floats, weights: Floats, out: Floats) -> None:
    for p in range(len(weights)):
        for b in range(3):
            for r in range(rows.shape[1]):
                out[3 * p + b, r] = weights[p, b] * rows[3 * p + b, r]


@lean
def _spread(product: Floats, mine: Floats, picks: Ints32, columns: Ints32, full: Floats) -> None:
    """A panel's vectors times W: what the basis gives, and the rest picked."""
    d, first, size = len(product), columns[0], columns[1]
    for e in range(full.shape[1]):
        source = product[e] if e < d else mine[picks[e - d]]
        for c in range(len(full)):
            to, part = full[c, e, first : first + size], source[(3 + c) * LANES : (3 + c) * LANES + size]
            for r in range(size):
                to[r] = part[r]


@lean
def _pair_up(full: Floats, terms: Floats) -> None:
    """Hessians by state and state, state and velocity and back, twice velocity, state and acceleration and back."""
    ny = full.shape[1]
    for r in range(ny):
        for c in range(ny):
            terms[0, r, c] += full[0, r, c] + full[0, c, r]
            terms[1, r, c] = full[1, c, r] + full[2, r, c]
            terms[2, r, c] = full[1, r, c] + full[2, c, r]
            terms[3, r, c] = full[3, r, c] + full[3, c, r]
            terms[4, r, c] = full[4, c, r] + full[5, r, c]
            terms[5, r, c] = full[4, r, c] + full[5, c, r]


@lean
def _limits(spec: Any, given: Any, top: Floats) -> None:
    """Add Wᵀ diag(weights of coordinates) W, and what the state's own squares are worth."""
    dense, picks, quad_y = spec[7], spec[8], spec[10]
    h, _, _, weights, own = given
    d = dense.shape[1]
    for i in range(len(weights)):
        if weights[i] != 0.0:
            for r in range(d):
                for c in range(d):
                    top[r, c] += weights[i] * dense[i, r] * dense[i, c]
    for e in range(len(picks)):
        weight = weights[picks[e]]
        for r in range(d):
            top[r, d + e] += weight * dense[picks[e], r]
            top[d + e, r] += weight * dense[picks[e], r]
        top[d + e, d + e] += weight
    for r in range(len(own)):
        top[r, r] += own[r] + h * quad_y[r, r]


@lean
def _add_curvature(mixed: Floats, st: Floats, nf: int, blocks: Floats, mat: Floats) -> None:
    """Add the blocks, and what bends by state and force, to a node's matrix."""
    ny = blocks.shape[1]
    firsts = (0, ny, 2 * ny + nf)
    b = 0
    for al in range(3):
        for be in range(al, 3):
            for r in range(ny):
                to, row = mat[firsts[al] + r, firsts[be] : firsts[be] + ny], blocks[b, r]
                for c in range(ny):
                    to[c] += row[c]
            b += 1
    for r in range(ny):
        for c in range(nf):
            mat[r, 2 * ny + c] += st[0, 0] * mixed[r, c]
            mat[ny + r, 2 * ny + c] += st[0, 1] * mixed[r, c]
            mat[2 * ny + c, firsts[2] + r] += st[0, 2] * mixed[r, c]


@lean
def _slopes(spec: Any, rows: Floats, arms: Floats, given: Any, off_by: Any, nf: int, flat: Floats, g: Floats) -> None:
    """A node's gradient, in the order of its matrix; `flat` is room for it."""
    w, quad_y, quad_a = spec[2], spec[10], spec[11]
    h, st, row_g, q_g, p_g = given
    n, ny = w.shape
    wide = 3 * ny + nf
    flat[: wide + ny] = 0.0
    for i in range(n):
        weight, row = row_g[i], rows[i]
        for r in range(wide):
            flat[r] += weight * row[r]
    gy = flat[wide:]
    for r in range(ny):
        gy[r] = h * quad_y[r, r] * off_by[0][r]
    for i in range(n):
        if q_g[i] != 0.0:
            for r in range(ny):
                gy[r] += q_g[i] * w[i, r]
    for p in range(len(p_g)):
        for b in range(3):
            if p_g[p, b] != 0.0:
                for r in range(ny):
                    gy[r] += p_g[p, b] * arms[p, b, r]
    for r in range(ny):
        ga = 0.0
        for c in range(ny):
            ga += quad_a[r, c] * off_by[1][c]
        for s in range(3):
            g[s * ny + (nf if s == 2 else 0) + r] = flat[s * ny + r] + st[0, s] * gy[r] + st[2, s] * h * ga
    for r in range(nf):
        g[2 * ny + r] = flat[3 * ny + r]


@lean
def _forces(active: Any, given: Any, slope: float, first: int, mat: Floats, g: Floats) -> None:
    """Add a node's limits of forces, which stand from column `first` on: weights, pushes, weights of the sum."""
    weights, pushes, both = given
    c = first
    for p in range(len(active)):
        if not active[p]:
            continue
        _force_local(mat, g, c, weights[p], pushes[p], slope)
        if both[p] != 0.0:
            at = c
            for other in range(p, len(active)):
                if active[other]:
                    if both[other] != 0.0:
                        mat[c + 1, at + 1] += both[p]
                    at += 3
        c += 3


@lean
def _force_local(mat: Floats, g: Floats, c: int, weight: Floats, push: Floats, slope: float) -> None:
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


@lean
def _scatter(off: Ints32, k: int, ny: int, nf: int, mat: Floats, g: Floats, band: Floats, grad: Floats) -> None:
    """Add a node's matrix and gradient to the whole: all but c_k stand in a row."""
    first, second, rest = off[k], off[k + 1], 2 * ny + nf
    for i in range(ny):
        grad[first + i] += g[i]
        row, mine = band[first + i], mat[i]
        near, far = row[: ny - i], row[second - first - i : second - first - i + rest]
        for c in range(ny - i):
            near[c] += mine[i + c]
        for c in range(rest):
            far[c] += mine[ny + c]
    for i in range(rest):
        grad[second + i] += g[ny + i]
        row, mine = band[second + i], mat[ny + i]
        for c in range(rest - i):
            row[c] += mine[ny + i + c]


@fast
def _rate_terms(spec: Any, x: Floats, twice: float, r_w: Floats, r_g: Floats, band: Floats, grad: Floats) -> None:
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
