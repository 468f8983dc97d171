"""What performances are made of: the library's clips as recorded examples, and what is to be known of them."""

from __future__ import annotations

import numpy as np

from choreograph.studio.context import WorkerContext
from choreograph.studio.draft_asks import ExampleFacts, Examples
from choreograph.studio.requests import read_draft
from choreograph.studio.subjects import VerbAsk
from choreograph.studio.worker import TaskChannel
from choreograph.verbs import find_verb
from choreograph.verbs.perform.examples import SegmentDatabase, smoothed_speeds
from choreograph.verbs.perform.request import PerformRequest
from choreograph.verbs.perform.search import PerformSearch
from choreograph.verbs.perform.settings import usual_settings


def segments_of(context: WorkerContext, ask: VerbAsk, channel: TaskChannel) -> tuple[PerformRequest, SegmentDatabase]:
    """A request, and the segments that it is answered by: those of the latest search, or made now."""
    verb = find_verb(ask.verb)
    request = read_draft(verb, ask.draft, context.places.folder)
    key, subject = ask.subject.load(context)
    search = context.search(verb, key, subject, request)
    assert isinstance(search, PerformSearch) and isinstance(request, PerformRequest)
    return request, search.database(channel.progress)


def examples(context: WorkerContext, ask: VerbAsk, channel: TaskChannel) -> Examples:
    """What is to be known of the examples that a request means."""
    _, database = segments_of(context, ask, channel)
    facts = []
    for number, (name, control) in enumerate(zip(database.names, database.controls, strict=True)):
        speeds, leader = smoothed_speeds(control, database.fps), database.examples[number].leader
        facts.append(
            ExampleFacts(
                name=name,
                leader=None if leader is None else leader.name,
                seconds=(len(control) - 1) / database.fps,
                segments=int((database.example == number).sum()),
                usual_m_s=float(np.median(speeds)) if len(speeds) else 0.0,
                top_m_s=float(speeds.max(initial=0.0)),
            )
        )
    settings = usual_settings(database)
    return Examples(
        examples=facts,
        segments=len(database),
        longest_s=float(database.seconds.max()),
        fastest_m_s=database.fastest,
        stretch_s=settings.stretch_s,
        continuity_s=settings.continuity_s,
    )
