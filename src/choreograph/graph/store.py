"""Motion graphs in .mog files: one SQLite database that opens in any SQLite tool.

A file is written whole under another name and then renamed, and never changed in place: whoever has the old one open
keeps it, and an interrupted write leaves it as it was. Opening writes nothing; it reads a few small tables, and arrays
when they are asked for. Nothing in a file is believed before it is validation.
"""

from __future__ import annotations

import glob
import os
import platform
import secrets
import sqlite3
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

from choreograph.base.errors import ChoreographError, GraphFileError, OutputExists
from choreograph.formats.atomic import is_running
from choreograph.graph import rows, schema, validation
from choreograph.graph.clips import graph_frames
from choreograph.graph.copying import copy_rows, read_only
from choreograph.graph.fingerprint import Fingerprint, fingerprint_file
from choreograph.graph.growing import copy_clips, count_clip_pages, end_file, make_room
from choreograph.graph.info import ClipInfo, Origin, Provenance
from choreograph.graph.lazy import LazyClips, LazyTables, PickedClips, Reader, identity
from choreograph.graph.model import MotionGraph
from choreograph.graph.settings import GraphSettings
from choreograph.graph.writing import write_clips, write_rest
from choreograph.motion.clip import Label

_QUICK_CHECK_BYTES = 16_000_000
"""Files up to this size have their whole structure checked on opening: some 10 ms."""


def save_graph(
    graph: MotionGraph,
    path: str | Path,
    *,
    overwrite: bool = False,
    command: str = "save_graph",
) -> None:
    """Write a graph to a .mog file, whole or not at all.

    >>> import choreograph as cg
    >>> from choreograph.demo import demo_clip
    >>> save_graph(cg.build_graph([demo_clip("walk", 30.0)]), "walk.mog")
    >>> len(open_graph("walk.mog").clips)
    1

    Args:
        graph: What to keep.
        path: Where; a folder that is missing is made.
        overwrite: Whether a file that is there may be replaced.
        command: What the user did, for the file's history.

    Raises:
        OutputExists: If there is a file and `overwrite` is not set.
        GraphFileError: If the file cannot be written: a full disk, a folder that may not be written to.
    """
    path = Path(path)
    check_target(path, overwrite=overwrite)
    make_folder(path)
    temporary = temporary_name(path)
    try:
        with writing(path):
            _write(graph, temporary, command)
            with temporary.open("rb") as file:
                os.fsync(file.fileno())
            if path.exists() and not overwrite:  # it may have appeared meanwhile
                raise OutputExists(path)
            temporary.replace(path)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _write(graph: MotionGraph, temporary: Path, command: str) -> None:
    """Write a file that nobody has yet.

    Clips of a file, the first ones of the graph, are copied as they are: reading thousands of clips only to write them
    again would take longer than all else. What is damaged there is as damaged in the copy, and found when it is used.
    """
    replaced = graph.clips.taken_from(graph.infos) if isinstance(graph.clips, PickedClips) else None
    if replaced is not None and replaced[0].version != schema.latest_version():
        replaced = None
    there = 0
    if replaced is not None and len(replaced[1]) == len(replaced[0]) and copy_clips(replaced[0].reader, temporary):
        there = len(replaced[0])
    connection = sqlite3.connect(temporary, isolation_level=None, uri=True)
    try:
        # The file is nobody's until it is renamed: a journal would protect nothing.
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        if not there:
            schema.create(connection)
            if replaced is not None:
                make_room(temporary, replaced[0].reader.path)
                there = len(replaced[1]) if copy_rows(*replaced, connection) else 0
        connection.execute("BEGIN")
        write_clips(connection, graph, there)
        pages = count_clip_pages(connection)
        write_rest(connection, graph, command)
        connection.execute("COMMIT")
    finally:
        connection.close()
    end_file(temporary, pages)


def temporary_name(path: Path) -> Path:
    """A name beside the file to write to; what killed processes of this machine left under such names is removed."""
    prefix = f".{path.stem[:40]}-{platform.node()}-"
    for old in path.parent.glob(f"{glob.escape(prefix)}*.tmp"):
        process = old.name.removeprefix(prefix).split("-")[0]
        if process.isdecimal() and os.name == "posix" and not is_running(int(process)):
            with suppress(OSError):
                old.unlink()
    return path.with_name(f"{prefix}{os.getpid()}-{secrets.token_hex(2)}.tmp")


def check_target(path: str | Path, *, overwrite: bool = False) -> None:
    """Raise now what writing a graph here would raise later: for work that should fail before it has begun."""
    path = Path(path)
    if path.is_dir():
        raise GraphFileError("is a folder; give a file name such as people.mog", path=path)
    if path.suffix.lower() != ".mog":
        raise GraphFileError("a motion graph's file has a name that ends in .mog", path=path)
    if path.exists() and not overwrite:
        raise OutputExists(path)
    there = next(folder for folder in path.absolute().parents if folder.exists())
    if not there.is_dir():
        raise GraphFileError(f"cannot be written: {there} is a file, not a folder", path=path)
    if not os.access(there, os.W_OK | os.X_OK):
        raise GraphFileError(f"the folder {there} may not be written to; choose another", path=path)


