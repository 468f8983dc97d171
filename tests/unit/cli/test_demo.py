"""`choreograph demo` writes everything, or nothing."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import choreograph.demo.clips
from choreograph.base.errors import OutputExists, RequestError
from choreograph.cli import demo as verb
from choreograph.demo import demo_clip
from choreograph.formats import read_clip


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> typer.Typer:
    """The command over two short clips, which take a moment rather than half a minute."""
    few = tuple(plan for plan in choreograph.demo.clips.PLANS if plan.name in ("jump", "walk_turn_90_left"))
    monkeypatch.setattr(choreograph.demo.clips, "PLANS", few)
    made = typer.Typer()
    made.callback()(lambda: None)
    verb.register(made)
    return made


def run(app: typer.Typer, *words: str) -> str:
    result = CliRunner().invoke(app, ["demo", *words], catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def test_each_type_comes_back_as_it_was_made(app: typer.Typer, tmp_path: Path) -> None:
    said = run(app, str(tmp_path / "out"))
    assert "2 clips" in said and "choreograph render" in said
    assert (tmp_path / "out" / "demo.png").stat().st_size > 10_000
    whole = read_clip(tmp_path / "out" / "npz" / "jump.npz")
    true = demo_clip("jump")
    assert whole.labels == true.labels
    assert whole.contacts is not None and true.contacts is not None
    np.testing.assert_array_equal(whole.contacts, true.contacts)
    for kind, fps in (("bvh", 60), ("amc", 120)):
        clip = read_clip(tmp_path / "out" / kind / f"jump.{kind}")
        assert clip.fps == pytest.approx(fps, rel=1e-5)
        assert clip.skeleton.names == true.skeleton.names
        gap = clip.global_positions() - demo_clip("jump", fps).global_positions()
        assert np.abs(gap).max() < 1e-4, kind


def test_nothing_is_written_over_unless_asked(app: typer.Typer, tmp_path: Path) -> None:
    words = (str(tmp_path), "--formats", "bvh", "--fps", "30")
    run(app, *words)
    (tmp_path / "demo.png").unlink()
    before = (tmp_path / "bvh" / "jump.bvh").stat().st_mtime_ns
    with pytest.raises(OutputExists):
        run(app, *words)
    assert (tmp_path / "bvh" / "jump.bvh").stat().st_mtime_ns == before
    assert not (tmp_path / "demo.png").exists()
    run(app, *words, "--force")


@pytest.mark.parametrize("words", [("--formats", "bvh,docx"), ("--formats", ","), ("--fps", "1")])
def test_a_wrong_request_writes_nothing(app: typer.Typer, tmp_path: Path, words: tuple[str, ...]) -> None:
    with pytest.raises(RequestError):
        run(app, str(tmp_path / "out"), *words)
    assert not (tmp_path / "out").exists()
