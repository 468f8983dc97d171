"""Every example runs from a fresh clone, on the demo motion, and writes what it says it writes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from choreograph.formats import read_clip
from choreograph.graph.store import open_graph

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(name: str, out: Path, *arguments: str) -> str:
    """What an example prints, run as a user would, in a folder that is not the repository's."""
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), "--out", str(out), *arguments],
        capture_output=True,
        text=True,
        cwd=out,
        env={**os.environ, "MPLBACKEND": "Agg", "PYTHONWARNINGS": "error"},
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    return done.stdout


def rows(text: str, *begins: str) -> list[list[float]]:
    """The figures in the lines of a table that begin with one of these."""
    found = []
    for begin in begins:
        line = next(line for line in text.splitlines() if line.strip().startswith(begin))
        words = line.strip().removeprefix(begin).replace("%", "").split()
        found.append([float(word) for word in words if word != "m"])
    return found


def test_every_example_is_run() -> None:
    tested = {f"{number:02}" for number in (*range(1, 11), *range(12, 17))}
    assert {path.name[:2] for path in EXAMPLES.glob("[0-9]*.py")} == tested


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("[0-9]*.py")), ids=lambda path: path.stem)
def test_opens_with_a_question(path: Path) -> None:
    first = path.read_text().splitlines()[0]
    assert first.startswith('"""') and first.endswith("?")


def test_read_and_convert(tmp_path: Path) -> None:
    said = run("01_read_and_convert.py", tmp_path)
    assert "246 frames at 60 a second" in said
    read = [read_clip(tmp_path / f"walk_turn_90_left.{suffix}") for suffix in ("glb", "npz")]
    assert [len(clip) for clip in read] == [246, 246]
    assert (tmp_path / "walk_turn_90_left.csv").stat().st_size > 0


def test_build_follow_and_stream(tmp_path: Path) -> None:
    """The graph that 02 saves serves 03 and 04."""
    said = run("02_build_a_graph.py", tmp_path)
    assert "jog: dead end" in said
    assert {info.name for info in open_graph(tmp_path / "people.mog").infos} >= {"walk", "jog"}
    assert (tmp_path / "graph.png").exists()

    said = run("03_follow_a_path.py", tmp_path, str(tmp_path / "people.mog"), "--path", "s:radius=3")
    assert said.startswith("complete: ") and "path_mean: 0.0" in said
    assert read_clip(tmp_path / "walk.bvh").seconds > 5
    assert (tmp_path / "walk.png").exists()

    said = run("04_stream_frames.py", tmp_path, str(tmp_path / "people.mog"))
    assert said.count("on to") == 3
    end = read_clip(tmp_path / "stream.bvh").root_pos[-1]
    assert abs(end[0] - 8) < 1.5 and abs(end[2] - 0) < 1.5


def test_compare_blends(tmp_path: Path) -> None:
    said = run("05_compare_blends.py", tmp_path, "--path", "s:radius=4,angle=90")
    assert "taking demo clips" in said
    linear, cubic, upper = rows(said, "linear", "cubic", "anticipation, upper body first")
    assert abs(linear[0] - cubic[0]) < 1.0, "the blend hardly changes the path"
    assert linear == upper, "where only the upper body goes ahead, the root is blended linearly"
    assert len(list(tmp_path.glob("blends-*.png"))) == 1


def test_prefer_clips(tmp_path: Path) -> None:
    said = run("06_prefer_clips.py", tmp_path, "--path", "line:length=8", "--margins", "0", "100000")
    without, preferred = rows(said, "0 ", "100000 ")
    assert without[0] == 0 and preferred[0] == pytest.approx(2.655, abs=0.001)
    assert preferred[3] > without[3], "a margin keeps the walk in the clip"
    assert len(list(tmp_path.glob("margins-*.png"))) == 1


