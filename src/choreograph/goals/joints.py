"""Goals of joints: where they are, how they are turned and bent, how far from each other, where a camera sees them."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar, Self

from annotated_types import Ge, Gt, Le, Lt, MaxLen
from pydantic import model_validator

from choreograph.contract.request import Degrees, FileName, Metres, Name, Option, Place, Point, Request, Wrong
from choreograph.goals.base import NOWHERE, Goal, Position, Quaternion, ToleranceDeg, ToleranceM, check_length


class JointGoal(Goal):
    """Where a joint is, or how it moves: at a time, throughout an interval, or along a track."""

    noun: ClassVar[str] = "joint"

    joint: Name
    """A joint's name or role: "head", "left_hand" …"""
    position: Place = NOWHERE
    """x, y and z in metres; null for a coordinate that does not matter."""
    velocity: Place = NOWHERE
    """x, y and z in metres per second; null for a coordinate that does not matter."""
    track: Annotated[str, MaxLen(4096), FileName()] | None = None
    """A CSV file of the joint's trajectory during the interval: columns x, y, z, or seconds, x, y, z from its start;
    metres, empty cells for what does not matter."""
    points: Annotated[tuple[Position, ...], MaxLen(100_000), Option(hidden=True)] = ()
    """The trajectory itself instead of a file: x, y and z in metres, spread evenly over the interval."""
    tolerance_m: ToleranceM | None = None
    """How far from the position is near enough, metres."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        given = [name for name in ("track", "points") if getattr(self, name)]
        if self.position != NOWHERE:
            given.append("position")
        if not given and self.velocity == NOWHERE:
            raise Wrong("", "asks for nothing; give it a position, a velocity, a track or points")
        if len(given) > 1:
            raise Wrong(given[0], f"is given beside {given[1]}; give one of them")
        if (self.track or self.points) and self.start_s is None:
            raise Wrong(given[0], "needs an interval: give start_s and end_s instead of at_s")
        if len(self.points) == 1:
            raise Wrong("points", "has one point; a trajectory needs two or more")
        return self


class TurnGoal(Goal):
    """How a joint is turned in the world."""

    noun: ClassVar[str] = "turn"

    joint: Name
    """A joint's name or role."""
    rotation: Quaternion
    """Unit quaternion w, x, y, z of its rotation against the world."""
    tolerance_deg: ToleranceDeg | None = None
    """How far it may be turned away from that, degrees."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        check_length(self.rotation, "rotation")
        return self


class AngleGoal(Goal):
    """How far a joint is bent: the angle between the bone that leads to it and the one that leads on."""

    noun: ClassVar[str] = "angle"

    joint: Name
    """A joint's name or role: "left_lower_leg" is the knee, "right_forearm" the elbow."""
    bend_deg: Annotated[Degrees, Ge(0), Le(180)]
    """0 is straight."""
    tolerance_deg: ToleranceDeg | None = None
    """How far from that is near enough, degrees."""


class DistanceGoal(Goal):
    """How far two joints are from each other."""

    noun: ClassVar[str] = "distance"

    joints: tuple[Name, Name]
    """Two joints, by name or role."""
    distance_m: Annotated[Metres, Ge(0), Le(100)]
    """Metres."""
    tolerance_m: ToleranceM | None = None
    """How far from that is near enough, metres."""


class OffsetGoal(Goal):
    """Where a joint is, seen from another one."""

    noun: ClassVar[str] = "offset"

    joint: Name
    """A joint's name or role."""
    of: Name
    """The joint that it is seen from."""
    offset: Place
    """x, y and z in the world's directions, metres; null for a coordinate that does not matter."""
    tolerance_m: ToleranceM | None = None
    """How far from that is near enough, metres."""


class Camera(Request):
    """A camera that sees the motion."""

    position: Position
    """Where it is, metres."""
    target: Position
    """What it looks at, in the middle of the picture."""
    field_of_view_deg: Annotated[Degrees, Gt(0), Lt(180)] = 40.0
    """From the picture's lower to its upper edge."""
    aspect: Annotated[float, Gt(0), Le(100)] = 16 / 9
    """Width of the picture over its height."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if math.dist(self.position, self.target) < 1e-6:
            raise Wrong("target", f"is {list(self.target)}, where the camera is; give what it looks at")
        return self


class ViewGoal(Goal):
    """Where a camera sees a joint."""

    noun: ClassVar[str] = "view"

    joint: Name
    """A joint's name or role."""
    camera: Camera
    """The camera."""
    seen: Point
    """Across and down the picture: (0, 0) is the upper left corner, (1, 1) the lower right one."""
