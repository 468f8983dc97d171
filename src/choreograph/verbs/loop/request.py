"""What can be asked of a loop: how long, and whether it travels."""

from __future__ import annotations

from typing import Annotated

from annotated_types import Ge, Gt, Le
from pydantic import model_validator

from choreograph.contract.request import Request, Seconds, Wrong


class LoopRequest(Request):
    """A cycle of a motion.

    >>> LoopRequest(min_s=0.8, in_place=True).as_document()
    {'min_s': 0.8, 'in_place': True}
    """

    verb = "loop"

    min_s: Annotated[Seconds, Gt(0), Le(600)] = 0.5
    """Shortest cycle."""
    max_s: Annotated[Seconds, Gt(0), Le(600)] = 3.0
    """Longest cycle."""
    start_s: Annotated[Seconds, Ge(0), Le(1e6)] | None = None
    """Where the cycle begins, if that is known; else where ends fit best."""
    end_s: Annotated[Seconds, Gt(0), Le(1e6)] | None = None
    """Where the cycle ends, if that is known."""
    straight: bool = True
    """Whether the cycle goes straight on: the turn that it makes is taken out."""
    in_place: bool = False
    """Whether it stays where it is: the way that it makes is taken out."""
    cycles: Annotated[int, Ge(1), Le(1000)] = 1
    """How often the result repeats it."""
    clean: bool = True
    """Whether standing feet are held where they stand."""

    @model_validator(mode="after")
    def _fits(self) -> LoopRequest:
        if self.max_s < self.min_s:
            raise Wrong("max_s", f"is {self.max_s:g} s, less than the shortest, {self.min_s:g} s (min_s)")
        if self.start_s is not None and self.end_s is not None and self.end_s <= self.start_s:
            raise Wrong("end_s", f"is {self.end_s:g} s, not after the start, {self.start_s:g} s (start_s)")
        return self
