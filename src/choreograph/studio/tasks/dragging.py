"""A goal that is dragged: the whole motion follows within an iteration or two, from where the last one ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from choreograph.base.errors import RequestError
from choreograph.motion.packed import pack_frames
from choreograph.studio.context import WorkerContext
from choreograph.studio.facts import Motion
from choreograph.studio.motions import describe_motion
from choreograph.studio.requests import read_draft
from choreograph.studio.subjects import motion_file
from choreograph.studio.worker import TaskChannel
from choreograph.verbs import find_verb
from choreograph.verbs.complete.interactive import Pull
from choreograph.verbs.complete.search import CompleteSearch

if TYPE_CHECKING:
    from choreograph.studio.subjects import VerbAsk

PAGES_KEPT = 8
"""Pages that may be dragging at once."""


def dragged(context: WorkerContext, parts: dict[str, Any], channel: TaskChannel) -> tuple[Motion, bytes]:
    """The motion as it is with goals where they have been dragged to, at the model's rate.

    Asked as `page`, `number` of the drag, `ask`, the request, and `pull`, a joint of one of its goals' poses.
    """
    ask: VerbAsk = parts["ask"]
    verb, page, number = find_verb(ask.verb), parts["page"], parts["number"]
    request = read_draft(verb, ask.draft, context.places.folder, lambda name: motion_file(context, ask.motions[name]))
    key, subject = ask.subject.load(context)
    search = context.search(verb, key, subject, request)
    if not isinstance(search, CompleteSearch):
        raise RequestError(f"nothing of {ask.verb} can be dragged so")
    known = context.drags.pop(page, None)
    pull = None if parts["pull"] is None else Pull(parts["pull"].goal, parts["pull"].joint, parts["pull"].position)
    drag, clip = search.dragged(known[1] if known is not None and known[0] == number else None, pull)
    context.drags[page] = number, drag
    while len(context.drags) > PAGES_KEPT:
        context.drags.popitem(last=False)
    return describe_motion(clip, "partial", []), pack_frames(clip)
