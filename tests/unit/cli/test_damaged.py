"""Damaged and hostile files at the command line: one sentence that names the file, and exit code 2."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

KEPT = Path(__file__).parents[2] / "compat" / "graph_v4.mog"


def refusal(*words: str) -> str:
    """What the command says on its way out."""
    done = subprocess.run(
        [sys.executable, "-m", "choreograph.cli.main", *words], capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 2 and done.stdout == "", done
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1 and len(done.stderr) < 1500, done.stderr
    return done.stderr


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE setting SET value = '1e999' WHERE name = 'rate_hz'",
        "UPDATE clip SET source = '1e999'",
        "UPDATE fact SET value = '1e999'",
    ],
)
def test_graphs(tmp_path: Path, change: str) -> None:
    path = tmp_path / "a.mog"
    shutil.copy(KEPT, path)
    with sqlite3.connect(path) as connection:
        connection.execute(change)
    connection.close()
    said = refusal("info", str(path))
    assert "a.mog: is damaged" in said and "build it again" in said


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: &a [x]\nb: &b [*a, *a]\npath: [*b, *b]\n", "anchors"),
        ("path: " + "9" * 1_000_000, "1000000 characters"),
        ("seed: 0x" + "f" * 100_000, "characters"),
        ("path: " + "x" * 100_000, "100000 characters"),
        ("<<: {a: 1}", "merge keys"),
    ],
)
def test_requests(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "ask.yaml"
    path.write_text(text)
    said = refusal("follow", str(KEPT), "-r", str(path), "-o", str(tmp_path / "a.bvh"))
    assert "ask.yaml, line " in said and words in said
    assert [entry.name for entry in tmp_path.iterdir()] == ["ask.yaml"]
