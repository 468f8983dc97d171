"""A motion as the solver knows it: states and places, and how they were come to."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from choreograph.base.arrays import Floats

DAMPING = 1e-6
"""Of the first step."""


@dataclass
class Estimate:
    """A motion as the solver knows it."""

    states: Floats
    """(F, d)."""
    place: Floats
    """(F, 3)."""
    objective: list[float] = field(default_factory=list)
    """At the start and after each iteration."""
    converged: bool = False
    damping: float = DAMPING
    splined: bool = False
    """Whether a spline leads from key pose to key pose, since the recordings tell less."""

    def copy(self) -> Estimate:
        """The same, to be changed."""
        return replace(self, states=self.states.copy(), place=self.place.copy(), objective=list(self.objective))

    def anew(self) -> Estimate:
        """The same as a start."""
        return Estimate(self.states, self.place, splined=self.splined)
