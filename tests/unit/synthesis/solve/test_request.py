from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from choreograph.errors import RequestError
from choreograph.synthesis.solve import request_files
from choreograph.synthesis.solve.documents import as_yaml, load_document
from choreograph.synthesis.solve.group import GroupRequest, Meeting
from choreograph.synthesis.solve.request import BodyTarget, HardFrame, JointTarget, Obstacle, SolveRequest
from choreograph.synthesis.solve.request_files import load_request, parse_request, request_schema

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
    asked = parse_request(WHOLE)
    assert asked.body == (BodyTarget(0, (0, 0), 0.0), BodyTarget(5, (0, 4), math.pi / 2, 2))
    assert asked.joints == (JointTarget(2, "head", (None, 1.9, None)),)
    assert asked.frames == (HardFrame(1, "walk", 9),)
    assert asked.obstacles[1] == Obstacle.box((5, 5), (6, 7))
    assert asked.obstacles[0].radius == 1 and asked.obstacles[0].clearance == 0.1 and asked.obstacles[2].weight == 3


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"body": [START, {"at_s": 5, "position": [0]}]}, r"body\[1\].position is \(0,\); it must be 2 numbers"),
        ({"body": [START, {"at_s": 6, "position": [0, 1]}]}, r"body\[1\].at_s is 6; it must be a number from 0 to 5"),
        ({"body": [START, START]}, r"body\[1\].at_s is 0, not after body\[0\]"),
        ({"body": [{"at_s": 0, "position": [0, 0]}]}, r"^body\[0\].facing_deg is missing"),
        ({"body": [{**START, "weight": 0}]}, r"body\[0\].weight is 0"),
        ({"body": [{**START, "weight": -1}]}, r"body\[0\].weight is -1"),
        ({"body": [{**START, "facing_deg": "north"}]}, r"body\[0\].facing_deg is 'north'"),
        ({"body": [{**START, "facing_deg": 1e6}]}, r"body\[0\].facing_deg is .*from -36000 to 36000; degrees, or null"),
        ({"body": [{**START, "wieght": 1}]}, r"body\[0\] has 'wieght', which is not known; it can have at_s"),
        ({"body": 3}, "body is 3; it must be a list"),
        ({"joints": [{"at_s": 1, "joint": "head"}]}, r"joints\[0\]: neither a position nor a velocity"),
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
        ({"obstacles": [{"polygon": {"corners": [[1, 1], [2, 2]]}}]}, r"polygon.corners has 2"),
        (
            {"obstacles": [{"polygon": {"corners": [[1, 1], [2, 2], [3]]}}]},
            r"obstacles\[0\].polygon.corners\[2\] is \[3\]",
        ),
        (
            {"obstacles": [{"polygon": {"corners": [[0, 0], [2, 2], [2, 0], [0, 3]]}}]},
            r"polygon.corners: the side behind corner 0 crosses that behind corner 2",
        ),
        ({"obstacles": [{"polygon": {"corners": [[1, 1], [2, 2], [3, 3]]}}]}, "polygon.corners enclose nothing"),
        ({"obstacles": [{"polygon": {"corners": "all"}}]}, "polygon.corners is 'all'; it must be a list of points"),
        ({"obstacles": [{"circle": {"centre": [1], "radius": 1}}]}, r"obstacles\[0\].circle.centre is \[1\]"),
        ({"obstacles": [{"circle": {"centre": [1, 1], "radius": 0}}]}, r"obstacles\[0\].circle.radius is 0"),
        ({"length_s": "long"}, "length_s is 'long'"),
        ({"length_s": float("nan")}, "length_s is nan"),
    ],
)
def test_mistakes_are_named_by_their_place(change: dict[str, Any], said: str) -> None:
    with pytest.raises(RequestError, match=said):
        parse_request({**WHOLE, **change})


