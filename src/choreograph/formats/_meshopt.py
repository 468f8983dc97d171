"""Buffers of GLB files that EXT_meshopt_compression has packed: attributes and triangles, as its specification says."""

from __future__ import annotations

import numpy as np

from choreograph.base.arrays import Bytes, Ints
from choreograph.base.errors import FormatError

_GROUP, _TAIL = 16, 32  # bytes that are packed together; bytes that a stream ends with at least
_FIFO = 16  # edges and vertices that a code can point back to


def decode_attributes(data: bytes, count: int, stride: int) -> bytes:
    """Elements of `stride` bytes: byte by byte, differences to the element before."""
    if not data or data[0] != 0xA0 or not 0 < stride <= 256 or stride % 4 or len(data) < 1 + max(stride, _TAIL):
        raise FormatError("a compressed buffer is of a kind that is not read")
    source = np.frombuffer(data, np.uint8)
    last = source[len(source) - stride :].copy()
    out = np.empty((count, stride), np.uint8)
    most = min((8192 // stride) & ~15, 256)
    at, done = 1, 0
    try:
        while done < count:
            size = min(most, count - done)
            groups = -(-size // _GROUP)
            for k in range(stride):
                at, deltas = _deltas(source, at, groups)
                steps = (deltas >> 1) ^ (0 - (deltas & 1))  # zigzag, in bytes that wrap
                values = np.cumsum(steps[:size], dtype=np.uint8) + last[k]
                out[done : done + size, k] = values
                last[k] = values[-1]
            done += size
    except (IndexError, ValueError):
        raise FormatError("a compressed buffer is cut short") from None
    return out.tobytes()


def _deltas(source: Bytes, at: int, groups: int) -> tuple[int, Bytes]:
    """The next data block: where it ends, and its bytes, (16 groups,)."""
    head = source[at : at + -(-groups // 4)]
    at += len(head)
    out = np.zeros(groups * _GROUP, np.uint8)
    for g in range(groups):
        mode = (int(head[g // 4]) >> (2 * (g % 4))) & 3
        place = slice(g * _GROUP, (g + 1) * _GROUP)
        if mode == 3:
            out[place] = source[at : at + _GROUP]
            at += _GROUP
        elif mode:
            bits = 2 * mode
            packed = source[at : at + 2 * bits]
            at += 2 * bits
            shifts = np.arange(8 - bits, -1, -bits, dtype=np.uint8)
            values = ((packed[:, None] >> shifts) & (2**bits - 1)).ravel().astype(np.uint8)
            far = np.flatnonzero(values == 2**bits - 1)
            values[far] = source[at : at + len(far)]
            at += len(far)
            out[place] = values
    return at, out


def decode_triangles(data: bytes, count: int) -> Ints:
    """Indices of a list of triangles, (count,)."""
    if len(data) < 17 + count // 3 or data[0] != 0xE1 or count % 3:
        raise FormatError("a compressed list of triangles is of a kind that is not read")
    reader = _Triangles(data, count // 3)
    try:
        return np.array([reader.read(data[1 + n]) for n in range(count // 3)], np.int64).ravel()
    except IndexError:
        raise FormatError("a compressed list of triangles is cut short") from None


class _Triangles:
    """What a decoder of triangles remembers: recent edges and vertices, the next new vertex, the last explicit one."""

    def __init__(self, data: bytes, count: int) -> None:
        self._data, self._at, self._aux = data, 1 + count, data[-16:]
        self._edges: list[tuple[int, int]] = [(0, 0)] * _FIFO
        self._vertices = [0] * _FIFO
        self._next = self._last = 0

    def read(self, code: int) -> tuple[int, int, int]:
        high, low = code >> 4, code & 15
        if high < 15:
            return self._beside(self._edges[-1 - high], low)
        if low < 14:
            aux = self._aux[low]
            a, b, c = self._new(), self._vertex(aux >> 4), self._vertex(aux & 15)
            fresh = (True, aux >> 4 == 0, aux & 15 == 0)
        else:
            aux = self._byte()
            if aux == 0:
                self._next = 0
            a = self._new() if low == 14 else self._index()
            b, c = self._vertex(aux >> 4), self._vertex(aux & 15)
            fresh = (True, aux >> 4 in (0, 15), aux & 15 in (0, 15))
        self._push((b, a), (c, b), (a, c))
        for vertex, new in zip((a, b, c), fresh, strict=True):
            if new:
                self._remember(vertex)
        return a, b, c

    def _beside(self, edge: tuple[int, int], low: int) -> tuple[int, int, int]:
        """A triangle at an edge."""
        a, b = edge
        if low == 0:
            c = self._new()
        elif low < 13:
            c = self._vertices[-1 - low]
        elif low < 15:
            c = self._last = self._last + (1 if low == 14 else -1)
        else:
            c = self._index()
        self._push((c, b), (a, c))
        if low == 0 or low >= 13:
            self._remember(c)
        return a, b, c

    def _new(self) -> int:
        self._next += 1
        return self._next - 1

    def _vertex(self, code: int) -> int:
        return self._new() if code == 0 else self._index() if code == 15 else self._vertices[-code]

    def _byte(self) -> int:
        self._at += 1
        return self._data[self._at - 1]

    def _index(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128 or shift > 35:
                break
        self._last += -(value >> 1) - 1 if value & 1 else value >> 1
        return self._last

    def _push(self, *edges: tuple[int, int]) -> None:
        self._edges = [*self._edges, *edges][-_FIFO:]

    def _remember(self, vertex: int) -> None:
        self._vertices = [*self._vertices[1:], vertex]
