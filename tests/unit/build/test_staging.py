import json
import os
import time
import weakref
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from choreograph.base.errors import Cancelled, FormatError, GraphFileError, SkeletonMismatch
from choreograph.build.estimate import estimate_build
from choreograph.build.files import add_to_file, build_file
from choreograph.build.graph import build_graph
from choreograph.build.staging import ClipStream, Staging
from choreograph.graph import writing
from choreograph.graph.lazy import PickedClips
from choreograph.graph.settings import GraphSettings
from choreograph.graph.store import open_graph
from choreograph.motion.clip import Clip, Source
from choreograph.motion.root_motion import with_root_bone
from choreograph.motion.skeleton import Skeleton
from choreograph.motion.unify_skeletons import Casting


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


@pytest.mark.parametrize("adding", [False, True])
def test_a_source_that_was_left_out_is_said_though_work_was_stopped_since(walks, tmp_path: Path, adding: bool):
    def stream(stop_at: int | None) -> ClipStream:
        def one(number: int):
            if number == stop_at:
                raise Stopped
            if number == 1:
                raise FormatError("it is cut short", path="b.bvh")
            return [walks[number]]

        return ClipStream(["a", "b", "c"], one, skip_bad=True)

    path = tmp_path / "a.mog"
    if adding:
        build_file(path, walks[3:])
    work = add_to_file if adding else build_file
    with pytest.raises(Stopped):
        work(path, stream(2))
    graph = work(path, stream(None))
    assert [str(note) for note in graph.notes if note.kind == "unread"] == [
        "a file was left out: b.bvh: it is cut short"
    ]
    assert {walks[0].name, walks[2].name} <= {info.name for info in graph.infos}
    assert not any(note.kind == "unread" for note in open_graph(path).notes), "it says nothing about the graph"


def test_sources_of_several_clips_are_gone_on_from(walks, tmp_path: Path):
    """One file may have several takes: none is read twice, none is lost."""
    read: list[int] = []

    def stream(stop_at: int | None = None) -> ClipStream:
        def one(number: int):
            if number == stop_at:
                raise Stopped
            read.append(number)
            return walks[:2] if number == 0 else walks[2:]

        return ClipStream(["first", "second"], one)

    with pytest.raises(Stopped):
        build_file(tmp_path / "a.mog", stream(stop_at=1))
    graph = build_file(tmp_path / "a.mog", stream())
    assert read == [0, 1]
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


@pytest.mark.parametrize("changed", [{"taper": "uniform"}, {"weights": "uniform"}, {"threshold_m": 0.03}])
def test_what_was_compared_by_other_settings_is_not_gone_on_from(walks, tmp_path: Path, monkeypatch, changed):
    with monkeypatch.context() as patch:
        patch.setattr(Staging, "finish", lambda *_, **__: (_ for _ in ()).throw(Cancelled))
        with pytest.raises(Cancelled):
            build_file(tmp_path / "a.mog", stream_of(walks, []))
    assert (tmp_path / "a.mog.partial").exists()
    asked = GraphSettings(**changed)
    graph, alone = (build_file(tmp_path / f"{x}.mog", stream_of(walks, []), asked) for x in "ab")
    same(graph, alone)
    assert not np.array_equal(graph.minima.distance_m, build_graph(walks).minima.distance_m)


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


@pytest.mark.parametrize("mirror", [False, True])
def test_a_stream_adds_what_all_clips_at_once_add(walks, walker, tmp_path: Path, mirror: bool):
    """Other bodies, one without legs, a name that is taken, a file that is there already, one that is too short."""
    settings = GraphSettings(mirror=mirror)
    there = [replace(clip, source=Source(f"{clip.name}.bvh", "bvh", clip.name)) for clip in walks[:2]]
    new = [*many_bodies(walks[2:], walker), walks[-1][:4].with_name("brief"), there[0]]
    made = []
    for name, clips in (("a.mog", stream_of(new, [])), ("b.mog", new)):
        build_file(tmp_path / name, there, settings)
        made.append(add_to_file(tmp_path / name, clips))
    assert [str(note) for note in made[0].notes] == [str(note) for note in made[1].notes]
    streamed, whole = open_graph(tmp_path / "a.mog"), open_graph(tmp_path / "b.mog")
    same(streamed, whole)
    assert streamed.infos == whole.infos and streamed.fingerprint == whole.fingerprint
    assert streamed.notes == whole.notes
    assert {"already-there", "too-short", "left-out", "retargeted", "folded-root"} == {n.kind for n in made[0].notes}
    for one, other in zip(streamed.clips, whole.clips, strict=True):
        assert (one.local_rot == other.local_rot).all() and (one.contacts == other.contacts).all()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.mog", "b.mog"]


