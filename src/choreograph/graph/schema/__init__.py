"""The .mog file's schema as numbered steps: what each version added to the one before."""

from __future__ import annotations

import sqlite3
from importlib import resources

from choreograph._version import __version__

APPLICATION_ID = 0x4D6F4772
"""SQLite's place for telling whose file this is: "MoGr"."""


def steps() -> list[tuple[int, str, str]]:
    """Number, name and SQL of every step, in order."""
    found = []
    for entry in resources.files(__name__).iterdir():
        if entry.name.endswith(".sql"):
            number, name = entry.name.removesuffix(".sql").split("_", 1)
            found.append((int(number), name, entry.read_text("utf-8")))
    return sorted(found)


def latest_version() -> int:
    """The schema version that this package writes."""
    return steps()[-1][0]


def migrate(connection: sqlite3.Connection) -> None:
    """Apply, each in a transaction, the steps that the file does not have yet, and note them in it."""
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    present = connection.execute("PRAGMA user_version").fetchone()[0]
    for number, name, sql in steps():
        if number <= present:
            continue
        note = f"INSERT INTO migration VALUES ({number}, '{name}', '{__version__}');"
        try:
            connection.executescript(f"BEGIN; {sql}; {note} PRAGMA user_version = {number}; COMMIT;")
        except sqlite3.Error:
            if connection.in_transaction:
                connection.rollback()
            raise
