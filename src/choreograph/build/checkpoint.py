"""Work kept as it is done, beside the file that it is for, so that a build that was stopped goes on from there."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from choreograph.base.errors import GraphFileError
from choreograph.formats.atomic import is_old
from choreograph.graph.tables import Minima

_APPLICATION_ID = 0x4D6F4750
"""Tells the side file from a graph: "MoGP"."""
_ROW = np.dtype([(name, np.dtype(dtype).newbyteorder("<")) for name, dtype in Minima.dtypes.items()])
_SCHEMA = """
CREATE TABLE IF NOT EXISTS work (key TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS done (
    question TEXT NOT NULL, stop INTEGER NOT NULL, pairs INTEGER NOT NULL, evaluated INTEGER NOT NULL,
    crc32 INTEGER NOT NULL, minima BLOB NOT NULL, PRIMARY KEY (question, stop)
);
"""
T = TypeVar("T")


@dataclass(frozen=True)
class CheckpointBatch:
    """Clips that have been compared with all that follow them."""

    stop: int
    """One past the last of them."""
    pairs: int
    evaluated: int
    minima: Minima


class Checkpoint:
    """Batches that are done, in `NAME.mog.partial`.

    The file belongs to one piece of work, told by a key; work with another key starts it afresh. A piece of work may
    ask several questions, such as other thresholds, and the batches of each are kept. If the file cannot be made sense
    of, the work is done again.
    """

    def __init__(self, path: str | Path) -> None:
        """Take the side file of a .mog file; nothing is opened yet."""
        self.path = Path(f"{path}.partial")
        self._connection: sqlite3.Connection | None = None
        self._question = ""

    def begin(self, key: str, question: str = "") -> None:
        """Open the file for a question of the work with this key; files of others that were given up are removed."""
        self.close()
        self._question = question
        sweep(self.path, _is_side_file)
        try:
            self._connection = self._open(key)
        except sqlite3.OperationalError as error:
            self._refuse(error)
        except sqlite3.DatabaseError:
            self.discard()
            self._connection = self._do(lambda: self._open(key))

    def batches(self) -> list[CheckpointBatch]:
        """The batches that are done, in order; from the first damaged one on they count as not done."""
        try:
            return list(self._read())
        except sqlite3.DatabaseError:
            return []

    def _read(self) -> Iterator[CheckpointBatch]:
        assert self._connection is not None
        query = "SELECT stop, pairs, evaluated, crc32, minima FROM done WHERE question = ? ORDER BY stop"
        rows = self._connection.execute(query, (self._question,))
        for stop, pairs, evaluated, crc32, data in rows:
            if zlib.crc32(data) != crc32 or len(data) % _ROW.itemsize:
                return
            table = np.frombuffer(data, _ROW)
            yield CheckpointBatch(stop, pairs, evaluated, Minima(**{name: table[name] for name in Minima.dtypes}))

    def keep(self, stop: int, pairs: int, evaluated: int, minima: Minima) -> None:
        """Keep a batch that is done."""
        table = np.empty(len(minima), _ROW)
        for name, column in minima.columns().items():
            table[name] = column
        data = table.tobytes()
        connection = self._connection
        assert connection is not None
        values = (self._question, stop, pairs, evaluated, zlib.crc32(data), data)
        self._do(lambda: connection.execute("INSERT OR REPLACE INTO done VALUES (?, ?, ?, ?, ?, ?)", values))

    def close(self) -> None:
        """Let go of the file, which stays for the next time."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def discard(self) -> None:
        """Remove the file: the work is done."""
        self.close()
        for path in (self.path, self.path.with_name(f"{self.path.name}-journal")):
            with suppress(OSError):
                path.unlink(missing_ok=True)

    def _open(self, key: str) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False, timeout=0.1)
        try:
            # A killed process loses nothing that was committed; a power cut may, and then some work is done again.
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            if connection.execute("PRAGMA application_id").fetchone()[0] not in (0, _APPLICATION_ID):
                raise sqlite3.DatabaseError("another program's file")
            connection.executescript(f"BEGIN EXCLUSIVE; PRAGMA application_id = {_APPLICATION_ID}; {_SCHEMA} COMMIT;")
            if connection.execute("SELECT key FROM work").fetchall() != [(key,)]:
                connection.execute("BEGIN")
                connection.execute("DELETE FROM work")
                connection.execute("DELETE FROM done")
                connection.execute("INSERT INTO work VALUES (?)", (key,))
                connection.execute("COMMIT")
        except sqlite3.Error:
            connection.close()
            raise
        return connection

    def _do(self, step: Callable[[], T]) -> T:
        try:
            return step()
        except sqlite3.Error as error:
            self._refuse(error)
            raise  # not reached

    def _refuse(self, error: sqlite3.Error) -> None:
        text = str(error)
        if "full" in text or "disk I/O" in text:
            text = "the disk is full, or the file may not grow so large; make room or choose another disk"
        elif "readonly" in text or "unable to open" in text:
            text = f"the folder {self.path.parent} may not be written to; choose another"
        elif "locked" in text:
            text = "another build of the same graph is at work; wait for it, or choose another name"
        raise GraphFileError(f"work in progress cannot be kept: {text}", path=self.path) from error


def sweep(own: Path, is_ours: Callable[[sqlite3.Connection], bool]) -> None:
    """Remove old files of its kind beside this one: unchanged for a day, ours, and open in no build."""
    for path in own.parent.glob(f"*.mog{own.suffix}"):
        if path != own and is_old(path) and _is_free(path, is_ours):
            for left in (path, path.with_name(f"{path.name}-journal")):
                with suppress(OSError):
                    left.unlink(missing_ok=True)


def _is_free(path: Path, is_ours: Callable[[sqlite3.Connection], bool]) -> bool:
    """Whether a file is ours and could be locked."""
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, isolation_level=None, timeout=0)
    except sqlite3.Error:
        return False
    try:
        connection.execute("BEGIN EXCLUSIVE")
        return is_ours(connection)
    except sqlite3.Error:
        return False
    finally:
        connection.close()


def _is_side_file(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("PRAGMA application_id").fetchone()[0] == _APPLICATION_ID)
