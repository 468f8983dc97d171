"""What can be asked of physics: how a motion shall differ, from which examples, and what the body can bear."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self

from annotated_types import Ge, Gt, Le, MaxLen
from pydantic import Field, model_validator

from choreograph.contract.limits import beside
from choreograph.contract.names import MotionName
from choreograph.contract.request import (
    Coordinate,
    Degrees,
    FileName,
    FileText,
    Hertz,
    Metres,
    Option,
    Request,
    Seconds,
    Unit,
    Wrong,
)
from choreograph.editing.dynamics.request import BodyRequest
from choreograph.editing.physics.problem import Weights
from choreograph.editing.physics.setting import Limits


class PhysicsWeights(Request):
    """What counts how much; the paper's w_T, w_A and w_P come first."""

    panel = "Weights"

    torque: Annotated[float, Ge(0), Le(1e3)] = Weights.torque
    """Of squared torques, (body weights · m)²: more is more like effort, and slower to find."""
    acceleration: Annotated[float, Ge(0), Le(1.0)] = Weights.acceleration
    """Of squared accelerations of joints and root."""
    prior: Annotated[float, Ge(0), Le(1e3)] = Weights.prior
    """Of squared distances from the examples' mean pose, in standard deviations."""
    slack: Annotated[float, Gt(0), Le(1e4)] = Weights.slack
    """Of what legs add to the examples' space, rad²."""
    rate: Annotated[float, Ge(0), Le(1e3), Option(("--force-rate",))] = Weights.rate
    """Of squared changes of ground forces, (body weights / s)²."""

    def as_weights(self) -> Weights:
        """As the solver takes them."""
        return Weights(self.torque, self.acceleration, self.prior, self.slack, self.rate)


class PhysicsLimits(Request):
    """What body and floor can bear."""

    panel = "Limits"

    friction: Annotated[float, Gt(0), Le(5)] = Limits.friction
    """Force along the floor over the force onto it."""
    most_force: Annotated[float, Gt(0), Le(20), Unit("BW")] = Limits.most_force
    """Of one of the four points of a foot."""
    strength: Annotated[float, Gt(0), Le(100)] = Limits.strength
    """Times the torques of trained people."""

    def as_limits(self) -> Limits:
        """As the solver takes them."""
        return Limits(self.friction, self.most_force, self.strength)


class KeyPoseRequest(Request):
    """A pose that the motion goes through: joints as in a frame of some motion, the root free.

    >>> KeyPoseRequest(0.8, frame=40).as_document()
    {'at_s': 0.8, 'frame': 40}
    """

    at_s: Annotated[Seconds, Ge(0), Le(60)]
    """When, in the motion that is made."""
    clip: Annotated[str, MaxLen(4096), FileName()] = ""
    """The motion file that shows it; else the motion itself."""
    frame: Annotated[int, Ge(0), Le(10_000_000)] = 0
    """Which of its frames, at its own rate."""


class FootprintRequest(Request):
    """Where and when a foot stands, instead of as in the motion.

    >>> FootprintRequest("left", 0.4, 0.8, (0.1, 0.0, 1.2)).as_document()
    {'foot': 'left', 'start_s': 0.4, 'stop_s': 0.8, 'position': [0.1, 0, 1.2]}
    """

    foot: Literal["left", "right"]
    start_s: Annotated[Seconds, Ge(0), Le(60)]
    """When it comes down."""
    stop_s: Annotated[Seconds, Gt(0), Le(60)]
    """When it lifts off."""
    position: tuple[Coordinate, Coordinate, Coordinate]
    """Middle of the foot, x, y and z, metres; y is the height of the floor, step or stone there."""
    facing_deg: Degrees = 0.0
    """Which way it points: 0 along +z, 90 along +x."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.stop_s <= self.start_s:
            raise Wrong("stop_s", f"is {self.stop_s:g}, not after start_s, {self.start_s:g}")
        return self


class PhysicsRequest(Request):
    """A motion that obeys mechanics, after the sketch that another one makes.

    >>> PhysicsRequest(farther_m=0.4, turn_deg=180.0).as_document()
    {'farther_m': 0.4, 'turn_deg': 180}
    """

    effort = ("iterations",)

    finish: bool = False
    """Whether the motion is only finished: the smallest change after which it obeys mechanics, of any length, where it
    stays as natural as it is. Examples are then the recordings that it is made of; of all that else can be asked only
    the part, the floor and the body count."""
    farther_m: Annotated[Metres, Ge(-20), Le(20)] = 0.0
    """How much farther it goes than the motion, along its way."""
    higher_m: Annotated[Metres, Ge(-2), Le(3)] = 0.0
    """How much higher the centre of mass rises in its longest flight."""
    turn_deg: Degrees = 0.0
    """How much farther it turns to the left until its end."""
    longer: Annotated[float, Gt(0.1), Le(10)] = 1.0
    """Times as long as the motion."""
    start_s: Annotated[Seconds, Ge(0), Le(3600)] | None = None
    """Where the part of the motion begins that is taken; else at its beginning."""
    end_s: Annotated[Seconds, Gt(0), Le(3600)] | None = None
    """Where it ends."""
    examples: Annotated[
        tuple[FileText, ...], MaxLen(500), MotionName(), Option(("--examples", "-e"), metavar="MOTIONS")
    ] = ()
    """Motions of the behaviour, whose space is searched: files, folders, patterns, graphs (.mog); else the motion
    itself. Repeat for more."""
    choose: Annotated[int, Ge(0), Le(200)] = 0
    """How many of the examples to use: those whose contacts and direction are most like the motion's; 0 takes all."""
    dimensions: Annotated[int, Ge(1), Le(60)] | None = None
    """Of the space; else as few as hold 90 % of the examples' variance."""
    poses: Annotated[tuple[KeyPoseRequest, ...], MaxLen(50)] = ()
    """Poses in between, in time's order."""
    footprints: Annotated[tuple[FootprintRequest, ...], MaxLen(200)] = ()
    """Where feet stand, all of them, instead of as in the motion."""
    rate_hz: Annotated[Hertz, Ge(1), Le(1000)] | None = None
    """Frames per second to write; else the motion's own."""
    floor_m: Annotated[Metres, Ge(-1000), Le(1000)] | None = None
    """Height of the floor; else 0, or what the feet stand on."""
    iterations: Annotated[int, Ge(1), Le(2000)] = 90
    """Of the solver, at most, before it tries otherwise."""
    weights: PhysicsWeights = Field(default_factory=PhysicsWeights)
    """Of the objective's parts."""
    limits: PhysicsLimits = Field(default_factory=PhysicsLimits)
    """What body and floor can bear."""
    body: BodyRequest = Field(default_factory=BodyRequest)
    """Whose motion it is."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.end_s is not None and self.end_s <= (self.start_s or 0.0):
            raise Wrong("end_s", f"is {self.end_s:g}, not after start_s")
        if self.finish:
            for name in ("farther_m", "higher_m", "turn_deg", "longer", "poses", "footprints"):
                if getattr(self, name) != type(self).model_fields[name].default:
                    raise Wrong(name, "is asked of a motion that shall only be finished; drop one of the two")
        return self

    def resolved(self, folder: Path, *, allow_code: bool = False) -> Self:
        """The request with motions that it names taken from a folder, where they are there."""
        poses = tuple(pose.with_(clip=beside(folder, pose.clip)) for pose in self.poses)
        examples = tuple(beside(folder, name, folders=True) for name in self.examples)
        return self.with_(examples=examples, poses=poses)
