"""What can be asked of solving: a duration, goals at their times, obstacles, several people who meet, how to search.

Each model checks its own values; what needs a graph to be checked (clips, joints, labels) is checked when the search
begins. Mistakes are named by their place in the request, such as goals[1].place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from annotated_types import Ge, Gt, Le, MaxLen
from pydantic import Field, model_validator

from choreograph.contract.clip_filter import ChosenRequest
from choreograph.contract.request import (
    Advanced,
    Degrees,
    FileName,
    Metres,
    Name,
    Option,
    Point,
    Quality,
    Request,
    Seconds,
    Seed,
    Wrong,
)
from choreograph.finishing.settings import FinishSettings
from choreograph.goals.base import radians
from choreograph.goals.model import LONGEST_S, AnyGoal, CostGoal, Goals, PoseSource
from choreograph.scene.model import Scene
from choreograph.verbs.solve.person import Person, check_person, located

Time = Annotated[Seconds, Ge(0), Le(LONGEST_S)]
_NAME = re.compile(r"\w[\w .-]{0,49}(?<![ .])")
"""Names of people, which become parts of file names."""


class SolveWeights(Advanced):
    """What counts besides goals."""

    cut: Annotated[float, Ge(0), Le(1e6)] = 0.006
    """What a cut at the greatest cost allowed adds to the score. With a third of that answers are no nearer to the
    goals, and 10 % farther from recorded poses."""


class SolveAdvanced(Advanced):
    """How the search goes about it."""

    max_cut_cost: Annotated[float, Gt(0), Le(1e9)] | None = None
    """Greatest cost of a cut (τ); if not given it follows from the motion."""
    weights: SolveWeights = Field(default_factory=SolveWeights)
    """What counts besides goals."""
    draws: Annotated[int, Ge(1), Le(10**6)] = 64
    """Seed paths that are drawn for each one that is improved."""
    sample: Annotated[int, Ge(1), Le(10**6)] = 400
    """How many of the ways to replace a stretch by two cuts are scored at a time, if there are more."""


class Character(Request):
    """What one of several people is asked for; what stands beside all of them holds where a character has none."""

    goals: Goals = ()
    """Places, joints, poses, labels and functions, each at a time."""
    scene: Scene | None = None
    """What this character keeps clear of; null for the scene beside the characters."""
    min_piece_s: Time | None = None
    """Least length of a piece of a clip."""
    weights: SolveWeights | None = None
    """What counts besides goals."""
    graph: Annotated[str, MaxLen(4096), FileName()] | None = None
    """The .mog file of the character's motion, where that is another skeleton's."""


class Offset(Request):
    """Where the second of two people is, as the first sees it."""

    left_m: Annotated[Metres, Ge(-1000), Le(1000)]
    """How far to the left."""
    ahead_m: Annotated[Metres, Ge(-1000), Le(1000)]
    """How far ahead."""
    turned_deg: Degrees
    """How far the second is turned against the first; 180 is face to face."""

    @property
    def turned(self) -> float:
        """The same in radians."""
        return radians(self.turned_deg) or 0.0


class Meeting(Request):
    """Two people come together and play a pair of recordings, each one part of it.

    The pair may be two recordings of one moment, such as two dancers' in one world frame: then they are to each other
    as they were. Or any two clips, with `offset` saying where the second one is.
    """

    at_s: Time
    """When, from the motions' first frames."""
    who: tuple[Name, Name]
    """Two characters."""
    poses: tuple[PoseSource, PoseSource]
    """What each shows then: a frame of a clip of the character's graph, at the clip's own rate."""
    duration_s: Time = 0.0
    """How long both play on from there, uncut."""
    place: Point | None = None
    """x and z of the first one's torso at that time, metres; null for wherever suits the first."""
    facing_deg: Degrees | None = None
    """Where the first one faces then; given with the place, or not at all."""
    offset: Offset | None = None
    """Where the second one is at that time; null for as it was recorded."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.who[0] == self.who[1]:
            raise Wrong("who", f"is {list(self.who)}; it must be two different characters")
        for n, pose in enumerate(self.poses):
            if not pose.clip:
                raise Wrong(f"poses[{n}].clip", "is missing: give a clip of the character's graph")
        for name, other in (("place", "facing_deg"), ("facing_deg", "place")):
            if getattr(self, name) is None and getattr(self, other) is not None:
                raise Wrong(name, "is missing; give place and facing_deg, or none of them")
        return self

    @property
    def facing(self) -> float | None:
        """Where the first one faces, radians."""
        return radians(self.facing_deg)


class SolveRequest(ChosenRequest):
    """Motion from goals. Times are in seconds from its first frame; it has a frame at 0 and one at `duration_s`.

    The score of an answer is measured so that 30 cm, 10° and a second without the label asked for cost 1 each, at a
    weight of 1.

    >>> begin = {"at_s": 0, "place": [0, 0], "facing_deg": 0}
    >>> SolveRequest(4.0, [begin, {"at_s": 4, "place": [0.5, 4]}]).goals[1].place
    (0.5, 4.0)
    """

    verb = "solve"

    most_frames: ClassVar[int] = 20_000
    whole_frames: ClassVar[int] = 30_000
    effort: ClassVar[tuple[str, ...]] = ("count", "quality", "time_limit_s", "work_limit", "apart_m", "finish")
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "draft": {"time_limit_s": 1.0, "advanced.draws": 32, "advanced.sample": 200},
        "best": {"time_limit_s": 10.0, "advanced.draws": 128, "advanced.sample": 800},
    }

    duration_s: Annotated[Seconds, Ge(0.1), Le(LONGEST_S)]
    """How long the motion lasts."""
    goals: Goals = ()
    """Places, joints, poses, labels and functions, each at a time; an `exact` pose is in every answer."""
    scene: Annotated[Scene, Option(hidden=True)] = Field(default_factory=Scene)
    """What the hips keep clear of: its obstacles. One `of: hips` is kept clear of by its clearance, any other by 0.3 m
    more."""
    min_piece_s: Time = 1 / 3
    """Least length of a piece of a clip; without it the search chatters."""
    count: Annotated[int, Ge(1), Le(500), Option(("--count", "-n"))] = 4
    """How many different answers, at most."""
    quality: Quality = "normal"
    time_limit_s: Annotated[Seconds, Ge(0.01), Le(1e6), Option(("--time-limit", "-s"))] = 3.0
    """How long to search, for all people together."""
    work_limit: Annotated[int, Ge(1), Le(10**12)] | None = None
    """How many paths to score instead of a time: the same on any machine."""
    seed: Seed = 0
    """Same seed, same work limit: same answers."""
    apart_m: Annotated[Metres, Ge(0), Le(1000)] = 0.5
    """Two answers differ if their roots are at one moment farther from each other than this."""
    characters: Annotated[Mapping[str, Character | None], MaxLen(100)] = Field(default_factory=dict)
    """What each of several people is asked for, by name; empty for one person."""
    meet: Annotated[tuple[Meeting, ...], MaxLen(10_000)] = ()
    """Where and when two of them come together, in order of time."""
    advanced: SolveAdvanced = Field(default_factory=SolveAdvanced)
    """How the search goes about it."""
    finish: FinishSettings = Field(default_factory=FinishSettings)
    """How the answers become motion."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        check_person(self.goals, self.scene, self.duration_s, "")
        self._check_piece(self.min_piece_s, "")
        if self.characters and self.goals:
            raise Wrong("goals", "is given beside characters; give it to one of them")
        for name, character in self.characters.items():
            if not _NAME.fullmatch(name):
                raise Wrong("characters", f"has {name!r}; names become parts of file names: give letters and digits")
            own = character or Character()
            check_person(own.goals, own.scene, self.duration_s, f"characters.{name}.")
            self._check_piece(own.min_piece_s, f"characters.{name}.")
        for n, meeting in enumerate(self.meet):
            self._check_meeting(n, meeting)
        return self

    def _check_piece(self, least_s: float | None, where: str) -> None:
        if least_s is not None and least_s > self.duration_s:
            raise Wrong(f"{where}min_piece_s", _beyond(least_s, self.duration_s, "the motion lasts duration_s"))

    def _check_meeting(self, n: int, meeting: Meeting) -> None:
        where = f"meet[{n}]"
        for name in meeting.who:
            if name not in self.characters:
                known = ", ".join(self.characters) or "none"
                raise Wrong(f"{where}.who", f"has {name!r}, which is no character; there are: {known}")
        if meeting.at_s > self.duration_s:
            text = _beyond(meeting.at_s, self.duration_s, "the motions last from 0 to duration_s")
            raise Wrong(f"{where}.at_s", text)
        if meeting.at_s + meeting.duration_s > self.duration_s + 1e-9:
            text = _beyond(meeting.duration_s, self.duration_s - meeting.at_s, "it must end with the motions")
            raise Wrong(f"{where}.duration_s", text)
        if n and meeting.at_s < self.meet[n - 1].at_s:
            raise Wrong(
                f"{where}.at_s",
                f"is {meeting.at_s:g}, before meet[{n - 1}] at {self.meet[n - 1].at_s:g}; give them in order of time",
            )

    def people(self) -> list[str]:
        """The names of the characters, in the order in which the request has them."""
        return list(self.characters)

    def alone(self, name: str) -> SolveRequest:
        """What one of the characters is asked for, as the request of one person: without meetings."""
        own = self.characters[name] or Character()
        return self.with_(
            goals=own.goals,
            scene=self.scene if own.scene is None else own.scene,
            min_piece_s=self.min_piece_s if own.min_piece_s is None else own.min_piece_s,
            advanced=self.advanced if own.weights is None else self.advanced.with_(weights=own.weights),
            characters={},
            meet=(),
        )

    def person(self, name: str = "") -> Person:
        """What one person is asked for, by kind; of several, the character of this name."""
        if not name:
            return Person.of(located(self.goals), self.scene)
        own, where = self.characters[name] or Character(), f"characters.{name}."
        scene, inside = (self.scene, "") if own.scene is None else (own.scene, where)
        return Person.of(located(own.goals, where), scene, inside)

    def resolved(self, folder: Path, *, allow_code: bool = False) -> Self:
        """The request with functions loaded from their files, and graph files taken from a folder."""
        people = {}
        for name, character in self.characters.items():
            own = character or Character()
            graph = own.graph and str(folder / own.graph)
            goals = _loaded(own.goals, folder, f"characters.{name}.", allow_code)
            people[name] = own.with_(goals=goals, graph=graph) if own != Character() else character
        return self.with_(goals=_loaded(self.goals, folder, "", allow_code), characters=people)


def _loaded(goals: tuple[AnyGoal, ...], folder: Path, where: str, allow_code: bool) -> tuple[AnyGoal, ...]:
    return tuple(
        goal.loaded(folder, f"{where}goals[{n}]", allow_code=allow_code) if isinstance(goal, CostGoal) else goal
        for n, goal in enumerate(goals)
    )


def _beyond(value: float, most: float, why: str) -> str:
    return f"is {value:g}; it must be a number from 0 to {most:g} s; {why}"
