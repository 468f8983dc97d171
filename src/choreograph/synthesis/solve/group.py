"""What can be asked of several people: each one's own constraints, and where and when they meet."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from choreograph.errors import RequestError
from choreograph.synthesis.solve.request import Plain, Point, SolveRequest, need_point, need_range

_NAME = re.compile(r"\w[\w .-]{0,49}(?<![ .])")
"""Names of people, which become parts of file names."""


@dataclass(frozen=True)
class Meeting(Plain):
    """Two people come together and play a pair of recordings, each his own part of it.

    The pair may be two recordings of one moment, such as two dancers' in one world frame: then they are to each other
    as they were. Or any two clips, with `offset` saying how the people stand to each other.
    """

    at_s: float
    who: tuple[str, str]
    clips: tuple[str, str]
    """The clip that each shows, by name in his own graph."""
    frames: tuple[int, int]
    """The frame of it that is shown at that time, at the clip's own rate."""
    lasts_s: float = 0.0
    """How long both play on from there, uncut, seconds."""
    position: Point | None = None
    """x and z of the first one's torso at that time, metres; None for wherever suits the first."""
    facing: float | None = None
    """Where the first one faces then, radians; given with the position, or not at all."""
    offset: tuple[float, float, float] | None = None
    """The second one's torso, as the first sees it at that time: metres to the left, metres ahead, and how far he is
    turned against the first, radians; None for as it was recorded."""


@dataclass(frozen=True)
class GroupRequest:
    """Motions of several people over the same time, to be found together."""

    characters: Mapping[str, SolveRequest]
    """What each is asked for besides meeting; all of one length."""
    meetings: tuple[Meeting, ...] = ()
    """In order of time."""
    graphs: Mapping[str, Path] = field(default_factory=dict)
    """Graph files of those who have one of their own, where the request says so."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "meetings", tuple(self.meetings))
        if not self.characters:
            raise RequestError("characters is empty; name one or more")
        for name in self.characters:
            if not isinstance(name, str) or not _NAME.fullmatch(name):
                raise RequestError(
                    f"characters has {name!r}; names become parts of file names: give letters and digits"
                )
        lengths = sorted({request.length_s for request in self.characters.values()})
        if len(lengths) > 1:
            raise RequestError(f"the characters' motions last {lengths[0]:g} to {lengths[-1]:g} s; give one length")
        for n, meeting in enumerate(self.meetings):
            self._check(f"meet[{n}]", meeting)
            if n and meeting.at_s < self.meetings[n - 1].at_s:
                raise RequestError(
                    f"meet[{n}].at_s is {meeting.at_s:g}, before meet[{n - 1}] at {self.meetings[n - 1].at_s:g}; give "
                    "them in order of time"
                )

    @property
    def length_s(self) -> float:
        """Length of all motions, seconds."""
        return next(iter(self.characters.values())).length_s

    def _check(self, path: str, meeting: Meeting) -> None:
        need_range(f"{path}.at_s", meeting.at_s, 0.0, self.length_s, "the motions last from 0 to length_s")
        left = self.length_s - meeting.at_s
        need_range(f"{path}.lasts_s", meeting.lasts_s, 0.0, left, "it must end with the motions")
        if len(meeting.who) != 2 or meeting.who[0] == meeting.who[1]:
            raise RequestError(f"{path}.who is {list(meeting.who)}; it must be two different characters")
        for name in meeting.who:
            if name not in self.characters:
                known = ", ".join(self.characters)
                raise RequestError(f"{path}.who has {name!r}, which is no character; there are: {known}")
        if (meeting.position is None) != (meeting.facing is None):
            raise RequestError(f"{path} has one of position and facing; give both, or none for a place that is free")
        if meeting.position is not None:
            need_point(f"{path}.position", meeting.position, 2)
            need_range(f"{path}.facing", meeting.facing, -1e3, 1e3)
        for frame in meeting.frames:
            need_range(f"{path}.frames", frame, 0, 1e9)
        if meeting.offset is not None:
            if not isinstance(meeting.offset, tuple) or len(meeting.offset) != 3:
                raise RequestError(f"{path}.offset is {meeting.offset!r}; it must be 3 numbers: left, ahead, turned")
            for value in meeting.offset:
                need_range(f"{path}.offset", value, -1e3, 1e3)
