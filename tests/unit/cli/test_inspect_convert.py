"""`inspect` and `convert`, in-process through typer's runner and, where the process itself matters, as a command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from choreograph.base.errors import ChoreographError, FormatError, OutputExists, RequestError
from choreograph.cli.main import app
from choreograph.formats import read_clip, read_figures, write_clip
from choreograph.formats.world import stature
from choreograph.motion.clip import Clip, concatenate

RUN = CliRunner()


@pytest.fixture
def folder(walker: Clip, human: Clip, tmp_path: Path) -> Path:
    """A folder with a few clips, one below another, and something that is no motion."""
    inside = tmp_path / "clips"
    write_clip(inside / "walker.bvh", walker)
    write_clip(inside / "deep" / "human.npz", human.with_name("human").with_labels(["walk, turn left"]))
    (inside / "notes.txt").write_text("hello")
    return inside


def run(*words: str | Path) -> str:
    """The output of a command that must succeed."""
    result = RUN.invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def refused(kind: type[ChoreographError], words: str, *arguments: str | Path) -> None:
    """A command that must fail with an error of ours; the command line turns it into a line and exit code 2."""
    with pytest.raises(kind, match=words):
        RUN.invoke(app, [str(word) for word in arguments], catch_exceptions=False, standalone_mode=False)


def command(*words: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """The real command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "choreograph.cli.main", *map(str, words)],
        capture_output=True, text=True, check=False, timeout=120, env={**os.environ, **environment},
    )  # fmt: skip


