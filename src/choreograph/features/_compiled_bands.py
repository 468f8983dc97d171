"""Compiled: bands of a quadratic form over frames, from what is alike at each step and what is asked at some."""

from __future__ import annotations

import numpy as np

from choreograph.base.arrays import Floats, Ints
from choreograph.base.compiling import njit


@njit(cache=True, nogil=True)
def add_blocks(
    bands: Floats, gradient: Floats, blocks: Floats, slopes: Floats, shares: Floats, first: int, n: int, d: int
) -> None:
    """Add the dynamics' quadratic forms to the lower bands (b, N) and the gradient at zero (N,).

    Args:
        bands: Changed.
        gradient: Changed.
        blocks: Forms over m + 1 states, (S, (m + 1) d, (m + 1) d).
        slopes: Their slopes at zero, (S, (m + 1) d).
        shares: How much of each form counts at each step, (T - m, S).
        first: Of the steps, the frame at which it begins.
        n: Unknowns per frame.
        d: States among them, which come first.
    """
    steps, forms, size = shares.shape[0], shares.shape[1], blocks.shape[1]
    at = np.empty(size, np.int64)
    for t in range(steps):
        for i in range(size):
            at[i] = (first + t + i // d) * n + i % d
        for s in range(forms):
            share = shares[t, s]
            if share == 0.0:
                continue
            for i in range(size):
                gradient[at[i]] += share * slopes[s, i]
                for j in range(i + 1):
                    bands[at[i] - at[j], at[j]] += share * blocks[s, i, j]


@njit(cache=True, nogil=True)
def add_rows(bands: Floats, gradient: Floats, frames: Ints, values: Floats, slopes: Floats, n: int) -> None:
    """Add squares of residuals to the bands and the gradient: each residual is about one frame, or it and the next.

    Args:
        bands: Lower bands, (b, N); changed.
        gradient: (N,); changed.
        frames: First frame of each residual, (R,).
        values: Residuals, (R,).
        slopes: By the unknowns of that frame and of the next, (R, n or 2 n).
        n: Unknowns per frame.
    """
    width = slopes.shape[1]
    for r in range(len(frames)):
        base = frames[r] * n
        for i in range(width):
            a = slopes[r, i]
            if a == 0.0:
                continue
            gradient[base + i] += a * values[r]
            for j in range(i + 1):
                b = slopes[r, j]
                if b != 0.0:
                    bands[i - j, base + j] += a * b
