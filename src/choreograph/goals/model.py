"""Goals: everything a request can ask of a motion, in one list `goals`; the field that only one kind has tells it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from annotated_types import Ge, Gt, Le, MaxLen, MinLen
from pydantic import Discriminator, Tag, model_validator

from choreograph.contract.fields import Unit
from choreograph.contract.request import (
    Degrees,
    FileName,
    Metres,
    MetresPerSecond,
    Name,
    Option,
    Place,
    Point,
    Request,
    Seconds,
    Wrong,
)
from choreograph.goals.base import (
    LONGEST_S,
    NOWHERE,
    TELLS,
    AlongGoal,
    FrameNumber,
    Goal,
    Position,
    Quaternion,
    Time,
    ToleranceDeg,
    ToleranceM,
    check_length,
    radians,
)
from choreograph.goals.cost import CostGoal, LoadedFunction
from choreograph.goals.joints import AngleGoal, Camera, DistanceGoal, JointGoal, OffsetGoal, TurnGoal, ViewGoal

Side = Literal["left", "right", "both"]
FootPart = Literal["heel", "ball", "toe"]


class PlaceGoal(Goal):
    """Where the body is on the floor, where it faces, and along which line it goes."""

    noun: ClassVar[str] = "place"

    place: Point | None = None
    """x and z of the hips, metres; if left out, anywhere."""
    facing_deg: Degrees | None = None
    """Where the body faces: 0 looks along +z, 90 along +x; if left out, anywhere."""
    heading_deg: Degrees | None = None
    """Direction of a line through the place to keep to, from +z towards +x."""
    height_m: Annotated[Metres, Ge(-1000), Le(1000)] | None = None
    """Height of the root, metres; if left out, any."""
    points: Annotated[tuple[Point, ...], MaxLen(100_000), Option(hidden=True)] = ()
    """A line instead of a place: x and z in metres; during an interval spread evenly over it."""
    ends: tuple[Point, Point] | None = None
    """Instead of a place: a line on the floor to cross, by its two ends."""
    standing: bool = False
    """Whether both feet are on the floor there, at rest."""
    label: Name | None = None
    """What to do there: motion with this label, such as sit or pick up."""
    tolerance_m: ToleranceM | None = None
    """How far from the place is near enough, metres."""
    tolerance_deg: ToleranceDeg | None = None
    """How far from the facing is near enough, degrees."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        ways = [name for name in ("place", "points", "ends") if getattr(self, name)]
        if len(ways) > 1:
            raise Wrong(ways[1], f"is given beside {ways[0]}; give one of them")
        if not ways and self.facing_deg is None and self.heading_deg is None and self.height_m is None:
            raise Wrong("place", "is missing; give a place, a facing_deg, or both")
        if self.points and len(self.points) < 2:
            raise Wrong("points", "has one point; a line needs two or more")
        if self.points and self.start_s is not None and self.heading_deg is not None:
            raise Wrong("heading_deg", "is given beside points; give one of them")
        if self.ends is not None and math.dist(*self.ends) < 0.01:
            raise Wrong("ends", "are in one place; a line leads from one place to another")
        return self

    @property
    def facing(self) -> float | None:
        """Yaw, radians; None for any."""
        return radians(self.facing_deg)


