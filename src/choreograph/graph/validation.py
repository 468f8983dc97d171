"""Values of a .mog file as what they must be: whatever is something else is a ValueError that says which.

SQLite lets every cell of a table hold anything, and JSON's 1e999 is read as infinity; so each value is looked at once,
here, and is what it says it is everywhere else.
"""

from __future__ import annotations

import json
import math
from dataclasses import fields
from typing import Any, NoReturn

from choreograph.motion.clip import Note, Source

MAX_TEXT = 16_000_000
"""Characters of one text: the joints' names, the times at which hundreds of recordings are cut."""
MAX_METRES = 1e6  # of any length in a graph's file
MAX_COUNT = 10**12  # of anything that a graph's file counts


def text(value: Any, what: str) -> str:
    """A text of a sensible length."""
    if not isinstance(value, str):
        raise ValueError(f"{what} is {_named(value)}, not a text")
    if len(value) > MAX_TEXT:
        raise ValueError(f"{what} is a text of {len(value):,} characters")
    return value


def number(value: Any, what: str, low: float, high: float) -> float:
    """A number from `low` to `high`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise ValueError(f"{what} is {_named(value)}, not a number from {low:g} to {high:g}")
    return float(value)


def whole(value: Any, what: str, low: int = 0, high: int = MAX_COUNT) -> int:
    """A whole number from `low` to `high`."""
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise ValueError(f"{what} is {_named(value)}, not a whole number from {low} to {high:g}")
    return value


def from_json(value: Any, what: str) -> Any:
    """What a JSON text holds; every number in it is finite."""

    def strange(word: str) -> NoReturn:
        raise ValueError(f"{what} holds {word[:40]}, which is no finite number")

    def finite(word: str) -> float:
        number_read = float(word)
        return number_read if math.isfinite(number_read) else strange(word)

    def small(word: str) -> int:
        return int(word) if len(word) <= 20 else strange(word)

    return json.loads(text(value, what), parse_constant=strange, parse_float=finite, parse_int=small)


def entries(value: Any, what: str) -> dict[str, Any]:
    """What a JSON object holds."""
    entries_read = from_json(value, what)
    if not isinstance(entries_read, dict):
        raise ValueError(f"{what} is {_named(entries_read)}, not an object")
    return entries_read


def texts(value: Any, what: str) -> list[str]:
    """What a JSON list of texts holds."""
    texts_read = from_json(value, what)
    if not isinstance(texts_read, list):
        raise ValueError(f"{what} is {_named(texts_read)}, not a list")
    return [text(item, what) for item in texts_read]


def notes(value: Any, what: str) -> tuple[Note, ...]:
    """Notes from plain values."""
    if not isinstance(value, list | tuple):
        raise ValueError(f"the notes of {what} are {_named(value)}, not a list")
    notes_read = []
    for item in value:
        if not isinstance(item, dict) or not {"kind", "message"} <= item.keys() <= {"kind", "message", "count"}:
            raise ValueError(f"a note of {what} is {_named(item)}, not a kind and a message")
        kind, message = text(item["kind"], f"a note of {what}"), text(item["message"], f"a note of {what}")
        notes_read.append(Note(kind, message, whole(item.get("count", 1), f"the count of a note of {what}")))
    return tuple(notes_read)


def source(value: Any, what: str) -> Source | None:
    """Where a clip came from, from a JSON text; None where nobody knows."""
    if value is None:
        return None
    what = f"the source of {what}"
    values = entries(value, what)
    known = {field.name for field in fields(Source)}
    if not {"path", "format"} <= values.keys() <= known:
        raise ValueError(f"{what} has other entries than a source has: {', '.join(sorted(values))[:100]}")
    values["notes"] = notes(values.get("notes", ()), what)
    values["metres_per_unit"] = number(values.get("metres_per_unit", 1.0), f"{what}, its unit,", 0, MAX_METRES)
    for name in known - {"notes", "metres_per_unit"}:
        text(values.get(name, ""), f"{what}, its {name},")
    return Source(**values)


def _named(value: Any) -> str:
    text = repr(value) if not isinstance(value, bytes) else f"{len(value)} bytes"
    return text if len(text) <= 60 else f"{text[:60]}…"
