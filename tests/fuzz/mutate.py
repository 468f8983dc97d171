"""Files with something wrong with them: bytes anywhere, words of text, values of JSON, cells and pages of SQLite."""

from __future__ import annotations

import io
import json
import re
import sqlite3
import struct
import zipfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

NUMBERS = [
    b"nan", b"inf", b"-inf", b"1e999", b"-1e308", b"1e-320", b"99999999999999999999", b"-1", b"0", b"1", b"2147483648",
    b"-9223372036854775809", b"0x" + b"f" * 40, b"9" * 500, b"9" * 5000, b"1.5", b".5.", b"1e", b"-", b"1,5", b"1_000",
]  # fmt: skip
MARKS = [
    b"", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"{", b"}", b"[", b"]", b"(", b")", b'"', b"'", b"<", b">", b"&", b"*",
    b"#", b":", b";", b",", b"\n", b"\r\n", b"\r", b" ", b"\t", b"\xc2\x85", b"\xe2\x80\xa8", b"null", b"true",
]  # fmt: skip
WORDS = {
    "bvh": [b"ROOT", b"JOINT x {", b"End Site", b"OFFSET", b"CHANNELS 64", b"CHANNELS 0", b"Xposition", b"Zrotation",
            b"MOTION", b"Frames: 1000000000", b"Frame Time: 0", b"HIERARCHY"],
    "amc": [b"root 1 2 3 4 5 6", b":RADIANS", b":DEGREES", b":FULLY-SPECIFIED", b"1000000000"],
    "asf": [b":bonedata", b":hierarchy", b"begin", b"end", b"dof rx ry rz", b"dof l tx", b"axis 1 2 3 ZYX",
            b"limits (-inf inf)", b"order RZ TX", b":units", b":root"],
    "svg": [b"<path d='M0 0", b"A1e9 1 0 0 1 5 5", b"C 1 2 3", b"z", b"<g transform='matrix(1 0 0 1 0 0)'>", b"</g>",
            b"<!DOCTYPE a [<!ENTITY b 'c'>]>", b"&b;", b"rotate(1e308)", b"scale(0)", b"<use href='#a'/>", b"1e308mm"],
    "csv": [b"x,z", b"t;x;z", b"\t\t", b"#", b'"1', b"x", b"z"],
    "yaml": [b"&a", b"*a", b"<<: *a", b"!!python/object", b"---", b"...", b"? ", b"- ", b"|", b">",
             b"{a: ", b"%YAML 1.1"],
    "json": [b'{"a":', b"[" * 50, b"NaN", b"Infinity", b"1E400", b'"\\ud800"', b"\\u0000"],
    "usda": [b"def SkelRoot", b"over", b"subLayers = [@/etc/passwd@]", b"references = @a.usda@", b"asset", b"token[]",
             b"timeSamples = {", b"None", b"variantSet", b"inherits = </Motion>", b"double4[]", b"(metersPerUnit = 0)"],
}  # fmt: skip
VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 2**31, 2**63, 10**30, -0.0, 1e-320, 1e308, float("inf"), float("nan"), "", "a",
    "1e999", "nan", "\x00", "ü" * 300, "x" * 5000, "\u00b2", [], [[]], [None], [[[[[[]]]]]], {}, {"a": 1}, [0] * 1000,
    [1e308, -1e308],
]  # fmt: skip
Rng = np.random.Generator


def pick(rng: Rng, options: Sequence[Any]) -> Any:
    return options[int(rng.integers(len(options)))]


def mutate_bytes(data: bytes, rng: Rng, words: Sequence[bytes] = ()) -> bytes:
    """Bytes changed, left out, doubled, exchanged; half of them near the beginning, where the structure is."""
    out = bytearray(data)
    words = [*NUMBERS, *MARKS, *words]
    for _ in range(pick(rng, [1, 1, 1, 2, 5])):
        size = len(out)
        if not size:
            break
        end = size if rng.random() < 0.5 else min(size, 4000)
        at = int(rng.integers(0, end))
        length = int(rng.integers(1, 2 + min(size - at, pick(rng, [2, 4, 40, 4000]))))
        what = int(rng.integers(0, 8))
        if what == 0:
            out[at] ^= 1 << int(rng.integers(0, 8))
        elif what == 1:
            out[at : at + length] = rng.bytes(min(length, 8))
        elif what == 2:
            del out[at : at + length]
        elif what == 3:
            out[at:at] = out[at : at + length] * int(rng.integers(1, 4))
        elif what == 4:
            out[at:at] = pick(rng, words)
        elif what == 5:
            out[at : at + length] = pick(rng, words)
        elif what == 6:
            other = int(rng.integers(0, size))
            out[at : at + length] = out[other : other + length]
        elif rng.random() < 0.3:
            del out[at:]
    return bytes(out)


