from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import choreograph as cg
from choreograph.base.errors import OutputExists, RequestError
from choreograph.cli.main import app
from choreograph.demo import demo_clips
from choreograph.formats import read_clip, write_clip
from choreograph.motion.clip import Clip


@pytest.fixture(scope="module")
def walks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("walks")
    for clip in [c for c in demo_clips(30.0) if c.name.startswith("walk")][:6]:
        write_clip(folder / f"{clip.name}.npz", clip)
    return folder


def hand(path: Path, speed: float = 1.2, seconds: float = 5.0) -> Path:
    rows = [f"{t:.4f},{speed * np.sin(t / 4):.4f},{speed * t:.4f}" for t in np.arange(0, seconds, 1 / 30)]
    path.write_text("t,x,z\n" + "\n".join(rows) + "\n")
    return path


def run(*words: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, [str(w) for w in words])
    if result.exception and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code == code, result.output
    return result.output


@pytest.mark.slow
def test_a_trajectory_is_walked(walks: Path, tmp_path: Path):
    out, notes = tmp_path / "walk.bvh", tmp_path / "walk.csv"
    said = run("perform", walks, "-t", hand(tmp_path / "hand.csv"), "-o", out, "--transcription", notes)
    assert "off the way on average" in said and "made of" in said
    clip = read_clip(out)
    assert clip.seconds == pytest.approx(5.0, abs=0.1)
    assert clip.root_pos[-1, 2] - clip.root_pos[0, 2] == pytest.approx(1.2 * 5, abs=0.3)
    rows = list(csv.DictReader(notes.read_text().splitlines()))
    assert float(rows[0]["start_s"]) == 0 and rows[0]["recording"].startswith("walk")
    with pytest.raises(Exception, match="exists already"):
        run("perform", walks, "-t", tmp_path / "hand.csv", "-o", out)


def test_pairs_are_led_and_evaluated(human_clip: Callable[..., Clip], tmp_path: Path):
    for name in ("leaders", "followers"):
        (tmp_path / name).mkdir()
    for seed in range(3):
        clip = human_clip(frames=240, fps=30.0, seed=seed, size=0.3)
        write_clip(tmp_path / "leaders" / f"a_{seed}.npz", clip)
        write_clip(tmp_path / "followers" / f"b_{seed}.npz", clip.mirrored())
    leaders, followers = tmp_path / "leaders", tmp_path / "followers"
    notes = tmp_path / "notes.json"
    words = ("perform", leaders, leaders / "a_1.npz", "-a", followers, "-o", tmp_path / "f.bvh", "--best-effort")
    said = run(*words, "--transcription", notes)
    assert len(read_clip(tmp_path / "f.bvh")) == 240
    assert "follows a_1" in said and "from the recorded partner's" in said
    # Its own example is no help, unless that is wanted.
    assert "b_1" not in {row["recording"] for row in json.loads(notes.read_text())}
    run(*words, "--transcription", notes, "--no-leave-out-own", "-f")
    assert {row["recording"] for row in json.loads(notes.read_text())} >= {"b_1"}
    said = run("evaluate", "perform", leaders, "-a", followers, "--raw", "--result", tmp_path / "r.json")
    assert "× nearest frame" in said
    assert set(json.loads((tmp_path / "r.json").read_text())["total"]) == {"found", "nearest", "random"}


def test_a_file_of_pairs_is_made_and_performed_with(human_clip: Callable[..., Clip], tmp_path: Path):
    for name in ("leaders", "followers"):
        (tmp_path / name).mkdir()
    for seed in range(2):
        clip = human_clip(frames=240, fps=30.0, seed=seed, size=0.3)
        write_clip(tmp_path / "leaders" / f"{seed}.npz", clip)
        write_clip(tmp_path / "followers" / f"{seed}.npz", clip.mirrored())
    pairs, leader = tmp_path / "new" / "pairs.mog", tmp_path / "leaders" / "1.npz"
    said = run("segment", tmp_path / "leaders", "-a", tmp_path / "followers", "-o", pairs)
    assert "segments of 2 recordings" in said and "left_hand" in said
    easy = ("--best-effort", "-o")
    run("perform", pairs, leader, *easy, tmp_path / "kept.npz")
    run("perform", tmp_path / "leaders", leader, "-a", tmp_path / "followers", *easy, tmp_path / "read.npz")
    kept, read = (read_clip(tmp_path / f"{name}.npz") for name in ("kept", "read"))
    assert kept.global_positions() == pytest.approx(read.global_positions(), abs=1e-6)
    assert "left_foot" in run("segment", pairs, "--control", "left_foot,right_foot")
    before = pairs.read_bytes()
    run("segment", pairs, "--control", "left_foot,right_foot", "-o", tmp_path / "feet.mog")
    assert "led by left_foot, right_foot" in run("segment", tmp_path / "feet.mog")
    assert "led by left_hand" in run("segment", pairs) and pairs.read_bytes() == before
    with pytest.raises(OutputExists):
        run("segment", pairs, "-o", tmp_path / "feet.mog")
    with pytest.raises(RequestError, match="say where"):
        run("segment", tmp_path / "leaders")
    with pytest.raises(RequestError, match="led by a body"):
        run("perform", pairs, "-t", hand(tmp_path / "hand.csv"), "-o", tmp_path / "c.bvh")


