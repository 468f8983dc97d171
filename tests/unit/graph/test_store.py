from __future__ import annotations

import resource
import shutil
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from choreograph.base.errors import GraphFileError, OutputExists
from choreograph.build.files import add_to_file, build_file, remove_from_file
from choreograph.build.graph import build_graph
from choreograph.graph import schema, store
from choreograph.graph.model import MotionGraph
from choreograph.graph.settings import GraphSettings, LabelThreshold
from choreograph.graph.store import open_graph, save_graph
from choreograph.graph.tables import TABLES
from choreograph.motion.clip import Note, Source
from choreograph.motion.contacts import detect_contacts

SETTINGS = GraphSettings(threshold_m=0.06, label_thresholds=(LabelThreshold("walk", "march", 0.08),))


@pytest.fixture
def saved(walks, tmp_path) -> Path:
    path = tmp_path / "walks.mog"
    build_file(path, walks, SETTINGS)
    return path


def assert_equal(first: MotionGraph, second: MotionGraph) -> None:
    assert (first.settings, first.threshold_m, first.searched_m) == (
        second.settings,
        second.threshold_m,
        second.searched_m,
    )
    assert (first.infos, first.notes) == (second.infos, second.notes)
    for part in TABLES:
        for name, column in getattr(first, part).columns().items():
            assert np.array_equal(column, getattr(getattr(second, part), name)), (part, name)


def test_a_graph_comes_back_as_it_was(walks, walker, tmp_path):
    source = Source("walks/a.bvh", "bvh", "ab" * 32, 0.01, "z", "given", "judged", (Note("odd", "something", 3),))
    feet = len(walks[0].skeleton.feet)
    planted = np.arange(len(walks[0]) * feet).reshape(-1, feet) % 3 == 0
    first = type(walks[0])(**{**vars_of(walks[0]), "source": source, "contacts": planted})
    graph = build_graph([first, *walks[1:], walker.walk("blink", 0.1)], GraphSettings(mirror=True))
    path = tmp_path / "graph.mog"
    save_graph(graph, path, command="a test")
    again = open_graph(path)
    assert_equal(graph, again)
    assert again.history[-1].command == "a test"
    for mine, theirs in zip(graph.clips, again.clips, strict=True):
        assert (mine.name, mine.fps, mine.labels, mine.source) == (
            theirs.name,
            theirs.fps,
            theirs.labels,
            theirs.source,
        )
        assert np.array_equal(mine.root_pos, theirs.root_pos)
        assert np.array_equal(mine.local_rot, theirs.local_rot)
        assert mine.skeleton.matches(theirs.skeleton)
        assert mine.skeleton.roles == theirs.skeleton.roles
    assert np.array_equal(again.clips[0].contacts, planted)
    assert np.array_equal(again.clips[2].contacts, detect_contacts(graph.clips[2]))
    assert len(again.transitions) == len(graph.transitions)


def vars_of(clip):
    return {name: getattr(clip, name) for name in ("skeleton", "fps", "root_pos", "local_rot", "name", "labels")}


def test_the_file_is_plain_sqlite(saved):
    with sqlite3.connect(saved) as connection:
        assert connection.execute("PRAGMA application_id").fetchone()[0] == schema.APPLICATION_ID
        assert connection.execute("PRAGMA user_version").fetchone()[0] == schema.latest_version()
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        steps = connection.execute("SELECT number FROM migration").fetchall()
        names = [name for (name,) in connection.execute("SELECT name FROM clip ORDER BY id")]
    connection.close()
    assert steps == [(number,) for number, _, _ in schema.steps()]
    assert names == ["straight", "left", "right", "march"]


def dump(path: Path) -> list[str]:
    connection = sqlite3.connect(path)
    lines = [line for line in connection.iterdump() if '"provenance"' not in line and "clip_pages" not in line]
    connection.close()
    return lines


