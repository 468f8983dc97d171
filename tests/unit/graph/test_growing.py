"""Files that begin as a copy of an earlier one: whole databases, with clips as they were and a graph of their own."""

import sqlite3
from pathlib import Path

import pytest

from choreograph.base.errors import GraphFileError
from choreograph.build.files import add_to_file, build_file, remove_from_file
from choreograph.build.staging import ClipStream
from choreograph.graph import growing, store
from choreograph.graph.lazy import PickedClips
from choreograph.graph.model import MotionGraph
from choreograph.graph.settings import GraphSettings
from choreograph.graph.store import open_graph


@pytest.fixture
def copied(monkeypatch) -> list[bool]:
    """Whether each file written since began as a copy."""
    said: list[bool] = []

    def copy(*what):
        said.append(growing.copy_clips(*what))
        return said[-1]

    monkeypatch.setattr(store, "copy_clips", copy)
    return said


def dump(path: Path) -> list[str]:
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    pages = connection.execute("PRAGMA page_count").fetchone()[0] * connection.execute("PRAGMA page_size").fetchone()[0]
    lines = [line for line in connection.iterdump() if '"provenance"' not in line and "clip_pages" not in line]
    connection.close()
    assert path.stat().st_size == pages
    return lines


@pytest.mark.parametrize("streamed", [False, True])
def test_a_file_grows_again_and_again_and_is_what_building_at_once_gives(walks, copied, tmp_path: Path, streamed):
    path, first = tmp_path / "a.mog", walks[:1]
    build_file(path, ClipStream(["one"], lambda _: first) if streamed else first)
    for clip in walks[1:]:
        add_to_file(path, [clip])
        dump(path)
    build_file(tmp_path / "b.mog", walks)
    assert copied == [True] * (len(walks) - 1)
    assert dump(path) == dump(tmp_path / "b.mog")
    for one, other in zip(open_graph(path).clips, open_graph(tmp_path / "b.mog").clips, strict=True):
        assert (one.local_rot == other.local_rot).all()
    assert path.stat().st_size <= (tmp_path / "b.mog").stat().st_size + 4096 * 8


@pytest.mark.parametrize("gone", [0, 2, -1])
@pytest.mark.parametrize("mirror", [False, True])
def test_a_file_without_a_clip_is_what_building_without_it_gives(walks, tmp_path: Path, monkeypatch, gone, mirror):
    path, settings = tmp_path / "a.mog", GraphSettings(mirror=mirror)
    build_file(path, walks, settings)
    monkeypatch.setattr(store, "write_clips", lambda _, graph, there: told.append((len(graph.infos), there)))
    told: list[tuple[int, int]] = []
    remove_from_file(path, [walks[gone].name])
    stay = (len(walks) - 1) * (1 + mirror)
    assert told == [(stay, stay)]  # none was read to be written again
    monkeypatch.undo()
    left = [clip for clip in walks if clip is not walks[gone]]
    build_file(tmp_path / "b.mog", left, settings)
    assert sorted(dump(path)) == sorted(dump(tmp_path / "b.mog"))
    add_to_file(path, [walks[gone]])
    build_file(tmp_path / "c.mog", [*left, walks[gone]], settings)
    assert sorted(dump(path)) == sorted(dump(tmp_path / "c.mog"))


def test_a_mirrored_copy_without_its_original_is_written_as_it_is_read(walks, tmp_path: Path):
    path = tmp_path / "a.mog"
    build_file(path, walks[:2], GraphSettings(mirror=True))
    graph = open_graph(path)
    part = graph.only(f"clip:{graph.infos[1].name}")
    assert part.clips.taken_from(part.infos) is None
    store.save_graph(part, tmp_path / "b.mog")
    assert (open_graph(tmp_path / "b.mog").clips[0].local_rot == graph.clips[1].local_rot).all()


def test_a_file_whose_clips_were_retargeted_in_it_grows_alike(walks, walker, copied, tmp_path: Path):
    clips = [walker.walk("tall", 4.0, scale=1.1), *walks[:-1]]
    path = tmp_path / "a.mog"
    build_file(path, ClipStream([clip.name for clip in clips], lambda number: [clips[number]]))
    add_to_file(path, walks[-1:])
    assert copied == [True]
    build_file(tmp_path / "b.mog", [*clips, walks[-1]])
    assert sorted(dump(path)) == sorted(dump(tmp_path / "b.mog"))


