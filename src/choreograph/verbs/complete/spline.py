"""Cubic B-splines as unknowns, for long motions: fewer of them, and the normal equations stay banded."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from choreograph.base.arrays import Floats


@lru_cache(maxsize=8)
def basis(frames: int, every: int) -> Any:
    """Values of uniform cubic B-splines at frames, as a sparse (frames, controls) matrix."""
    from scipy.interpolate import BSpline

    last = max(frames - 1, 1)
    inner = np.linspace(0, last, max(2, round(last / every) + 1))
    knots = np.concatenate([[inner[0]] * 3, inner, [inner[-1]] * 3])
    return BSpline.design_matrix(np.clip(np.arange(frames, dtype=float), 0, last - 1e-9), knots, 3)


def solve_on_splines(bands: Floats, gradient: Floats, frames: int, size: int, every: int) -> Floats:
    """The step (N,) within the space of splines that solves the normal equations there.

    Args:
        bands: Lower bands, (b, N).
        gradient: (N,).
        frames: F.
        size: Unknowns per frame, N / F.
        every: Frames between knots.
    """
    from scipy.linalg import solveh_banded
    from scipy.sparse import dia_array, kron
    from scipy.sparse import eye_array as eye

    count = frames * size
    width = len(bands)
    lower = dia_array((bands, -np.arange(width)), shape=(count, count)).tocsr()
    whole = lower + lower.T - dia_array((bands[:1], [0]), shape=(count, count)).tocsr()
    onto = kron(basis(frames, every), eye(size), format="csr")
    reduced = (onto.T @ whole @ onto).tocoo()
    controls = onto.shape[1]
    reach = int((reduced.row - reduced.col).max(initial=0))
    packed = np.zeros((reach + 1, controls))
    below = reduced.row >= reduced.col
    packed[reduced.row[below] - reduced.col[below], reduced.col[below]] = reduced.data[below]
    change = solveh_banded(packed, -(onto.T @ gradient), lower=True, check_finite=False)
    return np.asarray(onto @ change)
