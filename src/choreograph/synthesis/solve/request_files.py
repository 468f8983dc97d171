"""Requests as documents: read with exact errors, described by the JSON Schema beside this module."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from choreograph.errors import RequestError
from choreograph.synthesis.solve.documents import load_document
from choreograph.synthesis.solve.group import GroupRequest, Meeting
from choreograph.synthesis.solve.request import (
    BodyTarget,
    FunctionTarget,
    HardFrame,
    JointTarget,
    LabelTarget,
    Obstacle,
    PoseTarget,
    SolveRequest,
    need_point,
    need_polygon,
    need_radius,
    need_range,
)

_KINDS: Mapping[str, tuple[Any, tuple[str, ...], tuple[str, ...]]] = {
    "body": (BodyTarget, ("at_s", "position"), ("facing_deg", "weight")),
    "joints": (JointTarget, ("at_s", "joint"), ("position", "velocity", "weight")),
    "poses": (PoseTarget, ("at_s", "clip", "frame"), ("weight",)),
    "frames": (HardFrame, ("at_s", "clip", "frame"), ("lasts_s",)),
    "labels": (LabelTarget, ("start_s", "stop_s", "label"), ("weight",)),
}
"""For each list of constraints what they become, and the names an entry must and may have."""
_SHAPES: Mapping[str, tuple[str, ...]] = {
    "circle": ("centre", "radius"),
    "box": ("low", "high"),
    "polygon": ("corners",),
}
_NUMBERS = ("length_s", "min_piece_s", "cut_weight")
_LISTS = (*_KINDS, "obstacles", "functions")
_MEETING = (("at_s", "who", "clips", "frames"), ("lasts_s", "position", "facing_deg", "offset"))
"""The names that an entry of `meet` must and may have."""


def request_schema() -> dict[str, Any]:
    """The JSON Schema of a request document."""
    text = resources.files("choreograph.synthesis.solve").joinpath("request.schema.json").read_text("utf-8")
    return dict(json.loads(text))


def load_request(path: str | Path, *, allow_code: bool = False) -> SolveRequest | GroupRequest:
    """The request in a JSON or YAML file, of one person or, where it has `characters`, of several.

    Args:
        path: A .json, .yaml or .yml file.
        allow_code: Whether functions that the request names may be loaded, which runs their files.

    Raises:
        RequestError: If it cannot be read, or asks for what cannot be; the message says where in the document.
    """
    document = load_document(path)
    try:
        return parse_request(document, allow_code=allow_code, folder=Path(path).parent)
    except RequestError as error:
        raise RequestError(f"{path}: {error}") from None


def parse_request(
    document: Any, *, allow_code: bool = False, folder: Path | None = None
) -> SolveRequest | GroupRequest:
    """The request that a document describes; facings are in degrees there.

    Args:
        document: Plain values, as from JSON.
        allow_code: Whether functions that it names may be loaded, which runs their files.
        folder: From where files that it names are looked for; the current folder if None.
    """
    if document is None:
        raise RequestError("the request is empty; it must be an object with length_s")
    if isinstance(document, dict) and "characters" in document:
        return _parse_group(document, allow_code, folder or Path())
    given = _mapping(document, "the request", ("length_s",), (*_NUMBERS[1:], *_LISTS, "$schema"))
    return _parse_one(given, allow_code, folder or Path())


def _parse_one(given: dict[str, Any], allow_code: bool, folder: Path) -> SolveRequest:
    values: dict[str, Any] = {name: given[name] for name in _NUMBERS if name in given}
    for name, (kind, must, may) in _KINDS.items():
        values[name] = tuple(
            _constraint(kind, _mapping(entry, f"{name}[{n}]", must, may), f"{name}[{n}]")
            for n, entry in enumerate(_entries(given, name))
        )
    values["obstacles"] = tuple(
        _obstacle(entry, f"obstacles[{n}]") for n, entry in enumerate(_entries(given, "obstacles"))
    )
    values["functions"] = tuple(
        _function(_mapping(entry, f"functions[{n}]", ("function",), ("weight",)), f"functions[{n}]", allow_code, folder)
        for n, entry in enumerate(_entries(given, "functions"))
    )
    if values["body"] and values["body"][0].facing is None:
        raise RequestError("body[0].facing_deg is missing: the first body constraint says where the motion begins")
    return SolveRequest(**values)


def _parse_group(document: dict[str, Any], allow_code: bool, folder: Path) -> GroupRequest:
    """Several characters; what is said beside them holds for all, unless they say otherwise."""
    common = (*_NUMBERS[1:], "obstacles")
    given = _mapping(document, "the request", ("length_s", "characters"), (*common, "meet", "$schema"))
    if not isinstance(given["characters"], dict):
        raise RequestError(f"characters is {given['characters']!r}; it must be an object with a name for each")
    people: dict[str, SolveRequest] = {}
    graphs: dict[str, Path] = {}
    for name, entry in given["characters"].items():
        where = f"characters.{name}"
        if not isinstance(name, str):
            raise RequestError(f"characters has {name!r}; names must be words")
        own = dict(_mapping({} if entry is None else entry, where, (), (*_NUMBERS[1:], *_LISTS, "graph")))
        if "graph" in own:
            file = own.pop("graph")
            if not isinstance(file, str):
                raise RequestError(f"{where}.graph is {file!r}; it must be the name of a .mog file")
            graphs[name] = folder / file
        shared = {key: given[key] for key in ("length_s", *common) if key in given}
        try:
            people[name] = _parse_one({**shared, **own}, allow_code, folder)
        except RequestError as error:
            said = re.match(r"\w+", str(error))
            beside = said is not None and said[0] in shared and said[0] not in own
            raise RequestError(str(error) if beside else f"{where}.{error}") from None
    meetings = [
        _meeting(_mapping(entry, f"meet[{n}]", *_MEETING), f"meet[{n}]")
        for n, entry in enumerate(_entries(given, "meet"))
    ]
    return GroupRequest(people, tuple(meetings), graphs)


def _meeting(entry: dict[str, Any], where: str) -> Meeting:
    pairs = {}
    for name, kind in (("who", str), ("clips", str), ("frames", int)):
        pair = [entry[name], entry[name]] if kind is int and type(entry[name]) is int else entry[name]
        if not isinstance(pair, list) or len(pair) != 2 or not all(type(value) is kind for value in pair):
            what = "frames, one for each clip" if kind is int else "names"
            raise RequestError(f"{where}.{name} is {entry[name]!r}; it must be two {what}")
        pairs[name] = tuple(pair)
    values: dict[str, Any] = {name: entry[name] for name in ("at_s", "lasts_s") if name in entry}
    if "position" in entry:
        values["position"] = tuple(entry["position"]) if isinstance(entry["position"], list) else entry["position"]
    if "facing_deg" in entry:
        values["facing"] = _radians(entry["facing_deg"], f"{where}.facing_deg", free=True)
    for name, other in (("position", "facing"), ("facing", "position")):
        if values.get(name) is None and values.get(other) is not None:
            missing = name.replace("facing", "facing_deg")
            raise RequestError(f"{where}.{missing} is missing; give position and facing_deg, or none of them")
    if "offset" in entry:
        how = _mapping(entry["offset"], f"{where}.offset", ("left", "ahead", "turned_deg"), ())
        for name in ("left", "ahead"):
            need_range(f"{where}.offset.{name}", how[name], -1e3, 1e3)
        turned = _radians(how["turned_deg"], f"{where}.offset.turned_deg")
        values["offset"] = (how["left"], how["ahead"], turned)
    return Meeting(who=pairs["who"], clips=pairs["clips"], frames=pairs["frames"], **values)


def _function(entry: dict[str, Any], where: str, allow_code: bool, folder: Path) -> FunctionTarget:
    """A function named as file.py:name. Its file is run to get it, so only where that was allowed."""
    import importlib.util

    named = entry["function"]
    file, colon, name = named.rpartition(":") if isinstance(named, str) else ("", "", "")
    if not colon or not file.endswith(".py") or not name.isidentifier():
        raise RequestError(f"{where}.function is {named!r}; it must be FILE.py:NAME, such as style.py:stay_low")
    if not allow_code:
        raise RequestError(
            f"{where}.function is {named!r}: that runs the code in {file}; if you trust it, allow it with --allow-code "
            "(allow_code=True)"
        )
    spec = importlib.util.spec_from_file_location(Path(file).stem, folder / file)
    assert spec is not None and spec.loader is not None  # the name ends in .py
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except OSError as error:
        raise RequestError(f"{where}.function: {folder / file} cannot be read: {error.strerror}") from None
    except Exception as error:
        raise RequestError(f"{where}.function: {folder / file} raised {type(error).__name__}: {error}") from error
    found = getattr(module, name, None)
    if not callable(found):
        raise RequestError(f"{where}.function: {folder / file} has no function {name!r}")
    return FunctionTarget(found, name, **{key: entry[key] for key in ("weight",) if key in entry})


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
        values["facing"] = _radians(values.pop("facing_deg"), f"{where}.facing_deg", free=True)
    return kind(**values)


def _radians(degrees: Any, where: str, *, free: bool = False) -> float | None:
    if free and degrees is None:
        return None
    need_range(where, degrees, -36_000, 36_000, "degrees" + (", or null for any" if free else ""))
    return math.radians(degrees)


def _obstacle(entry: Any, where: str) -> Obstacle:
    given = _mapping(entry, where, (), (*_SHAPES, "clearance", "weight"))
    shapes = [name for name in _SHAPES if name in given]
    if len(shapes) != 1:
        raise RequestError(f"{where} must have one of {', '.join(_SHAPES)}; it has {', '.join(shapes) or 'none'}")
    shape = shapes[0]
    how = {name: given[name] for name in ("clearance", "weight") if name in given}
    here = f"{where}.{shape}"
    inside = _mapping(given[shape], here, _SHAPES[shape], ())
    for name in ("centre", "low", "high"):
        if name in inside:
            need_point(f"{here}.{name}", inside[name], 2)
    if shape == "circle":
        need_radius(f"{here}.radius", inside["radius"])
        return Obstacle.circle(inside["centre"], inside["radius"], **how)
    if shape == "box":
        low, high = inside["low"], inside["high"]
        if not (low[0] < high[0] and low[1] < high[1]):
            raise RequestError(f"{here}.high is {high}; it must lie beyond low, {low}, in x and in z")
        return Obstacle.box(low, high, **how)
    need_polygon(f"{here}.corners", inside["corners"])
    return Obstacle(inside["corners"], **how)
