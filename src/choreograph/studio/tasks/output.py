"""Files of a result besides its motion: tables, pictures, models."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from choreograph.base.errors import RequestError
from choreograph.studio.context import WorkerContext
from choreograph.studio.requests import read_draft
from choreograph.studio.subjects import VerbAsk, motion_file
from choreograph.studio.worker import TaskChannel
from choreograph.verbs import find_verb


def output(context: WorkerContext, ask: dict[str, Any], channel: TaskChannel) -> list[str]:
    """Write one of a verb's own files; names of the files.

    Asked as `verb_ask` (a VerbAsk), `answer` (which of the answers, from 1), `output`, `folder` and `file`. The
    request is answered once more: results do not keep what such files are made of.
    """
    verb_ask: VerbAsk = ask["asked"]
    verb = find_verb(verb_ask.verb)
    request = read_draft(
        verb, verb_ask.draft, context.places.folder, lambda name: motion_file(context, verb_ask.motions[name])
    )
    _, subject = verb_ask.subject.load(context)
    result = verb.search(subject, request).run(channel.progress)
    chosen = ask["answer"] - 1
    if not 0 <= chosen < len(result.answers):
        raise RequestError(f"asked again, there are {len(result.answers)} answers, and not number {chosen + 1}")
    if chosen:
        result = replace(result, answers=(result.answers[chosen], *result.answers[:chosen]))
    folder: Path = ask["folder"]
    folder.mkdir(parents=True, exist_ok=True)
    channel.progress("writing", 0, 1)
    write = verb.draw if ask["output"] == "picture" else None
    own = (*verb.outputs, *([] if verb.writes is None else [verb.writes]))
    write = write or next(one.write for one in own if one.name == ask["output"])
    write(folder / ask["file"], result, True)
    channel.progress("writing", 1, 1)
    return sorted(path.name for path in folder.iterdir())
