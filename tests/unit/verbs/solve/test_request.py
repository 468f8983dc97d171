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
from choreograph.goals.model import CostGoal, JointGoal, LabelGoal, PlaceGoal, PoseGoal, PoseSource
from choreograph.scene.model import Obstacle, Scene
from choreograph.verbs.solve.request import Character, Meeting, Offset, SolveRequest

START = {"at_s": 0, "place": [0, 0], "facing_deg": 0}
HARD = {"at_s": 1, "pose": {"clip": "walk", "frame": 9}, "exact": True}
WHOLE: dict[str, Any] = {
    "duration_s": 5,
    "goals": [
        START,
        {"at_s": 5, "place": [0, 4], "facing_deg": 90, "weight": 2},
        {"at_s": 2, "joint": "head", "position": [None, 1.9, None]},
        {"at_s": 3, "pose": {"clip": "walk", "frame": 3}},
        HARD,
        {"start_s": 1, "end_s": 2, "label": "walk"},
    ],
    "scene": {
        "obstacles": [
            {"centre": [9, 9], "radius_m": 1, "clearance_m": 0.1, "of": "hips"},
            {"low": [5, 5], "high": [6, 7]},
            {"corners": [[7, 7], [8, 7], [7, 8]], "weight": 3},
        ]
    },
    "min_piece_s": 0.5,
}


def test_a_document_and_python_say_the_same() -> None:
    asked = read_request(SolveRequest, WHOLE)
    person = asked.person()
    assert [goal for _, goal in person.places] == [PlaceGoal(0, (0, 0), 0.0), PlaceGoal(5, (0, 4), 90, weight=2)]
    assert [target.facing for target in person.body] == pytest.approx([0.0, math.pi / 2])
    assert person.joints == (("goals[2]", JointGoal(2, "head", (None, 1.9, None))),)
    assert person.poses == (("goals[3]", PoseGoal(3, PoseSource("walk", 3))),)
    assert person.exact == (("goals[4]", PoseGoal(1, PoseSource("walk", 9), exact=True)),)
    assert person.labels == (("goals[5]", LabelGoal(start_s=1, end_s=2, label="walk")),)
    assert [where for where, _ in person.obstacles] == [f"scene.obstacles[{n}]" for n in range(3)]
    assert [one.hips_m for _, one in person.obstacles] == [0.1, 0.3, 0.3]
    assert asked.as_document() == WHOLE
    assert read_request(SolveRequest, asked.as_document()) == asked


def test_goals_may_come_in_any_order() -> None:
    asked = read_request(SolveRequest, {**WHOLE, "goals": WHOLE["goals"][::-1]})
    assert [where for where, _ in asked.person().places] == ["goals[5]", "goals[4]"]


def test_more_effort_does_not_want_something_else() -> None:
    asked = read_request(SolveRequest, WHOLE)
    assert asked.wants_same(asked.with_(count=9, time_limit_s=60.0, work_limit=5, apart_m=2.0))
    assert not asked.wants_same(asked.with_(seed=1))
    assert not asked.wants_same(asked.with_(goals=asked.goals[:2]))


def test_quality_sets_what_is_left_at_its_default() -> None:
    asked = read_request(SolveRequest, WHOLE)
    assert asked.with_quality() == asked
    best = asked.with_(quality="best", advanced={"draws": 5}).with_quality()
    assert (best.time_limit_s, best.advanced.draws, best.advanced.sample) == (10.0, 5, 800)
    assert asked.with_(quality="draft").with_quality().time_limit_s == 1.0