def test_an_addition_that_was_stopped_leaves_the_file_and_reads_nothing_twice(walks, tmp_path: Path, monkeypatch):
    build_file(tmp_path / "a.mog", walks[:1])
    before, read = (tmp_path / "a.mog").read_bytes(), list[int]()
    with pytest.raises(Stopped):
        add_to_file(tmp_path / "a.mog", stream_of(walks[1:], read, stop_at=1))

    def full(*_: object, **__: object) -> None:
        raise Stopped

    with monkeypatch.context() as patch:
        patch.setattr("choreograph.build.files.save_graph", full)
        with pytest.raises(Stopped):
            add_to_file(tmp_path / "a.mog", stream_of(walks[1:], read))
    assert (tmp_path / "a.mog").read_bytes() == before and (tmp_path / "a.mog.clips").exists()
    add_to_file(tmp_path / "a.mog", stream_of(walks[1:], read))
    assert read == list(range(len(walks) - 1))
    same(open_graph(tmp_path / "a.mog"), build_file(tmp_path / "b.mog", walks))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.mog", "b.mog"]


def test_what_was_read_for_another_graph_is_not_added(walks, tmp_path: Path):
    """It may have names that the graph has by now."""
    build_file(tmp_path / "a.mog", walks[:1])
    with pytest.raises(Stopped):
        add_to_file(tmp_path / "a.mog", stream_of(walks[1:], [], stop_at=1))
    add_to_file(tmp_path / "a.mog", walks[1:2])
    read: list[int] = []
    grown = add_to_file(tmp_path / "a.mog", stream_of(walks[1:], read))
    assert read == list(range(len(walks) - 1))
    assert [info.name for info in grown.infos[1:3]] == [walks[1].name, f"{walks[1].name}~2"]


def test_one_clip_that_is_added_at_a_time_is_in_memory(walks, walker, tmp_path: Path):
    made: list[weakref.ref[np.ndarray]] = []

    def one(number: int):
        assert sum(array() is not None for array in made) <= 1, "sources are let go of"
        clip = walker.walk(f"walk{number}", 3.0, scale=1.0 + 0.02 * (number % 3), phase=0.1 * number)
        made.append(weakref.ref(clip.root_pos))
        return [clip]

    build_file(tmp_path / "a.mog", walks[:1])
    assert len(add_to_file(tmp_path / "a.mog", ClipStream([str(n) for n in range(8)], one)).infos) == 9


def test_a_broken_file_among_those_that_are_added_leaves_nothing_behind(walks, tmp_path: Path):
    build_file(tmp_path / "a.mog", walks[:1])

    def one(number: int):
        if number:
            raise FormatError("is broken", path="b.bvh")
        return [walks[1]]

    with pytest.raises(FormatError, match=r"b\.bvh: is broken"):
        add_to_file(tmp_path / "a.mog", ClipStream(["a", "b"], one))
    assert [path.name for path in tmp_path.iterdir()] == ["a.mog"]


def test_other_sources_start_afresh(walks, tmp_path: Path):
    with pytest.raises(Stopped):
        build_file(tmp_path / "a.mog", stream_of(walks, [], stop_at=1))
    read: list[int] = []
    graph = build_file(tmp_path / "a.mog", stream_of(walks[1:], read))
    assert read == list(range(len(walks) - 1))
    same(graph, build_file(tmp_path / "b.mog", walks[1:]))


def test_two_builds_of_one_file_are_refused(walks, tmp_path: Path):
    first = Staging(tmp_path / "a.mog")
    held = first.fill(stream_of(walks, []), GraphSettings(), True, None)
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


def many_bodies(walks, walker) -> list:
    """Two tall people first, one with a helper above the hips, one without legs, several of one body."""
    stick = Skeleton(("a", "b"), np.array([-1, 0], np.int32), np.array([[0.0, 0, 0], [0, 1, 0]]))
    bone = Clip(stick, 30.0, np.zeros((60, 3)), np.tile([1.0, 0, 0, 0], (60, 2, 1)), "bone")
    tall = [walker.walk("tall", 4.0, scale=1.1), walker.walk("taller", 4.0, scale=1.2)]
    return [*tall, bone, with_root_bone(walks[0].with_name("helped")), *walks, walker.walk("tall", 3.0, scale=1.1)]


@pytest.mark.parametrize("mirror", [False, True])
def test_bodies_of_a_stream_become_one_as_they_do_at_once(walks, walker, tmp_path: Path, mirror: bool):
    clips, settings = many_bodies(walks, walker), GraphSettings(mirror=mirror)
    streamed = build_file(tmp_path / "a.mog", stream_of(clips, []), settings)
    whole = build_file(tmp_path / "b.mog", clips, settings)
    same(streamed, whole)
    assert [str(note) for note in streamed.notes] == [str(note) for note in whole.notes]
    kinds = [note.kind for note in streamed.notes]
    assert kinds[:4] == ["folded-root", "retargeted", "retargeted", "left-out"]
    streamed, whole = open_graph(tmp_path / "a.mog"), open_graph(tmp_path / "b.mog")
    assert streamed.fingerprint == whole.fingerprint
    for one, other in zip(streamed.clips, whole.clips, strict=True):
        assert one.skeleton.matches(walks[0].skeleton) and (one.local_rot == other.local_rot).all()
        assert (one.contacts == other.contacts).all()


