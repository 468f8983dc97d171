"""Compiled kernels of completing: points of the body with their derivatives.

Imported on first use, since importing numba takes a while.
"""

from __future__ import annotations

import numpy as np

from choreograph.base.arrays import Floats, Ints
from choreograph.base.compiling import njit


@njit(cache=True, nogil=True, inline="always")
def _multiply(aw, ax, ay, az, bw, bx, by, bz):  # type: ignore[no-untyped-def]
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


@njit(cache=True, nogil=True, inline="always")
def _rotate(w, x, y, z, a, b, c):  # type: ignore[no-untyped-def]
    tx, ty, tz = 2 * (y * c - z * b), 2 * (z * a - x * c), 2 * (x * b - y * a)
    return a + w * tx + y * tz - z * ty, b + w * ty + z * tx - x * tz, c + w * tz + x * ty - y * tx


@njit(cache=True, nogil=True)
def points(
    rows: Floats,
    place: Floats,
    frames: Ints,
    joints: Ints,
    chains: Ints,
    offsets: Floats,
    mean_rot: Floats,
    columns: Ints,
    axes: Floats,
    turns: bool,
) -> tuple[Floats, Floats, Floats, Floats]:
    """Positions (P, 3) and global rotations (P, 4) of joints at frames, and their derivatives (P, 3, d + 3).

    Derivatives are by the d coordinates, then by x, z and yaw of the place; the second ones, of the rotation as a small
    turn in the world, are zero unless `turns`.

    Args:
        rows: (F, k), in their own units.
        place: (F, 3).
        frames: (P,).
        joints: (P,).
        chains: Joints from the root to each joint, -1 behind the end, (J, L).
        offsets: (J, 3).
        mean_rot: (J, 4).
        columns: (J,).
        axes: Rows per unit of each coordinate, (d, k).
        turns: Whether the rotations' derivatives are wanted.
    """
    count, d, k = len(frames), axes.shape[0], axes.shape[1]
    pos, rot = np.empty((count, 3)), np.empty((count, 4))
    by_pos, by_rot = np.zeros((count, 3, d + 3)), np.zeros((count, 3, d + 3))
    depth = chains.shape[1]
    at, wide = np.empty((depth, 3)), np.empty((depth, 3, 3))
    for n in range(count):
        f, joint = frames[n], joints[n]
        x, y, z = place[f, 0], rows[f, k - 4], place[f, 1]
        half = place[f, 2] / 2
        w0, x0, y0, z0 = np.cos(half), 0.0, np.sin(half), 0.0
        length = 0
        for level in range(depth):
            j = chains[joint, level]
            if j < 0:
                break
            length = level + 1
            if level > 0:
                a, b, c = _rotate(w0, x0, y0, z0, offsets[j, 0], offsets[j, 1], offsets[j, 2])
                x, y, z = x + a, y + b, z + c
            at[level, 0], at[level, 1], at[level, 2] = x, y, z
            w0, x0, y0, z0 = _multiply(w0, x0, y0, z0, mean_rot[j, 0], mean_rot[j, 1], mean_rot[j, 2], mean_rot[j, 3])
            column = columns[j]
            if column < 0:
                continue
            r0, r1, r2 = rows[f, column], rows[f, column + 1], rows[f, column + 2]
            square = r0 * r0 + r1 * r1 + r2 * r2
            angle = np.sqrt(square)
            if angle < 1e-4:
                one, two, scale = 0.5 - square / 24, 1 / 6 - square / 120, 0.5 - square / 48
            else:
                one, two = (1 - np.cos(angle)) / square, (angle - np.sin(angle)) / (square * angle)
                scale = np.sin(angle / 2) / angle
            # The left Jacobian of the exponential map, turned into the world.
            for c in range(3):
                e0, e1, e2 = 1.0 * (c == 0), 1.0 * (c == 1), 1.0 * (c == 2)
                u0, u1, u2 = r1 * e2 - r2 * e1, r2 * e0 - r0 * e2, r0 * e1 - r1 * e0
                v0, v1, v2 = r1 * u2 - r2 * u1, r2 * u0 - r0 * u2, r0 * u1 - r1 * u0
                t0, t1, t2 = e0 + one * u0 + two * v0, e1 + one * u1 + two * v1, e2 + one * u2 + two * v2
                t0, t1, t2 = _rotate(w0, x0, y0, z0, t0, t1, t2)
                wide[level, c, 0], wide[level, c, 1], wide[level, c, 2] = t0, t1, t2
            w0, x0, y0, z0 = _multiply(w0, x0, y0, z0, np.cos(angle / 2), scale * r0, scale * r1, scale * r2)
        pos[n, 0], pos[n, 1], pos[n, 2] = x, y, z
        rot[n, 0], rot[n, 1], rot[n, 2], rot[n, 3] = w0, x0, y0, z0
        for level in range(length):
            column = columns[chains[joint, level]]
            if column < 0:
                continue
            dx, dy, dz = x - at[level, 0], y - at[level, 1], z - at[level, 2]
            for c in range(3):
                a, b, e = wide[level, c, 0], wide[level, c, 1], wide[level, c, 2]
                px, py, pz = b * dz - e * dy, e * dx - a * dz, a * dy - b * dx
                for i in range(d):
                    share = axes[i, column + c]
                    by_pos[n, 0, i] += px * share
                    by_pos[n, 1, i] += py * share
                    by_pos[n, 2, i] += pz * share
                    if turns:
                        by_rot[n, 0, i] += a * share
                        by_rot[n, 1, i] += b * share
                        by_rot[n, 2, i] += e * share
        for i in range(d):
            by_pos[n, 1, i] += axes[i, k - 4]
        by_pos[n, 0, d], by_pos[n, 2, d + 1] = 1.0, 1.0
        by_pos[n, 0, d + 2], by_pos[n, 2, d + 2] = z - place[f, 1], place[f, 0] - x
        by_rot[n, 1, d + 2] = 1.0
    return pos, rot, by_pos, by_rot


@njit(cache=True, nogil=True)
def root_rows(rows: Floats, place: Floats, axes: Floats, rate: float, weight: float) -> tuple[Floats, Floats]:
    """Residuals ((F - 1) 3,) and slopes ((F - 1) 3, 2 n) of places that follow from velocities and yaw rates."""
    frames, d, k = len(rows), axes.shape[0], axes.shape[1]
    n = d + 3
    values, slopes = np.empty(3 * (frames - 1)), np.zeros((3 * (frames - 1), 2 * n))
    for f in range(frames - 1):
        cos, sin = np.cos(place[f, 2]), np.sin(place[f, 2])
        side, ahead = rows[f, k - 3] / rate, rows[f, k - 2] / rate
        mx, mz = side * cos + ahead * sin, -side * sin + ahead * cos
        r = 3 * f
        values[r] = weight * (place[f + 1, 0] - place[f, 0] - mx)
        values[r + 1] = weight * (place[f + 1, 1] - place[f, 1] - mz)
        values[r + 2] = weight * (place[f + 1, 2] - place[f, 2] - rows[f, k - 1] / rate)
        for i in range(d):
            a, b = axes[i, k - 3] / rate, axes[i, k - 2] / rate
            slopes[r, i] = -weight * (a * cos + b * sin)
            slopes[r + 1, i] = -weight * (-a * sin + b * cos)
            slopes[r + 2, i] = -weight * axes[i, k - 1] / rate
        for c in range(3):
            slopes[r + c, d + c] = -weight
            slopes[r + c, n + d + c] = weight
        slopes[r, d + 2] -= weight * mz
        slopes[r + 1, d + 2] += weight * mx
    return values, slopes
