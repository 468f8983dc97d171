"""What can be asked of physics: how a motion shall differ, from which examples, and what the body can bear."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from annotated_types import Ge, Gt, Le, MaxLen, MinLen
from pydantic import Field, model_validator

from choreograph.contract.clip_filter import Only
from choreograph.contract.fields import Unit
from choreograph.contract.limits import beside
from choreograph.contract.names import MotionName
from choreograph.contract.request import (
    Coordinate,
    Degrees,
    FileName,
    FileText,
    Hertz,
    Metres,
    MetresPerSecond,
    Option,
    Request,
    Seconds,
    Wrong,
)
from choreograph.dynamics.request import BodyRequest
from choreograph.verbs.physics.build_program import Limits
from choreograph.verbs.physics.problem import Weights

_CHANGES = (
    "farther_m", "higher_m", "turn_deg", "longer", "speed_m_s", "timing", "poses", "footprints", "handprints",
)  # fmt: skip
"""What changes a motion, rather than finishes it."""


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
    most_alone: Annotated[float, Gt(0), Le(50), Unit("BW")] = Limits.most_alone
    """Of a foot that carries the body alone, as in runs."""
    most_together: Annotated[float, Gt(0), Le(100), Unit("BW")] | None = None
    """Of both feet together; else 4, or what the motion itself shows where that is more."""
    strength: Annotated[float, Gt(0), Le(100)] = Limits.strength
    """Times the torques of trained people."""
    force_rate: Annotated[float, Gt(0), Le(1e4), Unit("BW/s"), Option(("--most-force-rate",))] | None = None
    """Of the change of the force at one point, at most; else only the weight of rates holds it back."""

    def as_limits(self, bears: float = 0.0) -> Limits:
        """As the solver takes them, for a motion that itself bears so many body weights."""
        together = max(Limits.most_together, bears) if self.most_together is None else self.most_together
        return Limits(self.friction, self.most_force, self.most_alone, together, self.strength, self.force_rate)


class KeyPoseRequest(Request):
    """A pose or place that the motion goes through, on the floor or in the air.

    >>> KeyPoseRequest(0.8, frame=40).as_document()
    {'at_s': 0.8, 'frame': 40}
    >>> KeyPoseRequest(0.8, joints=False, height_m=1.4).as_document()
    {'at_s': 0.8, 'joints': False, 'height_m': 1.4}
    """

    at_s: Annotated[Seconds, Ge(0), Le(60)]
    """When, in the motion that is made."""
    clip: Annotated[str, MaxLen(4096), FileName()] = ""
    """The motion file that shows it; else the motion itself."""
    frame: Annotated[int, Ge(0), Le(10_000_000)] = 0
    """Which of its frames, at its own rate."""
    joints: bool = True
    """Whether joints are as in that frame; else only the place counts."""
    position: tuple[Coordinate, Coordinate, Coordinate] | None = None
    """Where the root is then, x, y and z, metres; else anywhere."""
    height_m: Annotated[Metres, Ge(-1000), Le(1000)] | None = None
    """How high the root is then, wherever it is; else any height."""
    facing_deg: Degrees | None = None
    """Which way the root faces then: 0 along +z, 90 along +x; else any."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.position is not None and self.height_m is not None:
            raise Wrong("height_m", "is in position too; give one of the two")
        if not self.joints and self.position is None and self.height_m is None and self.facing_deg is None:
            raise Wrong("joints", "is false and no place is given, so the pose asks for nothing")
        return self


Span = tuple[Annotated[Seconds, Ge(0), Le(60)], Annotated[Seconds, Ge(0), Le(60)]]


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
    parts: Annotated[tuple[Literal["heel", "ball", "toe"], ...], MinLen(1), MaxLen(3)] = ("heel", "ball", "toe")
    """Which of its parts stand."""
    heel_s: Span | None = None
    """From when to when the heel stands; else from the beginning until it lifts as in a step."""
    ball_s: Span | None = None
    """The same of the ball."""
    toe_s: Span | None = None
    """The same of the toes."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.stop_s <= self.start_s:
            raise Wrong("stop_s", f"is {self.stop_s:g}, not after start_s, {self.start_s:g}")
        for part in ("heel", "ball", "toe"):
            span = self.span(part)
            if span is None:
                continue
            if part not in self.parts:
                raise Wrong(f"{part}_s", f"is given, but {part} is not among the parts that stand")
            if not self.start_s <= span[0] < span[1] <= self.stop_s:
                raise Wrong(f"{part}_s", f"is {span[0]:g} to {span[1]:g}, not within start_s and stop_s")
        return self

    def span(self, part: str) -> tuple[float, float] | None:
        """From when to when a part stands, where that is given."""
        spans: dict[str, tuple[float, float] | None] = {"heel": self.heel_s, "ball": self.ball_s, "toe": self.toe_s}
        return spans[part]


class HandprintRequest(Request):
    """Where and when a hand carries: the floor, a vault, a wall's edge.

    >>> HandprintRequest("left", 0.4, 0.8, (0.2, 0.9, 1.2)).as_document()
    {'hand': 'left', 'start_s': 0.4, 'stop_s': 0.8, 'position': [0.2, 0.9, 1.2]}
    """

    hand: Literal["left", "right"]
    start_s: Annotated[Seconds, Ge(0), Le(60)]
    """When it touches."""
    stop_s: Annotated[Seconds, Gt(0), Le(60)]
    """When it lets go."""
    position: tuple[Coordinate, Coordinate, Coordinate]
    """Middle of the palm, x, y and z, metres; what it stands on is level there."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.stop_s <= self.start_s:
            raise Wrong("stop_s", f"is {self.stop_s:g}, not after start_s, {self.start_s:g}")
        return self


