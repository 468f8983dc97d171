"""What can be asked of physics: how a motion shall differ, from which examples, and what the body can bear."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from annotated_types import Ge, Gt, Le, MaxLen
from pydantic import Field, model_validator

from choreograph.contract.clip_filter import Only
from choreograph.contract.limits import beside
from choreograph.contract.names import MotionName
from choreograph.contract.request import (
    Degrees,
    FileText,
    Hertz,
    Metres,
    MetresPerSecond,
    Option,
    Quality,
    Request,
    Seconds,
    Wrong,
)
from choreograph.dynamics.request import BodyRequest
from choreograph.goals.check import check_goals
from choreograph.goals.model import ContactGoal, Goal, Goals, PlaceGoal, PoseGoal
from choreograph.verbs.physics.settings import PhysicsAdvanced

_CHANGES = ("farther_m", "higher_m", "turn_deg", "duration_share", "speed_m_s", "timing", "goals")
"""What changes a motion, rather than finishes it."""
_SEARCHED: Mapping[type[Goal], frozenset[str]] = {
    PoseGoal: frozenset({"at_s", "pose", "place", "height_m", "facing_deg", "exact"}),
    PlaceGoal: frozenset({"at_s", "place", "height_m", "facing_deg", "exact"}),
    ContactGoal: frozenset({"start_s", "end_s", "foot", "hand", "parts", "position", "facing_deg", "exact"}),
}
"""Fields of goals that count here."""


class PhysicsFinish(Request):
    """How the motion becomes frames."""

    panel: ClassVar[str] = "Finishing"

    rate_hz: Annotated[Hertz, Ge(1), Le(1000)] | None = None
    """Frames per second to write; else the motion's own."""


def names_graph(name: str) -> bool:
    """Whether an example's name is a motion graph's."""
    return Path(name).suffix.lower() == ".mog"


