"""Work that takes a while, as pages see it: it can be watched, cancelled and found again."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from choreograph.base.errors import Cancelled, ChoreographError
from choreograph.studio.facts import Job
from choreograph.studio.workers import Lane, WorkerTask

KEPT = 40
"""Jobs that ended and are still listed."""
QUIET_S = 0.3
"""Seconds after which an answer that is being searched for is announced as a job."""

Finish = Callable[[Any], Awaitable[list[str]]]
"""What the server does with a task's answer; ids of what came of it, or `Partly`."""


def new_job_id() -> str:
    """A name for a job."""
    return f"j{secrets.token_hex(6)}"


@dataclass(frozen=True)
class Work:
    """What a job does."""

    kind: str
    title: str
    """For people."""
    lane: Lane
    """Where it waits for a worker."""
    task: str
    ask: Any
    """What is asked of the task."""
    quiet: bool = False
    """Whether it is listed only if it takes long."""
    id: str = field(default_factory=new_job_id)


def _nothing(*_: Any) -> None:
    return None


@dataclass(frozen=True)
class Hooks:
    """Who hears of a job."""

    found: Callable[[Any, bytes], None] = _nothing
    """Parts of the answer."""
    failed: Callable[[ChoreographError], None] = _nothing
    """Why there is none."""
    after: Callable[[], None] = _nothing
    """In the end, however it ended."""


class Partly(ChoreographError):
    """Some of what was asked was done."""

    def __init__(self, results: list[str], what: str) -> None:
        self.results = results
        super().__init__(what)


class Jobs:
    """All jobs, the newest last."""

    def __init__(self, announce: Callable[[Job], None]) -> None:
        self._announce = announce
        self._jobs: dict[str, Job] = {}
        self._tasks: dict[str, WorkerTask] = {}
        self._runs: set[asyncio.Task[None]] = set()

    def list(self) -> list[Job]:
        """Jobs as they are now."""
        return [self._with_time(job) for job in self._jobs.values()]

    def find(self, job: str) -> Job | None:
        """A job by its id."""
        known = self._jobs.get(job)
        return None if known is None else self._with_time(known)

    def cancel(self, job: str, *, keep: bool = False) -> None:
        """Stop a job, and `keep` what it has found; nothing happens to one that has ended."""
        if job in self._tasks:
            self._tasks[job].cancel(keep=keep)

    def start(self, work: Work, finish: Finish, hooks: Hooks = Hooks()) -> Job:
        """Begin a job; `finish` is what is done with its answer."""
        job = Job(id=work.id, kind=work.kind, title=work.title, state="waiting", started=time.time())

        def hear(what: str, values: tuple[Any, ...]) -> None:
            if what == "found":
                hooks.found(*values)
                return
            job.stage, job.done, job.total = values
            if not work.quiet or time.time() - job.started > QUIET_S:
                self._show(job)

        task = work.lane.submit(work.task, work.ask, hear)
        self._tasks[job.id] = task
        if work.quiet:  # its process may still have to start, and says nothing until then
            asyncio.get_running_loop().call_later(QUIET_S, self._show_open, job)
        else:
            self._show(job)
        run = asyncio.create_task(self._run(job, task, finish, hooks))
        self._runs.add(run)
        run.add_done_callback(self._runs.discard)
        run.add_done_callback(lambda _: hooks.after())
        return self._with_time(job)

    async def wait(self) -> None:
        """Wait until nothing runs any more."""
        while self._runs:
            await asyncio.wait(self._runs)

    async def _run(self, job: Job, task: WorkerTask, finish: Finish, hooks: Hooks) -> None:
        begin = asyncio.create_task(task.started.wait())
        begin.add_done_callback(lambda _: self._begin(job))
        try:
            job.results = await finish(await task.answer())
            # Whoever stopped it may have wanted what there was.
            job.state = "cancelled" if task.cancelled else "done"
        except Cancelled:
            job.state = "cancelled"
        except Partly as error:
            job.state, job.results, job.error = "done", error.results, str(error)
        except ChoreographError as error:
            job.state, job.error = "failed", str(error)
            hooks.failed(error)
        finally:
            begin.cancel()
            del self._tasks[job.id]
        job.seconds = time.time() - job.started
        if job.id in self._jobs:
            self._show(job)
        ended = [name for name, old in self._jobs.items() if old.state not in ("waiting", "running")]
        for name in ended[: max(0, len(ended) - KEPT)]:
            del self._jobs[name]

    def _begin(self, job: Job) -> None:
        if job.state == "waiting":
            job.state = "running"
            if job.id in self._jobs:
                self._show(job)

    def _show_open(self, job: Job) -> None:
        if job.id in self._tasks:
            self._show(job)

    def _show(self, job: Job) -> None:
        if job.state == "waiting" and job.total:
            job.state = "running"
        self._jobs[job.id] = job
        self._announce(self._with_time(job))

    @staticmethod
    def _with_time(job: Job) -> Job:
        running = job.state in ("waiting", "running")
        return job.model_copy(update={"seconds": time.time() - job.started if running else job.seconds})