def make_folder(path: str | Path) -> None:
    """Make the folder that a file is to be written to, where it is missing."""
    with writing(Path(path)):
        Path(path).parent.mkdir(parents=True, exist_ok=True)


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn what SQLite and the system say about a file being written into one sentence."""
    try:
        yield
    except OSError as error:
        raise GraphFileError(f"cannot be written: {error.strerror or error}", path=path) from error
    except sqlite3.Error as error:
        text = str(error)
        if "full" in text or "disk I/O" in text:
            text = "the disk is full, or the file may not grow so large; make room or choose another disk"
        elif "readonly" in text or "unable to open" in text:
            text = f"the folder {path.parent} may not be written to; choose another"
        raise GraphFileError(f"cannot be written: {text}", path=path) from error


def open_graph(path: str | Path) -> MotionGraph:
    """The graph in a .mog file; its arrays are read, and checked, when they are first used.

    The file is never written to, also where it is of an earlier version. Hierarchies and segments that earlier versions
    kept in it are not read, and are gone once the graph is saved.

    >>> open_graph("people.mog").infos[0].name  # doctest: +SKIP
    '16_15'

    Raises:
        GraphFileError: If the file is missing, foreign, newer than this package, truncated or damaged.
    """
    path = Path(path)
    known = _check_header(path)
    connection = _connect(path)
    try:
        with rows.reading(path):
            if path.stat().st_size <= _QUICK_CHECK_BYTES:
                verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
                if verdict != "ok":
                    raise GraphFileError(rows.damaged(str(verdict)), path=path)
            rows.check_tables(connection)
            rows.check_sizes(connection)
            return _read(connection, path, known)
    except ChoreographError:
        connection.close()
        raise


def _connect(path: Path) -> sqlite3.Connection:
    try:
        return sqlite3.connect(read_only(path), uri=True, check_same_thread=False)
    except sqlite3.Error as error:
        raise GraphFileError(f"cannot be opened: {error}", path=path) from error


def _check_header(path: Path) -> tuple[int, ...]:
    """Raise unless the file's first hundred bytes say that it is whole, ours and of a version that can be read.

    Returns:
        What the file is told by.
    """
    try:
        with path.open("rb") as file:
            head = file.read(100)
            known = identity(os.fstat(file.fileno()))
            size = os.fstat(file.fileno()).st_size
    except FileNotFoundError:
        raise GraphFileError("there is no such file", path=path) from None
    except IsADirectoryError:
        raise GraphFileError("is a folder, not a .mog file", path=path) from None
    except OSError as error:
        raise GraphFileError(f"cannot be read: {error.strerror or error}", path=path) from error
    if size == 0:
        raise GraphFileError("is empty; build it again", path=path)
    if not head.startswith(b"SQLite format 3\0"[: len(head)]):
        raise GraphFileError("is not a motion graph file (it is not an SQLite database)", path=path)
    if len(head) < 100:
        raise GraphFileError("is cut short; copy or build it again", path=path)
    page_size, pages, version, application = (
        struct.unpack_from(code, head, at)[0] for code, at in ((">H", 16), (">I", 28), (">I", 60), (">I", 68))
    )
    if application != schema.APPLICATION_ID:
        raise GraphFileError("is an SQLite database, but not a motion graph", path=path)
    if version > schema.latest_version():
        raise GraphFileError(
            f"has schema version {version}, newer than this package's {schema.latest_version()}; "
            "update choreograph to open it",
            path=path,
        )
    expected = pages * (65536 if page_size == 1 else page_size)
    if size < expected:
        raise GraphFileError(
            f"is cut short: {size:,} bytes of {expected:,} are there; copy or build it again", path=path
        )
    if version < 1:
        raise GraphFileError("says no schema version; build it again", path=path)
    return known


def _read(connection: sqlite3.Connection, path: Path, known: tuple[int, ...]) -> MotionGraph:
    settings_found = _read_json(connection, "setting")
    facts = _read_json(connection, "fact")
    settings = GraphSettings.from_dict(settings_found)
    infos = read_infos(connection, settings.rate_hz)
    steps = connection.execute("SELECT at, command, package_version, evaluated_share FROM provenance ORDER BY id")
    history = [
        Provenance(
            *(validation.text(at, "a time"), validation.text(text, "a command"), validation.text(version, "a version")),
            validation.number(share, "the share of pairs", 0, 1),
        )
        for at, text, version, share in steps
    ]
    pairs, cut_settings = _read_examples(connection, [info.name for info in infos])
    reader = Reader(connection, path, known)

    @cache
    def fingerprint() -> Fingerprint:
        with reader.lock, rows.reading(path):
            return fingerprint_file(connection)

    graph = MotionGraph(
        settings,
        validation.number(facts["threshold_m"], "the threshold", 0, validation.MAX_METRES),
        LazyClips(reader, infos),
        infos,
        LazyTables(reader, infos, settings.window_frames, fingerprint),
        searched_m=validation.number(facts["searched_m"], "the range searched", 0, validation.MAX_METRES),
        origin=Origin(
            history[-1].evaluated_share if history else 1.0,
            validation.notes(facts["notes"], "the graph"),
            history,
            path,
            pairs,
            cut_settings,
            fingerprint,
        ),
    )
    graph.made_by = (open_graph, (path.absolute(),))
    return graph


def _read_examples(
    connection: sqlite3.Connection, names: Sequence[str]
) -> tuple[list[tuple[int, int]], dict[str, Any]]:
    """Who leads whom, and how recordings are cut for performing."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if "pair" in tables:
        query = "SELECT leader, follower FROM pair ORDER BY position"
        pairs = [
            (validation.whole(leader, "a leader"), validation.whole(follower, "a follower"))
            for leader, follower in connection.execute(query)
        ]
        if any(not 0 <= clip < len(names) for pair in pairs for clip in pair):
            raise ValueError("a clip that is not there leads or follows another")
        return pairs, _read_json(connection, "cut_setting")
    if "segment_base" not in tables:
        return [], {}
    # Version 3 kept both with the segments, which have left the file: the first base of pairs says who leads whom.
    query = "SELECT settings FROM segment_base ORDER BY id"
    bases = [validation.entries(text, "a segment base") for (text,) in connection.execute(query)]
    first = next((base for base in bases if base["pairs"]), bases[0] if bases else {})
    pairs = [(names.index(leader), names.index(follower)) for leader, follower in first.get("pairs") or ()]
    return pairs, {name: value for name, value in first.items() if name not in ("method", "pairs")}