def test_perform_a_way(tmp_path: Path) -> None:
    said = run("12_perform_a_way.py", tmp_path)
    assert "each frame at most 2." in said and "times as much as with the whole way at hand" in said
    live, whole = (read_clip(tmp_path / f"{name}.bvh") for name in ("live", "whole"))
    assert live.seconds == pytest.approx(14.0, abs=0.1) and whole.seconds == pytest.approx(14.0, abs=0.1)
    assert (tmp_path / "whole.csv").read_text().startswith("start_s,stop_s,recording")
    assert (tmp_path / "live.png").stat().st_size > 0


def test_solving(tmp_path: Path) -> None:
    """The graph that 07 makes serves the rest, which find it with its cuts in the same folder."""
    said = run("07_two_checkpoints.py", tmp_path, "--seconds", "0.5")
    assert "taking 16 demo clips" in said
    clip = read_clip(tmp_path / "two-checkpoints.bvh")
    assert clip.root_pos[-1, [0, 2]] == pytest.approx([5.0, 3.0], abs=1e-3)

    said = run("08_three_checkpoints.py", tmp_path, "--seconds", "1")
    assert "taking" not in said
    clip = read_clip(tmp_path / "three-checkpoints.bvh")
    assert clip.root_pos[round(5 * clip.fps), [0, 2]] == pytest.approx([2.5, 4.0], abs=1e-3)

    said = run("09_jump_at_a_time.py", tmp_path, "--seconds", "2")
    assert "'head' at a height of 3.00 m at 4 s is out of reach; the nearest is 2.0" in said
    clip = read_clip(tmp_path / "jump-at-a-time.bvh")
    feet = [clip.skeleton.need(f"{side}_foot") for side in ("left", "right")]
    flying = clip.global_positions()[:, feet, 1].min(axis=1) > 0.2
    assert flying[round(4 * clip.fps)] and not flying[0]

    said = run("10_end_in_a_pose.py", tmp_path, "--seconds", "1")
    assert "lowest in frame 72 of jump_high: 1.17 m" in said and "the head ends at 1.17 m" in said

    said = run("13_two_people_meet.py", tmp_path, "--seconds", "1")
    assert "when they meet they are 1.00 m apart" in said
    for name in ("two-checkpoints", "three-checkpoints", "jump-at-a-time", "end-in-a-pose", "two-people-meet"):
        assert (tmp_path / f"{name}.png").stat().st_size > 10_000
    assert (tmp_path / "two-people-meet.glb").exists()


def test_plan_a_scene(tmp_path: Path) -> None:
    said = run("14_plan_a_scene.py", tmp_path, "--scene", "pillars", "--work-limit", "1500")
    assert "clear of things" in said and "too near" not in said
    assert len(read_clip(tmp_path / "pillars.bvh")) > 100 and (tmp_path / "pillars.png").stat().st_size > 0


def test_obey_mechanics(tmp_path: Path) -> None:
    said = run("15_obey_mechanics.py", tmp_path)
    table = {line.split()[0]: line for line in said.splitlines()[1:4]}
    assert list(table) == ["farther", "back", "turned"], said
    for line in table.values():
        assert float(line.split("°")[1].split()[0]) < 1.0, "the centre of mass leaves its parabola"
    jump, farther, back = (read_clip(path).root_pos[-1] for path in _jumps(tmp_path))
    assert abs(farther[2] - back[2]) == pytest.approx(0.5, abs=0.02) and abs(jump[2] - back[2]) > 0.15
    assert (tmp_path / "jump-turned.png").exists()


def test_motions_of_the_paper(tmp_path: Path, recordings: Path) -> None:
    said = run("16_motions_of_the_paper.py", tmp_path, str(recordings), "--only", "runs: as recorded")
    [made] = [line for line in said.splitlines() if line.startswith("| runs: as recorded")]
    assert "| complete |" in made
    assert list(tmp_path.glob("runs*.png"))


def _jumps(folder: Path) -> list[Path]:
    return [folder / f"jump-{name}.bvh" for name in ("turned", "farther", "back")]
