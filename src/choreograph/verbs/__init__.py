"""The registry of verbs: which there are, found by walking the rooms, so that a new verb is its own room and no more.

A room is a package in this folder with a module `verb.py` that declares `VERB`. Lists of verbs show its docstring's
first line; `PLACE` is its position in them, and `CHANGES` marks verbs that change a given motion. Packages named in the
environment variable `CHOREOGRAPH_VERBS` (with commas) join them: that is how a verb of your own gets into all faces.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, NamedTuple

from choreograph.base.errors import RequestError

if TYPE_CHECKING:
    from choreograph.contract.verb import Verb

HOUSE = "choreograph.verbs"
MORE = "CHOREOGRAPH_VERBS"


class Room(NamedTuple):
    """A verb that is there, before its code is loaded."""

    place: float
    name: str
    package: str
    summary: str
    changes: bool
    """Whether it changes a motion that exists, rather than finding one."""


@cache
def rooms() -> dict[str, Room]:
    """The verbs by name, in the order in which faces list them. Loads no more than the rooms' first lines."""
    packages = [
        f"{HOUSE}.{entry.name}"
        for entry in iter_modules(import_module(HOUSE).__path__)
        if entry.ispkg and _declares(f"{HOUSE}.{entry.name}")
    ]
    packages += [name.strip() for name in os.environ.get(MORE, "").split(",") if name.strip()]
    names = []
    for package in packages:
        try:
            room = import_module(package)
        except (ImportError, TypeError, ValueError) as error:  # also names that no package can have
            raise RequestError(f"{MORE} names {package!r}, which cannot be imported: {error}") from None
        summary = (room.__doc__ or "").strip().partition("\n")[0]
        names.append(
            Room(
                getattr(room, "PLACE", 100.0),
                package.rpartition(".")[2],
                package,
                summary,
                getattr(room, "CHANGES", False),
            )
        )
    return {room.name: room for room in sorted(names)}


def find_verb(name: str) -> Verb:
    """A verb by its name.

    Raises:
        RequestError: If there is none; the message lists those there are.
    """
    if name not in rooms():
        raise RequestError(f"there is no verb {name!r}; there are {', '.join(rooms())}")
    package = rooms()[name].package
    try:
        verb: Verb = import_module(f"{package}.verb").VERB
    except (ImportError, AttributeError) as error:
        if package.startswith(HOUSE):
            raise
        raise RequestError(f"{MORE} names {package!r}, which declares no verb: {error}") from None
    return verb


def _declares(package: str) -> bool:
    spec = find_spec(package)
    places = (spec.submodule_search_locations or ()) if spec is not None else ()
    return any((Path(place) / "verb.py").is_file() for place in places)
