"""A cache of what can be computed again from a graph: hierarchies, segments, tables. It never fails a request.

An entry is one file: a header of JSON, and raw arrays behind it that are memory-mapped when they are read. (One
file, unlike a folder of arrays, replaces another at once.)
An entry is found by its key, which names all that it was computed from; one that is damaged counts as absent. Whoever
finds no entry, or may not write one, computes and goes on. The entries used least recently go when room is needed.
"""

from __future__ import annotations

import hashlib
import json
import math
import mmap
import os
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from choreograph.base import folders
from choreograph.base.errors import ChoreographError
from choreograph.formats.atomic import atomic_write
from choreograph.graph.fingerprint import Fingerprint

if TYPE_CHECKING:
    from choreograph.graph.model import MotionGraph

LIMIT_GB = 4.0
"""Size of all entries unless `CHOREOGRAPH_CACHE_GB` says otherwise; 0 there turns the cache off."""
SUFFIX = ".prepared"
_MAGIC = b"choreograph prepared 2\n"
_ALIGNED = 64
"""Arrays begin at multiples of so many bytes, as compiled code likes them."""
_BLOCK = 4096
"""Bytes whose sum enters a checksum."""
_DAMAGE = (ChoreographError, OSError, ValueError, KeyError, IndexError, TypeError, OverflowError)

T = TypeVar("T")


class Content(NamedTuple):
    """What an entry holds."""

    facts: Mapping[str, Any]
    """Plain values, as JSON has them."""
    arrays: Mapping[str, NDArray[Any]]
    """Read-only where they come from the cache."""


@dataclass(frozen=True)
class Key:
    """All that an entry was computed from."""

    kind: str
    """What it is, such as "edge tables": letters and spaces."""
    method: int
    """Version of the method that computes it: one more whenever the same input would give another entry."""
    fingerprint: Mapping[str, str]
    """The parts of the graph's fingerprint that it depends on, by name."""
    settings: Mapping[str, Any]
    """What else it depends on, as plain values."""
    graph: str = field(default="", compare=False)
    """The name of the graph's file when it was computed, for people who read lists of entries."""

    def text(self) -> str:
        """The key as one text; equal keys have equal texts."""
        return json.dumps([self.kind, self.method, dict(self.fingerprint), dict(self.settings)], sort_keys=True)

    @property
    def path(self) -> Path:
        """The file of its entry."""
        digest = hashlib.sha256(self.text().encode()).hexdigest()[:24]
        return entries_folder() / f"{self.kind.replace(' ', '-')}-{digest}{SUFFIX}"


@dataclass(frozen=True)
class CacheEntry:
    """What is known of an entry without reading its arrays."""

    kind: str
    graph: str
    """The name of the graph's file when it was computed; empty where there was none, or the entry is damaged."""
    bytes: int
    used: datetime
    """When it was last used, UTC."""
    path: Path
    fingerprint: Mapping[str, str]
    """The parts of a graph's fingerprint that it depends on; empty where it is damaged."""

    def is_of(self, fingerprint: Fingerprint) -> bool:
        """Whether it was computed from a graph with this fingerprint."""
        parts = fingerprint._asdict()
        return bool(self.fingerprint) and all(parts.get(name) == word for name, word in self.fingerprint.items())


def entries_folder() -> Path:
    """The folder that entries are in; see `choreograph.base.folders.cache_folder`."""
    return folders.cache_folder("prepared")


def limit_bytes() -> int:
    """How large all entries may be together; 0 where the cache is turned off."""
    try:
        gigabytes = float(os.environ.get("CHOREOGRAPH_CACHE_GB") or LIMIT_GB)
    except ValueError:
        gigabytes = LIMIT_GB
    return round(1e9 * min(max(gigabytes, 0.0), 1e6)) if gigabytes == gigabytes else round(1e9 * LIMIT_GB)


def find_key(graph: MotionGraph, kind: str, method: int, parts: Sequence[str], **settings: Any) -> Key | None:
    """The key of what is computed from these parts of a graph and these settings; None where the cache is turned off.

    Args:
        graph: What it is computed from.
        kind: What it is.
        method: Version of the method that computes it.
        parts: Fields of `Fingerprint`: what of the graph it depends on.
        settings: What else it depends on, as plain values.
    """
    if not limit_bytes():
        return None
    known = {part: str(getattr(graph.fingerprint, part)) for part in parts}
    return Key(kind, method, known, settings, "" if graph.path is None else graph.path.name)


def find_or_build(
    key: Key | None, build: Callable[[], T], pack: Callable[[T], Content], unpack: Callable[[Content], T]
) -> T:
    """What the cache has under a key; else what `build` gives, which is then in the cache if that can be.

    Args:
        key: Where to look; if None, it is built and not kept.
        build: Computes it.
        pack: Says what an entry of it holds.
        unpack: The reverse. An entry that it fails on counts as absent.
    """
    if key is None:
        return build()
    content = read_entry(key)
    if content is not None:
        with suppress(*_DAMAGE):
            return unpack(content)
    value = build()
    write_entry(key, pack(value))
    return value


def read_entry(key: Key) -> Content | None:
    """What the cache has under a key, checked against its checksums; None if there is nothing, or it is damaged."""
    with suppress(*_DAMAGE), key.path.open("rb") as file:
        header, start = _read_header(file)
        if header["key"] != key.text():
            return None
        buffer = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        arrays = {name: _array(buffer, start, *place) for name, place in header["arrays"].items()}
        with suppress(OSError):
            os.utime(key.path)  # so that it is not the least recently used
        return Content(header["facts"], arrays)
    return None


