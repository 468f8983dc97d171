"""Options of the command line, made from a request's model: names, help, units, bounds, defaults, panels.

A field `smooth_m` becomes `--smooth`, a nested model a panel of help, a mapping `--prefer CLIP=0.01`, a list an option
that can be given several times. What is given on the command line is laid over a request file, then checked as one.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

import typer
from typer.models import ArgumentInfo

from choreograph.contract.request import Option, Request, metadata_of, say_bounds
from choreograph.errors import RequestError

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo

_UNITS = re.compile(r"_(?:m|s|deg|hz|m_s|m2_s|frames)$")
"""Endings of fields that say their unit, which options leave out."""


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
        """The field's type, without `| None`."""
        return _inner(self.field.annotation)


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
        kind = _inner(field.annotation)
        if how.hidden or field.exclude:
            continue
        if isinstance(kind, type) and issubclass(kind, Request):
            yield from entries(kind, (*path, name), kind.panel or kind.__name__)
        elif _type(kind) is not None:
            yield Entry((*path, name), field, how, panel)


def parameters(
    model: type[Request], arguments: tuple[str, ...] = (), *, from_file: bool = False
) -> list[inspect.Parameter]:
    """Parameters of a command's function, one for each option; typer makes options of them.

    Args:
        model: The request.
        arguments: Fields that are arguments instead.
        from_file: Whether a file may say what must be said, so that no option must.
    """
    made = []
    for entry in entries(model):
        about = _help(entry)
        if entry.path[-1] in arguments:
            info: Any = typer.Argument(
                help=about, metavar=entry.how.metavar or entry.path[-1].upper(), show_default=False
            )
        else:
            info = typer.Option(
                *_flags(entry), help=about, rich_help_panel=entry.panel or "Options", metavar=entry.how.metavar,
                show_default=False,
            )  # fmt: skip
        kind: Any = _type(entry.kind)
        default: Any = inspect.Parameter.empty
        if from_file or not entry.field.is_required():
            kind, default = kind | None, None
        annotation: Any = Annotated[kind, info]
        made.append(
            inspect.Parameter(entry.parameter, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        )
    return sorted(made, key=lambda one: not _is_argument(one))


def _is_argument(parameter: inspect.Parameter) -> bool:
    return isinstance(parameter.annotation.__metadata__[0], ArgumentInfo)


def collect(
    model: type[Request], values: Mapping[str, Any], document: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The document of a request: what a file says, with what options say laid over it."""
    out = _copied(document or {})
    for entry in entries(model):
        value = values.get(entry.parameter)
        if value is None or value == [] or value == ():
            continue
        inside = out
        for name in entry.path[:-1]:
            inside = inside.setdefault(name, {})
        inside[entry.path[-1]] = _value(entry, value)
    return out


def say_by_options(model: type[Request], error: RequestError) -> RequestError:
    """The same mistake, its place named by the option that says it."""
    for entry in entries(model):
        place = ".".join(entry.path)
        if error.where == place:
            return RequestError(str(error).replace(place, entry.names[0], 1), where=place)
    return error


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
        if isinstance(value, bool):
            words.append(name if value != entry.how.inverted else _negative(name))
        elif isinstance(value, dict):
            words += [word for key, part in value.items() for word in (name, f"{key}={part}")]
        elif isinstance(value, list):
            words += [word for part in value for word in (name, str(part))]
        else:
            value = float(f"{100 * value:.10g}") if entry.how.centimetres else value
            words += [name, repr(value) if isinstance(value, float) else str(value)]
    return None if _leftover(document) else words


def _leftover(document: Any) -> bool:
    return any(_leftover(value) if isinstance(value, dict) else True for value in document.values())


def _inner(kind: Any) -> Any:
    """A type without `| None` and without its notes."""
    if get_origin(kind) is Annotated:
        return _inner(get_args(kind)[0])
    options = [option for option in get_args(kind) if option is not type(None)]
    if len(options) == 1 and type(None) in get_args(kind):
        return _inner(options[0])
    return kind


def _type(kind: Any) -> Any:
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
    if origin in (tuple, list) and _inner(get_args(kind)[0]) in (int, float, str) and Ellipsis in get_args(kind):
        return list[_inner(get_args(kind)[0])]  # type: ignore[misc]
    return None


def _flags(entry: Entry) -> tuple[str, ...]:
    if entry.kind is not bool:
        return entry.names
    first, *more = entry.names
    return (f"{first}/{_negative(first)}", *more)


def _negative(name: str) -> str:
    return f"--no-{name.removeprefix('--')}"


def _value(entry: Entry, value: Any) -> Any:
    if entry.kind is bool:
        return value != entry.how.inverted
    if entry.how.centimetres:
        return value / 100
    if _type(entry.kind) == list[str] and get_origin(entry.kind) not in (tuple, list):
        return dict(_pair(entry, text) for text in value)
    return list(value) if isinstance(value, list | tuple) else value


def _pair(entry: Entry, text: str) -> tuple[str, Any]:
    name, equals, value = text.rpartition("=")
    number = _inner(get_args(entry.kind)[1]) in (int, float)
    try:
        found: Any = float(value) if number else value
    except ValueError:
        equals = ""
    if not equals or not name:
        form = entry.how.metavar or "NAME=VALUE"
        raise RequestError(f"{entry.names[0]} is given as {form}; found {text!r}")
    return name, found


def _help(entry: Entry) -> str:
    text = " ".join((entry.field.description or "").split())
    bounds = "centimetres" if entry.how.centimetres else say_bounds(entry.field)
    choices = ", ".join(str(choice) for choice in get_args(entry.kind)) if get_origin(entry.kind) is Literal else ""
    usual = _default(entry)
    more = [
        part for part in (f"one of {choices}" if choices else "", bounds, f"default {usual}" if usual else "") if part
    ]
    # Square brackets would be taken for markup.
    said = f"{text.rstrip('.')} ({'; '.join(more)})." if more else text
    return said.replace("[", "(").replace("]", ")")


def _default(entry: Entry) -> str:
    """The default as help says it; empty where there is none to speak of."""
    value = None if entry.field.is_required() else entry.field.get_default(call_default_factory=True)
    if value is None or value == () or value == {} or value == "" or isinstance(value, bool):
        return ""
    value = 100 * value if entry.how.centimetres else value
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _copied(part) for name, part in value.items()}
    return [_copied(part) for part in value] if isinstance(value, list) else value
