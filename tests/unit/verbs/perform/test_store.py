from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

from choreograph.base.errors import GraphFileError, OutputExists, RequestError
from choreograph.build.files import add_to_file, build_file, remove_from_file
from choreograph.demo import demo_clip, demo_clips
from choreograph.graph import cache
from choreograph.graph.store import open_graph
from choreograph.verbs.perform import prepare
from choreograph.verbs.perform.control import Control
from choreograph.verbs.perform.examples import Example, LazyList, SegmentDatabase
from choreograph.verbs.perform.prepare import WALKS, CutSettings, open_segments, save_segments
from choreograph.verbs.perform.sequence import find_segments

pytestmark = pytest.mark.usefixtures("empty_cache")
TIMES = tuple(tuple(0.1 + 0.6 * k for k in range(9)) for _ in range(3))


@pytest.fixture
def pairs(make_example: Callable[..., Example], tmp_path: Path) -> Path:
    path = tmp_path / "new" / "pairs.mog"
    save_segments(path, [make_example(seed) for seed in range(3)], CutSettings(TIMES))
    return path


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("graphs") / "walks.mog"
    build_file(path, [c for c in demo_clips(30.0) if c.name in ("walk", "walk_veer_left", "walk_weave")])
    return path


@pytest.fixture
def walks(built: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(built, tmp_path / "walks.mog"))


