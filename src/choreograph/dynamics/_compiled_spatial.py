"""Spatial vectors for compiled recursions: six numbers, angular part first, about the world's origin, in rows."""

from __future__ import annotations

from typing import Any

from choreograph.base.compiling import njit

lean: Any = njit(cache=True, nogil=True, fastmath=True, _nrt=False)
"""For kernels that make no arrays: views of rows then cost nothing."""


@lean
def load(x: Any, j: int) -> Any:
    return (x[j, 0], x[j, 1], x[j, 2], x[j, 3], x[j, 4], x[j, 5])


@lean
def store(x: Any, j: int, t: Any) -> None:
    x[j, 0] = t[0]
    x[j, 1] = t[1]
    x[j, 2] = t[2]
    x[j, 3] = t[3]
    x[j, 4] = t[4]
    x[j, 5] = t[5]


@lean
def plus(a: Any, b: Any) -> Any:
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4], a[5] + b[5])


@lean
def less(a: Any, b: Any) -> Any:
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3], a[4] - b[4], a[5] - b[5])


@lean
def times(s: float, a: Any) -> Any:
    return (s * a[0], s * a[1], s * a[2], s * a[3], s * a[4], s * a[5])


@lean
def dot(a: Any, b: Any) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5]


@lean
def crm(a: Any, b: Any) -> Any:
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
def crf(a: Any, f: Any) -> Any:
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
def inertia(x: Any, j: int, v: Any) -> Any:
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
def bent(x: Any, j: int, v: Any) -> Any:
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
def bent_back(x: Any, j: int, v: Any) -> Any:
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
def moved(x: Any, j: int, v: Any) -> Any:
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
