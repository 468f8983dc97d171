from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable
from dataclasses import replace
from mmap import mmap
from pathlib import Path

import numpy as np
import pytest

from choreograph.build.graph import add_clips, build_graph
from choreograph.formats.atomic import atomic_write
from choreograph.graph import cache, lazy, tables
from choreograph.graph.cache import Content, Key
from choreograph.graph.model import MotionGraph
from choreograph.graph.settings import GraphSettings
from choreograph.graph.store import open_graph, save_graph
from choreograph.motion.clip import Clip, Label

KEY = Key("numbers", 1, {"motion": "abc"}, {"upto": 7}, "people.mog")
pytestmark = pytest.mark.usefixtures("empty_cache")


def numbers(count: int = 1000, value: float = 1.0) -> Content:
    return Content({"upto": count}, {"all": np.full(count, value), "none": np.zeros((0, 3), np.float32)})


def other(number: int) -> Key:
    return replace(KEY, settings={"upto": number})


def age(key: Key, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(key.path, (then, then))


def kept() -> set[Path]:
    return {entry.path for entry in cache.list_entries()}


# ---------------------------------------------------------------- what comes back


def test_what_is_written_comes_back_as_it_was_and_read_only() -> None:
    arrays = {
        "float": np.linspace(0, 1, 7),
        "grid": np.arange(12, dtype=np.int32).reshape(3, 4).T,
        "complex": np.array([1 + 2j, 3 - 4j]),
        "flags": np.array([True, False]),
        "empty": np.zeros((0, 4, 3), np.float32),
    }
    facts = {"third": 1 / 3, "words": ["ä", "b"], "nothing": None}
    assert cache.read_entry(KEY) is None
    assert cache.write_entry(KEY, Content(facts, arrays))
    found = cache.read_entry(KEY)
    assert found is not None and found.facts == facts and found.arrays.keys() == arrays.keys()
    for name, array in arrays.items():
        assert found.arrays[name].dtype == array.dtype and np.array_equal(found.arrays[name], array)
        assert not found.arrays[name].flags.writeable and found.arrays[name].flags.c_contiguous
        assert found.arrays[name].flags.aligned


@pytest.mark.parametrize(
    "changed",
    [
        replace(KEY, kind="others"),
        replace(KEY, method=2),
        replace(KEY, fingerprint={"motion": "abd"}),
        replace(KEY, settings={"upto": 8}),
    ],
)
def test_another_key_is_another_entry(changed: Key) -> None:
    cache.write_entry(KEY, numbers())
    assert cache.read_entry(changed) is None
    assert cache.read_entry(replace(KEY, graph="renamed.mog")) is not None


def test_it_is_built_once(empty_cache: Path) -> None:
    built = []

    def build() -> float:
        built.append(1)
        return 4.5

    def find(unpack: Callable[[Content], float] = lambda content: content.facts["x"]) -> float:
        return cache.find_or_build(KEY, build, lambda x: Content({"x": x}, {}), unpack)

    def fail(content: Content) -> float:
        raise ValueError("this does not fit")

    assert (find(), find(), len(built)) == (4.5, 4.5, 1)
    assert (find(fail), len(built)) == (4.5, 2), "what cannot be used counts as absent"
    assert len(list(empty_cache.iterdir())) == 1


# ---------------------------------------------------------------- damage


@pytest.mark.parametrize("part", ["start", "header", "arrays", "end"])
def test_a_changed_byte_makes_an_entry_absent(part: str) -> None:
    cache.write_entry(KEY, numbers())
    data = bytearray(KEY.path.read_bytes())
    at = {"start": 3, "header": data.index(b"upto"), "arrays": len(data) - 4000, "end": len(data) - 1}[part]
    data[at] ^= 0x10
    KEY.path.write_bytes(bytes(data))
    assert cache.read_entry(KEY) is None
    assert cache.write_entry(KEY, numbers()) and cache.read_entry(KEY) is not None


@pytest.mark.parametrize("size", [0, 10, 30, 100, 5000, 1_000_000])
def test_an_entry_of_another_length_is_absent(size: int) -> None:
    cache.write_entry(KEY, numbers())
    data = KEY.path.read_bytes()
    KEY.path.write_bytes(data[:size].ljust(size, b"\0"))
    assert cache.read_entry(KEY) is None
    [entry] = cache.list_entries()
    assert (entry.kind, entry.graph, entry.bytes) == ("numbers", "", size)


def test_an_entry_under_the_name_of_another_is_absent() -> None:
    cache.write_entry(KEY, numbers())
    KEY.path.rename(other(1).path)
    assert cache.read_entry(other(1)) is None


def test_arrays_that_were_read_stay_when_the_entry_goes() -> None:
    cache.write_entry(KEY, numbers(value=1.0))
    found = cache.read_entry(KEY)
    cache.write_entry(KEY, numbers(value=2.0))
    assert len(cache.clear_entries()) == 1
    assert found is not None and (found.arrays["all"] == 1.0).all()


# ---------------------------------------------------------------- room


def test_the_least_recently_used_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHOREOGRAPH_CACHE_GB", str(35e-6))  # room for four of 8 kB
    for number in range(4):
        assert cache.write_entry(other(number), numbers())
        age(other(number), 100 - number)
    cache.read_entry(other(0))
    cache.write_entry(other(4), numbers())
    cache.write_entry(other(5), numbers())
    assert kept() == {other(number).path for number in (0, 3, 4, 5)}
    assert sum(entry.bytes for entry in cache.list_entries()) <= 35_000
    assert not cache.write_entry(other(6), numbers(10_000)), "what has no room at all is not kept"
    assert len(kept()) == 4


def test_writing_anew_needs_no_more_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHOREOGRAPH_CACHE_GB", str(18e-6))
    for number in (0, 1, 1, 1):
        cache.write_entry(other(number), numbers())
    assert kept() == {other(0).path, other(1).path}


def test_zero_turns_it_off(monkeypatch: pytest.MonkeyPatch, walks: list[Clip]) -> None:
    cache.write_entry(KEY, numbers())
    monkeypatch.setenv("CHOREOGRAPH_CACHE_GB", "0")
    assert cache.limit_bytes() == 0
    assert cache.find_key(build_graph(walks[:1]), "numbers", 1, ("motion",)) is None
    assert cache.find_or_build(None, lambda: 3, lambda _: numbers(), lambda _: 4) == 3
    assert len(kept()) == 1


@pytest.mark.parametrize(
    ("said", "bytes_"), [("2", 2e9), ("0.5", 5e8), ("-1", 0), ("many", 4e9), ("nan", 4e9), ("", 4e9)]
)
def test_how_large_it_may_be(monkeypatch: pytest.MonkeyPatch, said: str, bytes_: float) -> None:
    monkeypatch.setenv("CHOREOGRAPH_CACHE_GB", said)
    assert cache.limit_bytes() == bytes_


def test_what_somebody_is_writing_is_no_entry(empty_cache: Path) -> None:
    with atomic_write(KEY.path) as temporary:
        temporary.write_bytes(b"half")
        assert cache.list_entries() == [] and cache.clear_entries() == [] and temporary.exists()
        assert cache.write_entry(other(1), numbers()) and kept() == {other(1).path}


# ---------------------------------------------------------------- it never fails


def test_a_folder_that_cannot_be_made_is_done_without(empty_cache: Path) -> None:
    empty_cache.parent.mkdir()
    empty_cache.write_text("a file is in the way")
    assert not cache.write_entry(KEY, numbers())
    assert cache.read_entry(KEY) is None and cache.list_entries() == [] and cache.clear_entries() == []
    assert cache.find_or_build(KEY, lambda: 3, lambda _: numbers(), lambda _: 4) == 3


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written_to_is_read(empty_cache: Path) -> None:
    cache.write_entry(KEY, numbers())
    empty_cache.chmod(0o500)
    try:
        assert not cache.write_entry(other(1), numbers())
        assert cache.read_entry(KEY) is not None
    finally:
        empty_cache.chmod(0o700)


def test_a_full_disk_leaves_nothing_half_made(empty_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache.write_entry(KEY, numbers(value=1.0))
    views = []

    def full(array: np.ndarray) -> memoryview:
        views.append(array)
        if len(views) > 1:  # the first array is written
            raise OSError(28, "No space left on device")
        return array.reshape(-1).view(np.uint8).data

    monkeypatch.setattr(cache, "_bytes", full)
    assert not cache.write_entry(KEY, numbers(value=2.0))
    monkeypatch.undo()
    monkeypatch.setenv("CHOREOGRAPH_CACHE", str(empty_cache.parent))
    found = cache.read_entry(KEY)
    assert found is not None and (found.arrays["all"] == 1.0).all()
    assert [path.name for path in empty_cache.iterdir()] == [KEY.path.name]


def write_often(value: float) -> None:
    for _ in range(50):
        cache.write_entry(KEY, numbers(20_000, value))


def test_two_writers_at_once(empty_cache: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    writers = [spawn.Process(target=write_often, args=(value,)) for value in (1.0, 2.0)]
    for writer in writers:
        writer.start()
    seen = set()
    while any(writer.is_alive() for writer in writers):
        found = cache.read_entry(KEY)
        if found is not None:  # it is always one writer's, whole
            seen |= set(np.unique(found.arrays["all"]).tolist())
            assert len(np.unique(found.arrays["all"])) == 1
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    found = cache.read_entry(KEY)
    assert found is not None and seen <= {1.0, 2.0}
    assert [path.name for path in empty_cache.iterdir()] == [KEY.path.name]


# ---------------------------------------------------------------- lists


def test_entries_are_listed_and_cleared_by_kind() -> None:
    cache.write_entry(KEY, numbers())
    cache.write_entry(replace(KEY, kind="other things", graph=""), numbers(10))
    age(KEY, 1000)
    recent, old = cache.list_entries()
    assert (recent.kind, recent.graph, old.kind, old.graph) == ("other things", "", "numbers", "people.mog")
    assert (old.used - recent.used).total_seconds() < -900 and old.bytes == KEY.path.stat().st_size
    assert [entry.kind for entry in cache.clear_entries("numbers")] == ["numbers"]
    assert [entry.kind for entry in cache.list_entries()] == ["other things"]
    assert len(cache.clear_entries()) == 1 and cache.list_entries() == []


# ---------------------------------------------------------------- fingerprints


@pytest.fixture
def graph(walks: list[Clip]) -> MotionGraph:
    return build_graph(walks, GraphSettings(mirror=True))


def test_a_file_and_the_graph_in_memory_have_one_fingerprint(graph: MotionGraph, tmp_path: Path) -> None:
    save_graph(graph, tmp_path / "walks.mog")
    opened = open_graph(tmp_path / "walks.mog")
    in_memory, in_file = graph.fingerprint, opened.fingerprint
    assert (in_memory.motion, in_memory.labels, in_memory.edges) == (in_file.motion, in_file.labels, in_file.edges)
    assert opened.clips._kept == {}, "no clip was read for it"  # type: ignore[attr-defined]
    key = cache.find_key(opened, "numbers", 1, ("motion",))
    assert key is not None and key.graph == "walks.mog"
    cache.write_entry(key, numbers())
    [entry] = cache.list_entries()
    assert entry.is_of(in_memory) and entry.graph == "walks.mog"


def test_each_part_changes_with_what_it_is_of(graph: MotionGraph, walks: list[Clip]) -> None:
    def fingerprint(clips: list[Clip], **settings: object) -> list[str]:
        return list(build_graph(clips, GraphSettings(mirror=True, **settings)).fingerprint)  # type: ignore[arg-type]

    def changed(clips: list[Clip], **settings: object) -> list[bool]:
        return [a != b for a, b in zip(fingerprint(clips, **settings), graph.fingerprint, strict=True)]

    first, *others = walks
    assert changed(walks) == [False, False, False, False]
    assert changed([first.with_name("another"), *others]) == [False, True, False, False]
    labelled = replace(first, labels=(Label("slow", 3, 9),))
    assert changed([labelled, *others]) == [False, True, False, False]
    contacts = np.zeros((len(first), len(first.skeleton.feet)), bool)
    assert changed([replace(first, contacts=contacts), *others]) == [False, False, True, False]
    assert changed(walks, threshold_m=0.01)[:3] == [False, False, False]
    assert changed(walks, threshold_m=0.01)[3]
    moved = np.array(first.root_pos)
    moved[-1] += 1e-9
    assert changed([replace(first, root_pos=moved), *others])[0]


def test_a_graph_that_grows_is_another(graph: MotionGraph, walks: list[Clip]) -> None:
    grown = add_clips(graph, [walks[0][2:].with_name("again")])
    assert grown.fingerprint.motion != graph.fingerprint.motion


def test_edges_of_a_large_file_are_kept_in_the_cache_and_mapped(tmp_path: Path, walks, monkeypatch) -> None:
    path = tmp_path / "walks.mog"
    save_graph(build_graph(walks), path)
    plain = open_graph(path)
    columns = plain.edges.columns()
    assert not cache.list_entries()
    monkeypatch.setattr(lazy, "_MANY_EDGES", 0)

    def columns_again() -> None:
        again = open_graph(path)
        for name, column in columns.items():
            assert np.array_equal(getattr(again.edges, name), column)
        assert np.array_equal(again.first_edge, np.searchsorted(plain.edges.source, np.arange(len(plain.nodes) + 1)))

    columns_again()
    (entry,) = cache.list_entries()
    assert entry.kind == "edges" and entry.is_of(plain.fingerprint)
    with monkeypatch.context() as patch:  # now nobody reads them from the file, nor copies them
        patch.setattr(lazy.LazyTables, "_read", lambda *_: pytest.fail("the file was read"))
        patch.setattr(tables.Edges, "first_of", lambda *_: pytest.fail("where edges begin was counted again"))
        columns_again()
        again = open_graph(path).edges.yaw
    while isinstance(again, np.ndarray):
        again = again.base
    assert isinstance(again, memoryview) and isinstance(again.obj, mmap)
    entry.path.write_bytes(entry.path.read_bytes()[:-1] + b"!")
    columns_again()