def test_growing_and_shrinking_a_file_gives_the_file_built_at_once(walks, saved, tmp_path):
    path = tmp_path / "grown.mog"
    build_file(path, [*walks[:1], walks[1].with_name("guest"), *walks[1:2]], SETTINGS)
    add_to_file(path, walks[2:])
    remove_from_file(path, ["guest"])
    assert dump(path) == dump(saved)
    assert [step.command for step in open_graph(path).history] == ["build_file", "add_to_file", "remove_from_file"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["grown.mog", "walks.mog"]


def test_a_file_that_is_there_is_not_overwritten_unasked(walks, saved):
    before = saved.read_bytes()
    for attempt in (build_file, lambda path, clips: save_graph(build_graph(clips), path)):
        with pytest.raises(OutputExists):
            attempt(saved, walks[:1])
    assert saved.read_bytes() == before


def test_readers_keep_the_file_they_opened(walks, saved):
    graph = open_graph(saved)
    build_file(saved, walks[:1], overwrite=True)
    assert len(graph.clips) == 4
    assert graph.clips[3].name == "march"
    assert len(graph.edges)
    assert len(open_graph(saved).clips) == 1


def refusal(path: Path) -> str:
    with pytest.raises(GraphFileError) as caught:
        graph = open_graph(path)
        # What opening leaves alone is refused when it is read.
        for part in TABLES:
            getattr(graph, part)
        for clip in graph.clips:
            clip.global_positions()
        assert len(graph.transitions) >= 0
    text = str(caught.value)
    assert text.startswith(str(path)) and "\n" not in text
    return text


def test_what_is_no_graph_is_refused(tmp_path):
    assert "no such file" in refusal(tmp_path / "none.mog")
    assert "folder" in refusal(tmp_path)
    text = tmp_path / "text.mog"
    text.write_text("HIERARCHY\n" * 50)
    assert "not a motion graph" in refusal(text)
    text.write_bytes(b"")
    assert "empty" in refusal(text)
    other = tmp_path / "other.mog"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE t (x)")
    connection.close()
    assert "not a motion graph" in refusal(other)


def test_a_newer_file_is_refused(saved):
    with sqlite3.connect(saved) as connection:
        connection.execute("PRAGMA user_version = 999")
    connection.close()
    assert "update choreograph" in refusal(saved)


@pytest.mark.parametrize("share", [0.0005, 0.01, 0.3, 0.999])
def test_truncated_files_are_refused(saved, share):
    data = saved.read_bytes()
    saved.write_bytes(data[: int(len(data) * share)])
    assert "cut short" in refusal(saved)


def test_flipped_bytes_are_refused_or_harmless(saved, tmp_path):
    """Bytes of arrays are under checksums; the rest may be a free page or a label's letter, but never a traceback."""
    data, rng = saved.read_bytes(), np.random.default_rng(7)
    refused = 0
    for _ in range(60):
        broken = bytearray(data)
        for at in rng.integers(0, len(data), 4):
            broken[at] ^= int(rng.integers(1, 256))
        path = tmp_path / "broken.mog"
        path.write_bytes(broken)
        try:
            graph = open_graph(path)
            for part in TABLES:
                getattr(graph, part)
            for clip in graph.clips:
                clip.global_positions()
        except GraphFileError:
            refused += 1
    assert refused > 40


HOSTILE = [
    ("UPDATE graph_array SET data = x'00'", "bytes"),
    ("UPDATE graph_array SET shape = '-1'", "bytes"),
    ("UPDATE graph_array SET shape = '99999999999,99999999999'", "bytes"),
    ("UPDATE graph_array SET shape = 'x'", "damaged"),
    ("UPDATE graph_array SET dtype = 'object'", "unknown type"),
    ("UPDATE clip_array SET crc32 = 1 WHERE clip = 1 AND name = 'root_pos'", "checksum"),
    ("DELETE FROM graph_array WHERE part = 'edges' AND name = 'yaw'", "no column"),
    ("DELETE FROM clip_array WHERE name = 'local_rot'", "damaged"),
    ("DELETE FROM skeleton", "skeleton"),
    ("DELETE FROM setting", "damaged"),
    ("UPDATE setting SET value = '[[[' ", "damaged"),
    ("UPDATE setting SET value = 'NaN' WHERE name = 'rate_hz'", "rate"),
    ("DELETE FROM fact", "damaged"),
    ("UPDATE clip SET frames = 1000000000", "damaged"),
    ("UPDATE clip SET frames = 1000000000, own_frames = 1000000000", "frames"),
    ("UPDATE clip SET fps = -1", "impossible"),
    ("UPDATE clip SET fps = 1e-9", "impossible"),
    ("CREATE VIEW forever AS WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x FROM c) SELECT x FROM c", "view"),
    ("UPDATE clip SET fps = 'fast'", "damaged"),
    ("UPDATE clip SET mirror_of = 3", "mirrors"),
    ("UPDATE clip SET id = id + 100", "out of order"),
    ("UPDATE clip SET own_frames = own_frames + 1", "frames"),
    ("UPDATE clip SET source = '{\"nonsense\": 1}'", "damaged"),
    ("UPDATE label SET stop = 1000000", "label"),
    *((f"UPDATE setting SET value = '{value}' WHERE name = '{name}'", "damaged")
      for name in ("rate_hz", "window_s", "threshold_m", "label_thresholds", "weights", "goal", "mirror")
      for value in ("1e999", "-1e999", "[1e999]", '{"foot": 1e999}', "123456789012345678901234567890", "[[[]]]")),
    ("UPDATE setting SET value = x'00ff'", "damaged"),
    ("UPDATE setting SET value = 5 WHERE name = 'rate_hz'", "damaged"),
    *((f"UPDATE clip SET source = '{value}'", "source of clip 0")
      for value in ("1e999", "[]", "null", '"a"', '{"path": 1e999}', '{"path": "a"}', '{"path": "a", "format": [1]}',
                    '{"path": "a", "format": "bvh", "metres_per_unit": 1e999}',
                    '{"path": "a", "format": "bvh", "metres_per_unit": "one"}',
                    '{"path": "a", "format": "bvh", "notes": 7}',
                    '{"path": "a", "format": "bvh", "notes": [{"kind": 1, "message": "b"}]}',
                    '{"path": "a", "format": "bvh", "notes": [{"kind": "a", "message": "b", "count": 1e9}]}')),
    ("UPDATE clip SET source = x'00'", "bytes"),
    *((f"UPDATE fact SET value = '{value}' WHERE name = '{name}'", "damaged")
      for name, value in (("threshold_m", "1e999"), ("threshold_m", '"near"'), ("threshold_m", "-1"),
                          ("searched_m", "[0.1]"), ("searched_m", "true"), ("notes", "3"), ("notes", '{"a": 1}'),
                          ("notes", "[1e999]"), ("notes", '[{"kind": "a"}]'))),
    ("UPDATE clip SET name = x'00' WHERE id = 0", "name of clip"),
    ("UPDATE clip SET own_frames = 1e300", "frames"),
    ("UPDATE clip SET frames = 'many'", "frames"),
    ("UPDATE clip SET fps = 9e999", "impossible"),
    ("UPDATE clip SET fps = x'00'", "damaged"),
    ("UPDATE clip SET mirror_of = 1e999 WHERE id = 3", "whole number"),
    ("UPDATE clip SET mirror_of = 'a' WHERE id = 3", "whole number"),
    ("UPDATE clip SET skeleton = 'a'", "skeleton"),
    ("UPDATE label SET start = 1e999", "label"),
    ("UPDATE label SET stop = 'late'", "label"),
    ("UPDATE label SET text = x'00'", "label"),
    ("UPDATE provenance SET evaluated_share = 9e999", "share"),
    ("UPDATE provenance SET evaluated_share = 'all'", "share"),
    ("UPDATE provenance SET at = x'00'", "time"),
    ("UPDATE skeleton SET names = '[1, 2]'", "skeleton 0"),
    ("UPDATE skeleton SET names = '1e999'", "skeleton 0"),
    ("UPDATE skeleton SET roles = '{}'", "skeleton 0"),
    ("UPDATE skeleton SET axis_orders = '7'", "skeleton 0"),
    ("UPDATE skeleton_array SET data = 'text'", "bytes"),
    ("UPDATE clip_array SET shape = 3", "damaged"),
    ("UPDATE clip_array SET data = hex(data)", "damaged"),
    ("INSERT INTO pair VALUES (0, 1e999, 0)", "leader"),
    ("INSERT INTO pair VALUES (0, 'a', 0)", "leader"),
    ("INSERT INTO cut_setting VALUES ('alike_m', '1e999')", "alike_m"),
    ("DROP TABLE provenance", "damaged"),
    ("DROP TABLE clip", "damaged"),
]  # fmt: skip


@pytest.mark.parametrize(("change", "words"), HOSTILE, ids=[change for change, _ in HOSTILE])
def test_hostile_values_are_refused(saved, change, words):
    with sqlite3.connect(saved) as connection:
        connection.execute(change)
    connection.close()
    assert words in refusal(saved)


def rewrite(path: Path, part: str, name: str, change) -> None:
    """Change a column and its checksum: a file that was made so, not damaged."""
    import zlib

    with sqlite3.connect(path) as connection:
        dtype, data = connection.execute(
            "SELECT dtype, data FROM graph_array WHERE part = ? AND name = ?", (part, name)
        ).fetchone()
        column = np.frombuffer(data, dtype).copy()
        change(column)
        connection.execute(
            "UPDATE graph_array SET data = ?, crc32 = ? WHERE part = ? AND name = ?",
            (column.tobytes(), zlib.crc32(column.tobytes()), part, name),
        )
    connection.close()


def put(value):
    def change(column):
        column[len(column) // 2] = value

    return change


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        ("edges", "target", 10**6),
        ("edges", "target", -1),
        ("edges", "source", 0),
        ("edges", "kind", 7),
        ("edges", "clip", 44),
        ("edges", "stop", 10**6),
        ("edges", "start", 10**6),
        ("edges", "target_start", -5),
        ("edges", "yaw", np.nan),
        ("nodes", "frame", -1),
        ("nodes", "clip", 10),
        ("minima", "frame_b", 10**9),
        ("minima", "distance_m", np.inf),
    ],
)
def test_numbers_that_point_nowhere_are_refused(saved, part, name, value):
    rewrite(saved, part, name, put(value))
    assert "damaged" in refusal(saved)


