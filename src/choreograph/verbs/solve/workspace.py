"""What a search holds: paths that it found, and the arrays that its kernels write to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from choreograph.base.arrays import Complexes, Floats, Ints


@dataclass(eq=False)
class FoundPath:
    """A path of K pieces, rows [start, stop) of the frame table, joined by cuts."""

    starts: Ints
    stops: Ints
    nodes: Ints
    """The cut behind each piece but the last, as a node of the hierarchy, (K - 1,)."""
    cost: float
    """Its score, with what the user's functions say."""
    minimum: bool
    """Whether no mutation of it that was judged is better."""
    root: Complexes = field(repr=False)
    """Where the torso is in each frame, x + iz, (N,)."""

    def as_dict(self) -> dict[str, Any]:
        """As plain values; the rest follows from the request."""
        columns = {"starts": self.starts, "stops": self.stops, "nodes": self.nodes}
        return {**{name: values.tolist() for name, values in columns.items()}, "minimum": bool(self.minimum)}


class Best(NamedTuple):
    """Where the kernels put the best mutation of a batch, and one drawn from all of them."""

    cost: Floats
    pieces: Ints
    starts: Ints
    stops: Ints
    nodes: Ints
    limit: Floats
    seen: Ints
    """Paths below the limit so far, of which one is drawn; -1 where none is to be."""
    chance: NDArray[np.uint64]
    drawn_pieces: Ints
    drawn_starts: Ints
    drawn_stops: Ints
    drawn_nodes: Ints


class Prefix(NamedTuple):
    """What is known at the start of each piece."""

    time: Ints
    term: Ints
    cost: Floats
    cuts: Floats
    """What of the cost is that of cuts."""
    turn: Complexes
    shift: Complexes


class Workspace:
    """The arrays of one search, for paths of so many pieces at most."""

    def __init__(self, most: int, chance: NDArray[np.uint64]) -> None:
        def ints(size: int = most) -> Ints:
            return np.zeros(size, np.int64)

        self.path, self.trial = (ints(), ints(), ints()), (ints(), ints(), ints())
        found = (np.zeros(1), ints(1), ints(), ints(), ints())
        self.best = Best(*found, np.zeros(1), ints(1) - 1, chance, ints(1), ints(), ints(), ints())
        floor = np.zeros(most, complex), np.zeros(most, complex)
        self.prefix = Prefix(ints(), ints(), np.zeros(most), np.zeros(most), *floor)
        self.order = np.zeros(((most + 2) ** 2, 3), np.int64)
        """The batches of mutations, in the order in which they are tried."""
        self.passed = ints(2)
        """How many batches there are, 0 if they are to be listed, and how many of them were tried."""
        self.count = 0
        """Pieces of the path that is being bettered."""

    def put(self, path: FoundPath) -> None:
        """Make this the path that is being bettered."""
        self.count = len(path.starts)
        for column, values in zip(self.path, (path.starts, path.stops, path.nodes), strict=True):
            column[: len(values)] = values
        self.passed[:] = 0

    def taken(self) -> tuple[Ints, Ints, Ints]:
        """A copy of the path that is being bettered: starts, stops, nodes."""
        starts, stops, nodes = self.path
        return starts[: self.count].copy(), stops[: self.count].copy(), nodes[: max(self.count - 1, 0)].copy()

    def offered(self) -> list[tuple[Ints, Ints, Ints]]:
        """Copies of the mutations that `offer` found."""
        b = self.best
        both = ((b.pieces, b.starts, b.stops, b.nodes), (b.drawn_pieces, b.drawn_starts, b.drawn_stops, b.drawn_nodes))
        return [
            (starts[: n[0]].copy(), stops[: n[0]].copy(), nodes[: n[0] - 1].copy())
            for n, starts, stops, nodes in both
            if n[0] > 0
        ]
