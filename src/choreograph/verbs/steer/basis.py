"""The basis of value functions: tensor products of cubic B-splines, periodic in angles, shared by all steps.

A dimension runs from a low to a high end; a warp crowds the knots about its middle, where a value function bends most.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from choreograph.base.arrays import Floats, Ints
from choreograph.base.errors import RequestError


@dataclass(frozen=True)
class Dimension:
    """One number of a task's state."""

    name: str
    low: float
    high: float
    count: int
    """Basis functions along it: 4 or more."""
    periodic: bool = False
    """Whether its ends are the same, as an angle's are."""
    warp: float = 0.0
    """Width of the middle about which knots crowd, in the dimension's unit, 0 for even knots; for an angle by what
    share they are denser there, below 1."""

    def __post_init__(self) -> None:
        sizes = (self.low, self.high, self.warp)
        if not (np.isfinite(sizes).all() and self.low < self.high and self.warp >= 0):
            raise RequestError(f"the dimension {self.name!r} runs from {self.low} to {self.high}; it needs low < high")
        if self.count < 4:
            raise RequestError(f"the dimension {self.name!r} has {self.count} basis functions; it needs 4 or more")


@dataclass(frozen=True)
class SplineBasis:
    """Products of splines, one along each dimension; the last dimension counts fastest."""

    dimensions: tuple[Dimension, ...]

    @property
    def size(self) -> int:
        """Number of basis functions."""
        return int(np.prod([one.count for one in self.dimensions]))

    def spread(self, shares: Floats) -> Floats:
        """States (N, D) for shares of the way (N, D), 0 to 1, along each dimension, as dense as the knots are."""
        out = np.empty_like(shares)
        for k, one in enumerate(self.dimensions):
            t, middle, half = shares[:, k], (one.low + one.high) / 2, (one.high - one.low) / 2
            if one.periodic:
                grid = np.linspace(0, 1, 257)
                t = np.interp(t, grid - one.warp / (2 * np.pi) * np.sin(2 * np.pi * grid), grid)
            elif one.warp > 0:
                t = 0.5 + 0.5 * one.warp / half * np.sinh((2 * t - 1) * np.arcsinh(half / one.warp))
            out[:, k] = middle + (2 * t - 1) * half
        return out

    @cached_property
    def table(self) -> Floats:
        """Low, high, count, periodic, warp and what a warp is scaled by of each dimension, (D, 6), as kernels take
        them."""
        scale = [0.5 / np.arcsinh((d.high - d.low) / (2 * d.warp)) if d.warp > 0 else 0.0 for d in self.dimensions]
        return np.array(
            [
                (d.low, d.high, d.count, float(d.periodic), d.warp, k)
                for d, k in zip(self.dimensions, scale, strict=True)
            ]
        )

    def at(self, state: Floats) -> tuple[Ints, Floats]:
        """Which basis functions are not zero at states (N, D), and their values, both (N, 4^D)."""
        from choreograph.verbs.steer import _compiled_spline

        return _compiled_spline.basis_at(np.ascontiguousarray(state, float), self.table)  # type: ignore[no-any-return]

    def mirrored(self, signs: tuple[int, ...]) -> Ints:
        """For each basis function its mirror image, (size,), where dimensions with the sign -1 change theirs."""
        images = []
        for one, sign in zip(self.dimensions, signs, strict=True):
            every = np.arange(one.count)
            if sign > 0:
                images.append(every)
                continue
            images.append((one.count - every + 2) % one.count if one.periodic else one.count - 1 - every)
        grid = np.meshgrid(*images, indexing="ij")
        return np.ravel_multi_index([axis.ravel() for axis in grid], [one.count for one in self.dimensions])

    def differences(self) -> Any:
        """The second differences of coefficients along each dimension: a sparse matrix (M, size)."""
        from scipy.sparse import csr_matrix, eye, kron, vstack

        parts = []
        for k, one in enumerate(self.dimensions):
            every = np.eye(one.count)
            second = every - 2 * np.roll(every, 1, axis=1) + np.roll(every, 2, axis=1)
            part: Any = csr_matrix(second if one.periodic else second[: one.count - 2])
            for j in reversed(range(k)):
                part = kron(eye(self.dimensions[j].count), part)
            for other in self.dimensions[k + 1 :]:
                part = kron(part, eye(other.count))
            parts.append(part)
        return vstack(parts).tocsr()
