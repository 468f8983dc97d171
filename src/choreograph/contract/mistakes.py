"""What is wrong with a request, as sentences that begin with the place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, get_args

from pydantic import BaseModel, ValidationError

from choreograph.base.errors import RequestError
from choreograph.contract.fields import say_bounds

if TYPE_CHECKING:
    from pydantic.fields import FieldInfo
    from pydantic_core import ErrorDetails

LONGEST_QUOTE = 200
"""Characters of a value that a message quotes at most."""


class Wrong(ValueError):
    """Raised by a model's own checks: what is wrong at a place within it."""

    def __init__(self, where: str, text: str) -> None:
        super().__init__(text)
        self.where = where
        """Within the model: "body[1].at_s"; empty for the whole of it."""


LISTED, NAMED = "<list>", "<file>"
"""What the places of mistakes have in them where a list may be a file, or a part one word."""


def request_error(error: ValidationError, kind: Any) -> RequestError:
    """What is wrong with a request, as one sentence that begins with the place; the rest is in `mistakes`."""
    mistakes = [
        _mistake({**one, "loc": tuple(part for part in one["loc"] if part not in (LISTED, NAMED))}, kind)
        for one in error.errors(include_url=False)
    ]
    more = f" (and {len(mistakes) - 1} more)" if len(mistakes) > 1 else ""
    error_now = RequestError(mistakes[0][1] + more)
    error_now.where, error_now.mistakes = mistakes[0][0], tuple(mistakes)
    return error_now


def quote(value: Any) -> str:
    """A value as messages show it, cut where it is long."""
    # A million entries would take a minute to write down, of which nobody sees more than the first.
    text = repr(value[: LONGEST_QUOTE + 1] if isinstance(value, str | list | tuple) else value)
    return text if len(text) <= LONGEST_QUOTE else f"{text[:LONGEST_QUOTE]}…"


def _mistake(error: ErrorDetails, kind: Any) -> tuple[str, str]:
    """Where, and the sentence."""
    where, field = _locate(kind, error["loc"])
    where = where if len(where) <= LONGEST_QUOTE else f"{where[:LONGEST_QUOTE]}…"
    value, context, sort = error.get("input"), error.get("ctx", {}), error["type"]
    inner = context.get("error")
    if isinstance(inner, Wrong):
        where = join_places(where, inner.where)
        return where, f"{where}{' ' if where else ''}{inner}"
    if sort == "missing":
        return where, f"{where} is missing"
    if sort == "extra_forbidden":
        owner, name = where.rpartition(".")[0], str(error["loc"][-1])
        model = _model_at(kind, error["loc"][:-1])
        known = model.say_unknown(name) if model is not None else "which is not known"
        return where, f"{owner or 'the request'} has {quote(name)}, {known}"
    if sort == "untold":
        return where, f"{where} is {quote(value)}; it {error['msg']}"
    if sort in ("model_type", "model_attributes_type", "dict_type"):
        model = _model_at(kind, error["loc"])
        known = f" with {', '.join(model.model_fields)}" if model is not None else ""
        return where, f"{where or 'the request'} is {quote(value)}; it must be an object{known}"
    return (
        where,
        f"{where or 'the request'} is {quote(value)}; it must {_expected(sort, field, context, error['msg'])}",
    )


_SORTS = {
    "bool": "true or false",
    "int": "a whole number",
    "float": "a number",
    "finite": "a number",
    "string": "a name or text in quotes",
    "tuple": "a list",
    "list": "a list",
    "callable": "a function",
}


def _expected(sort: str, field: FieldInfo | None, context: Mapping[str, Any], message: str) -> str:
    """What it must be, as the end of a sentence."""
    broken = sort in ("greater_than", "greater_than_equal", "less_than", "less_than_equal")
    bounds = say_bounds(field, whole=broken) if field is not None else ""
    if broken and bounds:
        return f"be a number {bounds}"
    if sort == "literal_error":
        return f"be one of {context['expected'].replace(' or ', ', ')}"
    if sort in ("too_long", "string_too_long"):
        return f"have {context['max_length']} {'characters' if sort.startswith('string') else 'entries'} at most"
    if sort in ("too_short", "string_too_short"):
        return "not be empty" if context["min_length"] == 1 else f"have {context['min_length']} or more"
    for begin, text in _SORTS.items():
        if sort.startswith(begin):
            return f"be {text} {bounds}".rstrip() if begin in ("int", "float", "finite") else f"be {text}"
    return f"be otherwise: {message[0].lower()}{message[1:]}"


def _locate(kind: Any, place: tuple[int | str, ...]) -> tuple[str, FieldInfo | None]:
    where, field = "", None
    model: Any = kind
    for part in place:
        if isinstance(part, int):
            where += f"[{part}]"
            continue
        fields = getattr(model, "model_fields", {})
        if field is not None and (named := _named_model(field.annotation, part)):
            model = named
            continue
        if part in fields:
            field = fields[part]
            model = _inner_model(field.annotation)
        elif (
            field is not None
            and not model
            and "Mapping" not in str(field.annotation)
            and "dict" not in str(field.annotation)
        ):
            continue  # which of several types it could not be
        where = join_places(where, part)
    return where, field


def _model_at(kind: Any, place: tuple[int | str, ...]) -> Any:
    model, field = kind, None
    for part in place:
        if isinstance(part, str) and field is not None and (named := _named_model(field.annotation, part)):
            model = named
        elif isinstance(part, str) and model is not None and part in model.model_fields:
            field = model.model_fields[part]
            model = _inner_model(field.annotation)
    return model


def _named_model(kind: Any, name: str) -> Any:
    """Of the models that a field holds the one of that name: places of mistakes have it where there are several."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return kind if kind.__name__ == name else None
    return next((model for inner in get_args(kind) if (model := _named_model(inner, name))), None)


def _inner_model(kind: Any) -> Any:
    """The model that a field holds, also in lists and mappings; None if there is none."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return kind
    for inner in get_args(kind):
        model = _inner_model(inner)
        if model is not None:
            return model
    return None


def join_places(where: str, inside: str) -> str:
    """A place within a place: "body[1]" and "at_s" are "body[1].at_s"."""
    return f"{where}{'' if not where or not inside or inside.startswith('[') else '.'}{inside}"
