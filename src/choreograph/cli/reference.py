"""Reference pages of the verbs, made by walking the registry: `python -m choreograph.cli.reference docs/reference`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel

from choreograph.contract.fields import say_bounds
from choreograph.contract.problem import KINDS
from choreograph.contract.request import Advanced, Quality, Request
from choreograph.contract.verb import Verb
from choreograph.goals.base import Goal
from choreograph.goals.check import SEARCHED
from choreograph.verbs import find_verb, rooms
from choreograph.verbs.options import Entry, entries

_HEAD = "<!-- Made from the code by `make reference`; edit the docstrings there. -->"


def write_pages(folder: Path) -> list[Path]:
    """Write a page for each verb; the files."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for name in rooms():
        files.append(folder / f"{name}.md")
        files[-1].write_text(page(find_verb(name)), encoding="utf-8")
    files.append(folder / "problems.md")
    files[-1].write_text(problems_page(), encoding="utf-8")
    return files


def problems_page() -> str:
    """The page of all kinds of problems."""
    about = (
        "A result has a `Problem` for everything that the request asks for and the motion does not do. `kind` says "
        "what it is about, `severity` how much it matters, `where` which field of the request. `asked`, `got`, "
        "`nearest` and `tolerance` are numbers in `unit`; `at_s` and `place` say when and where it shows; `metric` is "
        "the metric that measures it; `advice` has values of fields that are known to help. Only `missed` gives exit "
        "code 3."
    )
    lines = [_HEAD, "", "# Kinds of problems", "", about, "", "| kind | severity | meaning |", "|---|---|---|"]
    lines += [f"| `{kind}` | {facts.severity} | {facts.meaning} |" for kind, facts in KINDS.items()]
    return "\n".join([*lines, ""])


def page(verb: Verb) -> str:
    """A verb's page: what it takes, what can be asked of it, and how each face says it."""
    summary = rooms()[verb.name].summary
    about = "\n".join(line.strip() for line in verb.about.splitlines())
    lines = [_HEAD, "", f"# {verb.title}", "", summary, ""]
    lines += [about.partition("\n")[2].strip(), ""] if "\n" in about else []
    lines += ["```sh", *(f"choreograph {line}" for line in verb.examples), "```", ""]
    lines += [f"In Python: `cg.{verb.name}({verb.subject.name}, cg.{verb.request.__name__}(…))`.", ""]
    if verb.prepares:
        caches = "; ".join(f"{one.name} ({one.text})" for one in verb.prepares)
        lines += [f"Computed once for each {verb.subject.name} and kept in the cache: {caches}.", ""]
    options = {entry.path: entry for entry in entries(verb.request)}
    for title, model, path in _models(verb.request):
        lines += [f"## {title}", "", *_table(model, path, options)]
    lines += [f"More in [the guide](../{Path(verb.guide).name}).", ""] if verb.guide else []
    return "\n".join(lines)


def _models(model: type[Request], path: tuple[str, ...] = ()) -> Iterator[tuple[str, type[Request], tuple[str, ...]]]:
    """The request's model and those that it holds, each once."""
    seen: set[type] = set()
    pending: list[tuple[str, type[Request], tuple[str, ...]]] = [
        (f"What can be asked: `{model.__name__}`", model, path)
    ]
    while pending:
        title, part, place = pending.pop(0)
        if part in seen:
            continue
        seen.add(part)
        yield title, part, place
        for name, field in part.model_fields.items():
            for inner in _inner(field.annotation):
                if not issubclass(inner, Goal) or inner in SEARCHED.get(model.verb, ()):
                    pending.append((f"`{name}`: `{inner.__name__}`", inner, (*place, name)))


def _inner(kind: Any) -> Iterator[type[Request]]:
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        yield from [kind] if issubclass(kind, Request) else []
    else:
        for part in get_args(kind):
            yield from _inner(part)


def _table(model: type[Request], path: tuple[str, ...], options: dict[tuple[str, ...], Entry]) -> Iterator[str]:
    doc = " ".join((model.__doc__ or "").split(">>>")[0].split())
    if doc:
        yield from (doc, "")
    rows: tuple[list[str], list[str]] = ([], [])
    for name, field in model.model_fields.items():
        entry = options.get((*path, name))
        option = f"`{', '.join(entry.names)}`" if entry is not None else ""
        bounds = say_bounds(field)
        text = " ".join((field.description or "").split()) + (f" ({bounds})" if bounds else "")
        default = "needed" if field.is_required() else _usual(field.get_default(call_default_factory=True))
        folded = entry is not None and entry.advanced and not issubclass(model, Advanced)
        rows[folded].append(f"| `{name}` | {option} | {text.replace('|', '∣')} | {default} |")
    for text, some in zip(("", "Advanced, listed by `--help-all` only:"), rows, strict=True):
        if some:
            yield from [
                *([text, ""] if text else []),
                "| field | option | meaning | default |",
                "|---|---|---|---|",
                *some,
                "",
            ]
    if model.presets:
        yield from ("What `quality` sets, where the request does not:", "", *_presets(model), "")


def _presets(model: type[Request]) -> Iterator[str]:
    names = list(dict.fromkeys(name for preset in model.presets.values() for name in preset))
    kinds = [name for name in get_args(get_args(Quality)[0]) if name in model.presets]
    yield from (f"| | {' | '.join(kinds)} |", f"|---{'|---' * len(kinds)}|")
    for name in names:
        yield f"| `{name}` | {' | '.join(_usual(model.presets[kind].get(name)) for kind in kinds)} |"


def _usual(value: Any) -> str:
    if value is None or value == () or value == {} or value == "" or isinstance(value, Request):
        return ""
    return (
        f"`{str(value).lower()}`"
        if isinstance(value, bool)
        else f"`{value:g}`"
        if isinstance(value, float)
        else f"`{value}`"
    )


if __name__ == "__main__":
    write_pages(Path(sys.argv[1]))
