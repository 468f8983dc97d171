"""Request: what is asked of a verb, said once. Every field has its meaning, unit, bounds and default here.

From these models come the command line's options, request files and their errors, the JSON Schema, the page's types and
form controls, and the record of what was asked in every result.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self, TypeVar, cast

import numpy as np
from annotated_types import Ge, Le, MaxLen, MinLen
from pydantic import BaseModel, ConfigDict, Field, Strict, ValidationError
from pydantic._internal._model_construction import ModelMetaclass
from pydantic_core import core_schema

from choreograph.base.errors import RequestError
from choreograph.contract.docstrings import field_docstrings
from choreograph.contract.fields import Unit, metadata_of
from choreograph.contract.limits import FARTHEST_M, check_size, check_text, fail_fast
from choreograph.contract.migrate import migrate
from choreograph.contract.mistakes import LISTED, NAMED, join_places
from choreograph.contract.mistakes import LONGEST_QUOTE as LONGEST_QUOTE
from choreograph.contract.mistakes import Wrong as Wrong
from choreograph.contract.mistakes import quote as quote
from choreograph.contract.mistakes import request_error as request_error

if TYPE_CHECKING:
    pass

T = TypeVar("T", bound="Request")


@dataclass(frozen=True)
class Option:
    """How the command line names a field, where its own name does not do; see `choreograph.cli.options`."""

    names: tuple[str, ...] = ()
    """Such as ("--path", "-p"); the field's name without its unit if empty."""
    metavar: str | None = None
    hidden: bool = False
    """Whether the field is left to request files and Python."""
    inverted: bool = False
    """Whether the flag turns the field off: --raw for `clean`."""
    centimetres: bool = False
    """Whether the option is in centimetres, though the field is in metres."""
    advanced: bool | None = None
    """Whether only the whole help lists it, and forms fold it away; None where it is as with what holds the field."""

    unlisted: bool = False
    """Whether only the whole help lists it, though forms show it."""

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:
        """Note in the schema which fields plain controls leave out, fold away, or show the other way round."""
        notes: dict[str, Any] = {name: True for name in ("hidden", "advanced") if getattr(self, name)}
        if self.inverted:
            notes["inverted"] = self.names[0].lstrip("-").replace("-", " ")
        return {**handler(core), **notes}


@dataclass(frozen=True)
class FileName:
    """Marks a text that may name a file: the studio lets requests name files of the project's folder only."""

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:
        """Say so in the schema."""
        return {**handler(core), "format": "file"}


@dataclass(frozen=True)
class OrFile(FileName):
    """Marks a list in whose place the name of a file can stand that holds it."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Let the name pass; the code that reads the list opens the file."""
        name = core_schema.str_schema(min_length=1, max_length=4096)
        return core_schema.tagged_union_schema(
            {LISTED: handler(source), NAMED: name}, lambda value: NAMED if isinstance(value, str) else LISTED
        )

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:
        """Say so in the schema."""
        return {"anyOf": [handler(core["choices"][LISTED]), {**handler(core["choices"][NAMED]), "format": "file"}]}


@dataclass(frozen=True)
class OneWord:
    """Marks a part of a request that one word can say too; the part's `of_word` gives the fields that a word says."""

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        """Read words as the part that they say."""
        word = core_schema.no_info_after_validator_function(source.of_word, core_schema.str_schema(max_length=4096))
        return core_schema.tagged_union_schema(
            {LISTED: handler(source), NAMED: core_schema.chain_schema([word, handler(source)])},
            lambda value: NAMED if isinstance(value, str) else LISTED,
        )

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:
        """Say so in the schema."""
        return {"anyOf": [handler(core["choices"][LISTED]), {"type": "string", "maxLength": 4096}]}


