"""Compiled twins of the kernels for limbs; imported on first use, since importing numba takes a while."""

from __future__ import annotations

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.base.compiling import njit


@njit(cache=True, fastmath=False, nogil=True, inline="always")
def _turned(q: Floats, v: Floats, sign: float) -> tuple[float, float, float]:
    """A vector turned by a rotation; backwards with a sign of -1."""
    w, x, y, z = q[0], sign * q[1], sign * q[2], sign * q[3]
    tx, ty, tz = 2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])
    return v[0] + w * tx + y * tz - z * ty, v[1] + w * ty + z * tx - x * tz, v[2] + w * tz + x * ty - y * tx


@njit(cache=True, fastmath=False, nogil=True)
def hinge_axes(hip: Floats, knee: Floats, ankle: Floats, thigh_rot: Floats, hinge_share: float) -> Floats:
    """See `ik.hinge_axes_numpy`."""
    frames = len(hip)
    normal = np.empty((frames, 3))
    own = np.zeros(3)
    thigh, shin = np.empty(3), np.empty(3)
    for f in range(frames):
        a = b = 0.0
        for k in range(3):
            thigh[k], shin[k] = knee[f, k] - hip[f, k], ankle[f, k] - knee[f, k]
            a += thigh[k] * thigh[k]
            b += shin[k] * shin[k]
        size = max(np.sqrt(a) * np.sqrt(b), 1e-12)
        normal[f, 0] = (thigh[1] * shin[2] - thigh[2] * shin[1]) / size
        normal[f, 1] = (thigh[2] * shin[0] - thigh[0] * shin[2]) / size
        normal[f, 2] = (thigh[0] * shin[1] - thigh[1] * shin[0]) / size
        x, y, z = _turned(thigh_rot[f], normal[f], -1.0)
        own[0] += x / frames
        own[1] += y / frames
        own[2] += z / frames
    own[0] += 1e-6
    own /= np.sqrt(own[0] * own[0] + own[1] * own[1] + own[2] * own[2])
    for f in range(frames):
        usual = _turned(thigh_rot[f], own, 1.0)
        near = normal[f, 0] * usual[0] + normal[f, 1] * usual[1] + normal[f, 2] * usual[2]
        sign = -1.0 if near < 0 else 1.0
        size = 0.0
        for k in range(3):
            normal[f, k] = sign * normal[f, k] + hinge_share * usual[k]
            size += normal[f, k] * normal[f, k]
        size = max(np.sqrt(size), 1e-12)
        for k in range(3):
            normal[f, k] /= size
    return normal


@njit(cache=True, fastmath=False, nogil=True)
def solve_limb(
    hip: Floats, knee: Floats, ankle: Floats, axis: Floats, target: Floats, soft_share: float, undo: float
) -> tuple[Floats, Floats]:
    """See `ik.solve_limb_numpy`."""
    frames = len(hip)
    swing, bend = np.empty((frames, 4)), np.empty((frames, 4))
    thigh, shin, away = np.empty(3), np.empty(3), np.empty(3)
    for f in range(frames):
        u = axis[f]
        along = across = dot = squares = distance = recorded = 0.0
        for k in range(3):
            thigh[k], shin[k] = knee[f, k] - hip[f, k], ankle[f, k] - knee[f, k]
            away[k] = target[f, k] - hip[f, k]
            along += u[k] * shin[k]
            across += u[k] * thigh[k]
            dot += thigh[k] * shin[k]
            squares += thigh[k] * thigh[k] + shin[k] * shin[k]
            distance += away[k] * away[k]
            recorded += (ankle[f, k] - hip[f, k]) ** 2
        distance, recorded = np.sqrt(distance), np.sqrt(recorded)
        fixed = across * along
        even = dot - fixed
        odd = (
            thigh[0] * (u[1] * shin[2] - u[2] * shin[1])
            + thigh[1] * (u[2] * shin[0] - u[0] * shin[2])
            + thigh[2] * (u[0] * shin[1] - u[1] * shin[0])
        )
        size = max(np.hypot(even, odd), 1e-12)
        squares += 2 * fixed
        straight = np.arctan2(odd, even)
        longest = np.sqrt(max(squares + 2 * size, 0.0))
        start = min(max(soft_share * longest, recorded), longest)
        reach = distance
        if distance > start:
            room = max(longest - start, 1e-9)
            reach = start - room * np.expm1(-(distance - start) / room)
        flexion = np.arccos(min(max((reach * reach - squares) / (2 * size), -1.0), 1.0))
        wrong = max(straight, 0.0)
        flexion -= 2 * wrong * min(max(1 - (flexion - wrong) / undo, 0.0), 1.0)
        half = 0.5 * (straight + flexion)
        bend[f, 0] = np.cos(half)
        for k in range(3):
            bend[f, k + 1] = np.sin(half) * u[k]
        end = _turned(bend[f], shin, 1.0)
        nx, ny, nz = thigh[0] + end[0], thigh[1] + end[1], thigh[2] + end[2]
        if distance > 1e-9:
            _between(swing[f], nx, ny, nz, away)
        else:
            swing[f, 0] = 1.0
            swing[f, 1:] = 0.0
    return swing, bend


@njit(cache=True, fastmath=False, nogil=True)
def _between(out: Floats, x: float, y: float, z: float, end: Floats) -> None:
    """Write the shortest rotation from one direction to another; see `quat.between_vectors`."""
    a = np.sqrt(x * x + y * y + z * z)
    b = np.sqrt(end[0] * end[0] + end[1] * end[1] + end[2] * end[2])
    x, y, z = x / a, y / a, z / a
    ex, ey, ez = end[0] / b, end[1] / b, end[2] / b
    w = 1 + x * ex + y * ey + z * ez
    if w < 1e-12:
        w = 0.0
        ex, ey, ez = (1.0, 0.0, 0.0) if abs(x) < 0.9 else (0.0, 1.0, 0.0)
    out[0], out[1], out[2], out[3] = w, y * ez - z * ey, z * ex - x * ez, x * ey - y * ex
    out /= np.sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2] + out[3] * out[3])
