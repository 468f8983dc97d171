"""Search: work that finds motion, a step at a time, and can be asked at any moment for the best it has."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from choreograph.base.errors import RequestError
from choreograph.base.progress import Progress, silent
from choreograph.contract.request import Request
from choreograph.contract.result import Result
from choreograph.motion.clip import Clip


@dataclass(frozen=True)
class Budget:
    """How far a search may go before it comes back. Steps give the same on any machine; seconds do not."""

    steps: int | None = None
    """Of the search's own kind: planning steps, evaluations …; None is no limit."""
    seconds: float | None = None

    def started(self) -> Clock:
        """A clock that tells when the budget is used up."""
        return Clock(self)


class Clock:
    """Counts down a budget."""

    def __init__(self, budget: Budget) -> None:
        self._budget, self._began, self._steps = budget, time.monotonic(), 0

    def spent(self, steps: int = 0) -> bool:
        """Whether the budget is used up after so many more steps."""
        self._steps += steps
        budget = self._budget
        late = budget.seconds is not None and time.monotonic() - self._began >= budget.seconds
        return late or (budget.steps is not None and self._steps >= budget.steps)


class Search(ABC):
    """A verb at work on one request.

    `step` goes on for a while, `best` gives what there is, as often as one likes. Progress that raises `Cancelled`
    leaves what was found, and the search can go on. A verb that answers at once is a search of one step.
    """

    grows: ClassVar[bool] = False
    """Whether an unfinished answer is the beginning of the finished one: then it is worth showing as it grows."""

    def __init__(self, request: Request) -> None:
        self.request = request
        self.began = time.monotonic()
        self.carried = False
        """Whether what was found for requests before the present one shows in its answers."""
        self.watch: Callable[[Callable[[], Clip]], None] | None = None
        """Hears of motions that the search passes through on the way to its answer, where they are worth seeing; gets
        a function that makes the motion, so that nobody makes one that nobody looks at."""

    @property
    @abstractmethod
    def done(self) -> bool:
        """Whether the request is answered as well as it asks to be."""

    @abstractmethod
    def step(self, budget: Budget = Budget(), progress: Progress = silent) -> bool:
        """Go on until the budget is used up or the request is answered; whether there is more to do."""

    @abstractmethod
    def best(self) -> Result:
        """The answers so far, finished and measured, best first.

        Raises:
            RequestError: If nothing was found yet.
        """

    def first(self) -> Result:
        """The best answer so far without the others, where those would take a while; for whoever waits to see one."""
        return self.best()

    def amount(self, stage: str, done: float, total: float) -> str | None:
        """How far a stage of the work has come, in words; None where its units are just to be counted."""
        return None

    def change(self, request: Request) -> None:
        """Ask for something else from here on; what was found is used as far as it helps."""
        raise RequestError("this search cannot be given another request; begin a new one")

    def reuse(self, earlier: Search) -> None:  # noqa: B027 - most searches have nothing to take over
        """Take over what an earlier search on the same subject has computed and this one needs too.

        What is found stays the same to the bit; it only comes sooner. Faces that keep searches call it before `step`.
        """

    def state(self) -> dict[str, Any]:
        """What the search knows, as plain values for JSON; `resume` goes on from it."""
        raise RequestError("this search cannot be kept and resumed")

    def resume(self, state: Mapping[str, Any]) -> None:
        """Go on from a state that an earlier search of the same request gave.

        Raises:
            SearchStateError: If it is damaged, or of another request or subject.
        """
        raise RequestError("this search cannot be resumed")

    def run(self, progress: Progress | None = None) -> Result:
        """Search until the request is answered."""
        while not self.done and self.step(progress=progress or silent):
            pass
        return self.best()


Made = TypeVar("Made")


class OneStepSearch(Search, Generic[Made]):
    """A search that answers at once: what it makes is made in one step, and anew for another request."""

    def __init__(self, request: Request) -> None:
        super().__init__(request)
        self._made: Made | None = None
        self.seconds = 0.0
        """How long it took."""

    @abstractmethod
    def make(self, progress: Progress) -> Made:
        """What the request asks for."""

    @property
    def made(self) -> Made:
        """What was made.

        Raises:
            RequestError: If nothing was made yet.
        """
        if self._made is None:
            raise RequestError("nothing was made yet")
        return self._made

    @property
    def done(self) -> bool:
        """Whether it is made."""
        return self._made is not None

    def step(self, budget: Budget = Budget(), progress: Progress = silent) -> bool:
        """Make it."""
        if self._made is None:
            began = time.monotonic()
            self._made = self.make(progress)
            self.seconds = time.monotonic() - began
        return False

    def change(self, request: Request) -> None:
        """Make something else."""
        self.request, self._made = request, None
