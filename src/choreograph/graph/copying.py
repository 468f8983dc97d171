"""Clips of one .mog file copied into another, row by row: as they are, whichever of them, and none is looked at."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from choreograph.graph.lazy import LazyClips, identity
from choreograph.graph.writing import CLIP_TABLES

_ROWS = (
    "INSERT INTO main.skeleton SELECT body.now, names, roles, axis_orders "
    "FROM body JOIN earlier.skeleton AS s ON s.id = body.was ORDER BY 1",
    "INSERT INTO main.skeleton_array SELECT body.now, name, dtype, shape, crc32, data "
    "FROM body JOIN earlier.skeleton_array AS s ON s.skeleton = body.was ORDER BY body.now, s.rowid",
    "INSERT INTO main.clip SELECT kept.now, name, fps, own_frames, frames, body.now, original.now, source "
    "FROM kept JOIN earlier.clip AS c ON c.id = kept.was JOIN body ON body.was = c.skeleton "
    "LEFT JOIN kept AS original ON original.was = c.mirror_of ORDER BY 1",
    "INSERT INTO main.clip_array SELECT kept.now, name, dtype, shape, crc32, data "
    "FROM kept JOIN earlier.clip_array AS c ON c.clip = kept.was ORDER BY kept.now, c.rowid",
    "INSERT INTO main.label SELECT kept.now, position, text, start, stop "
    "FROM kept JOIN earlier.label AS l ON l.clip = kept.was ORDER BY kept.now, l.rowid",
)
"""What copies clips that have other numbers now."""


def read_only(path: Path) -> str:
    """The address that SQLite opens a file by that nobody changes in place: no locks and journals to look for."""
    return path.absolute().as_uri() + "?mode=ro&immutable=1"


def copy_rows(clips: LazyClips, numbers: Sequence[int], connection: sqlite3.Connection) -> bool:
    """Begin a file, which is empty, with some clips of another; whether that could be done.

    Args:
        clips: Those of the other.
        numbers: Which of them, ascending; no mirrored copy without its original.
        connection: The file.
    """
    try:
        connection.execute("ATTACH ? AS earlier", (read_only(clips.reader.path),))
    except sqlite3.Error:  # it is gone since it was opened
        return False
    connection.execute("BEGIN")
    try:
        # Somebody may have put another file in its place.
        done = identity(clips.reader.path.stat()) == clips.reader.identity
        if done:
            _copy(numbers, connection)
    except (sqlite3.DatabaseError, OSError):  # damaged: whoever reads its clips is told where
        done = False
    for table in reversed(CLIP_TABLES) if not done else ():
        connection.execute(f"DELETE FROM main.{table}")
    for table in ("kept", "body"):
        connection.execute(f"DROP TABLE IF EXISTS temp.{table}")
    connection.execute("COMMIT")
    connection.execute("DETACH earlier")
    return done


def _copy(numbers: Sequence[int], connection: sqlite3.Connection) -> None:
    for table in ("kept", "body"):
        connection.execute(f"CREATE TEMP TABLE {table} (was INTEGER PRIMARY KEY, now INTEGER NOT NULL)")
    connection.executemany("INSERT INTO kept VALUES (?, ?)", [(was, now) for now, was in enumerate(numbers)])
    query = "SELECT skeleton FROM kept JOIN earlier.clip AS c ON c.id = kept.was ORDER BY kept.now"
    bodies = dict.fromkeys(number for (number,) in connection.execute(query))
    connection.executemany("INSERT INTO body VALUES (?, ?)", [(was, now) for now, was in enumerate(bodies)])
    for command in _ROWS:
        connection.execute(command)