class PoseSource(Request):
    """A pose: a frame of a clip or of a file, or its own root and rotations."""

    clip: Name | None = None
    """A clip by its name;"""
    frame: FrameNumber = 0
    """which frame of it, at its own rate."""
    file: Annotated[str, MaxLen(4096), FileName()] | None = None
    """A motion file instead of a clip's name."""
    root: Annotated[Position | None, Option(hidden=True)] = None
    """A pose of its own: where the root joint is, metres,"""
    rotations: Annotated[tuple[Quaternion, ...], MaxLen(1000), Option(hidden=True)] = ()
    """and how each joint of the skeleton, in its order, is turned in the joint above it: unit quaternions w, x, y,
    z."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        given = [name for name in ("clip", "file", "rotations") if getattr(self, name)]
        if len(given) > 1:
            raise Wrong(given[0], f"is given beside {given[1]}")
        if bool(self.rotations) != (self.root is not None):
            raise Wrong("root" if self.rotations else "rotations", "is missing; a pose of its own has both")
        if self.rotations and self.frame:
            raise Wrong("frame", "is given beside rotations, which are one pose")
        for n, rotation in enumerate(self.rotations):
            check_length(rotation, f"rotations[{n}]")
        return self


class PoseGoal(Goal):
    """A pose at a time, or the poses of a recording from then on: where it is given, or where the motion leads."""

    noun: ClassVar[str] = "pose"

    pose: PoseSource
    """The pose, such as {clip: walk, frame: 40}."""
    place: Point | None = None
    """x and z of the hips, metres; if left out, anywhere."""
    facing_deg: Degrees | None = None
    """Where the body faces: 0 looks along +z, 90 along +x; if left out, anywhere."""
    height_m: Annotated[Metres, Ge(-1000), Le(1000)] | None = None
    """Height of the root, metres; if left out, the pose's or any."""
    as_recorded: bool = False
    """Whether it is where it was recorded, instead of a place and a facing."""
    duration_s: Annotated[Time, Option(hidden=True)] = 0.0
    """How long the recording goes on from at_s; or give start_s and end_s."""
    tolerance_m: ToleranceM | None = None
    """How far from the place is near enough, metres."""
    tolerance_deg: ToleranceDeg | None = None
    """How far joints may be turned away from the pose, on average, degrees."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.as_recorded and (self.place is not None or self.facing_deg is not None):
            raise Wrong("as_recorded", "is given beside place or facing_deg; give one or the other")
        if self.duration_s and self.at_s is None:
            raise Wrong("duration_s", "is given without at_s; give at_s, or start_s and end_s without it")
        if self.pose.rotations and (self.duration_s or self.start_s is not None):
            raise Wrong("pose", "is one pose of its own: give at_s")
        return self

    @property
    def span(self) -> tuple[float, float]:
        """First and last time, seconds."""
        start, end = super().span
        return start, end + self.duration_s

    @property
    def facing(self) -> float | None:
        """Yaw, radians; None for any."""
        return radians(self.facing_deg)


class ContactGoal(Goal):
    """A foot that stands, or a hand that carries, for a while."""

    noun: ClassVar[str] = "contact"

    foot: Side | None = None
    """Which foot;"""
    hand: Side | None = None
    """or which hand."""
    parts: Annotated[tuple[FootPart, ...], MinLen(1), MaxLen(3)] = ("heel", "ball", "toe")
    """Which parts of the foot stand."""
    position: Position | None = None
    """Middle of the foot or palm, x, y and z, metres; y is the height of what it stands on. If left out, anywhere."""
    facing_deg: Degrees | None = None
    """Which way the foot points: 0 along +z, 90 along +x; if left out, any."""
    tolerance_m: ToleranceM | None = None
    """How far it may slip, metres."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.foot is None) == (self.hand is None):
            raise Wrong("foot", "is missing; give a foot or a hand, one of them")
        if self.start_s is None:
            raise Wrong("start_s", "is missing; a contact lasts from start_s to end_s")
        return self


class LabelGoal(AlongGoal):
    """Motion with a label."""

    noun: ClassVar[str] = "label"

    label: Name
    """What clips are labelled: "walk", "jump" …"""


class SpeedGoal(AlongGoal):
    """How fast the body goes and turns, and where the torso faces meanwhile."""

    noun: ClassVar[str] = "speed"

    speed_m_s: Annotated[MetresPerSecond, Ge(0), Le(20)] | None = None
    """How fast it goes along the floor."""
    turn_deg_s: Annotated[float, Unit("°/s"), Ge(-720), Le(720)] | None = None
    """How fast it turns to the left."""
    torso_deg: Degrees | None = None
    """Where the torso faces, from the direction of travel."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.speed_m_s is None and self.turn_deg_s is None and self.torso_deg is None:
            raise Wrong("speed_m_s", "is missing; give a speed_m_s, a turn_deg_s or a torso_deg")
        return self


class PauseGoal(AlongGoal):
    """A stop on the way."""

    noun: ClassVar[str] = "pause"

    pause_s: Annotated[Seconds, Gt(0), Le(3600)]
    """How long to stand."""


class SegmentGoal(Goal):
    """At some time one of some segments is played."""

    noun: ClassVar[str] = "segment"

    segments: Annotated[tuple[Annotated[int, Ge(0), Le(10**9)], ...], MinLen(1), MaxLen(100_000)]
    """Numbers of segments, as a segment list has them."""


class LandmarkGoal(Goal):
    """Where a landmark of a face is at a time, or along which track during an interval."""

    noun: ClassVar[str] = "landmark"

    landmark: Annotated[int, Ge(0), Le(100_000)]
    """Its number."""
    position_mm: Place = NOWHERE
    """x, y and z in millimetres; null for a coordinate that does not matter."""
    points_mm: Annotated[tuple[Place, ...], MaxLen(100_000), Option(hidden=True)] = ()
    """A trajectory instead of a position, spread evenly over the interval."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if bool(self.points_mm) == (self.position_mm != NOWHERE):
            raise Wrong("position_mm", "is missing; give a position_mm or points_mm, and not both")
        if self.points_mm and self.start_s is None:
            raise Wrong("points_mm", "needs an interval: give start_s and end_s instead of at_s")
        return self


