from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from choreograph.base.errors import FormatError, RequestError, SkeletonMismatch
from choreograph.cli.main import app
from choreograph.formats import read_clip, write_clip
from choreograph.formats.gltf import write_glb
from choreograph.graph.store import open_graph
from choreograph.motion.clip import Clip


def run(*words: str | Path) -> str:
    result = CliRunner().invoke(app, [str(w) for w in words])
    if result.exception:
        raise result.exception
    return result.output


def test_a_threshold_is_refused_in_the_unit_it_was_given_in(tmp_path: Path):
    for words in (("--threshold", "-1"), ("--threshold", "walk:run=-1")):
        with pytest.raises(RequestError, match="0 to 1000 centimetres, not -1"):
            run("build", tmp_path, "-o", tmp_path / "a.mog", *words)


def test_folders_are_made_and_the_advice_for_other_people_can_be_followed(
    human_clip: Callable[..., Clip], tmp_path: Path
):
    for name, scale in (("small", 0.9), ("tall", 1.0)):
        write_clip(tmp_path / f"{name}.npz", human_clip(frames=120, seed=1, scale=scale))
    path = tmp_path / "new" / "people.mog"
    run("build", tmp_path / "tall.npz", "-o", path, "--no-advice")
    with pytest.raises(SkeletonMismatch, match=r"retargeted to the graph's skeleton$"):
        run("add", path, tmp_path / "small.npz", "--no-advice", "--no-retarget")
    told = run("add", path, tmp_path / "small.npz", "--no-advice")
    assert "2 clips" in told and "retargeted to" in told


def test_an_interruption_while_commands_are_loaded_says_nothing(tmp_path: Path):
    code = (
        "import choreograph.cli.main as main, sys\n"
        "def stop(name): raise KeyboardInterrupt\n"
        "main.import_module = stop\n"
        "sys.argv = ['choreograph', 'info', 'some.mog']\n"
        "main.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 130 and "Traceback" not in done.stderr


def test_one_broken_file_of_many_says_how_to_go_on_without_it(human_clip: Callable[..., Clip], tmp_path: Path):
    write_clip(tmp_path / "good.npz", human_clip(frames=120, seed=1))
    (tmp_path / "bad.bvh").write_text("HIERARCHY\n")
    with pytest.raises(FormatError, match=r"bad.bvh, line 2: .*; --skip-bad leaves out what cannot be read"):
        run("build", tmp_path, "-o", tmp_path / "a.mog", "--no-advice")
    told = run("build", tmp_path, "-o", tmp_path / "a.mog", "--no-advice", "--skip-bad")
    assert "left out" in told and (tmp_path / "a.mog").exists()


def test_what_was_assumed_while_files_were_read_is_said_once(human_clip: Callable[..., Clip], tmp_path: Path):
    walk = human_clip(frames=120, seed=1)
    for name in ("a", "b"):
        write_glb(tmp_path / f"{name}.glb", [walk.with_name("walk"), walk.with_name("hop")], takes=True)
    told = run("build", tmp_path, "-o", tmp_path / "a.mog", "--take", "walk", "--no-advice")
    assert told.count("holds 2 takes ('walk', 'hop'); this is 'walk', others can be named (--take)") == 1


def test_all_takes_of_a_file_become_clips_and_are_known_again(human_clip: Callable[..., Clip], tmp_path: Path):
    takes = [human_clip(frames=120, seed=seed).with_name(name) for seed, name in ((1, "idle"), (2, "walk"), (3, "run"))]
    write_glb(tmp_path / "hero.glb", takes, takes=True)
    path = tmp_path / "a.mog"
    told = run("build", tmp_path / "hero.glb", "-o", path, "--take", "walk", "--no-advice")
    assert "1 clips" in told
    told = run("add", path, tmp_path / "hero.glb", "--no-advice")
    assert "'walk' was passed over" in told and "of 3 clips" in told
    run("build", tmp_path / "hero.glb", "-o", tmp_path / "b.mog", "--no-advice")
    assert [info.name for info in open_graph(tmp_path / "b.mog").infos] == ["idle", "walk", "run"]
    assert [info.take for info in open_graph(path).infos] == ["walk", "idle", "run"]
    assert [row["name"] for row in json.loads(run("inspect", tmp_path / "hero.glb", "--json"))] == [
        "idle",
        "walk",
        "run",
    ]


def test_a_verb_takes_the_take_that_is_named(human_clip: Callable[..., Clip], tmp_path: Path):
    write_glb(tmp_path / "hero.glb", [human_clip(frames=n, seed=1).with_name(f"a{n}") for n in (60, 90)], takes=True)
    told = run("bend", tmp_path / "hero.glb", "--path", "line:length=2", "-o", tmp_path / "a.npz", "--best-effort")
    assert "holds 2 takes ('a60', 'a90'); this is 'a60', others can be named (--take)" in told
    run(
        "bend",
        tmp_path / "hero.glb",
        "--take",
        "a90",
        "--path",
        "line:length=2",
        "-o",
        tmp_path / "b.npz",
        "--best-effort",
    )
    assert [len(read_clip(tmp_path / name)) for name in ("a.npz", "b.npz")] == [60, 90]
