"""Which verb searches for which goals, and whether those of a request are among them and within its time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from choreograph.contract.request import Wrong
from choreograph.goals.base import Goal
from choreograph.goals.cost import CostGoal
from choreograph.goals.joints import AngleGoal, DistanceGoal, JointGoal, OffsetGoal, TurnGoal, ViewGoal
from choreograph.goals.model import (
    ContactGoal,
    LabelGoal,
    LandmarkGoal,
    PauseGoal,
    PlaceGoal,
    PoseGoal,
    SegmentGoal,
    ShapeGoal,
    SpeedGoal,
)

SEARCHED: Mapping[str, tuple[type[Goal], ...]] = MappingProxyType(
    {
        "follow": (LabelGoal, SpeedGoal, PauseGoal),
        "solve": (PlaceGoal, JointGoal, PoseGoal, LabelGoal, CostGoal),
        "plan": (PlaceGoal, PoseGoal, LabelGoal),
        "perform": (SegmentGoal,),
        "complete": (
            PlaceGoal, PoseGoal, JointGoal, TurnGoal, AngleGoal, DistanceGoal, OffsetGoal, ViewGoal, ContactGoal,
            LabelGoal,
        ),
        "steer": (PlaceGoal, LabelGoal, SpeedGoal),
        "physics": (PoseGoal, PlaceGoal, ContactGoal),
        "face": (ShapeGoal, PoseGoal, LandmarkGoal),
    }
)  # fmt: skip
"""By verb, in the order in which messages name them."""


def check_goals(goals: Sequence[Goal], verb: str, duration_s: float | None = None, where: str = "goals") -> None:
    """Raise what is wrong with a request's goals: a kind that the verb does not search for, or a time outside.

    Args:
        goals: Of a request.
        verb: Its verb, a row of `SEARCHED`.
        duration_s: Length of the motion; then each goal but a cost must say when it holds. None checks no times.
        where: The list's place in the request.
    """
    for number, goal in enumerate(goals):
        if type(goal) not in SEARCHED[verb]:
            able = [name for name, kinds in SEARCHED.items() if type(goal) in kinds]
            can = f"{', '.join(able)} can" if able else "no verb can"
            article = "an" if goal.noun[:1] in "aeiou" else "a"
            raise Wrong(f"{where}[{number}]", f"is {article} {goal.noun} goal, which {verb} cannot search for; {can}")
        if duration_s is None or isinstance(goal, CostGoal):
            continue
        if not goal.timed:
            raise Wrong(f"{where}[{number}].at_s", "is missing; give at_s, or start_s and end_s")
        if goal.span[1] > duration_s + 1e-9:
            part = "at_s" if goal.at_s is not None else "end_s"
            raise Wrong(
                f"{where}[{number}].{part}",
                f"is {goal.span[1]:g}; it must be a number from 0 to {duration_s:g} s: the motion lasts from 0 to "
                "duration_s",
            )
