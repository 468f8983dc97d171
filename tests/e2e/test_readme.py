"""What the README says can be typed, can."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from choreograph.cli.main import app
from choreograph.formats import read_clip

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_two_minutes_with_the_demo_motion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    block = re.search(r"## Two minutes\n+```sh\n(.*?)```", text, re.DOTALL)
    assert block is not None
    lines = [line.partition("#")[0].strip() for line in block[1].splitlines()]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    commands = ["choreograph demo demo", *(line for line in lines if line.startswith("choreograph"))]
    for command in commands:
        if "fetch" in command:  # needs the network
            continue
        words = shlex.split(command.replace("--render walk.mp4", ""))  # films take time, and jump.mp4 is one
        done = CliRunner().invoke(app, words[1:], catch_exceptions=False)
        assert done.exit_code == 0, f"{command}: {done.output}"
    motions = ["walk", "answers/answer_1", "hand", "plan", "keys", "steered", "far", "quick", "other", "cycle", "clean"]
    for made in motions:
        assert read_clip(tmp_path / f"{made}.bvh").seconds > 1
    assert read_clip(tmp_path / "run.glb").seconds > 1
    assert (tmp_path / "jump.mp4").stat().st_size > 10_000
