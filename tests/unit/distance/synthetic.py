"""Small motions that can be compared by hand, and the rule for minima spelt out on a whole matrix."""

import numpy as np

from choreograph.distance.window import Window, align_plainly


def wander(rng: np.random.Generator, frames: int, joints: int = 5) -> np.ndarray:
    """Smooth random joint positions that travel over the floor, (frames, joints, 3), metres."""
    t = np.arange(frames)[:, None, None]
    phase, rate = rng.uniform(0, 2 * np.pi, (joints, 3)), rng.uniform(0.05, 0.25, (joints, 3))
    body = 0.15 * np.sin(rate * t + phase) + rng.uniform(-0.3, 0.3, (joints, 3))
    root = np.cumsum(rng.normal(0, 0.01, (frames, 1, 3)) * [1, 0, 1] + rng.normal(0, 0.01, 3) * [1, 0, 1], axis=0)
    return body + root + [0, 1, 0] + rng.uniform(-3, 3, 3) * [1, 0, 1]


def moved(positions: np.ndarray, yaw: float, x: float, z: float) -> np.ndarray:
    """The positions turned about +y and shifted along the floor."""
    cos, sin = np.cos(yaw), np.sin(yaw)
    out = positions.copy()
    out[..., 0] = positions[..., 0] * cos + positions[..., 2] * sin + x
    out[..., 2] = -positions[..., 0] * sin + positions[..., 2] * cos + z
    return out


def plain_matrix(p: np.ndarray, q: np.ndarray, joint_weights: np.ndarray, window: Window) -> np.ndarray:
    """Distances of all window pairs by the definition, one at a time."""
    length = window.length
    return np.array(
        [
            [
                align_plainly(p[a : a + length], q[b : b + length], joint_weights, window.weights)[0]
                for b in range(len(q) - length + 1)
            ]
            for a in range(len(p) - length + 1)
        ]
    ).reshape(max(0, len(p) - length + 1), max(0, len(q) - length + 1))


def plain_minima(matrix: np.ndarray, threshold: float, band: int = 0) -> set[tuple[int, int]]:
    """The rule, cell by cell; with a `band`, a clip against itself: only b - a >= band."""
    rows, columns = matrix.shape
    out = set()
    for a in range(rows):
        for b in range(a + band if band else 0, columns):
            around = [(i, j) for i in (a - 1, a, a + 1) for j in (b - 1, b, b + 1) if (i, j) != (a, b)]
            around = [(i, j) for i, j in around if 0 <= i < rows and 0 <= j < columns]
            beaten = any((matrix[i, j], i, j) < (matrix[a, b], a, b) for i, j in around)
            if matrix[a, b] <= threshold and not beaten:
                out.add((a, b))
    return out