def test_a_graph_that_becomes_smaller_leaves_nothing_behind_it(walks, copied, tmp_path: Path):
    path = tmp_path / "a.mog"
    build_file(path, walks)
    graph = open_graph(path)
    tables = {part: getattr(graph, part) for part in ("minima", "nodes", "edges")}
    none = {part: table.take(slice(0, 0)) for part, table in tables.items()}
    clips = PickedClips([(graph.clips, n) for n in range(len(graph.infos))])
    small = MotionGraph(graph.settings, graph.threshold_m, clips, graph.infos, none, searched_m=graph.searched_m)
    before = path.stat().st_size
    store.save_graph(small, path, overwrite=True)
    assert copied == [True]
    dump(path)
    assert path.stat().st_size < before and len(open_graph(path).clips[0]) == len(walks[0])


@pytest.mark.parametrize(
    "commands",
    [
        ("VACUUM",),
        ("CREATE TABLE other (x)",),
        ("DELETE FROM fact WHERE name = 'clip_pages'",),
        ("UPDATE fact SET value = '[3, 1]' WHERE name = 'clip_pages'",),
        ("UPDATE fact SET value = '{}' WHERE name = 'clip_pages'",),
    ],
)
def test_a_file_that_somebody_has_changed_is_copied_row_by_row(walks, copied, tmp_path: Path, commands):
    path = tmp_path / "a.mog"
    build_file(path, walks[:-1])
    connection = sqlite3.connect(path, isolation_level=None)
    for command in commands:
        connection.execute(command)
    connection.close()
    add_to_file(path, walks[-1:])
    assert copied == [False]
    build_file(tmp_path / "b.mog", walks)
    assert dump(path) == dump(tmp_path / "b.mog")
    add_to_file(path, [walks[0].with_name("again")])
    assert copied == [False, True]


def test_a_file_that_was_replaced_since_it_was_opened_is_not_taken_for_it(walks, tmp_path: Path):
    path = tmp_path / "a.mog"
    build_file(path, walks[:2])
    graph = open_graph(path)
    assert growing.copy_clips(graph.clips.reader, tmp_path / "same.tmp")
    build_file(path, walks[1:], overwrite=True)
    assert not growing.copy_clips(graph.clips.reader, tmp_path / "other.tmp")
    assert not (tmp_path / "other.tmp").exists()


def test_a_file_that_is_replaced_while_it_is_copied_is_not_taken(walks, tmp_path: Path, monkeypatch):
    path = tmp_path / "a.mog"
    build_file(path, walks[:2])
    graph = open_graph(path)
    copy = growing._copy_beginning

    def replaced(source: Path, target: Path, size: int) -> None:
        build_file(source, walks[1:], overwrite=True)
        copy(source, target, size)

    monkeypatch.setattr(growing, "_copy_beginning", replaced)
    assert not growing.copy_clips(graph.clips.reader, tmp_path / "other.tmp")
    assert not (tmp_path / "other.tmp").exists()


def test_large_files_are_copied_past_memory_where_the_system_lets_one(walks, copied, tmp_path: Path, monkeypatch):
    path = tmp_path / "a.mog"
    build_file(path, walks[:-2])
    monkeypatch.setattr(growing, "_LARGE", 0)
    add_to_file(path, walks[-2:-1])

    def refused(*_):
        raise OSError(22, "Invalid argument")

    monkeypatch.setattr(growing.os, "preadv", refused)
    add_to_file(path, walks[-1:])
    assert copied == [True, True]
    build_file(tmp_path / "b.mog", walks)
    assert dump(path) == dump(tmp_path / "b.mog")


@pytest.mark.parametrize("size", [1, 4096, 70_000, 17 << 20])
def test_both_ways_to_copy_give_the_beginning(size: int, tmp_path: Path, monkeypatch):
    source = tmp_path / "whole"
    source.write_bytes(bytes(range(256)) * (size // 256 + 300))
    for large, target in ((0, tmp_path / "past"), (2 * size, tmp_path / "through")):
        monkeypatch.setattr(growing, "_LARGE", large)
        growing._copy_beginning(source, target, size)
        assert target.read_bytes()[:size] == source.read_bytes()[:size]


def test_no_room_for_the_copy_leaves_the_old_file(walks, tmp_path: Path, monkeypatch):
    path = tmp_path / "a.mog"
    build_file(path, walks[:-1])
    before = path.read_bytes()

    def full(source: Path, target: Path, size: int) -> None:
        target.write_bytes(b"begun")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(growing, "_copy_beginning", full)
    with pytest.raises(GraphFileError, match="No space left"):
        add_to_file(path, walks[-1:])
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir() if not p.name.endswith(".partial")] == ["a.mog"]