def _obstacle(**change: Any) -> dict[str, Any]:
    return {"scene": {"obstacles": [change]}}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"goals": [START, {"at_s": 5, "place": [0]}]}, r"goals\[1\].place\[1\] is missing"),
        ({"goals": [START, {"at_s": 6, "place": [0, 1]}]}, r"goals\[1\].at_s is 6; it must be a number from 0 to 5"),
        ({"goals": [START, START]}, r"goals\[1\].at_s is 0, when goals\[0\] is too"),
        ({"goals": [{"at_s": 0, "place": [0, 0]}]}, r"^goals\[0\].facing_deg is missing"),
        ({"goals": [{"place": [0, 0]}]}, r"^goals\[0\].at_s is missing"),
        ({"goals": [{"at_s": 0, "facing_deg": 0}]}, r"^goals\[0\].place is missing"),
        ({"goals": [{**START, "weight": 0}]}, r"goals\[0\].weight is 0"),
        ({"goals": [{**START, "facing_deg": "north"}]}, r"goals\[0\].facing_deg is 'north'"),
        ({"goals": [{**START, "facing_deg": 1e6}]}, r"goals\[0\].facing_deg is .*from -36000 to 36000 °"),
        ({"goals": [{**START, "wieght": 1}]}, r"goals\[0\] has 'wieght', which is not known; it can have"),
        (
            {"goals": [{**START, "standing": True}]},
            r"goals\[0\].standing is nothing that solve searches for of a place",
        ),
        ({"goals": [{**START, "exact": True}]}, r"goals\[0\].exact is for poses"),
        ({"goals": [{"start_s": 0, "end_s": 1, "place": [0, 0]}]}, r"goals\[0\].start_s is for exact poses and labels"),
        ({"goals": 3}, "goals is 3; it must be a list"),
        ({"goals": [{"at_s": 1, "joint": "head"}]}, r"goals\[0\] asks for nothing; give it a position, a velocity"),
        ({"goals": [{"at_s": 1, "foot": "left"}]}, r"goals\[0\].start_s is missing"),
        (
            {"goals": [{"at_s": 1, "pause_s": 1}]},
            r"goals\[0\] is a pause goal, which solve cannot search for; follow",
        ),
        ({"goals": [{"at_s": -1, "joint": "head", "position": [1, 1, 1]}]}, r"goals\[0\].at_s is -1"),
        ({"goals": [{**HARD, "duration_s": 9}]}, r"goals\[0\].at_s is 10; .*from 0 to 5"),
        ({"goals": [{"at_s": 1, "pose": {"frame": 9}}]}, r"goals\[0\].pose.clip is missing"),
        (
            {"goals": [{"at_s": 1, "pose": {"clip": "walk", "frame": 1.5}}]},
            r"goals\[0\].pose.frame is 1.5; it must be a",
        ),
        ({"goals": [{**HARD, "place": [0, 0]}]}, r"goals\[0\].place is nothing that solve searches for of a pose"),
        ({"goals": [{"start_s": 2, "end_s": 1, "label": "x"}]}, r"goals\[0\].end_s is 1, not after"),
        ({"goals": [{"at_s": 1, "label": "x"}]}, r"goals\[0\].start_s is missing; a label holds from start_s"),
        (_obstacle(centre=[1, 1], radius_m=-1), r"scene.obstacles\[0\].radius_m is -1"),
        (_obstacle(centre=[1, 1], radius_m=1, weight=0), r"scene.obstacles\[0\].weight is 0"),
        (_obstacle(), r"scene.obstacles\[0\] must have one of circle, box, polygon"),
        (_obstacle(ends=[[0, 1], [1, 1]], base_m=1.2), r"scene.obstacles\[0\].base_m is not for solve"),
        (_obstacle(centre=[1, 1], radius_m=1, moves=[{"at_s": 1}]), r"scene.obstacles\[0\].moves is not for solve"),
        ({"scene": {"obstacles": "crowd.csv"}}, "scene.obstacles are a file of obstacles that move"),
        (
            {"scene": {"gaps": [{"centre": [1, 1], "radius_m": 1}]}},
            "scene.gaps is something that solve does not look at",
        ),
        ({"duration_s": "long"}, "duration_s is 'long'"),
        ({"duration_s": float("nan")}, "duration_s is nan"),
        ({"min_piece_s": 6}, "min_piece_s is 6; it must be a number from 0 to 5 s"),
    ],
)
def test_mistakes_are_named_by_their_place(change: dict[str, Any], said: str) -> None:
    with pytest.raises(RequestError, match=said):
        read_request(SolveRequest, {**WHOLE, **change})


def test_arrays_and_their_numbers_are_as_good_as_tuples() -> None:
    whole, half = np.int64(2), np.float32(0.5)
    made = SolveRequest(
        np.float32(5.0),
        [
            PlaceGoal(half, np.zeros(2), half),
            PlaceGoal(np.array(3.0), np.array([1, 2]), weight=whole),
            JointGoal(whole, "head", np.array([0, 1, half]), [None, half, None]),
            PoseGoal(whole, PoseSource("walk", np.int32(9)), exact=True),
        ],
        Scene(np.array([Obstacle(centre=np.ones(2), radius_m=half), Obstacle(corners=np.eye(3)[:, :2])])),
        min_piece_s=half,
    )
    plain = SolveRequest(
        5.0,
        (
            PlaceGoal(0.5, (0, 0), 0.5),
            PlaceGoal(3, (1, 2), weight=2),
            JointGoal(2, "head", (0, 1, 0.5), (None, 0.5, None)),
            PoseGoal(2, PoseSource("walk", 9), exact=True),
        ),
        Scene((Obstacle(centre=(1, 1), radius_m=0.5), Obstacle(corners=((1, 0), (0, 1), (0, 0))))),
        min_piece_s=0.5,
    )
    assert made == plain and type(made.person().exact[0].value.pose.frame) is int
    poses = (PoseSource("x", 1), PoseSource("y", 2))
    met = Meeting(whole, ["a", "b"], list(poses), offset=Offset(half, 0, 0))
    assert met == Meeting(2, ("a", "b"), poses, offset=Offset(0.5, 0, 0))


