"""Columns of the tables: what the kernels that fill them take and give, and arrays that grow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choreograph.base.arrays import Complexes, Flags, Floats, Ints, Ints32, seal


class GraphEdges(NamedTuple):
    """The graph's edges, as the kernel that fills rows takes them."""

    kind: NDArray[np.int8]
    clip: Ints32
    start: Ints32
    stop: Ints32
    target_clip: Ints32
    target_start: Ints32
    yaw: Floats
    x: Floats
    z: Floats


class Tracks(NamedTuple):
    """Root tracks, as that kernel takes them."""

    offsets: Ints
    last: Ints
    ratio: Floats
    place: Complexes
    facing: Floats
    words: Ints32
    height: Floats
    faults_before: Ints
    abrupt_before: Ints


class RowsOut(NamedTuple):
    """Where that kernel writes what it finds."""

    way: Floats
    """x, z and step of each row, (R, 3)."""
    facing: Floats
    label_words: Ints32
    bent_over: Floats
    so_far: Floats
    """Way made since the edge began, (R,)."""
    faulty: Flags
    """Whether each edge shows a fault, (K,)."""
    rough: Floats
    """How often it shows something abrupt, (K,)."""


class EdgesOut(NamedTuple):
    """Where another kernel writes what it finds of edges; see `KernelTables`."""

    first: Ints
    length: Ints
    edge_way: Floats
    target: Ints
    yaw: Floats
    target_clip: Ints
    turn: Floats
    shift: Floats
    bend: Floats
    number: Ints
    """Which edges of the graph they are."""


class GrowingArrays:
    """Arrays of one length that grows."""

    def __init__(self, shapes: dict[str, tuple[tuple[int, ...], Any]], room: int = 1024) -> None:
        self.count, self._room = 0, room
        self._arrays = {name: np.zeros((0, *shape), dtype) for name, (shape, dtype) in shapes.items()}

    @property
    def nbytes(self) -> int:
        """Size of what they hold."""
        return sum(array[: self.count].nbytes for array in self._arrays.values())

    def fill(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Have these arrays, whole."""
        self._arrays = {name: arrays[name] for name in self._arrays}
        self.count = len(next(iter(self._arrays.values())))

    @property
    def whole(self) -> dict[str, NDArray[Any]]:
        """All arrays by their names, as far as they are filled."""
        return {name: self[name] for name in self._arrays}

    def __getitem__(self, name: str) -> NDArray[Any]:
        """An array of this name, as far as it is filled."""
        return seal(self._arrays[name][: self.count])

    def extend(self, more: int) -> dict[str, NDArray[Any]]:
        """So many more rows, of each array by its name, for somebody to fill."""
        count, self.count = self.count, self.count + more
        for name, array in self._arrays.items():
            if self.count > len(array):
                larger = np.zeros((max(2 * len(array), self.count, self._room), *array.shape[1:]), array.dtype)
                larger[:count] = array[:count]
                self._arrays[name] = larger
        return {name: array[count : self.count] for name, array in self._arrays.items()}
