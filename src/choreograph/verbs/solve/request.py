"""What can be asked of solving: a length, what shall be where at which time, by whom, and how to search.

Each model checks its own values; what needs a graph to be checked (clips, joints, labels) is checked when the search
begins. Mistakes are named by their place in the request, such as body[1].position.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from annotated_types import Ge, Gt, Le, MaxLen
from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from choreograph.base.errors import RequestError
from choreograph.contract.clip_filter import ChosenRequest
from choreograph.contract.request import Degrees, FileName, Metres, Name, Option, Point, Request, Seconds, Seed, Wrong
from choreograph.finishing.settings import FinishSettings
from choreograph.verbs.solve.constraints import (
    LONGEST_S,
    BodyTarget,
    FrameNumber,
    FunctionTarget,
    HardFrame,
    JointTarget,
    LabelTarget,
    PoseTarget,
    Time,
    TorsoObstacle,
)

LISTS = ("body", "joints", "poses", "frames", "labels", "obstacles", "functions")
"""The parts of a request that hold several constraints."""
_MOST = MaxLen(10_000)
Bodies = Annotated[tuple[BodyTarget, ...], _MOST, Field(description="Where the body is when, in order of time.")]
Joints = Annotated[tuple[JointTarget, ...], _MOST, Field(description="Where joints are when, and how they move.")]
Poses = Annotated[tuple[PoseTarget, ...], _MOST, Field(description="What poses are alike when.")]
Frames = Annotated[tuple[HardFrame, ...], _MOST, Field(description="Which frames of clips are shown when, exactly.")]
Labels = Annotated[tuple[LabelTarget, ...], _MOST, Field(description="What the motion shall be labelled when.")]
Obstacles = Annotated[tuple[TorsoObstacle, ...], _MOST, Field(description="What the torso keeps clear of.")]
Functions = Annotated[tuple[FunctionTarget, ...], _MOST, Field(description="Functions that say what a motion costs.")]
PieceTime = Annotated[Seconds, Ge(0), Le(LONGEST_S)]
CutWeight = Annotated[float, Ge(0), Le(1e6)]

_NAME = re.compile(r"\w[\w .-]{0,49}(?<![ .])")
"""Names of people, which become parts of file names."""


class SolveSettings(Request):
    """How the search goes about it."""

    panel: ClassVar[str] = "Search"

    draws: Annotated[int, Ge(1), Le(10**6)] = 64
    """Seed paths that are drawn for each one that is bettered."""
    sample: Annotated[int, Ge(1), Le(10**6)] = 400
    """How many of the ways to replace a stretch by two cuts are scored at a time, if there are more."""


class Character(Request):
    """The constraints of one of several people; those beside all of them hold where he has none of his own."""

    body: Bodies = ()
    joints: Joints = ()
    poses: Poses = ()
    frames: Frames = ()
    labels: Labels = ()
    obstacles: Obstacles | None = None
    """What the torso keeps clear of; null for what is said beside the characters."""
    functions: Functions = ()
    min_piece_s: PieceTime | None = None
    """Least length of a piece of a clip."""
    cut_weight: CutWeight | None = None
    """What a cut at the greatest cost allowed adds to the score."""
    graph: Annotated[str, MaxLen(4096), FileName()] | None = None
    """The .mog file of his own motion, where that is another body's."""


class Offset(Request):
    """How the second of two people stands to the first, as the first sees it."""

    left: Annotated[Metres, Ge(-1000), Le(1000)]
    """Metres to the left."""
    ahead: Annotated[Metres, Ge(-1000), Le(1000)]
    """Metres ahead."""
    turned_deg: Degrees
    """How far he is turned against the first; 180 is face to face."""

    @property
    def turned(self) -> float:
        """The same in radians."""
        return math.radians(self.turned_deg)


def _both(value: Any) -> Any:
    """A single frame stands for both clips."""
    return (value, value) if type(value) is int else tuple(value) if isinstance(value, list) else value


_FRAME_SCHEMA: dict[str, Any] = {"type": "integer", "minimum": 0, "maximum": 10**9}
_PAIR_SCHEMA: dict[str, Any] = {"type": "array", "items": _FRAME_SCHEMA, "minItems": 2, "maxItems": 2}


