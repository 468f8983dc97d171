"""What can be asked of following: a path, what is wanted along it, and how to search."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal, Self, cast

from annotated_types import Ge, Gt, Le, MaxLen
from pydantic import ConfigDict, Field, model_validator

from choreograph.base.errors import RequestError
from choreograph.contract.clip_filter import ChosenRequest
from choreograph.contract.fields import Unit
from choreograph.contract.migrate import migrate
from choreograph.contract.request import (
    Advanced,
    Cost,
    Degrees,
    MetresPerSecond,
    Name,
    Option,
    Point,
    Quality,
    Request,
    Seconds,
    Seed,
    Wrong,
)
from choreograph.finishing.settings import FinishSettings
from choreograph.goals.base import AlongGoal
from choreograph.goals.check import check_goals
from choreograph.goals.model import Goals, LabelGoal, PauseGoal, SpeedGoal
from choreograph.graph.model import MotionGraph
from choreograph.motion.facts import LATERAL_M_S2
from choreograph.scene.path import Path, Stretch
from choreograph.scene.path_request import PathRequest

IDLE_M_S = 0.6
"""Speed below which someone idles or shuffles sideways, m/s; who walks slowly still does 0.7."""


class FollowWeights(Advanced):
    """What walks are judged by besides their distance from the path. Costs are in m²·s: squared distance to the path,
    integrated over time."""

    panel: ClassVar[str] = "Weights"

    heuristic: Annotated[float, Ge(0), Le(100)] = 0.4
    """How much the best continuation of a walk counts, against what the walk has cost; 0 is a plain beam."""
    metre: Cost = 0.005
    """What a metre of the path that is still ahead counts when walks are compared."""
    transition: Cost = 0.01
    """Cost of a transition, also within a clip: what keeps the answer from blending without pause. Where motion is
    bent, four times that if poses are as far apart as the graph's threshold."""
    fault: Cost = 0.05
    """Cost of a piece in which the recording has a fault, such as a leap of the whole body."""
    rough: Cost | None = None
    """Cost of each frame of a joint that turns as abruptly as one in a thousand recorded ones: a walk that plays one
    clip again and again would show its worst moment each time. Default: 0.002 where motion is bent, 0.0005 where
    not."""
    speed: Cost | None = None
    """Cost of a second at 1 m/s off the speed of the request. Default: 0.1 where motion is bent, 0.02 where not."""
    label: Cost | None = None
    """Cost of a second without the label of the request. Default: 1 where motion is bent, 0.25 where not."""
    idle: Cost = 0.5
    """Cost of a second of standing where the request has no pause, speed or label; less the faster the character is,
    nothing from walking speed on. Without it, a character who finds a path hard to follow stands: the target point
    hardly moves."""
    end_s: Annotated[Seconds, Ge(0), Le(1e3)] = 0.5
    """How long the distance from the path's end, where the walk stops, counts."""
    facing: Cost = 0.05
    """Cost of an end that faces 90° away from the final facing."""
    bend: Cost = 0.006
    """Cost of a second at a lateral acceleration of 1 m/s² that bending adds: what makes the search prefer clips that
    turn by themselves."""
    style_change: Cost = 0.02
    """Cost of a transition between clips whose labels have nothing in common; counts where motion is bent."""
    end_pose: Cost = 0.01
    """Cost of an end with the body a tenth lower than usual, four times that at two tenths; counts where motion is
    bent."""
    reuse: Cost = 0.05
    """What a transition costs more for each earlier answer that took it, so that answers differ."""


