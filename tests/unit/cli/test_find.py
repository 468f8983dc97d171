"""`choreograph find`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import choreograph as cg
from choreograph.base.errors import OutputExists, RequestError
from choreograph.cli.main import app
from choreograph.demo import demo_clip

RUN = CliRunner()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("recorded")
    for name in ("walk", "run", "walk_turn_90_left"):
        cg.write_clip(made / f"{name}.npz", demo_clip(name, 30.0))
    return made


def run(*words: str | Path, code: int = 0) -> str:
    result = RUN.invoke(app, ["find", *map(str, words)], catch_exceptions=False)
    assert result.exit_code == code, result.output
    return result.output


def test_tells_places(folder: Path) -> None:
    shown = run(folder, "--only", "clip:*walk*", "--turn", "45..", "--side", "left")
    assert "walk_turn_90_left" in shown and "° left" in shown and "3 clips searched, 1 place, " in shown
    shown = run(folder, "--like", folder / "run.npz", "--start", "1", "--end", "1.5", "--count", "2")
    assert "0.0 cm" in shown and "the nearest 2 places" in shown
    facts = json.loads(run(folder, "--speed", "2..", "--json"))
    assert [place["clip"] for place in facts["places"]] == ["run"]


def test_labels_are_cut_short_and_figures_are_not(tmp_path: Path) -> None:
    clip = demo_clip("walk_turn_90_left", 30.0).with_labels(["walks round a corner that has no end " * 4])
    cg.write_clip(tmp_path / "a.npz", clip.with_name("a_rather_long_name_of_a_recording"))
    shown = run(tmp_path, "--turn", "45..")
    assert "a_rather_long_name_of_a_recording " in shown and " m/s " in shown and "° left " in shown
    assert "…" in shown.split("° left")[1]


def test_nothing_found_is_said_and_told_by_the_exit_code(folder: Path) -> None:
    assert "no clip has wlak" in run(folder, "--only", "wlak", code=1)


def test_draws_what_was_found(folder: Path, tmp_path: Path) -> None:
    picture = tmp_path / "found.png"
    run(folder, "--speed", "2..", "--picture", picture)
    assert picture.read_bytes().startswith(b"\x89PNG")
    with pytest.raises(OutputExists):
        run(folder, "--speed", "2..", "--picture", picture)


def test_mistakes_name_the_option(folder: Path) -> None:
    with pytest.raises(RequestError, match="--speed"):
        run(folder, "--speed", "fast")
    with pytest.raises(RequestError, match="--like"):
        run(folder, "--start", "2")
