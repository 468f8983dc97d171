"""What is asked along a path: goals on stretches of it, at places of it, or on all of it."""

from __future__ import annotations

from typing import Any

import pytest

import choreograph as cg
from choreograph.base.errors import RequestError
from choreograph.contract.migrate import migrate
from choreograph.scene.path import Stretch


def test_goals_hold_on_stretches_at_places_and_on_the_whole_path() -> None:
    goals = ({"start_m": 1, "end_m": 30, "label": "run"}, {"at_m": 4, "pause_s": 1}, {"speed_m_s": 2})
    path = cg.FollowRequest("line:length=10", goals=goals).floor_path()
    assert path.stretches == (Stretch(0, 10, speed=2), Stretch(1, 10, label="run"), Stretch(4, 4, pause=1))
    assert cg.FollowRequest("line:length=3", goals=({"start_m": 4, "end_m": 5, "label": "run"},)).floor_path()
    assert cg.FollowRequest.of_path(path).floor_path().stretches == path.stretches


@pytest.mark.parametrize(
    ("goal", "why"),
    [
        ({"label": "run", "at_m": 1}, r"goals\[0\].at_m is one place; a label needs a stretch"),
        ({"label": "run", "at_s": 1}, r"goals\[0\].at_s is a time"),
        ({"label": "run", "weight": 2}, r"goals\[0\].weight is nothing that follow weighs"),
        ({"turn_deg_s": 3}, r"goals\[0\].turn_deg_s is nothing that follow searches for"),
        ({"speed_m_s": 0}, r"goals\[0\].speed_m_s must be above 0"),
        ({"pause_s": 1}, r"goals\[0\].at_m is missing"),
        ({"place": (0, 1)}, r"goals\[0\] is a place goal, which follow cannot search for; solve, plan"),
    ],
)
def test_what_is_not_searched_for_is_refused(goal: dict[str, Any], why: str) -> None:
    with pytest.raises(RequestError, match=why):
        cg.FollowRequest("line", goals=(goal,))


def test_stretches_of_0_1_become_goals() -> None:
    run = {"start_m": 1, "stop_m": 2, "label": "run", "speed_m_s": 3}
    today, notes = migrate("follow", {"path": "line", "stretches": [run, {"start_m": 5, "pause_s": 1}]})
    there = {"start_m": 1, "end_m": 2}
    assert today["goals"] == [{**there, "label": "run"}, {**there, "speed_m_s": 3}, {"at_m": 5, "pause_s": 1}]
    assert notes == ["stretches are now in goals"]