def test_an_older_file_is_read_as_it_is_and_saved_in_the_latest_version(saved, monkeypatch):
    added = (schema.latest_version() + 1, "more_room", "CREATE TABLE later (x INTEGER);")
    steps, before = schema.steps(), saved.read_bytes()
    monkeypatch.setattr(schema, "steps", lambda: [*steps, added])
    graph = open_graph(saved)
    assert len(graph.clips) == 4
    assert saved.read_bytes() == before and [p.name for p in saved.parent.iterdir()] == [saved.name]
    save_graph(graph, saved, overwrite=True)
    with sqlite3.connect(saved) as connection:
        assert connection.execute("SELECT name FROM migration ORDER BY number DESC").fetchone() == ("more_room",)
        assert connection.execute("SELECT count(*) FROM later").fetchone() == (0,)
    connection.close()


def test_a_step_that_fails_leaves_the_old_file(saved, monkeypatch):
    before, graph = saved.read_bytes(), open_graph(saved)
    steps = schema.steps()
    wrong = (schema.latest_version() + 1, "wrong", "CREATE TABLE half (x INTEGER); CREATE TABLE half (x INTEGER);")
    monkeypatch.setattr(schema, "steps", lambda: [*steps, wrong])
    with pytest.raises(GraphFileError):
        save_graph(graph, saved, overwrite=True)
    assert saved.read_bytes() == before
    assert [p.name for p in saved.parent.iterdir()] == [saved.name]