def forbid_building(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError("was built again")

    monkeypatch.setattr(prepare, "make_examples", fail)


def assert_same(one: SegmentDatabase, other: SegmentDatabase) -> None:
    assert (one.names, one.fps, one.control_roles, one.target_roles) == (
        other.names,
        other.fps,
        other.control_roles,
        other.target_roles,
    )
    for name in ("example", "start", "stop"):
        assert np.array_equal(getattr(one, name), getattr(other, name))
    for a, b in zip((*one.controls, *one.target_points), (*other.controls, *other.target_points), strict=True):
        assert np.array_equal(a, b)


def test_pairs_come_back_as_they_were(pairs: Path, make_example: Callable[..., Example]):
    examples = [make_example(seed) for seed in range(3)]
    kept = open_segments(pairs)
    assert isinstance(kept.examples, LazyList)
    assert_same(CutSettings(TIMES).build(examples), kept)
    for mine, theirs in zip(examples, kept.examples, strict=True):
        assert np.array_equal(mine.target.local_rot, theirs.target.local_rot)
        assert mine.leader is not None and theirs.leader is not None
        assert np.array_equal(mine.leader.root_pos, theirs.leader.root_pos)
        assert np.array_equal(mine.target.contacts, theirs.target.contacts)
    control = Control(make_example(9).control, kept.fps)
    here, there = find_segments(CutSettings(TIMES).build(examples), control), find_segments(kept, control)
    assert [(p.segment, p.start_s) for p in here.pieces] == [(p.segment, p.start_s) for p in there.pieces]
    assert here.cost == pytest.approx(there.cost, rel=1e-12)


def test_a_search_reads_no_clip(pairs: Path, make_example: Callable[..., Example], monkeypatch: pytest.MonkeyPatch):
    kept = open_segments(pairs)

    def fail(*_: object, **__: object) -> None:
        raise AssertionError("a clip was read")

    monkeypatch.setattr(LazyList, "__getitem__", fail)
    assert find_segments(kept, Control(make_example(9).control, kept.fps)).pieces


def test_segments_are_built_once_and_the_file_stays_as_it_is(walks: Path, monkeypatch: pytest.MonkeyPatch):
    content = walks.read_bytes()
    first = open_segments(walks)
    other = open_segments(walks, CutSettings("plants", ("track",), alike_m=0.2))
    assert len(other) < len(first)
    assert [entry.kind for entry in cache.list_entries()] == ["segments", "segments"]
    forbid_building(monkeypatch)
    assert_same(first, open_segments(walks))
    assert_same(other, open_segments(walks, CutSettings("plants", ("track",), alike_m=0.2)))
    with pytest.raises(AssertionError, match="built again"):
        open_segments(walks, CutSettings("plants", ("track",), alike_m=0.3))
    assert walks.read_bytes() == content and len(list(walks.parent.glob("*.mog"))) == 1


def test_a_file_of_pairs_is_enough_without_a_cache(pairs: Path, monkeypatch: pytest.MonkeyPatch):
    kept = open_segments(pairs)
    cache.clear_entries()
    assert_same(kept, open_segments(pairs))
    monkeypatch.setenv("CHOREOGRAPH_CACHE_GB", "0")
    assert_same(kept, open_segments(pairs))


def test_segments_of_other_clips_are_others(walks: Path, monkeypatch: pytest.MonkeyPatch):
    first = open_segments(walks)
    with sqlite3.connect(walks) as connection:
        connection.execute("UPDATE clip SET name = 'another' WHERE id = 0")
    again = open_segments(walks)
    assert "another" in again.names and "another" not in first.names
    forbid_building(monkeypatch)
    assert_same(again, open_segments(walks))
    with sqlite3.connect(walks) as connection:
        connection.execute("UPDATE clip_array SET crc32 = crc32 + 1 WHERE clip = 1 AND name = 'root_pos'")
    with pytest.raises(AssertionError, match="built again"):
        open_segments(walks)


def test_a_graph_that_grows_is_cut_anew(walks: Path):
    before = open_segments(walks)
    add_to_file(walks, [c for c in demo_clips(30.0) if c.name == "walk_slow"])
    assert len(open_segments(walks)) > len(before)


def test_segments_that_do_not_fit_are_built_anew(pairs: Path):
    kept = open_segments(pairs)
    [entry] = cache.list_entries()
    key = cache.find_key(
        open_graph(pairs), "segments", prepare.METHOD, ("motion", "labels", "contacts"),
        clips=[[0, 1], [2, 3], [4, 5]], **asdict(CutSettings(TIMES)),
    )  # fmt: skip
    assert key is not None and key.path == entry.path
    content = cache.read_entry(key)
    assert content is not None
    segments = content.arrays["segments"]
    for name, value in (
        ("segments", segments + 100_000),
        ("segments", segments[:0]),
        ("controls", content.arrays["controls"][1:]),
    ):
        cache.write_entry(key, cache.Content(content.facts, {**content.arrays, name: value}))
        assert_same(kept, open_segments(pairs))


@pytest.mark.parametrize(("name", "value"), [("control_roles", "5"), ("alike_m", '"x"'), ("cut_at", "[[null]]")])
def test_how_clips_are_cut_is_not_believed_blindly(walks: Path, name: str, value: str):
    with sqlite3.connect(walks) as connection:
        connection.execute("INSERT INTO cut_setting VALUES (?, ?)", (name, value))
    connection.close()
    with pytest.raises(RequestError, match="does not say how its clips are cut"):
        open_segments(walks)
    assert len(open_segments(walks, WALKS)) > 5


def test_mistakes_get_a_sentence(pairs: Path, walks: Path, make_example: Callable[..., Example]):
    with pytest.raises(OutputExists):
        save_segments(pairs, [make_example(1)], CutSettings(TIMES[:1]))
    with pytest.raises(RequestError, match="does not say who leads whom"):
        open_segments(walks, CutSettings("plants"))
    alone = make_example(2)
    with pytest.raises(RequestError, match="all have a leader"):
        save_segments(pairs.with_name("b.mog"), [make_example(1), Example(alone.target, alone.control)])
    with pytest.raises(RequestError, match="is not left_hand"):
        save_segments(pairs.with_name("b.mog"), [make_example(1)], CutSettings(TIMES[:1], ("left_hand",)))
    assert not pairs.with_name("b.mog").exists()
    for change in (lambda: add_to_file(pairs, [alone.target]), lambda: remove_from_file(pairs, ["leader_1"])):
        with pytest.raises(GraphFileError, match="no motion graph"):
            change()


def test_clips_of_other_rates_are_taken_at_the_first_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "mixed.mog"
    build_file(path, [demo_clip("walk", 60.0), demo_clip("walk_veer_left", 25.0)])
    made = open_segments(path)
    assert made.fps == 60.0
    forbid_building(monkeypatch)
    kept = open_segments(path)
    assert_same(made, kept)
    for example, controls in zip(kept.examples, kept.controls, strict=True):
        assert example.target.fps == 60.0 and len(example.target) == len(controls)
