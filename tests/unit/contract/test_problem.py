"""Problems: each kind has a row, sentences have one form, plain values have what is known."""

from __future__ import annotations

import json
import math
import string

import pytest
from pydantic import TypeAdapter

from choreograph.contract.problem import KINDS, Advice, Problem, ProblemKind, Severity, amount


def test_each_kind_has_one_row() -> None:
    assert list(KINDS) == list(ProblemKind)
    assert len({facts.meaning for facts in KINDS.values()}) == len(KINDS)
    assert {facts.severity for facts in KINDS.values()} == set(Severity)


@pytest.mark.parametrize("kind", ProblemKind)
def test_sentences_begin_with_a_capital_and_end_with_a_stop(kind: ProblemKind) -> None:
    sentence = KINDS[kind].sentence
    names = {name for _, name, _, _ in string.Formatter().parse(sentence) if name}
    numbers = {name for _, name, spec, _ in string.Formatter().parse(sentence) if name and spec}
    facts = {
        name: 1.5 if name in numbers or name in ("asked", "got", "nearest", "tolerance") else "a word" for name in names
    }
    text = Problem.of(kind, **{name: value for name, value in facts.items() if name != "at"}, unit="m", at_s=2.0).text
    assert text[0] == text[0].upper() and text.endswith(".") and "{" not in text


def test_plain_values_have_kind_severity_and_what_is_known() -> None:
    facts = {"asked": 1.0, "got": 0.83, "nearest": math.nan, "unit": "s", "advice": (Advice("pause_s", 0.8),)}
    problem = Problem.of(ProblemKind.PAUSE_SHORT, "pause_s", at_m=20.0, more="Longest: 5.3 s.", **facts)
    assert problem.text == "Pause too short: 0.83 s of 1 s at 20.0 m. Longest: 5.3 s." and problem.missed
    plain = json.loads(json.dumps(problem.as_json(), allow_nan=False))
    assert plain == {
        "kind": "pause_short", "severity": "missed", "text": problem.text, "where": "pause_s", "asked": 1.0,
        "got": 0.83, "unit": "s", "advice": [{"field": "pause_s", "value": 0.8}],
    }  # fmt: skip
    assert TypeAdapter(Problem).validate_python(plain).as_json() == plain


def test_amounts_have_the_unit_that_people_use() -> None:
    values = ((0.0, "m"), (0.999, "m"), (99.7, "m"), (0.05, "m/s"), (-12.3, "°"))
    shown = [*(amount(*one) for one in values), amount(1.234, "m/s", 3)]
    assert shown == ["0 mm", "100 cm", "100 m", "5 cm/s", "-12°", "1.23 m/s"]