_PARTS = re.compile(rb"[A-Za-z_][\w.-]*|[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?|\n|\S|[ \t]+")


def mutate_text(data: bytes, rng: Rng, words: Sequence[bytes]) -> bytes:
    """Words and lines changed, left out, doubled, exchanged, so that the rest of the file still makes sense."""
    if rng.random() < 0.25:
        return mutate_bytes(data, rng, words)
    if rng.random() < 0.3:
        lines = data.split(b"\n")
        _shuffle(lines, rng, words)
        return b"\n".join(lines)
    head = data[:20_000]
    parts = _PARTS.findall(head)
    for _ in range(pick(rng, [1, 1, 2, 4])):
        if not parts:
            break
        at = int(rng.integers(len(parts)))
        if re.fullmatch(rb"[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?", parts[at]) and rng.random() < 0.6:
            parts[at] = pick(rng, NUMBERS)
        else:
            _shuffle(parts, rng, words, at)
    return b"".join(parts) + data[20_000:]


def _shuffle(items: list[bytes], rng: Rng, words: Sequence[bytes], at: int | None = None) -> None:
    at = int(rng.integers(len(items))) if at is None else at
    what = int(rng.integers(5))
    if what == 0:
        del items[at : at + pick(rng, [1, 1, 5])]
    elif what == 1:
        items[at:at] = items[at : at + 5] * pick(rng, [1, 2, 50])
    elif what == 2:
        items[at] = pick(rng, [*words, *MARKS])
    elif what == 3:
        other = int(rng.integers(len(items)))
        items[at], items[other] = items[other], items[at]
    else:
        items.insert(at, pick(rng, [*words, *NUMBERS]))


def mutate_tree(tree: Any, rng: Rng) -> Any:
    """Plain values with one of them changed, left out, doubled or put elsewhere."""
    places: list[tuple[Any, Any]] = []
    left = [tree]
    while left:
        node = left.pop()
        keys = list(node) if isinstance(node, dict) else range(min(len(node), 200)) if isinstance(node, list) else ()
        for key in keys:
            places.append((node, key))
            left.append(node[key])
    if not places:
        return pick(rng, VALUES)
    holder, key = pick(rng, places)
    what = int(rng.integers(5))
    if what == 0:
        del holder[key]
    elif what == 1 and isinstance(holder, dict):
        holder[pick(rng, ["", "x", "<<", "__class__", "ü" * 300, "1"])] = holder.pop(key)
    elif what == 2:
        other, place = pick(rng, places)
        try:
            holder[key] = json.loads(json.dumps(other[place]))  # a copy: no tree may hold itself
        except (LookupError, ValueError):
            holder[key] = None
    elif what == 3 and isinstance(holder, list):
        holder[key:key] = [holder[key]] * pick(rng, [1, 100])
    else:
        holder[key] = pick(rng, VALUES)
    return tree


def mutate_json(data: bytes, rng: Rng) -> bytes:
    """A JSON text with a value that does not belong there, or with letters that do not."""
    if rng.random() < 0.3:
        return mutate_text(data, rng, WORDS["json"])
    return json.dumps(mutate_tree(json.loads(data), rng)).replace("Infinity", "1e999").encode()


def mutate_yaml(data: bytes, rng: Rng) -> bytes:
    """A YAML text with a value that does not belong there, or with marks that do not."""
    import yaml

    if rng.random() < 0.4:
        return mutate_text(data, rng, WORDS["yaml"])
    return dump_yaml(mutate_tree(yaml.safe_load(data), rng), default_flow_style=pick(rng, [None, True]))


