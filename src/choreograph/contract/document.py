"""Request files: JSON and YAML read within limits, with the line of every value, so that mistakes can be pointed at.

YAML is read from its events, by the core rules of version 1.2, by which names such as 60_03 are names. Anchors,
aliases, merge keys and tags are refused: a request needs none, and a few bytes of them can stand for gigabytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from choreograph.base.errors import RequestError
from choreograph.contract.limits import MAX_NAMES, MAX_VALUES
from choreograph.contract.migrate import Migration, is_current, marked
from choreograph.contract.request import Request, quote, read_request

T = TypeVar("T", bound=Request)

SUFFIXES = (".yaml", ".yml", ".json")
MAX_BYTES = 8_000_000
"""Of a request file: a path of 200,000 points."""
MAX_DEPTH = 40  # lists within lists
MAX_KEY = 200  # characters of a field's name
MAX_SCALAR = 20_000  # characters of a value
MAX_NUMBER = 60
"""Characters of a number; longer ones are no measurement."""

_NULL = re.compile(r"(?:~|null|Null|NULL|)\Z")
_BOOL = re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z")
_INT = re.compile(r"[-+]?[0-9]+\Z")
_BASED = re.compile(r"0o[0-7]+\Z|0x[0-9a-fA-F]+\Z")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")
_STRANGE = re.compile(r"[-+]?\.(?:inf|Inf|INF)\Z|\.(?:nan|NaN|NAN)\Z")


@dataclass(frozen=True)
class Document:
    """Plain values and the lines they stand in."""

    value: Any
    path: Path
    lines: Mapping[str, int] = field(default_factory=dict, repr=False)
    """Line of each value, where its name stands, by its place, such as "obstacles[0].radius"; counted from 1."""
    migration: Migration | None = None
    """What made a request of today of the file's values, where it was of version 0.1."""

    def line(self, where: str) -> int | None:
        """The line of a place in the file, or of what holds it."""
        while where:
            if where in self.lines:
                return self.lines[where]
            where = where[: max(where.rfind("."), where.rfind("["), 0)]
        return None


