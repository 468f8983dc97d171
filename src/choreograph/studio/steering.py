"""The socket that a character is steered through: JSON in, a JSON hello and binary frames out.

Time goes on at the stream's rate whatever the client does. A frame that the client is not ready for is dropped: nothing
waits in a queue. See docs/steer.md for the messages.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import WebSocket, WebSocketDisconnect

from choreograph.base.errors import ChoreographError, RequestError
from choreograph.studio.subjects import VerbAsk, VerbSubject

if TYPE_CHECKING:
    from choreograph.graph.model import MotionGraph
    from choreograph.studio.session import Session
    from choreograph.verbs.steer.controller import SteerPolicy
    from choreograph.verbs.steer.frame_pool import FramePool
    from choreograph.verbs.steer.steps import StepClips
    from choreograph.verbs.steer.stream import SteerStream

MAX_CLIENTS = 16  # that listen to one steered motion
MAX_TOGETHER = 200
"""Characters of all clients together: more would keep everybody waiting."""
_MESSAGE_S = 1 / 400
"""Time that passes between two messages of a client, at least; and as long again as the last one took to do. Whoever
sends more waits: a flood of messages leaves time for the others."""
_TOLD_S = 0.2
"""Time between two messages about how far preparing has come."""
_LATE_S = 0.25
"""Time that is not made up for where this machine was too slow."""
_STALLED_S = 60.0
"""Time after which a client that takes nothing is let go: it cannot be told from one that is gone, and its place is
wanted. One that reads slowly stays."""
_CLOSING_S = 1.0
"""Time that it may take to say so."""


class Steering:
    """What is prepared for characters of the project's graph, once for all clients."""

    def __init__(self) -> None:
        self.clients = 0
        self.streams: dict[SteerStream, list[str]] = {}
        """Those of all clients, with the texts that wait for them."""
        self.stage: tuple[str, int, int] = ("", 0, 0)
        """How far learning has come: stage, done, total."""
        self._lock = asyncio.Lock()
        self._work: _Learning | None = None
        self._ready: tuple[SteerPolicy, FramePool] | None = None

    def characters(self) -> int:
        """How many there are, of all clients."""
        return sum(len(stream.crowd.characters) for stream in self.streams)

    def begin(self, session: Session) -> _Learning:
        """Let a worker learn what the project's graph needs, if it has not yet. Here it would keep everybody waiting;
        what it learns is then in the cache."""
        graph = session.project.graph_file
        if graph is None or not Path(graph).is_file():
            raise RequestError("there is no graph yet; build it first")
        key = graph, Path(graph).stat().st_mtime
        if self._work is None or self._work.key != key:
            from choreograph.verbs.steer.prepare import FIRST_READY

            first = asyncio.Event()

            def hear(kind: str, values: tuple[Any, ...]) -> None:
                if kind == "progress":
                    self.stage = values[0], values[1], values[2]
                    if values[0] == FIRST_READY:
                        first.set()

            task = session.asking.lanes["steer"].submit(
                "prepare", VerbAsk("steer", {}, VerbSubject("graph", graph)), hear
            )
            self._work, self._ready = _Learning(key, first, asyncio.ensure_future(task.answer())), None
        return self._work

    async def ready(self, session: Session) -> tuple[SteerPolicy, FramePool]:
        """Steps and value functions of the project's graph: the first time those that are learned quickly, which make
        room for the better ones as soon as these are there."""
        work = self.begin(session)
        async with self._lock:
            if self._ready is None:
                # Steps are laid out here while the worker learns, so that both are there at about the same time.
                laying = asyncio.ensure_future(asyncio.to_thread(_lay_out, Path(work.key[0])))
                laying.add_done_callback(lambda done: done.cancelled() or done.exception())  # told by the worker, too
                waits = asyncio.ensure_future(work.first.wait())
                try:
                    await asyncio.wait({work.whole, waits}, return_when=asyncio.FIRST_COMPLETED)
                    first = not work.whole.done()
                    if not first:
                        work.whole.result()
                    self._ready = await asyncio.to_thread(_prepare, await laying, first=first)
                except BaseException:
                    self._work = None  # the next client tries again
                    raise
                finally:
                    waits.cancel()
                    laying.cancel()
                if first:
                    work.improving = asyncio.create_task(self._improve(work))
            return self._ready

    async def _improve(self, work: _Learning) -> None:
        """Go over to what was learned meanwhile."""
        assert self._ready is not None
        old = self._ready
        try:
            await work.whole
            laid = await asyncio.to_thread(_lay_out, Path(work.key[0]), known=old)
            better = await asyncio.to_thread(_prepare, laid)
        except ChoreographError as error:
            message = json.dumps({"type": "error", "error": f"it is steered with what was learned first: {error}"})
            for texts in self.streams.values():
                texts.append(message)
            self._work = None  # the next client tries again
            return
        if self._work is work:
            self._ready = better
        for stream, texts in self.streams.items():
            if stream.policy is old[0]:
                texts.append(json.dumps(stream.adopt(better[0])))


@dataclass
class _Learning:
    """What a worker learns of a graph."""

    key: tuple[str, float]
    """The graph's file, and when it was written."""
    first: asyncio.Event
    """Set when characters can be steered."""
    whole: asyncio.Future[Any]
    """Done when all is learned."""
    improving: asyncio.Task[None] | None = None


