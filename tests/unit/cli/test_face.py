"""Faces on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import choreograph as cg
from choreograph.base.errors import RequestError
from choreograph.cli.main import app
from choreograph.contract.migrate import migrate
from choreograph.motion.demo_face import demo_face


def run(*words: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result.output


@pytest.fixture
def talks(tmp_path: Path) -> Path:
    t = np.arange(300) / 30
    face = cg.Face(("JawOpen", "MouthSmileLeft"), 0.5 + 0.4 * np.sin(t[:, None] * (3.0, 1.1)), 30.0)
    cg.write_face(tmp_path / "talks.csv", face)
    return tmp_path / "talks.csv"


def test_faces_are_completed_and_converted(talks: Path, tmp_path: Path) -> None:
    request = "duration_s: 1\ngoals:\n  - {at_s: 0, shapes: {}}\n  - {at_s: 1, shapes: {JawOpen: 0.8}}\n"
    (tmp_path / "keys.yaml").write_text(request)
    words = ("--request", tmp_path / "keys.yaml", "--result", tmp_path / "all.json")
    assert "Model error" in run("face", talks, *words, "-o", tmp_path / "out.csv")
    made = cg.read_face(tmp_path / "out.csv")
    assert len(made) == 31 and made.weights[-1, 0] == pytest.approx(0.8, abs=0.05)
    answer = json.loads((tmp_path / "all.json").read_text())["answers"][0]
    assert answer["motions"][0]["frames"] == 31 and answer["metrics"]["goal_error_max"]["unit"] == "mm"
    run("face", tmp_path / "out.csv", "-o", tmp_path / "head.glb")
    run("face", tmp_path / "head.glb", "-o", tmp_path / "back.csv")
    back = cg.read_face(tmp_path / "back.csv")
    np.testing.assert_allclose(back.weights[:, back.column("JawOpen")], made.weights[:, 0], atol=1e-5)
    run("face", talks, *words, "-o", tmp_path / "folder", "--force")
    assert {path.name for path in (tmp_path / "folder").iterdir()} == {"answer_1.csv", "answers.json"}


def test_requests_of_version_0_1_are_understood(talks: Path, tmp_path: Path) -> None:
    old = "length_s: 1\norder: 3\nkeys:\n  - {at_s: 0, clip: talks, frame: 5}\n  - {at_s: 1, weights: {JawOpen: 0.8}}\n"
    old += "points:\n  - {start_s: 0, stop_s: 0.5, landmark: 8, track: [[null, -70, null], [null, -75, null]]}\n"
    (tmp_path / "old.yaml").write_text(old)
    run("face", talks, "--request", tmp_path / "old.yaml", "-o", tmp_path / "out.csv", "--best-effort")
    assert len(cg.read_face(tmp_path / "out.csv")) == 31
    assert migrate("face", {"length_s": 1, "keys": [{"at_s": 0}], "points": []})[0] == {
        "duration_s": 1, "goals": [{"at_s": 0, "shapes": {}}],
    }  # fmt: skip


def test_what_is_missed_is_an_exit_code(talks: Path, tmp_path: Path) -> None:
    far = {"at_s": 0.5, "landmark": 8, "position_mm": [0, 60, 0]}
    (tmp_path / "far.json").write_text(json.dumps({"duration_s": 1, "goals": [{"at_s": 0, "shapes": {}}, far]}))
    assert "Landmark 8 is" in run("face", talks, "-r", tmp_path / "far.json", "-o", tmp_path / "out.csv", code=3)


def test_faces_go_on_heads(talks: Path, tmp_path: Path) -> None:
    face = cg.read_face(talks)
    assert "no TongueOut" not in run("face", talks, "-o", tmp_path / "own.glb")
    cg.write_face(tmp_path / "tongue.csv", cg.Face(("JawOpen", "TongueOut"), face.weights, 30.0))
    assert "The head has no TongueOut" in run("face", tmp_path / "tongue.csv", "-o", tmp_path / "tongue.glb")
    run("face", talks, "--head", tmp_path / "own.glb", "-o", tmp_path / "performed.glb")
    run("face", tmp_path / "performed.glb", "-o", tmp_path / "back.csv")
    back = cg.read_face(tmp_path / "back.csv")
    np.testing.assert_allclose(back.weights[:, back.column("JawOpen")], face.weights[:, 0], atol=1e-5)


def test_several_files_and_rates_are_taken(talks: Path, tmp_path: Path) -> None:
    cg.write_face(tmp_path / "demo.csv", demo_face(4.0))
    (tmp_path / "late.csv").write_text("Timecode,JawOpen\nsoon,0.1\nlater,0.5\nlast,1.0\n")
    run("face", tmp_path / "late.csv", "--fps", 24, "-o", tmp_path / "rate.csv")
    assert cg.read_face(tmp_path / "rate.csv").fps == 24
    goals = [{"at_s": 0, "pose": {"clip": "demo", "frame": 3}}, {"at_s": 1, "pose": {"clip": "talks"}}]
    (tmp_path / "both.json").write_text(json.dumps({"duration_s": 1, "goals": goals}))
    run("face", talks, tmp_path / "demo.csv", "-r", tmp_path / "both.json", "-o", tmp_path / "both.csv")
    with pytest.raises(RequestError, match=r"a face is written as \.csv, \.glb"):
        run("face", talks, "-o", tmp_path / "face.bvh")
