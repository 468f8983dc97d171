"""Jobs as pages see them."""

from __future__ import annotations

import asyncio
from typing import Any

from choreograph.studio.facts import Job
from choreograph.studio.jobs import QUIET_S, Jobs, Work
from choreograph.studio.workers import Lane, WorkerTask


class Stuck(Lane):
    """A lane whose workers have not started yet."""

    def __init__(self) -> None:
        self.tasks: list[WorkerTask] = []

    def submit(self, name: str, ask: Any, hear: Any = None) -> WorkerTask:
        """A task that nobody works on."""
        self.tasks.append(WorkerTask(1, name, ask, hear))
        return self.tasks[-1]


async def _nothing(_: Any) -> list[str]:
    return []


def test_a_quiet_job_is_told_when_it_takes_long_though_its_process_has_said_nothing() -> None:
    async def ask() -> None:
        told: list[Job] = []
        jobs, lane = Jobs(told.append), Stuck()
        for _ in range(2):
            jobs.start(Work("follow", "Follow", lane, "answer", {}, quiet=True), _nothing)
        lane.tasks[0].settle([])
        await asyncio.sleep(0)
        assert not told
        await asyncio.sleep(2 * QUIET_S)
        assert [(job.title, job.state) for job in told] == [("Follow", "waiting")], "the other was quick"
        lane.tasks[1].settle([])
        await jobs.wait()
        assert told[-1].state == "done"

    asyncio.run(ask())
