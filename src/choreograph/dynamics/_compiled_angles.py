"""Angles about joints' own axes, all joints of a motion at once; the twin in plain NumPy is in the tests."""

from __future__ import annotations

from typing import Any

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.base.compiling import njit

fast: Any = njit(cache=True, nogil=True)

_LOCKED = 1e-14
"""Squared cosine of the middle angle at which the outer two are one."""


@fast
def _product(a: Any, b: Any) -> Any:
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


@fast
def _inverse(q: Any) -> Any:
    return (q[0], -q[1], -q[2], -q[3])


@fast
def euler(rotations: Floats, joints: Any, axes: Any, frames: Floats, rests: Floats) -> Floats:
    """Angles (F, M, 3) of frame⁻¹ · rotation · rest⁻¹ · frame about three axes, one after the other.

    Args:
        rotations: Of all joints, (F, J, 4).
        joints: Which, (M,).
        axes: Of each, an order of 0, 1 and 2, (M, 3).
        frames: Unit, (M, 4).
        rests: Unit, (M, 4).
    """
    out = np.empty((len(rotations), len(joints), 3))
    m = np.empty((3, 3))
    for k in range(len(joints)):
        i, j, last = axes[k, 0], axes[k, 1], axes[k, 2]
        sign = 1.0 if (j - i) % 3 == 1 else -1.0
        frame = (frames[k, 0], frames[k, 1], frames[k, 2], frames[k, 3])
        after = _product((rests[k, 0], -rests[k, 1], -rests[k, 2], -rests[k, 3]), frame)
        before = _inverse(frame)
        for f in range(len(rotations)):
            q = rotations[f, joints[k]]
            w, x, y, z = _product(_product(before, (q[0], q[1], q[2], q[3])), after)
            two = 2.0 / (w * w + x * x + y * y + z * z)
            m[0, 0], m[0, 1], m[0, 2] = 1 - two * (y * y + z * z), two * (x * y - w * z), two * (x * z + w * y)
            m[1, 0], m[1, 1], m[1, 2] = two * (x * y + w * z), 1 - two * (x * x + z * z), two * (y * z - w * x)
            m[2, 0], m[2, 1], m[2, 2] = two * (x * z - w * y), two * (y * z + w * x), 1 - two * (x * x + y * y)
            flat = m[i, i] ** 2 + m[i, j] ** 2
            out[f, k, 1] = np.arctan2(sign * m[i, last], np.sqrt(flat))
            if flat > _LOCKED:
                out[f, k, 0] = np.arctan2(-sign * m[j, last], m[last, last])
                out[f, k, 2] = np.arctan2(-sign * m[i, j], m[i, i])
            else:
                out[f, k, 0] = np.arctan2(sign * m[last, j], m[j, j])
                out[f, k, 2] = 0.0
    return out
