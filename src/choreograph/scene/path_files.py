"""Paths from files: points as CSV or JSON, drawings as SVG; and the one call that takes a file or a shape by name."""

from __future__ import annotations

import json
import math
import pathlib
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from choreograph.base.errors import FormatError, RequestError
from choreograph.contract.limits import is_file
from choreograph.contract.request import quote
from choreograph.formats.assemble import read_bytes
from choreograph.formats.world import parse_unit
from choreograph.scene.path import MAX_POINTS, Path, Stretch
from choreograph.scene.path_shapes import SHAPES, describe_shape, parse_shape

MAX_FILE_BYTES = 64 << 20
"""Largest path file that is read, 64 MiB: a million points with all their digits."""

_TABLES = (".csv", ".txt", ".tsv")
SUFFIXES = (*_TABLES, ".json", ".svg")
"""File types of paths."""

_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?|[+-]?(nan|inf(inity)?)", re.IGNORECASE)
_KEYS = ("points", "name", "unit", "closed", "smooth", "round", "stretches", "final_facing_deg")
_STRETCH_KEYS = ("start", "stop", "speed", "label", "pause")


def load_path(text: str | pathlib.Path, *, scale: float | str | None = None, flip: bool = False) -> Path:
    """The path that a text names: a file (`sketch.svg`, `sketch.svg#kerb` for one of its lines) or a shape.

    >>> round(load_path("circle:radius=2").length, 1)
    12.6

    Args:
        text: A file's name, or a shape such as "circle:radius=4,turns=2".
        scale: For a file, metres per unit in it ("cm" or 0.01); for a shape, how many times larger to make it.
        flip: Exchange left and right.

    Raises:
        RequestError: if the text is neither, or a shape's measures are wrong.
        FormatError: if the file cannot be read.
    """
    text = str(text)
    file, _, element = text.partition("#")
    if pathlib.Path(text).suffix.lower() in SUFFIXES or is_file(text):
        return read_path(text, scale=scale, flip=flip)
    if pathlib.Path(file).suffix.lower() == ".svg":
        return read_path(file, scale=scale, flip=flip, element=element)
    if text.partition(":")[0].lower().replace("-", "").strip() not in SHAPES:
        shapes = "; ".join(f"{name} ({describe_shape(name)})" for name in SHAPES)
        raise RequestError(
            f"{quote(text)} is neither a path file ({', '.join(SUFFIXES)}) nor a shape. Shapes and their measures: "
            f"{shapes}"
        )
    path = parse_shape(text)
    path = path if scale is None else path.scaled(parse_unit(scale))
    return path.mirrored() if flip else path


def read_path(
    path_file: str | pathlib.Path,
    *,
    scale: float | str | None = None,
    flip: bool = False,
    element: str | None = None,
) -> Path:
    """The path in a CSV, JSON or SVG file, told apart by its suffix.

    Args:
        path_file: The file.
        scale: Metres per unit of the file, as a number or "cm" and the like, instead of what the file or its type says:
            metres for CSV and JSON, 1 cm for SVG.
        flip: Exchange left and right: z becomes -z.
        element: Of an SVG file, the id of the element to take; else the first line that is drawn.

    Raises:
        FormatError: if the file cannot be read, with the place in it.
        RequestError: if the file's type or an argument is not known.
    """
    file = pathlib.Path(path_file)
    suffix = file.suffix.lower()
    if suffix not in SUFFIXES:
        raise RequestError(f"{file}: no path file; known types are {', '.join(SUFFIXES)}")
    if element is not None and suffix != ".svg":
        raise RequestError(f"{file}: only lines of an SVG file are chosen by id (asked for {element!r})")
    metres = None if scale is None else parse_unit(scale)
    if file.is_file() and file.stat().st_size > MAX_FILE_BYTES:
        raise FormatError(f"is larger than the {MAX_FILE_BYTES >> 20} MiB that are read at most", path=file)
    data = read_bytes(file)
    try:
        if suffix == ".svg":
            path = _from_svg(data, element, metres, file.stem)
        elif suffix == ".json":
            path = path_from_json(_parsed(_text(data)), scale=metres, name=file.stem)
        else:
            path = Path(_table(_text(data)) * (metres or 1.0), name=file.stem)
        return path.mirrored() if flip else path
    except FormatError as error:
        raise error.at(file) from error
    except RequestError as error:
        raise FormatError(str(error), path=file) from error


