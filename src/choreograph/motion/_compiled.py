"""Compiled twins of the kinematics kernels; imported on first use, since importing numba takes a while."""

from __future__ import annotations

import numpy as np

from choreograph.base.arrays import Floats, Ints32
from choreograph.base.compiling import njit


@njit(cache=True, fastmath=False, nogil=True)
def forward(root_pos: Floats, local_rot: Floats, local_pos: Floats, parents: Ints32) -> tuple[Floats, Floats]:
    """See `kinematics.forward_numpy`; local_pos is (F, J, 3) or (1, J, 3)."""
    frames, joints = local_rot.shape[0], local_rot.shape[1]
    pos = np.empty((frames, joints, 3))
    rot = np.empty((frames, joints, 4))
    moving = local_pos.shape[0] > 1
    for f in range(frames):
        for k in range(3):
            pos[f, 0, k] = root_pos[f, k]
        for k in range(4):
            rot[f, 0, k] = local_rot[f, 0, k]
        g = f if moving else 0
        for j in range(1, joints):
            p = parents[j]
            aw, ax, ay, az = rot[f, p, 0], rot[f, p, 1], rot[f, p, 2], rot[f, p, 3]
            bw, bx, by, bz = local_rot[f, j, 0], local_rot[f, j, 1], local_rot[f, j, 2], local_rot[f, j, 3]
            rot[f, j, 0] = aw * bw - ax * bx - ay * by - az * bz
            rot[f, j, 1] = aw * bx + ax * bw + ay * bz - az * by
            rot[f, j, 2] = aw * by - ax * bz + ay * bw + az * bx
            rot[f, j, 3] = aw * bz + ax * by - ay * bx + az * bw
            vx, vy, vz = local_pos[g, j, 0], local_pos[g, j, 1], local_pos[g, j, 2]
            tx, ty, tz = 2 * (ay * vz - az * vy), 2 * (az * vx - ax * vz), 2 * (ax * vy - ay * vx)
            pos[f, j, 0] = pos[f, p, 0] + vx + aw * tx + ay * tz - az * ty
            pos[f, j, 1] = pos[f, p, 1] + vy + aw * ty + az * tx - ax * tz
            pos[f, j, 2] = pos[f, p, 2] + vz + aw * tz + ax * ty - ay * tx
    return pos, rot


@njit(cache=True, fastmath=False, nogil=True)
def to_local(global_rot: Floats, parents: Ints32) -> Floats:
    """See `kinematics.to_local_numpy`."""
    frames, joints = global_rot.shape[0], global_rot.shape[1]
    local = np.empty((frames, joints, 4))
    for f in range(frames):
        for k in range(4):
            local[f, 0, k] = global_rot[f, 0, k]
        for j in range(1, joints):
            p = parents[j]
            aw, ax, ay, az = global_rot[f, p, 0], -global_rot[f, p, 1], -global_rot[f, p, 2], -global_rot[f, p, 3]
            bw, bx, by, bz = global_rot[f, j, 0], global_rot[f, j, 1], global_rot[f, j, 2], global_rot[f, j, 3]
            local[f, j, 0] = aw * bw - ax * bx - ay * by - az * bz
            local[f, j, 1] = aw * bx + ax * bw + ay * bz - az * by
            local[f, j, 2] = aw * by - ax * bz + ay * bw + az * bx
            local[f, j, 3] = aw * bz + ax * by - ay * bx + az * bw
    return local


@njit(cache=True, fastmath=False, nogil=True)
def unit_and_continuous(rot: Floats) -> Floats:
    """See `kinematics.unit_and_continuous_numpy`."""
    frames, joints = rot.shape[0], rot.shape[1]
    out = np.empty((frames, joints, 4))
    for f in range(frames):
        for j in range(joints):
            size = 0.0
            near = 0.0
            for k in range(4):
                size += rot[f, j, k] * rot[f, j, k]
                if f > 0:
                    near += rot[f, j, k] * out[f - 1, j, k]
            if size > 0.0:
                scale = 1.0 / np.sqrt(size)
                if near < 0.0:
                    scale = -scale
                for k in range(4):
                    out[f, j, k] = scale * rot[f, j, k]
            else:
                sign = 1.0 if f == 0 or out[f - 1, j, 0] >= 0.0 else -1.0
                out[f, j, 0] = sign
                for k in range(1, 4):
                    out[f, j, k] = 0.0
    return out