def test_arrays_and_their_numbers_are_as_good_as_tuples() -> None:
    whole, half = np.int64(2), np.float32(0.5)
    made = SolveRequest(
        np.float32(5.0),  # type: ignore[arg-type]
        [BodyTarget(half, np.zeros(2), half), BodyTarget(np.array(3.0), np.array([1, 2]), weight=whole)],  # type: ignore[arg-type]
        joints=[JointTarget(whole, "head", np.array([0, 1, half]), [None, half, None])],  # type: ignore[arg-type]
        frames=[HardFrame(whole, "walk", np.int32(9))],  # type: ignore[arg-type]
        obstacles=np.array([Obstacle.circle(np.ones(2), half), Obstacle(np.array([[7, 7], [8, 7], [7, 8]]))]),  # type: ignore[arg-type]
        min_piece_s=half,  # type: ignore[arg-type]
    )
    plain = SolveRequest(
        5.0,
        (BodyTarget(0.5, (0, 0), 0.5), BodyTarget(3, (1, 2), weight=2)),
        joints=(JointTarget(2, "head", (0, 1, 0.5), (None, 0.5, None)),),
        frames=(HardFrame(2, "walk", 9),),
        obstacles=(Obstacle.circle((1, 1), 0.5), Obstacle(((7, 7), (8, 7), (7, 8)))),
        min_piece_s=0.5,
    )
    assert made == plain and hash(made) == hash(plain) and type(made.frames[0].frame) is int
    met = Meeting(whole, ["a", "b"], ["x", "y"], np.array([1, 2]), offset=np.zeros(3))  # type: ignore[arg-type]
    assert met == Meeting(2, ("a", "b"), ("x", "y"), (1, 2), offset=(0, 0, 0))
    with pytest.raises(RequestError, match=r"body\[0\].at_s is True"):
        SolveRequest(5.0, (BodyTarget(np.True_, (0, 0), 0.0),))  # type: ignore[arg-type]


def test_corners_of_a_box_come_in_any_order() -> None:
    assert Obstacle.box((1, 2), (0, 0)) == Obstacle.box((0, 0), (1, 2)) == Obstacle.box((0, 2), (1, 0))
    start = (BodyTarget(0, (9, 9), 0.0),)
    for corners, said in (
        (Obstacle.box((1, 1), (1, 2)).corners, r"obstacles\[0\].corners enclose nothing"),
        (((0, 0), (1, 1)), r"obstacles\[0\].corners has 2; a polygon has three or more"),
        (((0, 0), (2, 2), (2, 0), (0, 3)), r"obstacles\[0\].corners: the side behind corner 0 crosses"),
        (((0, 0),), r"obstacles\[0\].radius is 0.0; a circle needs one above 0"),
    ):
        with pytest.raises(RequestError, match=said):
            SolveRequest(5.0, start, obstacles=(Obstacle(corners),))


def test_something_must_be_asked_for() -> None:
    with pytest.raises(RequestError, match="nothing is asked for"):
        SolveRequest(5.0, (BodyTarget(0, (0, 0), 0.0),)).check_asks()


