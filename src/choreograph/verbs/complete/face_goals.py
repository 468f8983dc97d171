"""What can be asked of a face: keys of weights or recorded frames, and where landmarks are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Self

from annotated_types import Ge, Le, MaxLen
from pydantic import Field, model_validator

from choreograph.contract.request import Name, Place, Request, Seconds, Weight, Wrong
from choreograph.verbs.complete.goals import LONGEST_S, FrameNumber, Time, Timed

ShapeWeight = Annotated[float, Ge(0), Le(1)]


class FaceKey(Request):
    """A whole face at a time: weights by name, or a frame of a recording."""

    at_s: Time
    """When, from the first frame."""
    weights: Annotated[Mapping[str, ShapeWeight], MaxLen(200)] = Field(default_factory=dict)
    """Weights of shapes, from 0 to 1: {JawOpen: 0.6}; the others are 0."""
    clip: Name | None = None
    """A recording by its name, instead of weights;"""
    frame: FrameNumber = 0
    """which frame of it."""
    weight: Weight = 1.0
    """How much it counts, where keys are not met exactly."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.clip is not None and self.weights:
            raise Wrong("weights", "is given beside clip; give one or the other")
        return self


class LandmarkGoal(Timed):
    """Where a landmark is at a time, or along a way during an interval."""

    landmark: Annotated[int, Ge(0), Le(100_000)]
    """Its number."""
    position: Place = (None, None, None)
    """x, y and z in millimetres; null for a coordinate that does not matter."""
    track: Annotated[tuple[Place, ...], MaxLen(100_000)] = ()
    """A way instead of a position, spread evenly over the interval."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if bool(self.track) == any(value is not None for value in self.position):
            raise Wrong("position", "is missing; give a position or a track, and not both")
        if self.track and self.at_s is not None:
            raise Wrong("track", "needs an interval: give start_s and stop_s instead of at_s")
        return self

    def way(self) -> Sequence[Place]:
        """Its track, or its position alone."""
        return self.track or (self.position,)


class FaceRequest(Request):
    """A face to be completed. Times are in seconds from its first frame; it has a frame at 0 and one at `length_s`.

    >>> FaceRequest(1.0, [FaceKey(0.0), FaceKey(1.0, {"JawOpen": 0.5})]).keys[1].weights
    {'JawOpen': 0.5}
    """

    verb = "face"

    length_s: Annotated[Seconds, Ge(0.05), Le(LONGEST_S)]
    """How long it lasts."""
    keys: Annotated[tuple[FaceKey, ...], MaxLen(10_000)] = ()
    """Whole faces at times."""
    points: Annotated[tuple[LandmarkGoal, ...], MaxLen(10_000)] = ()
    """Where landmarks are when."""
    order: Annotated[int, Ge(1), Le(6)] = 2
    """How many frames the next one follows from (m)."""
    controls: Annotated[int, Ge(1), Le(200)] | None = None
    """Size of the control input, dim(u); that of the space of faces if not given."""
    exact: bool = True
    """Whether keys are met exactly."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.keys and not self.points:
            raise Wrong("keys", "is missing; give a key or a point")
        for n, key in enumerate(self.keys):
            if key.at_s > self.length_s + 1e-9:
                raise Wrong(f"keys[{n}].at_s", f"is {key.at_s:g}; it must be from 0 to {self.length_s:g} s")
        for n, goal in enumerate(self.points):
            if goal.span[1] > self.length_s + 1e-9:
                raise Wrong(f"points[{n}]", f"ends at {goal.span[1]:g} s; the face lasts to {self.length_s:g} s")
        seen: dict[float, int] = {}
        for n, key in enumerate(self.keys):
            if key.at_s in seen:
                raise Wrong(f"keys[{n}].at_s", f"is {key.at_s:g}, as keys[{seen[key.at_s]}] has; give one of them")
            seen[key.at_s] = n
        return self
