"""What can be asked of following: a path, what is wanted along it, and how to search."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self

from annotated_types import Ge, Gt, Le, MaxLen
from pydantic import Field, model_validator

from choreograph.base.errors import RequestError
from choreograph.contract.clip_filter import ChosenRequest
from choreograph.contract.fields import Unit
from choreograph.contract.request import (
    Cost,
    Degrees,
    Metres,
    MetresPerSecond,
    Name,
    Option,
    Point,
    Request,
    Seconds,
    Seed,
    Wrong,
)
from choreograph.finishing.settings import FinishSettings
from choreograph.graph.model import MotionGraph
from choreograph.motion.bend import LATERAL_M_S2
from choreograph.scene.path import Path, Stretch
from choreograph.scene.path_request import PathRequest

IDLE_M_S = 0.6
"""Speed below which someone idles or shuffles sideways, m/s; who walks slowly still does 0.7."""


class StretchRequest(Request):
    """A part of the path with a speed, a label or a pause; at least one of them."""

    start_m: Annotated[Metres, Ge(0), Le(1e6)]
    """Where it begins, along the path before smoothing and rounding."""
    stop_m: Annotated[Metres, Ge(0), Le(1e6)] | None = None
    """Where it ends; None for a single place."""
    speed_m_s: Annotated[MetresPerSecond, Gt(0), Le(20)] | None = None
    """How fast to go."""
    label: Name | None = None
    """Label of the clips to use here: "run", "jump" …"""
    pause_s: Annotated[Seconds, Gt(0), Le(3600)] | None = None
    """How long to stand at its start."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.speed_m_s is None and self.label is None and self.pause_s is None:
            raise Wrong("", "asks for nothing; give it speed_m_s, label or pause_s")
        stop = self.start_m if self.stop_m is None else self.stop_m
        if stop < self.start_m:
            raise Wrong("stop_m", f"is {stop:g}, before its start_m, {self.start_m:g}")
        if stop == self.start_m and (self.speed_m_s is not None or self.label is not None):
            raise Wrong("stop_m", "is missing: a stretch with a speed or a label needs a length")
        return self


