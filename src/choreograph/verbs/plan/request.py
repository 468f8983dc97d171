"""PlanRequest: from where to where, through what scene, at what cost, and how long to search."""

from __future__ import annotations

import math
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from annotated_types import Ge, Gt, Le, MaxLen
from pydantic import Field, model_validator

from choreograph.base.arrays import Floats
from choreograph.base.errors import RequestError
from choreograph.contract.clip_filter import ChosenRequest
from choreograph.contract.fields import Unit
from choreograph.contract.request import Advanced, Metres, OneWord, Option, Point, Quality, Seconds, Wrong
from choreograph.finishing.settings import FinishSettings
from choreograph.goals.model import AnyGoal, PlaceGoal, PoseGoal, PoseSource
from choreograph.scene.drawing import read_drawing
from choreograph.scene.model import Scene, Start
from choreograph.scene.path_request import PathSource

FARTHEST_M = 1000.0
"""How far from the origin things of a scene may be."""
NEAR_M, NEAR_DEG = 0.3, 15.0
"""Tolerances of goals that give none."""


class PlanAdvanced(Advanced):
    """How the search goes about it."""

    lattice_m: Annotated[Metres, Ge(0.02), Le(1)] = 0.2
    """Size of the cells of which the search keeps the cheapest way into each; what is proved, is within it."""
    lattice_deg: Annotated[float, Unit("°"), Ge(3), Le(60)] = 15.0
    """Size of the cells of headings."""
    first_weight: Annotated[float, Ge(1), Le(100)] = 3.0
    """Heuristic weight of the first answer, which is that near to the best; it then goes down to 1."""
    compression: Literal["auto", "on", "off"] = "auto"
    """Whether steps that do what others do are left out: auto looks among all of them where there is no answer without,
    or time is left."""
    refine: bool = True
    """Whether it goes on, once its answer is proved to be the best and time is left: in cells half as large, and then
    among the steps that compression left out."""
    margin_m: Annotated[Metres, Ge(0), Le(0.5)] = 0.03
    """How much farther than it must the search keeps from things, so that finishing does not touch them."""
    repairs: Annotated[int, Ge(0), Le(20)] = 4
    """How often the search begins again, farther from what a finished motion touched."""
    memory_mb: Annotated[int, Unit("MB"), Ge(64), Le(16_384)] = 400
    """Memory that the search may use; when it is used up, the best answer so far is the answer."""


class Corridor(PathSource):
    """A path to keep near, from its first point to its last."""

    tolerance_m: Annotated[Metres, Gt(0), Le(100)] = 0.5
    """Largest distance of the hips from it."""

    @cached_property
    def line(self) -> Floats:
        """Its points, (N, 2), metres."""
        return self.shaped(self.given_path()).points


class End(NamedTuple):
    """Where the motion ends, and how: the last goal with the tolerances of planning."""

    where: str
    place: Point
    radius: float
    facing: float | None
    """Radians; None for any."""
    tolerance: float
    """Radians."""
    standing: bool
    label: str | None
    pose: PoseSource | None


class Waypoint(NamedTuple):
    """A place to pass: near a point, or across a line."""

    where: str
    middle: Point
    reach: float
    """Largest distance from its middle."""
    ends: tuple[Point, Point] | None


