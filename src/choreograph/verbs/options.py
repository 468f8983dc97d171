"""Requests as the command line says them: which fields have an option, its name, and the words for a request."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

from choreograph.base.errors import RequestError
from choreograph.contract.fields import metadata_of
from choreograph.contract.request import Advanced, OneWord, Option, OrFile, Request

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

_UNITS = re.compile(r"_(?:m|s|deg|hz|m_s|m2_s|frames)$")
"""Endings of fields that say their unit, which options leave out."""


LAST = "last"
"""Stands for the last entry of a list, in places that options set."""
ADVANCED = "--advanced"
"""The option that sets fields of an `Advanced`, as NAME=VALUE."""

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
    advanced: bool = False
    """Whether only the whole help lists it."""
    setting: str = ""
    """What `--advanced NAME=VALUE` calls it: "weights.speed"; empty for a field with an option of its own."""

    @property
    def parameter(self) -> str:
        """What the command's function calls it."""
        return "__".join(self.path)

    @property
    def names(self) -> tuple[str, ...]:
        """The option's names, such as "--speed" or "--advanced beam_width"."""
        if self.setting:
            return (f"{ADVANCED} {self.setting}",)
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


def entries(
    model: type[Request],
    path: tuple[str, ...] = (),
    panel: str = "",
    *,
    advanced: bool = False,
    settings: bool = False,
) -> Iterator[Entry]:
    """The fields of a request that the command line can set, nested ones with the panel they stand in.

    Args:
        model: The request, or a part of it.
        path: Names that lead to the part.
        panel: Heading of the part.
        advanced: Whether the part is advanced; its fields may differ.
        settings: Whether `--advanced NAME=VALUE` sets its fields, instead of options of their own.
    """
    for name, field in model.model_fields.items():
        how = next((entry for entry in metadata_of(field) if isinstance(entry, Option)), Option())
        kind, here = plain_type(field.annotation), (*path, name)
        if how.hidden or field.exclude:
            continue
        folded = advanced if how.advanced is None else how.advanced
        if _as_text(field):
            yield Entry(here, field, how, panel, folded)
        elif isinstance(kind, type) and issubclass(kind, Request):
            inner = settings or issubclass(kind, Advanced)
            yield from entries(kind, here, kind.panel or kind.__name__, advanced=folded or inner, settings=inner)
        elif option_type(kind) is not None:
            setting = ".".join(part for part in here if part != "advanced") if settings else ""
            yield Entry(here, field, how, panel, folded or how.unlisted, setting)
    for name, (item, options) in model.of_last.items():
        for part, option in options.items():
            yield Entry((*path, name, LAST, part), item.model_fields[part], Option((option,)), "Goal", advanced)


def as_options(request: Request) -> list[str] | None:
    """The words that ask for the same on the command line; None if options cannot say it all."""
    document, words = request.as_document(), []
    for entry in entries(type(request)):
        if LAST in entry.path:
            continue
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
        if entry.setting:
            words += [word for text in _settings(entry.setting, value) for word in (ADVANCED, text)]
        elif isinstance(value, bool):
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


def _settings(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (f"{name}.{key}={part}" for key, part in value.items())
    else:
        yield f"{name}={json.dumps(value) if not isinstance(value, str) else value}"


def read_setting(entries: Sequence[Entry], text: str) -> tuple[tuple[str, ...], Any]:
    """The place and the value that a word NAME=VALUE sets; lists and null are as in JSON.

    Args:
        entries: Of the request.
        text: The word.

    Raises:
        RequestError: If it is no such word, or there is no such setting; lists those with a similar name.
    """
    name, equals, value = text.partition("=")
    known = {entry.setting: entry for entry in entries if entry.setting}
    held, _, key = name.rpartition(".")
    is_key = name not in known and held in known and option_type(known[held].kind) == list[str]
    entry = known.get(held if is_key else name)
    if not equals or not name:
        raise RequestError(f"{ADVANCED} is given as NAME=VALUE; found {text!r}", where="advanced")
    if entry is None:
        near = [one for one in known if name in one or one.rpartition(".")[2] == name.rpartition(".")[2]]
        near = near or get_close_matches(name, known, 3, 0.5)
        more = f"; near it: {', '.join(near)}" if near else ""
        raise RequestError(f"{ADVANCED} has no setting {name!r}{more}. --help-all lists all", where="advanced")
    path = (*entry.path, key) if is_key else entry.path
    kind = plain_type(get_args(entry.kind)[1]) if is_key else entry.kind
    if option_type(kind) is str and not (value == "null" and type(None) in get_args(entry.field.annotation)):
        return path, value
    try:
        return path, json.loads(value)
    except ValueError:  # the request's own check says what it must be
        return path, value


def _leftover(document: Any) -> bool:
    return any(_leftover(value) if isinstance(value, dict) else True for value in document.values())


def name_fields(text: str, names: Mapping[str, str]) -> str:
    """A sentence with a face's own names for the settings that it advises to set.

    Sentences of the library name settings as Python has them: in brackets, such as (min_s, advanced.weights.reuse), or
    as words that no other word of a sentence is, such as max_stretch. Brackets that a face has nothing for, named "",
    are left out.

    >>> name_fields("it is too long: take a part (start_s, end_s)", {"start_s": "--start", "end_s": "--end"})
    'it is too long: take a part (--start, --end)'
    """

    def bracketed(match: re.Match[str]) -> str:
        words = [word.rpartition(".")[2] for word in match[2].split(", ")]
        if not all(word in names for word in words):
            return match[0]
        known = ", ".join(names[word] for word in words if names[word])
        return f"{match[1]}({known})" if known else ""

    text = re.sub(r"( ?)\(([a-z_0-9.]+(?:, [a-z_0-9.]+)*)\)", bracketed, text)
    word = r"(?<![\w.'\[\]-])[a-z]+(?:_[a-z0-9]+)+(?![\w'\[=(]|\.\w)"
    return re.sub(word, lambda match: names.get(match[0]) or match[0], text)


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
