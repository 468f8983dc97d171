"""Options of the command line, made from a request's model: names, help, units, bounds, defaults, panels.

A field `smooth_m` becomes `--smooth`, a nested model a panel of help, a mapping `--prefer CLIP=0.01`, a list an option
that can be given several times. `--advanced NAME=VALUE` sets the fields of an `Advanced`; `--help-all` lists these, and
the options that `--help` leaves out. What is given on the command line is laid over a request file, then checked as
one.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from itertools import pairwise
from typing import Annotated, Any, Literal, get_args, get_origin

import typer
from typer.models import ArgumentInfo

from choreograph.base.errors import ChoreographError, RequestError
from choreograph.contract.fields import say_bounds
from choreograph.contract.request import Request
from choreograph.verbs.options import (
    ADVANCED,
    LAST,
    Entry,
    entries,
    name_fields,
    negative,
    option_type,
    plain_type,
    read_setting,
)


def parameters(
    model: type[Request], arguments: tuple[str, ...] = (), *, from_file: bool = False, advanced: bool = False
) -> list[inspect.Parameter]:
    """Parameters of a command's function, one for each option; typer makes options of them.

    Args:
        model: The request.
        arguments: Fields that are arguments instead.
        from_file: Whether a file may say what must be said, so that no option must.
        advanced: Whether only the whole help lists them, where their fields do not differ.
    """
    rows, settings = [], False
    for entry in entries(model, advanced=advanced):
        if entry.setting:
            settings = True
            continue
        about = _help(entry)
        if entry.path[-1] in arguments:
            info: Any = typer.Argument(
                help=about, metavar=entry.how.metavar or entry.path[-1].upper(), show_default=False
            )
        else:
            info = typer.Option(
                *_flags(entry), help=about, rich_help_panel=entry.panel or "Options", metavar=entry.how.metavar,
                show_default=False, hidden=entry.advanced,
            )  # fmt: skip
        kind: Any = option_type(entry.kind)
        default: Any = inspect.Parameter.empty
        if from_file or not entry.field.is_required():
            kind, default = kind | None, None
        rows.append(_parameter(entry.parameter, kind, info, default))
    if settings:
        about = "Set one of the advanced settings listed here, by its name."
        info = typer.Option(
            ADVANCED, help=about, rich_help_panel=_SETTINGS, metavar="NAME=VALUE", show_default=False, hidden=True
        )
        rows.append(_parameter("advanced", list[str] | None, info))
    return sorted(rows, key=lambda one: not _is_argument(one))


_SETTINGS = f"Advanced settings: {ADVANCED} NAME=VALUE"


def _parameter(name: str, kind: Any, info: Any, default: Any = None) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info])


def add_command(
    app: typer.Typer,
    name: str,
    run: Callable[..., None],
    about: str | None,
    rows: list[inspect.Parameter],
    model: type[Request],
) -> None:
    """Add a command; if `--help` leaves options out, it says so, and `--help-all` lists them too.

    Args:
        app: The application.
        name: Of the command.
        run: Gets the values by name.
        about: Its help.
        rows: Its parameters.
        model: Where its advanced settings stand.

    Raises:
        ValueError: If two options have one name.
    """
    # typer takes the first name for a default until it sees that the parameter is annotated.
    texts = [text for one in rows for text in (_info(one).default, *(_info(one).param_decls or ()))]
    names = [flag for text in texts if isinstance(text, str) and text.startswith("-") for flag in text.split("/")]
    if twice := sorted({flag for flag in names if names.count(flag) > 1}):
        raise ValueError(f"{name} has two options of one name: {', '.join(twice)}")
    settings = [entry for entry in entries(model) if entry.setting]
    left_out = sum(getattr(_info(one), "hidden", False) for one in rows) - bool(settings)
    hint = None
    if left_out or settings:
        counts = [("more option", left_out), ("advanced setting", len(settings))]
        texts = [f"{count} {noun}{'s' * (count > 1)}" for noun, count in counts if count]
        hint = f"{' and '.join(texts)}: choreograph {name} --help-all"
        whole = typer.Option(
            "--help-all", callback=_show_all(settings), is_eager=True, hidden=True, help="Show all options and exit."
        )
        rows = [*rows, _parameter("help_all", bool, whole, default=False)]
    run.__signature__ = inspect.Signature(rows)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in rows}
    run.__doc__ = about
    app.command(name, epilog=hint)(run)


def _show_all(settings: Sequence[Entry]) -> Callable[..., None]:
    def show(context: typer.Context, wanted: bool) -> None:
        if not wanted:
            return
        command: Any = context.command
        for one in command.params:
            one.hidden = False
            if one.name == "advanced":
                setting = one
        for entry in settings:  # no options, but listed as such
            listed = copy(setting)
            listed.opts, listed.help, listed.metavar = [entry.setting], _help(entry), _metavar(entry)
            command.params.append(listed)
        command.epilog = None
        typer.echo(context.get_help())
        raise typer.Exit

    return show


def _metavar(entry: Entry) -> str:
    kind = option_type(entry.kind)
    return "NAME=VALUE" if kind == list[str] else f"<{getattr(kind, '__name__', 'text')}>"


def _info(parameter: inspect.Parameter) -> Any:
    return parameter.annotation.__metadata__[0]


def _is_argument(parameter: inspect.Parameter) -> bool:
    return isinstance(_info(parameter), ArgumentInfo)


def collect(
    model: type[Request], values: Mapping[str, Any], document: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The document of a request: what a file says, with what options say laid over it.

    Where a file has something else than an object, it stays: reading the request says so.
    """
    out = _copied(document or {})
    known = list(entries(model))
    given_values = [(entry, values.get(entry.parameter)) for entry in known if not entry.setting]
    places = [(entry.path, _value(entry, value)) for entry, value in given_values if value not in (None, [], ())]
    if any(entry.setting for entry in known):
        places += [read_setting(known, text) for text in values.get("advanced") or ()]
    for path, value in places:
        inside: Any = out
        for name, then in pairwise(path):
            if name == LAST:
                inside = inside[-1] if isinstance(inside, list) and inside else None
            else:
                usual: Any = [{}] if then == LAST else {}
                inside = inside.setdefault(name, usual) if isinstance(inside, dict) else None
        if isinstance(inside, dict):
            inside[path[-1]] = value
    return out


def say_by_options(model: type[Request], error: RequestError) -> RequestError:
    """The same mistake, its place named by the option that says it."""
    for entry in entries(model):
        place = ".".join(entry.path)
        if error.where == place or (entry.kind is str and (error.where or "").startswith(f"{place}.")):
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
        value_of: Any = float(value) if number else value
    except ValueError:
        equals = ""
    if not equals or not name:
        form = entry.how.metavar or "NAME=VALUE"
        raise RequestError(f"{entry.names[0]} is given as {form}; found {text!r}")
    return name, value_of


def _help(entry: Entry) -> str:
    text = " ".join((entry.field.description or "").split())
    bounds = "centimetres" if entry.how.centimetres else say_bounds(entry.field)
    choices = ", ".join(str(choice) for choice in get_args(entry.kind)) if get_origin(entry.kind) is Literal else ""
    usual = _default(entry)
    more = [
        part for part in (f"one of {choices}" if choices else "", bounds, f"default {usual}" if usual else "") if part
    ]
    # Square brackets would be taken for markup.
    whole = f"{text.rstrip('.')} ({'; '.join(more)})." if more else text
    return whole.replace("[", "(").replace("]", ")")


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
