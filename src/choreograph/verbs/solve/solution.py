"""What a search found, before finishing: pieces of clips, their score, and how far from each constraint they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from choreograph.finishing.body import RootTarget, TorsoTarget
from choreograph.verbs.solve.constraints import HardFrame
from choreograph.verbs.solve.request import SolveRequest
from choreograph.verbs.solve.splice import Splice


@dataclass(frozen=True)
class ConstraintError:
    """How far a solution is from one constraint, before finishing."""

    constraint: str
    """Its place in the request: "body[1]"."""
    cost: float
    """Its part of the score."""
    metres: float | None = None
    """Distance from the position asked for, where one is."""
    radians: float | None = None
    """Angle from the facing asked for, where one is."""


@dataclass(frozen=True, eq=False)
class Solution:
    """A motion of one person that was found, as pieces of clips."""

    splice: Splice
    cost: float
    """Its score; lower is better."""
    errors: tuple[ConstraintError, ...]
    """For every soft constraint."""
    minimum: bool
    """Whether no mutation betters it."""

    @property
    def key(self) -> bytes:
        """What tells its motion from others of the same request."""
        lying = self.splice.placements
        parts = (self.splice.clip, self.splice.start, self.splice.stop, lying.yaw, lying.x, lying.z)
        return b"".join(part.tobytes() for part in parts)


@dataclass(frozen=True)
class Attended:
    """A meeting as one of the two has it."""

    where: str
    """Its place in the request: "meet[0]"."""
    frame: HardFrame
    """What he shows."""
    place: RootTarget
    """Where he is when it begins."""


@dataclass(frozen=True, eq=False)
class Part:
    """What one person does in a solution, and is asked for."""

    solution: Solution
    """Errors at meetings are called "meet[0]"."""
    request: SolveRequest
    """His own, without meetings."""
    body: Sequence[TorsoTarget]
    """Where he is to be when; throughout meetings, at every frame of the graph."""
    where: str = ""
    """What places in his own request begin with in the whole one: "characters.anna."."""
    meetings: tuple[Attended, ...] = ()


@dataclass(frozen=True, eq=False)
class Cast:
    """Motions of one or several people that go together."""

    parts: Mapping[str, Part]
    """By name; a single person's is ""."""
    cost: float
    """Sum of the scores."""

    @property
    def key(self) -> bytes:
        """What tells it from others, also from the same pieces with other places to be brought to."""
        return b"|".join(
            part.solution.key + repr([(target.at_s, target.position, target.facing) for target in part.body]).encode()
            for part in self.parts.values()
        )
