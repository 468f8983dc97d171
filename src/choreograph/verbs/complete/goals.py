"""What a motion can be asked for: poses, places, joints, turns, angles, distances, camera views, feet that stand."""

from __future__ import annotations

import math
from typing import Annotated, Literal, Self

from annotated_types import Ge, Gt, Le, Lt, MaxLen
from pydantic import model_validator

from choreograph.contract.request import (
    Coordinate,
    Degrees,
    FileName,
    Metres,
    Name,
    Option,
    Place,
    Point,
    Request,
    Seconds,
    Weight,
    Wrong,
)

LONGEST_S = 600.0
Time = Annotated[Seconds, Ge(0), Le(LONGEST_S)]
FrameNumber = Annotated[int, Ge(0), Le(10**9)]
Part = Annotated[float, Ge(-10), Le(10)]
Where = tuple[Coordinate, Coordinate, Coordinate]
Rotation = tuple[Part, Part, Part, Part]


def check_time(at_s: float | None, start_s: float | None, stop_s: float | None) -> None:
    """Raise what is wrong with a goal's time: it has a time, or an interval."""
    if at_s is None and start_s is None:
        raise Wrong("at_s", "is missing; give at_s, or start_s and stop_s")
    if at_s is not None and (start_s is not None or stop_s is not None):
        raise Wrong("at_s", "is given beside start_s or stop_s; give a time, or an interval")
    if at_s is None:
        if start_s is None or stop_s is None:
            raise Wrong("stop_s", "is missing; an interval has start_s and stop_s")
        if stop_s <= start_s:
            raise Wrong("stop_s", f"is {stop_s:g}, not after its start_s, {start_s:g}")


def span_of(at_s: float | None, start_s: float | None, stop_s: float | None) -> tuple[float, float]:
    """First and last time of a goal, seconds."""
    if at_s is not None:
        return at_s, at_s
    assert start_s is not None and stop_s is not None
    return start_s, stop_s


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
    """Whether the finished motion does exactly so, as far as the body reaches; velocities count by weight only."""

    @model_validator(mode="after")
    def _check_time(self) -> Self:
        check_time(self.at_s, self.start_s, self.stop_s)
        return self

    @property
    def span(self) -> tuple[float, float]:
        """First and last time, seconds."""
        return span_of(self.at_s, self.start_s, self.stop_s)


class KeyPose(Request):
    """A pose of a clip at a time, or its poses during an interval: where they are given, or where the motion leads."""

    at_s: Time | None = None
    """When, from the motion's first frame; or an interval, from start_s to stop_s."""
    clip: Name | None = None
    """A clip by its name;"""
    frame: FrameNumber = 0
    """which frame of it, at its own rate."""
    file: Annotated[str, MaxLen(4096), FileName()] | None = None
    """A motion file instead of a clip's name."""
    position: Point | None = None
    """x and z of the torso, metres; null for anywhere."""
    facing_deg: Degrees | None = None
    """Where it faces: 0 looks along +z, 90 along +x; null for any."""
    in_place: bool = False
    """Whether it is where it was recorded, instead of a position and a facing."""
    weight: Weight = 1.0
    """How much it counts."""
    exact: bool = True
    """Whether the finished motion has this very pose at that time."""
    start_s: Time | None = None
    """Instead of at_s: from when the clip goes on from that frame, as it was recorded,"""
    stop_s: Time | None = None
    """until when."""
    root: Annotated[Where | None, Option(hidden=True)] = None
    """A pose of its own instead of a clip's: where the root joint is, metres,"""
    rotations: Annotated[tuple[Rotation, ...], MaxLen(1000), Option(hidden=True)] = ()
    """and how each joint of the skeleton, in its order, is turned in the joint above it: unit quaternions w, x, y,
    z."""

    @property
    def span(self) -> tuple[float, float]:
        """First and last time, seconds."""
        return span_of(self.at_s, self.start_s, self.stop_s)

    @model_validator(mode="after")
    def _check(self) -> Self:
        check_time(self.at_s, self.start_s, self.stop_s)
        self._check_source()
        if self.in_place and (self.position is not None or self.facing_deg is not None):
            raise Wrong("in_place", "is given beside position or facing_deg; give one or the other")
        return self

    def _check_source(self) -> None:
        """A pose is a clip's, a file's, or its own."""
        given = [name for name in ("clip", "file", "rotations") if getattr(self, name)]
        if not given:
            raise Wrong("clip", "is missing; give a clip or a file")
        if len(given) > 1:
            raise Wrong(given[0], f"is given beside {given[1]}")
        if not self.rotations:
            if self.root is not None:
                raise Wrong("root", "is given without rotations; a pose of its own has both")
            return
        if self.root is None:
            raise Wrong("root", "is missing; a pose of its own has a root and rotations")
        if self.at_s is None or self.frame:
            raise Wrong("rotations", "are one pose: give at_s, and no frame")
        for n, rotation in enumerate(self.rotations):
            if abs(math.sqrt(sum(value**2 for value in rotation)) - 1) > 0.01:
                raise Wrong(f"rotations[{n}]", f"is {list(rotation)}; it must be of length 1")

    @property
    def facing(self) -> float | None:
        """Yaw, radians; None for any."""
        return None if self.facing_deg is None else math.radians(self.facing_deg)