class FollowAdvanced(Advanced):
    """How the search goes about it."""

    method: Literal["bound", "beam", "thesis"] = "bound"
    """"bound" seeds branch and bound with a beam; "beam" is the beam alone; "thesis" is the plain budgeted
    depth-first branch and bound of Dirican (2014), for comparison."""
    horizon_s: Annotated[Seconds, Gt(0), Le(600)] | None = None
    """How far each planning step looks ahead (s). Default: 8 s where motion is bent, 20 s where not."""
    retain_s: Annotated[Seconds, Gt(0), Le(600)] = 1.0
    """How much of each planning step's answer is kept (r)."""
    beam_width: Annotated[int, Ge(1), Le(100_000)] | None = None
    """Walks of one age that the beam keeps. Default: 48 where motion is bent, which forgives much (down to 8 in graphs
    with many transitions or above 30 Hz), and 260 where not."""
    continuation_s: Annotated[Seconds, Gt(0), Le(60)] = 1.4
    """How far the beam looks along the continuations of a walk, to compare walks."""
    forced_progress_m_s: Annotated[MetresPerSecond, Ge(0), Le(20)] = 0.3
    """Least speed of the target point on the path (gamma); never above a speed of the request."""
    starts: Annotated[int, Ge(1), Le(100_000)] | None = None
    """Frames to begin from that are tried. Default: 60 where motion is bent, 200 where not."""
    max_lateral_m_s2: Annotated[float, Unit("m/s²"), Ge(0), Le(20)] | None = None
    """Lateral acceleration up to which motion is bent. Default: 1.5 m/s² at a walk, rising to 5 m/s² at a run."""
    max_stretch: Annotated[float, Ge(0), Le(0.5)] = 0.1
    """Share by which steps may be longer or shorter than recorded where the request has a speed."""
    weights: FollowWeights = Field(default_factory=FollowWeights)
    """What walks are judged by."""

    @property
    def bends(self) -> bool:
        """Whether this search bends: the thesis's method does not."""
        return self.lateral_limits[0] > 0

    @property
    def speed_cost(self) -> float:
        """Cost of a second at 1 m/s off the speed of the request."""
        return (0.1 if self.bends else 0.02) if self.weights.speed is None else self.weights.speed

    @property
    def label_cost(self) -> float:
        """Cost of a second without the label of the request."""
        return (1.0 if self.bends else 0.25) if self.weights.label is None else self.weights.label

    @property
    def abrupt_cost(self) -> float:
        """Cost of each frame of a joint that turns abruptly."""
        return (0.002 if self.bends else 0.0005) if self.weights.rough is None else self.weights.rough

    @property
    def horizon(self) -> float:
        """How far each planning step looks ahead, seconds."""
        return (8.0 if self.bends else 20.0) if self.horizon_s is None else self.horizon_s

    @property
    def width(self) -> int:
        """Walks of one age that the beam keeps."""
        return (48 if self.bends else 260) if self.beam_width is None else self.beam_width

    @property
    def start_count(self) -> int:
        """Frames to begin from that are tried."""
        return (60 if self.bends else 200) if self.starts is None else self.starts

    @property
    def lateral_limits(self) -> tuple[float, float]:
        """Lateral acceleration up to which motion is bent at a walk and at a run, m/s²."""
        if self.method == "thesis":
            return 0.0, 0.0
        return LATERAL_M_S2 if self.max_lateral_m_s2 is None else (self.max_lateral_m_s2, self.max_lateral_m_s2)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.retain_s > self.horizon:
            raise Wrong("retain_s", f"is {self.retain_s:g}; it cannot be longer than horizon_s, {self.horizon:g}")
        return self


