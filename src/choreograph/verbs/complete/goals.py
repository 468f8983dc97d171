"""When something is asked of a face; goes with the faces."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from choreograph.contract.request import Request, Weight, Wrong
from choreograph.goals.model import LONGEST_S, FrameNumber, Time


class Timed(Request):
    """Something that is asked for at a time, or from one time to another."""

    at_s: Time | None = None
    """When, from the motion's first frame;"""
    start_s: Time | None = None
    """or from when"""
    stop_s: Time | None = None
    """until when."""
    weight: Weight = 1.0
    """How much it counts."""
    exact: bool = True
    """Whether it is met exactly."""

    @model_validator(mode="after")
    def _check_time(self) -> Self:
        if (self.at_s is None) == (self.start_s is None) or (self.start_s is None) != (self.stop_s is None):
            raise Wrong("at_s", "is missing; give at_s, or start_s and stop_s")
        return self

    @property
    def span(self) -> tuple[float, float]:
        """First and last time, seconds."""
        if self.at_s is not None:
            return self.at_s, self.at_s
        assert self.start_s is not None and self.stop_s is not None
        return self.start_s, self.stop_s


__all__ = ["LONGEST_S", "FrameNumber", "Time", "Timed"]
