"""What killed writers leave is cleared away, and nothing else is."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from choreograph.formats import atomic
from choreograph.formats.atomic import LEFTOVER_AGE_S, atomic_write, is_running, temporary_beside


@pytest.fixture(autouse=True)
def _not_swept_yet(monkeypatch):
    monkeypatch.setattr(atomic, "_swept", {})


def aged(path: Path, seconds: float = LEFTOVER_AGE_S + 60) -> Path:
    then = time.time() - seconds
    os.utime(path, (then, then))
    return path


def ended_process() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def leftover(folder: Path, name: str, process: int, *, host: str | None = None, age: float | None = None) -> Path:
    path = folder / f".{name}.choreograph-{host or atomic._host()}-{process}-0123abcd.glb"
    path.write_bytes(b"half")
    return aged(path) if age is None else aged(path, age)


def write(folder: Path) -> None:
    with atomic_write(folder / "new.bvh", overwrite=True) as temporary:
        temporary.write_text("whole")


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_what_a_killed_writer_left_goes_a_day_later(tmp_path):
    code = (
        "import sys, time\nfrom choreograph.formats.atomic import atomic_write\n"
        "with atomic_write(sys.argv[1]) as temporary:\n"
        "    temporary.write_text('half'); print('there', flush=True); time.sleep(600)\n"
    )
    writer = subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "walk.glb")], stdout=subprocess.PIPE)
    assert writer.stdout is not None and writer.stdout.readline() == b"there\n"
    (left,) = tmp_path.iterdir()
    aged(left)
    write(tmp_path)
    assert left.exists(), "its writer is still at work"
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    writer.stdout.close()
    atomic._swept.clear()
    os.utime(left)
    write(tmp_path)
    assert left.exists(), "it is not a day old"
    atomic._swept.clear()
    aged(left)
    write(tmp_path)
    assert names(tmp_path) == {"new.bvh"}


def test_temporary_names_are_those_that_are_looked_for(tmp_path):
    for name in ("walk.glb", "x" * 200 + ".bvh", "no suffix", ".hidden", "a.b.c.usdc", "gehört.npz"):
        temporary = temporary_beside(tmp_path / name)
        assert atomic._LEFTOVER.fullmatch(temporary.name), temporary
        assert temporary.name.endswith(Path(name).suffix)
        temporary.write_bytes(b"")


def test_nobody_elses_files_go(tmp_path):
    ended = ended_process()
    kept = {
        ".walk-0123abcd.glb",  # somebody's hidden file
        f"walk.choreograph-{atomic._host()}-{ended}-0123abcd.glb",  # not hidden
        f".walk.choreograph-{atomic._host()}-{ended}.glb",
        ".choreograph",
        "people.mog",
    }
    for name in kept:
        (tmp_path / name).write_bytes(b"mine")
        aged(tmp_path / name)
    fresh = leftover(tmp_path, "fresh", ended, age=60)
    mine = leftover(tmp_path, "mine", os.getpid())
    far_fresh = leftover(tmp_path, "far", os.getpid(), host="00000000", age=60)
    gone = [leftover(tmp_path, "dead", ended), leftover(tmp_path, "elsewhere", os.getpid(), host="00000000")]
    outside = tmp_path.parent / "outside"
    outside.mkdir()
    (outside / "kept.txt").write_text("mine")
    link = tmp_path / f".link.choreograph-{atomic._host()}-{ended}-0123abcd"
    link.symlink_to(outside)
    then = time.time() - 2 * LEFTOVER_AGE_S
    os.utime(link, (then, then), follow_symlinks=False)
    write(tmp_path)
    assert names(tmp_path) == {*kept, "new.bvh", fresh.name, mine.name, far_fresh.name}
    assert not any(path.exists() for path in gone)
    assert (outside / "kept.txt").exists()


def test_folders_that_were_being_filled_go_too(tmp_path):
    folder = tmp_path / f".answers.choreograph-{atomic._host()}-{ended_process()}-0123abcd"
    folder.mkdir()
    (folder / "answer_1.bvh").write_text("half")
    aged(folder)
    write(tmp_path)
    assert names(tmp_path) == {"new.bvh"}


def test_a_folder_is_looked_through_once_an_hour(tmp_path, monkeypatch):
    looked = []
    scan = os.scandir
    monkeypatch.setattr(atomic.os, "scandir", lambda folder: looked.append(Path(folder)) or scan(folder))
    for _ in range(5):
        write(tmp_path)
    assert looked == [tmp_path]
    monkeypatch.setattr(atomic, "SWEEP_EVERY_S", 0.0)
    write(tmp_path)
    assert looked == [tmp_path, tmp_path]


def test_which_processes_run():
    assert is_running(os.getpid()) and is_running(1)
    assert not is_running(ended_process()) and not is_running(10**10 - 1)
