"""What may be asked is bounded, for every verb; and whatever reads a file from outside is fuzzed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fuzz.more_targets import REQUESTS
from tests.fuzz.targets import find_targets

from choreograph.base.errors import RequestError
from choreograph.contract.request import Request, read_request
from choreograph.formats.registry import suffixes
from choreograph.verbs import find_verb, rooms


def request_of(verb: str) -> type[Request]:
    return find_verb(verb).request


def unbounded(schema: dict[str, Any]) -> set[str]:
    """Places of a schema at which a number, a text, a list or an object may be of any size."""
    found: set[str] = set()

    def walk(node: dict[str, Any], where: str, above: frozenset[str]) -> None:
        if "$ref" in node:
            name = node["$ref"].rpartition("/")[2]
            if name not in above:
                walk(schema["$defs"][name], name, above | {name})
            return
        for kind in ("anyOf", "oneOf", "allOf"):
            for one in node.get(kind, ()):
                walk(one, where, above)
        kind = node.get("type")
        if kind in ("number", "integer"):
            ends = {"minimum", "exclusiveMinimum"} & set(node), {"maximum", "exclusiveMaximum"} & set(node)
            if not all(ends):
                found.add(where)
        elif kind == "string" and not {"maxLength", "enum", "const"} & set(node):
            found.add(where)
        elif kind == "array":
            if "maxItems" not in node:
                found.add(where)
            for one in [
                *node.get("prefixItems", ()),
                *([node["items"]] if isinstance(node.get("items"), dict) else []),
            ]:
                walk(one, f"{where}[]", above)
        elif kind == "object":
            for name, one in node.get("properties", {}).items():
                walk(one, f"{where}.{name}", above)
            if isinstance(node.get("additionalProperties"), dict):
                if "maxProperties" not in node:
                    found.add(where)
                walk(node["additionalProperties"], f"{where}{{}}", above)

    walk(schema, "", frozenset())
    return found


@pytest.mark.parametrize("verb", rooms())
def test_every_field_of_every_request_is_bounded(verb: str) -> None:
    assert not unbounded(request_of(verb).model_json_schema())


def test_fields_without_bounds_are_found() -> None:
    inner = {"type": "object", "properties": {"a": {"type": "number", "minimum": 0}, "b": {"$ref": "#/$defs/B"}}}
    listed = {"type": "array", "items": {"type": "string"}, "maxItems": 3}
    assert unbounded({**inner, "$defs": {"B": listed}}) == {".a", "B[]"}


def test_there_is_a_request_to_break_for_every_verb() -> None:
    assert set(REQUESTS) == set(rooms())


@pytest.mark.parametrize("verb", rooms())
def test_numbers_that_are_none_are_refused_in_a_sentence(verb: str) -> None:
    places: list[tuple[Any, ...]] = []

    def walk(node: Any, where: tuple[Any, ...]) -> None:
        if isinstance(node, dict | list):
            for key, value in node.items() if isinstance(node, dict) else enumerate(node):
                walk(value, (*where, key))
        elif isinstance(node, int | float) and not isinstance(node, bool):
            places.append(where)

    walk(REQUESTS[verb], ())
    for place in places:
        for value in (float("nan"), float("inf"), -1e300, 10**400):
            broken = json.loads(json.dumps(REQUESTS[verb]))
            holder = broken
            for key in place[:-1]:
                holder = holder[key]
            holder[place[-1]] = value
            with pytest.raises(RequestError) as caught:
                read_request(request_of(verb), broken)
            assert len(str(caught.value)) < 1500 and "\n" not in str(caught.value), place
    assert places or verb == "retarget"


def test_every_reader_is_fuzzed(tmp_path: Path) -> None:
    targets = find_targets(tmp_path)
    kinds = {target.suffix for target in targets.values()}
    usd = {".usda", ".usdc", ".usd"}
    assert set(suffixes(readable=True)) - usd <= kinds, "a new format joins tests/fuzz/targets.py"
    assert all(any(f"{verb}-{kind}" in targets for kind in ("yaml", "json")) for verb in rooms())


FILES = {
    "follow.path": "path-json path-csv path-svg",
    "steer.path.file": "path-json",
    "bend.path": "path-json",
    "steer.goals": "steer-script",
    "steer.scene.obstacles": "obstacles",
    "perform.trajectory": "trajectory",
    "perform.leader": "bvh",
    "perform.answers": "bvh",
    "physics.like": "bvh mog",
    "retime.like": "bvh",
    "complete.between.motions": "bvh",
    "retarget.to": "character bvh",
    "layer.upper": "bvh",
    "plan.path.file": "path-json path-csv path-svg",
    "solve.characters.graph": "mog",
    "solve.meet.poses.file": "bvh",
    "face.shapes": "face-shapes",
    "face.head": "face-glb",
    **{
        f"{place}.goals.{field}": reader
        for place in ("complete", "face", "follow", "perform", "physics", "plan", "solve", "solve.characters", "steer")
        for field, reader in (("pose.file", "bvh"), ("track", "track"))
    },
    **{
        f"{place}.scene.{field}": reader
        for place in ("plan", "solve", "solve.characters")
        for field, reader in (("drawing", "scene-svg"), ("obstacles", "obstacles"))
    },
}
"""The readers of the files that requests name, by place."""


def test_every_file_that_a_request_names_is_fuzzed(tmp_path: Path) -> None:
    named = set()
    for verb in rooms():
        schema = request_of(verb).model_json_schema()

        def walk(node: Any, where: str, above: frozenset[str], defs: dict[str, Any] = schema.get("$defs", {})) -> None:
            if isinstance(node, list):
                for one in node:
                    walk(one, where, above, defs)
            elif isinstance(node, dict):
                if node.get("format") in ("file", "motion"):
                    named.add(where)
                name = str(node.get("$ref", "")).rpartition("/")[2]
                if name and name not in above:
                    walk(defs[name], where, above | {name}, defs)
                for field, one in node.get("properties", {}).items():
                    walk(one, f"{where}.{field}", above, defs)
                for kind in ("anyOf", "oneOf", "allOf", "items", "prefixItems", "additionalProperties"):
                    walk(node.get(kind), where, above, defs)

        walk(schema, verb, frozenset())
    assert named == set(FILES), "say which reader of tests/fuzz reads the files of a new field"
    targets = find_targets(tmp_path)
    assert all(name in targets for names in FILES.values() for name in names.split())
