import os
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from choreograph.build.estimate import estimate_build
from choreograph.build.files import add_to_file, build_file
from choreograph.build.staging import ClipStream, Staging
from choreograph.errors import FormatError, GraphFileError
from choreograph.graph import writing
from choreograph.graph.lazy import PickedClips
from choreograph.graph.settings import GraphSettings
from choreograph.graph.store import open_graph


class Stopped(Exception):
    pass


def stream_of(clips, read: list[int], stop_at: int | None = None) -> ClipStream:
    def one(number: int):
        if number == stop_at:
            raise Stopped
        read.append(number)
        return [clips[number]]

    return ClipStream([clip.name for clip in clips], one)


def same(a, b) -> None:
    assert [info.name for info in a.infos] == [info.name for info in b.infos]
    for part in ("minima", "nodes", "edges"):
        for name, column in getattr(a, part).columns().items():
            np.testing.assert_array_equal(column, getattr(getattr(b, part), name))


@pytest.mark.parametrize("mirror", [False, True])
def test_a_stream_gives_the_same_graph_as_all_clips_at_once(walks, tmp_path: Path, mirror: bool):
    settings = GraphSettings(mirror=mirror)
    streamed = build_file(tmp_path / "a.mog", stream_of(walks, []), settings)
    same(streamed, build_file(tmp_path / "b.mog", walks, settings))
    same(open_graph(tmp_path / "a.mog"), open_graph(tmp_path / "b.mog"))
    assert open_graph(tmp_path / "a.mog").fingerprint == open_graph(tmp_path / "b.mog").fingerprint
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.mog", "b.mog"]


def test_a_build_that_was_stopped_reads_nothing_twice(walks, tmp_path: Path):
    read: list[int] = []
    with pytest.raises(Stopped):
        build_file(tmp_path / "a.mog", stream_of(walks, read, stop_at=1))
    assert (tmp_path / "a.mog.clips").exists()
    graph = build_file(tmp_path / "a.mog", stream_of(walks, read))
    assert read == list(range(len(walks)))
    same(graph, build_file(tmp_path / "b.mog", walks))


def test_a_build_that_was_stopped_after_comparing_needs_no_windows(walks, tmp_path: Path, monkeypatch):
    def full(*_: object, **__: object) -> None:
        raise Stopped

    with monkeypatch.context() as patch:
        patch.setattr(Staging, "finish", full)
        with pytest.raises(Stopped):
            build_file(tmp_path / "a.mog", stream_of(walks, []))
    with monkeypatch.context() as patch:
        patch.setattr("choreograph.build.comparison.window_clip", full)
        graph = build_file(tmp_path / "a.mog", stream_of(walks, []))
    same(graph, build_file(tmp_path / "b.mog", walks))
    assert graph.evaluated_share == open_graph(tmp_path / "b.mog").evaluated_share


def test_adding_copies_the_clips_that_are_there_without_reading_them(walks, tmp_path: Path, monkeypatch):
    build_file(tmp_path / "a.mog", walks[:-1])
    written = []
    write = writing.write_clip_row
    monkeypatch.setattr(writing, "write_clip_row", lambda *row: (written.append(row[2].name), write(*row)))
    add_to_file(tmp_path / "a.mog", walks[-1:])
    assert written == [walks[-1].name]
    grown, whole = open_graph(tmp_path / "a.mog"), build_file(tmp_path / "b.mog", walks)
    same(grown, whole)
    assert grown.fingerprint == open_graph(tmp_path / "b.mog").fingerprint
    # Under other names they are other rows.
    renamed = [replace(info, name=f"{info.name}!") for info in grown.infos]
    assert PickedClips([(grown.clips, n) for n in range(len(walks))]).begins_with(renamed) is None


def test_other_sources_start_afresh(walks, tmp_path: Path):
    with pytest.raises(Stopped):
        build_file(tmp_path / "a.mog", stream_of(walks, [], stop_at=1))
    read: list[int] = []
    graph = build_file(tmp_path / "a.mog", stream_of(walks[1:], read))
    assert read == list(range(len(walks) - 1))
    same(graph, build_file(tmp_path / "b.mog", walks[1:]))


def test_two_builds_of_one_file_are_refused(walks, tmp_path: Path):
    first = Staging(tmp_path / "a.mog")
    held = first.fill(stream_of(walks, []), GraphSettings(), None, None)
    assert len(held.clips) == len(walks)
    with pytest.raises(GraphFileError, match="another build"):
        build_file(tmp_path / "a.mog", stream_of(walks, []))
    del held
    first.discard()


def test_a_skeleton_to_carry_clips_onto_holds_for_a_stream(walks, walker, tmp_path: Path):
    tall = [*walks, walker.walk("tall", 4.0, scale=1.1)]
    onto = walks[0].skeleton
    streamed = build_file(tmp_path / "a.mog", stream_of(tall, []), onto=onto)
    same(streamed, build_file(tmp_path / "b.mog", tall, onto=onto))


def test_estimates_grow_faster_than_the_motion():
    small, large = estimate_build(1), estimate_build(10)
    assert large.cpu_s > 10 * small.cpu_s and "1,080,000 windows" in str(large)


def test_a_broken_file_leaves_nothing_behind(walks, tmp_path: Path):
    def one(number: int):
        if number:
            raise FormatError("is broken", path="walk.bvh")
        return [walks[number]]

    with pytest.raises(FormatError):
        build_file(tmp_path / "a.mog", ClipStream([clip.name for clip in walks], one))
    assert not list(tmp_path.iterdir())


def test_what_stopped_builds_left_is_swept_after_a_day(walks, tmp_path: Path):
    for name in ("old", "new", "open"):
        with pytest.raises(Stopped):
            build_file(tmp_path / f"{name}.mog", stream_of(walks, [], stop_at=1))
    (tmp_path / "mine.mog.clips").write_text("somebody's own notes")
    held = Staging(tmp_path / "open.mog")
    prepared = held.fill(stream_of(walks, []), GraphSettings(), None, None)
    long_ago = time.time() - 2 * 86_400
    for name in ("old", "open", "mine"):
        os.utime(tmp_path / f"{name}.mog.clips", (long_ago, long_ago))
    build_file(tmp_path / "a.mog", stream_of(walks, []))
    assert len(prepared.clips) == len(walks)
    held.close()
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == ["a.mog", "mine.mog.clips", "new.mog.clips", "open.mog.clips"]


def test_estimates_are_near_what_was_measured():
    # With 26 microseconds for each frame of files at 120 Hz.
    for windows, cpu_s, memory_gib in ((250_000, 35 + 26, 0.77), (1_000_000, 371 + 104, 2.60)):
        told = estimate_build(windows / 30 / 3600)
        assert told.cpu_s == pytest.approx(cpu_s, rel=0.2)
        assert 0.95 * memory_gib <= told.memory_bytes / 2**30 <= 1.2 * memory_gib
