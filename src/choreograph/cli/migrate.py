"""`choreograph migrate`: documents of version 0.1 written in today's form."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from choreograph.base.errors import ChoreographError, RequestError
from choreograph.cli.common import console, err_console
from choreograph.contract.document import Document, as_yaml, load_document, parse_text, with_lines
from choreograph.contract.migrate import Migration, is_current, marked
from choreograph.contract.request import read_request
from choreograph.formats.atomic import atomic_write
from choreograph.verbs import find_verb, rooms

_PROJECTS = (".choreograph", ".choreograph-*")
_COMMENT = re.compile(r"(?m)(?:^|\s)#")
EXIT_OLD = 1
"""With --check: some document is of version 0.1."""


class Rewritten(NamedTuple):
    """A file in today's form."""

    text: str
    notes: list[str]
    loses_comments: bool = False


def migrate(
    files: Annotated[list[Path], typer.Argument(help="Request files, results (JSON), and folders of studio projects.")],
    verb: Annotated[
        str | None, typer.Option("--verb", help="Whose the requests are, where they could be several's.")
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit with 1 if a document is of 0.1.")] = False,
    force: Annotated[
        bool, typer.Option("--force", "-f", help="Write YAML files anew even where that loses comments.")
    ] = False,
) -> None:
    """Write requests, results and studio projects of version 0.1 in today's form.

    Today's version reads them as they are; the next may not. Files of today's form stay untouched. Names are replaced
    where they stand, so that comments and layout stay; where more changed, a YAML file is written anew, and one with
    comments only with --force.

    Examples:

      choreograph migrate requests/*.yaml

      choreograph migrate --check out/answers.json my_project/
    """
    if verb is not None:
        find_verb(verb)
    old = failed = 0
    for path in files:
        try:
            changed = _project(path, check) if path.is_dir() else _file(path, verb, check, force)
        except ChoreographError as error:
            failed += 1
            text = " ".join(str(error).split())
            err_console.print(f"error: {text}", style="red", markup=False, highlight=False, soft_wrap=True)
            continue
        old += changed is not None
        about = "is in today's form" if changed is None else "is of version 0.1" if check else "written in today's form"
        _say(f"{path}: {about}{': ' if changed else ''}{'; '.join(changed or ())}")
    if failed or (check and old):
        raise typer.Exit(2 if failed else EXIT_OLD)


def register(app: typer.Typer) -> None:
    """Add the command to the application."""
    app.command("migrate")(migrate)


def _file(path: Path, verb: str | None, check: bool, force: bool) -> list[str] | None:
    """Write a file in today's form; what changed, None where nothing did."""
    document = load_document(path)
    if not isinstance(document.value, Mapping):
        raise RequestError(f"{path} is no request and no result: it holds no names and values")
    is_result = isinstance(document.value.get("answers"), list)  # `perform` has a field of that name, a file
    document_now = _result(document.value) if is_result else _request(document, verb)
    if document_now is None:
        return None
    if document_now.loses_comments and not force and not check:
        raise RequestError(
            f"{path} has comments, which would be lost; write it with --force, or change it yourself: "
            f"{'; '.join(document_now.notes)}"
        )
    if not check:
        with atomic_write(path, overwrite=True) as temporary:
            temporary.write_text(document_now.text, encoding="utf-8")
    return document_now.notes


# ---------------------------------------------------------------- results and projects


def _result(plain: Mapping[str, Any]) -> Rewritten | None:
    if is_current(plain):
        return None
    request = plain.get("request")
    if not isinstance(request, Mapping) or not isinstance(plain.get("verb"), str):
        raise RequestError("it has answers, but no verb and request, as results have")
    migration = Migration(plain["verb"], request)
    text = json.dumps(marked({**plain, "request": migration.plain}), indent=1, ensure_ascii=False)
    return Rewritten(text + "\n", migration.notes)


def _project(folder: Path, check: bool) -> list[str] | None:
    """Write a studio's project in today's form, with the results that it keeps."""
    from choreograph.studio.migration import migrate_files
    from choreograph.studio.project_paths import KEEP, ProjectPaths

    homes = [folder] if folder.name.startswith(KEEP) else [home for kind in _PROJECTS for home in folder.glob(kind)]
    homes = [home for home in homes if (home / "project.json").is_file()]
    if not homes:
        raise RequestError(f"{folder} holds no studio project ({KEEP}/project.json)")
    changed = [name for home in homes for name in migrate_files(ProjectPaths(home.parent, home), check=check)]
    return changed or None


# ---------------------------------------------------------------- requests


def _request(document: Document, verb: str | None) -> Rewritten | None:
    if is_current(document.value):
        return None
    owner = verb or _owner(document)
    migration = Migration(owner, document.value)
    if not migration.notes:
        return None
    text = document.path.read_text("utf-8-sig")
    today = marked(migration.plain)
    for edited in _edited(text, with_lines(document), migration):
        try:
            if parse_text(edited, document.path).value == today:
                return Rewritten(edited, migration.notes)
        except RequestError:
            continue
    if document.path.suffix.lower() == ".json":
        return Rewritten(json.dumps(today, indent=2, ensure_ascii=False) + "\n", migration.notes)
    return Rewritten(as_yaml(today), migration.notes, _COMMENT.search(text) is not None)


def _owner(document: Document) -> str:
    """The verb whose request a document is."""
    read, errors = {}, []
    for name in rooms():
        verb = find_verb(name)
        subject = verb.subject.metavar.lower()
        plain = {field: value for field, value in document.value.items() if field != subject}
        try:
            migrated = Migration(name, plain).plain
            read_request(verb.request, marked(migrated))
            read[name] = migrated
        except RequestError as error:
            errors.append(f"{name}: {error}")
    if not read:
        raise RequestError(f"{document.path} is no request of any verb; say whose it shall be (--verb)")
    first = next(iter(read.values()))
    if any(migrated != first for migrated in read.values()):
        raise RequestError(f"{document.path} could be a request of {', '.join(read)}; say whose it is (--verb)")
    return next(iter(read))


def _edited(text: str, document: Document, migration: Migration) -> list[str]:
    """The text with new names where old ones stood and its format at the top, in the ways that may be right."""
    lines = text.splitlines(keepends=True)
    renamed: dict[int, dict[str, str]] = {}
    for place, name in _names(migration.plain, ""):
        old = migration.place(place)
        before = old.rpartition(".")[2]
        if before != name and old in document.lines:
            renamed.setdefault(document.lines[old] - 1, {})[before] = name
    for number, names in renamed.items():
        known = "|".join(map(re.escape, names))
        pattern = rf"(?<![\w-])({known})(?=[\"']?\s*:)"
        lines[number] = re.sub(pattern, partial(_new_name, names), lines[number])
    first = min(document.lines.values(), default=1) - 1
    opened = re.sub(r"\{(\s*)", lambda brace: f'{{{brace[1]}"format": 2,{brace[1] or " "}', "".join(lines), count=1)
    return ["".join([*lines[:first], "format: 2\n", *lines[first:]]), opened]


def _new_name(names: Mapping[str, str], word: re.Match[str]) -> str:
    return names[word[1]]


def _names(value: Any, place: str) -> list[tuple[str, str]]:
    """All names of a document, with their places."""
    if isinstance(value, dict):
        inside = [(f"{place}.{name}" if place else name, name, part) for name, part in value.items()]
        return [pair for where, name, part in inside for pair in ((where, name), *_names(part, where))]
    if isinstance(value, list):
        return [pair for number, part in enumerate(value) for pair in _names(part, f"{place}[{number}]")]
    return []


def _say(text: str) -> None:
    console.print(text, highlight=False, markup=False, soft_wrap=True)