class Meeting(Request):
    """Two people come together and play a pair of recordings, each his own part of it.

    The pair may be two recordings of one moment, such as two dancers' in one world frame: then they are to each other
    as they were. Or any two clips, with `offset` saying how the people stand to each other.
    """

    at_s: Time
    """When, from the motions' first frames."""
    who: tuple[Name, Name]
    """Two characters."""
    clips: tuple[Name, Name]
    """The clip that each shows, by name in his own graph."""
    frames: Annotated[
        tuple[FrameNumber, FrameNumber],
        BeforeValidator(_both),
        WithJsonSchema({"anyOf": [_FRAME_SCHEMA, _PAIR_SCHEMA]}),
    ]
    """The frame of it that is shown at that time, at the clip's own rate; one number for both."""
    lasts_s: Time = 0.0
    """How long both play on from there, uncut."""
    position: Point | None = None
    """x and z of the first one's torso at that time, metres; null for wherever suits the first."""
    facing_deg: Degrees | None = None
    """Where the first one faces then; given with the position, or not at all."""
    offset: Offset | None = None
    """How the second one stands to the first at that time; null for as it was recorded."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.who[0] == self.who[1]:
            raise Wrong("who", f"is {list(self.who)}; it must be two different characters")
        for name, other in (("position", "facing_deg"), ("facing_deg", "position")):
            if getattr(self, name) is None and getattr(self, other) is not None:
                raise Wrong(name, "is missing; give position and facing_deg, or none of them")
        return self

    @property
    def facing(self) -> float | None:
        """Where the first one faces, radians."""
        return None if self.facing_deg is None else math.radians(self.facing_deg)


class SolveRequest(ChosenRequest):
    """Motion to be found. Times are in seconds from its first frame; it has a frame at 0 and one at `length_s`.

    The score of an answer is measured so that 30 cm, 10° and a second without the label asked for cost 1 each, at a
    weight of 1.

    >>> SolveRequest(4.0, [BodyTarget(0.0, (0.0, 0.0), 0.0), BodyTarget(4.0, (0.5, 4.0))]).body[1].facing is None
    True
    """

    verb = "solve"

    most_frames: ClassVar[int] = 20_000
    whole_frames: ClassVar[int] = 30_000
    effort: ClassVar[tuple[str, ...]] = ("count", "seconds", "evaluations", "apart_m", "finish")

    length_s: Annotated[Seconds, Ge(0.1), Le(LONGEST_S)]
    """How long the motion lasts."""
    body: Bodies = ()
    joints: Joints = ()
    poses: Poses = ()
    frames: Frames = ()
    labels: Labels = ()
    obstacles: Obstacles = ()
    functions: Functions = ()
    min_piece_s: PieceTime = 1 / 3
    """Least length of a piece of a clip; without it the search chatters."""
    cut_weight: CutWeight = 0.006
    """What a cut at the greatest cost allowed adds to the score. With a third of that answers are no nearer to the
    constraints, and a tenth farther from recorded poses."""
    count: Annotated[int, Ge(1), Le(500), Option(("--count", "-n"))] = 4
    """How many different answers, at most."""
    seconds: Annotated[float, Ge(0.01), Le(1e6), Option(("--seconds", "-s"))] = 3.0
    """How long to search, for all people together."""
    evaluations: Annotated[int, Ge(1), Le(10**12)] | None = None
    """Score so many paths instead: the same on any machine."""
    seed: Seed = 0
    """Same seed, same number of evaluations: same answers."""
    apart_m: Annotated[Metres, Ge(0), Le(1000)] = 0.5
    """Two answers differ if their roots are at one moment farther from each other than this."""
    max_cut_cost: Annotated[float, Gt(0), Le(1e9)] | None = None
    """Greatest cost of a cut (τ); if not given it follows from the motion."""
    characters: Annotated[Mapping[str, Character | None], MaxLen(100)] = Field(default_factory=dict)
    """The constraints of each of several people, by name; empty for one person."""
    meet: Annotated[tuple[Meeting, ...], _MOST] = ()
    """Where and when two of them come together, in order of time."""
    search: SolveSettings = Field(default_factory=SolveSettings)
    """How the search goes about it."""
    finish: FinishSettings = Field(default_factory=FinishSettings)
    """How the answers become motion."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        _check_constraints(self, self.length_s, "")
        beside = [name for name in LISTS if name != "obstacles" and getattr(self, name)]
        if self.characters and beside:
            raise Wrong(beside[0], "is given beside characters; give it to one of them")
        for name, person in self.characters.items():
            if not _NAME.fullmatch(name):
                raise Wrong("characters", f"has {name!r}; names become parts of file names: give letters and digits")
            _check_constraints(person or Character(), self.length_s, f"characters.{name}.")
        for n, meeting in enumerate(self.meet):
            self._check_meeting(n, meeting)
        return self

    def _check_meeting(self, n: int, meeting: Meeting) -> None:
        where = f"meet[{n}]"
        for name in meeting.who:
            if name not in self.characters:
                known = ", ".join(self.characters) or "none"
                raise Wrong(f"{where}.who", f"has {name!r}, which is no character; there are: {known}")
        if meeting.at_s > self.length_s:
            said = _beyond(meeting.at_s, self.length_s, "the motions last from 0 to length_s")
            raise Wrong(f"{where}.at_s", said)
        if meeting.at_s + meeting.lasts_s > self.length_s + 1e-9:
            said = _beyond(meeting.lasts_s, self.length_s - meeting.at_s, "it must end with the motions")
            raise Wrong(f"{where}.lasts_s", said)
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
        values: dict[str, Any] = {part: getattr(own, part) for part in LISTS}
        for part in ("obstacles", "min_piece_s", "cut_weight"):
            said = getattr(own, part)
            values[part] = getattr(self, part) if said is None else said
        return self.with_(**values, characters={}, meet=())

    def resolved(self, folder: Path, *, allow_code: bool = False) -> Self:
        """The request with functions loaded from their files, and graph files taken from a folder."""
        people = {}
        for name, person in self.characters.items():
            own = person or Character()
            graph = own.graph and str(folder / own.graph)
            loaded = _loaded(own.functions, folder, f"characters.{name}.", allow_code)
            people[name] = own.with_(functions=loaded, graph=graph) if own != Character() else person
        return self.with_(functions=_loaded(self.functions, folder, "", allow_code), characters=people)

    def check_asks(self) -> None:
        """Raise a RequestError if there is nothing to search for."""
        if not any(getattr(self, name) for name in LISTS[1:]) and len(self.body) < 2:
            raise RequestError(
                "nothing is asked for besides a length and a start; add a second body constraint, a joint, a pose, a "
                "label, a hard frame, an obstacle or a function"
            )


