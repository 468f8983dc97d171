"""A way that a page performs: its places go to the worker as fast as that takes them, and frames come back."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from choreograph.base.errors import Cancelled, ChoreographError
from choreograph.studio import messages as m
from choreograph.studio.document import Sample
from choreograph.studio.subjects import VerbAsk

if TYPE_CHECKING:
    from choreograph.studio.pages import OpenPage
    from choreograph.studio.workers import Lane


class Performing:
    """A performance that goes on."""

    def __init__(self, page: OpenPage, lane: Lane, number: int, begin: VerbAsk, lag_s: float) -> None:
        self.number = number
        self._page, self._lane, self._lag_s = page, lane, lag_s
        self._begin: VerbAsk | None = begin
        self._waiting: list[Sample] = []
        self._run: asyncio.Task[None] | None = None
        self._over = False

    def push(self, samples: list[Sample]) -> None:
        """Take places; those that come while others are worked on go together."""
        self._waiting += samples
        if self._run is None and not self._over:
            self._run = asyncio.create_task(self._work())

    def stop(self) -> None:
        """It is over: what still waits is part of the whole that is asked for next."""
        self._over = True
        self._waiting.clear()

    async def _work(self) -> None:
        try:
            while self._waiting:
                samples, self._waiting = self._waiting, []
                ask = {"page": self._page.id, "number": self.number, "begin": self._begin, "samples": samples}
                self._begin = None
                moved = await self._lane.submit("moved", {**ask, "lag_s": self._lag_s}).answer()
                if moved is not None and not self._over:
                    motion, start, frames = moved
                    count = motion.frames - start
                    self._page.say(
                        m.Partial(number=self.number, verb="perform", motion=motion, start=start, count=count), frames
                    )
        except Cancelled:
            self._over = True
        except ChoreographError as error:
            self._over = True
            self._page.say(m.Refused(number=self.number, verb="perform", failure=m.Failure(error=str(error))))
        finally:
            self._run = None
