"""What can be asked of recordings: words, an example, ranges of speed and turn, feet."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Annotated, Literal

from annotated_types import Ge, Gt, Le, MaxLen
from pydantic import model_validator

from choreograph.base.errors import RequestError
from choreograph.contract.request import FileName, Option, Request, Seconds, Wrong

_RANGE = re.compile(r"\s*(?P<low>[\d.]*\d\.?|)\s*\.\.\s*(?P<high>\d[\d.]*|)\s*\Z")
RangeText = Annotated[str, MaxLen(40), Option(metavar="LOW..HIGH")]


class FindRequest(Request):
    """Which places of recordings are sought; all that is given must hold.

    >>> FindRequest(only="walk or run", speed="1..2", contact="left").speed_range
    (1.0, 2.0)
    """

    only: Annotated[str, MaxLen(2000)] = ""
    """Words of labels, names, folders and people, with and, or, not: 'walk or run', '"turn left" not stop',
    'clip:16_*'."""
    like: Annotated[Path, FileName()] | None = None
    """A motion file: what moves as it does is sought, wherever it goes and whatever the body's size."""
    start_s: Annotated[Seconds, Ge(0), Option(("--start",))] | None = None
    """Where the example begins in its file; without an end it is one pose."""
    end_s: Annotated[Seconds, Ge(0), Option(("--end",))] | None = None
    """Where the example ends."""
    speed: RangeText | None = None
    """Speed of the hips over the floor, m/s: 1..2, 3.. or ..0.2."""
    turn: RangeText | None = None
    """Degrees turned within `within_s`, to either side: 90.. or 30..60."""
    side: Literal["left", "right"] | None = None
    """The side turned to."""
    within_s: Annotated[Seconds, Gt(0), Le(30)] = 1.0
    """Time over which turns are measured."""
    contact: Literal["left", "right", "both", "none", "any"] | None = None
    """Feet on the floor: one alone, both, none (in the air) or at least one."""
    shortest_s: Annotated[Seconds, Ge(0), Le(60)] = 0.25
    """Places shorter than this are passed over, where no example says how long they are."""
    count: Annotated[int, Ge(1), Le(100_000)] = 20
    """How many places to tell."""

    @model_validator(mode="after")
    def _check(self) -> FindRequest:
        for name in ("speed", "turn"):
            try:
                parse_range(getattr(self, name))
            except RequestError as error:
                raise Wrong(name, str(error)) from None
        if self.start_s is not None and self.end_s is not None and self.end_s < self.start_s:
            raise Wrong("end_s", f"is {self.end_s:g}: the example would end before it begins, at {self.start_s:g} s")
        if self.side is not None and self.turn is None:
            raise Wrong("side", "is given without a turn: add for example turn 45..")
        return self

    @property
    def speed_range(self) -> tuple[float, float] | None:
        """Lowest and highest speed, m/s."""
        return parse_range(self.speed)

    @property
    def turn_range(self) -> tuple[float, float] | None:
        """Smallest and largest turn, radians."""
        range_deg = parse_range(self.turn)
        return None if range_deg is None else (math.radians(range_deg[0]), math.radians(range_deg[1]))

    @property
    def looks_at_frames(self) -> bool:
        """Whether more is asked than words say."""
        return any(value is not None for value in (self.like, self.speed, self.turn, self.contact))


def parse_range(text: str | None) -> tuple[float, float] | None:
    """The bounds of a range: of 1..2, 90.. (and more), ..0.2 (and less).

    >>> parse_range("1..2"), parse_range("90.."), parse_range("..0.2")
    ((1.0, 2.0), (90.0, inf), (0.0, 0.2))
    """
    if text is None:
        return None
    wrong = RequestError(f"is {text!r}; a range is two numbers, 1..2, or one, 90.. for more and ..0.2 for less")
    match = _RANGE.match(text)
    if match is None or not (match["low"] or match["high"]):
        raise wrong
    try:
        low, high = float(match["low"] or 0), float(match["high"] or math.inf)
    except ValueError:
        raise wrong from None
    if low > high:
        raise RequestError(f"is {text!r}; the first number of a range must not be above the second")
    return low, high
