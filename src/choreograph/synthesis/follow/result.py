"""What following a path comes back with."""

from __future__ import annotations

from dataclasses import dataclass

from choreograph.graph.model import TRANSITION
from choreograph.motion.display import ShowsItself
from choreograph.synthesis.follow.request import FollowSettings
from choreograph.synthesis.path import Path
from choreograph.synthesis.walk import Walk


@dataclass(frozen=True)
class Step:
    """What one look ahead found."""

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


@dataclass(frozen=True, eq=False)
class FollowResult(ShowsItself):
    """A walk along a path, and how good it is."""

    walk: Walk
    path: Path
    settings: FollowSettings
    status: str
    """"complete", or why the path's end was not reached: "stuck", "given up"."""
    cost: float
    """Of the whole walk, m²·s."""
    steps: tuple[Step, ...]
    seconds: float
    """Time the search took."""

    @property
    def proved(self) -> bool:
        """Whether every step's answer is proved to be the best to its horizon."""
        return all(step.proved for step in self.steps)

    @property
    def transitions(self) -> int:
        """How often the walk changes clips."""
        return int((self.walk.graph.edges.kind[self.walk.edges] == TRANSITION).sum())

    @property
    def transitions_per_second(self) -> float:
        """Changes of clip per second of motion."""
        return self.transitions / (len(self.walk) / self.walk.graph.rate_hz)
