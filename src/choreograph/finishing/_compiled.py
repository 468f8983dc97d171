"""Compiled kernels of finishing; each has a plain twin in the tests, with the same arguments, that it is compared with.

Rows are copied number by number: assigning one array to another takes numba seconds to compile.
"""

from __future__ import annotations

import math

import numpy as np

from choreograph.base.arrays import Floats, Ints
from choreograph.base.compiling import njit


@njit(cache=True, nogil=True, inline="always")
def _slerp(a: Floats, b: Floats, t: float, out: Floats) -> None:
    """The rotation a share t of the way from a to b on the short arc, into `out`."""
    dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]
    sign = 1.0 if dot >= 0 else -1.0
    gap = 0.0
    for k in range(4):
        gap += (a[k] - sign * b[k]) ** 2
    angle = 2 * math.asin(min(1.0, math.sqrt(gap) / 2))
    sine = math.sin(angle)
    if sine < 1e-9:
        start, end = 1 - t, t
    else:
        start, end = math.sin((1 - t) * angle) / sine, math.sin(t * angle) / sine
    size = 0.0
    for k in range(4):
        out[k] = start * a[k] + sign * end * b[k]
        size += out[k] ** 2
    size = math.sqrt(size)
    for k in range(4):
        out[k] /= size


@njit(cache=True, nogil=True)
def sample(root: Floats, rot: Floats, row: Ints, share: Floats, place: Floats) -> tuple[Floats, Floats]:
    """Root positions (F, 3) and local rotations (F, J, 4) read at fractional rows and laid on the floor.

    Args:
        root: Root positions of all rows, (N, 3), metres.
        rot: Local rotations of all rows, (N, J, 4).
        row: The row before each place, (F,).
        share: How far each place is to the next row, (F,), 0 to below 1.
        place: Floor transform of each output frame as yaw, x, z, (F, 3).
    """
    frames, joints = len(row), rot.shape[1]
    out_root, out_rot = np.empty((frames, 3)), np.empty((frames, joints, 4))
    for f in range(frames):
        r, s = row[f], share[f]
        if s > 0:
            for k in range(3):
                out_root[f, k] = (1 - s) * root[r, k] + s * root[r + 1, k]
            for j in range(joints):
                _slerp(rot[r, j], rot[r + 1, j], s, out_rot[f, j])
        else:
            for k in range(3):
                out_root[f, k] = root[r, k]
            for j in range(joints):
                for k in range(4):
                    out_rot[f, j, k] = rot[r, j, k]
        yaw = place[f, 0]
        cos, sin = math.cos(yaw), math.sin(yaw)
        x, z = out_root[f, 0], out_root[f, 2]
        out_root[f, 0] = x * cos + z * sin + place[f, 1]
        out_root[f, 2] = -x * sin + z * cos + place[f, 2]
        c, v = math.cos(yaw / 2), math.sin(yaw / 2)
        bw, bx, by, bz = out_rot[f, 0, 0], out_rot[f, 0, 1], out_rot[f, 0, 2], out_rot[f, 0, 3]
        out_rot[f, 0, 0] = c * bw - v * by
        out_rot[f, 0, 1] = c * bx + v * bz
        out_rot[f, 0, 2] = c * by + v * bw
        out_rot[f, 0, 3] = c * bz - v * bx
    return out_root, out_rot


@njit(cache=True, nogil=True)
def mix(root: Floats, rot: Floats, at: Ints, other_root: Floats, other_rot: Floats, weight: Floats) -> None:
    """Mix another motion into the frames `at` of this one, in place: positions linearly, rotations on the short arc.

    Args:
        root: Root positions, (F, 3); changed.
        rot: Local rotations, (F, J, 4); changed.
        at: Frames to change, (B,).
        other_root: Root positions to mix in, (B, 3).
        other_rot: Local rotations to mix in, (B, J, 4).
        weight: How much the other motion counts: for the root's position, then for each joint, (B, 1 + J).
    """
    turned = np.empty(4)
    for n in range(len(at)):
        f = at[n]
        w = weight[n, 0]
        for k in range(3):
            root[f, k] = (1 - w) * root[f, k] + w * other_root[n, k]
        for j in range(rot.shape[1]):
            _slerp(rot[f, j], other_rot[n, j], weight[n, j + 1], turned)
            for k in range(4):
                rot[f, j, k] = turned[k]
