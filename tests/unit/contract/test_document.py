"""Request files: what they say, where, and what they may not do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from choreograph.base.errors import RequestError
from choreograph.contract import document
from choreograph.contract.document import as_yaml, load_document, read_request_file
from choreograph.verbs.follow.request import FollowRequest


def load(tmp_path: Path, text: str, suffix: str = ".yaml") -> Any:
    file = tmp_path / f"ask{suffix}"
    file.write_text(text, encoding="utf-8")
    return load_document(file)


def test_yaml_is_read_by_the_core_rules_of_1_2(tmp_path: Path) -> None:
    text = "clip: 60_03\nquoted: '12'\nbig: 1e3\nhalf: .5\nyes: yes\ntrue: true\nnone: ~\nhex: 0x1f\nplus: +3\n"
    found = load(tmp_path, text).value
    assert found == {
        **{"clip": "60_03", "quoted": "12", "big": 1000.0, "half": 0.5, "yes": "yes", "true": True},
        **{"none": None, "hex": 31, "plus": 3},
    }
    assert load(tmp_path, "  \n# nothing\n").value is None


def test_every_value_has_its_line(tmp_path: Path) -> None:
    found = load(tmp_path, "length: 3\nbody:\n  - {at: 0, place: [0, 1]}\n  - at: 2\n    place: [1, 2]\n")
    assert found.line("body[1].place") == 5 and found.line("body[0].at") == 3
    assert found.line("body[1].nothing") == 4 and found.line("nothing") is None


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=12)
    | st.sampled_from(["60_03", "1e5", "on", "null", "0x1", "<<", "~", "1_000", "&a", "*a", "!x"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(st.text("abcxyz_", min_size=1, max_size=5), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(PLAIN)
def test_what_is_written_as_yaml_reads_as_the_same(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    file = tmp_path_factory.getbasetemp() / "round.yaml"
    file.write_text(as_yaml({"value": value}), encoding="utf-8")
    assert load_document(file).value == {"value": value}


def bomb(depth: int) -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, depth)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (bomb(9), "line 1: anchors"),
        ("a: &x {b: 1}\nc: {<<: *x}\n", "line 1: anchors"),
        ("c: {<<: {b: 1}}\n", r"line 1: merge keys \(<<\) are not read"),
        ("\n".join(f"k{n}: &a{n} 1" for n in range(1000)), "line 1: anchors"),
        ("a: " + "9" * 1000, "is a number of 1000 characters; at most 60"),
        ("a: 0x" + "f" * 1000, "is a number of 1002 characters"),
        ("a: .inf", "no number that can be asked for"),
        ("a: !!python/object:os.system x", "tags such as"),
        ("[" * 60 + "]" * 60, "lists within lists, deeper than 40"),
        ("x" * 300 + ": 1", "a name of 300 characters; at most 200"),
        ("a: 1\na: 2\n", "line 2: 'a' comes twice"),
        ("--- 1\n--- 2\n", "a second document"),
        ("{[1, 2]: 3}", "stands where a name should"),
        ("a: [1, 2", "not YAML"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_no_request_needs_is_refused_before_it_is_built(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(RequestError, match=says) as refused:
        load(tmp_path, text)
    assert len(str(refused.value)) < 600


def test_limits_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document, "MAX_VALUES", 50)
    with pytest.raises(RequestError, match="more than 50 values"):
        load(tmp_path, json.dumps({"points": [[0, 1]] * 100}))
    monkeypatch.setattr(document, "_read_yaml", lambda *_: pytest.fail("read, though it is plainly too long"))
    with pytest.raises(RequestError, match="more than 50 values"):
        load(tmp_path, "boxes:\n" + "- {low: [0, 0]}\n" * 20)
    monkeypatch.setattr(document, "MAX_BYTES", 1_000_000)
    with pytest.raises(RequestError, match="has more than 1 MB"):
        load(tmp_path, "a: " + "x " * 600_000)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"a": 1, "a": 2}', "'a' comes twice in one object"),
        ('{"a": NaN}', "NaN is no number"),
        ('{"a": ' + "1" * 100 + "}", "a number of 100 characters"),
        ('{"a": 1,}', "line 1: not JSON"),
        ("[" * 100_000, "too deep|not JSON"),
    ],
)
def test_json_is_as_strict(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(RequestError, match=says):
        load(tmp_path, text, ".json")


@pytest.mark.parametrize("suffix", [".yaml", ".json"])
def test_mistakes_have_file_line_and_place(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"ask{suffix}"
    text = '{"path": "line",\n "goals": [\n  {"start_m": 0, "end_m": 2, "speed_m_s": 50}]}'
    file.write_text(text)
    said = r"ask\.\w+, line 3: goals\[0\].speed_m_s is 50; it must be a number from 0 to 20 m/s"
    with pytest.raises(RequestError, match=said) as refused:
        read_request_file(FollowRequest, file)
    assert refused.value.where == "goals[0].speed_m_s"
    with pytest.raises(RequestError, match="cannot be read"):
        read_request_file(FollowRequest, tmp_path / "none.yaml")
    with pytest.raises(RequestError, match=r"a request is a .yaml, .yml or .json file"):
        read_request_file(FollowRequest, tmp_path / "ask.txt")


def test_the_line_of_a_mistake_is_that_of_its_name(tmp_path: Path) -> None:
    """What a name holds may begin on a later line."""
    file = tmp_path / "ask.yaml"
    file.write_text("path: line\nstretchs:\n\n  - {start_m: 0}\n")
    with pytest.raises(RequestError, match=r"line 2: the request has 'stretchs'"):
        read_request_file(FollowRequest, file)
