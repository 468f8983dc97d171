"""The registry of verbs: which there are, found by walking the rooms, so that a new one is its own room and no more.

A room is a package in `synthesis/` or `editing/` with a module `verb.py` that declares `VERB`. Its docstring's first
line is what lists of verbs say about it, and its `PLACE` is where it stands in them. Packages named in the environment
variable `CHOREOGRAPH_VERBS` (with commas) join them: that is how somebody's own verb comes into all faces.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, NamedTuple

from choreograph.errors import RequestError

if TYPE_CHECKING:
    from choreograph.contract.verb import Verb

HOUSES = ("choreograph.synthesis", "choreograph.editing")
MORE = "CHOREOGRAPH_VERBS"


class Room(NamedTuple):
    """A verb that is there, before its code is loaded."""

    place: float
    name: str
    package: str
    summary: str


@cache
def rooms() -> dict[str, Room]:
    """The verbs by name, in the order in which faces list them. Loads no more than the rooms' first lines."""
    packages = [
        f"{house}.{entry.name}"
        for house in HOUSES
        for entry in iter_modules(import_module(house).__path__)
        if entry.ispkg and _declares(f"{house}.{entry.name}")
    ]
    packages += [name.strip() for name in os.environ.get(MORE, "").split(",") if name.strip()]
    found = []
    for package in packages:
        try:
            room = import_module(package)
        except (ImportError, TypeError, ValueError) as error:  # also names that no package can have
            raise RequestError(f"{MORE} names {package!r}, which cannot be imported: {error}") from None
        summary = (room.__doc__ or "").strip().partition("\n")[0]
        found.append(Room(getattr(room, "PLACE", 100.0), package.rpartition(".")[2], package, summary))
    return {room.name: room for room in sorted(found)}


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
        if package.startswith(HOUSES):
            raise
        raise RequestError(f"{MORE} names {package!r}, which declares no verb: {error}") from None
    return verb


def _declares(package: str) -> bool:
    spec = find_spec(package)
    places = (spec.submodule_search_locations or ()) if spec is not None else ()
    return any((Path(place) / "verb.py").is_file() for place in places)