def test_files_that_are_no_requests(tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    with pytest.raises(RequestError, match="cannot be read"):
        load_request(file)
    file.write_text('{"length_s": 5,\n oops}')
    with pytest.raises(RequestError, match=r"r.json, line 2: not JSON"):
        load_request(file)
    file.write_text(" \n")
    with pytest.raises(RequestError, match=r"r.json: the request is empty"):
        load_request(file)
    file.write_text("[]")
    with pytest.raises(RequestError, match="the request is \\[\\]; it must be an object"):
        load_request(file)
    file.write_text(json.dumps(WHOLE))
    assert load_request(file) == parse_request(WHOLE)


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
    asked = load_request(file)
    assert isinstance(asked, SolveRequest)
    assert asked.body == parse_request(WHOLE).body and asked.joints == parse_request(WHOLE).joints  # type: ignore[union-attr]
    assert asked.frames == (HardFrame(1, "walk", 9, 1.5),)


WORDS = (
    "60_03",
    "1:30",
    "0b11",
    "1_000.5",
    "yes",
    "on",
    "No",
    "off",
    "2020-01-01",
    "=",
    "0o8",
    "-0x1f",
    "1e",
    ".",
    "e5",
)
VALUES = {
    "~": None, "null": None, "": None, "true": True, "FALSE": False, "012": 12, "-7": -7, "0o17": 15, "0x1F": 31,
    "1e5": 1e5, "1E-3": 1e-3, "+1.5e+2": 150.0, ".5": 0.5, "3.": 3.0, "-.inf": -math.inf,
}  # fmt: skip


def test_yaml_is_read_by_its_core_rules(tmp_path: Path) -> None:
    file = tmp_path / "r.yaml"
    file.write_text("\n".join(f"- {text}" for text in (*WORDS, *VALUES)))
    read = load_document(file)
    assert read == [*WORDS, *VALUES.values()]
    assert [type(value) for value in read[len(WORDS) :]] == [type(value) for value in VALUES.values()]
    file.write_text("a: &a {weight: 2}\nb: {<<: *a, at_s: 0}")
    assert load_document(file)["b"] == {"weight": 2, "at_s": 0}


def test_what_is_written_as_yaml_is_read_as_the_same(tmp_path: Path) -> None:
    file = tmp_path / "r.yaml"
    whole = {"words": [*WORDS, *VALUES, "ä: b", "a, b"], "values": [None, True, 3, 1e-9, 1e22, 0.1]}
    file.write_text(as_yaml(whole), encoding="utf-8")
    assert load_document(file) == whole


def test_the_requests_of_the_documentation_are_requests(tmp_path: Path) -> None:
    blocks = re.findall(
        r"```yaml\n(.*?)```", (Path(__file__).parents[4] / "docs" / "solve.md").read_text("utf-8"), re.S
    )
    asked = []
    for text in blocks:
        (tmp_path / "r.yaml").write_text(text)
        asked.append(load_request(tmp_path / "r.yaml"))
    assert [type(each) for each in asked] == [SolveRequest, GroupRequest]
    assert isinstance(asked[1], GroupRequest) and asked[1].meetings[0].clips == ("60_03", "61_03")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("length_s: 5\nbody: [}", r"r.yaml, line 2: not YAML: "),
        ("length_s: 5\nlength_s: 6", r"r.yaml, line 2: not YAML: 'length_s' comes twice"),
        ("length_s: 5\nbody:\n - {at_s: 0, at_s: 1}", r"line 3: not YAML: 'at_s' comes twice"),
        ("!!python/object/apply:os.system ['true']", "not YAML: could not determine a constructor"),
        ("length_s: 5\nbody: [{at_s: soon, position: [0, 0], facing_deg: 0}]", r"body\[0\].at_s is 'soon'"),
        ("- 1", r"the request is \[1\]; it must be an object"),
        ("", r"r.yaml: the request is empty"),
        ("# nothing yet", r"r.yaml: the request is empty"),
        ("length_s: 2020-01-01", "length_s is '2020-01-01'"),
        ("? [1, 2]\n: 3", "not YAML"),
        ("length_s: 5\non: 3", r"the request has 'on', which is not known"),
        ("length_s: !!int five", "not YAML: invalid literal"),
        ("a: &a [*a]", "line 1: not YAML: found unconstructable recursive node"),
    ],
)
def test_yaml_mistakes_have_a_line_or_a_place(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "r.yaml"
    file.write_text(text)
    with pytest.raises(RequestError, match=said):
        load_request(file)


def test_other_files_are_no_requests(tmp_path: Path) -> None:
    (tmp_path / "r.toml").write_text("")
    (tmp_path / "deep.json").write_text("[" * 100_000)
    (tmp_path / "deep.yaml").write_text("[" * 5_000)
    with pytest.raises(RequestError, match=r"a request is a .json, .yaml or .yml file"):
        load_request(tmp_path / "r.toml")
    for name in ("deep.json", "deep.yaml"):
        with pytest.raises(RequestError, match="deep"):
            load_request(tmp_path / name)


def test_functions_are_loaded_only_where_that_is_allowed(tmp_path: Path) -> None:
    (tmp_path / "style.py").write_text(
        f"from pathlib import Path\nPath({str(tmp_path / 'ran')!r}).touch()\nx = 3\ndef low(c):\n    return x\n"
    )
    (tmp_path / "bad.py").write_text("raise ValueError('no')")
    file = tmp_path / "r.json"

    def load(named: object, **how: bool) -> SolveRequest:
        file.write_text(json.dumps({"length_s": 5, "body": [START], "functions": [{"function": named, "weight": 2}]}))
        asked = load_request(file, **how)
        assert isinstance(asked, SolveRequest)
        return asked

    with pytest.raises(
        RequestError, match=r"functions\[0\].function is 'style.py:low': that runs the code in style.py; .*--allow-code"
    ):
        load("style.py:low")
    assert not (tmp_path / "ran").exists()
    asked = load("style.py:low", allow_code=True)
    assert (tmp_path / "ran").exists() and asked.functions[0].name == "low" and asked.functions[0].weight == 2
    assert asked.functions[0].function(None) == 3  # type: ignore[arg-type]
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
    asked = parse_request(GROUP, folder=Path("there"))
    assert isinstance(asked, GroupRequest)
    assert list(asked.characters) == ["anna", "ben", "carl"] and asked.length_s == 5
    assert [len(each.obstacles) for each in asked.characters.values()] == [1, 0, 1]
    assert [each.min_piece_s for each in asked.characters.values()] == [0.5, 0.4, 0.5]
    assert asked.graphs == {"ben": Path("there/ben.mog")}
    assert asked.meetings == (Meeting(3, ("anna", "ben"), ("a", "b"), (7, 7), 1),)
    placed = {**GROUP["meet"][0], "frames": [7, 8], "position": [1, 2], "facing_deg": 90,
              "offset": {"left": 0.5, "ahead": 1, "turned_deg": 180}}  # fmt: skip
    meeting = parse_request({**GROUP, "meet": [placed]}).meetings[0]  # type: ignore[union-attr]
    assert meeting.frames == (7, 8) and meeting.position == (1, 2) and meeting.facing == pytest.approx(math.pi / 2)
    assert meeting.offset == (0.5, 1, pytest.approx(math.pi))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"characters": 3}, "characters is 3; it must be an object"),
        ({"characters": {}}, "characters is empty"),
        ({"characters": {"anna": {"body": [{**START, "at_s": 9}]}}}, r"characters.anna.body\[0\].at_s is 9"),
        ({"characters": {"anna": {"length_s": 3}}}, "characters.anna has 'length_s', which is not known"),
        ({"characters": {"anna": {"graph": 3}}}, "characters.anna.graph is 3"),
        ({"body": []}, "the request has 'body', which is not known"),
        ({"meet": [{"at_s": 3}]}, r"meet\[0\].who is missing"),
        ({"meet": [{**GROUP["meet"][0], "who": ["anna"]}]}, r"meet\[0\].who is \['anna'\]; it must be two names"),
        (
            {"meet": [{**GROUP["meet"][0], "frames": [1.5, 2]}]},
            r"meet\[0\].frames is \[1.5, 2\]; it must be two frames",
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
        parse_request({**GROUP, **change})


def test_the_schema_knows_what_the_reader_knows() -> None:
    schema = request_schema()["properties"]
    for name, (_, must, may) in request_files._KINDS.items():
        item = schema[name]["items"]
        assert set(item["properties"]) == {*must, *may} and item["required"] == list(must)
    shapes = schema["obstacles"]["items"]["properties"]
    for name, must in request_files._SHAPES.items():
        assert set(shapes[name]["properties"]) == set(must)
    assert set(schema["functions"]["items"]["properties"]) == {"function", "weight"}
    must, may = request_files._MEETING
    assert set(schema["meet"]["items"]["properties"]) == {*must, *may}
    assert schema["meet"]["items"]["required"] == list(must)
    assert set(schema) == {*request_files._NUMBERS, *request_files._LISTS, "characters", "meet", "$schema"}
    own = schema["characters"]["additionalProperties"]["properties"]
    assert set(own) == {*request_files._NUMBERS[1:], *request_files._LISTS, "graph"}