def write_entry(key: Key, content: Content) -> bool:
    """Put something into the cache; whether that could be done.

    Entries used least recently go until there is room. Of two who write under one key at once, the later one's stays.
    """
    places: dict[str, tuple[str, tuple[int, ...], int, int]] = {}
    plain: list[tuple[int, NDArray[Any]]] = []
    end = 0
    for name, array in content.arrays.items():
        array = np.ascontiguousarray(array)
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        start = -(-end // _ALIGNED) * _ALIGNED
        places[name] = array.dtype.str, array.shape, start, _checksum(array)
        plain.append((start, array))
        end = start + array.nbytes
    header = {"key": key.text(), "graph": key.graph, "fingerprint": dict(key.fingerprint), "bytes": end}
    text = json.dumps({**header, "facts": dict(content.facts), "arrays": places}).encode()
    head = _MAGIC + len(text).to_bytes(8, "little") + zlib.crc32(text).to_bytes(4, "little") + text
    head += bytes(-len(head) % _ALIGNED)
    if len(head) + end > limit_bytes():
        return False
    try:
        _make_room(key.path, len(head) + end)
        with atomic_write(key.path, overwrite=True) as temporary, temporary.open("wb") as file:
            file.write(head)
            for start, array in plain:
                file.write(bytes(len(head) + start - file.tell()))
                file.write(_bytes(array))
    except (ChoreographError, OSError):  # a full disk, a folder that may not be written to
        return False
    return True


def list_entries() -> list[CacheEntry]:
    """The entries in the cache, the one used last first."""
    entries = []
    for used, size, path in _files():
        header: dict[str, Any] = {}
        with suppress(*_DAMAGE), path.open("rb") as file:
            header, _ = _read_header(file)
        kind = path.stem.rpartition("-")[0].replace("-", " ")
        known = header.get("fingerprint", {})
        entries.append(CacheEntry(kind, header.get("graph", ""), size, datetime.fromtimestamp(used, UTC), path, known))
    return entries[::-1]


def clear_entries(kind: str | None = None) -> list[CacheEntry]:
    """Remove the entries of a kind, or all; those that are gone are returned."""
    removed = []
    for entry in list_entries():
        if kind in (None, entry.kind):
            with suppress(OSError):
                entry.path.unlink()
                removed.append(entry)
    return removed


def _read_header(file: IO[bytes]) -> tuple[dict[str, Any], int]:
    """An entry's header and where its arrays begin; a ValueError where the file is not what it should be."""
    size, fixed = os.fstat(file.fileno()).st_size, len(_MAGIC) + 12
    head = file.read(fixed)
    if len(head) < fixed or not head.startswith(_MAGIC):
        raise ValueError("this is no entry")
    length, checksum = int.from_bytes(head[-12:-4], "little"), int.from_bytes(head[-4:], "little")
    text = file.read(min(length, size))
    if zlib.crc32(text) != checksum:
        raise ValueError("the header has another checksum than it had")
    header = json.loads(text)
    start = -(-(fixed + length) // _ALIGNED) * _ALIGNED
    if size != start + header["bytes"]:
        raise ValueError("the file is longer or shorter than it was")
    return header, start


def _array(buffer: mmap.mmap, start: int, dtype: str, shape: list[int], offset: int, checksum: int) -> NDArray[Any]:
    kind = np.dtype(dtype)
    if kind.kind not in "biufc":
        raise ValueError(f"an array is of type {dtype}")
    count = math.prod(shape)
    array = np.frombuffer(buffer, kind, count, start + offset).reshape(shape) if count else np.zeros(shape, kind)
    if _checksum(array) != checksum:
        raise ValueError("an array has another checksum than it had")
    array.setflags(write=False)
    return array


def _checksum(array: NDArray[Any]) -> int:
    """The checksum of the sums of blocks, and of the rest: as sure to find damage, several times as fast."""
    data = array.reshape(-1).view(np.uint8)
    whole = len(data) - len(data) % _BLOCK
    # A copy is made only where words do not begin where they should.
    words = np.require(data[:whole].view(np.uint64), requirements="A").reshape(-1, _BLOCK // 8)
    return zlib.crc32(data[whole:].data, zlib.crc32(words.sum(axis=1, dtype=np.uint64).view(np.uint8).data))


def _bytes(array: NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def _files() -> list[tuple[float, int, Path]]:
    """When each entry was last used, its size and its file, the one used least recently first."""
    files = []
    with suppress(OSError):
        for path in entries_folder().glob(f"*{SUFFIX}"):
            with suppress(OSError):  # another process may have removed it
                state = path.stat()
                if not path.name.startswith("."):  # which are those that somebody is writing
                    files.append((state.st_mtime, state.st_size, path))
    return sorted(files)


def _make_room(path: Path, coming: int) -> None:
    """Remove the entries used least recently until one of so many bytes has room at `path`."""
    files = [file for file in _files() if file[2] != path]
    total, limit = coming + sum(size for _, size, _ in files), limit_bytes()
    for _, size, file in files:
        if total <= limit:
            break
        with suppress(OSError):
            file.unlink(missing_ok=True)
            total -= size