def _loaded(
    functions: tuple[FunctionTarget, ...], folder: Path, where: str, allow_code: bool
) -> tuple[FunctionTarget, ...]:
    return tuple(f.loaded(folder, f"{where}functions[{n}]", allow_code=allow_code) for n, f in enumerate(functions))


def _check_constraints(holder: SolveRequest | Character, length_s: float, where: str) -> None:
    """Raise a `Wrong` for a constraint that does not fit in the motion's time, or beside the others."""
    if holder.min_piece_s is not None and holder.min_piece_s > length_s:
        raise Wrong(f"{where}min_piece_s", _beyond(holder.min_piece_s, length_s, "the motion lasts length_s"))
    for place, value in _times(holder):
        if value > length_s:
            raise Wrong(f"{where}{place}", _beyond(value, length_s, "the motion lasts from 0 to length_s"))
    for n, frame in enumerate(holder.frames):
        if frame.at_s + frame.lasts_s > length_s + 1e-9:
            said = _beyond(frame.lasts_s, length_s - frame.at_s, "it must end with the motion")
            raise Wrong(f"{where}frames[{n}].lasts_s", said)
    for name in ("body", "frames"):
        times = [item.at_s for item in getattr(holder, name)]
        for n in range(1, len(times)):
            if times[n] <= times[n - 1]:
                said = f"is {times[n]:g}, not after {name}[{n - 1}] at {times[n - 1]:g}; give them in order of time"
                raise Wrong(f"{where}{name}[{n}].at_s", said)
    if holder.body and holder.body[0].facing_deg is None:
        said = "is missing: the first body constraint says where the motion begins"
        raise Wrong(f"{where}body[0].facing_deg", said)


def _times(holder: SolveRequest | Character) -> Iterator[tuple[str, float]]:
    for name in ("body", "joints", "poses", "frames"):
        for n, item in enumerate(getattr(holder, name)):
            yield f"{name}[{n}].at_s", item.at_s
    for n, label in enumerate(holder.labels):
        yield f"labels[{n}].start_s", label.start_s
        yield f"labels[{n}].stop_s", label.stop_s


def _beyond(value: float, most: float, why: str) -> str:
    return f"is {value:g}; it must be a number from 0 to {most:g} s; {why}"