class PlanRequest(ChosenRequest):
    """From here to there through a scene.

    >>> pillar = {"centre": (0.0, 2.0), "radius_m": 0.3}
    >>> PlanRequest(goals=[{"place": (0.0, 4.0)}], scene={"obstacles": [pillar]}).end.radius
    0.3
    """

    verb: ClassVar[str] = "plan"
    drawable: ClassVar[bool] = True
    most_frames: ClassVar[int] = 12_000
    effort: ClassVar[tuple[str, ...]] = ("time_limit_s", "work_limit", "bound_ratio")
    presets: ClassVar = {
        "draft": {"time_limit_s": 2.0, "advanced.refine": False, "advanced.compression": "on"},
        "best": {"time_limit_s": 60.0},
    }
    of_last: ClassVar = {
        "goals": (
            PlaceGoal,
            {
                "facing_deg": "--goal-facing",
                "tolerance_m": "--goal-tolerance",
                "tolerance_deg": "--goal-tolerance-deg",
                "standing": "--goal-standing",
                "label": "--goal-label",
            },
        )
    }

    start: Start = Field(default_factory=Start)
    """Where the motion begins."""
    goals: Annotated[tuple[AnyGoal, ...], MaxLen(61), Option(hidden=True)] = ()
    """Places to pass in order, each a `place` or the `ends` of a line; the last is where the motion ends, and can have
    a facing, a label, a pose, or be `standing`."""
    scene: Scene = Field(default_factory=Scene)
    """What is in the way, and the ground."""
    path: Annotated[Corridor, OneWord()] | None = None
    """A path to keep near, such as route.svg:tolerance=0.8."""
    objective: Literal["effort", "time", "length", "torque"] = "effort"
    """What to make least: squared accelerations of the joints, time, way, or squared torques of the joints."""
    interpolation: Annotated[bool, Option(("--no-interpolation",), inverted=True)] = True
    """Whether steps may be blends of recorded ones; without, it is a plain motion graph."""
    count: Annotated[int, Ge(1), Le(20), Option(("--count", "-n"))] = 1
    """How many different answers."""
    apart_m: Annotated[Metres, Ge(0), Le(100)] = 0.5
    """How far from each other the ways of two answers must be somewhere."""
    quality: Quality = "normal"
    time_limit_s: Annotated[Seconds, Gt(0), Le(3600)] = 10.0
    """How long to search; it ends sooner where nothing better is possible."""
    work_limit: Annotated[int, Ge(1), Le(10**9)] | None = None
    """States to expand at most, instead of a time: the same number gives the same answer anywhere."""
    bound_ratio: Annotated[float, Ge(1), Le(100)] = 1.0
    """The search ends when its answer is proved to cost no more than this many times the best."""
    finish: FinishSettings = Field(default_factory=FinishSettings)
    """How the plan becomes motion."""
    advanced: PlanAdvanced = Field(default_factory=PlanAdvanced)
    """How the search goes about it."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not self.goals and not self.scene.drawing:
            raise Wrong("goals", "are missing: give the place where the motion ends")
        self.scene.refuse("plan", "floor_m")
        if isinstance(self.scene.obstacles, str):
            raise Wrong("scene.obstacles", "are a file of what the hips keep clear of; give plan a list")
        for n, one in enumerate(self.scene.obstacles):
            if one.of == "hips" or one.moves:
                name = "of" if one.of == "hips" else "moves"
                raise Wrong(
                    f"scene.obstacles[{n}].{name}", "is not for plan: the whole body keeps clear of what stands"
                )
        for n, goal in enumerate(self.goals):
            self._check_goal(n, goal)
        for where, (x, z) in self._places():
            if abs(x) > FARTHEST_M or abs(z) > FARTHEST_M:
                raise Wrong(where, f"is ({x:g}, {z:g}); a scene is within {FARTHEST_M:g} m of its origin")
        if self.path is not None and (len(self.scene.stones) + 1) * max(1, len(self.goals)) > 1000:
            raise Wrong("goals", "and stones are too many beside each other; give fewer of them")
        return self

    def _check_goal(self, n: int, goal: AnyGoal) -> None:
        where, last = f"goals[{n}]", n == len(self.goals) - 1
        if not isinstance(goal, PlaceGoal | PoseGoal) or (isinstance(goal, PoseGoal) and not last):
            raise Wrong(where, f"is a {goal.noun} goal; plan passes places, and ends at a place or in a pose")
        others: tuple[str, ...] = ("at_s", "start_s", "height_m", "heading_deg", "points", "as_recorded", "duration_s")
        others += () if last else ("facing_deg", "standing", "label")
        for name in set(others) & set(type(goal).model_fields):
            if getattr(goal, name) != type(goal).model_fields[name].default:
                raise Wrong(f"{where}.{name}", "is not looked at there; leave it out")
        if goal.place is None and (last or getattr(goal, "ends", None) is None):
            raise Wrong(f"{where}.place", "is missing: give x and z")
        if isinstance(goal, PlaceGoal) and goal.standing and goal.label is not None:
            raise Wrong(f"{where}.label", "is given beside standing; give one of them")
        if isinstance(goal, PoseGoal) and goal.pose.clip is None:
            raise Wrong(f"{where}.pose.clip", "is missing: plan ends in poses of the graph's clips")

    def _places(self) -> list[tuple[str, Point]]:
        every = [("start.place", self.start.place)]
        for n, goal in enumerate(self.goals):
            assert isinstance(goal, PlaceGoal | PoseGoal)
            every += [(f"goals[{n}].place", goal.place)] if goal.place is not None else []
            every += [(f"goals[{n}].ends", end) for end in getattr(goal, "ends", None) or ()]
        items = [*self.scene.solids(), *self.scene.forbidden(), *self.scene.footholds()]
        every += [(item.where, corner) for item in items for corner in item.outline]
        return every + [("path.points", at) for at in (self.path.points if self.path is not None else ())]

    @cached_property
    def end(self) -> End:
        """Where the motion ends; an error where that is not given."""
        if not self.goals:
            raise RequestError("goals are missing: give the place where the motion ends", where="goals")
        goal = self.goals[-1]
        assert isinstance(goal, PlaceGoal | PoseGoal) and goal.place is not None
        own = goal if isinstance(goal, PlaceGoal) else None
        return End(
            f"goals[{len(self.goals) - 1}]", goal.place, goal.tolerance_m or NEAR_M, goal.facing,
            math.radians(goal.tolerance_deg or NEAR_DEG), own is not None and own.standing,
            None if own is None else own.label, goal.pose if isinstance(goal, PoseGoal) else None,
        )  # fmt: skip

    @cached_property
    def waypoints(self) -> list[Waypoint]:
        """What is passed before the end, in order."""
        out = []
        for n, goal in enumerate(self.goals[:-1]):
            assert isinstance(goal, PlaceGoal)
            if goal.ends is not None:
                (ax, az), (bx, bz) = goal.ends
                middle, reach = ((ax + bx) / 2, (az + bz) / 2), math.dist(*goal.ends) / 2
            else:
                assert goal.place is not None
                middle, reach = goal.place, goal.tolerance_m or NEAR_M
            out.append(Waypoint(f"goals[{n}]", middle, reach, goal.ends))
        return out

    def gates(self) -> Floats:
        """What is passed, as rows x, z, radius, 0, 0 or x, z, -1, x, z; a path's points after the waypoints."""
        rows = [
            (*one.middle, one.reach, 0.0, 0.0) if one.ends is None else (*one.ends[0], -1.0, *one.ends[1])
            for one in self.waypoints
        ]
        if self.path is not None:
            line = self.path.line
            along = np.concatenate([[0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))])
            count = max(1, min(40, round(along[-1] / 2.0)))
            stations = np.arange(1, count) / count * along[-1]
            at = np.stack([np.interp(stations, along, line[:, k]) for k in (0, 1)], axis=1)
            rows += [(x, z, self.path.tolerance_m, 0.0, 0.0) for x, z in at]
        return np.array(rows, float).reshape(-1, 5)

    def resolved(self, folder: Path, *, allow_code: bool = False) -> Self:
        """The request with its files taken from a folder, and with what its drawing holds."""
        scene = self.scene.resolved(folder)
        changes: dict[str, Any] = {"scene": scene, "path": None if self.path is None else self.path.resolved(folder)}
        if scene.drawing:
            drawn = read_drawing(scene)
            changes["scene"] = drawn.scene
            changes["goals"] = (*self.goals[:-1], *drawn.waypoints, *(self.goals[-1:] or drawn.goals))
            if self.start == Start() and drawn.start is not None:
                changes["start"] = drawn.start
            if self.path is None and drawn.path:
                changes["path"] = Corridor(**drawn.path)
        return self.with_(**changes)

    def notes(self) -> list[str]:
        """What was assumed about the path's file."""
        return [] if self.path is None else self.path.notes()
