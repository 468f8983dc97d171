"""Sentences of the library in the studio's words: what they advise to set is named as the page names it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from choreograph.verbs.options import ARGUMENTS, entries, name_fields, option_name

if TYPE_CHECKING:
    from choreograph.contract.request import Request

_GRAPH = {
    "goal": "Goal",
    "max_blend_s": "Long blends to clips that stay out",
    "mirror": "Also use every clip mirrored",
    "nearest": "",
    "rate_hz": "Rate",
    "threshold_m": "Threshold",
    "window_s": "Window",
}
"""Fields of the graph's panel; what it does not have is left out of sentences."""


def label_of(field: str) -> str:
    """What a form of the page calls a field.

    >>> label_of("max_stretch"), label_of("apart_m")
    ('Max stretch', 'Apart')
    """
    return option_name(field).removeprefix("--").replace("-", " ").capitalize()


def in_labels(text: str, request: type[Request] | None = None) -> str:
    """A sentence with the page's names for what it advises to set; see `name_fields`.

    >>> in_labels("build the graph with mirrored copies (mirror)")
    'build the graph with mirrored copies (Also use every clip mirrored)'
    >>> in_labels("give the rate yourself (fps)")
    'give the rate yourself'

    Args:
        text: The sentence.
        request: The request that it is about.
    """
    fields = [] if request is None else [entry.path[-1] for entry in entries(request)]
    return name_fields(text, {**dict.fromkeys(ARGUMENTS, ""), **_GRAPH, **{field: label_of(field) for field in fields}})
