"""Compiled twins of the quaternion products; imported on first use, since importing numba takes a while.

They are generalised ufuncs, which broadcast as NumPy's do, over strides of any kind.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.base.compiling import guvectorize


def _kernel(layout: str, takes: str = "float64[:], float64[:], float64[:]") -> Any:
    return guvectorize([f"void({takes})"], layout, nopython=True, cache=True)


@_kernel("(n),(n)->(n)")
def multiply(a: Floats, b: Floats, out: Floats) -> None:
    """See `quat.multiply_numpy`."""
    aw, ax, ay, az = a[0], a[1], a[2], a[3]
    bw, bx, by, bz = b[0], b[1], b[2], b[3]
    out[0] = aw * bw - ax * bx - ay * by - az * bz
    out[1] = aw * bx + ax * bw + ay * bz - az * by
    out[2] = aw * by - ax * bz + ay * bw + az * bx
    out[3] = aw * bz + ax * by - ay * bx + az * bw


@_kernel("(q),(v)->(v)")
def rotate(q: Floats, v: Floats, out: Floats) -> None:
    """See `quat.rotate_numpy`."""
    w, x, y, z = q[0], q[1], q[2], q[3]
    vx, vy, vz = v[0], v[1], v[2]
    tx, ty, tz = 2.0 * (y * vz - z * vy), 2.0 * (z * vx - x * vz), 2.0 * (x * vy - y * vx)
    out[0] = vx + w * tx + (y * tz - z * ty)
    out[1] = vy + w * ty + (z * tx - x * tz)
    out[2] = vz + w * tz + (x * ty - y * tx)


@_kernel("(n),(n)->(n)")
def cross(a: Floats, b: Floats, out: Floats) -> None:
    """See `quat.cross_numpy`."""
    ax, ay, az = a[0], a[1], a[2]
    bx, by, bz = b[0], b[1], b[2]
    out[0] = ay * bz - az * by
    out[1] = az * bx - ax * bz
    out[2] = ax * by - ay * bx


@_kernel("(n)->(n)", "float64[:], float64[:]")
def normalise(q: Floats, out: Floats) -> None:
    """See `quat.normalise_numpy`."""
    size = np.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    if size > 0:
        for k in range(4):
            out[k] = q[k] / size
    else:
        out[0], out[1], out[2], out[3] = 1.0, 0.0, 0.0, 0.0


@_kernel("(v),(q)->(q)")
def from_rotvec(v: Floats, _shape: Floats, out: Floats) -> None:
    """See `quat.from_rotvec_numpy`; the second array only says that four numbers come out."""
    half = 0.5 * np.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    scale = 0.5 if half == 0 else 0.5 * np.sin(half) / half
    out[0], out[1], out[2], out[3] = np.cos(half), scale * v[0], scale * v[1], scale * v[2]


@_kernel("(q),(v)->(v)")
def as_rotvec(q: Floats, _shape: Floats, out: Floats) -> None:
    """See `quat.as_rotvec_numpy`; the second array only says that three numbers come out."""
    sign = -1.0 if q[0] < 0 else 1.0
    sine = np.sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    scale = 2 * np.arctan2(sine, sign * q[0]) / sine if sine > 1e-12 else 2.0
    for k in range(3):
        out[k] = sign * q[k + 1] * scale


@_kernel("(n),(n),()->(n)", "float64[:], float64[:], float64, float64[:]")
def slerp(a: Floats, b: Floats, share: float, out: Floats) -> None:
    """See `quat.slerp_numpy`."""
    dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
    sign = -1.0 if dot < 0 else 1.0
    gap = 0.0
    for k in range(4):
        gap += (a[k] - sign * b[k]) ** 2
    angle = 2 * np.arcsin(min(np.sqrt(gap) / 2, 1.0))
    sine = np.sin(angle)
    first, second = 1 - share, share
    if sine >= 1e-9:
        first, second = np.sin((1 - share) * angle) / sine, np.sin(share * angle) / sine
    size = 0.0
    for k in range(4):
        out[k] = first * a[k] + second * sign * b[k]
        size += out[k] * out[k]
    size = np.sqrt(size)
    for k in range(4):
        out[k] = out[k] / size if size > 0 else (1.0 if k == 0 else 0.0)


@_kernel("(v),(v),(q)->(q)", "float64[:], float64[:], float64[:], float64[:]")
def between_vectors(a: Floats, b: Floats, _shape: Floats, out: Floats) -> None:
    """See `quat.between_vectors_numpy`; the third array only says that four numbers come out."""
    one = max(np.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]), 1e-300)
    two = max(np.sqrt(b[0] * b[0] + b[1] * b[1] + b[2] * b[2]), 1e-300)
    x, y, z = a[0] / one, a[1] / one, a[2] / one
    ex, ey, ez = b[0] / two, b[1] / two, b[2] / two
    w = 1 + (x * ex + y * ey + z * ez)
    if w < 1e-12:  # opposite: any axis across the first will do
        w = 0.0
        ex, ey, ez = (1.0, 0.0, 0.0) if abs(x) < 0.9 else (0.0, 1.0, 0.0)
    i, j, k = y * ez - z * ey, z * ex - x * ez, x * ey - y * ex
    size = np.sqrt(w * w + i * i + j * j + k * k)
    out[0], out[1], out[2], out[3] = w / size, i / size, j / size, k / size
