"""The command `fetch`, from words to exit code."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from choreograph.base.errors import RequestError
from choreograph.cli.fetch import register


@pytest.fixture
def run(site: Any, tmp_path: Path) -> Any:
    app = typer.Typer()
    app.callback()(lambda: None)
    register(app)

    def invoke(*words: str, more: tuple[str, ...] = ("--delay", "0")) -> Any:
        words = ("fetch", *words, "--cache", str(tmp_path), "--mirror", site.base, *more)
        return CliRunner().invoke(app, list(words))

    return invoke


def test_two_subjects(site: Any, run: Any, tmp_path: Path) -> None:
    site.add_subject(16, {1: "jump"})
    site.add_subject(35, {1: "walk"})
    result = run("cmu", "16", "35")
    assert result.exit_code == 0
    assert result.output.startswith("4 files fetched")  # no bar where there is no terminal
    assert str(tmp_path / "35") in result.output
    assert "The data used in this project was obtained from mocap.cs.cmu.edu." in result.output
    assert "NSF EIA-0196217" in result.output and "may not be resold" in result.output


def test_a_failure_is_named_and_exits_with_2(site: Any, run: Any) -> None:
    site.add_subject(16, {1: "jump"})
    result = run("cmu", "16_01", "16_77")
    assert result.exit_code == 2
    assert "failed: 16_77.amc: " in result.output and "has no trial 16_77" in result.output


def test_bad_words_raise_our_own_error(run: Any) -> None:
    assert isinstance(run("cmu", "four").exception, RequestError)


def test_unknown_databases_exit_with_2(run: Any) -> None:
    assert run("kit", "16").exit_code == 2
