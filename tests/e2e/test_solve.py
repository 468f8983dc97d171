"""The real command: solve, with a real process that is stopped."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from choreograph.build.graph import build_graph
from choreograph.demo import demo_clip
from choreograph.graph.store import save_graph

TELLING = """
import signal
from choreograph.cli.main import main
from choreograph.verbs.solve.search import SolveSearch

step = SolveSearch.step
def step_telling(search, *budget, progress):
    def told(stage, *amount):
        progress(stage, *amount)
        if stage == "searching":
            print(stage, flush=True)

    return step(search, *budget, progress=told)

SolveSearch.step = step_telling
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells turn it off for what they run in the background
main()
"""


def begun(code: str, words: list[str], out: Path, said: str) -> subprocess.Popen[str]:
    """The command, run by this code, as soon as it has said the word."""
    command = [sys.executable, "-c", code, *words, "-o", str(out)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None and said in process.stdout.readline()
    return process


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("solve")
    save_graph(build_graph([demo_clip("walk"), demo_clip("walk_turn_90_left")]), folder / "walks.mog")
    goals = [{"at_s": 0, "place": [0, 0], "facing_deg": 0}, {"at_s": 3, "place": [1, 2]}]
    (folder / "r.json").write_text(json.dumps({"duration_s": 3, "goals": goals}))
    return ["solve", str(folder / "walks.mog"), str(folder / "r.json"), "-n", "1", "--time-limit", "600"]


@pytest.mark.slow
def test_control_c_writes_the_best_so_far_and_resume_goes_on(words: list[str], tmp_path: Path) -> None:
    process = begun(TELLING, words, tmp_path / "out", "searching")
    process.send_signal(signal.SIGINT)
    said, errors = process.communicate(timeout=300)
    assert process.returncode == 130, errors
    assert "answer_1.bvh: " in said
    assert errors.startswith("stopped after ") and errors.count("\n") == 1
    assert "the best answer so far is written; --resume goes on from there" in errors
    out = tmp_path / "out"
    assert sorted(path.name for path in out.iterdir()) == ["answer_1.bvh", "answers.json", "search.json"]
    before = json.loads((out / "answers.json").read_text())
    again = [sys.executable, "-m", "choreograph.cli.main", *words[:-2], "--work-limit", "2000", "--resume"]
    done = subprocess.run([*again, "-o", str(out)], capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    after = json.loads((out / "answers.json").read_text())
    assert after["evaluations"] >= before["evaluations"] + 2000
    assert after["answers"][0]["score"] <= before["answers"][0]["score"]


@pytest.mark.slow
def test_control_c_writes_what_two_people_have_so_far(words: list[str], tmp_path: Path) -> None:
    start = {"at_s": 0, "place": [0, 0], "facing_deg": 0}
    poses = [{"clip": "walk", "frame": 60}, {"clip": "walk_turn_90_left", "frame": 60}]
    meet = {"at_s": 2, "who": ["anna", "ben"], "poses": poses}
    asked = {"duration_s": 3, "characters": {"anna": {"goals": [start]}, "ben": {}}, "meet": [meet]}
    (tmp_path / "two.json").write_text(json.dumps(asked))
    own = [*words[:2], str(tmp_path / "two.json"), *words[3:]]
    process = begun(TELLING, own, tmp_path / "out", "searching")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 130, errors
    assert errors.startswith("stopped after ") and errors.endswith("the best answer so far is written\n")
    written = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert written == ["answer_1_anna.bvh", "answer_1_ben.bvh", "answers.json"]


SLOW = """
import time
from choreograph.{module} import {name}

def wait(*anything, **more):
    print("waiting", flush=True)
    time.sleep(100)

{name}.{function} = wait
"""


@pytest.mark.slow
def test_a_second_control_c_writes_nothing(words: list[str], tmp_path: Path) -> None:
    slow = SLOW.format(module="verbs.solve", name="answers", function="finish")
    process = begun(slow + TELLING, words, tmp_path / "out", "searching")
    process.send_signal(signal.SIGINT)
    while process.stdout and "waiting" not in process.stdout.readline():
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors == "stopped; nothing half-made was left behind\n"
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_control_c_before_anything_is_found_writes_nothing(words: list[str], tmp_path: Path) -> None:
    slow = SLOW.format(module="graph", name="store", function="open_graph")
    process = begun(slow + TELLING, words, tmp_path / "out", "waiting")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 130 and "Traceback" not in errors
    assert "stopped; nothing half-made was left behind" in errors
    assert not (tmp_path / "out").exists()
