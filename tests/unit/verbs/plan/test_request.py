"""Requests of version 0.1, options, and what a quality sets."""

from __future__ import annotations

import choreograph as cg
from choreograph.cli.options import collect, parameters
from choreograph.verbs.options import entries
from choreograph.verbs.plan.request import PlanRequest

OLD = {
    "start": {"position": [1, -1], "standing": True},
    "goal": {"position": [0, 5], "radius": 0.2, "facing_deg": 10, "tolerance_deg": 5},
    "through": [{"ends": [[-1, 2], [1, 2]]}, {"position": [0, 3], "radius": 0.4}],
    "obstacles": [
        {"circle": {"centre": [0.4, 2.5], "radius": 0.4}, "height": 0.8, "clearance": 0.1},
        {"box": {"low": [2, 2], "high": [3, 3]}},
    ],
    "bars": [{"ends": [[-1, 4], [1, 4]], "height": 1.3, "thickness": 0.1}],
    "step_over": [{"polygon": {"corners": [[0, 0], [1, 0], [0, 1]]}, "height": 0.2}],
    "stones": [{"circle": {"centre": [0, 1], "radius": 0.1}}],
    "path": {"points": [[1, -1], [0, 5]], "within": 3},
    "seconds": 5,
    "evaluations": 1000,
    "within": 1.2,
    "search": {"lattice_m": 0.1, "refine": False},
}
NEW = {
    "start": {"place": [1, -1], "standing": True},
    "goals": [
        {"ends": [[-1, 2], [1, 2]]},
        {"place": [0, 3], "tolerance_m": 0.4},
        {"place": [0, 5], "tolerance_m": 0.2, "facing_deg": 10, "tolerance_deg": 5},
    ],
    "scene": {
        "obstacles": [
            {"centre": [0.4, 2.5], "radius_m": 0.4, "height_m": 0.8, "clearance_m": 0.1},
            {"low": [2, 2], "high": [3, 3]},
            {"ends": [[-1, 4], [1, 4]], "base_m": 1.3, "thickness_m": 0.1},
        ],
        "step_over": [{"corners": [[0, 0], [1, 0], [0, 1]], "height_m": 0.2}],
        "stones": [{"centre": [0, 1], "radius_m": 0.1}],
    },
    "path": {"points": [[1, -1], [0, 5]], "tolerance_m": 3},
    "time_limit_s": 5,
    "work_limit": 1000,
    "bound_ratio": 1.2,
    "advanced": {"lattice_m": 0.1, "refine": False},
}


def test_requests_of_version_0_1_mean_the_same() -> None:
    assert cg.read_request(PlanRequest, OLD) == cg.read_request(PlanRequest, NEW)
    assert cg.read_request(PlanRequest, NEW).as_document().keys() == NEW.keys()
    drawn = cg.read_request(PlanRequest, {"drawing": "room.svg"})
    assert drawn.scene.drawing == "room.svg" and drawn.goals == ()


def test_options_of_start_and_goal_are_told_apart() -> None:
    names = [name for entry in entries(PlanRequest) for name in entry.names]
    assert len(names) == len(set(names))
    assert {"--start-facing", "--start-standing", "--goal-facing", "--goal-standing", "--path"} <= set(names)
    assert parameters(PlanRequest, from_file=True)
    document = {"goals": [{"place": [0, 1]}, {"place": [0, 4]}]}
    values = {"start__facing_deg": 20.0, "goals__last__facing_deg": 30.0, "path": "line:length=4,tolerance=0.8"}
    request = cg.read_request(PlanRequest, collect(PlanRequest, values, document))
    assert request.start.facing_deg == 20 and request.path is not None and request.path.tolerance_m == 0.8
    assert [getattr(goal, "facing_deg", None) for goal in request.goals] == [None, 30.0]


def test_a_quality_sets_what_is_left_at_its_default() -> None:
    request = PlanRequest(goals=[{"place": (0.0, 1.0)}], quality="draft").with_quality()
    assert request.time_limit_s == 2.0 and not request.advanced.refine
    assert request.with_(quality="best", time_limit_s=7.0).with_quality().time_limit_s == 7.0
