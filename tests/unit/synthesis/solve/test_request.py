from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from choreograph.errors import RequestError
from choreograph.synthesis.solve import request_files
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
        ({"body": [{"at_s": 0, "position": [0, 0]}]}, r"body\[0\].facing is missing"),
        ({"body": [{**START, "weight": 0}]}, r"body\[0\].weight is 0"),
        ({"body": [{**START, "weight": -1}]}, r"body\[0\].weight is -1"),
        ({"body": [{**START, "facing_deg": "north"}]}, r"body\[0\].facing_deg is 'north'"),
        ({"body": [{**START, "wieght": 1}]}, r"body\[0\] has 'wieght', which is not known; it can have at_s"),
        ({"body": 3}, "body is 3; it must be a list"),
        ({"joints": [{"at_s": 1, "joint": "head"}]}, r"joints\[0\]: neither a position nor a velocity"),
        ({"joints": [{"at_s": 1, "position": [1, 1, 1]}]}, r"joints\[0\].joint is missing"),
        ({"frames": [{"at_s": 1, "clip": "walk", "frame": 1.5}]}, r"frames\[0\].frame is 1.5; it must be a whole"),
        ({"labels": [{"start_s": 2, "stop_s": 1, "label": "x"}]}, r"labels\[0\].stop_s is 1, not after"),
        ({"obstacles": [{}]}, r"obstacles\[0\] must have one of circle, box, polygon; it has none"),
        ({"obstacles": [{"box": {"low": [1, 1], "high": [0, 2]}}]}, r"obstacles\[0\].box.high"),
        ({"obstacles": [{"polygon": {"corners": [[1, 1], [2, 2]]}}]}, r"polygon.corners has 2"),
        ({"obstacles": [{"circle": {"centre": [1, 1], "radius": 0}}]}, r"obstacles\[0\].radius is 0"),
        ({"length_s": "long"}, "length_s is 'long'"),
        ({"length_s": float("nan")}, "length_s is nan"),
    ],
)
def test_mistakes_are_named_by_their_place(change: dict[str, Any], said: str) -> None:
    with pytest.raises(RequestError, match=said):
        parse_request({**WHOLE, **change})


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
    file.write_text("[]")
    with pytest.raises(RequestError, match="the request is \\[\\]; it must be an object"):
        load_request(file)
    file.write_text(json.dumps(WHOLE))
    assert load_request(file) == parse_request(WHOLE)


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
