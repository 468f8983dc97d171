"""The same request on the same graph with the same seed gives the motion that it gave before, and says the same of it.

Texts are kept beside the answers to be read, and are not compared: words may change, facts may not.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.golden import cases, renames

WITHIN_M = 0.001
"""How far joints may be off: processors round differently, and a search may then end a hair elsewhere."""
WITHIN = 1e-3
"""How far numbers of results may be off, as a share or in their unit."""
WITHIN_PLACE_M = 0.01
"""How far the place may be off at which a problem shows: it may be another frame's."""


@cache
def recorded() -> dict[str, list[Any]]:
    """What was said of each case."""
    kept: dict[str, list[Any]] = json.loads(cases.RESULTS.read_text("utf-8"))
    return kept


def alike(one: Any, other: Any) -> bool:
    """Whether two values are the same but for rounding."""
    if isinstance(one, float | int) and isinstance(other, float | int) and not isinstance(one, bool):
        return bool(one == pytest.approx(other, rel=WITHIN, abs=WITHIN))
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(alike, one, other))
    return bool(one == other)


def is_rounded(now: Any, then: Any) -> bool:
    """Whether the recorded number is today's, rounded: problems had from one to four digits after the point."""
    if not isinstance(now, float) or not isinstance(then, float):
        return False
    return round(now, len(repr(then).partition(".")[2])) == then


def compare_motions(name: str, made: list[Any]) -> None:
    with np.load(cases.ANSWERS) as kept:
        wanted = [kept[key] for key in kept.files if key.rpartition(".")[0] == name]
    found = list(cases.motions(made))
    assert len(found) == len(wanted), f"{name} has another number of motions"
    for number, (joints, before) in enumerate(zip(found, wanted, strict=True)):
        assert joints.shape == before.shape, f"{name}.{number} has another length than before"
        apart = np.linalg.norm(joints - before, axis=-1) if joints.ndim == 3 else np.abs(joints - before)
        worst = np.unravel_index(apart.argmax(), apart.shape)
        said = f"{name}.{number}: joint {worst[1]} is {apart.max():.4f} m off in the kept frame {worst[0]}"
        assert apart.max() <= WITHIN_M, said


def compare_problems(case: str, verb: str, found: list[Any], before: list[Any]) -> None:
    told = [one.get(renames.PROBLEM["where"], "") for one in found]
    wanted = [renames.where(verb, one.get("where", "")) for one in before]
    assert told == wanted, f"{case}: problems are at {told}, and were at {wanted}"
    for n, (one, was) in enumerate(zip(found, before, strict=True)):
        for field in ("asked", "got", "nearest", "unit", "place"):
            now, then = one.get(renames.PROBLEM[field]), was.get(field)
            if field == "unit":
                same = (now or "") == renames.UNITS.get(then or "", then or "")
            elif field == "place" and now is not None and then is not None:
                same = bool(np.allclose(now, then, atol=WITHIN_PLACE_M))
            else:
                same = alike(now, then) or is_rounded(now, then)
            assert same, f"{case}, problem {n} at {told[n]!r}: {field} is {now}, and was {then} ({was['text']})"


def compare_answer(case: str, verb: str, found: dict[str, Any], before: dict[str, Any]) -> None:
    for field in ("status", "cost", "bound", "proved"):
        assert alike(found[field], before[field]), f"{case}: {field} is {found[field]}, and was {before[field]}"
    for key, (value, unit, text) in before["metrics"].items():
        now = found["metrics"].get(renames.metric(verb, key))
        assert now is not None, f"{case}: no metric {key} ({text})"
        assert now[1] == renames.UNITS.get(unit, unit), f"{case}: {key} is in {now[1]!r}, and was in {unit!r}"
        assert alike(now[0], value), f"{case}: {key} is {now[0]} {unit}, and was {value}"
    assert len(found["metrics"]) >= len(before["metrics"])
    compare_problems(case, verb, found["problems"], before["problems"])
    for one, was in zip(found["motions"], before["motions"], strict=True):
        for field, value in was.items():
            assert alike(one[field], value), f"{case}: a motion's {field} is {one[field]}, and was {value}"
    names = {renames.detail(verb, name) for name in before["details"]} - {""}
    assert names <= set(found["details"]), f"{case}: no details {names - set(found['details'])}"


def compare(name: str, made: list[Any]) -> None:
    compare_motions(name, made)
    found, wanted = cases.said(made), recorded()[name]
    assert len(found) == len(wanted)
    for number, (one, before) in enumerate(zip(found, wanted, strict=True)):
        case, verb = f"{name}, request {number}", before.get("verb", "plan" if name.startswith("plan") else "face")
        if "answers" not in before:  # of a motion that is held against a request, or of a face when that was no verb
            compare_problems(
                case, verb, one["answers"][0]["problems"] if "answers" in one else one["problems"], before["problems"]
            )
            continue
        compare_problems(case, verb, one["problems"], before["problems"])
        assert one["verb"] == renames.VERBS.get(verb, verb) and one["status"] == before["status"], case
        assert set(before["provenance"]) <= set(one["provenance"]), case
        assert len(one["answers"]) == len(before["answers"]), case
        for answer, was in zip(one["answers"], before["answers"], strict=True):
            compare_answer(f"{case}, {was['name']}", verb, answer, was)


@pytest.mark.parametrize("name", cases.MADE)
def test_demo_motion(name: str) -> None:
    compare(name, cases.MADE[name]())


@pytest.mark.recordings
@pytest.mark.parametrize("name", cases.RECORDED)
def test_recordings(name: str, recordings: Path) -> None:
    compare(name, cases.RECORDED[name](recordings))


def test_nothing_is_kept_that_no_case_makes() -> None:
    with np.load(cases.ANSWERS) as kept:
        assert {key.rpartition(".")[0] for key in kept.files} == {*cases.MADE, *cases.RECORDED}
    assert set(recorded()) == {*cases.MADE, *cases.RECORDED}