@pytest.mark.slow
def test_a_performance_can_be_decided_live_and_written_down(walks: Path, tmp_path: Path):
    out, way, result = tmp_path / "walk.npz", hand(tmp_path / "hand.csv", seconds=8.0), tmp_path / "walk.json"
    said = run(
        "perform", walks, "-t", way, "-o", out, "--lag", 2, "--transcription", tmp_path / "walk.vtt", "--result", result
    )
    assert "against having all at hand" in said and read_clip(out).seconds == pytest.approx(8.0, abs=0.1)
    cues = (tmp_path / "walk.vtt").read_text().split("\n\n")
    written = json.loads(result.read_text())
    assert written["examples"] == str(walks) and written["request"]["lag_s"] == 2
    [facts] = written["answers"]
    assert cues[0] == "WEBVTT" and len(cues) == 1 + len(facts["pieces"])
    assert cues[1].startswith("00:00:00.000 --> 00:00:0") and "% sure" in cues[1]
    assert {"sure", "rival", "placement", "residual_m", "doubt_m"} <= set(facts["pieces"][0])
    run("perform", walks, "-t", way, "-o", out, "-f", "--no-clean", "--transcription", tmp_path / "walk.txt")
    lines = [line.split("\t") for line in (tmp_path / "walk.txt").read_text().splitlines()]
    assert all(len(line) == 3 and float(line[0]) < float(line[1]) for line in lines)
    assert [line[1] for line in lines[:-1]] == [line[0] for line in lines[1:]]
    with pytest.raises(RequestError, match=r"too short.*are enough"):
        run("perform", walks, "-t", way, "-o", out, "-f", "--lag", 0.1)


@pytest.mark.slow
def test_deciding_early_is_measured(walks: Path, tmp_path: Path):
    said = run("evaluate", "perform", walks, "--raw", "--lag", 1.5, "--lag", 4, "--result", tmp_path / "r.json")
    assert "decided 1.5 s after each moment" in said and "in the mean" in said
    early, late = json.loads((tmp_path / "r.json").read_text())["lags"]
    assert early["cost"] >= late["cost"] > 0.9


def test_mistakes_get_a_sentence(walks: Path, tmp_path: Path, human: Clip):
    with pytest.raises(RequestError, match="either a body"):
        run("perform", walks, "-o", tmp_path / "a.bvh")
    with pytest.raises(RequestError, match=r"m/s at most"):
        run("perform", walks, "-t", hand(tmp_path / "fast.csv", 12.0), "-o", tmp_path / "a.bvh")
    with pytest.raises(RequestError, match=r"written as \.csv, \.json, \.vtt, \.txt"):
        run("perform", walks, "-t", tmp_path / "fast.csv", "-o", tmp_path / "a.bvh", "--transcription", "a.doc")
    with pytest.raises(RequestError, match="--trajectory is given beside leader"):
        run("perform", walks, "walk.bvh", "-t", tmp_path / "fast.csv", "-o", tmp_path / "a.bvh")
    with pytest.raises(RequestError, match="neither a clip of the examples nor a motion file"):
        run("perform", walks, "nobody", "-o", tmp_path / "a.bvh")
    with pytest.raises(RequestError, match="nothing has"):
        run("perform", walks, "-t", tmp_path / "fast.csv", "--example", "nobody", "-o", tmp_path / "a.bvh")
    assert not (tmp_path / "a.bvh").exists()


def test_a_request_file_names_files_beside_it(walks: Path, tmp_path: Path):
    """The same through Python, and with options: the same motion to the last bit."""
    hand(tmp_path / "hand.csv")
    request = tmp_path / "request.yaml"
    request.write_text("trajectory: hand.csv\nsmooth_s: 0.1\nexamples: [walk, walk_fast]\n")
    run("perform", walks, "--request", request, "-o", tmp_path / "file.npz", "--best-effort")
    options = ("--smooth", 0.1, "--example", "walk", "--example", "walk_fast", "--best-effort")
    run("perform", walks, "-t", tmp_path / "hand.csv", *options, "-o", tmp_path / "options.npz")
    asked = cg.PerformRequest(trajectory=str(tmp_path / "hand.csv"), smooth_s=0.1, only="name:walk or name:walk_fast")
    clips = [read_clip(path).with_name(path.stem) for path in sorted(walks.glob("*.npz"))]
    write_clip(tmp_path / "python.npz", cg.perform(clips, asked).clip)
    motions = [read_clip(tmp_path / f"{name}.npz") for name in ("file", "options", "python")]
    for motion in motions[1:]:
        assert np.array_equal(motion.root_pos, motions[0].root_pos)
        assert np.array_equal(motion.local_rot, motions[0].local_rot)
