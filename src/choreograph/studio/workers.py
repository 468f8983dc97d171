"""The server's side of the worker processes: lanes in which tasks wait, workers that run them, cancelling."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import struct
import sys
from collections.abc import Callable
from typing import Any

from choreograph.base.errors import Cancelled, ChoreographError, RequestError
from choreograph.studio.project_paths import ProjectPaths

OBEY_S = 2.0
"""Seconds that a task has to stop when told to; then its process is ended."""
KEEP_S = 8.0
"""The same where it is to finish what it has found."""

Hear = Callable[[str, tuple[Any, ...]], None]
"""Hears "progress" with stage, done and total, and "found" with what was found and its frames."""


def count_processors() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class WorkerDied(ChoreographError):
    """The process that did the work has ended."""


class StudioClosed(Cancelled):
    """The studio was stopped before the work was done."""

    def __init__(self) -> None:
        super().__init__("the studio was closed")


class WorkerTask:
    """Something asked of a worker."""

    def __init__(self, number: int, name: str, ask: Any, hear: Hear | None) -> None:
        self.number, self.name, self.ask = number, name, ask
        self.hear: Hear = hear or (lambda kind, values: None)
        self.cancelled = False
        self.started = asyncio.Event()
        self.worker: _Worker | None = None
        self._answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    async def answer(self) -> Any:
        """What the task came back with; raises what went wrong, or `Cancelled`."""
        return await asyncio.shield(self._answer)

    def settle(self, value: Any = None, error: BaseException | None = None) -> None:
        """Set the answer."""
        if not self._answer.done():
            if error is None:
                self._answer.set_result(value)
            else:
                self._answer.set_exception(error)
                self._answer.exception()  # somebody may have stopped waiting: that is no news

    def cancel(self, *, keep: bool = False) -> None:
        """Stop it: at once if it waits, soon if it runs; `keep` what it has found by then."""
        if self.cancelled or self._answer.done():
            return
        self.cancelled = True
        if self.worker is None:
            self.settle(error=Cancelled())
        else:
            self.worker.send(("cancel", self.number, keep))
            asyncio.get_running_loop().call_later(KEEP_S if keep else OBEY_S, self._insist, self.worker)

    def _insist(self, worker: _Worker) -> None:
        if not self._answer.done() and self.worker is worker:
            worker.kill()


class _Worker:
    """One process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls, places: ProjectPaths, nice: int) -> _Worker:
        pipe = asyncio.subprocess.PIPE
        words = (sys.executable, "-m", "choreograph.studio.worker")
        worker = cls(await asyncio.create_subprocess_exec(*words, stdin=pipe, stdout=pipe))
        worker.send((places, nice))
        return worker

    @property
    def alive(self) -> bool:
        return self._process.returncode is None

    @property
    def pid(self) -> int:
        return self._process.pid

    def send(self, message: tuple[Any, ...]) -> None:
        assert self._process.stdin is not None
        data = pickle.dumps(message, protocol=5)
        with contextlib.suppress(OSError, RuntimeError):
            self._process.stdin.write(struct.pack("<I", len(data)) + data)

    async def receive(self) -> tuple[Any, ...]:
        """The next message; raises IncompleteReadError when the process has ended."""
        assert self._process.stdout is not None
        head = await self._process.stdout.readexactly(4)
        data = await self._process.stdout.readexactly(struct.unpack("<I", head)[0])
        message: tuple[Any, ...] = pickle.loads(data)  # from our own child
        return message

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    async def end(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), OBEY_S)
        except TimeoutError:
            self.kill()
            await self._process.wait()


class Lane:
    """Workers that take tasks from one queue, each started when it is first needed."""

    def __init__(self, places: ProjectPaths, *, size: int = 1, nice: int = 0) -> None:
        self._places, self._size, self._nice = places, size, nice
        self._waiting: asyncio.Queue[WorkerTask] = asyncio.Queue()
        self._servers: list[asyncio.Task[None]] = []
        self._count = self._busy = 0
        self._closed = False
        self.workers: list[_Worker] = []

    def submit(self, name: str, ask: Any, hear: Hear | None = None) -> WorkerTask:
        """Put a task in the queue."""
        self._count += 1
        task = WorkerTask(self._count, name, ask, hear)
        if self._closed:
            task.settle(error=StudioClosed())
            return task
        self._waiting.put_nowait(task)
        if self._busy + self._waiting.qsize() > len(self._servers) < self._size:
            self._servers.append(asyncio.create_task(self._serve()))
        return task

    async def close(self) -> None:
        """Give up what waits and what is being worked on, then end all workers; what comes later is given up too."""
        self._closed = True
        for server in self._servers:
            server.cancel()
        await asyncio.gather(*self._servers, return_exceptions=True)
        while not self._waiting.empty():
            self._waiting.get_nowait().settle(error=StudioClosed())
        await asyncio.gather(*(worker.end() for worker in self.workers if worker.alive))

    async def _serve(self) -> None:
        worker: _Worker | None = None
        while True:
            task = await self._waiting.get()
            if task.cancelled:
                continue
            self._busy += 1
            try:
                if worker is None or not worker.alive:
                    worker = await _Worker.start(self._places, self._nice)
                    self.workers = [*(w for w in self.workers if w.alive), worker]
                if not task.cancelled:  # while the worker was being started
                    await self._run(worker, task)
            except asyncio.CancelledError:
                task.settle(error=StudioClosed())
                raise
            except (asyncio.IncompleteReadError, OSError):
                if worker is not None:
                    await worker.end()
                    worker = None
                ended = "the process that worked on it has ended (too little memory?); it was started anew, try again"
                task.settle(error=Cancelled() if task.cancelled else WorkerDied(ended))
            finally:
                self._busy -= 1

    async def _run(self, worker: _Worker, task: WorkerTask) -> None:
        task.worker = worker
        task.started.set()
        worker.send(("run", task.number, task.name, task.ask))
        while True:
            kind, number, *values = await worker.receive()
            if number != task.number:
                continue
            if kind in ("progress", "found"):
                if not task.cancelled:
                    task.hear(kind, tuple(values))
            elif kind == "done":
                return task.settle(values[0])
            elif kind == "cancelled":
                return task.settle(error=Cancelled())
            else:
                return task.settle(error=RequestError(values[0], where=values[1]))
