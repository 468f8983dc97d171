"""Rows of a .mog file: arrays as blobs with dtype, shape and checksum, skeletons, and the doubt they are read with."""

from __future__ import annotations

import json
import math
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choreograph.base.arrays import Bytes
from choreograph.base.errors import ChoreographError, GraphFileError
from choreograph.graph import validation
from choreograph.graph.checksums import join_checksums
from choreograph.motion.skeleton import JointAxes, Skeleton

CLIP_ARRAYS = ("root_pos", "local_rot", "local_pos", "contacts")
"""A clip's arrays, by the names of its fields."""

_DTYPES = {"float64": 8, "float32": 4, "int32": 4, "int8": 1, "bool": 1}
"""The types an array in a file may have, with their sizes in bytes."""

CHUNK_BYTES = 1 << 24
"""Longer columns of a graph's tables are kept in chunks of this size: memory for twice as much, which SQLite takes to
write one, is not given back to the system and taken again each time."""

_PIECE = 1 << 20
"""Longer columns are read in pieces of this size."""

_KEYS = {
    "skeleton_array": ("skeleton", "name"),
    "clip_array": ("clip", "name"),
    "graph_array": ("part", "name"),
}
"""The tables of arrays and what an array is found by."""


def damaged(detail: str) -> str:
    """The sentence for a file that contradicts itself."""
    return f"is damaged ({detail}); take it from a backup or build it again"


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn whatever goes wrong while reading a file's contents into one sentence."""
    try:
        yield
    except GraphFileError:
        raise
    except (
        sqlite3.Error,
        ChoreographError,
        ValueError,
        TypeError,
        LookupError,
        ArithmeticError,
        AttributeError,
    ) as error:
        detail = f"no {error}" if isinstance(error, KeyError) else str(error)
        raise GraphFileError(damaged(detail), path=path) from error
    except (MemoryError, RecursionError) as error:
        raise GraphFileError(damaged("a part of it is impossibly large"), path=path) from error


def write_array(connection: sqlite3.Connection, table: str, key: tuple[Any, ...], array: NDArray[Any]) -> None:
    """Insert an array."""
    array = np.ascontiguousarray(array)
    if not array.dtype.isnative or array.dtype.name not in _DTYPES:
        raise ValueError(f"an array of {array.dtype} has no place in the file")
    data = array.astype(array.dtype.newbyteorder("<"), copy=False).reshape(-1).view(np.uint8).data
    shape = ",".join(str(n) for n in array.shape)
    connection.execute(
        f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?, ?)", (*key, array.dtype.name, shape, zlib.crc32(data), data)
    )


def write_column(connection: sqlite3.Connection, key: tuple[str, str], column: NDArray[Any]) -> None:
    """Insert a column of a graph's table: in chunks where it is long, since SQLite holds no blob beyond 10^9 bytes."""
    if column.nbytes <= CHUNK_BYTES:
        write_array(connection, "graph_array", key, column)
        return
    data = np.ascontiguousarray(column).astype(column.dtype.newbyteorder("<"), copy=False).view(np.uint8).data
    whole = 0
    for position, start in enumerate(range(0, len(data), CHUNK_BYTES)):
        piece = data[start : start + CHUNK_BYTES]
        own = zlib.crc32(piece)
        connection.execute("INSERT INTO graph_chunk VALUES (?, ?, ?, ?, ?)", (*key, position, own, piece))
        whole = join_checksums(whole, own, len(piece))
    row = (*key, column.dtype.name, str(len(column)), whole, b"")
    connection.execute("INSERT INTO graph_array VALUES (?, ?, ?, ?, ?, ?)", row)


def _read_chunks(
    connection: sqlite3.Connection, key: tuple[Any, ...], dtype: str, shape: str, crc32: int, room: int
) -> NDArray[Any]:
    """A column that was written in chunks: read into place one at a time."""
    total = connection.execute("SELECT sum(length(data)) FROM graph_chunk WHERE part = ? AND name = ?", key).fetchone()[
        0
    ]
    column, out = _column(dtype, _sizes(dtype, shape, total), room)
    start = whole = 0
    query = (
        "SELECT rowid, position, crc32, length(data), typeof(data) FROM graph_chunk "
        "WHERE part = ? AND name = ? ORDER BY position"
    )
    for expected, (rowid, position, own, length, kind) in enumerate(connection.execute(query, key).fetchall()):
        found_chunk = None
        if position == expected and kind == "blob":
            found_chunk = _read_blob(connection, "graph_chunk", rowid, out[start : start + length])
            whole = join_checksums(whole, found_chunk, length)
        if found_chunk != own:
            raise ValueError(f"chunk {expected} of {key[0]} {key[1]} is missing, or has another checksum than it had")
        start += length
    if whole != crc32:
        raise ValueError(f"the chunks of {key[0]} {key[1]} are not those of one column")
    column.setflags(write=room > 0)
    return column


