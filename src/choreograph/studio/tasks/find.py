"""Places in the library that are as asked for."""

from __future__ import annotations

from dataclasses import dataclass

from choreograph.finding.request import FindRequest
from choreograph.studio.archive import file_stamp, recording_id
from choreograph.studio.context import WorkerContext
from choreograph.studio.document import ClipEntry
from choreograph.studio.find_facts import FindAnswer, FoundPlace
from choreograph.studio.library import clip_key, digest
from choreograph.studio.subjects import OwnMotion
from choreograph.studio.worker import TaskChannel


@dataclass(frozen=True)
class FindTask:
    """What is sought, as the server says it to a worker."""

    request: FindRequest
    like: OwnMotion | None
    """The example, where there is one."""
    entries: tuple[ClipEntry, ...]
    """Where to look; none where that is the archive."""


def find(context: WorkerContext, ask: FindTask, channel: TaskChannel) -> FindAnswer:
    """Places in the archive, or in the document's clips."""
    from choreograph.finding.search import find as find_places

    like = None
    if ask.like is not None:
        like = context.clip(ask.like) if isinstance(ask.like, ClipEntry) else context.result(*ask.like)
    path = context.places.given_graph
    if ask.entries or path is None:
        clips = context.examples(digest([[clip_key(entry), entry.name] for entry in ask.entries]), ask.entries)
        result = find_places(clips, ask.request, like=like, progress=channel.progress)
        ids = {number: entry.id for number, entry in enumerate(ask.entries)}
    else:
        graph = context.graph(str(path))
        result = find_places(graph, ask.request, like=like, progress=channel.progress)
        stamp = file_stamp(path)
        own = [number for number, info in enumerate(graph.infos) if info.mirror_of is None]
        ids = {number: recording_id(number, stamp) for number in own}
    return FindAnswer(
        places=[
            FoundPlace(
                clip=ids[place.number],
                name=place.clip,
                start_s=place.start_s,
                stop_s=place.stop_s,
                distance_m=place.distance_m,
                speed_m_s=place.speed_m_s,
                turn_deg=place.turn_deg,
            )
            for place in result.places
            if place.number in ids
        ],
        total=result.total,
        hint=result.hint,
    )
