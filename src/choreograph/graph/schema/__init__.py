"""The .mog file's schema as numbered steps: what each version added to the one before."""

from __future__ import annotations

import sqlite3
from importlib import resources

from choreograph._version import __version__

APPLICATION_ID = 0x4D6F4772
"""SQLite's place for telling whose file this is: "MoGr"."""

PAGE_BYTES = 1 << 14
"""Size of a file's pages. A clip's array is a megabyte or so, and SQLite reads and writes a page at a time: with its
usual 4096 bytes, half of the time that it takes to read a clip is asking for pages."""


def steps() -> list[tuple[int, str, str]]:
    """Number, name and SQL of every step, in order."""
    steps_found = []
    for entry in resources.files(__name__).iterdir():
        if entry.name.endswith(".sql"):
            number, name = entry.name.removesuffix(".sql").split("_", 1)
            steps_found.append((int(number), name, entry.read_text("utf-8")))
    return sorted(steps_found)


def latest_version() -> int:
    """The schema version that this package writes."""
    return steps()[-1][0]


def size_pages(connection: sqlite3.Connection) -> None:
    """Give a database the size of its pages; one that something was written to keeps its own."""
    connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")


def create(connection: sqlite3.Connection) -> None:
    """Make the tables of the latest version in an empty database, and note the steps in it.

    A file is never brought up to date in place: one of an earlier version is read as it is, and is of the latest
    version once somebody saves it.
    """
    size_pages(connection)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    for number, name, sql in steps():
        note = f"INSERT INTO migration VALUES ({number}, '{name}', '{__version__}');"
        connection.executescript(f"BEGIN; {sql}; {note} PRAGMA user_version = {number}; COMMIT;")
