"""A performance in progress: places come in as the hand moves, finished frames go out a fixed time later."""

from __future__ import annotations

from typing import Any

from choreograph.base.errors import RequestError
from choreograph.motion.packed import pack_frames, skeleton_id
from choreograph.studio.context import WorkerContext
from choreograph.studio.document import Sample
from choreograph.studio.facts import Motion, SourceRun
from choreograph.studio.subjects import VerbAsk
from choreograph.studio.tasks.examples import segments_of
from choreograph.studio.worker import TaskChannel
from choreograph.verbs.perform.examples import SegmentDatabase
from choreograph.verbs.perform.live import PerformStream
from choreograph.verbs.perform.recorder import TrajectoryRecorder
from choreograph.verbs.perform.request import PerformRequest
from choreograph.verbs.perform.search import PerformSearch

PAGES_KEPT = 8
"""Pages that may be performing at once."""


class LivePerformance:
    """A way that is being performed and what was shown of its answer."""

    def __init__(self, number: int, database: SegmentDatabase, request: PerformRequest) -> None:
        self.number = number
        self._way = TrajectoryRecorder(smooth_s=request.smooth_s)
        self._stream = PerformStream(
            database, self._way.fps, request.with_(finish=request.finish.with_(hold_hands=False))
        )
        self._skeleton = database.examples[0].target.skeleton
        self._runs: list[SourceRun] = []
        self._count = 0

    def push(self, samples: list[Sample]) -> tuple[Motion, int, bytes] | None:
        """Take places; the motion up to now, the first new frame of it, and the new frames, if there are any."""
        frames = []
        for t, x, z in samples:
            points = self._way.push(t, x, z)
            if len(points):
                frames += self._stream.push(points)
        if not frames:
            return None
        for frame in frames:
            self._append(frame.clip, frame.clip_frame)
        start = self._count
        self._count += len(frames)
        return self._describe(), start, pack_frames(self._stream.as_clip(frames))

    def _append(self, clip: str, clip_frame: float) -> None:
        at = self._runs[-1].stop if self._runs else 0
        if self._runs and self._runs[-1].clip == clip:
            self._runs[-1] = self._runs[-1].model_copy(update={"stop": at + 1})
        else:
            self._runs.append(SourceRun(start=at, stop=at + 1, clip=clip, clip_frame=clip_frame))

    def _describe(self) -> Motion:
        skeleton = self._skeleton
        return Motion(
            id="partial",
            name="performed",
            frames=self._count,
            fps=self._stream.rate_hz,
            skeleton=skeleton_id(skeleton),
            joints=list(skeleton.names),
            parents=skeleton.parents.tolist(),
            feet=[],
            contacts=[],
            labels=[],
            sources=list(self._runs),
        )


def moved(context: WorkerContext, ask: dict[str, Any], channel: TaskChannel) -> tuple[Motion, int, bytes] | None:
    """The frames that new places bring.

    Asked as `page`, `number` of the performance, `begin`, its request with the first places, `lag_s`, and `samples`.
    """
    page, begin = ask["page"], ask["begin"]
    if begin is not None:
        request, database = segments_of(context, begin, channel)
        context.performances[page] = LivePerformance(ask["number"], database, request.with_(lag_s=ask["lag_s"]))
        while len(context.performances) > PAGES_KEPT:
            context.performances.popitem(last=False)
    performance = context.performances.get(page)
    if performance is None or performance.number != ask["number"]:
        raise RequestError("the beginning of this performance is gone; what was performed is answered as a whole")
    return performance.push(ask["samples"])


def warm(context: WorkerContext, ask: VerbAsk, channel: TaskChannel) -> None:
    """Perform a few steps and throw them away, so that the first real ones need not wait for kernels."""
    request, database = segments_of(context, ask, channel)
    if request.leader or database.control_roles != ("track",):
        return
    speed = min(1.0, database.fastest)
    samples = tuple((k / 30, 0.0, speed * k / 30) for k in range(90))
    performance = LivePerformance(0, database, request.with_(lag_s=2.0))
    for k, sample in enumerate(samples):
        channel.progress("making ready", k, len(samples))
        performance.push([sample])
    way = request.with_(samples=samples, trajectory="")
    PerformSearch(database, PerformRequest(samples=way.samples), database=database).run()