class ShapeGoal(Goal):
    """A whole face at a time: weights of its shapes; or as a pose goal, a frame of a recording."""

    noun: ClassVar[str] = "shape"

    shapes: Annotated[Mapping[str, Annotated[float, Ge(0), Le(1)]], MaxLen(200)]
    """Weights of shapes, from 0 to 1: {JawOpen: 0.6}; the others are 0."""


_TELLS: dict[str, type[Goal]] = {
    "pose": PoseGoal, "function": CostGoal, "segments": SegmentGoal, "shapes": ShapeGoal, "landmark": LandmarkGoal,
    "foot": ContactGoal, "hand": ContactGoal, "pause_s": PauseGoal, "camera": ViewGoal, "seen": ViewGoal,
    "distance_m": DistanceGoal, "joints": DistanceGoal, "bend_deg": AngleGoal, "rotation": TurnGoal,
    "offset": OffsetGoal, "of": OffsetGoal, "velocity": JointGoal, "track": JointGoal, "joint": JointGoal,
    "place": PlaceGoal, "facing_deg": PlaceGoal, "heading_deg": PlaceGoal, "height_m": PlaceGoal, "ends": PlaceGoal,
    "points": PlaceGoal, "speed_m_s": SpeedGoal, "turn_deg_s": SpeedGoal, "torso_deg": SpeedGoal, "label": LabelGoal,
}  # fmt: skip
TELLS.update(_TELLS)


def _tell(value: Any) -> str | None:
    """The name of the model that a goal is of; None if no field tells it."""
    if isinstance(value, Goal):
        return type(value).__name__
    if not isinstance(value, Mapping):
        return None
    return next((model.__name__ for name, model in TELLS.items() if name in value), None)


AnyGoal = Annotated[
    Annotated[PlaceGoal, Tag("PlaceGoal")]
    | Annotated[PoseGoal, Tag("PoseGoal")]
    | Annotated[JointGoal, Tag("JointGoal")]
    | Annotated[TurnGoal, Tag("TurnGoal")]
    | Annotated[AngleGoal, Tag("AngleGoal")]
    | Annotated[DistanceGoal, Tag("DistanceGoal")]
    | Annotated[OffsetGoal, Tag("OffsetGoal")]
    | Annotated[ViewGoal, Tag("ViewGoal")]
    | Annotated[ContactGoal, Tag("ContactGoal")]
    | Annotated[LabelGoal, Tag("LabelGoal")]
    | Annotated[SpeedGoal, Tag("SpeedGoal")]
    | Annotated[PauseGoal, Tag("PauseGoal")]
    | Annotated[SegmentGoal, Tag("SegmentGoal")]
    | Annotated[CostGoal, Tag("CostGoal")]
    | Annotated[LandmarkGoal, Tag("LandmarkGoal")]
    | Annotated[ShapeGoal, Tag("ShapeGoal")],
    Discriminator(
        _tell,
        custom_error_type="untold",
        custom_error_message="must be a goal, with one of place, facing_deg, pose, joint, foot, hand, label, "
        "speed_m_s, pause_s, segments, function, shapes, landmark …",
    ),
]


class _AnyOf:
    """Has the JSON Schema of a list take what several kinds of goals could be: which it is, `_tell` says."""

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:
        schema = handler(core)
        items = dict(schema["items"])
        return {**schema, "items": {"anyOf": items.pop("oneOf"), **items}} if "oneOf" in items else dict(schema)


Goals = Annotated[tuple[AnyGoal, ...], MaxLen(100_000), Option(hidden=True), _AnyOf()]
"""The list `goals` of a request."""

__all__ = [
    "LONGEST_S", "TELLS", "AngleGoal", "AnyGoal", "Camera", "ContactGoal", "CostGoal", "DistanceGoal", "FrameNumber",
    "Goal", "Goals", "JointGoal", "LabelGoal", "LandmarkGoal", "LoadedFunction", "OffsetGoal", "PauseGoal", "PlaceGoal",
    "PoseGoal", "PoseSource", "SegmentGoal", "ShapeGoal", "SpeedGoal", "Time", "TurnGoal", "ViewGoal",
]  # fmt: skip
