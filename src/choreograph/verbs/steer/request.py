"""What can be asked of steering offline: goals over time, from a script, a path or a list."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from annotated_types import Ge, Gt, Le, MaxLen
from pydantic import Field, model_validator

from choreograph.base.arrays import Floats
from choreograph.base.errors import RequestError
from choreograph.contract.clip_filter import ChosenRequest
from choreograph.contract.fields import Unit
from choreograph.contract.limits import beside
from choreograph.contract.request import (
    Degrees,
    FileName,
    Metres,
    MetresPerSecond,
    Name,
    Option,
    Point,
    Request,
    Seconds,
    Wrong,
)
from choreograph.finishing.settings import FinishSettings
from choreograph.scene.obstacle_file import read_tracks
from choreograph.scene.path import Path
from choreograph.scene.path_request import PathRequest
from choreograph.verbs.steer.costs import SteerSettings
from choreograph.verbs.steer.goals import SteerGoal, read_script

LONGEST_S = 3600.0
"""An hour at 120 Hz is 2 GB of motion; live streams have no end."""
Speed = Annotated[float, Ge(-100), Le(100)]
Place = Annotated[float, Ge(-1e6), Le(1e6)]


class GoalRequest(Request):
    """What is wanted from a moment on; what is left out is open."""

    at_s: Annotated[Seconds, Ge(0), Le(LONGEST_S)] = 0.0
    """From when on."""
    position: Point | None = None
    """A point of the line to keep to, x and z; the place where the character is if not given."""
    heading_deg: Degrees | None = None
    """Direction of the line, from +z towards +x."""
    speed_m_s: Annotated[MetresPerSecond, Ge(0), Le(20)] | None = None
    """How fast to go."""
    gait: Name | None = None
    """Label of the steps to use, or stand, walk, run."""
    torso_deg: Degrees | None = None
    """Where the torso faces, from the direction of travel."""
    spin_deg_s: Annotated[float, Unit("°/s"), Ge(-720), Le(720)] | None = None
    """How fast to turn; the line does not count then."""
    points: Annotated[tuple[Point, ...], MaxLen(20_000)] = ()
    """A line to follow instead of a straight one, as places x and z."""

    def goal(self) -> SteerGoal:
        """The same in radians."""
        x, z = self.position if self.position is not None else (None, None)
        heading, torso, spin = (
            None if value is None else math.radians(value)
            for value in (self.heading_deg, self.torso_deg, self.spin_deg_s)
        )
        path = Path(np.array(self.points)) if self.points else None
        return SteerGoal(x, z, heading, self.speed_m_s, self.gait, torso, spin, path)


Dragged = tuple[Annotated[float, Ge(0), Le(1e6)], Place, Place, Annotated[float, Ge(0), Le(100)], Speed, Speed]
"""Second, x, z, radius and velocity (x, z) of an obstacle."""


class ObstacleRequest(Request):
    """A disc on the floor that moves evenly, or as it was dragged."""

    position: Point = (0.0, 0.0)
    """Where its centre is at the start, x and z, metres."""
    velocity: tuple[Speed, Speed] = (0.0, 0.0)
    """x and z, m/s."""
    radius_m: Annotated[Metres, Gt(0), Le(100)] = 0.6
    """Sum of its radius and the character's."""
    dragged: Annotated[tuple[Dragged, ...], MaxLen(100_000)] = ()
    """Instead of the others, rows of second, x, z, radius and velocity (x, z), each from its second on; with a radius
    of 0 it is not there."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        for n, row in enumerate(self.dragged):
            if n and row[0] < self.dragged[n - 1][0]:
                raise Wrong(f"dragged[{n}]", f"is at {row[0]:g} s, before {self.dragged[n - 1][0]:g} s")
        return self

    def track(self) -> Floats:
        """Where it is over time, (K, 6), as `track_of` gives it."""
        if self.dragged:
            return np.array(self.dragged, float)
        return np.array([(0.0, *self.position, self.radius_m, *self.velocity)])


class SteerRequest(ChosenRequest, PathRequest):
    """A character steered by a script.

    >>> SteerRequest(goals=[GoalRequest(0.0, (0.0, 0.0), 0.0)], length_s=10.0).goals[0].heading_deg
    0.0
    """

    verb = "steer"

    most_frames: ClassVar[int] = 8_000
    whole_frames: ClassVar[int] = 15_000

    task: Literal["navigate", "spin", "avoid"] = "navigate"
    """What it learns to do: keep to lines, turn at a rate, or keep to lines and clear of obstacles."""
    script: Annotated[str, MaxLen(4096), FileName()] = ""
    """Goals over time: a CSV file with t,x,z,heading_deg,speed and optionally gait,torso_deg,spin_deg_s. From t on, the
    character keeps to the line through x, z in that direction; what is blank is open."""
    goals: Annotated[tuple[GoalRequest, ...], MaxLen(100_000), Option(hidden=True)] = ()
    """The goals as a list, instead of a script."""
    obstacles: Annotated[str, MaxLen(4096), FileName()] = ""
    """Obstacles over time: a CSV file with t,id,x,z,radius; a radius is the sum of the obstacle's and the
    character's."""
    moving: Annotated[tuple[ObstacleRequest, ...], MaxLen(1000), Option(hidden=True)] = ()
    """Obstacles as a list, instead of a file."""
    length_s: Annotated[Seconds, Ge(0.1), Le(LONGEST_S), Option(("--seconds", "-s"))] = 10.0
    """How long to steer."""
    mirror: bool = True
    """Whether each recording counts as its mirror image too."""
    start: Annotated[Point | None, Option(hidden=True)] = None
    """Where the character begins, x and z; on the first goal's line if not given."""
    start_heading_deg: Degrees | None = None
    """Where it heads at first; along the first goal's line if not given."""
    learning: Literal["program", "fit"] = "program"
    """How it is learned what situations will cost: by a linear program, or only by the fit that it begins with, which
    is there sooner."""
    own_task: Annotated[str, MaxLen(4096)] = ""
    """A task of your own, as FILE.py:CLASS, that counts beside the others."""
    costs: SteerSettings = Field(default_factory=SteerSettings)
    """What counts how much."""
    finish: FinishSettings = Field(default_factory=FinishSettings)
    """How what was recorded becomes motion."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.script and self.goals:
            raise Wrong("goals", "are given beside a script; give one of them")
        if self.obstacles and self.moving:
            raise Wrong("moving", "is given beside obstacles; give one of them")
        for n, (earlier, later) in enumerate(zip(self.goals, self.goals[1:], strict=False), 1):
            if later.at_s < earlier.at_s:
                raise Wrong(
                    f"goals[{n}].at_s", f"is {later.at_s:g}, before {earlier.at_s:g}; give goals in order of time"
                )
        return self

    def resolved(self, folder: FilePath, *, allow_code: bool = False) -> Self:
        """The request with files taken from a folder, and a task of one's own allowed or not."""
        made = super().resolved(folder, allow_code=allow_code)
        changes = {name: beside(folder, getattr(made, name)) for name in ("script", "obstacles")}
        file, colon, name = made.own_task.rpartition(":")
        if file:
            changes["own_task"] = f"{beside(folder, file)}{colon}{name}"
        if made.own_task and not allow_code:
            raise RequestError("own_task names Python code, which runs only if allowed (allow_code)", where="own_task")
        return made.with_(**changes)

    def timeline(self) -> list[tuple[float, SteerGoal, str]]:
        """The goals with the moments from which on they hold and their places in the request, in order."""
        if self.script:
            found = [(t, goal, f"script, goal {n + 1}") for n, (t, goal) in enumerate(read_script(self.script))]
        else:
            found = [(one.at_s, one.goal(), f"goals[{n}]") for n, one in enumerate(self.goals)]
        if self.path or self.points:
            path = self.shaped(self.given_path())
            first = found[0][1] if found else SteerGoal()
            found = [(0.0, replace(first, path=path), "path"), *found[1:]]
        if not found:
            found = [(0.0, SteerGoal(0.0, 0.0, 0.0), "")]
        return found

    def tracks(self) -> dict[str, Floats]:
        """The obstacles' tracks, (K, 6), by id; see `track_of`."""
        if self.obstacles:
            return read_tracks(self.obstacles)
        return {f"moving[{n}]": one.track() for n, one in enumerate(self.moving)}
