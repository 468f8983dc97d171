"""Goals that a page drags: the newest request goes to the worker as fast as that takes them, and motion comes back."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from choreograph.base.errors import Cancelled, ChoreographError
from choreograph.studio import messages as m
from choreograph.studio.drag_messages import Pulled
from choreograph.studio.subjects import VerbAsk

if TYPE_CHECKING:
    from choreograph.studio.pages import OpenPage
    from choreograph.studio.workers import Lane


class Dragged:
    """A drag that goes on. What came while the worker was busy and is not the newest is never answered."""

    def __init__(self, page: OpenPage, lane: Lane, number: int) -> None:
        self.number = number
        self._page, self._lane = page, lane
        self._newest: tuple[VerbAsk, Pulled | None] | None = None
        self._run: asyncio.Task[None] | None = None

    def move(self, ask: VerbAsk, pull: Pulled | None) -> None:
        """Take what would be asked if the drag ended here; the last one is always answered."""
        self._newest = ask, pull
        if self._run is None:
            self._run = asyncio.create_task(self._work())

    async def _work(self) -> None:
        try:
            while self._newest is not None:
                (ask, pull), self._newest = self._newest, None
                whole = {"page": self._page.id, "number": self.number, "ask": ask, "pull": pull}
                motion, frames = await self._lane.submit("dragged", whole).answer()
                partial = m.Partial(number=self.number, verb=ask.verb, motion=motion, start=0, count=motion.frames)
                self._page.say(partial, frames)
        except Cancelled:
            pass
        except ChoreographError as error:
            failure = m.Failure(error=str(error), where=getattr(error, "where", None) or None)
            self._page.say(m.Refused(number=self.number, verb="complete", failure=failure))
        finally:
            self._run = None
