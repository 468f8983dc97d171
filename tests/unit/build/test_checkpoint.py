from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

from choreograph.base.errors import Cancelled, GraphFileError
from choreograph.base.progress import Recorder
from choreograph.build.checkpoint import Checkpoint
from choreograph.build.files import build_file
from choreograph.build.graph import build_graph
from choreograph.distance import minima as distance_minima
from choreograph.graph.store import open_graph, save_graph
from choreograph.graph.tables import TABLES, Minima


@pytest.fixture
def small_batches(monkeypatch):
    """One clip to a batch."""
    monkeypatch.setattr(distance_minima, "_BATCH_PAIRS", 1)


def some_minima(count: int, clip: int = 0) -> Minima:
    return Minima(**{name: np.full(count, clip) + np.arange(count) for name in Minima.dtypes})


def partial(path: Path) -> Path:
    return Path(f"{path}.partial")


def test_batches_come_back_for_the_same_work_only(tmp_path):
    first = Checkpoint(tmp_path / "a.mog")
    first.begin("walks at 30 Hz")
    first.keep(2, 100, 10, some_minima(5))
    first.keep(4, 50, 20, some_minima(0))
    first.close()
    again = Checkpoint(tmp_path / "a.mog")
    again.begin("walks at 30 Hz")
    batches = again.batches()
    assert [(b.stop, b.pairs, b.evaluated, len(b.minima)) for b in batches] == [(2, 100, 10, 5), (4, 50, 20, 0)]
    assert np.array_equal(batches[0].minima.yaw, some_minima(5).yaw)
    again.begin("walks at 30 Hz", "up to 20 cm")
    assert again.batches() == []
    again.keep(3, 70, 7, some_minima(1))
    again.begin("walks at 30 Hz")
    assert [batch.stop for batch in again.batches()] == [2, 4]
    again.begin("walks at 60 Hz")
    assert again.batches() == []
    again.discard()
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_side_file_only_costs_time(tmp_path):
    checkpoint = Checkpoint(tmp_path / "a.mog")
    for nonsense in (b"", b"SQLite format 3\0" + b"\1" * 300, b"nonsense" * 100):
        checkpoint.path.write_bytes(nonsense)
        checkpoint.begin("key")
        assert checkpoint.batches() == []
        checkpoint.close()
    checkpoint.begin("key")
    for stop in (1, 2, 3):
        checkpoint.keep(stop, 1, 1, some_minima(3))
    checkpoint.close()
    with sqlite3.connect(checkpoint.path) as connection:
        connection.execute("UPDATE done SET minima = x'00' WHERE stop = 2")
    connection.close()
    checkpoint.begin("key")
    assert [batch.stop for batch in checkpoint.batches()] == [1]
    checkpoint.close()


def test_two_builds_of_one_file_do_not_mix(tmp_path):
    first, second = Checkpoint(tmp_path / "a.mog"), Checkpoint(tmp_path / "a.mog")
    first.begin("key")
    with pytest.raises(GraphFileError, match="another build"):
        second.begin("key")
    first.discard()


def same_graph(first, second) -> bool:
    return all(
        np.array_equal(column, getattr(getattr(second, part), name))
        for part in TABLES
        for name, column in getattr(first, part).columns().items()
    )


def test_a_cancelled_build_goes_on_where_it_was(walks, tmp_path, small_batches):
    path = tmp_path / "walks.mog"
    whole = build_graph(walks)
    compared = []

    def stop_late(stage: str, done: int, total: int) -> None:
        if "compar" in stage and done > total / 2:
            raise Cancelled

    with pytest.raises(Cancelled):
        build_file(path, walks, progress=stop_late, workers=1)
    assert not path.exists()
    assert partial(path).exists()
    recorder = Recorder()
    graph = build_file(path, walks, progress=recorder, workers=1)
    compared = [total for stage, _, total in recorder.calls if "compar" in stage]
    everything = Recorder()
    build_graph(walks, progress=everything, workers=1)
    assert ("reading poses", len(walks), len(walks)) in recorder.calls
    assert 0 < compared[0] < max(total for stage, _, total in everything.calls if "compar" in stage)
    assert same_graph(graph, whole)
    assert graph.evaluated_share == whole.evaluated_share
    assert [p.name for p in tmp_path.iterdir()] == ["walks.mog"]


KILLED = """
    import sys, time
    import numpy as np
    from choreograph.distance import minima
    from choreograph.build.files import build_file
    from choreograph.graph.store import open_graph
    minima._BATCH_PAIRS = 1
    clips = list(open_graph(sys.argv[1]).clips)
    print("ready", flush=True)
    def slowly(stage, done, total):
        if "compar" in stage and done:
            print("comparing", flush=True)
        time.sleep(0.004)
    build_file(sys.argv[2], clips, overwrite=True, progress=slowly, workers=1)
    print("done", flush=True)
"""


@pytest.mark.slow
def test_a_build_killed_at_any_moment_leaves_the_old_file_and_can_go_on(walks, walker, tmp_path):
    clips = [*walks, *(walker.walk(f"more{k}", 3.0, phase=0.7 * k, turn=0.2 * k) for k in range(6))]
    whole = build_graph(clips)
    source, path = tmp_path / "source.mog", tmp_path / "target.mog"
    save_graph(whole, source)
    build_file(path, walks[:1])
    old = path.read_bytes()
    chance = random.Random(4)
    kills, resumed = 0, 0
    for attempt in range(12):
        had = partial(path).exists()
        process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(KILLED), str(source), str(path)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        resumed += had
        if attempt == 1:  # once for certain when some work has been kept, however slow the machine is
            process.stdout.readline()
        time.sleep(chance.uniform(0.0, 0.35))
        os.kill(process.pid, signal.SIGKILL)
        finished = process.stdout.read().endswith("done\n")
        process.stdout.close()
        process.wait()
        if finished:
            break
        kills += 1
        if path.read_bytes() != old:
            # Killed after the new file had taken its name: it is whole.
            assert same_graph(open_graph(path), whole)
            break
        assert len(open_graph(path).clips) == 1
    assert kills > 0
    assert resumed > 0
    assert same_graph(build_file(path, clips, overwrite=True), whole)
    assert same_graph(open_graph(path), whole)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["source.mog", "target.mog"]


def test_side_files_that_were_given_up_go_when_another_graph_is_built(tmp_path):
    day = time.time() - 25 * 3600

    def side_file(name: str) -> Checkpoint:
        checkpoint = Checkpoint(tmp_path / name)
        checkpoint.begin("walks")
        checkpoint.keep(2, 100, 10, some_minima(5))
        return checkpoint

    old, open_one, fresh, own = (side_file(name) for name in ("old.mog", "open.mog", "fresh.mog", "own.mog"))
    for checkpoint in (old, fresh, own):
        checkpoint.close()
    foreign = sqlite3.connect(tmp_path / "foreign.mog.partial")
    foreign.execute("CREATE TABLE t (x)")
    foreign.close()
    (tmp_path / "notes.mog.partial").write_text("mine")
    for name in ("old", "open", "own", "foreign", "notes"):
        os.utime(tmp_path / f"{name}.mog.partial", (day, day))
    own.begin("walks")
    assert len(own.batches()) == 1
    assert {path.name.removesuffix(".mog.partial") for path in tmp_path.glob("*.partial")} == {
        "open", "fresh", "own", "foreign", "notes"
    }  # fmt: skip
    assert len(open_one.batches()) == 1
    for checkpoint in (own, open_one):
        checkpoint.close()