class FollowSettings(Request):
    """How the search goes about it. Costs are in m²·s: squared distance to the path, integrated over time."""

    panel: ClassVar[str] = "Search"

    method: Literal["bound", "beam", "thesis"] = "bound"
    """"bound" seeds branch and bound with a beam; "beam" is the beam alone; "thesis" is the plain budgeted
    depth-first branch and bound of Dirican (2014), for comparison."""
    horizon_s: Annotated[Seconds, Gt(0), Le(600)] | None = None
    """How far each planning step looks ahead (s); else 8 s where motion is bent, 20 s where not."""
    retain_s: Annotated[Seconds, Gt(0), Le(600)] = 1.0
    """How much is kept of each planning step's answer (r)."""
    beam_width: Annotated[int, Ge(1), Le(100_000), Option(("--beam",))] | None = None
    """Walks of one age that the beam keeps; else 48 where motion is bent, which forgives much (down to 8 in graphs
    with many transitions or above 30 Hz), and 260 where not."""
    continuation_s: Annotated[Seconds, Gt(0), Le(60)] = 1.4
    """How far the beam looks along the continuations of a walk, to compare walks."""
    heuristic_weight: Annotated[float, Ge(0), Le(100)] = 0.4
    """How much the best continuation counts, against what the walk has cost; 0 is a plain beam."""
    metre_cost: Cost = 0.005
    """What a metre of the path that is still ahead counts when walks are compared."""
    budget_frames: Annotated[int, Ge(0), Le(10**9), Option(("--budget",))] = 3_000
    """Frames that branch and bound may score in one planning step."""
    max_seconds: Annotated[float, Ge(0), Le(1e6)] | None = None
    """Time for the whole search; then the rest is searched by the beam alone, at a tenth of its width."""
    forced_progress_m_s: Annotated[MetresPerSecond, Ge(0), Le(20), Option(("--gamma",))] = 0.3
    """Least speed of the target point on the path (gamma); never above a speed of the request."""
    transition_cost: Cost = 0.01
    """Cost of a transition, also within a clip: what keeps the answer from blending without pause. Where motion is
    bent, four times that if poses are as far apart as the graph's threshold."""
    fault_cost: Cost = 0.05
    """Cost of a piece in which the recording has a fault, such as a leap of the whole body."""
    rough_cost: Cost | None = None
    """Cost of each frame of a joint that turns as abruptly as one in a thousand recorded ones: a walk that plays one
    clip again and again would show its worst moment each time; else 0.002 where motion is bent, 0.0005 where not."""
    speed_weight: Cost | None = None
    """Cost of a second at 1 m/s off the speed of the request; else 0.1 where motion is bent, 0.02 where not."""
    label_weight: Cost | None = None
    """Cost of a second without the label of the request; else 1 where motion is bent, 0.25 where not."""
    idle_weight: Cost = 0.5
    """Cost of a second of standing where the request has no pause, speed or label; less the faster one is, nothing from
    walking speed on. Without it, a character who finds a path hard to follow stands: the target point hardly moves."""
    end_weight_s: Annotated[Seconds, Ge(0), Le(1e3)] = 0.5
    """How long the distance from the path's end, where the walk stops, counts."""
    facing_weight: Cost = 0.05
    """Cost of an end that faces 90° away from the final facing."""
    reuse_penalty: Cost = 0.05
    """What a transition costs more for each earlier answer that took it, so that answers differ."""
    starts: Annotated[int, Ge(1), Le(100_000)] | None = None
    """Places to begin from that are tried; else 60 where motion is bent, 200 where not."""
    bend: bool = True
    """Whether recorded motion is bent to the path where it does not turn as the path does."""
    bend_cost: Cost = 0.006
    """Cost of a second at a lateral acceleration of 1 m/s² that bending adds: what makes the search prefer clips that
    turn by themselves."""
    max_lateral_m_s2: Annotated[float, Unit("m/s²"), Ge(0), Le(20)] | None = None
    """Lateral acceleration up to which motion is bent; else 1.5 m/s² at a walk, rising to 5 m/s² at a run."""
    max_stretch: Annotated[float, Ge(0), Le(0.5)] = 0.1
    """Share by which steps may be longer or shorter than recorded where the request has a speed."""
    style_change_cost: Cost = 0.02
    """Cost of a transition between clips whose labels have nothing in common; counts where motion is bent."""
    end_pose_cost: Cost = 0.01
    """Cost of an end with the body a tenth lower than usual, four times that at two tenths; counts where motion is
    bent."""

    @property
    def bends(self) -> bool:
        """Whether this search bends: the thesis's method does not."""
        return self.bend and self.method != "thesis" and self.lateral_limits[0] > 0

    @property
    def speed_cost(self) -> float:
        """Cost of a second at 1 m/s off the speed of the request."""
        return (0.1 if self.bends else 0.02) if self.speed_weight is None else self.speed_weight

    @property
    def label_cost(self) -> float:
        """Cost of a second without the label of the request."""
        return (1.0 if self.bends else 0.25) if self.label_weight is None else self.label_weight

    @property
    def abrupt_cost(self) -> float:
        """Cost of each frame of a joint that turns abruptly."""
        return (0.002 if self.bends else 0.0005) if self.rough_cost is None else self.rough_cost

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
        """Places to begin from that are tried."""
        return (60 if self.bends else 200) if self.starts is None else self.starts

    @property
    def lateral_limits(self) -> tuple[float, float]:
        """Lateral acceleration up to which motion is bent at a walk and at a run, m/s²."""
        if not self.bend or self.method == "thesis":
            return 0.0, 0.0
        return LATERAL_M_S2 if self.max_lateral_m_s2 is None else (self.max_lateral_m_s2, self.max_lateral_m_s2)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.retain_s > self.horizon:
            raise Wrong("retain_s", f"is {self.retain_s:g}; it cannot be longer than horizon_s, {self.horizon:g}")
        return self


