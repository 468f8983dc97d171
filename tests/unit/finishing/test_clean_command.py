from __future__ import annotations

from pathlib import Path

import typer
from typer.testing import CliRunner

from choreograph.cli import clean
from choreograph.formats import read_clip, write_clip
from choreograph.motion.clip import Clip

app = typer.Typer()
app.callback()(lambda: None)
clean.register(app)


def test_clean_writes_a_file_and_says_what_it_did(walking: Clip, tmp_path: Path) -> None:
    source, target = tmp_path / "in.bvh", tmp_path / "out.bvh"
    write_clip(source, walking.with_frames(walking.root_pos * (1.0, 1.0, 1.06), walking.local_rot))
    result = CliRunner().invoke(app, ["clean", str(source), "-o", str(target), "--unit", "m"])
    assert result.exit_code == 0, result.output
    assert "planted feet slid" in result.output
    assert len(read_clip(target)) == len(walking)
    again = CliRunner().invoke(app, ["clean", str(source), "-o", str(target)])
    assert again.exit_code != 0
    assert "exists already" in str(again.exception)
