"""The low-dimensional space in which the poses of a behaviour lie (principal components)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.base.errors import RequestError


@dataclass(frozen=True, slots=True)
class PoseSpace:
    """A mean and orthonormal axes: a pose is `mean + coordinates @ axes`, for poses near those it was fitted to."""

    mean: Floats
    """(k,), in the units of the rows it was fitted to."""
    axes: Floats
    """(d, k), orthonormal rows, the direction of most variance first."""
    variances: Floats
    """(d,), of the rows' coordinates, in squared units of the rows."""
    total_variance: float
    """Of the rows, over all k directions."""

    @property
    def dimensions(self) -> int:
        """Number of coordinates, d."""
        return len(self.axes)

    @property
    def share(self) -> float:
        """The share of the rows' variance that the space holds, 0 to 1."""
        return float(self.variances.sum() / self.total_variance) if self.total_variance > 0 else 1.0

    def project(self, rows: Floats) -> Floats:
        """Coordinates of rows (..., k) as (..., d): those of the nearest point in the space."""
        return (rows - self.mean) @ self.axes.T

    def lift(self, coordinates: Floats) -> Floats:
        """Rows (..., k) at coordinates (..., d)."""
        return self.mean + coordinates @ self.axes


def fit_pose_space(rows: Floats, keep: float | int) -> PoseSpace:
    """The space of most variance of rows (n, k).

    Args:
        rows: One pose a row: exponential maps or joint angles, all in one unit (weigh columns beforehand otherwise).
        keep: A whole number is d; a share below 1 is the least variance to hold, and d the smallest that does.
    """
    if rows.ndim != 2 or len(rows) < 2 or not np.isfinite(rows).all():
        raise RequestError(f"a pose space needs at least two finite poses, not an array of shape {rows.shape}")
    mean = rows.mean(axis=0)
    _, singular, axes = np.linalg.svd(rows - mean, full_matrices=False)
    variances = singular**2 / (len(rows) - 1)
    total = float(variances.sum())
    if isinstance(keep, float) and keep < 1:
        d = 1 + int(np.searchsorted(np.cumsum(variances), keep * total - 1e-12 * total))
    else:
        d = int(keep)
    d = max(1, min(d, int((variances > 1e-14 * max(total, 1e-300)).sum())))
    # An axis' sign is arbitrary: its largest entry is positive, so that the same rows give the same coordinates.
    signs = np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(axis=1)])
    axes = axes * np.where(signs == 0, 1.0, signs)[:, None]
    return PoseSpace(mean, np.ascontiguousarray(axes[:d]), variances[:d], total)
