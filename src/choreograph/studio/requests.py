"""Requests in the studio: drafts that may still lack something, and which files they may name."""

from __future__ import annotations

import glob
import json
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from pydantic import ValidationError

from choreograph.base.errors import RequestError
from choreograph.contract.document import SUFFIXES, load_document, parse_document
from choreograph.contract.migrate import marked
from choreograph.contract.names import OWN, motion_names, with_motions
from choreograph.contract.request import Request, named_files, quote, read_request, request_error
from choreograph.contract.verb import Verb
from choreograph.studio.document import Draft
from choreograph.studio.verb_facts import OutputFacts, VerbFacts
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
        request = read_request(verb.request, marked(draft))
    except RequestError:  # a draft that is no request yet: whoever reads it says why
        return []
    return [(where, name) for where, name in motion_names(request) if name.startswith(OWN)]


def draft_of_file(verb: Verb, name: str, text: str, draft: Draft) -> Draft:
    """The draft that a file says: a request, or a drawing that joins another draft.

    Args:
        verb: Whose request it is.
        name: Of the file; its suffix says what it is.
        text: What it holds.
        draft: What a drawing joins.

    Raises:
        RequestError: If it cannot be read, or is of a kind that the verb does not take.
    """
    suffix, draws = Path(name).suffix.lower(), verb.request.drawable
    if suffix not in SUFFIXES and not (draws and suffix == ".svg"):
        raise RequestError(f"{name!r} is no {', '.join(SUFFIXES)}{' or .svg' if draws else ''} file")
    with tempfile.TemporaryDirectory(prefix="choreograph-draft-") as folder:
        path = Path(folder) / f"file{suffix}"
        path.write_text(text, encoding="utf-8")
        try:
            if suffix in SUFFIXES:
                request = parse_document(verb.request, load_document(path))
            else:
                scene = {**draft.get("scene", {}), "drawing": path.name}
                request = read_request(verb.request, marked({**draft, "scene": scene})).resolved(path.parent)
        except RequestError as error:
            raise RequestError(str(error).replace(str(path), name), where=error.where) from None
    return dict(request.as_document())


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
    request = read_request(verb.request, marked(draft))
    home = folder.resolve()
    motions = [(where, name) for where, name in motion_names(request) if not name.startswith(OWN)]
    for where, name in [*named_files(request), *motions]:
        if _leads_out(home, name):
            text = f"{where} is {quote(name)}; the studio reads files of its own folder, {folder}"
            raise RequestError(text, where=where)
    if motion is not None:
        find = motion
        request = with_motions(request, lambda name: str(find(name)) if name.startswith(OWN) else name)
    return request.resolved(folder)


def _leads_out(home: Path, name: str) -> bool:
    """Whether a name, a pattern or a folder stands for anything outside of the project's folder, by links too.

    A pattern that goes through all folders again and again would take for ever to tell.
    """
    if Path(name).is_absolute() or name.startswith("~") or ".." in Path(name).parts or name.count("**") > 1:
        return True
    try:
        paths = [home / name, *(home / one for one in glob.glob(name, root_dir=home, recursive=True))]  # noqa: PTH207
        inside = [path for one in paths if one.is_dir() for path in one.rglob("*")]
        return any(not path.resolve().is_relative_to(home) for path in [*paths, *inside])
    except OSError:  # longer than any name
        return False


def outputs_of(verb: Verb) -> list[OutputFacts]:
    """Files besides the motion that can be had of a verb's results."""
    drawn = [OutputFacts(name="picture", help="A picture of it", suffixes=list(verb.picture_suffixes))]
    others = [OutputFacts(name=one.name, help=one.help, suffixes=list(one.suffixes)) for one in verb.outputs]
    own = [] if verb.writes is None else [verb.writes]
    written = [OutputFacts(name=one.name, help=one.help, suffixes=list(one.suffixes)) for one in own]
    return written + (drawn if verb.draw is not None else []) + others


def describe_verbs() -> list[VerbFacts]:
    """The verbs that there are, as the page needs them for tabs and forms."""
    facts = []
    for room in rooms().values():
        verb = find_verb(room.name)
        facts.append(
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
    return facts