def test_pairs_and_how_clips_are_cut_come_back_and_pairs_of_nobody_are_refused(saved, tmp_path):
    graph = open_graph(saved)
    assert graph.pairs == () and graph.cut_settings == {}
    graph.pairs, graph.cut_settings = ((0, 2), (1, 3)), {"cut_at": "labels", "alike_m": 0.1}
    save_graph(graph, tmp_path / "pairs.mog")
    again = open_graph(tmp_path / "pairs.mog")
    assert again.pairs == graph.pairs and again.cut_settings == graph.cut_settings
    remove_from_file(tmp_path / "pairs.mog", [again.infos[0].name])
    fewer = open_graph(tmp_path / "pairs.mog")
    assert fewer.pairs == () and fewer.cut_settings == graph.cut_settings
    graph.pairs = ((0, 9),)
    save_graph(graph, tmp_path / "wrong.mog")
    assert "damaged" in refusal(tmp_path / "wrong.mog")


def test_a_motion_file_is_not_taken_for_a_graph(walks, tmp_path):
    """A slip such as `build clips -o walk.bvh --force` must not cost the motion."""
    motion = tmp_path / "walk.bvh"
    motion.write_text("HIERARCHY")
    with pytest.raises(GraphFileError, match=r"ends in \.mog"):
        build_file(motion, walks, overwrite=True)
    assert motion.read_text() == "HIERARCHY"