def test_a_build_that_was_stopped_carries_nothing_twice(walks, walker, tmp_path: Path, monkeypatch):
    clips, carried, read = many_bodies(walks, walker), list[str](), list[int]()
    carry = Casting.carry

    def counted(casting, clip, stance):
        carried.append(clip.name)
        return carry(casting, clip, stance)

    def until(stop: int):
        def hear(stage: str, done: int, total: int) -> None:
            if stage == "carrying clips over" and done == stop:
                raise Cancelled

        return hear

    monkeypatch.setattr(Casting, "carry", counted)
    for stop in (1, 2, 3):
        with pytest.raises(Cancelled):
            build_file(tmp_path / "a.mog", stream_of(clips, read), progress=until(stop))
    graph = build_file(tmp_path / "a.mog", stream_of(clips, read))
    assert read == list(range(len(clips)))
    # In the order of the bodies: the two of the first person, then the others.
    assert carried == ["tall", "tall~2", "taller", "bone"]
    monkeypatch.undo()
    whole = build_file(tmp_path / "b.mog", clips)
    same(graph, whole)
    assert [str(note) for note in graph.notes] == [str(note) for note in whole.notes]


def test_a_disk_that_fills_up_while_clips_are_carried_over_is_said_and_gone_on_from(walks, walker, tmp_path: Path):
    clips = many_bodies(walks, walker)

    def fill_up(stage: str, done: int, total: int) -> None:
        if stage == "carrying clips over" and done == 1:
            held[0].connection.execute("PRAGMA max_page_count = 1")

    held, begin = [], Staging.__init__

    def seen(staging: Staging, path: Path) -> None:
        begin(staging, path)
        held.append(staging)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Staging, "__init__", seen)
        with pytest.raises(GraphFileError, match="the disk is full"):
            build_file(tmp_path / "a.mog", stream_of(clips, []), progress=fill_up)
    assert not (tmp_path / "a.mog").exists()
    same(build_file(tmp_path / "a.mog", stream_of(clips, [])), build_file(tmp_path / "b.mog", clips))


def test_skeletons_of_a_stream_that_differ_are_refused_if_asked(walks, walker, tmp_path: Path):
    clips = [*walks, walker.walk("tall", 4.0, scale=1.1)]
    with pytest.raises(SkeletonMismatch, match="'tall'"):
        build_file(tmp_path / "a.mog", stream_of(clips, []), onto=False)
    assert not list(tmp_path.iterdir())


def test_one_clip_of_a_stream_at_a_time_is_in_memory(walker, tmp_path: Path):
    """However many bodies there are: what was read goes into the file, not onto a list."""
    made: list[weakref.ref[np.ndarray]] = []

    def one(number: int):
        assert sum(array() is not None for array in made) <= 1, "sources are let go of"
        clip = walker.walk(f"walk{number}", 3.0, scale=1.0 + 0.02 * (number % 5), phase=0.1 * number)
        made.append(weakref.ref(clip.root_pos))
        return [clip]

    graph = build_file(tmp_path / "a.mog", ClipStream([str(n) for n in range(12)], one))
    assert len(graph.infos) == 12


def test_estimates_grow_faster_than_the_motion():
    small, large = estimate_build(1), estimate_build(10)
    assert large.cpu_s > 10 * small.cpu_s and "1,080,000 windows" in str(large)


def test_estimates_are_told_in_units_that_suit_them():
    assert "about 1 s of CPU, 0.3 GiB" in str(estimate_build(0.001)) and "a file of 1 MB" in str(estimate_build(0.001))
    assert "min of CPU" in str(estimate_build(7.5)) and "1.4 GB from recordings" in str(estimate_build(7.5))
    assert "9.1 h of CPU" in str(estimate_build(93)) and "120 h" not in str(estimate_build(93))


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
    prepared = held.fill(stream_of(walks, []), GraphSettings(), True, None)
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
    assert told.recorded_bytes == pytest.approx(4.95e9, rel=0.05)


def test_what_is_written_for_each_file_does_not_grow_with_the_notes(walker, walks, tmp_path: Path, monkeypatch):
    sizes = []
    dumps = json.dumps

    def measured(value, **given):
        nonlocal sizes
        text = dumps(value, **given)
        sizes += [len(text)] if "to_carry" in text else []
        return text

    short = [walker.walk(f"short {n}", 0.1) for n in range(50)]
    monkeypatch.setattr("choreograph.build.retarget_staged.json.dumps", measured)
    clips = [*short, *walks]
    graph = build_file(tmp_path / "a.mog", stream_of(clips, []))
    assert len(sizes) > 50 and max(sizes) < 500
    assert [note.message for note in graph.notes if note.kind == "too-short"] == [
        "50 clips were left out, such as 'short 0': it lasts 0.10 s, less than a window"
    ]
