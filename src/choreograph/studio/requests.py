"""Requests in the studio: drafts that may still lack something, and which files they may name."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from pydantic import ValidationError

from choreograph.contract.names import OWN, motion_names, with_motions
from choreograph.contract.request import Request, named_files, read_request, request_error
from choreograph.contract.verb import Verb
from choreograph.errors import RequestError
from choreograph.studio.document import Draft
from choreograph.studio.facts import OutputFacts, VerbFacts
from choreograph.verbs import find_verb, rooms

_UNFINISHED = ("missing", "value_error", "too_short", "string_too_short")
"""Mistakes that a draft may have: what is not said yet, and what does not go together yet."""


def check_drafts(drafts: Mapping[str, Draft], known: Mapping[str, Draft]) -> None:
    """Raise a RequestError where a draft holds what no request of its verb can hold.

    Args:
        drafts: By verb. Those of verbs that are not there (any more) are left alone.
        known: Drafts that were checked before.
    """
    for name, draft in drafts.items():
        if name not in rooms() or draft == known.get(name):
            continue
        kind = find_verb(name).request
        try:
            kind.model_validate_json(json.dumps(draft), strict=True)
        except ValidationError as error:
            if any(one["type"] not in _UNFINISHED for one in error.errors(include_url=False, include_context=False)):
                wrong = request_error(error, kind)
                raise RequestError(f"requests.{name}: {wrong}", where=f"requests.{name}.{wrong.where}") from None


def own_motions(verb: Verb, draft: Draft) -> list[tuple[str, str]]:
    """The clips and results of the project that a draft names ("clip:ID", "result:ID"), each with where it does."""
    try:
        request = read_request(verb.request, draft)
    except RequestError:  # a draft that is no request yet: whoever reads it says why
        return []
    return [(where, name) for where, name in motion_names(request) if name.startswith(OWN)]


def read_draft(verb: Verb, draft: Draft, folder: Path, motion: Callable[[str], Path] | None = None) -> Request:
    """The request that a draft says, with files taken from the project's folder.

    Args:
        verb: Whose request it is.
        draft: What is said.
        folder: The project's folder.
        motion: The file of a clip or result of the project, by its name: "clip:ID", "result:ID".

    Raises:
        RequestError: If something is missing or wrong, or a file outside of the folder is named.
    """
    request = read_request(verb.request, draft)
    home = folder.resolve()
    motions = [(where, name) for where, name in motion_names(request) if not name.startswith(OWN)]
    for where, name in [*named_files(request), *motions]:
        path = Path(name)
        if path.is_absolute() or ".." in path.parts or not (home / path).resolve().is_relative_to(home):
            raise RequestError(f"{where} is {name!r}; the studio reads files of its own folder, {folder}", where=where)
    if motion is not None:
        find = motion
        request = with_motions(request, lambda name: str(find(name)) if name.startswith(OWN) else name)
    return request.resolved(folder)


def outputs_of(verb: Verb) -> list[OutputFacts]:
    """Files besides the motion that can be had of a verb's results."""
    drawn = [OutputFacts(name="picture", help="A picture of it", suffixes=list(verb.picture_suffixes))]
    others = [OutputFacts(name=one.name, help=one.help, suffixes=list(one.suffixes)) for one in verb.outputs]
    return (drawn if verb.draw is not None else []) + others


def describe_verbs() -> list[VerbFacts]:
    """The verbs that there are, as the page needs them for tabs and forms."""
    made = []
    for room in rooms().values():
        verb = find_verb(room.name)
        made.append(
            VerbFacts(
                name=verb.name,
                title=verb.title,
                summary=room.summary,
                subject=verb.subject.name,
                request=verb.request.model_json_schema(),
                guide=verb.guide,
                outputs=outputs_of(verb),
                changes_motion=verb.changes_motion,
            )
        )
    return made
