"""What a search found, before finishing: pieces of clips, their score, and how far from each goal they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from choreograph.finishing.body import RootTarget
from choreograph.goals.model import PoseGoal
from choreograph.verbs.solve.person import Located, Person
from choreograph.verbs.solve.request import SolveRequest
from choreograph.verbs.solve.splice import Splice


@dataclass(frozen=True)
class GoalError:
    """How far a solution is from one goal, before finishing."""

    where: str
    """Its place in the request: "goals[1]"."""
    cost: float
    """Its part of the score."""
    metres: float | None = None
    """Distance from the position asked for, where one is."""
    radians: float | None = None
    """Angle from the facing asked for, where one is."""


@dataclass(frozen=True, eq=False)
class PathSolution:
    """A motion of one person that was found, as pieces of clips."""

    splice: Splice
    cost: float
    """Its score; lower is better."""
    errors: tuple[GoalError, ...]
    """For every goal but exact poses."""
    minimum: bool
    """Whether no mutation betters it."""

    @property
    def key(self) -> bytes:
        """What tells its motion from others of the same request."""
        lying = self.splice.placements
        parts = (self.splice.clip, self.splice.start, self.splice.stop, lying.yaw, lying.x, lying.z)
        return b"".join(part.tobytes() for part in parts)


@dataclass(frozen=True)
class MeetingGoal:
    """A meeting as one of the two has it."""

    pose: Located[PoseGoal]
    """What that character shows, and the meeting's place in the request: "meet[0]"."""
    place: RootTarget
    """Where that character is when it begins."""


@dataclass(frozen=True, eq=False)
class PersonSolution:
    """What one person does in a solution, and is asked for."""

    solution: PathSolution
    request: SolveRequest
    """As of one person, without meetings."""
    person: Person
    """What it asks for."""
    body: Sequence[RootTarget]
    """Where the torso is to be when; throughout meetings, at every frame of the graph."""
    name: str = ""
    """Of several characters, which."""
    meetings: tuple[MeetingGoal, ...] = ()


@dataclass(frozen=True, eq=False)
class GroupSolution:
    """Motions of one or several people that go together."""

    parts: Mapping[str, PersonSolution]
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
