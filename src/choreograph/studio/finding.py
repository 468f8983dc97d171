"""Finding in the library: by words, by what is on the stage, by speed, turn and feet."""

from __future__ import annotations

from choreograph.base.errors import RequestError
from choreograph.finding.request import FindRequest
from choreograph.motion.clip import Label
from choreograph.motion.query import ClipText, parse_query
from choreograph.studio.find_facts import FindAnswer, FindAsk
from choreograph.studio.session import Session
from choreograph.studio.subjects import OwnMotion
from choreograph.studio.tasks.find import FindTask

MOST = 100
"""Places that a page is told."""


def matching_clips(session: Session, query: str) -> list[str]:
    """Ids of the document's clips that a query asks for.

    Raises:
        RequestError: If it cannot be understood.
    """
    wanted = parse_query(query)
    sources = session.project.sources
    clips = []
    for entry in session.project.document.clips:
        recording = sources[entry.source]
        labels = recording.labels if entry.labels is None else entry.labels
        # A library asks for clips, not for parts of them: a label counts for the whole.
        text = ClipText(entry.name, labels=tuple(Label(label.text, 0, 1) for label in labels))
        if wanted.matches(text):
            clips.append(entry.id)
    return clips


async def find_places(session: Session, ask: FindAsk) -> FindAnswer:
    """Places in the archive or, without one, in the document's clips.

    Raises:
        RequestError: If it cannot be understood, or there is nothing to look through.
        NotThere: If the example is no motion of the project.
    """
    fields = ask.model_dump(exclude={"like"}, exclude_none=True)
    request = FindRequest(**fields, count=MOST)
    project = session.project
    entries = () if project.is_archive else tuple(project.document.clips)
    if not entries and not project.is_archive:
        raise RequestError("there are no clips to look through; drop motion files on the window first")
    like: OwnMotion | None = None if ask.like is None else session.asking.motion_of(ask.like)
    answer: FindAnswer = await session.looks.submit("find", FindTask(request, like, entries)).answer()
    return answer