def _read_blob(connection: sqlite3.Connection, table: str, rowid: int, out: Bytes) -> int:
    """Read a blob into place piece by piece, so that it is not in memory twice; its checksum."""
    checksum = 0
    with connection.blobopen(table, "data", rowid, readonly=True) as blob:
        for start in range(0, len(out), _PIECE):
            data = blob.read(_PIECE)
            checksum = zlib.crc32(data, checksum)
            out[start : start + len(data)] = np.frombuffer(data, np.uint8)
    return checksum


def _column(dtype: str, sizes: tuple[int, ...], room: int) -> tuple[NDArray[Any], Bytes]:
    """A new column, with room for more rows at its end, and its bytes."""
    if len(sizes) != 1:
        raise ValueError("a column has more than one dimension")
    column = np.empty(sizes[0] + room, np.dtype(dtype).newbyteorder("<"))
    return column, column.view(np.uint8)


def read_array(connection: sqlite3.Connection, table: str, key: tuple[Any, ...], room: int = 0) -> NDArray[Any] | None:
    """An array, checked against its size and checksum; None if there is none of this key.

    Args:
        connection: The file.
        table: Of arrays.
        key: What it is found by.
        room: Of a graph's column, how many rows that may be written to it has at its end, whatever is in them.
    """
    first, second = _KEYS[table]
    source = f"FROM {table} WHERE {first} = ? AND {second} = ?"
    large = table == "graph_array" and connection.execute(f"SELECT rowid {source} AND length(data) > ?", (*key, _PIECE))
    if large and (at := large.fetchone()) is not None:
        return _read_large(connection, table, at[0], room)
    row = connection.execute(f"SELECT dtype, shape, crc32, data {source}", key).fetchone()
    if row is None:
        return None
    dtype, shape, crc32, data = row
    if table == "graph_array" and data == b"" and shape != "0":
        return _read_chunks(connection, key, dtype, shape, crc32, room)
    array = _as_array(key, first, dtype, shape, crc32, data)
    if room:
        column, _ = _column(dtype, array.shape, room)
        column[: len(array)] = array
        return column
    return array


def read_arrays(connection: sqlite3.Connection, table: str, key: int) -> dict[str, NDArray[Any]]:
    """All arrays of a clip or a skeleton by name, each checked as by `read_array`."""
    first, _ = _KEYS[table]
    arrays = {}
    query = f"SELECT name, dtype, shape, crc32, data FROM {table} WHERE {first} = ?"
    for name, dtype, shape, crc32, data in connection.execute(query, (key,)):
        arrays[name] = _as_array((key, name), first, dtype, shape, crc32, data)
    return arrays


def _as_array(key: tuple[Any, ...], first: str, dtype: str, shape: str, crc32: int, data: Any) -> NDArray[Any]:
    if not isinstance(data, bytes):
        raise ValueError(f"the array {key[1]} of {first} {key[0]} is a {type(data).__name__}, not a blob")
    sizes = _sizes(dtype, shape, len(data))
    if zlib.crc32(data) != crc32:
        raise ValueError(f"the array {key[1]} of {first} {key[0]} has another checksum than it had")
    return np.frombuffer(data, np.dtype(dtype).newbyteorder("<")).reshape(sizes)


def _read_large(connection: sqlite3.Connection, table: str, rowid: int, room: int) -> NDArray[Any]:
    """A column that is longer than a piece."""
    query = f"SELECT part, name, dtype, shape, crc32, length(data), typeof(data) FROM {table} WHERE rowid = ?"
    part, name, dtype, shape, crc32, length, kind = connection.execute(query, (rowid,)).fetchone()
    if kind != "blob":
        raise ValueError(f"the array {name} of {part} is a {kind}, not a blob")
    column, out = _column(dtype, _sizes(dtype, shape, length), room)
    if _read_blob(connection, table, rowid, out[:length]) != crc32:
        raise ValueError(f"the array {name} of {part} has another checksum than it had")
    column.setflags(write=room > 0)
    return column


