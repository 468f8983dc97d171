"""The socket that a character is steered through: JSON in, a JSON hello and binary frames out.

Time goes on at the stream's rate whatever the client does. A frame that the client is not ready for is dropped: nothing
waits in a queue. See docs/steer.md for the messages.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import WebSocket, WebSocketDisconnect

from choreograph.errors import ChoreographError, RequestError
from choreograph.studio.subjects import Subject, VerbAsk

if TYPE_CHECKING:
    from choreograph.studio.session import Session
    from choreograph.synthesis.steer.controller import SteerBrain
    from choreograph.synthesis.steer.pool import Pool
    from choreograph.synthesis.steer.stream import SteerStream

MAX_CLIENTS = 16
MAX_TOGETHER = 200
"""Characters of all clients together: more would keep everybody waiting."""
_MESSAGE_S = 1 / 400
"""Time that passes between two messages of a client, at least; and as long again as the last one took to do. Whoever
sends more waits: a flood of messages leaves time for the others."""
_LATE_S = 0.25
"""Time that is not made up for where this machine was too slow."""


class Steering:
    """What is prepared for characters of the project's graph, once for all clients."""

    def __init__(self) -> None:
        self.clients = 0
        self.streams: list[SteerStream] = []
        self._lock = asyncio.Lock()
        self._key: tuple[str, float] | None = None
        self._ready: tuple[SteerBrain, Pool] | None = None

    def characters(self) -> int:
        """How many there are, of all clients."""
        return sum(len(stream.crowd.characters) for stream in self.streams)

    async def ready(self, session: Session) -> tuple[SteerBrain, Pool]:
        """Steps and value functions of the project's graph; the first time this takes a while."""
        graph = session.project.graph_file
        if graph is None or not Path(graph).is_file():
            raise RequestError("there is no graph yet; build it first")
        key = graph, Path(graph).stat().st_mtime
        async with self._lock:
            if self._ready is None or self._key != key:
                # Learning is a worker's: here it would keep everybody waiting. What it learns is then in the cache.
                ask = VerbAsk("steer", {}, Subject("graph", graph))
                await session.asking.lanes["steer"].submit("prepare", ask).answer()
                self._ready, self._key = await asyncio.to_thread(_prepare, Path(graph)), key
            return self._ready


def _prepare(graph: Path) -> tuple[SteerBrain, Pool]:
    from choreograph.graph.store import open_graph
    from choreograph.synthesis.narrow import narrow
    from choreograph.synthesis.steer.pool import build_pool
    from choreograph.synthesis.steer.prepare import find_brain
    from choreograph.synthesis.steer.request import SteerRequest
    from choreograph.synthesis.steer.stream import SteerStream

    brain = find_brain(narrow(open_graph(graph), SteerRequest()).subject, tasks=("navigate", "spin", "avoid"))
    pool = build_pool(brain.costs.steps.clips)
    # Once here: the first time, kernels are compiled or loaded, and whoever talks to the studio would wait for that.
    stream = SteerStream(brain, pool)
    stream.hear({"type": "obstacles", "obstacles": [{"x": 0, "z": 2}]})
    for _ in range(2):
        stream.tick()
    for kind in ("plan", "heat"):
        stream.hear({"type": kind})
    return brain, pool


async def steer(socket: WebSocket, session: Session) -> None:
    """Steer characters for a client until it goes."""
    from choreograph.synthesis.steer.stream import SteerStream

    await socket.accept()
    steering = session.steering
    if steering.clients >= MAX_CLIENTS:
        await socket.close(1013, "too many steer at once")
        return
    steering.clients += 1
    stream = None
    try:
        await socket.send_text(json.dumps({"type": "preparing"}))
        brain, pool = await steering.ready(session)
        stream = SteerStream(brain, pool)
        steering.streams.append(stream)
        await socket.send_text(json.dumps(stream.hello()))
        await _run(socket, steering, stream)
    except ChoreographError as error:
        with contextlib.suppress(RuntimeError, WebSocketDisconnect):
            await socket.send_text(json.dumps({"type": "error", "error": str(error)}))
            await socket.close(1011, "it cannot be steered")
    except (WebSocketDisconnect, RuntimeError):
        pass
    finally:
        steering.clients -= 1
        if stream is not None:
            steering.streams.remove(stream)


async def _run(socket: WebSocket, steering: Steering, stream: SteerStream) -> None:
    """Tick and listen until the client goes."""
    newest: list[bytes | str] = []
    texts: list[str] = []
    wake = asyncio.Event()
    tasks = [
        asyncio.create_task(_write(socket, newest, texts, wake)),
        asyncio.create_task(_tick(stream, newest, wake)),
        asyncio.create_task(_listen(socket, steering, stream, texts, wake)),
    ]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _tick(stream: Any, newest: list[bytes | str], wake: asyncio.Event) -> None:
    clock, dt = asyncio.get_running_loop().time, 1 / stream.rate_hz
    due = clock()
    while True:
        due = max(due + dt, clock() - _LATE_S)
        await asyncio.sleep(max(due - clock(), 0.0))
        frame = stream.tick()
        if newest:  # the one before was not sent yet: it never will be
            newest.clear()
            stream.dropped += 1
        newest.append(frame)
        wake.set()


async def _write(socket: WebSocket, newest: list[bytes | str], texts: list[str], wake: asyncio.Event) -> None:
    while True:
        await wake.wait()
        wake.clear()
        while texts:
            await socket.send_text(texts.pop(0))
        if newest:
            await socket.send_bytes(newest.pop())  # type: ignore[arg-type]


async def _listen(
    socket: WebSocket, steering: Steering, stream: SteerStream, texts: list[str], wake: asyncio.Event
) -> None:
    from choreograph.synthesis.steer.stream import read_message

    clock = asyncio.get_running_loop().time
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return
        text, began = message.get("text"), clock()
        try:
            said = read_message(text)
            if isinstance(said, dict) and said.get("type") == "add" and steering.characters() >= MAX_TOGETHER:
                raise RequestError(f"there are {MAX_TOGETHER} characters of all clients already")
            answer = stream.hear(said)
        except ChoreographError as error:
            answer = {"type": "error", "error": str(error), "where": getattr(error, "where", "")}
        if answer is not None:
            del texts[:-50]  # a client that asks and never reads
            texts.append(json.dumps(answer))
            wake.set()
        await asyncio.sleep(max(_MESSAGE_S, clock() - began))