def path_from_json(document: Any, *, scale: float | None = None, name: str = "path") -> Path:
    """The path that a JSON document describes, already parsed; see docs/paths.md for its form.

    Args:
        document: A list of pairs, or an object with "points" and more; what `Path.as_json` gives is one.
        scale: Metres per unit, instead of the document's.
        name: The path's name, if the document has none.

    Raises:
        RequestError: with the place in the document, such as `stretches[1].speed`.
    """
    if isinstance(document, list):
        document = {"points": document}
    if not isinstance(document, Mapping):
        raise RequestError(f"a path is a list of points or an object with points, not {_quoted(document)}")
    _known(document, _KEYS, "")
    if "points" not in document:
        raise RequestError("points are missing: a list of pairs [x, z]")
    for key, kind, wanted in (("closed", bool, "true or false"), ("name", str, "a text"), ("unit", str, "a text")):
        if key in document and not isinstance(document[key], kind):
            raise RequestError(f"{key} must be {wanted}, not {_quoted(document[key])}")
    unit = parse_unit(document.get("unit", "m")) if scale is None else scale
    points = _points(document["points"])
    if document.get("closed", False):
        points.append(points[0])
    path = Path(np.array(points) * unit, name=document.get("name", name))
    stretches = document.get("stretches", [])
    if not isinstance(stretches, list):
        raise RequestError(f"stretches must be a list, not {_quoted(stretches)}")
    path = replace(
        path,
        stretches=tuple(_stretch(entry, f"stretches[{k}]", unit, path.length) for k, entry in enumerate(stretches)),
    )
    if document.get("final_facing_deg") is not None:
        path = path.with_final_facing(math.radians(_real(document["final_facing_deg"], "final_facing_deg")))
    if "smooth" in document:
        path = path.smoothed(unit * _real(document["smooth"], "smooth"))
    if "round" in document:
        path = path.rounded(unit * _real(document["round"], "round"))
    return path


def _points(rows: Any) -> list[tuple[float, float]]:
    if not isinstance(rows, list):
        raise RequestError(f"points must be a list of pairs [x, z], not {_quoted(rows)}")
    if not 2 <= len(rows) <= MAX_POINTS:
        raise RequestError(f"points has {len(rows)} entries; a path takes from 2 to {MAX_POINTS:,}")
    out = []
    for k, row in enumerate(rows):
        if not isinstance(row, list | tuple) or len(row) != 2:
            raise RequestError(f"points[{k}] must be a pair [x, z], not {_quoted(row)}")
        out.append((_real(row[0], f"points[{k}][0]"), _real(row[1], f"points[{k}][1]")))
    return out


def _stretch(entry: Any, place: str, unit: float, length: float) -> Stretch:
    if not isinstance(entry, Mapping):
        raise RequestError(f"{place} must be an object, not {_quoted(entry)}")
    _known(entry, _STRETCH_KEYS, f"{place}.")
    if entry.get("start") is None:
        raise RequestError(f"{place}.start is missing: where the stretch begins, along the path")
    values = {
        key: _real(value, f"{place}.{key}") for key, value in entry.items() if key != "label" and value is not None
    }
    label = entry.get("label")
    if label is not None and not isinstance(label, str):
        raise RequestError(f"{place}.label must be a text, not {_quoted(label)}")
    start = values["start"] * unit
    point = "speed" not in values and label is None
    stop = values["stop"] * unit if "stop" in values else start if point else length
    if stop > length * (1 + 1e-6):
        raise RequestError(f"{place} runs from {start:g} m to {stop:g} m, but the path is {length:.4g} m long")
    try:
        return Stretch(start, stop, values.get("speed"), label, values.get("pause"))
    except RequestError as error:
        # "a stretch's speed is …" becomes "stretches[1].speed is …".
        reason = str(error)
        field = reason.removeprefix("a stretch's ")
        raise RequestError(f"{place}.{field}" if field != reason else f"{place}: {reason}") from error


