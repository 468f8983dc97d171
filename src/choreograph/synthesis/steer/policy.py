"""Value functions: what a task will cost from a state on, and the step that they say is best."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choreograph.synthesis.steer.basis import Basis

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ValueFunction:
    """What a task will cost from a state on, beyond what blends and gaits cost by themselves."""

    task: str
    basis: Basis
    coefficients: Array
    """(size,)."""
    cuts: Array
    """What being at each cut costs more, (N,)."""
    report: Mapping[str, Any] = field(default_factory=dict)
    """How it was learned: violation, samples, seconds …"""

    def at(self, state: Array) -> Array:
        """The values of states (N, D), (N,)."""
        index, weight = self.basis.at(state)
        return np.asarray((self.coefficients[index] * weight).sum(axis=1))

    def held_at(self, values: Array) -> tuple[Array, Array]:
        """Coefficients with the last dimensions held at these values, and the table of the dimensions left."""
        return self.basis.fixed(self.coefficients, values), self.basis.table[: len(self.basis.table) - len(values)]
