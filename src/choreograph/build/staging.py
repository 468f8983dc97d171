"""Clips read, carried over and put into the file one at a time: an archive need not fit into memory.

The file that is to be made is begun as `NAME.mog.clips`: clips as they come, each committed, then the graph, then its
own name. A build that is stopped finds there what it has read, and reads no source again.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from choreograph.build.checkpoint import sweep
from choreograph.build.prepare import Prepared, prepare_clips
from choreograph.errors import GraphFileError, OutputExists
from choreograph.graph import rows, schema
from choreograph.graph.growing import count_clip_pages, end_file
from choreograph.graph.lazy import LazyClips, Reader
from choreograph.graph.model import MotionGraph
from choreograph.graph.settings import GraphSettings
from choreograph.graph.store import read_infos, writing
from choreograph.graph.writing import write_clip_row, write_rest
from choreograph.motion.clip import Clip, Note
from choreograph.motion.helper_root import helper_depth
from choreograph.motion.skeleton import Skeleton
from choreograph.progress import Progress, silent


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

    def read_all(self) -> list[Clip]:
        """All clips at once."""
        return [clip for number in range(len(self.names)) for clip in self.read(number)]


class NotOneByOne(Exception):
    """What the skeletons have in common shows only once all clips have been read."""


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
        self, stream: ClipStream, settings: GraphSettings, onto: Skeleton | None, progress: Progress | None
    ) -> Prepared:
        """Read what has not been read yet, and give all clips back as they are in the file.

        Raises:
            NotOneByOne: If clips differ in ways that only all of them together settle.
        """
        if onto is not None and helper_depth(onto):
            raise NotOneByOne
        told = progress or silent
        sweep(self.path, _is_staging)
        self._open(_key_of(stream, settings, onto))
        done, notes = self._progress()
        infos = read_infos(self.connection, settings.rate_hz)
        skeletons = rows.SkeletonNumbers()
        like = onto
        if infos:
            like = rows.read_skeleton(self.connection, 0)
            skeletons.number_of(like)
        taken = [info.name for info in infos]
        for number in range(done, len(stream.names)):
            told("reading clips", number, len(stream.names))
            clips = stream.read(number)
            if like is None and clips:
                like = clips[0].skeleton
            if onto is None and any(not like.matches(clip.skeleton) for clip in clips if like is not None):
                raise NotOneByOne
            new = prepare_clips(
                clips,
                settings,
                onto=onto or False,
                like=None if onto is not None else like,
                taken=taken,
                first=len(infos),
            )
            with writing(self.target):
                self.connection.execute("BEGIN")
                for clip, info in zip(new.clips, new.infos, strict=True):
                    write_clip_row(self.connection, len(infos), info, clip, self._skeleton(skeletons, clip.skeleton))
                    infos.append(info)
                    taken.append(info.name)
                notes += new.notes
                plain = json.dumps([number + 1, [[note.kind, note.message, note.count] for note in notes]])
                self.connection.execute("UPDATE staged SET done = ?", (plain,))
                self.connection.execute("COMMIT")
        told("reading clips", len(stream.names), len(stream.names))
        clips_in_file = LazyClips(Reader(self.connection, self.path), tuple(infos), keep=4)
        return Prepared(clips_in_file, tuple(infos), tuple(notes))

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
            self.connection.execute("BEGIN")
            pages = count_clip_pages(self.connection)
            write_rest(self.connection, graph, command)
            # Now, so that the graph takes none of its pages: they are the clips' to take when the file grows.
            self.connection.execute("DROP TABLE staged")
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

    def _skeleton(self, skeletons: rows.SkeletonNumbers, skeleton: Skeleton) -> int:
        before = len(list(skeletons))
        number = skeletons.number_of(skeleton)
        if number == before:
            rows.write_skeleton(self.connection, number, skeleton)
        return number

    def _progress(self) -> tuple[int, list[Note]]:
        done, notes = json.loads(self.connection.execute("SELECT done FROM staged").fetchone()[0])
        return done, [Note(*note) for note in notes]

    def _open(self, key: str) -> None:
        for attempt in (1, 2):
            self.close()
            try:
                connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False, timeout=0.1)
                self._connection = connection
                # A killed process loses nothing that was committed; a power cut may, and then the key is not found.
                connection.execute("PRAGMA synchronous = OFF")
                connection.execute("PRAGMA locking_mode = EXCLUSIVE")
                connection.execute("BEGIN EXCLUSIVE")
                connection.execute("COMMIT")
                tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
                if "staged" in tables and connection.execute("SELECT key FROM staged").fetchall() == [(key,)]:
                    return
                if not tables:
                    schema.create(connection)
                    connection.execute("CREATE TABLE staged (key TEXT, done TEXT)")
                    connection.execute("INSERT INTO staged VALUES (?, '[0, []]')", (key,))
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


def _key_of(stream: ClipStream, settings: GraphSettings, onto: Skeleton | None) -> str:
    plain = settings.as_dict()
    state = hashlib.blake2b(digest_size=16)
    # What clips become depends on no other setting.
    state.update(json.dumps([plain["rate_hz"], plain["window_s"], plain["mirror"], list(stream.names)]).encode())
    if onto is not None:
        state.update(repr((onto.names, onto.roles)).encode() + onto.offsets.tobytes() + onto.parents.tobytes())
    return state.hexdigest()
