"""Goals and scripts: what is read, what is refused, and where a character is to a line."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import choreograph as cg
from choreograph.scene.obstacle_file import read_tracks
from choreograph.verbs.steer.goals import Line, SteerGoal, obstacle_at
from choreograph.verbs.steer.moments import as_goals, join_goals, read_script


def test_a_script_is_read_with_blanks_left_open(tmp_path: Path) -> None:
    file = tmp_path / "goals.csv"
    file.write_text("t,x,z,heading_deg,speed,gait\n0,0,0,90,,walk\n2.5,,,,1.2,\n", encoding="utf-8")
    (first, goal, _), (second, later, fields) = read_script(file)
    assert (first, second) == (0.0, 2.5) and fields["speed"] == "goals"
    assert goal.heading == pytest.approx(math.pi / 2) and goal.label == "walk" and goal.speed is None
    assert later.x is None and later.heading is None and later.speed == 1.2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("t,x,z,heading\n0,0,0,0\n", "no column 'heading_deg'"),
        ("t,x,z,heading_deg,speed,style\n", "column 'style'"),
        ("t,x,z,heading_deg,speed\n0,nan,0,0,1\n", "line 2: x is 'nan'"),
        ("t,x,z,heading_deg,speed\n0,0,0,north,1\n", "heading_deg is 'north'"),
        ("t,x,z,heading_deg,speed\n1,0,0,0,1\n0,0,0,0,1\n", "line 3: t is 0, before 1"),
        ("t,x,z,heading_deg,speed\n0,0,0,0,-1\n", "speed is -1"),
        ("t,x,z,heading_deg,speed\n0,0,,0,1\n", "x and z, or neither"),
        ("t,x,z,heading_deg,speed\n", "no goal"),
    ],
)
def test_a_wrong_script_is_refused_with_its_line(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "goals.csv"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(cg.FormatError, match=said):
        read_script(file)


def test_goals_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(cg.RequestError, match="heading is nan"):
        cg.SteerGoal(heading=math.nan)
    with pytest.raises(cg.RequestError, match="speed"):
        cg.SteerGoal(speed=math.inf)
    with pytest.raises(cg.RequestError, match="heading is north"):
        cg.SteerGoal(heading="north")  # type: ignore[arg-type]


@pytest.mark.parametrize("field", ["at_s", "heading_deg", "speed_m_s", "torso_deg", "turn_deg_s", "place"])
@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_goals_of_a_request_that_are_no_numbers_are_refused(field: str, value: float) -> None:
    goal = {field: [value, 0.0] if field == "place" else value}
    with pytest.raises(cg.RequestError, match=field):
        cg.read_request(cg.SteerRequest, {"goals": [{"label": "walk"} | goal if field == "at_s" else goal]})


def test_offset_is_positive_to_the_left_and_angles_grow_to_the_left() -> None:
    line = Line(cg.SteerGoal(0.0, 0.0, 0.0))
    assert np.allclose(line.state(np.array([0.3, 0.5, 7.0])), [0.5, 0.3, 0.0])
    back = Line(cg.SteerGoal(0.0, 0.0, math.pi))
    assert np.allclose(back.state(np.array([math.pi, 0.5, 7.0])), [-0.5, 0.0, 0.0])


def test_a_drawn_circle_has_its_curvature() -> None:
    path = cg.load_path("circle:radius=2")
    line = Line(cg.SteerGoal(path=path))
    tangent, place = path.tangent(1.0), path.at(1.0)
    offset, angle, curvature = line.state(np.array([math.atan2(tangent[0], tangent[1]), *place]))
    assert abs(offset) < 0.02 and abs(angle) < 0.05 and abs(curvature) == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("laps", [1, 3])
@pytest.mark.parametrize("ahead", [-0.1, 0.0, 0.1])
def test_a_closed_path_is_followed_from_its_start(laps: int, ahead: float) -> None:
    at = np.linspace(0, 2 * math.pi * laps, 400 * laps)
    line = Line(cg.SteerGoal(path=cg.Path(np.stack([4 - 4 * np.cos(at), 4 * np.sin(at)], axis=1))))
    line.state(np.array([0.0, 0.01, ahead]))
    assert not line.ended
    for angle in np.arange(0.1, 2 * math.pi * laps - 0.1, 0.1):
        offset, _, curvature = line.state(np.array([angle, 4 - 4 * math.cos(angle), 4 * math.sin(angle)]))
        assert abs(offset) < 0.02
    assert abs(curvature) < 0.3


def test_obstacles_move_between_their_rows_and_on_behind_the_last(tmp_path: Path) -> None:
    file = tmp_path / "others.csv"
    file.write_text("t,id,x,z,radius\n0,a,0,0,0.6\n2,a,2,0,0.6\n0,b,1,1,0.5\n", encoding="utf-8")
    tracks = read_tracks(file)
    assert set(tracks) == {"a", "b"}
    one, other = obstacle_at(tracks["a"], 3.0), obstacle_at(tracks["b"], 9.0)
    assert one == cg.MovingObstacle(3.0, 0.0, 0.6, 1.0, 0.0)
    assert obstacle_at(tracks["a"], -1.0) == cg.MovingObstacle(0.0, 0.0, 0.6, 1.0, 0.0)
    assert other == cg.MovingObstacle(1.0, 1.0, 0.5)


def test_a_dragged_obstacle_is_there_from_when_it_was_put_there() -> None:
    rows = [[0, 0, 0, 0, 0, 0], [2, 1, 3, 0.6, 0.5, 0], [4, 2, 3, 0.6, 0, 0], [5, 0, 0, 0, 0, 0]]
    request = cg.read_request(cg.SteerRequest, {"moving": [{"dragged": rows}]})
    ((_, track),) = request.tracks().items()
    assert [obstacle_at(track, t) is None for t in (0, 1.9, 2, 4.9, 5, 9)] == [True, True, False, False, True, True]
    assert obstacle_at(track, 3.0) == cg.MovingObstacle(1.5, 3.0, 0.6, 0.5, 0.0)
    with pytest.raises(cg.RequestError, match="before 4 s"):
        cg.read_request(cg.SteerRequest, {"moving": [{"dragged": [rows[2], rows[1]]}]})


def test_obstacles_are_discs_that_the_hips_or_the_body_keep_clear_of() -> None:
    disc = {"centre": (1.0, 2.0), "radius_m": 0.5}
    request = cg.SteerRequest(scene={"obstacles": [disc | {"of": "hips"}, disc | {"clearance_m": 0.1}]})
    assert [track[0, 3] for track in request.tracks().values()] == pytest.approx([0.5, 0.9])
    for other in ({"low": (0, 0), "high": (1, 1)}, disc | {"base_m": 1.5}):
        with pytest.raises(cg.RequestError, match="no disc") as caught:
            cg.SteerRequest(scene={"obstacles": [other]})
        assert caught.value.where == "scene.obstacles[0]"


def test_goals_with_one_time_hold_together_until_the_next() -> None:
    goals = [
        {"place": (0.0, 1.0), "heading_deg": 90.0}, {"speed_m_s": 1.3, "torso_deg": 180.0},
        {"at_s": 2.0, "label": "run"}, {"start_s": 1.0, "end_s": 3.0, "speed_m_s": 2.0},
    ]  # fmt: skip
    whole = SteerGoal(0.0, 1.0, math.pi / 2, 1.3, None, math.pi)
    faster = SteerGoal(0.0, 1.0, math.pi / 2, 2.0, None, math.pi)
    moments = cg.SteerRequest(goals=goals).moments()
    assert [(moment.at_s, moment.goal) for moment in moments] == [
        (0.0, whole), (1.0, faster), (2.0, SteerGoal(speed=2.0, label="run")), (3.0, SteerGoal(label="run")),
    ]  # fmt: skip
    assert moments[2].fields == {"label": "goals[2].label", "speed": "goals[3].speed_m_s"}


@pytest.mark.parametrize(
    ("goals", "where", "text"),
    [
        ([{"at_s": 2, "label": "run"}, {"at_s": 1, "label": "walk"}], "goals[1].at_s", "before 2"),
        ([{"label": "run"}, {"label": "walk"}], "goals[1].label", "beside goals\\[0\\].label for the same time"),
        ([{"facing_deg": 3}], "goals[0].facing_deg", "steer heeds"),
        ([{"label": "run", "start_m": 1, "end_m": 2}], "goals[0].start_m", "steer heeds"),
        ([{"label": "run", "weight": 2}], "goals[0].weight", "steer heeds"),
        ([{"pause_s": 1}], "goals[0]", "follow can"),
    ],
)
def test_goals_that_steering_cannot_heed_are_refused(goals: list[dict[str, Any]], where: str, text: str) -> None:
    with pytest.raises(cg.RequestError, match=text) as caught:
        cg.SteerRequest(goals=goals)
    assert caught.value.where == where


@pytest.mark.parametrize("free", [(), (0,), (1,), (2,), (0, 1), (1, 2), (0, 1, 2)])
def test_moments_become_goals_and_moments_again(free: tuple[int, ...]) -> None:
    """Also those from which on nothing is wanted."""
    wanted = [
        SteerGoal(1.0, 2.0, 0.5, turn=0.25),
        SteerGoal(heading=-1.0, speed=1.5, label="run"),
        SteerGoal(speed=0.0),
    ]
    moments = [(float(n), SteerGoal() if n in free else goal) for n, goal in enumerate(wanted)]
    request = cg.read_request(cg.SteerRequest, {"goals": as_goals(moments, 9.0)})
    again = join_goals(request.goals)
    for at in (0.0, 1.0, 2.0):
        held = [moment.goal for moment in again if moment.at_s <= at]
        goal = held[-1] if held else SteerGoal()
        for name, value in vars(moments[int(at)][1]).items():
            assert getattr(goal, name) == (value if isinstance(value, str | None) else pytest.approx(value))


def test_a_closed_path_is_gone_round_and_round() -> None:
    """Who comes to its end is at its beginning; the line does not go straight on from there."""
    line = Line(cg.SteerGoal(path=cg.named_path("circle", radius=2)))
    for angle in np.arange(0.0, 3.5 * math.tau, 0.1):
        place = np.array([angle, 2 - 2 * math.cos(angle), 2 * math.sin(angle)])
        offset, off, curvature = line.state(place)
        assert abs(offset) < 0.01 and abs(off) < 0.05 and curvature == pytest.approx(0.5, abs=0.05)
    assert not line.ended


def test_a_path_there_and_back_ends() -> None:
    line = Line(cg.SteerGoal(path=cg.Path([(0, 0), (0, 3), (0.05, 3), (0.05, 0)])))
    for z in [*np.arange(0.0, 3.0, 0.1), *np.arange(3.0, -2.0, -0.1)]:
        line.state(np.array([0.0, 0.02, z]))
    assert line.ended
