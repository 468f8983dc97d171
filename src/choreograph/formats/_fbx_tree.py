"""The tree of records in an FBX file, binary or text, read within budgets; arrays are unpacked when asked for."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choreograph.base.errors import FormatError

MAGIC = b"Kaydara FBX Binary  \x00\x1a\x00"
OLDEST = 7000
"""FBX 2011; files before it lay out objects and takes in another way."""
_DEPTH = 48  # records within records
_RECORDS = 4_000_000  # of one file
_GROWTH, _ROOM = 16, 4 << 20
"""Bytes that a single array may unpack to for each byte of the file, and beside that."""
_KINDS = {"f": "<f4", "d": "<f8", "l": "<i8", "i": "<i4", "b": "<i1", "c": "<i1"}
_SCALARS = {"Y": struct.Struct("<h"), "C": struct.Struct("<?"), "I": struct.Struct("<i"), "F": struct.Struct("<f"),
            "D": struct.Struct("<d"), "L": struct.Struct("<q")}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Packed:
    """An array as the file holds it."""

    kind: str
    length: int
    data: memoryview | str
    """Bytes, or the numbers as text."""
    zipped: bool = False
    most: int = 1 << 30
    """Bytes that it may unpack to."""

    def unpack(self) -> NDArray[Any]:
        """The numbers."""
        if isinstance(self.data, str):
            try:
                numbers = np.array(
                    self.data.replace("\n", " ").split(","), np.float64 if self.kind == "d" else np.int64
                )
            except (ValueError, OverflowError):
                raise FormatError("an array holds something that is no number") from None
            if len(numbers) != self.length:
                raise FormatError(f"an array of {self.length} numbers has {len(numbers)}")
            return numbers
        dtype = np.dtype(_KINDS[self.kind])
        size = self.length * dtype.itemsize
        if size > self.most:
            raise FormatError(f"an array of {self.length} numbers is more than so small a file holds")
        raw: Any = self.data
        if self.zipped:
            try:
                raw = zlib.decompressobj().decompress(raw, size + 1)
            except zlib.error as error:
                raise FormatError(f"an array cannot be unpacked: {error}") from None
        if len(raw) != size:
            raise FormatError(f"an array of {self.length} numbers holds {len(raw)} bytes, not {size}")
        return np.frombuffer(raw, dtype)


@dataclass(eq=False, slots=True)
class Record:
    """A named record with values and records below it."""

    name: str
    values: list[Any] = field(default_factory=list)
    below: list[Record] = field(default_factory=list)

    def all(self, name: str) -> Iterator[Record]:
        """The records of this name directly below."""
        return (record for record in self.below if record.name == name)

    def first(self, name: str) -> Record | None:
        """The first record of this name directly below, or None."""
        return next(self.all(name), None)

    def array(self, name: str) -> NDArray[Any] | None:
        """The array of the first record of this name, or None."""
        record = self.first(name)
        if record is None or not record.values:
            return None
        one = record.values[0]
        if isinstance(one, Packed):
            return one.unpack()
        if not all(isinstance(value, int | float) for value in record.values):
            raise FormatError(f"{name!r} is no array of numbers")
        return np.array(record.values)


def read_tree(data: bytes) -> tuple[int, Record]:
    """The version (7400 stands for 7.4) and the record above all others."""
    if data.startswith(MAGIC[:20]):
        version = _uint(data, 23, 4)
        _check_version(version)
        return version, _read_binary(data, version)
    head = data[:4096].lstrip(b"\xef\xbb\xbf \t\r\n")
    if head.startswith(b";") or b"FBXHeaderExtension" in head:
        root = _read_text(data.decode("utf-8", errors="replace"))
        header = root.first("FBXHeaderExtension")
        stated = header.first("FBXVersion") if header else None
        version = stated.values[0] if stated and stated.values and isinstance(stated.values[0], int) else 0
        _check_version(version)
        return version, root
    raise FormatError("is no FBX file: it begins like neither the binary nor the text kind")


def _check_version(version: int) -> None:
    if not OLDEST <= version < 10_000:
        raise FormatError(
            f"is FBX version {version / 1000:.1f}; versions from {OLDEST / 1000:.1f} (2011) on are read: save it as "
            "FBX 2014 or newer, or as BVH or GLB"
        )


# ----------------------------------------------------------------------------------------------------------- binary


def _uint(data: bytes, at: int, size: int) -> int:
    if at + size > len(data):
        raise FormatError("ends in the middle of a record")
    return int.from_bytes(data[at : at + size], "little")


def _read_binary(data: bytes, version: int) -> Record:
    """The records of a binary file: each says where it ends; an empty one closes a list."""
    wide = 8 if version >= 7500 else 4
    head = 3 * wide + 1
    view = memoryview(data)
    root = Record("")
    open_records, ends = [root], [len(data)]
    at, count = 27, 0
    while True:
        if at >= ends[-1]:
            if len(open_records) == 1 or at > ends[-1]:
                break
            open_records.pop(), ends.pop()
            continue
        stop, number, size = (_uint(data, at + k * wide, wide) for k in range(3))
        letters = _uint(data, at + 3 * wide, 1)
        if stop == 0:
            if len(open_records) == 1:
                break  # the file's own end; a footer follows
            at = ends.pop()
            open_records.pop()
            continue
        count += 1
        if count > _RECORDS or len(open_records) > _DEPTH:
            raise FormatError(f"has more than {_RECORDS} records, or records nested more than {_DEPTH} deep")
        values_at = at + head + letters
        if not values_at + size <= stop <= ends[-1]:
            raise FormatError(f"a record at byte {at} ends outside the one that holds it")
        record = Record(bytes(view[at + head : values_at]).decode("ascii", errors="replace"))
        record.values = _read_values(view[values_at : values_at + size], number, _GROWTH * len(data) + _ROOM)
        open_records[-1].below.append(record)
        at = values_at + size
        if at < stop:
            open_records.append(record)
            ends.append(stop)
    return root


def _read_values(view: memoryview, number: int, most: int) -> list[Any]:
    values: list[Any] = []
    at = 0
    try:
        for _ in range(min(number, len(view))):
            kind = chr(view[at])
            at += 1
            if kind in _SCALARS:
                packing = _SCALARS[kind]
                values.append(packing.unpack_from(view, at)[0])
                at += packing.size
            elif kind in "SR":
                (length,) = struct.unpack_from("<I", view, at)
                raw = bytes(view[at + 4 : at + 4 + length])
                values.append(raw.decode("utf-8", errors="replace") if kind == "S" else raw)
                at += 4 + length
            elif kind in _KINDS:
                length, encoding, size = struct.unpack_from("<III", view, at)
                values.append(Packed(kind, length, view[at + 12 : at + 12 + size], encoding == 1, most))
                at += 12 + size
            else:
                raise FormatError(f"has a value of an unknown kind {kind!r}")
    except (struct.error, IndexError):
        raise FormatError("ends in the middle of a value") from None
    return values


# ------------------------------------------------------------------------------------------------------------- text

_TOKEN = re.compile(
    r"""(?P<skip>[\s,]+|;[^\n]*)|(?P<name>[A-Za-z_][\w|:]*:(?=\s|$))|"(?P<text>[^"]*)"|\*(?P<array>\d+)\s*\{\s*a:(?P<numbers>[^}]*)\}"""
    r"""|(?P<open>\{)|(?P<close>\})|(?P<number>[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+|nan|inf))|(?P<word>[A-Za-z_]\w*)"""
)


