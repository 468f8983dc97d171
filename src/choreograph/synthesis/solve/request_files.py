"""Requests as JSON or YAML documents: read with exact errors, described by the JSON Schema beside this module."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from choreograph.errors import RequestError
from choreograph.synthesis.solve.request import (
    BodyTarget,
    HardFrame,
    JointTarget,
    LabelTarget,
    Obstacle,
    PoseTarget,
    SolveRequest,
)

_KINDS: Mapping[str, tuple[Any, tuple[str, ...], tuple[str, ...]]] = {
    "body": (BodyTarget, ("at_s", "position"), ("facing_deg", "weight")),
    "joints": (JointTarget, ("at_s", "joint"), ("position", "velocity", "weight")),
    "poses": (PoseTarget, ("at_s", "clip", "frame"), ("weight",)),
    "frames": (HardFrame, ("at_s", "clip", "frame"), ()),
    "labels": (LabelTarget, ("start_s", "stop_s", "label"), ("weight",)),
}
"""For each list of constraints what they become, and the names an entry must and may have."""
_SHAPES: Mapping[str, tuple[str, ...]] = {
    "circle": ("centre", "radius"),
    "box": ("low", "high"),
    "polygon": ("corners",),
}
_NUMBERS = ("length_s", "min_piece_s", "cut_weight")


def request_schema() -> dict[str, Any]:
    """The JSON Schema of a request document."""
    text = resources.files("choreograph.synthesis.solve").joinpath("request.schema.json").read_text("utf-8")
    return dict(json.loads(text))


def load_request(path: str | Path) -> SolveRequest:
    """The request in a JSON or YAML file; the suffix tells which.

    Raises:
        RequestError: If it cannot be read, or asks for what cannot be; the message says where in the document.
    """
    document = load_document(path)
    try:
        return parse_request(document)
    except RequestError as error:
        raise RequestError(f"{path}: {error}") from None


def load_document(path: str | Path) -> Any:
    """What a JSON (.json) or YAML (.yaml, .yml) file holds, as plain values.

    Raises:
        RequestError: If it cannot be read; the message has the line.
    """
    path = Path(path)
    if path.suffix.lower() not in (".json", ".yaml", ".yml"):
        raise RequestError(f"{path}: a request is a .json, .yaml or .yml file")
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError(f"{path} cannot be read as a request: {error}") from None
    if path.suffix.lower() == ".json":
        try:
            return json.loads(text)
        except json.JSONDecodeError as error:
            raise RequestError(f"{path}, line {error.lineno}: not JSON: {error.msg}") from None
        except RecursionError:
            raise RequestError(f"{path}: lists within lists, too deep to be a request") from None
    import yaml

    try:
        return yaml.load(text, _strict_loader())
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark is not None else ""
        raise RequestError(f"{path}{line}: not YAML: {getattr(error, 'problem', None) or error}") from None
    except (RecursionError, ValueError) as error:
        raise RequestError(f"{path}: not YAML: {error}") from None


def _strict_loader() -> Any:
    """A safe YAML loader for which a name that comes twice is a mistake, not the latter of the two."""
    import yaml

    class Strict(yaml.SafeLoader):
        pass

    def mapping(loader: Any, node: Any) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.constructor.ConstructorError(None, None, f"{key.value!r} comes twice", key.start_mark)
            seen.add(key.value)
        return dict(yaml.SafeLoader.construct_mapping(loader, node, deep=True))

    Strict.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, mapping)
    return Strict


def parse_request(document: Any) -> SolveRequest:
    """The request that a document describes; facings are in degrees there."""
    given = _mapping(document, "the request", ("length_s",), (*_NUMBERS[1:], *_KINDS, "obstacles", "$schema"))
    values: dict[str, Any] = {name: given[name] for name in _NUMBERS if name in given}
    for name, (kind, must, may) in _KINDS.items():
        values[name] = tuple(
            _constraint(kind, _mapping(entry, f"{name}[{n}]", must, may), f"{name}[{n}]")
            for n, entry in enumerate(_entries(given, name))
        )
    values["obstacles"] = tuple(
        _obstacle(entry, f"obstacles[{n}]") for n, entry in enumerate(_entries(given, "obstacles"))
    )
    return SolveRequest(**values)


def _entries(given: Mapping[str, Any], name: str) -> list[Any]:
    entries = given.get(name, [])
    if not isinstance(entries, list):
        raise RequestError(f"{name} is {entries!r}; it must be a list")
    return entries


def _mapping(value: Any, where: str, must: tuple[str, ...], may: tuple[str, ...]) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise RequestError(f"{where} is {value!r}; it must be an object with {', '.join(must)}")
    for name in value:
        if name not in must and name not in may:
            raise RequestError(f"{where} has {name!r}, which is not known; it can have {', '.join((*must, *may))}")
    for name in must:
        if name not in value:
            raise RequestError(f"{where}.{name} is missing")
    return value


def _constraint(kind: Any, entry: dict[str, Any], where: str) -> Any:
    values = dict(entry)
    for name in ("joint", "clip", "label"):
        if name in values and not isinstance(values[name], str):
            raise RequestError(f"{where}.{name} is {values[name]!r}; it must be a name in quotes")
    if "frame" in values and (not isinstance(values["frame"], int) or isinstance(values["frame"], bool)):
        raise RequestError(f"{where}.frame is {values['frame']!r}; it must be a whole number")
    for name in ("position", "velocity"):
        if isinstance(values.get(name), list):
            values[name] = tuple(values[name])
    if "facing_deg" in values:
        degrees = values.pop("facing_deg")
        if degrees is not None and (not isinstance(degrees, int | float) or isinstance(degrees, bool)):
            raise RequestError(f"{where}.facing_deg is {degrees!r}; it must be a number of degrees, or null for any")
        values["facing"] = None if degrees is None else math.radians(degrees)
    return kind(**values)


def _obstacle(entry: Any, where: str) -> Obstacle:
    given = _mapping(entry, where, (), (*_SHAPES, "clearance", "weight"))
    shapes = [name for name in _SHAPES if name in given]
    if len(shapes) != 1:
        raise RequestError(f"{where} must have one of {', '.join(_SHAPES)}; it has {', '.join(shapes) or 'none'}")
    shape = shapes[0]
    how = {name: given[name] for name in ("clearance", "weight") if name in given}
    here = f"{where}.{shape}"
    inside = _mapping(given[shape], here, _SHAPES[shape], ())
    points = {n: v for n, v in inside.items() if n in ("centre", "low", "high")}
    for name, value in points.items():
        if not isinstance(value, list) or len(value) != 2 or not all(type(v) in (int, float) for v in value):
            raise RequestError(f"{here}.{name} is {value!r}; it must be 2 numbers, x and z in metres")
    if shape == "circle":
        return Obstacle.circle(tuple(inside["centre"]), inside["radius"], **how)
    if shape == "box":
        low, high = tuple(inside["low"]), tuple(inside["high"])
        if not (low[0] < high[0] and low[1] < high[1]):
            raise RequestError(f"{here}.high is {list(high)}; it must lie beyond low, {list(low)}, in x and in z")
        return Obstacle.box(low, high, **how)
    if not isinstance(inside["corners"], list):
        raise RequestError(f"{here}.corners is {inside['corners']!r}; it must be a list of points")
    corners = tuple(tuple(c) if isinstance(c, list) else c for c in inside["corners"])
    if len(corners) < 3:
        raise RequestError(f"{here}.corners has {len(corners)}; a polygon has three or more")
    return Obstacle(corners, **how)
