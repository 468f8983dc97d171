"""Requests for solving: what they take, what they refuse, and in which words."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import jsonschema_rs
import numpy as np
import pytest

from choreograph.base.errors import RequestError
from choreograph.contract.document import read_request_file
from choreograph.contract.request import read_request
from choreograph.verbs.solve.constraints import BodyTarget, FunctionTarget, HardFrame, JointTarget, TorsoObstacle
from choreograph.verbs.solve.request import Character, Meeting, Offset, SolveRequest

START = {"at_s": 0, "position": [0, 0], "facing_deg": 0}
WHOLE: dict[str, Any] = {
    "length_s": 5,
    "min_piece_s": 0.5,
    "body": [START, {"at_s": 5, "position": [0, 4], "facing_deg": 90, "weight": 2}],
    "joints": [{"at_s": 2, "joint": "head", "position": [None, 1.9, None]}],
    "poses": [{"at_s": 3, "clip": "walk", "frame": 3}],
    "frames": [{"at_s": 1, "clip": "walk", "frame": 9}],
    "labels": [{"start_s": 1, "stop_s": 2, "label": "walk"}],
    "obstacles": [
        {"circle": {"centre": [9, 9], "radius": 1}, "clearance": 0.1},
        {"box": {"low": [5, 5], "high": [6, 7]}},
        {"polygon": {"corners": [[7, 7], [8, 7], [7, 8]]}, "weight": 3},
    ],
}


def test_a_document_and_python_say_the_same() -> None:
    asked = read_request(SolveRequest, WHOLE)
    assert asked.body == (BodyTarget(0, (0, 0), 0.0), BodyTarget(5, (0, 4), 90, 2))
    assert asked.body[1].facing == pytest.approx(math.pi / 2) and asked.body[0].facing == 0
    assert asked.joints == (JointTarget(2, "head", (None, 1.9, None)),)
    assert asked.frames == (HardFrame(1, "walk", 9),)
    assert asked.obstacles[1] == TorsoObstacle.of_box((5, 5), (6, 7))
    assert asked.obstacles[0].radius == 1 and asked.obstacles[0].clearance == 0.1 and asked.obstacles[2].weight == 3
    assert asked.obstacles[1].corners == ((5, 5), (6, 5), (6, 7), (5, 7)) and asked.obstacles[1].radius == 0
    assert asked.as_document() == WHOLE
    assert read_request(SolveRequest, asked.as_document()) == asked


def test_more_effort_does_not_want_something_else() -> None:
    asked = read_request(SolveRequest, WHOLE)
    assert asked.wants_same(asked.with_(count=9, seconds=60.0, evaluations=5, apart_m=2.0))
    assert not asked.wants_same(asked.with_(seed=1))
    assert not asked.wants_same(asked.with_(labels=()))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"body": [START, {"at_s": 5, "position": [0]}]}, r"body\[1\].position\[1\] is missing"),
        ({"body": [START, {"at_s": 6, "position": [0, 1]}]}, r"body\[1\].at_s is 6; it must be a number from 0 to 5"),
        ({"body": [START, START]}, r"body\[1\].at_s is 0, not after body\[0\]"),
        ({"body": [{"at_s": 0, "position": [0, 0]}]}, r"^body\[0\].facing_deg is missing"),
        ({"body": [{**START, "weight": 0}]}, r"body\[0\].weight is 0"),
        ({"body": [{**START, "weight": -1}]}, r"body\[0\].weight is -1"),
        ({"body": [{**START, "facing_deg": "north"}]}, r"body\[0\].facing_deg is 'north'"),
        ({"body": [{**START, "facing_deg": 1e6}]}, r"body\[0\].facing_deg is .*from -36000 to 36000 °"),
        ({"body": [{**START, "wieght": 1}]}, r"body\[0\] has 'wieght', which is not known; it can have at_s"),
        ({"body": 3}, "body is 3; it must be a list"),
        ({"joints": [{"at_s": 1, "joint": "head"}]}, r"joints\[0\] asks for nothing; give it a position or a velocity"),
        ({"joints": [{"at_s": 1, "position": [1, 1, 1]}]}, r"joints\[0\].joint is missing"),
        (
            {"frames": [{"at_s": 1, "clip": "walk", "frame": 1, "lasts_s": 9}]},
            r"frames\[0\].lasts_s is 9; .*from 0 to 4",
        ),
        (
            {"frames": [{"at_s": 2, "clip": "a", "frame": 1}, {"at_s": 1, "clip": "a", "frame": 1}]},
            r"frames\[1\].at_s is 1",
        ),
        ({"functions": [{}]}, r"functions\[0\].function is missing"),
        ({"obstacles": [{"circle": {"centre": [1, 1], "radius": -1}}]}, r"obstacles\[0\].circle.radius is -1"),
        ({"obstacles": [{"circle": {"centre": [1, 1], "radius": 1}, "weight": 0}]}, r"obstacles\[0\].weight is 0"),
        ({"joints": [{"at_s": -1, "joint": "head", "position": [1, 1, 1]}]}, r"joints\[0\].at_s is -1"),
        ({"frames": [{"at_s": 1, "clip": "walk", "frame": 1.5}]}, r"frames\[0\].frame is 1.5; it must be a whole"),
        ({"labels": [{"start_s": 2, "stop_s": 1, "label": "x"}]}, r"labels\[0\].stop_s is 1, not after"),
        ({"obstacles": [{}]}, r"obstacles\[0\] must have one of circle, box, polygon; it has none"),
        ({"obstacles": [{"box": {"low": [1, 1], "high": [0, 2]}}]}, r"obstacles\[0\].box.high"),
        ({"obstacles": [{"polygon": {"corners": [[1, 1], [2, 2]]}}]}, r"polygon.corners is .*; it must have 3 or more"),
        (
            {"obstacles": [{"polygon": {"corners": [[1, 1], [2, 2], [3]]}}]},
            r"obstacles\[0\].polygon.corners\[2\]\[1\] is missing",
        ),
        (
            {"obstacles": [{"polygon": {"corners": [[0, 0], [2, 2], [2, 0], [0, 3]]}}]},
            r"polygon.corners have crossing sides: before corner 1 and before corner 3",
        ),
        ({"obstacles": [{"polygon": {"corners": [[1, 1], [2, 2], [3, 3]]}}]}, "polygon.corners enclose nothing"),
        ({"obstacles": [{"polygon": {"corners": "all"}}]}, "polygon.corners is 'all'; it must be a list"),
        ({"obstacles": [{"circle": {"centre": [1], "radius": 1}}]}, r"obstacles\[0\].circle.centre\[1\] is missing"),
        ({"obstacles": [{"circle": {"centre": [1, 1], "radius": 0}}]}, r"obstacles\[0\].circle.radius is 0"),
        ({"length_s": "long"}, "length_s is 'long'"),
        ({"length_s": float("nan")}, "length_s is nan"),
    ],
)
def test_mistakes_are_named_by_their_place(change: dict[str, Any], said: str) -> None:
    with pytest.raises(RequestError, match=said):
        read_request(SolveRequest, {**WHOLE, **change})


def test_arrays_and_their_numbers_are_as_good_as_tuples() -> None:
    whole, half = np.int64(2), np.float32(0.5)
    made = SolveRequest(
        np.float32(5.0),
        [BodyTarget(half, np.zeros(2), half), BodyTarget(np.array(3.0), np.array([1, 2]), weight=whole)],
        joints=[JointTarget(whole, "head", np.array([0, 1, half]), [None, half, None])],
        frames=[HardFrame(whole, "walk", np.int32(9))],
        obstacles=np.array(
            [TorsoObstacle.of_circle(np.ones(2), half), TorsoObstacle.of_polygon(np.array([[7, 7], [8, 7], [7, 8]]))]
        ),
        min_piece_s=half,
    )
    plain = SolveRequest(
        5.0,
        (BodyTarget(0.5, (0, 0), 0.5), BodyTarget(3, (1, 2), weight=2)),
        joints=(JointTarget(2, "head", (0, 1, 0.5), (None, 0.5, None)),),
        frames=(HardFrame(2, "walk", 9),),
        obstacles=(TorsoObstacle.of_circle((1, 1), 0.5), TorsoObstacle.of_polygon(((7, 7), (8, 7), (7, 8)))),
        min_piece_s=0.5,
    )
    assert made == plain and type(made.frames[0].frame) is int
    met = Meeting(whole, ["a", "b"], ["x", "y"], np.array([1, 2]), offset=Offset(half, 0, 0))
    assert met == Meeting(2, ("a", "b"), ("x", "y"), (1, 2), offset=Offset(0.5, 0, 0))
    with pytest.raises(RequestError, match=r"^at_s is True; it must be a number from 0"):
        BodyTarget(np.True_, (0, 0), 0.0)


def test_corners_of_a_box_come_in_any_order() -> None:
    assert (
        TorsoObstacle.of_box((1, 2), (0, 0))
        == TorsoObstacle.of_box((0, 0), (1, 2))
        == TorsoObstacle.of_box((0, 2), (1, 0))
    )
    with pytest.raises(RequestError, match=r"^high is \[1.0, 2.0\]; it must lie beyond low"):
        TorsoObstacle.of_box((1, 1), (1, 2))
    with pytest.raises(RequestError, match=r"^corners is .*; it must have 3 or more"):
        TorsoObstacle.of_polygon(((0, 0), (1, 1)))
    with pytest.raises(RequestError, match=r"^radius is 0; it must be a number above 0"):
        TorsoObstacle.of_circle((0, 0), 0)


def test_something_must_be_asked_for() -> None:
    with pytest.raises(RequestError, match="nothing is asked for"):
        SolveRequest(5.0, (BodyTarget(0, (0, 0), 0.0),)).check_asks()


def test_files_that_are_no_requests(tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    for text, said in (
        ('{"length_s": 5,\n oops}', "r.json, line 2: not JSON"),
        (" \n", "r.json: length_s is missing"),
        ("[]", r"r.json: a request is an object with names and values; found \[\]"),
        ('{"length_s": 5,\n"body": [\n{"at_s": 9}]}', r"r.json, line 3: body\[0\].position is missing"),
    ):
        file.write_text(text)
        with pytest.raises(RequestError, match=said):
            read_request_file(SolveRequest, file)
    file.write_text(json.dumps({"$schema": "here", **WHOLE}))
    assert read_request_file(SolveRequest, file) == read_request(SolveRequest, WHOLE)


def test_yaml_says_the_same_as_json(tmp_path: Path) -> None:
    file = tmp_path / "r.yaml"
    file.write_text(
        """
        length_s: 5
        min_piece_s: 0.5
        body:
          - {at_s: 0, position: [0, 0], facing_deg: 0}
          - at_s: 5
            position: [0, 4]
            facing_deg: 90
            weight: 2
        joints: [{at_s: 2, joint: head, position: [null, 1.9, ~]}]
        frames: [{at_s: 1, clip: walk, frame: 9, lasts_s: 1.5}]
        """
    )
    asked, whole = read_request_file(SolveRequest, file), read_request(SolveRequest, WHOLE)
    assert asked.body == whole.body and asked.joints == whole.joints
    assert asked.frames == (HardFrame(1, "walk", 9, 1.5),)


def test_the_requests_of_the_documentation_are_requests(tmp_path: Path) -> None:
    guide = (Path(__file__).parents[4] / "docs" / "solve.md").read_text("utf-8")
    asked = []
    for text in re.findall(r"```yaml\n(.*?)```", guide, re.S):
        (tmp_path / "r.yaml").write_text(text)
        asked.append(read_request_file(SolveRequest, tmp_path / "r.yaml"))
    assert [each.people() for each in asked] == [[], ["ben", "anna"]]
    assert asked[1].meet[0].clips == ("60_03", "61_03") and asked[1].meet[0].frames == (200, 200)


def test_functions_are_loaded_only_where_that_is_allowed(tmp_path: Path) -> None:
    (tmp_path / "style.py").write_text(
        f"from pathlib import Path\nPath({str(tmp_path / 'ran')!r}).touch()\nx = 3\ndef low(c):\n    return x\n"
    )
    (tmp_path / "bad.py").write_text("raise ValueError('no')")
    file = tmp_path / "r.json"

    def load(named: object, **how: bool) -> SolveRequest:
        file.write_text(json.dumps({"length_s": 5, "body": [START], "functions": [{"function": named, "weight": 2}]}))
        return read_request_file(SolveRequest, file, **how)

    with pytest.raises(
        RequestError, match=r"functions\[0\].function is 'style.py:low': that runs the code in style.py; .*allow_code"
    ):
        load("style.py:low")
    assert not (tmp_path / "ran").exists()
    asked = load("style.py:low", allow_code=True)
    assert (tmp_path / "ran").exists() and asked.functions[0].called == "low" and asked.functions[0].weight == 2
    assert asked.functions[0].function(None) == 3
    assert asked.as_document()["functions"] == [{"function": "style.py:low", "weight": 2}]
    assert asked == load("style.py:low", allow_code=True) and asked.resolved(tmp_path) == asked
    for named, said in (
        ("style:low", "must be FILE.py:NAME"),
        (3, "must be FILE.py:NAME"),
        ("style.py:", "must be FILE.py:NAME"),
        ("gone.py:low", "gone.py cannot be read"),
        ("style.py:high", "style.py has no function 'high'"),
        ("style.py:x", "style.py has no function 'x'"),
        ("bad.py:low", "bad.py raised ValueError: no"),
    ):
        with pytest.raises(RequestError, match=said):
            load(named, allow_code=True)


GROUP: dict[str, Any] = {
    "length_s": 5,
    "min_piece_s": 0.5,
    "obstacles": [{"circle": {"centre": [1, 2], "radius": 1}}],
    "characters": {
        "anna": {"body": [START]},
        "ben": {"graph": "ben.mog", "obstacles": [], "min_piece_s": 0.4},
        "carl": None,
    },
    "meet": [{"at_s": 3, "who": ["anna", "ben"], "clips": ["a", "b"], "frames": 7, "lasts_s": 1}],
}


def test_several_characters_share_what_is_said_beside_them() -> None:
    asked = read_request(SolveRequest, GROUP)
    assert asked.people() == ["anna", "ben", "carl"] and asked.alone("carl").length_s == 5
    assert [len(asked.alone(name).obstacles) for name in asked.people()] == [1, 0, 1]
    assert [asked.alone(name).min_piece_s for name in asked.people()] == [0.5, 0.4, 0.5]
    assert asked.alone("anna").people() == [] and asked.alone("anna").meet == ()
    there = asked.resolved(Path("there")).characters
    assert there["ben"] is not None and there["ben"].graph == str(Path("there/ben.mog")) and there["carl"] is None
    assert asked.meet == (Meeting(3, ("anna", "ben"), ("a", "b"), (7, 7), 1),)
    assert read_request(SolveRequest, asked.as_document()) == asked
    placed = {**GROUP["meet"][0], "frames": [7, 8], "position": [1, 2], "facing_deg": 90,
              "offset": {"left": 0.5, "ahead": 1, "turned_deg": 180}}  # fmt: skip
    meeting = read_request(SolveRequest, {**GROUP, "meet": [placed]}).meet[0]
    assert meeting.frames == (7, 8) and meeting.position == (1, 2) and meeting.facing == pytest.approx(math.pi / 2)
    assert meeting.offset == Offset(0.5, 1, 180) and meeting.offset.turned == pytest.approx(math.pi)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"characters": 3}, "characters is 3; it must be an object"),
        ({"characters": {}}, r"meet\[0\].who has 'anna', which is no character; there are: none"),
        ({"characters": {"anna": {"min_piece_s": 6}}}, r"characters.anna.min_piece_s is 6; .*from 0 to 5 s"),
        ({"characters": {"anna": {"body": [{**START, "at_s": 9}]}}}, r"characters.anna.body\[0\].at_s is 9"),
        ({"characters": {"anna": {"length_s": 3}}}, "characters.anna has 'length_s', which is not known"),
        ({"characters": {"anna": {"graph": 3}}}, "characters.anna.graph is 3"),
        ({"body": [START]}, "^body is given beside characters; give it to one of them"),
        ({"meet": [{"at_s": 3}]}, r"meet\[0\].who is missing"),
        ({"meet": [{**GROUP["meet"][0], "who": ["anna"]}]}, r"meet\[0\].who\[1\] is missing"),
        (
            {"meet": [{**GROUP["meet"][0], "frames": [1.5, 2]}]},
            r"meet\[0\].frames\[0\] is 1.5; it must be a whole number",
        ),
        ({"meet": [{**GROUP["meet"][0], "position": "here", "facing_deg": 0}]}, r"meet\[0\].position is 'here'"),
        ({"meet": [{**GROUP["meet"][0], "offset": {"left": 1}}]}, r"meet\[0\].offset.ahead is missing"),
        (
            {"meet": [{**GROUP["meet"][0], "offset": {"left": "x", "ahead": 1, "turned_deg": 0}}]},
            r"meet\[0\].offset.left is 'x'",
        ),
        (
            {"meet": [{**GROUP["meet"][0], "offset": {"left": 1, "ahead": 1, "turned_deg": None}}]},
            r"meet\[0\].offset.turned_deg is None",
        ),
        ({"meet": [{**GROUP["meet"][0], "position": [0, 0]}]}, r"meet\[0\].facing_deg is missing; give position and"),
        ({"meet": [{**GROUP["meet"][0], "facing_deg": 9}]}, r"meet\[0\].position is missing"),
        ({"obstacles": [{"circle": {"centre": [1, 2], "radius": 0}}]}, r"^obstacles\[0\].circle.radius is 0"),
        ({"length_s": "long"}, "^length_s is 'long'"),
        ({"characters": {"be/n": None}}, "characters has 'be/n'; names become parts of file names"),
        ({"characters": {"..": None}}, r"characters has '\.\.'"),
        ({"characters": {"": None}}, "characters has ''"),
        ({"characters": {"ben.": None}}, r"characters has 'ben\.'"),
        ({"characters": {"x" * 60: None}}, "characters has 'xxx"),
    ],
)
def test_mistakes_about_several_characters_are_named_by_their_place(change: dict[str, Any], said: str) -> None:
    with pytest.raises(RequestError, match=said):
        read_request(SolveRequest, {**GROUP, **change})


def test_the_schema_allows_what_the_reader_takes() -> None:
    schema = SolveRequest.model_json_schema()
    check = jsonschema_rs.Draft202012Validator(schema)
    for document in (WHOLE, GROUP, {**WHOLE, "functions": [{"function": "style.py:low"}]}):
        assert not list(check.iter_errors(document))
    for wrong in ({"length_s": "long"}, {"body": [{"at_s": -1, "position": [0, 0]}]}, {"characters": {"a": {"x": 1}}}):
        assert list(check.iter_errors({**WHOLE, **wrong}))
    assert schema["required"] == ["length_s"] and schema["properties"]["length_s"]["unit"] == "s"
    for model in (SolveRequest, Character, BodyTarget, Meeting):
        for name, field in model.model_fields.items():
            assert field.description, f"{model.__name__}.{name} is not explained"


def test_functions_in_python_have_a_name_in_documents() -> None:
    asked = SolveRequest(5.0, (BodyTarget(0, (0, 0), 0.0),), functions=(FunctionTarget(math.sqrt),))
    assert asked.as_document()["functions"] == [{"function": "math:sqrt"}]
    json.dumps(asked.as_document())