def check_tables(connection: sqlite3.Connection) -> None:
    """Raise a ValueError if the file holds more than tables and their indices: a view could be made to run forever."""
    connection.execute("PRAGMA trusted_schema = OFF")
    odd = "type NOT IN ('table', 'index') OR sql LIKE 'create virtual%'"
    if row := connection.execute(f"SELECT type, name FROM sqlite_master WHERE {odd}").fetchone():
        raise ValueError(f"it holds a {row[0]} {row[1]}, which no motion graph has")


def check_sizes(connection: sqlite3.Connection) -> None:
    """Raise a ValueError unless every blob is as long as its dtype and shape say. Reads no blob."""
    present = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    for table in present & _KEYS.keys():
        length = "length(data)"
        if table == "graph_array" and "graph_chunk" in present:
            length = (
                "length(data) + coalesce((SELECT sum(length(c.data)) FROM graph_chunk AS c "
                "WHERE c.part = graph_array.part AND c.name = graph_array.name), 0)"
            )
        for dtype, shape, stored in connection.execute(f"SELECT DISTINCT dtype, shape, {length} FROM {table}"):
            _sizes(dtype, shape, stored)


def _sizes(dtype: str, shape: str, length: int) -> tuple[int, ...]:
    if not isinstance(shape, str) or len(shape) > 200:
        raise ValueError("an array has no shape")
    if dtype not in _DTYPES:
        raise ValueError(f"an array is of the unknown type {dtype!r}")
    sizes = tuple(int(n) for n in shape.split(",")) if shape else ()
    if min(sizes, default=0) < 0 or math.prod(sizes) * _DTYPES[dtype] != length:
        raise ValueError(f"an array of shape {shape} and type {dtype} has {length} bytes")
    return sizes


class SkeletonNumbers:
    """Numbers different skeletons in the order in which they are met."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._skeletons: list[Skeleton] = []

    def __iter__(self) -> Iterator[Skeleton]:
        return iter(self._skeletons)

    def __len__(self) -> int:
        return len(self._skeletons)

    def number_of(self, skeleton: Skeleton) -> int:
        """The number of this skeleton; one that was not met before gets the next."""
        orders = None if skeleton.axes is None else skeleton.axes.orders
        arrays = tuple((name, a.shape, a.tobytes()) for name, a in skeleton_arrays(skeleton).items())
        content = (skeleton.names, skeleton.roles, orders, *arrays)
        if content not in self._numbers:
            self._numbers[content] = len(self._numbers)
            self._skeletons.append(skeleton)
        return self._numbers[content]


def write_skeleton(connection: sqlite3.Connection, number: int, skeleton: Skeleton) -> None:
    """Insert a skeleton."""
    orders = None if skeleton.axes is None else skeleton.axes.orders
    texts = [json.dumps(list(t)) if t is not None else None for t in (skeleton.names, skeleton.roles, orders)]
    connection.execute("INSERT INTO skeleton VALUES (?, ?, ?, ?)", (number, *texts))
    for name, array in skeleton_arrays(skeleton).items():
        write_array(connection, "skeleton_array", (number, name), array)


def skeleton_arrays(skeleton: Skeleton) -> dict[str, NDArray[Any]]:
    """A skeleton's arrays, by the names under which a file keeps them."""
    arrays: dict[str, NDArray[Any]] = {
        name: getattr(skeleton, name) for name in ("parents", "offsets", "tip_parents", "tip_offsets")
    }
    if skeleton.axes is not None:
        arrays["axis_frames"] = skeleton.axes.frames
        if skeleton.axes.limits is not None:
            arrays["axis_limits"] = skeleton.axes.limits
    return arrays


def read_skeleton(connection: sqlite3.Connection, number: int) -> Skeleton:
    """The skeleton in a row; raises what `reading` turns into a sentence."""
    row = connection.execute("SELECT names, roles, axis_orders FROM skeleton WHERE id = ?", (number,)).fetchone()
    if row is None:
        raise ValueError(f"skeleton {number} is missing")
    names, roles, orders = (None if text is None else validation.texts(text, f"skeleton {number}") for text in row)

    def array(name: str) -> Any:
        return read_array(connection, "skeleton_array", (number, name))

    axes = None if orders is None else JointAxes(array("axis_frames"), tuple(orders), array("axis_limits"))
    return Skeleton(
        tuple(names or ()),
        array("parents"),
        array("offsets"),
        array("tip_parents"),
        array("tip_offsets"),
        tuple(roles or ()),
        axes,
    )
