"""What can be asked of steering offline: goals over time, a path, obstacles, and what counts how much."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Annotated, Any, ClassVar, Literal, Self

from annotated_types import Ge, Le, MaxLen
from pydantic import Field, model_validator

from choreograph.base.arrays import Floats
from choreograph.base.errors import RequestError
from choreograph.contract.clip_filter import ChosenRequest
from choreograph.contract.limits import beside
from choreograph.contract.request import (
    Degrees,
    OneWord,
    Option,
    OrFile,
    Point,
    Quality,
    Request,
    Seconds,
    Wrong,
)
from choreograph.finishing.settings import FinishSettings
from choreograph.goals.model import AnyGoal
from choreograph.scene.model import ObstacleScene
from choreograph.scene.obstacle_file import MAX_RADIUS_M, read_tracks
from choreograph.scene.path_request import PathSource
from choreograph.verbs.steer.costs import SteerAdvanced
from choreograph.verbs.steer.goals import SteerGoal
from choreograph.verbs.steer.moments import Moment, join_goals, read_script

LONGEST_S = 3600.0
"""An hour at 120 Hz is 2 GB of motion; live streams have no end."""


class SteerStart(Request):
    """Where the character begins."""

    panel: ClassVar[str] = "Start"

    place: Annotated[Point | None, Option(hidden=True)] = None
    """x and z of the character, metres; on the first goal's line if not given."""
    facing_deg: Annotated[Degrees, Option(("--start-facing",))] | None = None
    """Direction of travel at the start, from +z; along the first goal's line if not given."""


class SteerRequest(ChosenRequest):
    """A character steered by goals over time.

    >>> SteerRequest(goals=[{"place": (0.0, 0.0), "heading_deg": 0.0}, {"speed_m_s": 1.3}]).moments()[0].goal.speed
    1.3
    """

    verb: ClassVar[str] = "steer"

    most_frames: ClassVar[int] = 8_000
    whole_frames: ClassVar[int] = 15_000
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"draft": {"learning": "fit"}}

    path: Annotated[PathSource, OneWord(), Option(("--path", "-p"))] | None = None
    """A path to follow from the start on, such as circle:radius=4."""
    goals: Annotated[tuple[AnyGoal, ...], MaxLen(100_000), OrFile(), Option(("--goals",))] = ()
    """What to do when: lines to keep to (`place` and `heading_deg`, or `points`), `speed_m_s`, `turn_deg_s`,
    `torso_deg`, `label`. Goals with the same `at_s` hold together until the next ones; what they leave out is open. A
    CSV file does too: t,x,z,heading_deg,speed and optionally gait,torso_deg,spin_deg_s."""
    scene: ObstacleScene = Field(default_factory=ObstacleScene)
    """What is in the way: discs, which may move."""
    start: SteerStart = Field(default_factory=SteerStart)
    """Where the character begins."""
    duration_s: Annotated[Seconds, Ge(0.1), Le(LONGEST_S), Option(("--duration", "-s"))] = 10.0
    """How long the motion lasts."""
    task: Literal["navigate", "spin", "avoid"] = "navigate"
    """What the policy learns to do: keep to lines, turn at a rate, or keep to lines and clear of obstacles."""
    mirror: bool = True
    """Whether each recording counts as its mirror image too."""
    own_task: Annotated[str, MaxLen(4096)] = ""
    """A task of your own, as FILE.py:CLASS, that counts beside the others."""
    learning: Literal["program", "fit"] = "program"
    """How the policy is learned: by a linear program, or only by the fit that it begins with, which takes less time."""
    quality: Quality = "normal"
    advanced: SteerAdvanced = Field(default_factory=SteerAdvanced)
    """What costs how much, and how far ahead."""
    finish: FinishSettings = Field(default_factory=FinishSettings)
    """How recorded steps become motion."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not isinstance(self.goals, str):
            join_goals(self.goals)
        if self.path is not None and self.path.times:
            raise Wrong("path.times", "is nothing that steer heeds; give goals with an at_s")
        if not isinstance(self.scene.obstacles, str):
            for n, one in enumerate(self.scene.obstacles):
                where = f"scene.obstacles[{n}]"
                if one.centre is None or one.base_m > 0:
                    raise Wrong(
                        where, "is no disc on the floor, and steer looks at no others; give centre and radius_m"
                    )
                if one.track()[:, 3].max() + one.hips_m > MAX_RADIUS_M:
                    raise Wrong(
                        f"{where}.radius_m", f"is too large: the hips would keep more than {MAX_RADIUS_M:g} m away"
                    )
        return self

    def resolved(self, folder: FilePath, *, allow_code: bool = False) -> Self:
        """The request with files taken from a folder, and a task of your own allowed or not."""
        if self.own_task and not allow_code:
            raise RequestError("own_task names Python code, which runs only if allowed (allow_code)", where="own_task")
        changes: dict[str, Any] = {"scene": self.scene.resolved(folder)}
        if self.path is not None:
            changes["path"] = self.path.resolved(folder)
        if isinstance(self.goals, str):
            changes["goals"] = beside(folder, self.goals)
        file, colon, name = self.own_task.rpartition(":")
        if file:
            changes["own_task"] = f"{beside(folder, file)}{colon}{name}"
        return self.with_(**changes)

    def notes(self) -> list[str]:
        """Which line of a drawing the path is, and how large a unit of it."""
        return [] if self.path is None else self.path.notes()

    def moments(self) -> list[Moment]:
        """What holds from each time on, in order."""
        moments = read_script(self.goals) if isinstance(self.goals, str) else join_goals(self.goals)
        if self.path is not None:
            first = moments[0] if moments else Moment(0.0, SteerGoal())
            goal = replace(first.goal, path=self.path.shaped(self.path.given_path()))
            moments[:1] = [Moment(0.0, goal, {**first.fields, "line": "path", "heading": "path"})]
        return moments or [Moment(0.0, SteerGoal(0.0, 0.0, 0.0))]

    def tracks(self) -> dict[str, Floats]:
        """The obstacles' tracks, (K, 6), by id or place in the request; see `scene.obstacle_file.track_of`."""
        if isinstance(self.scene.obstacles, str):
            return read_tracks(self.scene.obstacles)
        tracks = {f"scene.obstacles[{n}]": one.track() for n, one in enumerate(self.scene.obstacles)}
        for track, one in zip(tracks.values(), self.scene.obstacles, strict=True):
            track[track[:, 3] > 0, 3] += one.hips_m
        return tracks
