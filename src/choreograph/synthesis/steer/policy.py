"""Value functions: what a task will cost from a state on, and the step that they say is best."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choreograph.synthesis.steer.basis import Basis

Array = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ValueFunction:
    """What a task will cost from a state on, beyond what blends and gaits cost by themselves."""

    task: str
    basis: Basis
    coefficients: Array
    """Of one spline after another, each as many as the basis has functions."""
    cuts: Array
    """What being at each cut costs more, (N,)."""
    report: Mapping[str, Any] = field(default_factory=dict)
    """How it was learned: violation, samples, seconds …"""
    kind: Indices | None = None
    """Which spline each cut has, (N,); one for all if not given."""

    @cached_property
    def kinds(self) -> Indices:
        """Which spline each cut has, (N,)."""
        return np.zeros(len(self.cuts), np.int64) if self.kind is None else self.kind

    @cached_property
    def splines(self) -> Array:
        """The coefficients, a row for each spline, (K, size of the basis)."""
        return self.coefficients.reshape(-1, self.basis.size)

    def at(self, state: Array, cut: Indices | int | None = None) -> Array:
        """The values of states (N, D), (N,), at these cuts; at those of the most frequent kind if not given."""
        index, weight = self.basis.at(state)
        kind = np.zeros(1, np.int64) if cut is None else np.atleast_1d(self.kinds[cut])
        return np.asarray((self.splines[kind[:, None], index] * weight).sum(axis=1))

    def held_at(self, values: Array) -> tuple[Array, Array]:
        """Splines with the last dimensions held at these values, (K, size), and the table of the dimensions left."""
        held = np.array([self.basis.fixed(one, values) for one in self.splines])
        return held, self.basis.table[: len(self.basis.table) - len(values)]