class PhysicsRequest(Request):
    """A motion that obeys mechanics, after the sketch that another one makes.

    >>> PhysicsRequest(farther_m=0.4, goals=[{"at_s": 0.8, "height_m": 1.4}]).as_document()
    {'farther_m': 0.4, 'goals': [{'at_s': 0.8, 'height_m': 1.4}]}
    """

    verb = "physics"

    effort: ClassVar[tuple[str, ...]] = ("work_limit",)
    named_only: ClassVar[tuple[str, ...]] = ("only",)
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {"draft": {"work_limit": 30}, "best": {"work_limit": 300}}

    smallest_change: bool = False
    """Whether the motion is only finished: the smallest change after which it obeys mechanics, of any length, where it
    stays as natural as it is. `like` then has the recordings that it is made of; of all that else can be asked only
    the part, the floor and the body count."""
    farther_m: Annotated[Metres, Ge(-20), Le(20)] = 0.0
    """How much farther it goes than the motion, along its way."""
    higher_m: Annotated[Metres, Ge(-2), Le(3)] = 0.0
    """How much higher the centre of mass rises in its longest flight."""
    turn_deg: Degrees = 0.0
    """How much farther it turns to the left until its end."""
    duration_share: Annotated[float, Gt(0.1), Le(10)] = 1.0
    """Times as long as the motion."""
    speed_m_s: Annotated[MetresPerSecond, Gt(0), Le(15)] | None = None
    """Mean speed along its way, instead of the motion's: the same steps and flights, stances shorter or longer."""
    timing: Literal["given", "stances", "all"] = "given"
    """Which durations are found too, those that take the least effort: none; those of stances, while flights last as
    long as their height says; or all, so that flights get lower where they may."""
    start_s: Annotated[Seconds, Ge(0), Le(3600)] | None = None
    """Where the part of the motion begins that is taken; else at its beginning."""
    end_s: Annotated[Seconds, Gt(0), Le(3600)] | None = None
    """Where it ends."""
    goals: Goals = ()
    """Poses and places at a time, on the floor or in the air; and where feet stand or hands carry: contacts of feet
    are then all there are, instead of the motion's, and so are those of hands."""
    hands_carry: bool = False
    """Whether hands carry too where they rest on the floor in the motion."""
    like: Annotated[tuple[FileText, ...], MaxLen(500), MotionName(), Option(("--like", "-e"), metavar="MOTIONS")] = ()
    """Motions of the behaviour, whose space is searched: files, folders, patterns, graphs (.mog); else the motion
    itself. Repeat for more."""
    only: Only | None = None
    """Of graphs among these, use only the recordings that a query finds: "jump not turn", person:16."""
    nearest: Annotated[int, Ge(0), Le(200)] = 12
    """How many of these to use at most: those whose contacts and direction are most like the motion's; 0 takes all."""
    floor_m: Annotated[Metres, Ge(-1000), Le(1000)] | None = None
    """Height of the floor; else 0, or what the feet stand on."""
    body: BodyRequest = Field(default_factory=BodyRequest)
    """Whose motion it is."""
    quality: Quality = "normal"
    work_limit: Annotated[int, Ge(1), Le(2000)] = 90
    """Iterations of the solver, at most, before it tries otherwise."""
    advanced: PhysicsAdvanced = Field(default_factory=PhysicsAdvanced)
    """The space that is searched, what is minimised in it, and what bodies can bear."""
    finish: PhysicsFinish = Field(default_factory=PhysicsFinish)
    """How the motion becomes frames."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.end_s is not None and self.end_s <= (self.start_s or 0.0):
            raise Wrong("end_s", f"is {self.end_s:g}, not after start_s")
        if self.speed_m_s is not None and self.duration_share != 1.0:
            raise Wrong("speed_m_s", "and duration_share both say how long the motion lasts; drop one of the two")
        if self.only is not None and not any(names_graph(name) for name in self.like):
            raise Wrong("only", "chooses among the clips of a graph, and like names none (.mog)")
        if self.smallest_change:
            for name in _CHANGES:
                if getattr(self, name) != type(self).model_fields[name].default:
                    raise Wrong(name, "is given beside smallest_change, which only finishes; drop one of the two")
        check_goals(self.goals, self.verb)
        for number, goal in enumerate(self.goals):
            self._check_goal(f"goals[{number}]", goal)
        return self

    def _check_goal(self, where: str, goal: Goal) -> None:
        for name, field in type(goal).model_fields.items():
            usual = field.get_default(call_default_factory=True)
            if name not in _SEARCHED[type(goal)] and getattr(goal, name) != usual:
                raise Wrong(f"{where}.{name}", f"is nothing that physics searches for in a goal of {goal.noun}")
        if goal.exact is False:
            raise Wrong(f"{where}.exact", "is false; physics meets all goals exactly")
        if isinstance(goal, ContactGoal):
            side = "foot" if goal.foot else "hand"
            if getattr(goal, side) == "both":
                raise Wrong(f"{where}.{side}", "is both; give a goal for each side")
            if goal.position is None:
                raise Wrong(f"{where}.position", f"is missing; say where the {side} is meanwhile")
        elif goal.at_s is None:
            raise Wrong(f"{where}.at_s", "is missing; say when")
        if isinstance(goal, PoseGoal) and goal.pose.clip:
            raise Wrong(f"{where}.pose.clip", "names a clip; give a file, or only a frame of the motion itself")

    def contacts(self, limb: Literal["foot", "hand"]) -> list[tuple[int, ContactGoal]]:
        """The goals that say where feet stand or hands carry, each with its number in the list."""
        return [(n, g) for n, g in enumerate(self.goals) if isinstance(g, ContactGoal) and getattr(g, limb)]

    def resolved(self, folder: Path, *, allow_code: bool = False) -> Self:
        """The request with motions that it names taken from a folder, where they are there."""
        goals = tuple(
            goal.with_(pose=goal.pose.with_(file=beside(folder, goal.pose.file)))
            if isinstance(goal, PoseGoal) and goal.pose.file
            else goal
            for goal in self.goals
        )
        return self.with_(like=tuple(beside(folder, name, folders=True) for name in self.like), goals=goals)