class FollowRequest(ChosenRequest, PathRequest):
    """A path to be followed, and how.

    >>> FollowRequest("eight:radius=3", count=2).as_document()
    {'path': 'eight:radius=3', 'count': 2}
    """

    verb = "follow"

    walks_edges: ClassVar[bool] = True
    most_frames: ClassVar[int] = 30_000

    facing_deg: Degrees | None = None
    """Where to look at the end, from +z."""
    speed_m_s: Annotated[MetresPerSecond, Gt(0), Le(20)] | None = None
    """Speed along the whole path."""
    label: Name | None = None
    """Use clips with this label, such as walk or run, along the whole path."""
    style: Name | None = None
    """Keep to clips with this label, such as sad or sneaking, where the request has no other label."""
    stretches: Annotated[tuple[StretchRequest, ...], MaxLen(1000)] = ()
    """Speed, label or pause between two places of the path."""
    prefer: Annotated[Mapping[str, Cost], MaxLen(10_000), Option(("--prefer",), metavar="CLIP=COST")] = Field(
        default_factory=dict
    )
    """Stay in a clip unless a walk that leaves it is better by this margin."""
    start_clip: Name | None = None
    """Clip to begin in; else the search chooses, or it is the clip with the largest margin."""
    start_frame: Annotated[int, Ge(0), Le(10**9), Option(("--start-frame",))] | None = None
    """Frame of that clip, at its own rate, near which to begin."""
    start_heading_deg: Degrees | None = None
    """Direction of travel at the start, from +z; else the path's own."""
    before: Annotated[FollowRequest | None, Option(hidden=True)] = None
    """A walk that this one goes on from: its path is walked first."""
    before_answer: Annotated[int, Ge(1), Le(100), Option(hidden=True)] = 1
    """Which of the answers to that it goes on from."""
    count: Annotated[int, Ge(1), Le(100), Option(("--count", "-n"))] = 1
    """How many different answers."""
    seed: Seed = 0
    """Same seed, same answer."""
    search: FollowSettings = Field(default_factory=FollowSettings)
    """How the search goes about it."""
    finish: FinishSettings = Field(default_factory=FinishSettings)
    """How the walk becomes motion."""

    @property
    def frames_at_once(self) -> int:
        """Frames of an archive that are walked: all, but for the thesis's method, which needs tables of all edges."""
        return self.most_frames if self.search.method == "thesis" else 0

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.start_frame is not None and self.start_clip is None:
            raise Wrong("start_frame", "needs start_clip")
        return self

    @classmethod
    def of_path(cls, path: Path, **more: Any) -> FollowRequest:
        """A request for a path that is at hand."""
        stretches = tuple(
            StretchRequest(start_m=s.start, stop_m=s.stop, speed_m_s=s.speed, label=s.label, pause_s=s.pause)
            for s in path.stretches
        )
        facing = None if path.final_facing is None else math.degrees(path.final_facing)
        points = tuple((float(x), float(z)) for x, z in path.points)
        return cls(points=points, stretches=stretches, **{"facing_deg": facing, **more})

    @property
    def start_heading(self) -> float | None:
        """Direction of travel at the start, yaw in radians."""
        return None if self.start_heading_deg is None else math.radians(self.start_heading_deg)

    def floor_path(self, begin: Point | None = None) -> Path:
        """The path, with everything that is asked along it; from `begin` on, if that is where somebody stands already.

        Raises:
            RequestError: If there is none, or it cannot be read.
        """
        return self.asked_along(self.given_path(begin))

    def asked_along(self, path: Path) -> Path:
        """A path with all that is asked along it: stretches, speed, label, its shape, where its end faces."""
        for one in self.stretches:
            # A path that became shorter while it was edited takes its stretches with it.
            start, stop = (min(at, path.length) for at in (one.start_m, one.stop_m or one.start_m))
            if start < stop or one.pause_s is not None:
                stretch = Stretch(start, stop, one.speed_m_s, one.label, one.pause_s)
                path = _with(path, stretch)
        path = self.shaped(path)
        path = path.with_final_facing(math.radians(self.facing_deg)) if self.facing_deg is not None else path
        if self.speed_m_s is not None or self.label is not None:
            path = path.with_stretch(0.0, path.length, speed=self.speed_m_s, label=self.label)
        return path

    def check(self, graph: MotionGraph) -> None:
        """Raise a RequestError that says what does not fit the graph, and what would."""
        if self.search.horizon * graph.rate_hz < 2:
            raise RequestError(
                f"a horizon of {self.search.horizon:g} s is less than two frames at {graph.rate_hz:g} Hz",
                where="search.horizon_s",
            )
        for name in self.prefer:
            graph.find_clip(name)
        if self.start_clip is not None:
            graph.find_clip(self.start_clip)


def _with(path: Path, stretch: Stretch) -> Path:
    from dataclasses import replace

    return replace(path, stretches=(*path.stretches, stretch))
