"""Motions that a request names: files everywhere, and in the studio also what its project has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from choreograph.contract.fields import metadata_of
from choreograph.contract.request import Request

T = TypeVar("T", bound=Request)

OWN = ("clip:", "result:")
"""How names begin that stand for a motion of the studio's project: "clip:ID", "result:ID", "result:ID/1"."""


@dataclass(frozen=True)
class MotionName:
    """Marks a text or a list of texts that name motions: files, or in the studio clips and results of the project."""

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:
        """Say so in the schema."""
        return {**handler(core), "format": "motion"}


def motion_names(request: Request) -> Iterator[tuple[str, str]]:
    """The motions that a request names, each with where it does.

    >>> import choreograph as cg
    >>> list(motion_names(cg.RetimeRequest(like=("brisk.bvh", "clip:c1"))))
    [('like[0]', 'brisk.bvh'), ('like[1]', 'clip:c1')]
    """
    for name, marked, value in _parts(request):
        if not marked:
            yield from ((f"{name}.{inner}", motion) for inner, motion in motion_names(value))
        elif isinstance(value, str):
            yield name, value
        else:
            yield from ((f"{name}[{n}]", part) for n, part in enumerate(value))


def with_motions(request: T, find: Callable[[str], str]) -> T:
    """The request with other names for the motions that it names.

    Args:
        request: Any request.
        find: The new name of a motion, by its name.
    """
    changes: dict[str, Any] = {}
    for name, marked, value in _parts(request):
        if not marked:
            changes[name] = with_motions(value, find)
        else:
            changes[name] = find(value) if isinstance(value, str) else tuple(find(part) for part in value)
    return request.with_(**changes) if changes else request


def _parts(request: Request) -> Iterator[tuple[str, bool, Any]]:
    """Fields that name motions, and parts of the request that may have such: name, whether it is marked, value."""
    for name, field in type(request).model_fields.items():
        value = getattr(request, name)
        marked = any(isinstance(note, MotionName) for note in metadata_of(field))
        if (value and marked) or isinstance(value, Request):
            yield name, marked, value


__all__ = ["OWN", "MotionName", "motion_names", "with_motions"]