def read_infos(connection: sqlite3.Connection, rate_hz: float) -> list[ClipInfo]:
    """What is known of a file's clips without reading their frames."""
    labels: dict[int, list[Label]] = {}
    for clip, text, start, stop in connection.execute(
        "SELECT clip, text, start, stop FROM label ORDER BY clip, position"
    ):
        what = f"a label of clip {clip}"
        entry = Label(validation.text(text, what), validation.whole(start, what), validation.whole(stop, what))
        labels.setdefault(clip, []).append(entry)
    # Frames are counted by the arrays' shapes, whose sizes are checked: no row can promise more than the file holds.
    shapes = connection.execute("SELECT clip, shape FROM clip_array WHERE name = 'root_pos'")
    counted = {clip: int(str(shape).split(",")[0]) for clip, shape in shapes}
    infos: list[ClipInfo] = []
    query = "SELECT id, name, fps, own_frames, frames, mirror_of, source FROM clip ORDER BY id"
    for number, (clip_id, name, fps, own_frames, frames, mirror_of, source) in enumerate(connection.execute(query)):
        where = validation.source(source, f"clip {clip_id}")
        if clip_id != number or not (mirror_of is None or validation.whole(mirror_of, "a clip") < number):
            raise ValueError(f"clip {clip_id} is out of order, or mirrors a clip that does not come before it")
        counted[number] = counted[number if mirror_of is None else mirror_of]
        what = f"the number of frames of clip {clip_id}"
        own_frames, frames = validation.whole(own_frames, what, 1), validation.whole(frames, what, 1)
        if not 1e-3 <= fps <= 1e6 or own_frames != counted[number]:
            raise ValueError(f"clip {clip_id} has an impossible rate, or another number of frames than it says")
        if frames != graph_frames(own_frames, fps, rate_hz) or frames > 1000 * own_frames:
            raise ValueError(f"clip {clip_id} has another number of frames at the graph's rate than it says")
        own = tuple(labels.get(number, ()))
        if any(not 0 <= label.start < label.stop <= own_frames for label in own):
            raise ValueError(f"clip {clip_id} has a label beyond its frames")
        infos.append(
            ClipInfo(
                name=validation.text(name, f"the name of clip {clip_id}"),
                fps=float(fps),
                own_frames=own_frames,
                frames=frames,
                labels=own,
                path="" if where is None else where.path,
                sha256="" if where is None else where.sha256,
                take="" if where is None else where.take,
                mirror_of=mirror_of,
            )
        )
    return infos


def _read_json(connection: sqlite3.Connection, table: str) -> dict[str, Any]:
    rows = connection.execute(f"SELECT name, value FROM {table}")
    return {
        validation.text(name, f"a {table}"): validation.from_json(value, f"the {table} {name}") for name, value in rows
    }
