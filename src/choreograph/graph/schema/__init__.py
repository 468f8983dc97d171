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


def create(connection: sqlite3.Connection) -> None:
    """Make the tables of the latest version in an empty database, and note the steps in it.

    A file is never brought up to date in place: one of an earlier version is read as it is, and is of the latest
    version once somebody saves it.
    """
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    for number, name, sql in steps():
        note = f"INSERT INTO migration VALUES ({number}, '{name}', '{__version__}');"
        connection.executescript(f"BEGIN; {sql}; {note} PRAGMA user_version = {number}; COMMIT;")
