"""What a planning step found, and where it began."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from choreograph.base.arrays import Floats, Ints


@dataclass(frozen=True)
class PlanningStep:
    """What one planning step found."""

    frames: int
    """Frames kept of it."""
    cost: float
    """Of the best walk to the horizon, m²·s, from the step's start on."""
    proved: bool
    """Whether no walk to the horizon, from where the step begins, can be better."""
    gap: float
    """By how much, at the most, such a walk can be better, m²·s."""
    scored: int
    """Frames scored."""


class StepStart(NamedTuple):
    """Where a step began."""

    edges: int
    frames: int
    steps: int
    state: Floats
    marks: Ints
