"""Compiled twin of the skinning kernel; imported on first use, since importing numba takes a while."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choreograph.base.arrays import Floats32
from choreograph.base.compiling import njit


@njit(cache=True, nogil=True)
def skin(
    vertices: Floats32, normals: Floats32, joints: NDArray[np.uint16], weights: Floats32, transforms: Floats32
) -> tuple[Floats32, Floats32]:
    """See `mannequin.skin_numpy`; transforms are (F, J, 3, 4)."""
    frames, count = transforms.shape[0], vertices.shape[0]
    out_vertices = np.empty((frames, count, 3), np.float32)
    out_normals = np.empty((frames, count, 3), np.float32)
    m = np.empty((3, 4), np.float32)
    for f in range(frames):
        for v in range(count):
            m[:] = 0.0
            for k in range(4):
                weight = weights[v, k]
                if weight > 0.0:
                    source = transforms[f, joints[v, k]]
                    for a in range(3):
                        for b in range(4):
                            m[a, b] += weight * source[a, b]
            x, y, z = vertices[v, 0], vertices[v, 1], vertices[v, 2]
            nx, ny, nz = normals[v, 0], normals[v, 1], normals[v, 2]
            squares = np.float32(0.0)
            for a in range(3):
                out_vertices[f, v, a] = m[a, 0] * x + m[a, 1] * y + m[a, 2] * z + m[a, 3]
                component = m[a, 0] * nx + m[a, 1] * ny + m[a, 2] * nz
                out_normals[f, v, a] = component
                squares += component * component
            if squares > 0.0:
                scale = np.float32(1.0) / np.sqrt(squares)
                for a in range(3):
                    out_normals[f, v, a] *= scale
    return out_vertices, out_normals
