"""Inverse dynamics as a verb: without an output it tells; tables, models and plots on demand."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from click.testing import CliRunner

import choreograph as cg
from choreograph.cli.main import load_command
from choreograph.demo import demo_clip


@pytest.fixture(scope="module")
def jump(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("dynamics") / "jump.bvh"
    cg.write_clip(path, demo_clip("jump_high", 60.0))
    return path


def run(*words: object) -> tuple[int, str]:
    outcome = CliRunner().invoke(load_command("dynamics"), [str(word) for word in words])
    return outcome.exit_code, outcome.output


def test_it_needs_no_output(jump: Path) -> None:
    before = set(jump.parent.iterdir())
    code, said = run(jump)
    assert code == 0, said
    assert "BW" in said and set(jump.parent.iterdir()) == before


def test_table_and_model(jump: Path, tmp_path: Path) -> None:
    table, model, result = tmp_path / "t.csv", tmp_path / "body.xml", tmp_path / "r.json"
    code, said = run(jump, "--mass", 70, "--table", table, "--model", model, "--result", result)
    assert code == 0, said
    rows = list(csv.DictReader(table.read_text("utf-8").splitlines()))
    assert len(rows) == len(demo_clip("jump_high", 60.0))
    assert float(rows[0]["com.y_m"]) > 0.7 and "torque.LeftLeg.x_Nm" in rows[0]
    assert "<mujoco" in model.read_text("utf-8") and '"ground_force_peak"' in result.read_text("utf-8")


@pytest.mark.parametrize("frames", [1, 2])
def test_a_pose_has_no_accelerations(frames: int, tmp_path: Path) -> None:
    cg.write_clip(tmp_path / "pose.bvh", demo_clip("walk", 60.0)[:frames])
    with pytest.raises(cg.RequestError, match=f"has {frames} frames; accelerations need 5 or more"):
        cg.inverse_dynamics(cg.read_clip(tmp_path / "pose.bvh"))


def test_the_motion_stays_as_it_is() -> None:
    clip = demo_clip("walk", 60.0)
    result = cg.inverse_dynamics(clip)
    assert result.clip is clip and not result.problems


@pytest.mark.parametrize("given", [["--mass", "0"], ["--height", "-1"], ["--joint-mass", "Nobody=3"]])
def test_bad_measures_are_named(jump: Path, given: list[str]) -> None:
    code, _ = run(jump, *given)
    assert code != 0


def test_a_plot_of_it(jump: Path, tmp_path: Path) -> None:
    code, said = run(jump, "--picture", tmp_path / "p.png")
    assert code == 0 and (tmp_path / "p.png").stat().st_size > 10_000, said