def test_something_must_be_asked_for() -> None:
    with pytest.raises(RequestError, match="nothing is asked for"):
        SolveRequest(5.0, (PlaceGoal(0, (0, 0), 0.0),)).person().check()


def test_files_that_are_no_requests(tmp_path: Path) -> None:
    file = tmp_path / "r.json"
    for text, said in (
        ('{"duration_s": 5,\n oops}', "r.json, line 2: not JSON"),
        (" \n", "r.json: duration_s is missing"),
        ("[]", r"r.json: a request is an object with names and values; found \[\]"),
        ('{"duration_s": 5,\n"goals": [\n{"at_s": 9}]}', r"r.json, line 3: goals\[0\] is .*; it must be a goal"),
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
        duration_s: 5
        min_piece_s: 0.5
        goals:
          - {at_s: 0, place: [0, 0], facing_deg: 0}
          - at_s: 5
            place: [0, 4]
            facing_deg: 90
            weight: 2
          - {at_s: 2, joint: head, position: [null, 1.9, ~]}
          - {at_s: 1, pose: {clip: walk, frame: 9}, exact: true, duration_s: 1.5}
        """
    )
    asked, whole = read_request_file(SolveRequest, file), read_request(SolveRequest, WHOLE)
    assert asked.goals[:3] == whole.goals[:3]
    assert asked.goals[3] == PoseGoal(1, PoseSource("walk", 9), exact=True, duration_s=1.5)


def test_the_requests_of_the_documentation_are_requests(tmp_path: Path) -> None:
    guide = (Path(__file__).parents[4] / "docs" / "solve.md").read_text("utf-8")
    asked = []
    for text in re.findall(r"```yaml\n(.*?)```", guide, re.S):
        (tmp_path / "r.yaml").write_text(text)
        asked.append(read_request_file(SolveRequest, tmp_path / "r.yaml"))
    assert [each.people() for each in asked] == [[], ["ben", "anna"]]
    assert asked[1].meet[0].poses == (PoseSource("60_03", 200), PoseSource("61_03", 200))


def test_functions_are_loaded_only_where_that_is_allowed(tmp_path: Path) -> None:
    (tmp_path / "style.py").write_text(
        f"from pathlib import Path\nPath({str(tmp_path / 'ran')!r}).touch()\nx = 3\ndef low(c):\n    return x\n"
    )
    (tmp_path / "bad.py").write_text("raise ValueError('no')")
    file = tmp_path / "r.json"

    def load(named: object, **how: bool) -> SolveRequest:
        file.write_text(json.dumps({"duration_s": 5, "goals": [START, {"function": named, "weight": 2}]}))
        return read_request_file(SolveRequest, file, **how)

    with pytest.raises(
        RequestError, match=r"goals\[1\].function is 'style.py:low': that runs the code in style.py; .*allow_code"
    ):
        load("style.py:low")
    assert not (tmp_path / "ran").exists()
    asked = load("style.py:low", allow_code=True)
    [(where, goal)] = asked.person().costs
    assert (tmp_path / "ran").exists() and (where, goal.label, goal.weight) == ("goals[1]", "low", 2)
    assert goal.function(None) == 3
    assert asked.as_document()["goals"][1] == {"function": "style.py:low", "weight": 2}
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


POSES = [{"clip": "a", "frame": 7}, {"clip": "b", "frame": 8}]
GROUP: dict[str, Any] = {
    "duration_s": 5,
    "scene": {"obstacles": [{"centre": [1, 2], "radius_m": 1}]},
    "min_piece_s": 0.5,
    "characters": {
        "anna": {"goals": [START]},
        "ben": {"graph": "ben.mog", "scene": {}, "min_piece_s": 0.4, "weights": {"cut": 0.1}},
        "carl": None,
    },
    "meet": [{"at_s": 3, "who": ["anna", "ben"], "poses": POSES, "duration_s": 1}],
}


def test_several_characters_share_what_is_said_beside_them() -> None:
    asked = read_request(SolveRequest, GROUP)
    assert asked.people() == ["anna", "ben", "carl"] and asked.alone("carl").duration_s == 5
    assert [len(asked.person(name).obstacles) for name in asked.people()] == [1, 0, 1]
    assert asked.person("anna").obstacles[0].where == "scene.obstacles[0]"
    assert asked.person("anna").places[0].where == "characters.anna.goals[0]"
    assert [asked.alone(name).min_piece_s for name in asked.people()] == [0.5, 0.4, 0.5]
    assert [asked.alone(name).advanced.weights.cut for name in asked.people()] == [0.006, 0.1, 0.006]
    assert asked.alone("anna").people() == [] and asked.alone("anna").meet == ()
    there = asked.resolved(Path("there")).characters
    assert there["ben"] is not None and there["ben"].graph == str(Path("there/ben.mog")) and there["carl"] is None
    assert asked.meet == (Meeting(3, ("anna", "ben"), (PoseSource("a", 7), PoseSource("b", 8)), 1),)
    assert read_request(SolveRequest, asked.as_document()) == asked
    placed = {**GROUP["meet"][0], "place": [1, 2], "facing_deg": 90,
              "offset": {"left_m": 0.5, "ahead_m": 1, "turned_deg": 180}}  # fmt: skip
    meeting = read_request(SolveRequest, {**GROUP, "meet": [placed]}).meet[0]
    assert meeting.place == (1, 2) and meeting.facing == pytest.approx(math.pi / 2)
    assert meeting.offset == Offset(0.5, 1, 180) and meeting.offset.turned == pytest.approx(math.pi)


def _meet(**change: Any) -> dict[str, Any]:
    return {"meet": [{**GROUP["meet"][0], **change}]}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"characters": 3}, "characters is 3; it must be an object"),
        ({"characters": {}}, r"meet\[0\].who has 'anna', which is no character; there are: none"),
        ({"characters": {"anna": {"min_piece_s": 6}}}, r"characters.anna.min_piece_s is 6; .*from 0 to 5 s"),
        ({"characters": {"anna": {"goals": [{**START, "at_s": 9}]}}}, r"characters.anna.goals\[0\].at_s is 9"),
        ({"characters": {"anna": {"duration_s": 3}}}, "characters.anna has 'duration_s', which is not known"),
        ({"characters": {"anna": {"graph": 3}}}, "characters.anna.graph is 3"),
        (
            {"characters": {"anna": {"scene": {"floor_m": 1}}}},
            r"^characters.anna.scene.floor_m is something that solve",
        ),
        ({"goals": [START]}, "^goals is given beside characters; give it to one of them"),
        ({"meet": [{"at_s": 3}]}, r"meet\[0\].who is missing"),
        (_meet(who=["anna"]), r"meet\[0\].who\[1\] is missing"),
        (_meet(poses=POSES[:1]), r"meet\[0\].poses\[1\] is missing"),
        (_meet(poses=[{"frame": 3}, POSES[1]]), r"meet\[0\].poses\[0\].clip is missing"),
        (
            _meet(poses=[{"clip": "a", "frame": 1.5}, POSES[1]]),
            r"meet\[0\].poses\[0\].frame is 1.5; it must be a whole",
        ),
        (_meet(place="here", facing_deg=0), r"meet\[0\].place is 'here'"),
        (_meet(offset={"left_m": 1}), r"meet\[0\].offset.ahead_m is missing"),
        (_meet(offset={"left_m": "x", "ahead_m": 1, "turned_deg": 0}), r"meet\[0\].offset.left_m is 'x'"),
        (_meet(offset={"left_m": 1, "ahead_m": 1, "turned_deg": None}), r"meet\[0\].offset.turned_deg is None"),
        (_meet(place=[0, 0]), r"meet\[0\].facing_deg is missing; give place and"),
        (_meet(facing_deg=9), r"meet\[0\].place is missing"),
        (_obstacle(centre=[1, 2], radius_m=0), r"^scene.obstacles\[0\].radius_m is 0"),
        ({"duration_s": "long"}, "^duration_s is 'long'"),
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
    for document in (WHOLE, GROUP, {**WHOLE, "goals": [{"function": "style.py:low"}]}):
        assert not list(check.iter_errors(document))
    for wrong in ({"duration_s": "long"}, {"goals": [{"at_s": -1, "place": [0, 0]}]}, {"characters": {"a": {"x": 1}}}):
        assert list(check.iter_errors({**WHOLE, **wrong}))
    assert schema["required"] == ["duration_s"] and schema["properties"]["duration_s"]["unit"] == "s"
    for model in (SolveRequest, Character, Meeting):
        for name, field in model.model_fields.items():
            assert field.description, f"{model.__name__}.{name} is not explained"


def test_functions_in_python_have_a_name_in_documents() -> None:
    asked = SolveRequest(5.0, (PlaceGoal(0, (0, 0), 0.0), CostGoal(function=math.sqrt)))
    assert asked.as_document()["goals"][1] == {"function": "math:sqrt"}
    json.dumps(asked.as_document())
