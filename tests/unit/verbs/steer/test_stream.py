"""The stream: hello, frames that the client reads back, messages that are refused, recordings that are requests."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from tests.unit.verbs.steer.conftest import NAMES

import choreograph as cg
from choreograph.demo import demo_clip
from choreograph.steer_client import read_frame
from choreograph.verbs.steer.avoid import Avoid
from choreograph.verbs.steer.controller import SteerPolicy
from choreograph.verbs.steer.frame_pool import FramePool
from choreograph.verbs.steer.policy import ValueFunction
from choreograph.verbs.steer.stream import SteerStream


@pytest.fixture
def stream(policy: SteerPolicy, pool: FramePool) -> SteerStream:
    return SteerStream(policy, pool, 30.0)


def test_a_frame_is_read_back_as_it_was(stream: SteerStream) -> None:
    assert stream.hear({"type": "add", "x": 2.0, "z": 1.0, "heading_deg": 45}) == {"type": "added", "character": 1}
    hello = json.loads(json.dumps(stream.hello()))
    stream.dropped = 3
    data = stream.tick()
    assert len(data) == hello["header_bytes"] + 2 * hello["character_bytes"]
    frame, poses = read_frame(data), stream.crowd.poses()
    assert (frame.number, frame.dropped) == (1, 3)
    assert frame.seconds == pytest.approx(1 / 30)
    assert np.allclose(frame.root_pos, poses.root_pos, atol=1e-5)
    assert np.allclose(frame.local_rot, poses.local_rot, atol=1e-6)
    assert np.array_equal(frame.feet, poses.held)
    assert hello["clips"][frame.clip[1]] in stream.policy.costs.steps.names
    with pytest.raises(cg.FormatError):
        read_frame(data[:-4])


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ([], "an object with a"),
        ({"type": "dance"}, "there is no message 'dance'"),
        ({"type": "goal", "heading_deg": "north"}, "heading_deg"),
        ({"type": "goal", "heading_deg": math.nan}, "heading_deg"),
        ({"type": "goal", "speed": -2}, "speed"),
        ({"type": "goal", "character": 7}, "no character 7"),
        ({"type": "goal", "character": True}, "whole number"),
        ({"type": "goal", "points": [[0, 0]]}, "points"),
        ({"type": "goal", "points": [[0, 0], [1, "x"]]}, "points"),
        ({"type": "goal", "gait": "swim"}, "no step is a 'swim'"),
        ({"type": "obstacles", "obstacles": [{"x": 1}]}, "x and z"),
        ({"type": "obstacles", "obstacles": [{"x": 1, "z": 1, "radius": -1}]}, "radius"),
        ({"type": "obstacles", "obstacles": [{}] * 65}, "at most 64"),
        ({"type": "record", "on": False}, "nothing is being recorded"),
    ],
)
def test_what_cannot_be_meant_is_refused_and_nothing_changes(stream: SteerStream, message: object, said: str) -> None:
    before = stream.crowd.characters[0].goal
    with pytest.raises(cg.RequestError, match=said):
        stream.hear(message)
    assert stream.crowd.characters[0].goal is before


def test_plan_and_map_are_about_the_character(stream: SteerStream) -> None:
    stream.hear({"type": "goal", "x": 0.0, "z": 0.0, "heading_deg": 0.0})
    for _ in range(60):
        stream.tick()
    plan = stream.hear({"type": "plan"})
    assert plan is not None and len(plan["places"]) == 5
    assert plan["places"][-1][1] > plan["places"][0][1]
    heat = stream.hear({"type": "heat"})
    assert heat is not None and len(heat["cells"]) == heat["size"] ** 2
    rows = np.array(heat["cells"]).reshape(heat["size"], -1)
    middle = heat["size"] // 2
    assert rows[middle, middle] < rows[middle, 0] and rows[middle, middle] < rows[middle, -1]


def test_a_recording_is_a_request_for_exactly_the_same_motion(policy: SteerPolicy, pool: FramePool) -> None:
    task = Avoid()
    value = ValueFunction("avoid", task.basis, np.zeros(task.basis.size), np.zeros(len(policy.costs.steps.cut_foot)))
    both = SteerPolicy(policy.costs, {**policy.tasks, "avoid": task}, {**policy.values, "avoid": value})
    stream = SteerStream(both, pool, 30.0)
    stream.hear({"type": "add", "x": 1.0, "z": 0.5, "heading_deg": 20})
    stream.hear({"type": "goal", "character": 1, "heading_deg": 10.0})
    for _ in range(17):
        stream.tick()
    assert stream.hear({"type": "record", "on": True, "character": 1}) == {
        "type": "recording", "on": True, "character": 1,
    }  # fmt: skip
    assert len(stream.crowd.characters) == 2, "the others stay"
    shown = [stream.crowd.poses().layers[1]]
    for k in range(1, 150):
        x, _, z = stream.crowd.poses().root_pos[1]
        if k == 40:
            stream.hear({"type": "goal", "character": 0, "heading_deg": 200.0})
            stream.hear({"type": "goal", "character": 1, "heading_deg": 80.0, "speed": 1.3})
        if k in (60, 63):  # put into the way, then dragged
            said = {"x": float(x) + 1.2 + 0.01 * k, "z": float(z), "radius": 0.6, "vx": -0.3 * (k == 63)}
            stream.hear({"type": "obstacles", "obstacles": [said]})
        if k == 130:
            stream.hear({"type": "obstacles", "obstacles": []})
        stream.tick()
        shown.append(stream.crowd.poses().layers[1])
    said = stream.hear({"type": "record", "on": False})
    assert said is not None and len(said["request"]["scene"]["obstacles"][0]["moves"]) == 4
    request = cg.read_request(cg.SteerRequest, json.loads(json.dumps(said["request"])))
    graph = cg.build_graph([demo_clip(name, 30.0) for name in NAMES])
    search = cg.SteerSearch(graph, request, policy=both)
    result = search.run()
    again = np.array([frame[0] for frame in search._recording._layers])
    assert np.allclose(again, np.array(shown)[: len(again)], atol=1e-9) and len(again) == 149
    assert result.clip.seconds > 4.9


def test_a_plan_has_poses_on_the_floor(stream: SteerStream) -> None:
    for _ in range(30):
        stream.tick()
    plan = stream.hear({"type": "plan", "poses": True})
    assert plan is not None and len(plan["poses"]) == len(plan["places"])
    for (x, z, _), row in zip(plan["places"], plan["poses"], strict=True):
        assert len(row) == 3 + 4 * len(stream.pool.skeleton)
        assert math.hypot(row[0] - x, row[2] - z) < 0.2


def test_a_recording_holds_so_much(stream: SteerStream, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("choreograph.verbs.steer.stream._KEPT_POINTS", 5)
    goal = {"type": "goal", "points": [[0, 0], [0, 1], [0, 2]]}
    stream.hear({"type": "record", "on": True})
    stream.hear(goal)
    with pytest.raises(cg.RequestError, match="5 points"):
        stream.hear(goal)
    assert len(stream.hear({"type": "record"})["request"]["goals"]) == 1  # type: ignore[index]
    stream.hear({"type": "record", "on": True})
    stream.hear(goal)


def test_what_is_learned_meanwhile_is_adopted_and_only_then_recorded(policy: SteerPolicy, pool: FramePool) -> None:
    quick = replace(policy.values["navigate"], report={"first": True})
    stream = SteerStream(SteerPolicy(policy.costs, policy.tasks, {"navigate": quick}), pool)
    with pytest.raises(cg.RequestError, match="still being learned"):
        stream.hear({"type": "record", "on": True})
    said = stream.adopt(policy)
    assert said["type"] == "learned" and said["reports"]["navigate"]["coverage"] > 0
    assert stream.crowd.characters[0].policy is policy
    stream.tick()
    answer = stream.hear({"type": "record", "on": True})
    assert answer is not None and answer["on"]
