"""A library in a child process: it may take so much and no more, and what it answers is only numbers and text."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from choreograph.base.errors import FormatError
from choreograph.formats.child import ask_child

MEMORY, SECONDS, OUTPUT = 256 << 20, 2, 1 << 20
LIMITED = pytest.mark.skipif(sys.platform != "linux", reason="the system holds no process to such limits")


def ask(how: str) -> tuple[dict[str, Any], dict[str, Any]]:
    return ask_child("tests.toys.child", [how], memory=MEMORY, seconds=SECONDS, output=OUTPUT)


def test_facts_and_arrays_come_back() -> None:
    facts, arrays = ask("well")
    assert facts == {"how": "well"}
    assert np.array_equal(arrays["x"], np.arange(6.0).reshape(2, 3)) and arrays["none"].shape == (0, 3)
    arrays["x"] *= 2  # it is the caller's own


@pytest.mark.slow
@LIMITED
@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("greedy", "more than 256 MiB of memory"),
        ("endless", "more than 2 s"),
        ("talkative", "broke on it"),
        ("writes", "broke on it"),
    ],
)
def test_what_takes_too_much_is_stopped(how: str, why: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(FormatError, match=why):
        ask(how)


@pytest.mark.parametrize("how", ["crash", "garbled", "boastful"])
def test_what_breaks_is_one_sentence(how: str) -> None:
    with pytest.raises(FormatError, match="broke on it"):
        ask(how)


def test_why_a_file_is_refused_is_handed_on() -> None:
    with pytest.raises(FormatError, match="is no such thing"):
        ask("refuses")


def test_modules_of_the_folder_somebody_stands_in_are_not_run(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "json.py").write_text("raise SystemExit('mine')")
    (tmp_path / "pxr.py").write_text("raise SystemExit('mine')")
    assert ask("well")[0] == {"how": "well"}
