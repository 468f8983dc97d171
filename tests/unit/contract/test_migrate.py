"""Documents of version 0.1: their words become today's, and mistakes in them are named with the lines of the file."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import choreograph as cg
from choreograph.base.errors import RequestError
from choreograph.cli.old_options import current_options
from choreograph.contract import migrate as engine
from choreograph.contract.document import load_document, of_today, parse_document, read_request_file
from choreograph.contract.migrate import Migration, migrate, rules_of
from choreograph.verbs import find_verb, rooms
from choreograph.verbs.loop.request import LoopRequest


@pytest.fixture
def toy(monkeypatch: pytest.MonkeyPatch) -> str:
    """Rules of every kind, for a verb `toy`."""

    def convert(plain: dict[str, Any]) -> list[str]:
        if "body" not in plain:
            return []
        moved = plain.pop("body")
        for goal in moved:
            goal["place"] = goal.pop("position")
        plain["goals"] = [*plain.get("goals", []), *moved]
        return ["body is now goals"]

    def module(name: str, **rules: Any) -> None:
        made = ModuleType(f"choreograph.contract.v0_1.{name}")
        vars(made).update(rules)
        monkeypatch.setitem(sys.modules, made.__name__, made)

    module(
        "toy",
        RENAMED={
            "seconds": "time_limit_s", "from_s": "start_s", "start_s": "at_s", "goals[].stop_s": "goals[].end_s",
            "search.draws": "advanced.draws", "search.deep.width": "width", "warp": "advanced",
            "people.*.body_m": "people.*.height_m", "before": "after.request",
        },
        OPTIONS={"-s": "-t", "--seconds": "--time-limit", "--raw": "--no-clean", "--draws": "--advanced draws",
                 "--no-refine": "--advanced refine=false", "--blend": None},
        INSIDE={"after.request": "toy"},
        convert=convert,
    )  # fmt: skip
    module("finish", RENAMED={"smooth_s": "cut_smooth_s"})
    known = ("toy", "finish")
    monkeypatch.setattr(engine, "_has_rules", lambda name: name in known)
    rules_of.cache_clear()
    yield "toy"
    rules_of.cache_clear()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"seconds": 3}, {"time_limit_s": 3}),
        ({"goals": [{"stop_s": 2}, {"end_s": 3}]}, {"goals": [{"end_s": 2}, {"end_s": 3}]}),
        ({"search": {"draws": 5, "deep": {"width": 2}}}, {"advanced": {"draws": 5}, "width": 2}),
        ({"search": {"draws": 5, "other": 1}}, {"search": {"other": 1}, "advanced": {"draws": 5}}),
        ({"warp": {"a": 1}, "search": {"draws": 5}}, {"advanced": {"a": 1, "draws": 5}}),
        ({"people": {"ann": {"body_m": 1}}}, {"people": {"ann": {"height_m": 1}}}),
        ({"from_s": 1, "start_s": 2}, {"start_s": 1, "at_s": 2}),
        ({"start_s": 2}, {"at_s": 2}),
        ({"start_s": 2, "at_s": 1}, {"start_s": 2, "at_s": 1}),
        ({"start_s": 2, "time_limit_s": 1}, {"start_s": 2, "time_limit_s": 1}),
        ({"format": 2, "start_s": 2, "seconds": 1}, {"start_s": 2, "seconds": 1}),
        ({"seconds": 3, "time_limit_s": 4}, {"seconds": 3, "time_limit_s": 4}),
        ({"before": {"seconds": 1, "finish": {"smooth_s": 2}}},
         {"after": {"request": {"time_limit_s": 1, "finish": {"cut_smooth_s": 2}}}}),
        ({"body": [{"position": [1, 2]}], "goals": [{"a": 1}]}, {"goals": [{"a": 1}, {"place": [1, 2]}]}),
        ({"search": 5, "goals": {"stop_s": 1}, "people": [1], "warp": None}, None),
    ],
)  # fmt: skip
def test_old_words_become_todays(toy: str, old: dict[str, Any], new: dict[str, Any] | None) -> None:
    before = repr(old)
    plain, notes = migrate(toy, old)
    assert repr(old) == before
    if new is not None:
        assert plain == new
        assert bool(notes) == (new != {name: value for name, value in old.items() if name != "format"})
        assert migrate(toy, {**plain, "format": 2}) == (plain, [])


def test_places_are_found_again(toy: str) -> None:
    old = {
        "seconds": 3,
        "search": {"draws": 5},
        "goals": [{"stop_s": 2}],
        "body": [{"position": [1, 2]}],
        "before": {"goals": [{"stop_s": 1}]},
    }
    places = {
        "time_limit_s": "seconds",
        "advanced.draws": "search.draws",
        "goals[0].end_s": "goals[0].stop_s",
        "goals[1]": "body[0]",
        "goals[1].place[0]": "body[0].position[0]",
        "after.request.goals[0].end_s": "before.goals[0].stop_s",
        "count": "count",
    }
    migration = Migration(toy, old)
    found = {where: migration.place(where) for where in places}
    assert found.pop("goals[1].place[0]") in ("body[0].place[0]", "body[0].position[0]", "body[0].position")
    assert found == {where: old for where, old in places.items() if where in found}


def test_options_of_before_are_known(toy: str) -> None:
    words = ["a.bvh", "-s2", "--seconds=3", "--raw", "--draws", "5", "--draws=6", "--no-refine", "--", "--raw"]
    made, notes = current_options(toy, words)
    assert made == [
        "a.bvh", "-t2", "--time-limit=3", "--no-clean", "--advanced", "draws=5", "--advanced", "draws=6",
        "--advanced", "refine=false", "--", "--raw",
    ]  # fmt: skip
    assert notes[1] == "--seconds is now --time-limit" and len(notes) == 5
    with pytest.raises(RequestError, match="--blend means something else"):
        current_options(toy, ["--blend", "1"])


def test_options_that_named_clips_are_one_query() -> None:
    names = ["walks", "--example", "a b", "--example=c"]
    assert current_options("perform", names)[0] == ["walks", "--only", 'name:"a b" or name:"c"']
    made, notes = current_options("perform", ["--only", "run", *names, "--", "--example"])
    assert made == ["--only", '(run) and (name:"a b" or name:"c")', "walks", "--", "--example"] and len(notes) == 1


def test_every_verb_says_whose_its_requests_are() -> None:
    for name in rooms():
        assert find_verb(name).request.verb == name


@pytest.mark.parametrize("suffix", [".json", ".yaml"])
def test_mistakes_are_named_at_the_line_of_the_file(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"ask{suffix}"
    file.write_text('{\n"min_s": 0.5,\n"stop_s": -2.0\n}')
    with pytest.raises(RequestError, match=r"line 3 \(stop_s\): end_s is -2\.0; it must be"):
        read_request_file(LoopRequest, file)
    file.write_text('{\n"start_s": 3,\n"stop_s": 2\n}')
    with pytest.raises(RequestError, match=r"line 3 \(stop_s\): end_s is 2 s, not after the start"):
        read_request_file(LoopRequest, file)
    file.write_text('{"stop_s": 2}')
    document = of_today(load_document(file), "loop")
    assert document.value == {"end_s": 2, "format": 2} and parse_document(LoopRequest, document).end_s == 2


def test_documents_of_newer_versions_are_refused() -> None:
    with pytest.raises(RequestError, match="newer version"):
        cg.read_request(LoopRequest, {"format": 3})
    with pytest.raises(RequestError, match="stop_s"):
        cg.read_request(LoopRequest, {"format": 2, "stop_s": 3.0})