def files_in(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


# ---------------------------------------------------------------------- inspect


def test_table_shows_whole_numbers(folder: Path) -> None:
    shown = run("inspect", folder)
    row = next(line.split() for line in shown.splitlines() if line.strip().startswith("human"))
    assert row[:7] == ["human", "40", "60", "0.67", "21", "1.72", "m"]
    row = next(line.split() for line in shown.splitlines() if line.strip().startswith("walker"))
    assert row[:9] == ["walker", "24", "30", "0.80", "4", "1.60", "m", "m", "y"]
    assert "2 clips, 1.5 s" in shown
    assert "…" not in shown


def test_a_wrong_option_is_one_mistake_however_many_files(folder: Path) -> None:
    refused(RequestError, "unknown unit 'furlong'", "inspect", folder, "--unit", "furlong")


def test_height_is_along_the_bones_where_the_rest_pose_is_no_body(human: Clip, tmp_path: Path) -> None:
    skeleton = human.skeleton
    folded = np.linalg.norm(skeleton.offsets, axis=1)[:, None] * [[0.0, 1.0, 0.0]]
    write_clip(tmp_path / "folded.npz", human.with_skeleton(replace(skeleton, offsets=folded)))
    [facts] = json.loads(run("inspect", tmp_path / "folded.npz", "--json"))
    assert facts["height_m"] == pytest.approx(stature(skeleton), abs=0.001)


def test_numbers_are_whole_however_long_the_names(human: Clip, tmp_path: Path) -> None:
    long = tmp_path / f"{'a_very_long_name_' * 8}.npz"
    write_clip(long, human.with_labels(["a description that goes on and on " * 6]))
    result = command("inspect", long, COLUMNS="60")
    assert result.returncode == 0
    assert all(number in result.stdout.split() for number in ("40", "60", "0.67", "21", "1.72"))
    assert "…" not in result.stdout


def test_json_is_for_programs(folder: Path) -> None:
    facts = json.loads(run("inspect", folder, "--json", "--joints"))
    assert [row["name"] for row in facts] == ["human", "walker"]
    human, walker = facts
    assert (human["frames"], human["fps"], human["joints"], human["format"]) == (40, 60.0, 21, "npz")
    assert human["labels"] == [["walk, turn left", 0, 40]]
    assert human["joint_roles"]["LeftFoot"] == "left_foot"
    assert walker["unit_reason"].startswith("metres") and walker["up_axis"] == "y" and walker["notes"] == []


def test_one_bad_file_does_not_hide_the_others(folder: Path) -> None:
    (folder / "bad.bvh").write_text("nonsense")
    result = RUN.invoke(app, ["inspect", str(folder), "--json"])
    assert result.exit_code == 2
    facts = {Path(row["file"]).name: row for row in json.loads(result.stdout)}
    assert "no BVH file" in facts["bad.bvh"]["error"] and facts["walker.bvh"]["frames"] == 24
    process = command("inspect", folder)
    assert process.returncode == 2
    assert process.stderr.count("\n") == 1 and process.stderr.startswith(f"error: {folder / 'bad.bvh'}, line 1: ")
    assert "walker" in process.stdout


def test_what_a_bad_file_needs_is_named_as_an_option(tmp_path: Path) -> None:
    (tmp_path / "lone.amc").write_text(":FULLY-SPECIFIED\n1\n")
    result = CliRunner().invoke(app, ["inspect", str(tmp_path)])
    assert result.exit_code == 2 and "give the file of the skeleton too (--asf)" in result.output


def test_oddities_and_advice_are_told(human: Clip, tmp_path: Path) -> None:
    elsewhere = human[:2].with_frames(human.root_pos[:2] + np.array([3.0, 0, 0]), human.local_rot[:2])
    write_clip(tmp_path / "a.bvh", concatenate([elsewhere, human]))
    text = (tmp_path / "a.bvh").read_text().replace("Frames: 42", "Frames: 99")
    (tmp_path / "a.bvh").write_text(text)
    shown = run("inspect", tmp_path / "a.bvh")
    assert "the header promises 99 frames, the file has 42" in shown
    assert "the first 2 frames are elsewhere, from where the root leaps; leave out with --trim" in shown
    run("convert", tmp_path / "a.bvh", "-o", tmp_path / "b.npz", "--trim")
    assert len(read_clip(tmp_path / "b.npz")) == 40


def test_patterns_and_names_that_stand_for_nothing(folder: Path) -> None:
    assert len(json.loads(run("inspect", folder / "*.bvh", "--json"))) == 1
    assert len(json.loads(run("inspect", folder / "**" / "*.*", "--json"))) == 2
    assert len(json.loads(run("inspect", folder, folder / "walker.bvh", "--json"))) == 2
    refused(RequestError, "no motion file matches", "inspect", folder / "*.amc")
    (folder / "empty").mkdir()
    refused(RequestError, "holds no motion files", "inspect", folder / "empty")
    assert RUN.invoke(app, ["inspect", str(folder / "absent.bvh")]).exit_code == 2


def test_what_the_user_knows_better(folder: Path) -> None:
    (facts,) = json.loads(run("inspect", folder / "walker.bvh", "--json", "--fps", "50", "--unit", "cm", "--up", "y"))
    assert (facts["fps"], facts["metres_per_unit"], facts["unit_reason"], facts["up_reason"]) == (
        50,
        0.01,
        "given",
        "given",
    )
    facts = json.loads(run("inspect", folder / "walker.bvh", "--json", "--joints", "--role", "left_hand=Head"))[0]
    assert facts["joint_roles"]["Head"] == "left_hand"


def test_inspect_sums_up_many_files_by_folder_and_alike_findings(walker: Clip, tmp_path: Path) -> None:
    for person in ("alice", "bob"):
        for number in range(25):
            write_clip(tmp_path / person / f"{number:02d}.bvh", walker.with_name(f"{number:02d}"))
            # Each promises other frames than it has: one finding, fifty times.
            text = (tmp_path / person / f"{number:02d}.bvh").read_text()
            text = text.replace(f"Frames: {len(walker)}", f"Frames: {len(walker) + 1 + number}")
            (tmp_path / person / f"{number:02d}.bvh").write_text(text)
    for name in ("x", "y"):
        (tmp_path / f"{name}.bvh").write_text("HIERARCHY nonsense")
    result = RUN.invoke(app, ["inspect", str(tmp_path)])
    assert result.exit_code == 2
    shown = result.output
    assert "50 clips in 2 folders" in shown and "alice" in shown and "bob" in shown
    assert shown.count("the header promises") == 1
    frames = len(walker)
    assert f"50 files: the header promises {frames + 1}–{frames + 25} frames" in shown
    assert "(00, 01, 02 and 47 more)" in shown
    assert "2 files: " in shown and "x.bvh, y.bvh" in shown
    assert len(shown.splitlines()) < 20
    whole = RUN.invoke(app, ["inspect", str(tmp_path), "--all"]).output
    assert whole.count("the header promises") == 50
    assert len(json.loads(RUN.invoke(app, ["inspect", str(tmp_path), "--json"]).output)) == 52


# ---------------------------------------------------------------------- convert


def test_one_file(folder: Path, walker: Clip, tmp_path: Path) -> None:
    out = tmp_path / "new" / "walk.npz"
    assert "wrote" in run("convert", folder / "walker.bvh", "-o", out)
    assert np.allclose(read_clip(out).global_positions(), walker.global_positions(), atol=1e-6)


def test_a_folder_into_every_text_format(folder: Path, tmp_path: Path) -> None:
    for kind in ("bvh", "amc", "npz", "csv"):
        assert "wrote 2 files" in run("convert", folder, "-o", tmp_path / kind, "--to", kind)
        assert {p.stem for p in (tmp_path / kind).iterdir()} == {"walker", "human"}


def test_changes_on_the_way(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.npz"
    run(
        "convert", folder / "deep" / "human.npz", "-o", out, "--start", "10", "--stop", "31", "--rate", "30", "--mirror"
    )
    clip = read_clip(out)
    assert (len(clip), clip.fps, clip.labels[0].text) == (11, 30, "walk, turn right")
    run("convert", folder / "walker.bvh", "-o", tmp_path / "cm.bvh", "--out-unit", "cm")
    assert "OFFSET 0.00000000 90.00000000" in (tmp_path / "cm.bvh").read_text()


def test_several_figures_in_one_file(human: Clip, tmp_path: Path) -> None:
    pair = tmp_path / "pair.glb"
    write_clip(pair, [human.with_name("one"), human.with_name("two")])
    assert [row["name"] for row in json.loads(run("inspect", pair, "--json"))] == ["one", "two"]
    run("convert", pair, "-o", tmp_path / "again.glb", "--stop", "20")
    assert [len(clip) for clip in read_figures(tmp_path / "again.glb")] == [20, 20]
    run("convert", pair, "-o", tmp_path / "two.npz", "--figure", "1")
    assert read_clip(tmp_path / "two.npz").name == "two"
    with pytest.raises(RequestError, match="holds 2 figures"):
        run("convert", pair, "-o", tmp_path / "a.bvh")
    with pytest.raises(RequestError, match="there is no figure 2"):
        run("convert", pair, "-o", tmp_path / "a.bvh", "--figure", "2")


def test_nothing_is_overwritten_unless_asked(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "walker.amc").write_text("mine")
    before = files_in(out)
    refused(OutputExists, "walker.amc exists already", "convert", folder, "-o", out, "--to", "amc")
    assert files_in(out) == before
    (out / "walker.amc").rename(out / "walker.asf")
    before = files_in(out)
    refused(OutputExists, "walker.asf exists already", "convert", folder, "-o", out, "--to", "amc")
    assert files_in(out) == before
    run("convert", folder, "-o", out, "--to", "amc", "--force")
    assert len(files_in(out)) == 4


def test_one_broken_input_and_nothing_is_written(folder: Path, tmp_path: Path) -> None:
    (folder / "zzz.bvh").write_text("HIERARCHY\nROOT a\n{\n")
    refused(
        FormatError, "zzz.bvh, line 4: the file ends within", "convert", folder, "-o", tmp_path / "out", "--to", "npz"
    )
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        (["-o", "x.fbx"], "fbx files are read but not written"),
        (["-o", "x.bvh", "--rate", "0"], "it must be a number above 0"),
        (["-o", "x.bvh", "--rate", "1e15"], "it must be a number above 0"),
        (["-o", "x.bvh", "--fps", "-3"], "it must be a number above 0"),
        (["-o", "x.bvh", "--unit", "parsec"], "unknown unit 'parsec'"),
        (["-o", "x.bvh", "--out-unit", "nan"], "metres per unit"),
        (["-o", "x.npz", "--out-unit", "cm"], "BVH, AMC and USD have other units"),
        (["-o", "x.bvh", "--up", "w"], "unknown up-axis 'w'"),
        (["-o", "x.bvh", "--start", "24"], "are empty; it has 24 frames"),
        (["-o", "x.bvh", "--role", "left_foot"], "ROLE=JOINT"),
        (["-o", "x.bvh", "--role", "paw=Head"], "unknown role 'paw'"),
        (["-o", "x.bvh", "--role", "head=Paw"], "no joint is called 'Paw'"),
        (["-o", "x", "--to", "fbx"], "unknown type 'fbx'"),
    ],
)
def test_requests_that_make_no_sense(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, extra: list[str], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    before = files_in(tmp_path)
    refused(ChoreographError, words, "convert", folder / "walker.bvh", *extra)
    assert files_in(tmp_path) == before


def test_several_inputs_need_a_folder_and_different_names(folder: Path, tmp_path: Path, walker: Clip) -> None:
    refused(RequestError, "-o FOLDER --to bvh", "convert", folder, "-o", tmp_path / "a.bvh")
    write_clip(folder / "deep" / "walker.npz", walker)
    refused(RequestError, "would both become", "convert", folder, "-o", tmp_path / "out", "--to", "bvh")


# ---------------------------------------------------------------------- the process


def test_errors_are_one_line_and_exit_code_2(folder: Path, tmp_path: Path) -> None:
    (folder / "bad.bvh").write_text("HIERARCHY\nROOT a\n{\nOFFSET 0 0 x\n")
    words = ("convert", folder / "bad.bvh", "-o", tmp_path / "x.bvh")
    quiet = command(*words)
    assert (quiet.returncode, quiet.stdout) == (2, "")
    assert quiet.stderr == f"error: {folder / 'bad.bvh'}, line 4: OFFSET needs three numbers; found 'x'\n"
    loud = command(*words, "--debug")
    assert loud.returncode != 0 and "Traceback" in loud.stderr and "FormatError" in loud.stderr
    too_long = command("inspect", "a" * 300)
    assert too_long.returncode == 2 and too_long.stderr.count("\n") == 1 and "Traceback" not in too_long.stderr


def test_the_command_explains_itself() -> None:
    assert command("--version").stdout.startswith("choreograph ")
    nothing = command()
    assert "inspect" in nothing.stdout + nothing.stderr
    wrong = command("inspect")
    assert wrong.returncode == 2 and "Traceback" not in wrong.stderr
    assert command("no-such-verb").returncode == 2


def test_what_was_assumed_is_said_once(tmp_path: Path) -> None:
    """Two joints tell no unit and no up-axis, and what was taken instead is in the files that are written."""
    text = (
        "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n"
        "End Site\n{\nOFFSET 0 9 0\n}\n}\nMOTION\nFrames: 2\nFrame Time: 0.1\n0 0 0\n0 0 9\n"
    )
    for name in "vwxyz":
        (tmp_path / f"{name}.bvh").write_text(text)
    said = run("convert", tmp_path, "-o", tmp_path / "out", "--to", "npz")
    assert said.count("unit of length assumed") == 1 and "v, w, x and 2 more: unit of length" in said
