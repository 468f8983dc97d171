"""Requests as the command line says them: which fields have an option, its name, and the words for a request."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

from choreograph.contract.fields import metadata_of
from choreograph.contract.request import OneWord, Option, OrFile, Request

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

_UNITS = re.compile(r"_(?:m|s|deg|hz|m_s|m2_s|frames)$")
"""Endings of fields that say their unit, which options leave out."""


ARGUMENTS = (
    "allow_code", "asf", "cache", "fps", "mirror", "onto", "open_cluster", "open_graph", "output", "overwrite",
    "render", "save_model", "save_segments", "shards", "take", "with_roles",
)  # fmt: skip
"""Arguments and functions of Python that sentences of the library name, besides fields of requests."""


@dataclass(frozen=True)
class Entry:
    """A field that has an option."""

    path: tuple[str, ...]
    """Names that lead to it: ("search", "beam_width")."""
    field: FieldInfo
    how: Option
    panel: str

    @property
    def parameter(self) -> str:
        """What the command's function calls it."""
        return "__".join(self.path)

    @property
    def names(self) -> tuple[str, ...]:
        """The option's names, such as "--beam"."""
        return self.how.names or (option_name(self.path[-1]),)

    @property
    def kind(self) -> Any:
        """The field's type, without `| None`; text where one word or a file's name says the whole of it."""
        return str if _as_text(self.field) else plain_type(self.field.annotation)


def option_name(field: str) -> str:
    """The option of a field of this name.

    >>> option_name("smooth_m"), option_name("max_seconds")
    ('--smooth', '--max-seconds')
    """
    return "--" + _UNITS.sub("", field).replace("_", "-")


def entries(model: type[Request], path: tuple[str, ...] = (), panel: str = "") -> Iterator[Entry]:
    """The fields of a request that options can say, nested ones with the panel they stand in."""
    for name, field in model.model_fields.items():
        how = next((entry for entry in metadata_of(field) if isinstance(entry, Option)), Option())
        kind = plain_type(field.annotation)
        if how.hidden or field.exclude:
            continue
        if _as_text(field):
            yield Entry((*path, name), field, how, panel)
        elif isinstance(kind, type) and issubclass(kind, Request):
            yield from entries(kind, (*path, name), kind.panel or kind.__name__)
        elif option_type(kind) is not None:
            yield Entry((*path, name), field, how, panel)


def as_options(request: Request) -> list[str] | None:
    """The words that ask for the same on the command line; None if options cannot say it all."""
    document, words = request.as_document(), []
    for entry in entries(type(request)):
        holder: Any = document
        for name in entry.path[:-1]:
            holder = holder.get(name, {})
        if entry.path[-1] not in holder:
            continue
        value, name = holder.pop(entry.path[-1]), entry.names[0]
        if _as_text(entry.field) and not isinstance(value, str):
            kind = plain_type(entry.field.annotation)
            value = kind.to_word(value) if hasattr(kind, "to_word") else None
            if value is None:
                return None
        if isinstance(value, bool):
            words.append(name if value != entry.how.inverted else negative(name))
        elif isinstance(value, dict):
            words += [word for key, part in value.items() for word in (name, f"{key}={part}")]
        elif isinstance(value, list):
            words += [word for part in value for word in (name, str(part))]
        else:
            value = float(f"{100 * value:.10g}") if entry.how.centimetres else value
            words += [name, repr(value) if isinstance(value, float) else str(value)]
    return None if _leftover(document) else words


def _as_text(field: FieldInfo) -> bool:
    """Whether an option says all of a field by a word or a file's name."""
    return any(isinstance(note, OneWord | OrFile) for note in metadata_of(field))


def _leftover(document: Any) -> bool:
    return any(_leftover(value) if isinstance(value, dict) else True for value in document.values())


def name_fields(text: str, names: Mapping[str, str]) -> str:
    """A sentence with a face's own names for the settings that it advises to set.

    Sentences of the library name settings as Python has them: in brackets, such as (min_s, max_s), or as words that no
    other word of a sentence is, such as max_stretch. Brackets that a face has nothing for, named "", are left out.

    >>> name_fields("it is too long: take a part (start_s, end_s)", {"start_s": "--start", "end_s": "--end"})
    'it is too long: take a part (--start, --end)'
    """

    def bracketed(found: re.Match[str]) -> str:
        words = found[2].split(", ")
        if not all(word in names for word in words):
            return found[0]
        known = ", ".join(names[word] for word in words if names[word])
        return f"{found[1]}({known})" if known else ""

    text = re.sub(r"( ?)\(([a-z_0-9]+(?:, [a-z_0-9]+)*)\)", bracketed, text)
    word = r"(?<![\w.'\[\]-])[a-z]+(?:_[a-z0-9]+)+(?![\w'\[=(]|\.\w)"
    return re.sub(word, lambda found: names.get(found[0]) or found[0], text)


def plain_type(kind: Any) -> Any:
    """A type without `| None` and without its notes."""
    if get_origin(kind) is Annotated:
        return plain_type(get_args(kind)[0])
    options = [option for option in get_args(kind) if option is not type(None)]
    if len(options) == 1 and type(None) in get_args(kind):
        return plain_type(options[0])
    return kind


def option_type(kind: Any) -> Any:
    """What typer reads an option of this type as; None for a type that options cannot say."""
    origin = get_origin(kind)
    if kind in (bool, int, float, str, Path):
        return kind
    if origin is Literal:
        return str
    if origin in (dict, Mapping) or (isinstance(origin, type) and issubclass(origin, Mapping)):
        return (
            list[str] if get_args(kind)[1] in (int, float, str) or get_origin(get_args(kind)[1]) is Annotated else None
        )
    if origin in (tuple, list) and plain_type(get_args(kind)[0]) in (int, float, str) and Ellipsis in get_args(kind):
        return list[plain_type(get_args(kind)[0])]  # type: ignore[misc]
    return None


def negative(name: str) -> str:
    """The flag that says no."""
    return f"--no-{name.removeprefix('--')}"
