"""The GLB container: its JSON and its bytes, looked up with checks.

Nothing in the file is believed before it is checked: counts against the bytes that are there, indices against the lists
they point into. Whatever does not fit is a FormatError.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Floats
from choreograph.base.errors import FormatError

_TYPES = {5120: "i1", 5121: "u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_MOST_BYTES = 1 << 30  # of one accessor, unpacked
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


def chunks(data: bytes) -> tuple[dict[str, Any], memoryview]:
    """The JSON and the bytes of a GLB file."""
    if len(data) < 20 or data[:4] != b"glTF":
        raise FormatError("is not a GLB file: it does not begin with 'glTF'")
    version, length, size, kind = struct.unpack_from("<IIII", data, 4)
    if version != 2:
        raise FormatError(f"is glTF version {version}; version 2 is read")
    if length > len(data):
        raise FormatError(f"is cut short: it should have {length} bytes and has {len(data)}")
    if kind != 0x4E4F534A or 20 + size > length:
        raise FormatError("has no whole JSON chunk where one belongs")
    try:
        document = json.loads(data[20 : 20 + size])
    except (ValueError, UnicodeDecodeError) as error:
        raise FormatError(f"its JSON cannot be read: {error}") from error
    if not isinstance(document, dict):
        raise FormatError("its JSON is not an object")
    body = memoryview(b"")
    at = 20 + size
    if at + 8 <= length:
        size, kind = struct.unpack_from("<II", data, at)
        if kind == 0x004E4942:
            if at + 8 + size > length:
                raise FormatError("its binary chunk is cut short")
            body = memoryview(data)[at + 8 : at + 8 + size]
    return document, body


def pack(document: dict[str, Any], blob: bytes) -> bytes:
    """The bytes of a GLB file."""
    text = json.dumps(document, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    blob += bytes(-len(blob) % 4)
    size = 12 + 8 + len(text) + 8 + len(blob)
    head = struct.pack("<4sII", b"glTF", 2, size) + struct.pack("<II", len(text), 0x4E4F534A)
    return head + text + struct.pack("<II", len(blob), 0x004E4942) + blob


class Glb:
    """A document whose lists and arrays are looked up with checks."""

    def __init__(self, document: dict[str, Any], body: memoryview) -> None:
        self._document = document
        self._body = body
        self._lists: dict[str, list[dict[str, Any]]] = {}
        self._kept: dict[int, memoryview] = {}

    def items(self, kind: str) -> list[dict[str, Any]]:
        """One of the document's lists of objects; empty where it has none."""
        if kind not in self._lists:
            items = self._document.get(kind, [])
            if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
                raise FormatError(f"its {kind!r} is not a list of objects")
            self._lists[kind] = items
        return self._lists[kind]

    def item(self, kind: str, number: Any) -> dict[str, Any]:
        """One object of one of the lists."""
        items = self.items(kind)
        return items[index(number, len(items), kind)]

    def array(self, number: Any, width: int) -> Floats:
        """The numbers of an accessor, (count, width), or (count,) for width 1."""
        accessor = self.item("accessors", number)
        if "sparse" in accessor or "bufferView" not in accessor:
            raise FormatError(f"accessor {number} is sparse or empty, which is not read")
        kind, count = accessor.get("componentType"), accessor.get("count")
        if not isinstance(kind, int) or kind not in _TYPES or _WIDTHS.get(str(accessor.get("type"))) != width:
            raise FormatError(f"accessor {number} holds another kind of numbers than its use calls for")
        view = self.item("bufferViews", accessor["bufferView"])
        packed = (view.get("extensions") or {}).get("EXT_meshopt_compression")
        if packed is None and (view.get("buffer") != 0 or "uri" in self.item("buffers", 0)):
            raise FormatError("keeps its numbers in another file; only whole GLB files are read")
        dtype = np.dtype(_TYPES[kind])
        row = dtype.itemsize * width
        body = self._body if packed is None else self._unpacked(accessor["bufferView"], packed)
        offset, length = _whole(view.get("byteOffset", 0)), _whole(view.get("byteLength"))
        offset = 0 if packed is not None else offset
        stride, inner = _whole(view.get("byteStride", row)), _whole(accessor.get("byteOffset", 0))
        rows = _whole(count)
        needed = inner + (rows - 1) * stride + row
        if rows < 1 or stride < row or needed > length or offset + length > len(body):
            raise FormatError(f"accessor {number} reaches beyond the file's bytes")
        with np.errstate(invalid="ignore"):  # a signalling NaN is refused below, without a word from the processor
            table = np.ndarray((rows, width), dtype, body, offset + inner, (stride, dtype.itemsize)).astype(float)
        if accessor.get("normalized") and dtype.kind in "iu":
            table = np.maximum(table / np.iinfo(dtype).max, -1.0)
        if not np.isfinite(table).all():
            raise FormatError(f"accessor {number} holds values that are not finite numbers")
        return table if width > 1 else table[:, 0]

    def bytes_of(self, number: Any) -> bytes:
        """The bytes of a buffer view."""
        view = self.item("bufferViews", number)
        offset, length = _whole(view.get("byteOffset", 0)), _whole(view.get("byteLength"))
        if view.get("buffer") != 0 or offset + length > len(self._body):
            raise FormatError(f"buffer view {number} reaches beyond the file's bytes")
        return bytes(self._body[offset : offset + length])

    def _unpacked(self, number: int, packed: Any) -> memoryview:
        """The bytes of a buffer view that is compressed, kept for the next accessor."""
        from choreograph.formats._meshopt import decode_attributes, decode_triangles

        if number in self._kept:
            return self._kept[number]
        if not isinstance(packed, dict) or packed.get("buffer") != 0:
            raise FormatError("keeps its compressed numbers in another file; only whole GLB files are read")
        offset, length = _whole(packed.get("byteOffset", 0)), _whole(packed.get("byteLength"))
        stride, count = _whole(packed.get("byteStride")), _whole(packed.get("count"))
        if offset + length > len(self._body) or count * stride > _MOST_BYTES:
            raise FormatError("a compressed buffer reaches beyond the file's bytes")
        data, mode = bytes(self._body[offset : offset + length]), packed.get("mode")
        if mode == "ATTRIBUTES" and packed.get("filter", "NONE") == "NONE":
            data_out = decode_attributes(data, count, stride)
        elif mode == "TRIANGLES" and stride in (2, 4):
            data_out = decode_triangles(data, count).astype(f"<u{stride}").tobytes()
        else:
            raise FormatError(f"a buffer is compressed in a way that is not read ({mode}, {packed.get('filter')})")
        self._kept[number] = memoryview(data_out)
        return self._kept[number]


