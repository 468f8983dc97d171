"""Continuations of nodes of a graph that is too large to have them of all: the beam finds them where it looks ahead.

Of the nodes that the edges of a walk lead to, it looks ahead from one in four: the others are out of reach by then.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choreograph.base.arrays import Floats, Ints, Ints32, seal
from choreograph.verbs.follow.continuations import MOMENTS, MOST_CONTINUATIONS, Continuations

ROW, BEGIN, END, LAST = range(4)
"""Columns of `Net.node`."""
_CHANGES, _ENOUGH, _SECOND_CHANGES = 32, 6, 36
"""Continuations with one transition that are looked at, from how many found on none with two are, and how many else."""
_ROOM = 1 << 16
"""Continuations that there is room for at first."""


class Net(NamedTuple):
    """Nodes and edges as the kernels take them; edges as the graph has them, rows of nodes as in `Frames`."""

    node: Ints32
    """Of each node its row, the first and the last row of its clip, and the row of the last node in its clip, up to
    which it can be played on, (N, 4): side by side, as they are read together."""
    first_edge: Ints32
    source: Ints32
    target: Ints32
    kind: NDArray[np.int8]
    start: Ints32
    stop: Ints32
    yaw: Floats
    x: Floats
    z: Floats


class Frames(NamedTuple):
    """What is known of every frame of every clip, one clip after another, at the graph's rate."""

    way: Floats
    """x, z and way made since the clip's start, (R, 3), metres."""
    facing: Floats
    turned: Floats
    """Facing without leaps, radians, from wherever the clip begins."""
    words: Ints32
    """Which set of labels holds."""
    heading: Floats
    """Direction of travel."""


class Pages(NamedTuple):
    """What the beam takes to find continuations, and where it puts them."""

    first: Ints
    """Each node's first continuation, (N,); -1 where none were found yet."""
    last: Ints
    """Behind its last one, (N,)."""
    places: Floats
    """x, z and length at the moments of each, (W, MOMENTS, 3); room for more than there are."""
    changes: Floats
    """The number of transitions of each, (W,)."""
    cost: Floats
    """What these cost, (W,), m²·s."""
    counted: Ints
    """How many continuations there are, (1,)."""
    slots: Ints
    """Room for one of each kind while they are found, (MOST_CONTINUATIONS, 5)."""
    step: int
    """Frames between the moments; 0 where all nodes have their continuations."""
    enough: int
    """Continuations of a node from which on none with two transitions are looked for."""
    most: int
    """Walks with one transition that are looked at from each node, about."""
    second: int
    """Walks with two that are, about."""
    change_cost: float
    """What a transition costs, m²·s."""
    net: Net
    frames: Frames


class Ways:
    """Continuations of the nodes that have any; searches on one graph share them."""

    def __init__(self, net: Net, frames: Frames, step: int) -> None:
        self._net, self._frames, self._step = net, frames, step
        self.first, self.last = (np.full(len(net.node), -1, np.int64) for _ in range(2))
        self._count = np.zeros(1, np.int64)
        self.places, self.changes = np.empty((0, MOMENTS, 3)), np.empty(0)

    @property
    def count(self) -> int:
        """How many there are."""
        return int(self._count[0])

    @property
    def nbytes(self) -> int:
        """Size of those there are."""
        return self.count * (self.places[0].nbytes + self.changes.itemsize)

    def fill(self, found: Continuations) -> None:
        """Have the continuations of all nodes."""
        self.first, self.last, self.places, self.changes = found.first, found.first[1:], found.places, found.changes
        self._count[0] = len(found.changes)

    def reserve(self, nodes: int) -> None:
        """Have room for the continuations of so many more nodes."""
        room = self.count + nodes * MOST_CONTINUATIONS
        if room > len(self.changes):
            room = max(room, 2 * len(self.changes), _ROOM)
            self.places = _grown(self.places, self.count, room)
            self.changes = _grown(self.changes, self.count, room)

    def pages(self, cost: Floats, change_cost: float, **numbers: int) -> Pages:
        """What the beam takes.

        Args:
            cost: What the transitions of each continuation cost a request, as many as there is room for.
            change_cost: What one costs.
            numbers: How many walks are looked at, if not as usual; see `Pages`.
        """
        looked = {"enough": _ENOUGH, "most": _CHANGES, "second": _SECOND_CHANGES, **numbers}
        return Pages(
            self.first, self.last, self.places, self.changes, cost, self._count,
            np.empty((MOST_CONTINUATIONS, 5), np.int64), self._step, **looked, change_cost=float(change_cost),
            net=self._net, frames=self._frames,
        )  # fmt: skip


def _grown(array: NDArray[Any], count: int, room: int) -> NDArray[Any]:
    larger = np.empty((room, *array.shape[1:]), array.dtype)
    larger[:count] = array[:count]
    return larger


@cache
def no_pages() -> Pages:
    """What the beam takes where all nodes have their continuations; of the same types."""

    def of(dtype: Any, *shape: int) -> NDArray[Any]:
        return seal(np.zeros((0, *shape), dtype))

    whole, real = (np.zeros(0, dtype) for dtype in (np.int64, float))
    some, more = of(np.int32), of(float)
    net = Net(of(np.int32, 4), some, some, some, of(np.int8), some, some, more, more, more)
    frames = Frames(of(float, 3), more, more, some, more)
    room = np.empty((0, MOMENTS, 3)), real, real, whole, np.zeros((0, 5), np.int64)
    return Pages(whole, whole, *room, 0, 0, 0, 0, 0.0, net, frames)
