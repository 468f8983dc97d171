"""`choreograph migrate`, and what the command line does with files and options of version 0.1."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from choreograph.cli.main import app
from choreograph.contract.document import load_document
from choreograph.demo import demo_clip
from choreograph.formats import write_clip

PROJECT = Path(__file__).parents[2] / "compat" / "studio_v1.tar.xz"


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


COMMENTED = """\
# how the walk repeats
motion: walk.bvh

min_s: 0.5   # shortest
"stop_s": 2.5  # where it ends
"""


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("ask.yaml", COMMENTED, COMMENTED.replace("motion", "format: 2\nmotion").replace('"stop_s"', '"end_s"')),
        ("ask.yml", "{min_s: 0.5, stop_s: 2.5}", "{format: 2, min_s: 0.5, end_s: 2.5}"),
        ("ask.json", '{"min_s": 0.5, "stop_s": 2.5}', '{"format": 2, "min_s": 0.5, "end_s": 2.5}'),
        ("ask.json", '{\n  "stop_s": 2.5\n}\n', '{\n  "format": 2,\n  "end_s": 2.5\n}\n'),
    ],
)
def test_requests_keep_their_comments_and_layout(tmp_path: Path, name: str, old: str, new: str) -> None:
    file = tmp_path / name
    file.write_text(old)
    before = run("migrate", "--check", "--verb", "loop", file)
    assert before.exit_code == 1 and "stop_s is now end_s" in before.output and file.read_text() == old
    done = run("migrate", "--verb", "loop", file)
    assert done.exit_code == 0, done.output
    made = file.read_text()
    assert made.replace('"format"', "format") == new.replace('"format"', "format")
    assert load_document(file).value["end_s"] == 2.5
    assert run("migrate", "--check", file).exit_code == 0 and file.read_text() == made


def test_whose_request_it_is_shows_from_its_fields(tmp_path: Path) -> None:
    file = tmp_path / "ask.yaml"
    file.write_text("min_s: 1.0\nstop_s: 2.5\n")
    assert run("migrate", file).exit_code == 0 and "end_s: 2.5" in file.read_text()
    file.write_text("nothing: 1\n")
    assert run("migrate", file).exit_code == 2
    other = tmp_path / "other.yaml"
    other.write_text("stop_s: 2.5\n")
    assert run("migrate", file, other).exit_code == 2
    assert "end_s" in other.read_text(), "what can be written is written"


def test_a_result_says_todays_words(tmp_path: Path) -> None:
    file = tmp_path / "answers.json"
    file.write_text(json.dumps({"choreograph": "0.1.0", "verb": "loop", "request": {"stop_s": 2}, "answers": [{}]}))
    assert run("migrate", file).exit_code == 0
    written = json.loads(file.read_text())
    assert written["format"] == 2 and written["request"] == {"end_s": 2} and written["answers"] == [{}]
    assert run("migrate", "--check", file).exit_code == 0


def test_a_request_of_perform_whose_answers_are_a_file_is_no_result(tmp_path: Path) -> None:
    file = tmp_path / "perform.yaml"
    file.write_text("leader: 60_05.amc\nanswers: followers\n")
    assert run("migrate", "--check", "--verb", "perform", file).exit_code in (0, 1)


def test_a_studio_project_is_written_with_its_results(tmp_path: Path) -> None:
    with tarfile.open(PROJECT) as archive:
        archive.extractall(tmp_path, filter="data")
    project = tmp_path / ".choreograph" / "project.json"
    before = project.read_bytes()
    assert run("migrate", "--check", tmp_path).exit_code == 1 and project.read_bytes() == before
    assert run("migrate", tmp_path).exit_code == 0 and json.loads(project.read_text())["format"] == 3
    assert run("migrate", "--check", tmp_path).exit_code == 0
    assert run("migrate", tmp_path.parent / "none").exit_code == 2


@pytest.fixture
def walk(tmp_path: Path) -> Path:
    write_clip(tmp_path / "walk.npz", demo_clip("walk", 30.0))
    return tmp_path / "walk.npz"


def test_old_options_and_files_are_read_and_todays_words_named(walk: Path) -> None:
    out, ask = walk.with_name("out.npz"), walk.with_name("ask.yaml")
    done = CliRunner().invoke(app, ["loop", str(walk), "--start", "0.5", "--stop=2", "-o", str(out)])
    assert done.exit_code in (0, 3), done.output
    assert done.stderr == "--stop is now --end\n"
    ask.write_text("start_s: 0.5\nstop_s: 2.0\n")
    done = run("loop", walk, "--request", ask, "--end", "2.2", "-o", walk.with_name("again.npz"))
    assert done.exit_code in (0, 3) and "stop_s is now end_s" in done.output and "migrate" in done.output
    ask.write_text("start_s: 0.5\nstop_s: 0.2\n")
    done = run("loop", walk, "--request", ask, "-o", out, "--force")
    assert "line 2 (stop_s)" in str(done.exception)


def test_a_kept_search_of_before_begins_again(walk: Path) -> None:
    out = walk.with_name("out")
    out.mkdir()
    (out / "search.json").write_text('{"seed": 3}')
    done = run("loop", walk, "--resume", "-o", out)
    assert done.exit_code in (0, 3) and "begins again" in done.output and (out / "answers.json").is_file()
