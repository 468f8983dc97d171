"""The real command: build, add, remove and info, with real files, errors and interruptions."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import numpy as np
import pytest
from tests.unit.sine_walker import walk

from choreograph.cli.main import main
from choreograph.formats import write_clip
from choreograph.graph.store import open_graph

COMMAND = [sys.executable, "-m", "choreograph.cli.main"]


def run(*words: object) -> subprocess.CompletedProcess[str]:
    """The command's own `main`, in this process: starting Python anew for every mistake would take a minute."""
    given, out, err, code = [str(word) for word in words], io.StringIO(), io.StringIO(), 0
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "argv", ["choreograph", *given])
        try:
            main()
        except SystemExit as leaving:
            code = int(leaving.code or 0)
    return subprocess.CompletedProcess(given, code, out.getvalue(), err.getvalue())


def refused(*words: object) -> str:
    done = run(*words)
    assert done.returncode == 2, done.stdout + done.stderr
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


@pytest.fixture(scope="module")
def clips(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("clips")
    write_clip(folder / "straight.bvh", walk("straight", 4.0, fps=60.0))
    write_clip(folder / "left.bvh", walk("left", 4.0, phase=1.0, turn=0.5))
    write_clip(folder / "right.bvh", walk("right", 3.0, phase=2.5, turn=-0.6))
    return folder


@pytest.fixture(scope="module")
def built(clips, tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("graphs") / "people.mog"
    words = [*COMMAND, "build", str(clips), "-o", str(path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "3 of 3 clips connected" in done.stdout
    return path


def test_build_keeps_names_hashes_and_the_command(built, clips):
    graph = open_graph(built)
    assert [info.name for info in graph.infos] == ["left", "right", "straight"]
    assert Path(graph.infos[0].path).name == "left.bvh"
    assert all(len(info.sha256) == 64 for info in graph.infos)
    assert graph.history[0].command.startswith("choreograph build")
    assert [p.name for p in built.parent.iterdir()] == ["people.mog"]


def test_info_speaks_to_people_and_programs(built):
    shown = run("info", built)
    assert "straight" in shown.stdout
    assert "as recorded" in shown.stdout
    facts = json.loads(run("info", built, "--json").stdout)
    assert {clip["name"]: clip["state"] for clip in facts["clips"]} == dict.fromkeys(
        ("left", "right", "straight"), "kept"
    )
    assert facts["nodes"] == len(open_graph(built).nodes)
    assert facts["settings"]["rate_hz"] == 30


def test_add_and_remove_come_back_to_the_same_graph(built, clips, tmp_path):
    path = tmp_path / "grown.mog"
    assert run("build", clips / "left.bvh", clips / "right.bvh", "-o", path).returncode == 0
    assert run("add", path, clips / "straight.bvh").returncode == 0
    whole, grown = open_graph(built), open_graph(path)
    assert grown.infos == whole.infos
    for name, column in whole.edges.columns().items():
        assert np.array_equal(column, getattr(grown.edges, name))
    again = run("add", path, clips / "left.bvh")
    assert "already" in again.stdout
    assert len(open_graph(path).infos) == 3
    assert run("remove", path, "straight").returncode == 0
    assert [info.name for info in open_graph(path).infos] == ["left", "right"]
    assert len(open_graph(path).history) == 4


def test_thresholds_goals_weights_and_mirrors(clips, tmp_path):
    path = tmp_path / "all.mog"
    words = ("--threshold", "1", "--goal", "80%", "--mirror", "--rate", "20", "--window", "0.4", "--weights", "uniform")
    assert run("build", clips, "-o", path, *words).returncode == 0
    graph = open_graph(path)
    assert (graph.rate_hz, graph.window_frames, len(graph.infos)) == (20, 8, 6)
    assert graph.settings.goal == 0.8
    words = ("--threshold", "4", "--threshold", "walk:run=12", "--weights", "foot=2", "--weights", "hand=0", "--force")
    assert run("build", clips, "-o", path, *words).returncode == 0
    settings = open_graph(path).settings
    assert (settings.threshold_m, settings.label_thresholds[0].threshold_m) == (0.04, 0.12)
    assert settings.weights == {"foot": 2.0, "hand": 0.0}


def test_the_folder_of_the_output_is_made(clips, tmp_path):
    assert run("build", clips, "-o", tmp_path / "none" / "x.mog", "--no-advice").returncode == 0
    assert (tmp_path / "none" / "x.mog").exists()


def test_mistakes_get_one_line(built, clips, tmp_path):
    assert "exists already" in refused("build", clips, "-o", built)
    assert "may not be written" in refused("build", clips, "-o", "/proc/x.mog")
    assert "threshold" in refused("build", clips, "-o", tmp_path / "x.mog", "--threshold", "much")
    assert "everything" in refused("build", clips, "-o", tmp_path / "x.mog", "--goal", "most")
    assert "uniform" in refused("build", clips, "-o", tmp_path / "x.mog", "--weights", "heavy")
    assert "at least 2" in refused("build", clips, "-o", tmp_path / "x.mog", "--window", "0.01")
    assert "no such file" in refused("info", tmp_path / "x.mog")
    assert "not a motion graph" in refused("info", clips / "left.bvh")
    assert "straight" in refused("remove", built, "nobody")
    assert not (tmp_path / "x.mog").exists()


def test_other_people_are_named_and_carried_over(clips, tmp_path):
    write_clip(tmp_path / "tall.bvh", walk("tall", 4.0, scale=1.15))
    path = tmp_path / "people.mog"
    message = refused("build", clips, tmp_path / "tall.bvh", "-o", path, "--no-retarget")
    assert "tall" in message and "--onto" in message
    done = run("build", clips, tmp_path / "tall.bvh", "-o", path)
    assert "4 of 4 clips" in done.stdout and "retargeted to the body of" in done.stdout, done.stderr


def test_broken_files_stop_the_build_or_are_left_out(clips, tmp_path):
    broken = (clips / "left.bvh").read_text().splitlines()
    broken[-1] = "nan " * len(broken[-1].split())
    (tmp_path / "broken.bvh").write_text("\n".join(broken))
    path = tmp_path / "x.mog"
    assert "broken.bvh" in refused("build", clips, tmp_path / "broken.bvh", "-o", path)
    done = run("build", clips, tmp_path / "broken.bvh", "-o", path, "--skip-bad")
    assert done.returncode == 0
    assert "broken.bvh" in done.stderr
    assert len(open_graph(path).infos) == 3


def test_nothing_connected_is_an_answer_with_advice(tmp_path):
    write_clip(tmp_path / "short.bvh", walk("short", 0.8))
    write_clip(tmp_path / "blink.bvh", walk("blink", 0.1))
    done = run("build", tmp_path, "-o", tmp_path / "x.mog")
    assert done.returncode == 0
    assert "nothing connects" in done.stdout and "--goal" in done.stdout
    assert "blink" in done.stdout
    assert run("info", tmp_path / "x.mog").returncode == 0


SMALL_BATCHES = """
import signal, time
from choreograph.distance import minima
from choreograph.build.checkpoint import Checkpoint
from choreograph.cli.main import main

keep = Checkpoint.keep
def keep_slowly(*batch):  # so that there is time to interrupt it, however fast the machine
    keep(*batch)
    time.sleep(0.2)

minima._BATCH_PAIRS, Checkpoint.keep = 1, keep_slowly
signal.signal(signal.SIGINT, signal.default_int_handler)  # shells turn it off for what they run in the background
main()
"""


@pytest.mark.slow
def test_control_c_stops_and_the_same_command_goes_on(tmp_path):
    path = tmp_path / "long.mog"
    partial = Path(f"{path}.partial")
    words = [sys.executable, "-c", SMALL_BATCHES, "build", str(tmp_path), "-o", str(path), "--rate", "120"]
    words += ["--workers", "1", "--no-advice"]
    for k in range(4):
        write_clip(tmp_path / f"long{k}.bvh", walk(f"long{k}", 5.0, phase=k, turn=0.1 * k))
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    while process.poll() is None and not partial.exists():
        time.sleep(0.01)
    time.sleep(0.7)  # until kernels are loaded: numba turns Ctrl-C in the middle of that into an error of its own
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    assert "goes on from there" in errors
    assert errors.count("stopped;") == 1
    assert partial.exists() and not path.exists()
    assert subprocess.run(words, capture_output=True, check=False).returncode == 0
    assert path.exists() and not partial.exists()


def test_a_threshold_for_a_label_that_no_clip_has_is_pointed_out(clips, tmp_path):
    done = run("build", clips, "-o", tmp_path / "x.mog", "--threshold", "walk:hop=9", "--no-advice")
    assert done.returncode == 0
    assert "no clip has a label 'hop'" in done.stdout


def test_figures_of_info_are_whole_on_a_narrow_terminal(built, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    words = [*COMMAND, "info", str(built)]
    shown = subprocess.run(words, capture_output=True, text=True, check=False, timeout=300).stdout
    assert "…" not in shown
    assert "recorded" in shown and "unreached" not in shown


def test_plots_of_a_graph(built, tmp_path):
    for kind in ("graph", "connectivity", "transitions"):
        assert run("plot", built, "--kind", kind, "-o", tmp_path / f"{kind}.png").returncode == 0
        assert (tmp_path / f"{kind}.png").stat().st_size > 5000
    clips = ("--kind", "distances", "--clips", "left,straight")
    assert run("plot", built, *clips, "-o", tmp_path / "distances.svg").returncode == 0
    assert "window start in straight" in (tmp_path / "distances.svg").read_text()
    assert "--clips A,B" in refused("plot", built, "--kind", "distances", "-o", tmp_path / "x.png")
    assert "nobody" in refused("plot", built, "--kind", "distances", "--clips", "nobody", "-o", tmp_path / "x.png")
    assert "choose --kind" in refused("plot", built, "--kind", "feet", "-o", tmp_path / "x.png")


def test_info_finds_what_brings_a_lost_clip_in(clips, tmp_path):
    write_clip(tmp_path / "march.bvh", walk("march", 3.0, swing=1.4, stride_hz=1.6, speed=0.2))
    path = tmp_path / "x.mog"
    assert "left out: 1 of 4 clips" in run("build", clips, tmp_path / "march.bvh", "-o", path).stdout
    facts = json.loads(run("info", path, "--joins", "100", "--json").stdout)
    lost = {clip["name"]: clip["joins_at_m"] for clip in facts["clips"] if clip["state"] != "kept"}
    assert list(lost) == ["march"]
    words = ("--threshold", 100 * lost["march"], "--force")
    assert "4 of 4 clips" in run("build", clips, tmp_path / "march.bvh", "-o", path, *words).stdout