def _known(entry: Mapping[str, Any], keys: tuple[str, ...], place: str) -> None:
    for key in entry:
        if key not in keys:
            raise RequestError(f"{place}{key!s:.40} is not known; it may have {', '.join(keys)}")


def _real(value: Any, place: str) -> float:
    """A finite number, or an error that names its place in the document."""
    try:
        number = float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise RequestError(f"{place} must be a finite number, not {_quoted(value)}")
    return number


def _quoted(value: Any) -> str:
    """A value as JSON has it, or its kind if it is large."""
    if isinstance(value, list | tuple):
        return f"a list of {len(value)}"
    if isinstance(value, Mapping):
        return "an object"
    text = json.dumps(value, default=str)
    return text if len(text) <= 40 else text[:37] + "…"


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise FormatError(f"this is no JSON: {error.msg} at column {error.colno}", line=error.lineno) from error
    except (RecursionError, ValueError) as error:  # lists in lists in lists; numbers of thousands of digits
        raise FormatError("this JSON is nested too deeply or has a number with too many digits") from error


def _text(data: bytes) -> str:
    """A file's text: UTF-8, or UTF-16 as spreadsheets write it, which begins with a mark."""
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise FormatError(f"this is no text in UTF-8: byte {error.start + 1} does not fit") from error
    if not text.strip():
        raise FormatError("the file is empty")
    return text


def _from_svg(data: bytes, element: str | None, scale: float | None, stem: str) -> Path:
    from choreograph.scene.path_svg import svg_points

    points, name, notes = svg_points(data, element=element, scale=scale)
    return Path(np.stack([points.real, points.imag], axis=-1), name=name or stem, notes=tuple(notes))


def _table(text: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """x and z of every row (P, 2) of a table, with or without a header.

    Columns are parted by semicolons, tabs, commas or spaces, whichever of them comes first in this order on the first
    line; unless by commas, numbers may have decimal commas. Lines that begin with # are comments.
    """
    parting: str | None = None
    columns: tuple[int, int] | None = None
    rows: list[tuple[float, float]] = []
    for line, raw in enumerate(text.splitlines(), start=1):
        stripped = raw.strip()
        if not stripped or stripped.startswith("#"):
            continue
        if columns is None:
            parting = next((sign for sign in (";", "\t", ",") if sign in stripped), None)
        words = [word.strip().strip('"').strip() for word in (stripped if parting is None else raw).split(parting)]
        if columns is None:
            columns, is_header = _columns(words, line)
            if is_header:
                continue
        try:
            row = words[columns[0]], words[columns[1]]
        except IndexError:
            raise FormatError(f"expected {max(columns) + 1} columns, found {len(words)}", line=line) from None
        rows.append((_cell(row[0], parting, line), _cell(row[1], parting, line)))
        if len(rows) > MAX_POINTS:
            raise FormatError(f"has more than {MAX_POINTS:,} points", line=line)
    if len(rows) < 2:
        raise FormatError(f"a path needs at least two points; the file has {len(rows)}")
    return np.array(rows)


def _columns(words: list[str], line: int) -> tuple[tuple[int, int], bool]:
    """Which columns are x and z, by the first line; and whether that is a header."""
    if any(_NUMBER.fullmatch(word) for word in words):
        filled = len(words) - (words[-1] == "")  # a separator at the line's end
        if filled != 2:
            raise FormatError(
                f"a table without a header has two columns, x and z; this one has {filled}. "
                "Add a header line with the columns' names, such as t,x,z",
                line=line,
            )
        return (0, 1), False
    names = [word.lower() for word in words]
    if "x" not in names or "z" not in names:
        hint = "; the floor's axes are x and z: rename y to z if it is one of them" if "y" in names else ""
        columns = ", ".join(word[:20] for word in words[:8])
        raise FormatError(f"the header must name the columns x and z; found {columns}{hint}", line=line)
    return (names.index("x"), names.index("z")), True


def _cell(word: str, parting: str | None, line: int) -> float:
    try:
        value = float(word if parting == "," else word.replace(",", "."))
    except ValueError:
        raise FormatError(f"expected a number, found {word[:20]!r}", line=line) from None
    if not math.isfinite(value):
        raise FormatError(f"{word[:20]} is no place on the floor", line=line)
    return value