def load_document(path: str | Path) -> Document:
    """What a JSON (.json) or YAML (.yaml, .yml) file holds; None as its value if it is empty.

    Raises:
        RequestError: If it cannot be read; the message has the line.
    """
    path = Path(path)
    if path.suffix.lower() not in SUFFIXES:
        raise RequestError(f"{path}: a request is a {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]} file")
    try:
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise RequestError(f"{path}: cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        raise RequestError(f"{path} cannot be read as a request: {error}") from None
    if len(data) > MAX_BYTES:
        raise RequestError(f"{path} has more than {MAX_BYTES // 1_000_000} MB; a request has less")
    if not text.strip():
        return Document(None, path)
    if sum(map(text.count, ",[{")) > MAX_VALUES:  # told at once: reading them would take a quarter of a minute
        raise RequestError(f"{path}: more than {MAX_VALUES:,} values; a request has fewer")
    return parse_text(text, path)


def parse_text(text: str, path: Path) -> Document:
    """What a file of this text holds; JSON or YAML by its name."""
    if path.suffix.lower() == ".json":
        return Document(_read_json(text, path), path)
    return _read_yaml(text, path)


def read_request_file(kind: type[T], path: str | Path, *, allow_code: bool = False) -> T:
    """The request in a file; other files that it names are looked for beside it.

    >>> import choreograph as cg
    >>> _ = Path("ask.yaml").write_text("{path: eight, count: 2}")
    >>> read_request_file(cg.FollowRequest, "ask.yaml").count
    2

    Args:
        kind: The request's model.
        path: A .yaml, .yml or .json file.
        allow_code: Whether functions that the request names may be loaded, which runs their files.

    Raises:
        RequestError: Names file, line and place of the first mistake.
    """
    return parse_document(kind, load_document(path)).resolved(Path(path).parent, allow_code=allow_code)


def parse_document(kind: type[T], document: Document) -> T:
    """The request that a file's document describes; mistakes are named with file and line."""
    document = of_today(document, kind.verb)
    try:
        return read_request(kind, document.value)
    except RequestError as error:
        place = find_line(document, error.where) or f"{document.path}"
        raise RequestError(f"{place}: {error}", where=error.where) from None


def of_today(document: Document, verb: str) -> Document:
    """The document with its request in today's words, marked as such; the lines stay those of the file."""
    if not verb or not isinstance(document.value, Mapping) or is_current(document.value):
        return document
    migration = Migration(verb, document.value)
    return replace(document, value=marked(migration.plain), migration=migration)


def find_line(document: Document, where: str) -> str:
    """File and line of a place in a request; empty where the file does not have it.

    Of a document of version 0.1 the name that the file has is given, too, where that is another.

    >>> _ = Path("ask.yaml").write_text("{path: eight,\\n count: 2}")
    >>> find_line(load_document("ask.yaml"), "count"), find_line(load_document("ask.yaml"), "seed")
    ('ask.yaml, line 2', '')
    """
    document = with_lines(document)
    old = where if document.migration is None else document.migration.place(where)
    line, name = document.line(old), old.rpartition(".")[2]
    known = "" if where.endswith(name) else f" ({name})"
    return f"{document.path}, line {line}{known}" if line else ""


def as_yaml(document: Any) -> str:
    """Plain values as YAML that `load_document` reads as the same: names that look like numbers are in quotes."""
    import yaml

    class Dumper(yaml.SafeDumper):  # type: ignore[misc]
        def represent_str(self, text: str) -> Any:
            style = "'" if not isinstance(_typed(text, 0), str) else None
            return self.represent_scalar("tag:yaml.org,2002:str", text, style=style)

        def ignore_aliases(self, data: Any) -> bool:
            return True

    Dumper.add_representer(str, Dumper.represent_str)
    return str(yaml.dump(document, Dumper=Dumper, sort_keys=False, allow_unicode=True, default_flow_style=None))


# ---------------------------------------------------------------- JSON


def _read_json(text: str, path: Path) -> Any:
    def pairs(entries: list[tuple[str, Any]]) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        if len(entries) > MAX_NAMES:
            raise _Refused(f"an object has {len(entries)} names; at most {MAX_NAMES} are read")
        for name, value in entries:
            if name in fields:
                raise _Refused(f"{quote(name)} comes twice in one object")
            fields[name] = value
        return fields

    def number(word: str) -> Any:
        if len(word) > MAX_NUMBER:
            raise _Refused(f"{word[:20]}… is a number of {len(word)} characters; at most {MAX_NUMBER} are read")
        return float(word) if not _INT.match(word) else int(word)

    def strange(word: str) -> Any:
        raise _Refused(f"{word} is no number that can be asked for")

    try:
        return json.loads(text, object_pairs_hook=pairs, parse_int=number, parse_float=number, parse_constant=strange)
    except json.JSONDecodeError as error:
        raise RequestError(f"{path}, line {error.lineno}: not JSON: {error.msg}") from None
    except _Refused as error:
        raise RequestError(f"{path}: {error}") from None
    except RecursionError:
        raise RequestError(f"{path}: lists within lists, too deep to be a request") from None


def with_lines(document: Document) -> Document:
    """A JSON document with the lines of its values, as far as YAML's rules read it too."""
    if document.lines or document.path.suffix.lower() != ".json":
        return document
    try:
        return replace(document, lines=_read_yaml(document.path.read_text("utf-8-sig"), document.path).lines)
    except (RequestError, OSError, ValueError):
        return document


# ---------------------------------------------------------------- YAML


class _Refused(ValueError):
    """What no request needs."""


def _read_yaml(text: str, path: Path) -> Document:
    import yaml

    reader = _Reader()
    try:
        for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            reader.take(event)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark is not None else ""
        raise RequestError(f"{path}{line}: not YAML: {getattr(error, 'problem', None) or error}") from None
    except _Refused as error:
        raise RequestError(f"{path}, line {reader.line}: {error}") from None
    except (RecursionError, ValueError) as error:
        raise RequestError(f"{path}: not YAML: {error}") from None
    return Document(reader.value, path, reader.lines)


class _Reader:
    """Builds plain values from YAML's events, and refuses before it builds."""

    def __init__(self) -> None:
        self.value: Any = None
        self.lines: dict[str, int] = {}
        self.line = 1
        self._open: list[tuple[Any, str]] = []
        """Lists and objects that are being read, each with its place."""
        self._key: list[tuple[str, int] | None] = []
        """For each of them, the name whose value comes next, with its line, if it is an object and a name was read."""
        self._nodes = self._documents = 0

    def take(self, event: Any) -> None:
        """The next event."""
        kind = type(event).__name__
        self.line = event.start_mark.line + 1
        if kind == "DocumentStartEvent":
            self._documents += 1
            if self._documents > 1:
                raise _Refused("a second document begins here; a request file holds one")
        elif kind == "AliasEvent" or getattr(event, "anchor", None):
            raise _Refused("anchors (&) and aliases (*) are not read; write the value where it is meant")
        elif kind == "ScalarEvent":
            self._scalar(event)
        elif kind in ("MappingStartEvent", "SequenceStartEvent"):
            self._begin({} if kind == "MappingStartEvent" else [], event)
        elif kind in ("MappingEndEvent", "SequenceEndEvent"):
            self._open.pop()
            self._key.pop()

    def _scalar(self, event: Any) -> None:
        text = event.value
        if event.tag not in (None, "!"):
            raise _Refused(f"tags such as {quote(event.tag)} are not read")
        if self._open and isinstance(self._open[-1][0], dict) and self._key[-1] is None:
            self._name(text)
            return
        if len(text) > MAX_SCALAR:
            raise _Refused(f"a value of {len(text)} characters; at most {MAX_SCALAR} are read")
        self._put(_typed(text, self.line) if not event.style and event.implicit[0] else text)

    def _name(self, text: str) -> None:
        if len(text) > MAX_KEY:
            raise _Refused(f"a name of {len(text)} characters; at most {MAX_KEY} are read")
        if text == "<<":
            raise _Refused("merge keys (<<) are not read; write the values where they are meant")
        if len(self._open[-1][0]) >= MAX_NAMES:
            raise _Refused(f"an object has more than {MAX_NAMES} names")
        if text in self._open[-1][0]:
            raise _Refused(f"{text!r} comes twice")
        self._key[-1] = text, self.line

    def _begin(self, value: Any, event: Any) -> None:
        if event.tag is not None:
            raise _Refused(f"tags such as {quote(event.tag)} are not read")
        if self._open and isinstance(self._open[-1][0], dict) and self._key[-1] is None:
            raise _Refused("a list or an object stands where a name should")
        if len(self._open) >= MAX_DEPTH:
            raise _Refused(f"lists within lists, deeper than {MAX_DEPTH}")
        place = self._put(value)
        self._open.append((value, place))
        self._key.append(None)

    def _put(self, value: Any) -> str:
        self._nodes += 1
        if self._nodes > MAX_VALUES:
            raise _Refused(f"more than {MAX_VALUES:,} values; a request has fewer")
        if not self._open:
            self.value = value
            return ""
        (holder, place), line = self._open[-1], self.line
        if isinstance(holder, list):
            place = f"{place}[{len(holder)}]"
            holder.append(value)
        else:
            key = self._key[-1]
            assert key is not None
            name, line = key
            place = f"{place}.{name}" if place else name
            holder[name] = value
            self._key[-1] = None
        self.lines[place] = line
        return place


def _typed(text: str, line: int) -> Any:
    """A plain scalar as what it stands for by YAML 1.2's core rules."""
    if _NULL.match(text):
        return None
    if _BOOL.match(text):
        return text[0] in "tT"
    if _STRANGE.match(text):
        raise _Refused(f"{text} is no number that can be asked for")
    if _INT.match(text) or _BASED.match(text) or _FLOAT.match(text):
        if len(text) > MAX_NUMBER:
            raise _Refused(f"{text[:20]}… is a number of {len(text)} characters; at most {MAX_NUMBER} are read")
        if _BASED.match(text):
            return int(text, 8 if text[1] == "o" else 16)
        return int(text) if _INT.match(text) else float(text)
    return text
