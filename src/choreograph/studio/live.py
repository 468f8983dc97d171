"""The socket: jobs, changes and frames to a page, requests from it. Whatever a page says, the socket stays open."""

from __future__ import annotations

import asyncio
import contextlib
import json
import mmap
from pathlib import Path

from fastapi import WebSocket, WebSocketDisconnect
from pydantic import ValidationError

from choreograph.base.errors import ChoreographError
from choreograph.contract.request import LONGEST_QUOTE
from choreograph.motion.packed import row_bytes
from choreograph.studio import messages as m
from choreograph.studio.drag_messages import Drag
from choreograph.studio.facts import Motion
from choreograph.studio.pages import OpenPage
from choreograph.studio.protocol import PROTOCOL
from choreograph.studio.session import Session

_MESSAGE_S, _CHARACTER_S = 1 / 400, 1 / 20e6
"""Time that passes behind a message of a page, at least, and for each of its characters. Whoever sends more waits: a
flood of messages leaves time for the others."""
_LATE_S = 2.0
"""Time that is made up for where this machine was too slow; what is later than that is never sent."""


async def talk(socket: WebSocket, session: Session) -> None:
    """Talk with a page until it goes."""
    await socket.accept()
    page = session.pages.open()
    writer = asyncio.create_task(_write(socket, page))
    try:
        while not page.lost:
            message = await socket.receive()
            if message["type"] == "websocket.disconnect":
                break
            if message.get("text") is None:
                _complain(page, "only text messages are understood")
            else:
                await _hear(session, page, message["text"])
            await asyncio.sleep(_MESSAGE_S + _CHARACTER_S * len(message.get("text") or ""))
    except (WebSocketDisconnect, RuntimeError):  # it went while something was being sent
        pass
    finally:
        session.pages.close(page)
        writer.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await writer


async def _write(socket: WebSocket, page: OpenPage) -> None:
    """Send what waits, in order; a message's frames right after it."""
    with contextlib.suppress(WebSocketDisconnect, RuntimeError, OSError):
        while not page.lost:
            text, frames = await page.next()
            await socket.send_text(text)
            if frames is not None:
                await socket.send_bytes(frames)
        await socket.close(1013, "the page was too far behind")


async def _hear(session: Session, page: OpenPage, text: str) -> None:
    try:
        message = m.TO_SERVER.validate_json(text)
    except ValidationError as error:
        _complain(page, _first_fault(error))
        return
    try:
        if isinstance(message, m.Hello):
            page.say(m.Welcome(protocol=PROTOCOL, page=page.id))
            session.asking.prepare_first()
        elif isinstance(message, m.Ask):
            _ask(session, page, message)
        elif isinstance(message, m.Moved):
            session.asking.moved(page, message)
        elif isinstance(message, Drag):
            session.asking.dragged(page, message)
        elif isinstance(message, m.Cancel):
            session.jobs.cancel(message.job, keep=True)
        elif isinstance(message, m.Play):
            motion, path = await session.motion_named(message.motion)
            _stop(page)
            page.playing = asyncio.create_task(_play(page, message, motion, path))
        elif isinstance(message, m.Stop):
            _stop(page)
    except ChoreographError as error:
        _complain(page, str(error))


def _ask(session: Session, page: OpenPage, message: m.Ask) -> None:
    try:
        session.asking.ask(message.verb, message.ask, page, message.number, message.subject, passing=message.passing)
    except ChoreographError as error:
        failure = m.Failure(error=str(error), where=getattr(error, "where", None) or None)
        page.say(m.Refused(number=message.number, verb=message.verb, failure=failure))


def _stop(page: OpenPage) -> None:
    if page.playing is not None:
        page.playing.cancel()
        page.playing = None


async def _play(page: OpenPage, ask: m.Play, motion: Motion, path: Path) -> None:
    """Send frames as their time comes. Where this machine is a little late, all of them; where it or the page is
    behind for longer, the newest."""
    data = await asyncio.to_thread(_mapped, path)
    size = row_bytes(len(motion.joints))
    clock = asyncio.get_running_loop().time
    began, sent = clock(), 0
    name = json.dumps(motion.id)
    while True:
        behind = int((clock() - began) * ask.rate_hz) - sent
        if behind > _LATE_S * ask.rate_hz:
            page.dropped += behind
            sent += behind
        due = sent / ask.rate_hz
        frame = ask.start + round(due * motion.fps)
        if ask.loop:
            frame %= motion.frames
        if frame >= motion.frames:
            page.say(m.Over(motion=motion.id))
            return
        # Also where it is late: whoever sends has to have a turn.
        await asyncio.sleep(max(began + due - clock(), 0.0))
        # Written by hand: twenty pages at 60 Hz are 1,200 of these a second.
        text = f'{{"type":"frame","motion":{name},"frame":{float(frame)},"due":{due:.6f}}}'
        page.say_frame(text, data[frame * size : (frame + 1) * size])
        sent += 1


def _mapped(path: Path) -> mmap.mmap:
    """A file's content, of which pages that play the same motion share one copy."""
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _complain(page: OpenPage, why: str) -> None:
    page.say(m.Trouble(failure=m.Failure(error=why)))


def _first_fault(error: ValidationError) -> str:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]).lstrip(".")
    where, text = where[:LONGEST_QUOTE], first["msg"][: 3 * LONGEST_QUOTE]
    return f"{where}: {text}" if where else text
