"""Documents of earlier versions brought to today's words: requests, and what holds them.

Rules stand in `choreograph.contract.v0_1`, a module for each verb. They act only where an old name is present, so
documents of today pass unchanged. A name that was renamed while another took its place means what it meant in 0.1,
unless the document has `format: 2` or another of today's names.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from choreograph.base.errors import RequestError

FORMAT = 2
"""Of documents that are written today; documents of version 0.1 have none."""
_RULES = "choreograph.contract.v0_1"
_TOKEN = re.compile(r"\[\d*\]|[^.\[\]]+")

Plain = dict[str, Any]


def migrate(verb: str, plain: Mapping[str, Any]) -> tuple[Plain, list[str]]:
    """Return a request in today's words, without its `format`, and a sentence for each change.

    >>> migrate("loop", {"start_s": 1.0, "stop_s": 2.5})
    ({'start_s': 1.0, 'end_s': 2.5}, ['stop_s is now end_s'])

    Args:
        verb: Whose request it is; one without rules changes nothing.
        plain: The request as plain values; it stays as it is.

    Raises:
        RequestError: If a newer version wrote it.
    """
    changed = Migration(verb, plain)
    return changed.plain, changed.notes


class Migration:
    """A request of an earlier version in today's words, and where its parts stood."""

    def __init__(self, verb: str, plain: Mapping[str, Any]) -> None:
        self.plain = {name: value for name, value in plain.items() if name != "format" or not verb}
        """In today's words."""
        self.notes: list[str] = []
        """What was changed, a sentence each."""
        self._origins: dict[int, tuple[Any, str]] = {}
        """Objects and lists, by identity, with their places in the document as it was."""
        self._moved: dict[tuple[int, str], str] = {}
        """The same for renamed values, by the object that holds them and their name in it."""
        if verb and not is_current(plain):
            self.plain = self._copied(self.plain, "")
            self._apply(verb, self.plain)

    def place(self, where: str) -> str:
        """Return where the document had a part that now stands at `where`."""
        here: Any = self.plain
        old = ""
        for token in _TOKEN.findall(where):
            inside = _child(here, token)
            origin = self._origins.get(id(inside)) if isinstance(inside, dict | list) else None
            if origin is not None:
                old = origin[1]
            else:
                old = self._moved.get((id(here), token)) or _join(old, token)
            here = inside
        return old

    def _apply(self, name: str, plain: Plain) -> None:
        rules = rules_of(name)
        self._rename(rules.renamed, plain)
        for note in rules.convert(plain):
            self._note(note)
        for place, inner in rules.inside.items():
            for holder in _holders(plain, _TOKEN.findall(place)):
                if isinstance(holder, dict):
                    self._apply(inner, holder)

    def _rename(self, renamed: Mapping[str, str], plain: Plain) -> None:
        """Take all old values out before any is put in, since a name may give way to another."""
        reused = set(renamed) & set(renamed.values())
        of_today = any(_present(plain, new) for new in renamed.values() if new not in reused)
        values = []
        for old, new in sorted(renamed.items(), key=lambda rule: -len(_TOKEN.findall(rule[0]))):
            if old in reused and of_today:
                continue
            shared, from_, to = _split(old, new)
            for holder in list(_holders(plain, shared)):
                inner = _walk(holder, from_[:-1])
                if isinstance(inner, dict) and from_[-1] in inner:
                    before = _join(self._origins[id(inner)][1], from_[-1]) if id(inner) in self._origins else old
                    values.append((holder, from_, to, inner.pop(from_[-1]), before, f"{old} is now {new}"))
                    _prune(holder, from_[:-1])
        for holder, from_, to, value, before, note in sorted(values, key=lambda one: len(one[2])):
            target = _container(holder, to[:-1])
            if target is not None and isinstance(target.get(to[-1]), dict) and isinstance(value, dict):
                target[to[-1]] = {**value, **target[to[-1]]}
            elif target is not None and to[-1] not in target:
                target[to[-1]] = value
                self._moved[id(target), to[-1]] = before
            else:  # both names are given: reading the request says that the old one is not known
                _container(holder, from_[:-1])[from_[-1]] = value  # type: ignore[index]
                continue
            self._note(note)

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def _copied(self, value: Any, place: str) -> Any:
        """Copy objects, and lists that hold some; other lists are shared, since rules replace them whole."""
        parts = value
        if isinstance(value, dict):
            parts = {name: self._copied(part, _join(place, str(name))) for name, part in value.items()}
        elif isinstance(value, list | tuple) and any(isinstance(part, dict) for part in value):
            parts = [self._copied(part, f"{place}[{number}]") for number, part in enumerate(value)]
        if isinstance(parts, dict | list):
            self._origins[id(parts)] = parts, place
        return parts