Metres = Annotated[float, Strict(), Unit("m")]
Seconds = Annotated[float, Strict(), Unit("s")]
Degrees = Annotated[float, Strict(), Unit("°"), Ge(-36_000), Le(36_000)]
MetresPerSecond = Annotated[float, Strict(), Unit("m/s")]
Hertz = Annotated[float, Strict(), Unit("Hz")]
Cost = Annotated[float, Strict(), Unit("m²·s"), Ge(0), Le(1e6)]
Weight = Annotated[float, Strict(), Ge(1e-9), Le(1e9)]
Seed = Annotated[int, Ge(0), Le(2**31)]
Name = Annotated[str, MinLen(1), MaxLen(200)]
FileText = Annotated[str, MaxLen(4096)]
"""The name of a file, or of something that may be one."""
Quality = Annotated[
    Literal["draft", "normal", "best"],
    Field(description="How good against how soon: draft for a first look, best where time does not matter."),
]
Coordinate = Annotated[float, Ge(-FARTHEST_M), Le(FARTHEST_M)]
Point = tuple[Coordinate, Coordinate]
"""x and z on the floor, metres."""
Place = tuple[Coordinate | None, Coordinate | None, Coordinate | None]
"""x, y and z, metres; None for a coordinate that does not matter."""


class _Called(ModelMetaclass):
    """Lets models be made with values in the order of their fields, and mistakes in them be a RequestError."""

    def __new__(mcs, *args: Any, **named: Any) -> type:
        cls: Any = super().__new__(mcs, *args, **named)
        for name, text in field_docstrings(cls).items():
            if name in cls.model_fields:
                cls.model_fields[name].description = text
        return cast("type", cls)

    def __call__(cls, *values: Any, **named: Any) -> Any:
        fields = [f for f in cls.model_fields if f not in getattr(cls, "named_only", ())]  # type: ignore[attr-defined]
        if len(values) > len(fields):
            raise TypeError(f"{cls.__name__} takes {len(fields)} values at most, not {len(values)}")
        twice = [name for name in fields[: len(values)] if name in named]
        if twice:
            raise TypeError(f"{cls.__name__} got two values for {twice[0]!r}")
        try:
            given = {**dict(zip(fields, values, strict=False)), **named}
            given = cls.of_today(given)  # type: ignore[attr-defined]
            return super().__call__(**{name: _plain(value) for name, value in given.items()})
        except ValidationError as error:
            raise request_error(error, cls) from None


class Request(BaseModel, metaclass=_Called):
    """Base of everything that can be asked: frozen, checked, without unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True, allow_inf_nan=False)
    verb: ClassVar[str] = ""
    """The verb that it is the whole request of: its documents of earlier versions are read, too."""
    drawable: ClassVar[bool] = False
    """Whether a drawing in `scene.drawing` can say what is wanted."""
    panel: ClassVar[str] = ""
    """Heading of its options in help and forms, where it is a part of a request."""
    of_last: ClassVar[Mapping[str, tuple[type[Request], Mapping[str, str]]]] = {}
    """Lists whose last entry has options: its model, and the option of each field of it."""
    effort: ClassVar[tuple[str, ...]] = ()
    """Fields that say how long to search and what becomes of what is found, not what is wanted: a search goes on
    where only they change."""
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    """What each `quality` sets, by field ("advanced.beam_width"), where the field is left at its default."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        """Lists are read up to their first mistake."""
        return fail_fast(handler(source))

    @classmethod
    def __get_pydantic_json_schema__(cls, core: Any, handler: Any) -> dict[str, Any]:
        """Forms put a heading over the part, and fold away what is advanced."""
        schema = handler(core)
        notes: dict[str, Any] = {"panel": cls.panel} if cls.panel else {}
        handler.resolve_ref_schema(schema).update(notes | ({"advanced": True} if issubclass(cls, Advanced) else {}))
        return dict(schema)

    @classmethod
    def of_today(cls, values: dict[str, Any]) -> dict[str, Any]:
        """What it is made of in Python, in today's words; where older ones are known, they are turned into these."""
        return values

    def with_(self, **changes: Any) -> Self:
        """A changed copy, checked like any other.

        Args:
            changes: New values of fields.
        """
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        return type(self)(**{**fields, **changes})

    def with_quality(self) -> Self:
        """The request with the settings of its `quality` in all fields that are left at their default."""
        return self._with_usual(self.presets.get(getattr(self, "quality", ""), {}))

    def _with_usual(self, values: Mapping[str, Any]) -> Self:
        changes = {}
        for name, field in type(self).model_fields.items():
            inside = {place[len(name) + 1 :]: value for place, value in values.items() if place.split(".")[0] == name}
            value = getattr(self, name)
            if inside and isinstance(value, Request):
                changes[name] = value._with_usual(inside)
            elif inside and value == field.get_default(call_default_factory=True):
                changes[name] = inside[""]
        return self.with_(**changes) if changes else self

    def resolved(self, folder: Path, *, allow_code: bool = False) -> Self:
        """The request with names of files taken from a folder: that of the file it was read from.

        Args:
            folder: From where files that it names are looked for.
            allow_code: Whether functions that it names may be loaded, which runs their files.
        """
        return self

    @classmethod
    def say_unknown(cls, name: str) -> str:
        """What to say about a field that the model does not have, as the end of a sentence.

        Args:
            name: The field.
        """
        return f"which is not known; it can have {', '.join(cls.model_fields)}"

    def people(self) -> list[str]:
        """The names of those it asks motion of, where it asks it of several."""
        return []

    def notes(self) -> list[str]:
        """What was assumed where files that it names leave it open, as sentences."""
        return []

    def as_document(self) -> dict[str, Any]:
        """The request as plain values, without what is as usual: what request files hold."""
        return {name: _as_plain(value) for name, value in self._set_fields()}

    def wants_same(self, other: Request) -> bool:
        """Whether another request wants the same, be it with more or less effort."""
        return type(other) is type(self) and self == other.with_(**{name: getattr(self, name) for name in self.effort})

    def _set_fields(self) -> Iterator[tuple[str, Any]]:
        for name, field in type(self).model_fields.items():
            value = getattr(self, name)
            if field.exclude or (not field.is_required() and value == field.get_default(call_default_factory=True)):
                continue
            yield name, value