class FollowStart(Request):
    """Where and how the character begins."""

    panel: ClassVar[str] = "Start"

    place: Annotated[Point | None, Option(hidden=True)] = None
    """x and z of the hips, metres, from where the character goes to the path's first point; else the path's start."""
    facing_deg: Annotated[Degrees, Option(("--start-facing",))] | None = None
    """Direction of travel at the start, from +z; else the path's own."""
    clip: Annotated[Name, Option(("--start-clip",))] | None = None
    """Clip to begin in; else the search chooses, or it is the clip with the largest margin."""
    frame: Annotated[int, Ge(0), Le(10**9), Option(("--start-frame",), unlisted=True)] | None = None
    """Frame of that clip, at its own rate, near which to begin."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.frame is not None and self.clip is None:
            raise Wrong("frame", "needs clip")
        return self


class EarlierWalk(Request):
    """A walk that another goes on from."""

    request: FollowRequest
    """What was asked for."""
    answer: Annotated[int, Ge(1), Le(100)] = 1
    """Which of the answers."""


class FollowRequest(ChosenRequest, PathRequest):
    """A path to be followed, and how.

    >>> FollowRequest("eight:radius=3", count=2).as_document()
    {'path': 'eight:radius=3', 'count': 2}
    """

    verb: ClassVar[str] = "follow"
    walks_edges: ClassVar[bool] = True
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "draft": {"advanced.beam_width": 16, "advanced.starts": 30, "work_limit": 0},
        "best": {"advanced.beam_width": 400, "advanced.starts": 300, "work_limit": 30_000},
    }
    most_frames: ClassVar[int] = 30_000

    facing_deg: Degrees | None = None
    """Where to look at the end, from +z."""
    speed_m_s: Annotated[MetresPerSecond, Gt(0), Le(20)] | None = None
    """Speed along the whole path."""
    label: Name | None = None
    """Use clips with this label, such as walk or run, along the whole path."""
    style: Name | None = None
    """Keep to clips with this label, such as sad or sneaking, where the request has no other label."""
    goals: Goals = ()
    """Labels, speeds and pauses, each at a place of the path or on a stretch of it; or on the whole path."""
    prefer: Annotated[Mapping[str, Cost], MaxLen(10_000), Option(("--prefer",), metavar="CLIP=COST")] = Field(
        default_factory=dict
    )
    """Stay in a clip unless a walk that leaves it is better by this margin."""
    start: FollowStart = Field(default_factory=FollowStart)
    """Where and how the character begins."""
    bend: bool = True
    """Whether recorded motion is bent to the path where it does not turn as the path does."""
    after: Annotated[EarlierWalk | None, Option(hidden=True)] = None
    """A walk that this one goes on from: its path is walked first."""
    count: Annotated[int, Ge(1), Le(100), Option(("--count", "-n"))] = 1
    """How many different answers."""
    seed: Seed = 0
    """Same seed, same answer."""
    quality: Quality = "normal"
    time_limit_s: Annotated[Seconds, Ge(0), Le(1e6)] | None = None
    """Time for the whole search; then the rest is searched by the beam alone, at a tenth of its width."""
    work_limit: Annotated[int, Ge(0), Le(10**9), Option(advanced=True)] = 3_000
    """Frames that branch and bound may score in one planning step."""
    advanced: FollowAdvanced = Field(default_factory=FollowAdvanced)
    """How the search goes about it."""
    finish: FinishSettings = Field(default_factory=FinishSettings)
    """How the walk becomes motion."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        check_goals(self.goals, self.verb)
        for number, goal in enumerate(self.along):
            _check_goal(goal, f"goals[{number}]")
        return self

    @property
    def along(self) -> tuple[AlongGoal, ...]:
        """The goals, all of which are along the path."""
        return cast("tuple[AlongGoal, ...]", self.goals)

    @cached_property
    def settings(self) -> FollowAdvanced:
        """How the search goes about it, with what the quality sets."""
        settings = self.with_quality().advanced
        return settings if self.bend else settings.with_(max_lateral_m_s2=0.0)

    @property
    def before(self) -> FollowRequest | None:
        """The request of the walk that this one goes on from."""
        return None if self.after is None else self.after.request

    @property
    def frames_at_once(self) -> int:
        """Frames of an archive that are walked: all, but for the thesis's method, which needs tables of all edges."""
        return self.most_frames if self.advanced.method == "thesis" else 0

    @classmethod
    def of_today(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Take `search` of version 0.1 apart."""
        search = values.get("search")
        if not isinstance(search, FollowSettings):
            return values
        return migrate("follow", {**values, "search": search.model_dump(exclude_unset=True)})[0]

    @classmethod
    def of_path(cls, path: Path, **more: Any) -> FollowRequest:
        """A request for a path that is at hand."""
        goals = tuple(goal for stretch in path.stretches for goal in _goals_on(stretch))
        facing = None if path.final_facing is None else math.degrees(path.final_facing)
        points = tuple((float(x), float(z)) for x, z in path.points)
        return cls(points=points, goals=goals, **{"facing_deg": facing, **more})

    @property
    def start_heading(self) -> float | None:
        """Direction of travel at the start, yaw in radians."""
        return None if self.start.facing_deg is None else math.radians(self.start.facing_deg)

    def floor_path(self, begin: Point | None = None) -> Path:
        """The path, with everything that is asked along it; from `begin` on, if that is where somebody stands already.

        Raises:
            RequestError: If there is none, or it cannot be read.
        """
        return self.asked_along(self.given_path(begin or self.start.place))

    def asked_along(self, path: Path) -> Path:
        """A path with all that is asked along it: goals, speed, label, its shape, where its end faces."""
        path = self.shaped(_with(path, (goal for goal in self.along if goal.along)))
        path = _with(path, (goal for goal in self.along if not goal.along))
        path = path.with_final_facing(math.radians(self.facing_deg)) if self.facing_deg is not None else path
        if self.speed_m_s is not None or self.label is not None:
            path = path.with_stretch(0.0, path.length, speed=self.speed_m_s, label=self.label)
        return path

    def check(self, graph: MotionGraph) -> None:
        """Raise a RequestError that says what does not fit the graph, and what would."""
        if self.settings.horizon * graph.rate_hz < 2:
            raise RequestError(
                f"a horizon of {self.settings.horizon:g} s is less than two frames at {graph.rate_hz:g} Hz",
                where="advanced.horizon_s",
            )
        for name in self.prefer:
            graph.find_clip(name)
        if self.start.clip is not None:
            graph.find_clip(self.start.clip)


class FollowSettings(FollowAdvanced):
    """What `search` of a FollowRequest took in version 0.1, by the names of that version."""

    model_config = ConfigDict(extra="allow")

    def __init__(self, **values: Any) -> None:
        warnings.warn(
            "FollowSettings goes with version 0.3: give FollowRequest advanced=FollowAdvanced(…), bend, time_limit_s "
            "and work_limit",
            DeprecationWarning,
            stacklevel=3,
        )
        super().__init__(**values)


def _check_goal(goal: AlongGoal, where: str) -> None:
    """Raise what is wrong with a goal along a path."""
    for name in ("at_s", "start_s"):
        if getattr(goal, name) is not None:
            raise Wrong(f"{where}.{name}", "is a time; along a path, give at_m, or start_m and end_m")
    for name in ("turn_deg_s", "torso_deg", "exact"):
        if getattr(goal, name, None) is not None:
            raise Wrong(f"{where}.{name}", "is nothing that follow searches for")
    if goal.weight != 1:
        raise Wrong(f"{where}.weight", "is nothing that follow weighs by itself; see advanced.weights")
    if isinstance(goal, PauseGoal) and not goal.along:
        raise Wrong(f"{where}.at_m", "is missing; say where to stand")
    if not isinstance(goal, PauseGoal) and goal.at_m is not None:
        raise Wrong(f"{where}.at_m", f"is one place; a {goal.noun} needs a stretch, from start_m to end_m")
    if isinstance(goal, SpeedGoal) and not goal.speed_m_s:
        raise Wrong(f"{where}.speed_m_s", "must be above 0; to stand, give a pause_s")


def wanted_of(goal: AlongGoal) -> tuple[float | None, str | None, float | None]:
    """Speed, label and pause that a goal asks for: one of them."""
    return getattr(goal, "speed_m_s", None), getattr(goal, "label", None), getattr(goal, "pause_s", None)


def _with(path: Path, goals: Iterable[AlongGoal]) -> Path:
    """A path with goals along it, those without a place along all of it."""
    stretches = []
    for goal in goals:
        # A path that became shorter while it was edited takes its goals with it.
        start, stop = (min(at, path.length) for at in goal.stretch) if goal.along else (0.0, path.length)
        if start < stop or isinstance(goal, PauseGoal):
            stretches.append(Stretch(start, stop, *wanted_of(goal)))
    return replace(path, stretches=(*path.stretches, *stretches))


def _goals_on(stretch: Stretch) -> Iterator[AlongGoal]:
    """What a stretch asks for, as goals."""
    point = stretch.start == stretch.stop
    there = {"at_m": stretch.start} if point else {"start_m": stretch.start, "end_m": stretch.stop}
    if stretch.label is not None:
        yield LabelGoal(label=stretch.label, **there)
    if stretch.speed is not None:
        yield SpeedGoal(speed_m_s=stretch.speed, **there)
    if stretch.pause is not None:
        yield PauseGoal(pause_s=stretch.pause, **there)
