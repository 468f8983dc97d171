"""What can be asked of planning: from where to where, through what, at what cost, and how long to search."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from annotated_types import Ge, Gt, Le, MaxLen
from pydantic import Field, model_validator

from choreograph.contract.clip_filter import ChosenRequest
from choreograph.contract.fields import Unit
from choreograph.contract.request import FileName, Metres, Option, Request, Seconds, Wrong
from choreograph.finishing.settings import FinishSettings
from choreograph.verbs.plan.scene_elements import (
    FARTHEST_M,
    Bar,
    Corridor,
    Gate,
    Goal,
    Region,
    Solid,
    Start,
    StepOver,
)

_MANY, _STAGES = MaxLen(10_000), MaxLen(60)
LISTS = ("obstacles", "gaps", "stones", "keep_off", "bars", "step_over", "through")


class PlanSettings(Request):
    """How the search goes about it."""

    panel: ClassVar[str] = "Search"

    lattice_m: Annotated[Metres, Ge(0.02), Le(1)] = 0.2
    """Size of the cells of which the search keeps the cheapest way into each; what is proved, is within it."""
    lattice_deg: Annotated[float, Unit("°"), Ge(3), Le(60), Option(("--lattice-deg",))] = 15.0
    """Likewise, of headings."""
    first_weight: Annotated[float, Ge(1), Le(100)] = 3.0
    """Heuristic weight of the first answer, which is that near to the best; it then goes down to 1."""
    compression: Literal["auto", "on", "off"] = "auto"
    """Whether steps that do what others do are left out: auto looks among all of them where there is no answer without,
    or time is left."""
    refine: Annotated[bool, Option(("--no-refine",), inverted=True)] = True
    """Whether it goes on, once its answer is proved to be the best and time is left: in cells half as large, and then
    among the steps that compression left out."""
    margin_m: Annotated[Metres, Ge(0), Le(0.5)] = 0.03
    """How much farther than it must the search keeps from things, so that finishing does not touch them."""
    repairs: Annotated[int, Ge(0), Le(20)] = 4
    """How often the search begins again, farther from what a finished motion touched."""
    memory_mb: Annotated[int, Unit("MB"), Ge(64), Le(16_384)] = 400
    """Memory that the search may use; when it is used up, the best answer so far is the answer."""


class PlanRequest(ChosenRequest):
    """From here to there through a scene.

    >>> PlanRequest(goal={"position": (0.0, 4.0)}, obstacles=[Solid.of_circle((0.0, 2.0), 0.3)]).goal.radius
    0.3
    """

    verb = "plan"

    most_frames: ClassVar[int] = 12_000
    effort: ClassVar[tuple[str, ...]] = ("seconds", "evaluations", "within")

    start: Start = Field(default_factory=Start)
    """Where the motion begins."""
    goal: Goal | None = None
    """Where it ends."""
    obstacles: Annotated[tuple[Solid, ...], _MANY] = ()
    """What to go round: no part of the body touches it."""
    gaps: Annotated[tuple[Region, ...], _MANY] = ()
    """Holes in the floor: no foot stands there, but on stones."""
    stones: Annotated[tuple[Region, ...], _STAGES] = ()
    """Where a foot must step, in order."""
    keep_off: Annotated[tuple[Region, ...], _MANY] = ()
    """Where no foot may step."""
    bars: Annotated[tuple[Bar, ...], _MANY] = ()
    """What to pass under."""
    step_over: Annotated[tuple[StepOver, ...], _MANY] = ()
    """What to step over."""
    through: Annotated[tuple[Gate, ...], _STAGES] = ()
    """Points and gates to pass, in order."""
    path: Corridor | None = None
    """A path to keep near."""
    drawing: Annotated[str, MaxLen(4096), FileName(), Option(("--drawing",))] = ""
    """An SVG floor plan: its layers obstacles, gaps, stones, keep_off, bars, step_over, through, path, start and goal
    join what the request has."""
    objective: Literal["effort", "time", "length", "torque"] = "effort"
    """What to make least: squared accelerations of the joints, time, way, or squared torques of the joints."""
    interpolation: Annotated[bool, Option(("--no-interpolation",), inverted=True)] = True
    """Whether steps may be blends of recorded ones; without, it is a plain motion graph."""
    count: Annotated[int, Ge(1), Le(20), Option(("--count", "-n"))] = 1
    """How many different answers."""
    apart_m: Annotated[Metres, Ge(0), Le(100)] = 0.5
    """How far from each other the ways of two answers must be somewhere."""
    seconds: Annotated[Seconds, Gt(0), Le(3600)] = 10.0
    """How long to search; it ends sooner where nothing better can be had."""
    evaluations: Annotated[int, Ge(1), Le(10**9)] | None = None
    """States to expand at most, instead of a time: the same number gives the same answer anywhere."""
    within: Annotated[float, Ge(1), Le(100)] = 1.0
    """The search ends when its answer is proved to cost no more than so many times the best."""
    search: PlanSettings = Field(default_factory=PlanSettings)
    """How the search goes about it."""
    finish: FinishSettings = Field(default_factory=FinishSettings)
    """How the plan becomes motion."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.goal is None and not self.drawing:
            raise Wrong("goal", "is missing")
        for where, (x, z) in self._places():
            if abs(x) > FARTHEST_M or abs(z) > FARTHEST_M:
                raise Wrong(where, f"is ({x:g}, {z:g}); a scene is within {FARTHEST_M:g} m of its origin")
        if self.path is not None and len(self.path.points) and (len(self.stones) + 1) * (len(self.through) + 1) > 1000:
            raise Wrong("through", "and stones are too many beside each other; give fewer of them")
        return self

    def _places(self) -> list[tuple[str, tuple[float, float]]]:
        found = [("start.position", self.start.position)]
        found += [] if self.goal is None else [("goal.position", self.goal.position)]
        found += [(f"through[{n}]", gate.middle) for n, gate in enumerate(self.through)]
        found += [(f"bars[{n}].ends", end) for n, bar in enumerate(self.bars) for end in bar.ends]
        found += [] if self.path is None else [(f"path.points[{n}]", at) for n, at in enumerate(self.path.points)]
        return found

    def resolved(self, folder: Path, *, allow_code: bool = False) -> Self:
        """The request with what its drawing holds."""
        if not self.drawing:
            return self
        from choreograph.verbs.plan.drawing import read_drawing

        return self.with_(drawing="", **read_drawing(folder / self.drawing, self))
