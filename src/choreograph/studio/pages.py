"""Pages that are open: what is said to each, in order, without one waiting for another."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator
from typing import TYPE_CHECKING

from choreograph.studio.document import Message

if TYPE_CHECKING:
    from choreograph.studio.performing import Performing

QUEUE = 2000
"""Messages that a page may be behind; one that reads nothing for longer is let go, and comes back when it can."""


class Page:
    """One open page."""

    def __init__(self) -> None:
        self.id = f"p{secrets.token_hex(6)}"
        self.asks: dict[str, str] = {}
        """The job that works on what this page asked last, by verb."""
        self.found: dict[str, set[str]] = {}
        """Results that were told while they were still being bettered, by verb."""
        self.playing: asyncio.Task[None] | None = None
        self.performing: Performing | None = None
        """A way that this page's user is performing."""
        self.lost = False
        self.waiting: asyncio.Queue[tuple[str, bytes | None]] = asyncio.Queue(QUEUE)

    def say(self, message: Message, frames: bytes | None = None) -> None:
        """Send a message, and the frames that belong to it."""
        self.say_text(message.model_dump_json(), frames)

    def say_text(self, text: str, frames: bytes | None = None) -> None:
        """Send a message that is JSON already."""
        try:
            self.waiting.put_nowait((text, frames))
        except asyncio.QueueFull:
            self.lost = True

    async def say_in_time(self, text: str, frames: bytes) -> None:
        """Send a frame; waits while the page is far behind."""
        await self.waiting.put((text, frames))


class Pages:
    """All open pages."""

    def __init__(self) -> None:
        self._pages: dict[str, Page] = {}

    def __iter__(self) -> Iterator[Page]:
        return iter(list(self._pages.values()))

    def open(self) -> Page:
        """A new page."""
        page = Page()
        self._pages[page.id] = page
        return page

    def close(self, page: Page) -> None:
        """A page has gone; what it asked for is still worked on."""
        self._pages.pop(page.id, None)
        if page.playing is not None:
            page.playing.cancel()
        if page.performing is not None:
            page.performing.stop()

    def say(self, message: Message, *, but: Page | None = None) -> None:
        """Send a message to all pages, or to all but one."""
        text = message.model_dump_json()
        for page in self._pages.values():
            if page is not but:
                page.say_text(text)
