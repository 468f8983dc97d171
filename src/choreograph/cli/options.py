"""Options of the command line, made from a request's model: names, help, units, bounds, defaults, panels.

A field `smooth_m` becomes `--smooth`, a nested model a panel of help, a mapping `--prefer CLIP=0.01`, a list an option
that can be given several times. What is given on the command line is laid over a request file, then checked as one.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Annotated, Any, Literal, get_args, get_origin

import typer
from typer.models import ArgumentInfo

from choreograph.base.errors import ChoreographError, RequestError
from choreograph.contract.fields import say_bounds
from choreograph.contract.request import Request
from choreograph.verbs.options import Entry, entries, name_fields, negative, option_type, plain_type


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
        kind: Any = option_type(entry.kind)
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
    """The document of a request: what a file says, with what options say laid over it.

    Where a file has something else than an object, it stays: reading the request says so.
    """
    out = _copied(document or {})
    for entry in entries(model):
        value = values.get(entry.parameter)
        if value is None or value == [] or value == ():
            continue
        inside: Any = out
        for name in entry.path[:-1]:
            inside = inside.setdefault(name, {}) if isinstance(inside, dict) else None
        if isinstance(inside, dict):
            inside[entry.path[-1]] = _value(entry, value)
    return out


def say_by_options(model: type[Request], error: RequestError) -> RequestError:
    """The same mistake, its place named by the option that says it."""
    for entry in entries(model):
        place = ".".join(entry.path)
        if error.where == place:
            return RequestError(str(error).replace(place, entry.names[0], 1), where=place)
    return error


_COMMANDS = {
    "allow_code": "--allow-code",
    "asf": "--asf",
    "cache": "--cache",
    "fps": "--fps",
    "mirror": "--mirror",
    "onto": "--onto",
    "open_cluster": "--cluster local:2",
    "open_graph": "choreograph info",
    "output": "--output",
    "overwrite": "--force",
    "render": "--render",
    "save_model": "choreograph learn",
    "save_segments": "choreograph segment",
    "shards": "--shards",
    "take": "--take",
    "with_roles": "--role",
}
"""What does on the command line what arguments and functions do in Python."""


def in_options(text: str, *models: type[Request]) -> str:
    """A sentence of the library, with the names of the command line for what it advises; see `name_fields`.

    Args:
        text: The sentence.
        *models: Whose fields are options; those of the first count before those of others.
    """
    fields = [entry for model in models for entry in entries(model)]
    return name_fields(text, {**_COMMANDS, **{entry.path[-1]: entry.names[0] for entry in reversed(fields)}})


@contextmanager
def speaking(*models: type[Request]) -> Iterator[None]:
    """Errors name what they advise as the command line does."""
    try:
        yield
    except ChoreographError as error:
        error.args = (in_options(str(error), *models),)
        raise


def _flags(entry: Entry) -> tuple[str, ...]:
    if entry.kind is not bool:
        return entry.names
    first, *more = entry.names
    return (f"{first}/{negative(first)}", *more)


def _value(entry: Entry, value: Any) -> Any:
    if entry.kind is bool:
        return value != entry.how.inverted
    if entry.how.centimetres:
        return value / 100
    if option_type(entry.kind) == list[str] and get_origin(entry.kind) not in (tuple, list):
        return dict(_pair(entry, text) for text in value)
    return list(value) if isinstance(value, list | tuple) else value


def _pair(entry: Entry, text: str) -> tuple[str, Any]:
    name, equals, value = text.rpartition("=")
    number = plain_type(get_args(entry.kind)[1]) in (int, float)
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