class Advanced(Request):
    """Base of settings that need knowledge of how a verb works: `--advanced NAME=VALUE` on the command line, folded
    away in forms and in help."""

    panel: ClassVar[str] = "Advanced"


def named_files(request: Request, place: str = "") -> Iterator[tuple[str, str]]:
    """The files that a request names, each with where it does."""
    for name, field in type(request).model_fields.items():
        value, where = getattr(request, name), join_places(place, name)
        if any(isinstance(note, FileName) for note in metadata_of(field)):
            texts = (value,) if isinstance(value, str) else value or ()
            yield from ((where, text) for text in texts if text and isinstance(text, str))
        parts = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, tuple) else ()
        for key, part in [(None, value), *parts]:
            if isinstance(part, Request):
                inside = where if key is None else f"{where}[{key}]" if isinstance(key, int) else f"{where}.{key}"
                yield from named_files(part, inside)


def read_request(kind: type[T], document: Any) -> T:
    """The request that plain values, as from JSON, describe.

    >>> import choreograph as cg
    >>> read_request(cg.FollowRequest, {"path": "eight", "count": 2}).count
    2

    Args:
        kind: The request's model.
        document: An object; None is an empty one. It may be of version 0.1, unless it has `format: 2`.

    Raises:
        RequestError: Names the place of the first mistake: `body[1].position is …`.
    """
    import json

    if document is not None and not isinstance(document, Mapping):
        raise RequestError(f"a request is an object with names and values; found {quote(document)}")
    check_size(document or {})
    unread = {"$schema", "format"} - ({"format"} if kind.verb else set(kind.model_fields))
    plain, _ = migrate(kind.verb, {name: value for name, value in (document or {}).items() if name not in unread})
    try:
        # Read as JSON and strictly: so numbers in quotes are no numbers, and lists do for tuples.
        return kind.model_validate_json(check_text(json.dumps(plain)), strict=True)
    except ValidationError as error:
        raise request_error(error, kind) from None
    except (TypeError, ValueError) as error:
        raise RequestError(f"the request holds what JSON cannot: {error}") from None


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays as Python's, and paths of files as text."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, Path):
        return str(value)
    return type(value)(_plain(part) for part in value) if type(value) in (list, tuple) else value


def _as_plain(value: Any) -> Any:
    if isinstance(value, Request):
        return value.as_document()
    if isinstance(value, Mapping):
        return {str(name): _as_plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_as_plain(part) for part in value]
    if isinstance(value, float) and value.is_integer() and math.fabs(value) < 2**53:
        return int(value) if value else 0
    return value
