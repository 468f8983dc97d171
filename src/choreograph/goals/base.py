"""What all goals have: when they hold, how much they count, how near is near enough."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar, Self

from annotated_types import Ge, Gt, Le
from pydantic import model_validator

from choreograph.contract.mistakes import quote
from choreograph.contract.request import Coordinate, Degrees, Metres, Place, Request, Seconds, Weight, Wrong

LONGEST_S = 600.0
"""Length of a motion that solve, complete and face make at most."""
Time = Annotated[Seconds, Ge(0), Le(1e6)]
Along = Annotated[Metres, Ge(0), Le(1e6)]
FrameNumber = Annotated[int, Ge(0), Le(10**9)]
Position = tuple[Coordinate, Coordinate, Coordinate]
"""x, y and z, metres."""
ToleranceM = Annotated[Metres, Gt(0), Le(100)]
ToleranceDeg = Annotated[Degrees, Gt(0), Le(180)]
TELLS: dict[str, type[Goal]] = {}
"""By which field a goal is told; where it has several of these, the first counts. The module `model` fills it."""


_Part = Annotated[float, Ge(-10), Le(10)]
Quaternion = tuple[_Part, _Part, _Part, _Part]
"""w, x, y, z."""
NOWHERE: Place = (None, None, None)


class Goal(Request):
    """Something the motion should satisfy: at a moment, during an interval, or where the verb says without either."""

    noun: ClassVar[str] = ""
    """What messages call it: "place", "pose" …"""
    named_only: ClassVar[tuple[str, ...]] = ("start_s", "end_s", "weight", "exact")

    at_s: Time | None = None
    """When, from the motion's first frame; or an interval, from start_s to end_s."""
    start_s: Time | None = None
    """Instead of at_s: from when"""
    end_s: Time | None = None
    """until when."""
    weight: Weight = 1.0
    """How much it counts."""
    exact: bool | None = None
    """Whether the finished motion does exactly so; if left out, the verb decides."""

    @model_validator(mode="after")
    def _check_time(self) -> Self:
        _check_span(self, "at_s", "start_s", "end_s")
        return self

    @property
    def timed(self) -> bool:
        """Whether it says when."""
        return self.at_s is not None or self.start_s is not None

    @property
    def span(self) -> tuple[float, float]:
        """First and last time, seconds; of a goal that says when."""
        if self.at_s is not None:
            return self.at_s, self.at_s
        assert self.start_s is not None and self.end_s is not None
        return self.start_s, self.end_s

    @classmethod
    def say_unknown(cls, name: str) -> str:
        """What to say about a field that this kind of goal does not have, as the end of a sentence."""
        other = TELLS.get(name)
        if other is not None and other is not cls:
            return f"which is of another kind of goal ({other.noun}); make two goals of it"
        return super().say_unknown(name)


class AlongGoal(Goal):
    """A goal that can also hold at a place of a path, or on a stretch of it."""

    named_only: ClassVar[tuple[str, ...]] = (*Goal.named_only, "at_m", "start_m", "end_m")

    at_m: Along | None = None
    """Where along the path, metres, before smoothing and rounding; instead of a time."""
    start_m: Along | None = None
    """Or from where"""
    end_m: Along | None = None
    """up to where."""

    @model_validator(mode="after")
    def _check_stretch(self) -> Self:
        _check_span(self, "at_m", "start_m", "end_m")
        if self.along and self.timed:
            raise Wrong("at_s" if self.at_s is not None else "start_s", "is given beside a stretch of the path")
        return self

    @property
    def along(self) -> bool:
        """Whether it says where along the path."""
        return self.at_m is not None or self.start_m is not None

    @property
    def stretch(self) -> tuple[float, float]:
        """Where it begins and ends along the path, metres; of a goal that says so."""
        if self.at_m is not None:
            return self.at_m, self.at_m
        assert self.start_m is not None and self.end_m is not None
        return self.start_m, self.end_m


def _check_span(goal: Goal, at: str, start: str, end: str) -> None:
    """Raise what is wrong with a moment or an interval."""
    moment, first, last = getattr(goal, at), getattr(goal, start), getattr(goal, end)
    if moment is not None and (first is not None or last is not None):
        raise Wrong(at, f"is given beside {start} or {end}; give one moment, or an interval")
    if (first is None) != (last is None):
        raise Wrong(start if first is None else end, f"is missing; an interval has {start} and {end}")
    if first is not None and last is not None and last <= first:
        raise Wrong(end, f"is {last:g}, not after its {start}, {first:g}")


def radians(degrees: float | None) -> float | None:
    """An angle in radians; None stays None."""
    return None if degrees is None else math.radians(degrees)


def check_length(value: tuple[float, ...], where: str) -> None:
    """Raise what is wrong with a unit quaternion."""
    length = math.sqrt(sum(part**2 for part in value))
    if abs(length - 1) > 0.01:
        raise Wrong(where, f"is {quote(list(value))} of length {length:.3g}; it must be of length 1")