def dump_yaml(tree: Any, **how: Any) -> bytes:
    """Plain values as YAML, without aliases for what comes twice."""
    import yaml

    class Dumper(yaml.SafeDumper):  # type: ignore[misc]
        def ignore_aliases(self, data: Any) -> bool:
            return True

    return str(yaml.dump(tree, Dumper=Dumper, **how)).encode()


def mutate_archive(data: bytes, rng: Rng) -> bytes:
    """An archive with one of its arrays broken inside, so that its checksum is right all the same."""
    if rng.random() < 0.3:
        return mutate_bytes(data, rng)
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        victim = int(rng.integers(0, len(old.namelist())))
        for k, name in enumerate(old.namelist()):
            if k == victim and rng.random() < 0.1:
                continue
            new.writestr(name, mutate_bytes(old.read(name), rng) if k == victim else old.read(name))
    return out.getvalue()


def mutate_glb(data: bytes, rng: Rng) -> bytes:
    """A GLB file with a wrong value in its JSON, in a container that is right; or with broken bytes."""
    if rng.random() < 0.3:
        return mutate_bytes(data, rng)
    length = struct.unpack_from("<I", data, 12)[0]
    text, rest = data[20 : 20 + length], bytearray(data[20 + length :])
    if rng.random() < 0.3 and len(rest) > 8:
        rest[8:] = mutate_bytes(bytes(rest[8:]), rng)
    else:
        text = mutate_json(text, rng)
    text += b" " * (-len(text) % 4)
    head = struct.pack("<4sII", b"glTF", 2, 20 + len(text) + len(rest))
    return head + struct.pack("<I4s", len(text), b"JSON") + text + bytes(rest)


def mutate_database(data: bytes, rng: Rng, folder: Path) -> bytes:
    """An SQLite file with a cell that holds something else, rows that are gone, or a page that is broken."""
    if rng.random() < 0.35:
        out = bytearray(data)
        page = struct.unpack_from(">H", data, 16)[0] or 4096
        start = page * int(rng.integers(len(data) // page))
        broken = mutate_bytes(bytes(out[start : start + page]), rng)[:page]
        out[start : start + page] = broken.ljust(page, b"\0") if rng.random() < 0.8 else broken
        return bytes(out)
    path = folder / "victim.sqlite"
    path.write_bytes(data)
    with closing(sqlite3.connect(path, isolation_level=None)) as file:
        file.execute("PRAGMA journal_mode = OFF")
        file.execute("PRAGMA ignore_check_constraints = ON")
        tables = [name for (name,) in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for _ in range(pick(rng, [1, 1, 2])):
            table = pick(rng, tables)
            rows = [row for (row,) in file.execute(f"SELECT rowid FROM {table}")]
            columns = [row[1] for row in file.execute(f"PRAGMA table_info({table})")]
            column = pick(rng, columns)
            if not rows or rng.random() < 0.05:
                file.execute(pick(rng, [f"DROP TABLE {table}", f"DELETE FROM {table}"]))
                tables.remove(table)
                continue
            row = pick(rng, rows)
            old = file.execute(f"SELECT {column} FROM {table} WHERE rowid = ?", (row,)).fetchone()[0]
            try:
                file.execute(f"UPDATE OR IGNORE {table} SET {column} = ? WHERE rowid = ?", (_cell(old, rng), row))
            except (sqlite3.Error, OverflowError):
                file.execute(f"DELETE FROM {table} WHERE rowid = ?", (row,))
    return path.read_bytes()


def _cell(old: Any, rng: Rng) -> Any:
    """Something else for a cell of a table."""
    if isinstance(old, str) and rng.random() < 0.6:
        try:
            return mutate_json(old.encode(), rng).decode(errors="replace")
        except ValueError:
            return mutate_text(old.encode(), rng, ()).decode(errors="replace")
    if isinstance(old, bytes) and rng.random() < 0.6:
        return mutate_bytes(old, rng)
    value = pick(rng, [*VALUES, b"", b"\0", old])
    return json.dumps(value).replace("Infinity", "1e999") if isinstance(value, list | dict | bool) else value