def _read_text(text: str) -> Record:
    """The records of a text file."""
    root = Record("")
    open_records, last = [root], root
    at, count = 0, 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            line = text.count("\n", 0, at) + 1
            raise FormatError(f"cannot be read at {text[at : at + 20]!r}", line=line)
        at = match.end()
        kind = match.lastgroup
        if kind == "skip":
            continue
        if kind == "name":
            last = Record(match["name"][:-1])
            open_records[-1].below.append(last)
            count += 1
        elif kind == "open":
            open_records.append(last)
        elif kind == "close":
            if len(open_records) == 1:
                raise FormatError("closes a bracket that was not open", line=text.count("\n", 0, at) + 1)
            last = open_records.pop()
        elif last is root:
            raise FormatError("begins with a value that belongs to nothing", line=text.count("\n", 0, at) + 1)
        elif kind == "text":
            last.values.append(match["text"].replace("&quot;", '"'))
        elif kind == "numbers":
            numbers = match["numbers"]
            whole = not re.search(r"[.eEna]", numbers)
            last.values.append(Packed("l" if whole else "d", int(match["array"][:12]), numbers))
        elif kind == "number":
            last.values.append(_number(match["number"]))
        else:
            last.values.append(match["word"])
        if count > _RECORDS or len(open_records) > _DEPTH:
            raise FormatError(f"has more than {_RECORDS} records, or records nested more than {_DEPTH} deep")
    if len(open_records) > 1:
        raise FormatError("ends before its brackets are closed")
    return root


def _number(text: str) -> int | float:
    if len(text) > 40:
        raise FormatError(f"has a number of {len(text)} digits")
    return int(text) if re.fullmatch(r"[-+]?\d+", text) else float(text)
