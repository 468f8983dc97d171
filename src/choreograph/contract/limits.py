"""Requests that are too much: refused before anybody counts their mistakes; and names that no file can have."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from choreograph.base.errors import RequestError

FARTHEST_M = 100_000.0
"""How far from the origin any place may be, metres: beyond, millimetres are lost."""
MAX_NAMES = 10_000
"""Names in one object of a request."""
MAX_VALUES = 1_000_000
"""Values of a request in all."""


def check_size(document: Any) -> None:
    """Raise a RequestError where there are more names or values than in any request: each would be a mistake."""
    left, values = [document], 0
    while left:
        node = left.pop()
        values += len(node)
        if values > MAX_VALUES:
            raise RequestError(f"the request has more than {MAX_VALUES:,} values; a request has fewer")
        if isinstance(node, Mapping):
            if len(node) > MAX_NAMES:
                raise RequestError(f"an object of the request has {len(node)} names; at most {MAX_NAMES} are read")
            left.extend(value for value in node.values() if isinstance(value, dict | list))
        else:
            left.extend(value for value in node if isinstance(value, dict | list) and not _is_row(value))


def check_text(text: str) -> str:
    """A request as JSON; raises a RequestError where it holds a NUL, which ends names of files for the system."""
    if "\\u0000" in text:
        raise RequestError("the request holds a NUL character, which is in no text and in no file's name")
    return text


def _is_row(value: Any) -> bool:
    """Whether it is a short list of plain values, such as a point."""
    return len(value) <= 4 and not any(isinstance(one, dict | list) for one in value)


def fail_fast(schema: Any) -> Any:
    """Let lists be read up to their first mistake only: a hundred thousand mistakes take a gigabyte to tell."""
    left = [schema]
    while left:
        node = left.pop()
        if isinstance(node, dict):
            if node.get("type") in ("tuple", "list"):
                node["fail_fast"] = True
            left.extend(value for value in node.values() if isinstance(value, dict | list))
        else:
            left.extend(value for value in node if isinstance(value, dict | list))
    return schema


def is_file(path: str | Path, *, folders: bool = False) -> bool:
    """Whether there is such a file (or folder); also for names that no file can have."""
    try:
        return Path(path).exists() if folders else Path(path).is_file()
    except (OSError, ValueError):  # longer than any name, or with a zero in it
        return False


def beside(folder: Path, name: str, *, folders: bool = False) -> str:
    """The name of a file of a folder, where there is such a file (or folder); else the name as it is."""
    return str(folder / name) if name and is_file(folder / name, folders=folders) else name
