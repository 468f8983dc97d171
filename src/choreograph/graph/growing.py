"""A .mog file that grows begins as a copy of the earlier one, up to where its graph begins: no clip is looked at.

SQLite writes to the end of a file while it has no free pages. What a file holds of clips, written first, is therefore
its beginning; which page that ends with is noted in the file. A copy of the beginning, with the tables of the graph
emptied, is a whole database of clips alone, made as fast as the system copies files. The note holds for the file as it
was written: any program that changes the file counts its change counter up, and then nobody trusts the note.
"""

from __future__ import annotations

import json
import mmap
import os
import sqlite3
import struct
from contextlib import suppress
from pathlib import Path

from choreograph.graph.lazy import Reader, identity
from choreograph.graph.writing import CLIP_TABLES

_NOTE = "clip_pages"
"""The fact that says with which page clips end, and which change counter the file then has."""
_STAYS = (*CLIP_TABLES, "migration")
_PAGE_SIZE, _COUNTER, _PAGES, _LARGEST_ROOT, _HEADER = 16, 24, 28, 52, 100
"""Where a database's header has its page size, change counter and number of pages, and what is 0 unless pages move by
themselves; its length. See https://www.sqlite.org/fileformat.html."""
_PIECE = 1 << 20
"""Bytes written at a time."""
_LARGE = 1 << 26
"""Bytes from which on clips are copied without being held in memory."""
_EMPTY_TABLE, _EMPTY_INDEX = 0x0D, 0x0A
"""Kinds of pages of a tree that is a single page."""


def close_gaps(connection: sqlite3.Connection) -> None:
    """Let a file that has its clips, and nothing of its graph yet, have no free pages, if there is room to do so.

    Clips that were written over with others leave some.
    """
    if connection.execute("PRAGMA freelist_count").fetchone()[0]:
        with suppress(sqlite3.OperationalError):
            connection.execute("VACUUM")


def count_clip_pages(connection: sqlite3.Connection) -> int | None:
    """Pages of a file that has its clips, and nothing of its graph yet; None if the graph would not come after them."""
    free, pages = (int(connection.execute(f"PRAGMA {name}_count").fetchone()[0]) for name in ("freelist", "page"))
    return None if free else pages


def end_file(path: Path, pages: int | None) -> None:
    """Cut off what a file that is whole has left of the one it was copied from, and note where its clips end."""
    with path.open("r+b") as file:
        head = file.read(_HEADER)
        file.truncate(_number(head, _PAGES) * _page_size(head))
    if pages is None:
        return
    counter = _number(head, _COUNTER)
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        # Which this change counts up.
        text = json.dumps([pages, (counter + 1) % 2**32])
        connection.execute("INSERT INTO fact VALUES (?, ?)", (_NOTE, text))
    finally:
        connection.close()


def copy_clips(reader: Reader, target: Path) -> bool:
    """Begin a file with all clips of one that is open, and nothing else; whether that could be done.

    Raises:
        OSError: If there is no room for it.
    """
    with reader.lock:
        row = reader.connection.execute("SELECT value FROM fact WHERE name = ?", (_NOTE,)).fetchone()
        trees = reader.connection.execute("SELECT type, tbl_name, rootpage FROM sqlite_master").fetchall()
    if row is None or reader.identity is None:
        return False
    try:
        pages, counter = map(int, json.loads(row[0]))
        with reader.path.open("rb") as file:
            head = file.read(_HEADER)
            as_opened = identity(os.fstat(file.fileno())) == reader.identity
    except (OSError, ValueError, TypeError):
        return False
    emptied = [(kind, root) for kind, table, root in trees if table not in _STAYS]
    fits = 0 < pages <= _number(head, _PAGES) and all(0 < root <= pages for _, root in emptied)
    if not (as_opened and fits and counter == _number(head, _COUNTER) and not _number(head, _LARGEST_ROOT)):
        return False
    size = _page_size(head)
    _copy_beginning(reader.path, target, pages * size)
    make_room(target, reader.path)
    with target.open("r+b") as file:
        file.seek(_PAGES)
        file.write(struct.pack(">I", pages))
        for kind, root in emptied:
            file.seek((root - 1) * size)
            tree = _EMPTY_TABLE if kind == "table" else _EMPTY_INDEX
            file.write(struct.pack(">BHHHB", tree, 0, 0, size % 65536, 0))
    with suppress(OSError):
        # Somebody may have put another file in its place meanwhile.
        if identity(reader.path.stat()) == reader.identity:
            return True
    target.unlink()
    return False


def forget_clips(reader: Reader) -> None:
    """Let the system forget what it has read of a file's clips: for whoever reads very many of them, each once.

    Else it looks for memory to keep them in, which takes longer than to read them.
    """
    if not hasattr(os, "posix_fadvise"):
        return
    with reader.lock:
        row = reader.connection.execute("SELECT value FROM fact WHERE name = ?", (_NOTE,)).fetchone()
        size = int(reader.connection.execute("PRAGMA page_size").fetchone()[0])
    with suppress(OSError, ValueError, TypeError), reader.path.open("rb") as file:
        pages, _ = map(int, json.loads(row[0]) if row is not None else ())
        os.posix_fadvise(file.fileno(), 0, pages * size, os.POSIX_FADV_DONTNEED)


def make_room(target: Path, like: Path) -> None:
    """Let a file have as many bytes as another, to be written over: faster than a file that grows page by page."""
    if hasattr(os, "posix_fallocate"):
        # Where a file system does not do so, or has no room, writing goes on without, or says so.
        with suppress(OSError), target.open("r+b") as file:
            os.posix_fallocate(file.fileno(), 0, like.stat().st_size)


def _copy_beginning(source: Path, target: Path, size: int) -> None:
    """Copy a file's first bytes, and maybe some more: of a large one from disk to disk, where the system lets one.

    Gigabytes that nobody is about to read need no memory: to find some takes longer than to copy them.
    """
    if size >= _LARGE and hasattr(os, "O_DIRECT"):
        try:
            _copy_past_memory(source, target, size)
            return
        except OSError:  # a file system that does not do so, or no room
            pass
    with source.open("rb") as there, target.open("wb") as here:
        while size > 0 and (data := there.read(min(size, _PIECE))):
            here.write(data)
            size -= len(data)


def _copy_past_memory(source: Path, target: Path, size: int) -> None:
    """The same, in pieces that begin and end where the disk's blocks do."""
    there = os.open(source, os.O_RDONLY | os.O_DIRECT)
    try:
        here = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_DIRECT, 0o666)
        try:
            # Mapped, for memory of its own begins with a page.
            with mmap.mmap(-1, 8 * _PIECE) as buffer, memoryview(buffer) as room:
                done = 0
                while done < size and (count := os.preadv(there, [room], done)):
                    whole = -(-count // mmap.PAGESIZE) * mmap.PAGESIZE
                    with room[:whole] as piece:
                        os.pwrite(here, piece, done)
                    done += count
        finally:
            os.close(here)
    finally:
        os.close(there)


def _page_size(head: bytes) -> int:
    """Bytes of a page; a number of two bytes, for which 65536 is too large."""
    size = int(struct.unpack_from(">H", head, _PAGE_SIZE)[0])
    return 65536 if size == 1 else size


def _number(head: bytes, at: int) -> int:
    """A number of four bytes in a database's header; 0 where there is none."""
    return int(struct.unpack_from(">I", head, at)[0]) if len(head) == _HEADER else 0
