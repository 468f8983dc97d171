"""Clips read, put into the file and carried over one at a time: an archive need not fit into memory.

The file that is to be made is begun as `NAME.mog.clips`: clips as they come, each committed; then, where they are of
several bodies, each on the one body; then the graph, then its own name. A build that is stopped finds there what it
has done, and reads no source again.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from choreograph.base.errors import Cancelled, ChoreographError, GraphFileError, OutputExists
from choreograph.base.progress import Progress, silent
from choreograph.build.checkpoint import sweep
from choreograph.build.prepare import KnownFiles, Prepared, name_clips, note_unread, with_mirrored
from choreograph.build.retarget_staged import State, unite_bodies, write_new_skeleton
from choreograph.graph import rows, schema
from choreograph.graph.clips import clip_info
from choreograph.graph.growing import close_gaps, count_clip_pages, end_file
from choreograph.graph.lazy import LazyClips, Reader
from choreograph.graph.model import MotionGraph
from choreograph.graph.settings import GraphSettings
from choreograph.graph.store import writing
from choreograph.graph.writing import write_clip_row, write_rest
from choreograph.motion.clip import Clip
from choreograph.motion.skeleton import Skeleton

_METHOD = 3
"""Counted up when what is in a file in the making comes to mean something else."""


@dataclass(frozen=True)
class ClipStream:
    """Sources of clips that are read when their turn comes.

    >>> from choreograph.demo import demo_clip
    >>> names = ["walk", "walk_fast"]
    >>> stream = ClipStream(names, lambda number: [demo_clip(names[number], 30.0)])
    >>> len(stream.names)
    2
    """

    names: Sequence[str]
    """A word for each source that changes when what it holds does: path, size and time of a file."""
    read: Callable[[int], Sequence[Clip]]
    """The clips of one source, by its number."""
    skip_bad: bool = False
    """Whether sources that cannot be read are left out, with a note."""


class Staging:
    """A .mog file in the making."""

    def __init__(self, path: str | Path) -> None:
        """Take the name of the file that is to be made; nothing is opened yet."""
        self.target = Path(path)
        self.path = self.target.with_name(f"{self.target.name}.clips")
        self._connection: sqlite3.Connection | None = None

    @property
    def connection(self) -> sqlite3.Connection:
        """The open file."""
        assert self._connection is not None
        return self._connection

    def fill(
        self,
        stream: ClipStream,
        settings: GraphSettings,
        onto: Skeleton | bool,
        progress: Progress | None,
        graph: MotionGraph | None = None,
    ) -> Prepared:
        """Read what has not been read yet, and give all clips back as they are in the file, on one body.

        Args:
            stream: Where clips come from.
            settings: What graph is wanted.
            onto: The body; True for the one of most clips, False to have none retargeted.
            progress: Hears how many clips are read, and carried over.
            graph: What they are added to: they are to have its body, and names that its clips do not have, and are
                numbered on from those.

        Raises:
            SkeletonMismatch: If skeletons differ, and nothing is to be retargeted.
        """
        report = progress or silent
        sweep(self.path, _is_staging)
        self._open(_key_of(stream, settings, onto, graph))
        state = State.load(self.connection)
        there = () if graph is None else graph.infos
        self._read(stream, settings, state, graph, report)
        reader = Reader(self.connection, self.path)
        with writing(self.target):
            infos = unite_bodies(reader, state, settings.rate_hz, onto, report, graph)
        notes = sorted(state.notes, key=lambda note: note.kind != "already-there")
        numbered = tuple(
            info if info.mirror_of is None else replace(info, mirror_of=info.mirror_of + len(there)) for info in infos
        )
        return Prepared(LazyClips(reader, infos, keep=4), numbered, tuple(notes))

    def _read(
        self, stream: ClipStream, settings: GraphSettings, state: State, graph: MotionGraph | None, progress: Progress
    ) -> None:
        """Put the clips of the sources that have not been read yet into the file, as they are."""
        own = [name for (name,) in self.connection.execute("SELECT name FROM clip")]
        names, count = {*own, *(() if graph is None else (info.name for info in graph.infos))}, len(own)
        known, skeletons = KnownFiles(graph), rows.SkeletonNumbers()
        for (number,) in self.connection.execute("SELECT id FROM skeleton ORDER BY id").fetchall():
            skeletons.number_of(rows.read_skeleton(self.connection, number))
        for source in range(state.read, len(stream.names)):
            progress("reading clips", source, len(stream.names))
            try:
                fresh, passed = known.pass_over(stream.read(source))
            except ChoreographError as error:
                if not stream.skip_bad or isinstance(error, Cancelled):
                    raise
                fresh, passed = [], [note_unread(error)]
            clips, notes = name_clips(fresh, settings, names)
            with writing(self.target), state.step(self.connection):
                for clip in clips:
                    first, skeleton = count, write_new_skeleton(self.connection, skeletons, clip.skeleton)
                    for copy in with_mirrored(clip, settings):
                        info = clip_info(copy, settings.rate_hz, None if copy is clip else first)
                        write_clip_row(self.connection, count, info, copy, skeleton)
                        names.add(copy.name)
                        count += 1
                state.notes += passed + notes
                state.read = source + 1
        progress("reading clips", len(stream.names), len(stream.names))

    def key(self) -> str:
        """What the clips in the file are told by."""
        state = hashlib.blake2b(digest_size=16)
        for row in self.connection.execute("SELECT key FROM staged"):
            state.update(repr(row).encode())
        for row in self.connection.execute("SELECT clip, name, crc32 FROM clip_array ORDER BY clip, name"):
            state.update(repr(row).encode())
        return state.hexdigest()

    def finish(self, graph: MotionGraph, *, overwrite: bool, command: str) -> None:
        """Write the rest of the graph, and give the file its name."""
        with writing(self.target):
            close_gaps(self.connection)
            self.connection.execute("BEGIN")
            pages = count_clip_pages(self.connection)
            write_rest(self.connection, graph, command)
            # Now, so that the graph takes none of its pages: they are the clips' to take when the file grows.
            State.drop(self.connection)
            self.connection.execute("COMMIT")
            self.close()
            end_file(self.path, pages)
            with self.path.open("rb") as file:
                os.fsync(file.fileno())
            if self.target.exists() and not overwrite:  # it may have appeared meanwhile
                raise OutputExists(self.target)
            self.path.replace(self.target)

    def close(self) -> None:
        """Let go of the file, which stays for the next time."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def discard(self) -> None:
        """Remove the file."""
        self.close()
        for path in (self.path, self.path.with_name(f"{self.path.name}-journal")):
            with suppress(OSError):
                path.unlink(missing_ok=True)

    def _open(self, key: str) -> None:
        for attempt in (1, 2):
            self.close()
            try:
                connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False, timeout=0.1)
                self._connection = connection
                # A killed process loses nothing that was committed; a power cut may, and then the key is not found.
                connection.execute("PRAGMA synchronous = OFF")
                connection.execute("PRAGMA locking_mode = EXCLUSIVE")
                schema.size_pages(connection)  # taking the lock begins the file
                connection.execute("BEGIN EXCLUSIVE")
                connection.execute("COMMIT")
                tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
                if "staged" in tables and connection.execute("SELECT key FROM staged").fetchall() == [(key,)]:
                    return
                if not tables:
                    schema.create(connection)
                    State.create(connection, key)
                    return
            except sqlite3.OperationalError as error:
                text = str(error)
                if "locked" in text:
                    text = "another build of the same graph is at work; wait for it, or choose another name"
                elif "readonly" in text or "unable to open" in text:
                    text = f"the folder {self.path.parent} may not be written to; choose another"
                self.close()
                raise GraphFileError(f"cannot be begun: {text}", path=self.target) from error
            except sqlite3.DatabaseError:
                pass
            # Of another build, or not ours to make sense of: begun afresh.
            self.discard()
            assert attempt == 1, "an empty file was not taken"


def _is_staging(connection: sqlite3.Connection) -> bool:
    """Whether a database is a graph in the making."""
    if connection.execute("PRAGMA application_id").fetchone()[0] != schema.APPLICATION_ID:
        return False
    return bool(connection.execute("SELECT count(*) FROM sqlite_master WHERE name = 'staged'").fetchone()[0])


def _key_of(
    stream: ClipStream, settings: GraphSettings, onto: Skeleton | bool, graph: MotionGraph | None = None
) -> str:
    plain = settings.as_dict()
    state = hashlib.blake2b(digest_size=16)
    # What clips become depends on no other setting.
    facts = [_METHOD, plain["rate_hz"], plain["window_s"], plain["mirror"], list(stream.names), onto is not False]
    state.update(json.dumps(facts).encode())
    if graph is not None:
        state.update(repr((graph.fingerprint.motion, [info.name for info in graph.infos])).encode())
    if isinstance(onto, Skeleton):
        state.update(repr((onto.names, onto.roles)).encode() + onto.offsets.tobytes() + onto.parents.tobytes())
    return state.hexdigest()
