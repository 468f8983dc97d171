"""What one person is asked for: goals by kind, each with its place in the request, and what to keep clear of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Generic, NamedTuple, TypeVar

from choreograph.base.errors import RequestError
from choreograph.contract.request import Wrong
from choreograph.finishing.body import RootTarget
from choreograph.goals.base import Goal
from choreograph.goals.check import check_goals
from choreograph.goals.model import CostGoal, JointGoal, LabelGoal, PlaceGoal, PoseGoal
from choreograph.scene.model import Obstacle, Scene

Kind = TypeVar("Kind")
UNUSED = (
    "heading_deg", "height_m", "points", "ends", "standing", "label", "track", "place", "facing_deg", "as_recorded",
)  # fmt: skip
"""Fields of goals that solve does not search for, where they are not among the `_USED` ones."""
_USED: dict[type[Goal], tuple[str, ...]] = {PlaceGoal: ("place", "facing_deg"), LabelGoal: ("label",)}
_SCENE = ("gaps", "stones", "keep_off", "step_over", "floor_m", "drawing")


class Located(NamedTuple, Generic[Kind]):
    """A part of a request and its place in it: "goals[1]"."""

    where: str
    value: Kind


@dataclass(frozen=True)
class Person:
    """Goals of one person by kind; places and exact poses in order of time."""

    places: tuple[Located[PlaceGoal], ...] = ()
    joints: tuple[Located[JointGoal], ...] = ()
    poses: tuple[Located[PoseGoal], ...] = ()
    exact: tuple[Located[PoseGoal], ...] = ()
    """Poses that every answer shows."""
    labels: tuple[Located[LabelGoal], ...] = ()
    costs: tuple[Located[CostGoal], ...] = ()
    obstacles: tuple[Located[Obstacle], ...] = ()

    @classmethod
    def of(cls, goals: Sequence[Located[Any]], scene: Scene, where: str = "") -> Person:
        """Sort goals by kind.

        Args:
            goals: With their places.
            scene: What to keep clear of.
            where: With what places in the scene begin.
        """

        def of_kind(kind: type[Goal], exact: bool = False) -> tuple[Located[Any], ...]:
            return tuple(g for g in goals if isinstance(g.value, kind) and bool(g.value.exact) == exact)

        def in_order(some: tuple[Located[Any], ...]) -> tuple[Located[Any], ...]:
            return tuple(sorted(some, key=lambda one: one.value.span[0]))

        return cls(
            in_order(of_kind(PlaceGoal)), of_kind(JointGoal), of_kind(PoseGoal), in_order(of_kind(PoseGoal, True)),
            of_kind(LabelGoal), of_kind(CostGoal),
            tuple(Located(f"{where}scene.obstacles[{n}]", one) for n, one in enumerate(scene.listed())),
        )  # fmt: skip

    @property
    def body(self) -> tuple[RootTarget, ...]:
        """Where the torso is to be when."""
        return tuple(root_target(goal) for _, goal in self.places)

    def check(self) -> None:
        """Raise a RequestError if there is nothing to search for."""
        others = (self.joints, self.poses, self.exact, self.labels, self.costs, self.obstacles)
        if len(self.places) < 2 and not any(others):
            raise RequestError(
                "nothing is asked for besides a duration and a start; add a goal: a second place, a joint, a pose, a "
                "label or a function; or an obstacle"
            )


def located(goals: Sequence[Goal], where: str = "") -> list[Located[Any]]:
    """Return goals with their places in a request.

    Args:
        goals: A list `goals`.
        where: With what its place begins: "characters.anna.".
    """
    return [Located(f"{where}goals[{n}]", goal) for n, goal in enumerate(goals)]


def root_target(goal: PlaceGoal) -> RootTarget:
    """Where the torso is to be for a goal, as finishing takes it."""
    assert goal.at_s is not None and goal.place is not None
    return RootTarget(goal.at_s, goal.place, goal.facing)


def length_s(goal: PoseGoal) -> float:
    """How long an exact pose's recording goes on."""
    start, end = goal.span
    return end - start


def check_person(goals: Sequence[Goal], scene: Scene | None, duration_s: float, where: str) -> None:
    """Raise a `Wrong` for a goal that does not fit in the motion's time, or that solve cannot search for.

    Args:
        goals: A list `goals`.
        scene: What to keep clear of.
        duration_s: Length of the motion.
        where: With what the list's place begins.
    """
    check_goals(goals, "solve", duration_s, f"{where}goals")
    for n, goal in enumerate(goals):
        _check_goal(goal, f"{where}goals[{n}]", duration_s)
    placed = sorted((one for one in located(goals, where) if isinstance(one.value, PlaceGoal)), key=_time)
    for before, after in pairwise(placed):
        if after.value.at_s == before.value.at_s:
            raise Wrong(f"{after.where}.at_s", f"is {after.value.at_s:g}, when {before.where} is too; give one place")
    if placed and placed[0].value.facing_deg is None:
        raise Wrong(f"{placed[0].where}.facing_deg", "is missing: the first place says where the motion begins")
    if scene is not None:
        _check_scene(scene, where)


def _time(one: Located[Any]) -> float:
    return float(one.value.at_s)


def _check_goal(goal: Goal, where: str, duration_s: float) -> None:
    for name in UNUSED:
        field = type(goal).model_fields.get(name)
        if field is not None and name not in _USED.get(type(goal), ()) and getattr(goal, name) != field.default:
            raise Wrong(f"{where}.{name}", f"is nothing that solve searches for of a {goal.noun}; leave it out")
    if isinstance(goal, PlaceGoal) and goal.place is None:
        raise Wrong(f"{where}.place", "is missing: give x and z")
    if isinstance(goal, PoseGoal) and not goal.pose.clip:
        raise Wrong(f"{where}.pose.clip", "is missing: solve shows poses of the graph's clips")
    whole = isinstance(goal, LabelGoal)
    if whole and goal.start_s is None:
        raise Wrong(f"{where}.start_s", "is missing; a label holds from start_s to end_s")
    if isinstance(goal, PoseGoal) and goal.exact:
        if goal.duration_s and goal.span[1] > duration_s + 1e-9:
            raise Wrong(f"{where}.duration_s", f"is {goal.duration_s:g}; it must end with the motion")
        return
    if goal.exact:
        raise Wrong(f"{where}.exact", f"is for poses; of a {goal.noun} solve comes as near as it can")
    if not whole and (goal.start_s is not None or getattr(goal, "duration_s", None)):
        name = "start_s" if goal.start_s is not None else "duration_s"
        raise Wrong(f"{where}.{name}", f"is for exact poses and labels; of a {goal.noun} give at_s")


def _check_scene(scene: Scene, where: str) -> None:
    try:
        scene.refuse("solve", *_SCENE)
    except Wrong as error:
        raise Wrong(f"{where}{error.where}", str(error)) from None
    if isinstance(scene.obstacles, str):
        raise Wrong(f"{where}scene.obstacles", "are a file of obstacles that move; give solve a list")
    for n, one in enumerate(scene.obstacles):
        for name, given in (("moves", one.moves), ("base_m", one.base_m)):
            if given:
                text = "is not for solve: the hips keep clear of what stands on the floor"
                raise Wrong(f"{where}scene.obstacles[{n}].{name}", text)
