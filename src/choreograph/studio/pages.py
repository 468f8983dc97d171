"""Pages that are open: what is said to each, in order, without one waiting for another."""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING

from choreograph.studio.document import Message

if TYPE_CHECKING:
    from choreograph.studio.dragging import Dragged
    from choreograph.studio.performing import Performing

QUEUE = 2000
"""Messages that a page may be behind; one that reads nothing for longer is let go, and comes back when it can."""
QUEUE_BYTES = 64 << 20
"""The same in bytes, of messages and of frames that come with them."""
QUEUE_FRAMES = 8
"""Frames of a motion that is played that may wait for a page; older ones are dropped: a player wants to see what is
now, not what was."""


class OpenPage:
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
        self.dragging: Dragged | None = None
        """What this page's user drags."""
        self.lost = False
        self.dropped = 0
        """Frames that this page was too slow for."""
        self._waiting: asyncio.Queue[tuple[str, bytes | None] | None] = asyncio.Queue(QUEUE)
        """Messages; None stands for the oldest frame that waits."""
        self._frames: deque[tuple[str, bytes]] = deque(maxlen=QUEUE_FRAMES)
        self._bytes = 0

    def say(self, message: Message, frames: bytes | None = None) -> None:
        """Send a message, and the frames that belong to it."""
        self.say_text(message.model_dump_json(), frames)

    def say_text(self, text: str, frames: bytes | None = None) -> None:
        """Send a message that is JSON already."""
        size = len(text) + len(frames or b"")
        if self._waiting.full() or self._bytes + size > QUEUE_BYTES:
            self.lost = True
            return
        self._bytes += size
        self._waiting.put_nowait((text, frames))

    def say_frame(self, text: str, frame: bytes) -> None:
        """Send a frame of a motion that is played; where the page is behind, the oldest one that waits is dropped."""
        if len(self._frames) == QUEUE_FRAMES:
            self.dropped += 1
        elif self._waiting.full():
            self.lost = True
            return
        else:
            self._waiting.put_nowait(None)
        self._frames.append((text, frame))

    async def next(self) -> tuple[str, bytes | None]:
        """What is to be sent next, in the order in which it was said."""
        entry = await self._waiting.get()
        if entry is None:
            return self._frames.popleft()
        self._bytes -= len(entry[0]) + len(entry[1] or b"")
        return entry


class OpenPages:
    """All open pages."""

    def __init__(self) -> None:
        self._pages: dict[str, OpenPage] = {}

    def __iter__(self) -> Iterator[OpenPage]:
        return iter(list(self._pages.values()))

    def open(self) -> OpenPage:
        """A new page."""
        page = OpenPage()
        self._pages[page.id] = page
        return page

    def close(self, page: OpenPage) -> None:
        """A page has gone; what it asked for is still worked on."""
        self._pages.pop(page.id, None)
        if page.playing is not None:
            page.playing.cancel()
        if page.performing is not None:
            page.performing.stop()

    def say(self, message: Message, *, but: OpenPage | None = None) -> None:
        """Send a message to all pages, or to all but one."""
        text = message.model_dump_json()
        for page in self._pages.values():
            if page is not but:
                page.say_text(text)