class BodyGoal(Request):
    """Where the body is on the floor at a time or during an interval, and where it faces."""

    at_s: Time | None = None
    """When, from the motion's first frame; or an interval, from start_s to stop_s."""
    position: Point | None = None
    """x and z of the torso, metres; null for anywhere."""
    facing_deg: Degrees | None = None
    """Where it faces: 0 looks along +z, 90 along +x; null for any."""
    weight: Weight = 1.0
    """How much it counts."""
    exact: bool = True
    """Whether the finished motion is exactly there."""
    start_s: Time | None = None
    """Instead of at_s: from when"""
    stop_s: Time | None = None
    """until when."""
    points: Annotated[tuple[Point, ...], MaxLen(100_000), Option(hidden=True)] = ()
    """The way of the torso instead of a position: x and z in metres, spread evenly over the interval."""

    @property
    def span(self) -> tuple[float, float]:
        """First and last time, seconds."""
        return span_of(self.at_s, self.start_s, self.stop_s)

    @model_validator(mode="after")
    def _check(self) -> Self:
        check_time(self.at_s, self.start_s, self.stop_s)
        if self.position is None and self.facing_deg is None and not self.points:
            raise Wrong("position", "is missing; give a position, a facing_deg, or both")
        if self.points and (self.position is not None or self.at_s is not None or len(self.points) < 2):
            raise Wrong("points", "are two or more of an interval, without a position")
        return self

    @property
    def facing(self) -> float | None:
        """Yaw, radians; None for any."""
        return None if self.facing_deg is None else math.radians(self.facing_deg)


class JointGoal(Timed):
    """Where a joint is: at a time, throughout an interval, or along a track."""

    joint: Name
    """A joint's name or role: "head", "left_hand" …"""
    position: Place = (None, None, None)
    """x, y and z in metres; null for a coordinate that does not matter."""
    velocity: Place = (None, None, None)
    """Likewise, metres per second."""
    track: Annotated[str, MaxLen(4096), FileName()] | None = None
    """A CSV file of the joint's way during the interval: columns x, y, z, or seconds, x, y, z from its start; metres,
    empty cells for what does not matter."""
    points: Annotated[tuple[Where, ...], MaxLen(100_000), Option(hidden=True)] = ()
    """The way itself instead of a file: x, y and z in metres, spread evenly over the interval."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        given = [n for n in ("track", "points") if getattr(self, n)]
        if any(value is not None for value in self.position):
            given.append("position")
        if any(value is not None for value in self.velocity):
            given.append("velocity")
        if not given:
            raise Wrong("", "asks for nothing; give it a position, a velocity, a track or points")
        if len({"track", "points", "position"} & set(given)) > 1:
            raise Wrong(given[0], f"is given beside {given[1]}; give one of them")
        if self.at_s is not None and given[0] in ("track", "points"):
            raise Wrong(given[0], "needs an interval: give start_s and stop_s instead of at_s")
        if len(self.points) == 1:
            raise Wrong("points", "has one point; a way needs two or more")
        return self


class TurnGoal(Timed):
    """How a joint is turned in the world."""

    joint: Name
    """A joint's name or role."""
    rotation: Rotation
    """Unit quaternion w, x, y, z of its rotation against the world."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        length = math.sqrt(sum(value**2 for value in self.rotation))
        if abs(length - 1) > 0.01:
            raise Wrong("rotation", f"is {list(self.rotation)} of length {length:.3g}; it must be of length 1")
        return self


class AngleGoal(Timed):
    """How far a joint is bent: the angle between the bone that leads to it and the one that leads on."""

    joint: Name
    """A joint's name or role: "left_lower_leg" is the knee, "right_forearm" the elbow."""
    bend_deg: Annotated[Degrees, Ge(0), Le(180)]
    """0 is straight."""


class DistanceGoal(Timed):
    """How far two joints are from each other."""

    joints: tuple[Name, Name]
    """Two joints, by name or role."""
    distance_m: Annotated[Metres, Ge(0), Le(100)]
    """Metres."""


class OffsetGoal(Timed):
    """Where a joint is, seen from another one."""

    joint: Name
    """A joint's name or role."""
    of: Name
    """The joint that it is seen from."""
    offset: Place
    """x, y and z in the world's directions, metres; null for a coordinate that does not matter."""


class Camera(Request):
    """A camera that sees the motion."""

    position: Where
    """Where it is, metres."""
    target: Where
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


class ViewGoal(Timed):
    """Where a camera sees a joint."""

    joint: Name
    """A joint's name or role."""
    camera: Camera
    """The camera."""
    seen: Point
    """Across and down the picture: (0, 0) is the upper left corner, (1, 1) the lower right one."""


class ContactGoal(Request):
    """A foot that stands for a while."""

    start_s: Time
    """From when, from the motion's first frame."""
    stop_s: Time
    """Until when."""
    foot: Literal["left", "right", "both"]
    """Which."""
    part: Literal["heel", "toe", "all"] = "all"
    """What of it stands."""
    weight: Weight = 1.0
    """How much it counts."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.stop_s <= self.start_s:
            raise Wrong("stop_s", f"is {self.stop_s:g}, not after its start_s, {self.start_s:g}")
        return self


class BehaviourGoal(Request):
    """What the motion is like for a while: the model learned from what is labelled so holds then."""

    start_s: Time
    """From when, from the motion's first frame."""
    stop_s: Time
    """Until when."""
    label: Name
    """What clips are labelled: "walk", "jump" …"""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.stop_s <= self.start_s:
            raise Wrong("stop_s", f"is {self.stop_s:g}, not after its start_s, {self.start_s:g}")
        return self