def _lay_out(
    graph: Path, *, known: tuple[SteerPolicy, FramePool] | None = None
) -> tuple[MotionGraph, StepClips, FramePool]:
    """Whose motion, its steps and their frames; those that are known where they are."""
    from choreograph.graph.store import open_graph
    from choreograph.verbs.clip_selection import narrow
    from choreograph.verbs.steer.frame_pool import build_frame_pool
    from choreograph.verbs.steer.prepare import find_steps
    from choreograph.verbs.steer.request import SteerRequest

    chosen = narrow(open_graph(graph), SteerRequest()).subject
    if known is not None:
        return chosen, known[0].costs.steps, known[1]
    steps = find_steps(chosen)
    return chosen, steps, build_frame_pool(steps.clips)


def _prepare(laid: tuple[MotionGraph, StepClips, FramePool], *, first: bool = False) -> tuple[SteerPolicy, FramePool]:
    """What characters need; at first with what is learned quickly."""
    from choreograph.verbs.steer.learn import QUICK, PolicyLearning
    from choreograph.verbs.steer.prepare import load_policy
    from choreograph.verbs.steer.stream import SteerStream

    graph, steps, pool = laid
    tasks = ("navigate",) if first else ("navigate", "spin", "avoid")
    policy = load_policy(graph, tasks=tasks, learning=QUICK if first else PolicyLearning(), steps=steps)
    # Once here: the first time, kernels are compiled or loaded, and whoever talks to the studio would wait for that.
    stream = SteerStream(policy, pool)
    stream.hear({"type": "obstacles", "obstacles": [{"x": 0, "z": 2}]})
    stream.hear({"type": "goal", "heading_deg": 0, "speed": 1.3})
    for _ in range(2):
        stream.tick()
    for kind in ("plan", "heat"):
        stream.hear({"type": kind})
    return policy, pool


async def _tell_progress(socket: WebSocket, steering: Steering) -> None:
    """Say how far preparing has come, until it is done."""
    stage = steering.stage
    while True:
        await asyncio.sleep(_TOLD_S)
        if steering.stage != stage:
            stage = steering.stage
            await socket.send_text(_preparing(stage))


def _preparing(stage: tuple[str, int, int]) -> str:
    return json.dumps({"type": "preparing", "stage": stage[0], "done": stage[1], "total": stage[2]})


async def steer(socket: WebSocket, session: Session) -> None:
    """Steer characters for a client until it goes."""
    from choreograph.verbs.steer.stream import SteerStream

    await socket.accept()
    steering = session.steering
    if steering.clients >= MAX_CLIENTS:
        await socket.close(1013, "too many steer at once")
        return
    steering.clients += 1
    stream: SteerStream | None = None
    try:
        await socket.send_text(_preparing(steering.stage))
        telling = asyncio.create_task(_tell_progress(socket, steering))
        try:
            policy, pool = await steering.ready(session)
        finally:
            telling.cancel()
            await asyncio.gather(telling, return_exceptions=True)
        stream = SteerStream(policy, pool)
        texts = steering.streams[stream] = []
        await socket.send_text(json.dumps(stream.hello()))
        if not stream.learning:
            texts.append(json.dumps(stream.learned()))
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
            steering.streams.pop(stream, None)


async def _run(socket: WebSocket, steering: Steering, stream: SteerStream) -> None:
    """Tick and listen until the client goes."""
    newest: list[bytes] = []
    texts = steering.streams[stream]
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


async def _tick(stream: Any, newest: list[bytes], wake: asyncio.Event) -> None:
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


async def _write(socket: WebSocket, newest: list[bytes], texts: list[str], wake: asyncio.Event) -> None:
    while True:
        await wake.wait()
        wake.clear()
        try:
            async with asyncio.timeout(_STALLED_S):
                while texts:
                    await socket.send_text(texts.pop(0))
                if newest:
                    await socket.send_bytes(newest.pop())
        except TimeoutError:
            with contextlib.suppress(TimeoutError, RuntimeError, WebSocketDisconnect):
                async with asyncio.timeout(_CLOSING_S):
                    await socket.close(1008, f"nothing was read for {_STALLED_S:.0f} s")
            return


async def _listen(
    socket: WebSocket, steering: Steering, stream: SteerStream, texts: list[str], wake: asyncio.Event
) -> None:
    from choreograph.verbs.steer.stream import read_message

    clock = asyncio.get_running_loop().time
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return
        text, began = message.get("text"), clock()
        try:
            words = read_message(text)
            if isinstance(words, dict) and words.get("type") == "add" and steering.characters() >= MAX_TOGETHER:
                raise RequestError(f"there are {MAX_TOGETHER} characters of all clients already")
            answer = stream.hear(words)
        except ChoreographError as error:
            answer = {"type": "error", "error": str(error), "where": getattr(error, "where", "")}
        if answer is not None:
            del texts[:-50]  # a client that asks and never reads
            texts.append(json.dumps(answer))
            wake.set()
        await asyncio.sleep(max(_MESSAGE_S, clock() - began))