def marked(plain: Mapping[str, Any]) -> Plain:
    """Return a document of today with its format, as it is saved."""
    return {"format": FORMAT, **plain}


def is_current(plain: Mapping[str, Any]) -> bool:
    """Whether a document says that it is of today's format.

    Raises:
        RequestError: If it is of a later one.
    """
    number = plain.get("format", 1)
    if isinstance(number, int) and number > FORMAT:
        raise RequestError(
            f"format is {number}: a newer version of choreograph wrote this; update choreograph", where="format"
        )
    return bool(number == FORMAT)


# ---------------------------------------------------------------- rules


@dataclass(frozen=True)
class Rules:
    """What changed between version 0.1 and today in the words of a verb or tool."""

    renamed: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str | Callable[[str], list[str]] | None] = field(default_factory=dict)
    inside: Mapping[str, str] = field(default_factory=dict)
    convert: Callable[[Plain], list[str]] = lambda plain: []


@cache
def rules_of(name: str) -> Rules:
    """Return the rules of a verb or tool; empty where it has none."""
    module = import_module(f"{_RULES}.{name}") if _has_rules(name) else None
    inside = {"finish": "finish"} if name != "finish" and _has_rules("finish") else {}
    return Rules(
        getattr(module, "RENAMED", {}),
        getattr(module, "OPTIONS", {}),
        {**inside, **getattr(module, "INSIDE", {})},
        getattr(module, "convert", Rules.convert),
    )


@cache
def _has_rules(name: str) -> bool:
    return name.isidentifier() and find_spec(f"{_RULES}.{name}") is not None


# ---------------------------------------------------------------- places


def _split(old: str, new: str) -> tuple[list[str], list[str], list[str]]:
    """Return what two places share, and the rest of each."""
    first, second = _TOKEN.findall(old), _TOKEN.findall(new)
    shared = 0
    while shared < min(len(first), len(second)) - 1 and first[shared] == second[shared]:
        shared += 1
    return first[:shared], first[shared:], second[shared:]


def _holders(value: Any, tokens: list[str]) -> Iterator[Any]:
    """The parts at a place that may lead through lists and any name."""
    if not tokens:
        yield value
    elif tokens[0] == "[]":
        for part in value if isinstance(value, list) else ():
            yield from _holders(part, tokens[1:])
    elif isinstance(value, dict):
        for name in value if tokens[0] == "*" else (tokens[0],):
            if name in value:
                yield from _holders(value[name], tokens[1:])


def _present(plain: Plain, place: str) -> bool:
    return next(_holders(plain, _TOKEN.findall(place)), None) is not None


def _walk(value: Any, names: list[str]) -> Any:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _container(value: Any, names: list[str]) -> Plain | None:
    """The object at a place, made where it is missing; None where something else stands there."""
    for name in names:
        value = value.setdefault(name, {}) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else None


def _prune(value: Any, names: list[str]) -> None:
    """Remove objects that moving their values has emptied."""
    while names and _walk(value, names) == {}:
        del _walk(value, names[:-1])[names[-1]]
        names = names[:-1]


def _child(value: Any, token: str) -> Any:
    if isinstance(value, list) and token.startswith("["):
        number = int(token[1:-1] or 0)
        return value[number] if number < len(value) else None
    return value.get(token) if isinstance(value, dict) else None


def _join(place: str, token: str) -> str:
    return f"{place}{'' if not place or token.startswith('[') else '.'}{token}"
