from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from choreograph.base.errors import FormatError, RequestError
from choreograph.features.points import TRACK, TRACK_HALF_M, find_points, hip_track
from choreograph.motion.clip import Clip
from choreograph.verbs.perform.control import control_from_trajectory
from choreograph.verbs.perform.examples import build_segments, root_example
from choreograph.verbs.perform.trajectory import Trajectory, even_trajectory, read_trajectory


def write(path: Path, rows: list[str]) -> Path:
    path.write_text("t,x,z\n" + "\n".join(rows) + "\n")
    return path


def test_a_file_is_brought_to_an_even_rate(tmp_path: Path):
    path = write(tmp_path / "hand.csv", ["0,0,0", "0.1,0.1,0", "", "# a note", "0.25,0.25,0", "0.4,0.4,0"])
    way = read_trajectory(path, fps=20)
    assert way.places == pytest.approx(np.stack([np.arange(9) / 20, np.zeros(9)], axis=1))
    assert way.name == "hand" and way.bridged_s == 0


def test_short_gaps_are_bridged_and_told(tmp_path: Path):
    rows = [f"{t / 30:.4f},{t / 30:.4f},0" for t in range(60)]
    rows[20:26] = [f"{t / 30:.4f},nan," for t in range(20, 26)]
    way = read_trajectory(write(tmp_path / "a.csv", rows))
    assert way.bridged_s == pytest.approx(7 / 30, abs=1e-3)
    assert way.speeds == pytest.approx(np.ones(60), abs=1e-2)


@pytest.mark.parametrize(
    ("rows", "bridged", "left_out"),
    [
        (["0,0,0", "2,0,1"], 0.0, 0.0),  # its own step is 2 s
        (["0,0,0", "0.1,0,0", "0.2,nan,0", "0.3,0,0"], 0.2, 0.0),
        (["0,0,0", "0.1,0,0", "0.2,0,0", "0.5,0,0"], 0.3, 0.0),
        (["0,,", "1,0,0", "2,0,1", "3,0,nan"], 0.0, 2.0),
    ],
)
def test_gaps_are_told_against_the_usual_step(tmp_path: Path, rows: list[str], bridged: float, left_out: float):
    way = read_trajectory(write(tmp_path / "a.csv", rows)).smoothed(0.1)
    assert (way.bridged_s, way.left_out_s) == pytest.approx((bridged, left_out))


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        (["0,0,0", "1,0,nan", "2,0,1"], r"bad\.csv: nothing is known for 2.00 s from 0.00 s on"),
        (["0,0,0", "0.3,0,0", "0.6,0,0", "1.5,0,0"], "nothing is known for 0.90 s from 0.60 s on"),
        (["0,0,0", "0.1,zwei,0"], "line 3.*'zwei' is no number"),
        (["0,0,0", "0,1,1"], "line 3.*time goes from 0 s back"),
        (["0,0,0", "1,2"], "a row is t, x, z"),
        (["0,0,0"], "two or more places; found 1"),
        (["0,0,0", "0.1,0,0", "0.2,0,0", "3.2,0,0"], "nothing is known for 3.00 s from 0.20 s on"),
        (["0,0,0", "0.1,9e9,0"], "are they in metres"),
    ],
)
def test_bad_files_get_a_sentence(tmp_path: Path, rows: list[str], what: str):
    with pytest.raises(FormatError, match=what):
        read_trajectory(write(tmp_path / "bad.csv", rows))


def test_a_missing_file_gets_a_sentence(tmp_path: Path):
    with pytest.raises(FormatError, match="cannot be read"):
        read_trajectory(tmp_path / "none.csv")


def test_smoothing_keeps_ends_and_straight_lines():
    t = np.arange(90) / 30
    line = even_trajectory(t, np.stack([t, 2 * t], axis=1))
    assert line.smoothed(0.3).places == pytest.approx(line.places, abs=1e-9)
    shaky = Trajectory(line.places + np.random.default_rng(1).normal(0, 0.02, line.places.shape), 30.0)
    calm = shaky.smoothed(0.2)
    assert np.abs(calm.places - line.places).mean() < 0.5 * np.abs(shaky.places - line.places).mean()
    assert calm.places[[0, -1]] == pytest.approx(shaky.places[[0, -1]], abs=1e-9)
    with pytest.raises(RequestError, match="not -1"):
        line.smoothed(-1)


def test_headings_survive_standing_and_turning_on_the_spot():
    """Along +z, a rest of two seconds that trembles, then along +x."""
    rng = np.random.default_rng(2)
    step = 1.0 / 30
    speed = np.concatenate([np.tile([0, 1.0], (60, 1)), np.zeros((60, 2)), np.tile([1.0, 0], (60, 1))])
    places = np.cumsum(speed * step, axis=0) + rng.normal(0, 0.0004, (180, 2))
    heading = Trajectory(places, 30.0).headings()
    assert heading[:50] == pytest.approx(np.zeros(50), abs=0.15)
    assert heading[130:] == pytest.approx(np.full(50, np.pi / 2), abs=0.15)
    assert np.abs(np.diff(heading)).max() < 0.1  # no leap anywhere
    assert Trajectory(np.zeros((20, 2)), 30.0).headings() == pytest.approx(np.zeros(20))


def test_a_trajectory_is_two_points_left_and_right_of_it():
    t = np.arange(30) / 30
    points = Trajectory(np.stack([0 * t, t], axis=1), 30.0).points()
    assert points[10, 0] == pytest.approx([TRACK_HALF_M, 0, t[10]], abs=1e-6)
    assert points[10, 1] == pytest.approx([-TRACK_HALF_M, 0, t[10]], abs=1e-6)


def test_the_hips_track_has_the_same_form(human: Clip):
    points = hip_track(human)
    assert np.linalg.norm(points[:, 0] - points[:, 1], axis=1) == pytest.approx(np.full(len(human), 2 * TRACK_HALF_M))
    assert (points[..., 1] == 0).all()
    with pytest.raises(RequestError, match="points are"):
        find_points(human, ("track", "head"))


def test_a_trajectory_too_fast_for_any_example_is_refused(human: Clip):
    base = build_segments([root_example(human)], cut_at=[[0.0, 0.3, 0.6]], control_roles=TRACK)
    t = np.arange(60) / 30
    with pytest.raises(RequestError, match=r"9\.0 m/s, but the examples at"):
        control_from_trajectory(Trajectory(np.stack([9 * t, 0 * t], axis=1), 30.0), base)