def names_graph(name: str) -> bool:
    """Whether an example's name is a motion graph's."""
    return Path(name).suffix.lower() == ".mog"


class PhysicsRequest(Request):
    """A motion that obeys mechanics, after the sketch that another one makes.

    >>> PhysicsRequest(farther_m=0.4, turn_deg=180.0).as_document()
    {'farther_m': 0.4, 'turn_deg': 180}
    """

    verb = "physics"

    effort = ("iterations",)
    named_only: ClassVar[tuple[str, ...]] = ("only",)

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
    speed_m_s: Annotated[MetresPerSecond, Gt(0), Le(15)] | None = None
    """Mean speed along its way, instead of the motion's: the same steps and flights, stances shorter or longer."""
    timing: Literal["given", "stances", "all"] = "given"
    """Which durations are found too, those that take the least effort: none; those of stances, while flights last as
    long as their height says; or all, so that flights get lower where they may."""
    time_range: tuple[Annotated[float, Gt(0.1), Le(1)], Annotated[float, Ge(1), Le(10)]] = (0.6, 1.6)
    """How short and how long each may get where they are found, times as long as given."""
    start_s: Annotated[Seconds, Ge(0), Le(3600)] | None = None
    """Where the part of the motion begins that is taken; else at its beginning."""
    end_s: Annotated[Seconds, Gt(0), Le(3600)] | None = None
    """Where it ends."""
    examples: Annotated[
        tuple[FileText, ...], MaxLen(500), MotionName(), Option(("--examples", "-e"), metavar="MOTIONS")
    ] = ()
    """Motions of the behaviour, whose space is searched: files, folders, patterns, graphs (.mog); else the motion
    itself. Repeat for more."""
    only: Only | None = None
    """Of graphs among the examples, use only the recordings that a query finds: "jump not turn", person:16."""
    choose: Annotated[int, Ge(0), Le(200)] = 12
    """How many of the examples to use at most: those whose contacts and direction are most like the motion's; 0 takes
    all."""
    dimensions: Annotated[int, Ge(1), Le(60)] | None = None
    """Of the space; else as few as hold 90 % of the examples' variance."""
    mean: Literal["moving", "free", "fixed"] = "moving"
    """What the space is around: "moving", what the examples do at the same moment; "free", their mean pose, moved so
    that it goes through key poses; "fixed", their mean pose, and key poses are brought onto its space."""
    poses: Annotated[tuple[KeyPoseRequest, ...], MaxLen(50)] = ()
    """Poses in between, in time's order."""
    footprints: Annotated[tuple[FootprintRequest, ...], MaxLen(200)] = ()
    """Where feet stand, all of them, instead of as in the motion."""
    hands: bool = False
    """Whether hands carry too where they rest on the floor in the motion."""
    handprints: Annotated[tuple[HandprintRequest, ...], MaxLen(200)] = ()
    """Where hands carry, all of them, instead of as in the motion."""
    rate_hz: Annotated[Hertz, Ge(1), Le(1000)] | None = None
    """Frames per second to write; else the motion's own."""
    floor_m: Annotated[Metres, Ge(-1000), Le(1000)] | None = None
    """Height of the floor; else 0, or what the feet stand on."""
    iterations: Annotated[int, Ge(1), Le(2000)] = 90
    """Of the solver, at most, before it tries otherwise."""
    ipopt: bool = False
    """Whether IPOPT tries too where all else fails, for up to a minute; needs the extra `ipopt`."""
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
        if self.speed_m_s is not None and self.longer != 1.0:
            raise Wrong("speed_m_s", "and longer both say how long the motion lasts; drop one of the two")
        if self.only is not None and not any(names_graph(name) for name in self.examples):
            raise Wrong("only", "chooses among the clips of a graph, and no example is one (.mog)")
        if self.finish:
            for name in _CHANGES:
                if getattr(self, name) != type(self).model_fields[name].default:
                    raise Wrong(name, "is asked of a motion that shall only be finished; drop one of the two")
        return self

    def resolved(self, folder: Path, *, allow_code: bool = False) -> Self:
        """The request with motions that it names taken from a folder, where they are there."""
        poses = tuple(pose.with_(clip=beside(folder, pose.clip)) for pose in self.poses)
        examples = tuple(beside(folder, name, folders=True) for name in self.examples)
        return self.with_(examples=examples, poses=poses)
