"""What can be asked of completing: keyframes, tracks and contacts, and what is learned from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from annotated_types import Ge, Le, MaxLen
from pydantic import Field, model_validator

from choreograph.base.errors import RequestError
from choreograph.contract.clip_filter import ChosenRequest
from choreograph.contract.limits import beside
from choreograph.contract.names import MotionName
from choreograph.contract.request import FileName, FileText, Name, Option, Request, Seconds, Wrong
from choreograph.finishing.settings import FinishSettings
from choreograph.verbs.complete.goals import (
    LONGEST_S,
    AngleGoal,
    BehaviourGoal,
    BodyGoal,
    ContactGoal,
    DistanceGoal,
    JointGoal,
    KeyPose,
    OffsetGoal,
    Timed,
    TurnGoal,
    ViewGoal,
)
from choreograph.verbs.complete.settings import LearnSettings

_MOST = MaxLen(10_000)
GOALS = ("poses", "body", "joints", "turns", "angles", "distances", "offsets", "views", "contacts", "labels")
"""The parts of a request that hold several goals."""


class SolveWeights(Request):
    """How firmly the model and the goals count, and how the optimum is looked for."""

    panel: ClassVar[str] = "Optimisation"

    dynamics: Annotated[float, Ge(1e-6), Le(1e6), Option(("--alpha",))] = 1.0
    """α: how firmly poses follow from those before them."""
    goals: Annotated[float, Ge(1e-6), Le(1e6), Option(("--beta",))] = 1.0
    """β: how firmly all goals count. At 1, joints are met to a centimetre before they are met exactly."""
    iterations: Annotated[int, Ge(1), Le(10_000)] = 60
    """Most iterations."""
    knots_s: Annotated[Seconds, Ge(0), Le(5)] = 0.0
    """Seconds between the knots of cubic B-splines, for long motions; 0 has an unknown for every frame."""
    guided: bool = True
    """Whether the nearest recorded motion leads between goals; without, the mean of all that is likely."""


class CompleteRequest(ChosenRequest):
    """Motion to be completed. Times are in seconds from its first frame; it has a frame at 0 and one at `length_s`.

    >>> CompleteRequest(2.0, [KeyPose(0.0, "walk", 0), KeyPose(2.0, "walk", 60)]).length_s
    2.0
    """

    verb = "complete"

    most_frames: ClassVar[int] = 20_000
    effort: ClassVar[tuple[str, ...]] = ("finish",)

    length_s: Annotated[Seconds, Ge(0.1), Le(LONGEST_S)] | None = None
    """How long the motion lasts."""
    poses: Annotated[tuple[KeyPose, ...], _MOST] = ()
    """Keyframes: poses of clips at times."""
    body: Annotated[tuple[BodyGoal, ...], _MOST] = ()
    """Where the body is when."""
    joints: Annotated[tuple[JointGoal, ...], _MOST] = ()
    """Where joints are when, and along which tracks."""
    turns: Annotated[tuple[TurnGoal, ...], _MOST] = ()
    """How joints are turned."""
    angles: Annotated[tuple[AngleGoal, ...], _MOST] = ()
    """How far joints are bent."""
    distances: Annotated[tuple[DistanceGoal, ...], _MOST] = ()
    """How far joints are from each other."""
    offsets: Annotated[tuple[OffsetGoal, ...], _MOST] = ()
    """Where joints are, seen from others."""
    views: Annotated[tuple[ViewGoal, ...], _MOST] = ()
    """Where cameras see joints."""
    contacts: Annotated[tuple[ContactGoal, ...], _MOST] = ()
    """Which feet stand when."""
    labels: Annotated[tuple[BehaviourGoal, ...], _MOST] = ()
    """What the motion is like when: one model after another."""
    between: Annotated[tuple[FileText, ...], MaxLen(2), FileName(), MotionName(), Option(metavar="MOTION")] = ()
    """Two motions to lead from one to the other: files, or names of clips. Give the option twice."""
    frames: Annotated[int, Ge(1), Le(10_000)] | None = None
    """Frames between the two motions, at the model's rate."""
    past: Annotated[int, Ge(1), Le(300)] = 10
    """Frames of the first motion's end that count, at the model's rate."""
    future: Annotated[int, Ge(1), Le(300)] = 10
    """Frames of the second motion's beginning that count."""
    in_place: bool = True
    """Whether the second motion is where it was recorded; without, it comes wherever the first one leads."""
    joined: bool = False
    """Whether the two motions are written too, before and behind what leads from one to the other."""
    examples: Annotated[tuple[Name, ...], _MOST] = ()
    """Clips to learn from, by name; all if none is named."""
    label: Name | None = None
    """Learn only from what is labelled so."""
    nearest: Annotated[int, Ge(1), Le(1000)] | None = None
    """Learn only from so many clips: those nearest to the poses that are asked for."""
    exact: bool = True
    """Whether what is asked exactly is met exactly once the most likely motion is known."""
    model: LearnSettings = Field(default_factory=LearnSettings)
    """How the model is learned."""
    solve: SolveWeights = Field(default_factory=SolveWeights)
    """How firmly model and goals count."""
    finish: FinishSettings = Field(default_factory=FinishSettings)
    """Whether feet are cleaned, and at which rate the motion is."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.between:
            self._check_between()
        elif self.length_s is None:
            raise Wrong("length_s", "is missing; say how long the motion lasts")
        else:
            for place, value in self._times():
                if value > self.length_s + 1e-9:
                    raise Wrong(
                        place,
                        f"is {value:g}; it must be a number from 0 to {self.length_s:g} s: the motion lasts from 0 to "
                        "length_s",
                    )
        for n in range(1, len(self.labels)):
            if self.labels[n].start_s < self.labels[n - 1].stop_s - 1e-9:
                raise Wrong(f"labels[{n}].start_s", f"is before labels[{n - 1}] ends; give one after the other")
        return self

    def _check_between(self) -> None:
        if len(self.between) != 2:
            raise Wrong("between", f"has {len(self.between)} motion; it must have two: the one to leave and the next")
        if self.frames is None:
            raise Wrong("frames", "is missing; say how many frames lead from one motion to the other")
        beside = [name for name in ("length_s", "poses", "body", "labels") if getattr(self, name)]
        if beside:
            raise Wrong(beside[0], "is given beside between; give one or the other")

    def _times(self) -> Iterator[tuple[str, float]]:
        for name in GOALS:
            for n, goal in enumerate(getattr(self, name)):
                if isinstance(goal, Timed | KeyPose | BodyGoal):
                    yield f"{name}[{n}].{'stop_s' if goal.at_s is None else 'at_s'}", goal.span[1]
                else:
                    yield f"{name}[{n}].stop_s", goal.stop_s

    def check_asks(self) -> None:
        """Raise a RequestError if there is nothing to complete."""
        if not self.between and not any(getattr(self, name) for name in GOALS):
            raise RequestError(
                "nothing is asked for besides a length; add a pose, a body place, a joint or another goal",
                where="poses",
            )

    def resolved(self, folder: Path, *, allow_code: bool = False) -> Self:
        """The request with track files and motions taken from a folder, where they are there."""
        joints: tuple[Any, ...] = tuple(
            goal.with_(track=str(folder / goal.track)) if goal.track else goal for goal in self.joints
        )
        poses: tuple[Any, ...] = tuple(
            pose.with_(file=str(folder / pose.file)) if pose.file else pose for pose in self.poses
        )
        between = tuple(beside(folder, name) for name in self.between)
        return self.with_(joints=joints, poses=poses, between=between)
