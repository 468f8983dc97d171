"""What can be asked of completing: goals, the gap between two motions, and how the model is learned."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from annotated_types import Ge, Le, MaxLen, MinLen
from pydantic import Field, model_validator

from choreograph.base.errors import RequestError
from choreograph.contract.clip_filter import ChosenRequest
from choreograph.contract.limits import beside
from choreograph.contract.names import MotionName
from choreograph.contract.request import Advanced, FileName, FileText, Name, Option, Quality, Request, Seconds, Wrong
from choreograph.finishing.settings import FinishSettings
from choreograph.goals.check import check_goals
from choreograph.goals.model import LONGEST_S, Goals, JointGoal, LabelGoal, PlaceGoal, PoseGoal
from choreograph.verbs.complete.settings import LearnSettings

_Context = Annotated[Seconds, Ge(0), Le(60)]


class Between(Request):
    """Two motions, and how one leads to the other."""

    panel: ClassVar[str] = "Between two motions"

    motions: Annotated[
        tuple[FileText, ...], MinLen(2), MaxLen(2), FileName(), MotionName(), Option(("--between",), metavar="MOTION")
    ]
    """Two motions to lead from one to the other: files, or names of clips. Give the option twice."""
    duration_s: Annotated[Seconds, Ge(0), Le(LONGEST_S), Option(("--gap",))] = 1.0
    """Seconds from the last frame of the first motion to the first frame of the second."""
    before_s: _Context = 0.3
    """How much of the first motion's end counts."""
    after_s: _Context = 0.3
    """How much of the second motion's beginning counts."""
    as_recorded: bool = True
    """Whether the second motion is where it was recorded; without, it comes wherever the first one leads."""
    joined: bool = False
    """Whether the two motions are written too, before and after what leads from one to the other."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if len(self.motions) != 2:
            number = len(self.motions)
            raise Wrong("motions", f"has {number}; it must have two: the one to leave and the next")
        return self


class CompleteWeights(Request):
    """How firmly the model and the goals count."""

    dynamics: Annotated[float, Ge(1e-6), Le(1e6)] = 1.0
    """α: how firmly poses follow from those before them."""
    goals: Annotated[float, Ge(1e-6), Le(1e6)] = 1.0
    """β: how firmly all goals count. At 1, joints are met to a centimetre before they are met exactly."""


class CompleteAdvanced(Advanced):
    """How the model is learned, and how the optimum is looked for."""

    model: LearnSettings = Field(default_factory=LearnSettings)
    """How the model is learned."""
    labelled: Name | None = None
    """Learn only from the stretches of clips with this label; `only` chooses whole clips."""
    knots_s: Annotated[Seconds, Ge(0), Le(5)] = 0.0
    """Seconds between the knots of cubic B-splines, for long motions; 0 has an unknown for every frame."""
    guided: bool = True
    """Whether the nearest recorded motion leads between goals; without, the mean of all that is likely."""
    weights: CompleteWeights = Field(default_factory=CompleteWeights)
    """How firmly model and goals count."""


class CompleteRequest(ChosenRequest):
    """Motion to be completed. Times are in seconds from its first frame; it has a frame at 0 and one at `duration_s`.

    >>> CompleteRequest(2.0, [{"at_s": 0, "pose": {"clip": "walk"}}, {"at_s": 2, "place": [0, 3]}]).goals[1].place
    (0.0, 3.0)
    """

    verb = "complete"

    most_frames: ClassVar[int] = 20_000
    effort: ClassVar[tuple[str, ...]] = ("finish",)
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {
        "draft": {"work_limit": 20, "advanced.guided": False},
        "best": {"work_limit": 200},
    }

    duration_s: Annotated[Seconds, Ge(0.1), Le(LONGEST_S)] | None = None
    """How long the motion lasts."""
    goals: Goals = ()
    """Poses, places, joints, contacts, labels and more, each at a time or during an interval."""
    between: Between | None = None
    """Two motions to lead from one to the other, instead of a duration."""
    nearest: Annotated[int, Ge(1), Le(1000)] | None = None
    """Learn only from so many clips: those nearest to the goals."""
    exact: bool = True
    """Whether goals are met exactly once the most likely motion is known, but those that say otherwise."""
    quality: Quality = "normal"
    work_limit: Annotated[int, Ge(1), Le(10_000)] = 60
    """Most iterations of the solver."""
    advanced: CompleteAdvanced = Field(default_factory=CompleteAdvanced)
    """How the model is learned, and how the optimum is looked for."""
    finish: FinishSettings = Field(default_factory=FinishSettings)
    """Whether feet are cleaned, and at which rate the motion is."""

    @property
    def labels(self) -> list[LabelGoal]:
        """The goals that say what the motion is like when."""
        return [goal for goal in self.goals if isinstance(goal, LabelGoal)]

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.between is None and self.duration_s is None:
            raise Wrong("duration_s", "is missing; say how long the motion lasts")
        if self.between is not None:
            self._check_between()
        check_goals(self.goals, self.verb, LONGEST_S if self.duration_s is None else self.duration_s)
        labels = [(n, goal) for n, goal in enumerate(self.goals) if isinstance(goal, LabelGoal)]
        for number, goal in labels:
            if goal.start_s is None:
                raise Wrong(f"goals[{number}].start_s", "is missing; a label holds from start_s to end_s")
        for (before, one), (number, other) in pairwise(labels):
            if other.span[0] < one.span[1] - 1e-9:
                where = f"goals[{number}].start_s"
                raise Wrong(where, f"is before the label of goals[{before}] ends; give one label after the other")
        for number, wanted in enumerate(self.goals):
            if isinstance(wanted, PlaceGoal):
                self._check_place(number, wanted)
            if isinstance(wanted, PoseGoal) and not (wanted.pose.clip or wanted.pose.file or wanted.pose.rotations):
                raise Wrong(f"goals[{number}].pose.clip", "is missing; give a clip or a file")
        return self

    def _check_between(self) -> None:
        refused = (PoseGoal, PlaceGoal, LabelGoal)
        beside = ["duration_s"] if self.duration_s is not None else []
        beside += [f"goals[{n}]" for n, goal in enumerate(self.goals) if isinstance(goal, refused)]
        if beside:
            raise Wrong(beside[0], "is given beside between; give one or the other")

    def _check_place(self, number: int, goal: PlaceGoal) -> None:
        for name in ("heading_deg", "height_m", "ends", "standing", "label"):
            if getattr(goal, name):
                raise Wrong(f"goals[{number}].{name}", "is nothing that complete searches for; give a place or points")
        if goal.points and goal.start_s is None:
            raise Wrong(f"goals[{number}].points", "need an interval: give start_s and end_s instead of at_s")

    def check_asks(self) -> None:
        """Raise a RequestError if there is nothing to complete."""
        if self.between is None and not self.goals:
            raise RequestError(
                "nothing is asked for besides a duration; add a goal: a pose, a place, a joint …", where="goals"
            )

    def resolved(self, folder: Path, *, allow_code: bool = False) -> Self:
        """The request with track files and motions taken from a folder, where they are there."""
        goals = []
        for goal in self.goals:
            if isinstance(goal, JointGoal) and goal.track:
                goal = goal.with_(track=str(folder / goal.track))
            elif isinstance(goal, PoseGoal) and goal.pose.file:
                goal = goal.with_(pose=goal.pose.with_(file=str(folder / goal.pose.file)))
            goals.append(goal)
        between = self.between
        if between is not None:
            between = between.with_(motions=tuple(beside(folder, name) for name in between.motions))
        return self.with_(goals=tuple(goals), between=between)