def index(number: Any, count: int, kind: str) -> int:
    """A number that points into a list of `count`, once it is found to do so."""
    if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < count:
        raise FormatError(f"points to number {str(number)[:20]} of {count} {kind}")
    return number


def _whole(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**40:
        raise FormatError(f"has {str(value)[:20]!r} where a size belongs")
    return value


def vector(value: Any, default: Sequence[float]) -> Floats:
    """As many finite numbers as the default has, which stands for None."""
    if value is None:
        return np.array(default, float)
    if (
        not isinstance(value, list)
        or len(value) != len(default)
        or not all(isinstance(x, int | float) and abs(x) < 1e30 for x in value)
    ):
        raise FormatError(f"has a node transform that is not {len(default)} finite numbers")
    return np.array(value, float)


def take_names(document: Glb) -> list[str]:
    """Names of the animations, or their numbers where they have none."""
    return [str(one.get("name") or k)[:80] for k, one in enumerate(document.items("animations"))]


_NOT_HELD = "which a motion cannot hold: apply its scale in the program it comes from, and export it again"


def node_transform(node: dict[str, Any]) -> tuple[Floats, Floats, float]:
    """Place, rotation and (even) scale of a node."""
    if "matrix" in node:
        matrix = vector(node["matrix"], [0.0] * 16).reshape(4, 4).T
        linear, place = matrix[:3, :3], matrix[:3, 3]
        scales = np.linalg.norm(linear, axis=0)
        if scales.min() <= 1e-9:
            raise FormatError(f"node {str(node.get('name', ''))[:80]!r} has a matrix that flattens what hangs from it")
        turned = linear / scales
        if np.abs(turned.T @ turned - np.eye(3)).max() > 1e-3 or np.linalg.det(turned) < 0:
            raise FormatError(
                f"node {str(node.get('name', ''))[:80]!r} has a matrix that skews or mirrors, {_NOT_HELD}"
            )
        rotation = quat.from_matrix(turned)
    else:
        place = vector(node.get("translation"), (0.0, 0.0, 0.0))
        x, y, z, w = vector(node.get("rotation"), (0.0, 0.0, 0.0, 1.0))
        rotation = quat.normalise([w, x, y, z])
        scales = vector(node.get("scale"), (1.0, 1.0, 1.0))
    if np.ptp(scales) > 1e-3 * abs(scales).max() or scales.min() <= 0:
        raise FormatError(f"node {str(node.get('name', ''))[:80]!r} is stretched unevenly or mirrored, {_NOT_HELD}")
    return place, rotation, float(scales.mean())
