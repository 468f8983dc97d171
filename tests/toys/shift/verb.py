"""The toy verb: a request, a search of one step, a result."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from annotated_types import Ge, Le
from pydantic import Field

from choreograph.base.errors import RequestError
from choreograph.base.floor import FloorTransform
from choreograph.base.progress import Progress, silent
from choreograph.contract.problem import Problem, ProblemKind
from choreograph.contract.request import Metres, Request
from choreograph.contract.result import Answer, Metric, Motion, Result
from choreograph.contract.search import Budget, Search
from choreograph.contract.verb import CLIP, Verb
from choreograph.motion.clip import Clip

FAR_M = 5.0


class Turning(Request):
    """What is done besides."""

    panel: ClassVar[str] = "Turning"

    about: Literal["left", "right", "none"] = "none"
    """Which way to look."""


class ShiftRequest(Request):
    """How far to shift."""

    along_m: Annotated[Metres, Ge(-100), Le(100)] = 1.0
    """How far along z."""
    loud: bool = False
    """Say more."""
    turning: Turning = Field(default_factory=Turning)
    """What is done besides."""


class ShiftSearch(Search):
    """Shifts at once."""

    def __init__(self, clip: Clip, request: ShiftRequest) -> None:
        super().__init__(request)
        self.request: ShiftRequest = request
        self._clip, self._moved = clip, None

    @property
    def done(self) -> bool:
        return self._moved is not None

    def step(self, budget: Budget = Budget(), progress: Progress = silent) -> bool:
        progress("shifting", 0, 1)
        self._moved: Clip | None = self._clip.moved(FloorTransform(z=self.request.along_m)).with_name("shifted")
        return False

    def best(self) -> Result:
        if self._moved is None:
            raise RequestError("nothing was shifted yet")
        along = self.request.along_m
        problems = (
            Problem.of(
                ProblemKind.POSITION_MISSED, "along_m", what="The motion", asked=FAR_M, got=along, unit="m",
                place=(0.0, 0.0, along), metric="shifted",
            ),
        ) if along > FAR_M else ()  # fmt: skip
        metrics: dict[str, Any] = {"shifted": Metric(along, "m", "shifted by")}
        return Result("shift", self.request, (Answer((Motion(self._moved),), f"by {along:g} m", metrics, problems),))


VERB = Verb(
    name="shift",
    about="Shift a motion along the floor.",
    request=ShiftRequest,
    subject=CLIP,
    search=ShiftSearch,
    examples=("shift walk.bvh --along 2 -o there.bvh",),
)