def test_a_folder_that_is_missing_is_made(walks, tmp_path):
    path = tmp_path / "new" / "deeper" / "walks.mog"
    build_file(path, walks[:1])
    assert len(open_graph(path).infos) == 1


def test_folders_that_cannot_be_written_to_are_named(walks, tmp_path):
    graph = build_graph(walks[:1])
    (tmp_path / "file").write_text("")
    for path, words in (
        (Path("/proc/walks.mog"), "may not be written"),
        (tmp_path / "file" / "walks.mog", "is a file, not a folder"),
        (tmp_path, "is a folder"),
    ):
        with pytest.raises(GraphFileError, match=words):
            save_graph(graph, path)
        with pytest.raises(GraphFileError, match=words):
            build_file(path, walks[:1])


def run_with_small_files(code: str, limit: int) -> subprocess.CompletedProcess[str]:
    def shrink() -> None:
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, preexec_fn=shrink, check=False
    )


def test_a_full_disk_leaves_the_old_file_and_no_other(saved, tmp_path):
    whole = saved.read_bytes()
    target = tmp_path / "room" / "copy.mog"
    target.parent.mkdir()
    shutil.copy(saved, target)
    code = f"""
        from choreograph.graph.store import open_graph, save_graph
        from choreograph.base.errors import GraphFileError
        graph = open_graph({str(saved)!r})
        try:
            save_graph(graph, {str(target)!r}, overwrite=True)
        except GraphFileError as error:
            print(error)
    """
    done = run_with_small_files(code, len(whole) // 2)
    assert "disk is full" in done.stdout, done.stderr
    assert target.read_bytes() == whole
    assert [p.name for p in target.parent.iterdir()] == ["copy.mog"]


def test_a_disk_that_fills_during_the_build_is_named(saved, tmp_path):
    target = tmp_path / "new.mog"
    code = f"""
        from choreograph.build.files import build_file
        from choreograph.graph.store import open_graph
        from choreograph.base.errors import GraphFileError
        clips = list(open_graph({str(saved)!r}).clips)
        try:
            build_file({str(target)!r}, clips)
        except GraphFileError as error:
            print(error)
    """
    done = run_with_small_files(code, 4096)
    assert "disk is full" in done.stdout, done.stderr
    assert not target.exists()


READING = """
    import sys, time
    from choreograph.graph.store import open_graph
    stop = time.monotonic() + 1.5
    while time.monotonic() < stop:
        graph = open_graph(sys.argv[1])
        assert len(graph.clips[-1]) and len(graph.edges) and len(graph.minima)
    print("fine")
"""


@pytest.mark.slow
def test_two_processes_read_while_one_writes(walks, saved):
    words = [sys.executable, "-c", textwrap.dedent(READING), str(saved)]
    readers = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    graphs = [build_graph(walks), build_graph(walks[:2])]
    writes = 0
    while any(reader.poll() is None for reader in readers):
        save_graph(graphs[writes % 2], saved, overwrite=True)
        writes += 1
    assert [reader.communicate()[0] for reader in readers] == ["fine\n", "fine\n"]
    assert writes > 5


def test_opening_reads_no_clip(saved, monkeypatch):
    seen = []
    monkeypatch.setattr(store.rows, "read_array", lambda *key: seen.append(key))
    graph = open_graph(saved)
    assert [info.name for info in graph.infos] == ["straight", "left", "right", "march"]
    assert seen == []
