"""Blocks to draw: whatever has an outline on the floor and stands up from it, as a mesh."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from choreograph.base.arrays import Floats, Ints
from choreograph.pictures.raster import Figure
from choreograph.pictures.theme import from_hex

_EDGE_M = 0.8
"""Longest edge of a triangle: one that reaches behind the camera is left out, so all must be small."""
_MOST = 20_000
"""Triangles of a block at most."""


def make_block(outline: Floats, low: float, high: float, colour: str) -> Figure:
    """A block with flat sides.

    Args:
        outline: Its corners on the floor in order, (N, 2), x and z, metres; the first may be said again at the end.
        low: Height of its lower face, metres.
        high: Of its upper face.
        colour: An sRGB hex string.
    """
    ring = np.asarray(outline, float)
    ring = ring[:-1] if len(ring) > 3 and np.allclose(ring[0], ring[-1]) else ring
    if _area(ring) < 0:
        ring = ring[::-1]
    count, lid = len(ring), _triangulate(ring)
    upper = np.insert(ring, 1, high, axis=1)
    lower = np.insert(ring, 1, low, axis=1)
    faces = [upper[lid[:, ::-1]], lower[lid]]
    after = (np.arange(count) + 1) % count
    if high - low > 1e-3:
        faces.append(np.stack([lower, upper, upper[after]], axis=1))
        faces.append(np.stack([lower, upper[after], lower[after]], axis=1))
    corners = _split(np.concatenate(faces))
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals = across / np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-12)
    return Figure(
        corners.reshape(-1, 3).astype(np.float32),
        np.repeat(normals, 3, axis=0).astype(np.float32),
        np.arange(3 * len(corners), dtype=np.int32).reshape(-1, 3),
        np.tile(from_hex(colour).astype(np.float32), (3 * len(corners), 1)),
    )


def _area(ring: Floats) -> float:
    """Of a polygon, above 0 where it runs from x to z."""
    after = np.roll(ring, -1, axis=0)
    return float((ring[:, 0] * after[:, 1] - ring[:, 1] * after[:, 0]).sum() / 2)


def _triangulate(ring: Floats) -> Ints:
    """Triangles that fill a polygon of positive area, (N - 2, 3): ears are cut off one after another."""
    left, triangles = list(range(len(ring))), []
    while len(left) > 3:
        at = next((n for n in range(len(left)) if _is_ear(ring, left, n)), 0)
        triangles.append((left[at - 1], left[at], left[(at + 1) % len(left)]))
        del left[at]
    return np.array([*triangles, left], np.int64)


def _is_ear(ring: Floats, left: Sequence[int], n: int) -> bool:
    """Whether a corner sticks out, with no other corner in its triangle."""
    three = [left[n - 1], left[n], left[(n + 1) % len(left)]]
    a, b, c = ring[three]
    if _area(np.array([a, b, c])) <= 0:
        return False
    rest = ring[[k for k in left if k not in three]]
    inside = np.ones(len(rest), bool)
    for p, q in ((a, b), (b, c), (c, a)):
        inside &= (q[0] - p[0]) * (rest[:, 1] - p[1]) - (q[1] - p[1]) * (rest[:, 0] - p[0]) >= 0
    return not inside.any()


def _split(corners: Floats) -> Floats:
    """Triangles (T, 3, 3) halved along their longest edges until these are short."""
    while len(corners) < _MOST:
        edges = np.linalg.norm(np.roll(corners, -1, axis=1) - corners, axis=2)
        long = edges.max(axis=1) > _EDGE_M
        if not long.any():
            break
        some = corners[long]
        order = (edges[long].argmax(axis=1)[:, None] + np.arange(3)) % 3
        a, b, c = np.take_along_axis(some, order[..., None], axis=1).transpose(1, 0, 2)
        middle = (a + b) / 2
        corners = np.concatenate([corners[~long], np.stack([a, middle, c], 1), np.stack([middle, b, c], 1)])
    return corners
