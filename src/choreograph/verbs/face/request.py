"""What can be asked of a face: expressions by weights or from recordings, and where landmarks are."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Self

from annotated_types import Ge, Le, MaxLen
from pydantic import Field, model_validator

from choreograph.contract.limits import beside
from choreograph.contract.request import Advanced, FileName, Request, Seconds, Wrong
from choreograph.goals.check import check_goals
from choreograph.goals.model import LONGEST_S, Goals, LandmarkGoal, PoseGoal, ShapeGoal


class FaceAdvanced(Advanced):
    """How the model of faces is learned."""

    order: Annotated[int, Ge(1), Le(6)] = 2
    """Frames that the next one follows from (m)."""
    controls: Annotated[int, Ge(1), Le(200)] | None = None
    """Size of the control input, dim(u); that of the space of faces if left out."""


class FaceRequest(Request):
    """A face to be completed; without goals, the first recording is converted.

    >>> request = FaceRequest(1.0, [ShapeGoal(0.0, {}), ShapeGoal(1.0, {"JawOpen": 0.5})])
    >>> request.goals[1].shapes
    {'JawOpen': 0.5}
    """

    verb: ClassVar[str] = "face"

    duration_s: Annotated[Seconds, Ge(0.05), Le(LONGEST_S)] | None = None
    """Duration of the face; it has a frame at 0 and one at the end."""
    goals: Goals = ()
    """What is wanted at which time, in seconds from the first frame: shapes by weights, poses as frames of a recording,
    landmarks in millimetres."""
    exact: bool = True
    """Whether shapes and poses are met exactly."""
    shapes: Annotated[str, MaxLen(4096), FileName()] | None = None
    """Landmarks and how shapes move them: a CSV file of shape, landmark, x_mm, y_mm, z_mm; a simple head's if left
    out."""
    head: Annotated[str, MaxLen(4096), FileName()] | None = None
    """A .glb file of a head with named shapes that the face is shown and written on; a simple head if left out."""
    advanced: FaceAdvanced = Field(default_factory=FaceAdvanced)

    @property
    def expressions(self) -> list[tuple[str, ShapeGoal | PoseGoal]]:
        """The goals that are about whole faces, each with its place."""
        return [(f"goals[{n}]", goal) for n, goal in enumerate(self.goals) if isinstance(goal, ShapeGoal | PoseGoal)]

    @property
    def landmarks(self) -> list[tuple[str, LandmarkGoal]]:
        """The goals that are about landmarks, each with its place."""
        return [(f"goals[{n}]", goal) for n, goal in enumerate(self.goals) if isinstance(goal, LandmarkGoal)]

    def resolved(self, folder: Path, *, allow_code: bool = False) -> Self:
        """The request with its files taken from a folder."""
        return self.with_(**{name: beside(folder, getattr(self, name) or "") or None for name in ("shapes", "head")})

    @model_validator(mode="after")
    def _check(self) -> Self:
        if bool(self.goals) != (self.duration_s is not None):
            name = "goals" if self.goals == () else "duration_s"
            raise Wrong(name, "is missing; a face is completed by both, and converted by neither")
        check_goals(self.goals, self.verb, self.duration_s)
        self._check_expressions()
        return self

    def _check_expressions(self) -> None:
        """Raise what is wrong with goals about whole faces."""
        seen: dict[float, str] = {}
        for where, goal in self.expressions:
            if goal.at_s is None:
                raise Wrong(f"{where}.at_s", "is missing; a whole face is wanted at one time")
            if isinstance(goal, PoseGoal) and goal.pose.clip is None:
                raise Wrong(f"{where}.pose.clip", "is missing; the pose of a face is a frame of a recording")
            if goal.at_s in seen:
                raise Wrong(f"{where}.at_s", f"is {goal.at_s:g}, as {seen[goal.at_s]} has; give one of them")
            seen[goal.at_s] = where
