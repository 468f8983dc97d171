"""The beam: the best few walks of every age, carried along as the search goes on.

States wait in a ring of frames for their turn. Each is extended once, however often the search looks ahead; when the
search commits itself to a stretch of walk, states that did not come that way are dropped.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple, Protocol

import numpy as np

from choreograph.base.arrays import Floats, Ints
from choreograph.verbs.follow.kernel_inputs import KernelParams, KernelPath, KernelTables
from choreograph.verbs.follow.lazy_continuations import Pages, no_pages
from choreograph.verbs.follow.state import FLOATS, INTS, NODE, PARENT, RANK, TIME

CELL = (0.06, 0.1)
"""Metres and radians within which two walks at one node and of one age count as the same."""

ROOM = 1.2
"""States that may wait for a frame, for each that will be kept then; some turn out to be nearly the same."""

EARLY = 0.2
"""Share of that room for walks that arrive by long edges, which come first. Those are transitions: one in five of the
walks that are kept, but most of those that ask, and what asks must be scored."""

NARROWEST = 8
"""States that are kept however few are asked for."""


class Beam(NamedTuple):
    """The buffers, as the kernels take them; the first axis is the frame, modulo its length."""

    floats: Floats
    """States that wait, (R, room, 12)."""
    marks: Ints
    ranks: Floats
    """What they are ranked by, (R, room)."""
    heap: Ints
    """Where there is no room left: their rows, as a heap whose first is the worst, (R, room)."""
    counts: Ints
    limit: Floats
    """Rank from which on a state of that age is not let in, (R,)."""
    kept_floats: Floats
    """States that were extended, (R, width, 12)."""
    kept_marks: Ints
    kept: Ints
    hash_key: Ints
    hash_time: Ints
    best_cost: Floats
    """Of the best walk that reached the path's end, (1,)."""
    best_mark: Ints
    """Its last kept state's frame and row, the edge from it, and the frames shown of that edge."""
    cell: Floats
    room: Ints
    """States that may wait for each frame at present, (R,)."""
    early: Ints
    """How many may before the frame is near, and how near that is, frames, (2,)."""


class Found(NamedTuple):
    """A walk to the horizon."""

    cost: float
    edges: Ints
    last_shown: int
    """Frames shown of the last edge."""
    done: bool
    """Whether it reaches the path's end."""
    start: int
    """Which of the states begun from it comes from."""
    states: Ints
    """Frame and row of the kept state that each edge leaves, (K, 2); empty where no beam has kept them."""


class PageIn(Protocol):
    """Gives tables that have the edges of some nodes too, and room for the continuations that these may need."""

    @property
    def lock(self) -> AbstractContextManager[Any]:
        """To be held while the tables are used."""

    def __call__(self, nodes: Ints) -> tuple[KernelTables, Pages]:
        """The tables with the edges of these nodes."""


class BeamSearch:
    """A beam over the walks from given states."""

    def __init__(
        self,
        starts: Floats,
        marks: Ints,
        width: int,
        ahead: int,
        lengths: tuple[int, int],
    ) -> None:
        """Begin a beam.

        Args:
            starts: States to begin from, (K, 12).
            marks: Their ints, (K, 5).
            width: States kept per frame.
            ahead: Most frames between what is committed and what is looked at.
            lengths: Frames of the graph's longest edge and of a usual one.
        """
        self.width = width = max(width, NARROWEST)
        longest, usual = lengths
        ring = ahead + longest + 2
        room = max(round(ROOM * width), len(starts))
        early, near = round(EARLY * room), usual // 2 + 1
        slots = 1 << int(np.ceil(np.log2(4 * width)))
        self.beam = Beam(
            np.empty((ring, room, FLOATS)),
            np.empty((ring, room, INTS), np.int64),
            np.empty((ring, room)),
            np.empty((ring, room), np.int64),
            np.zeros(ring, np.int64),
            np.full(ring, np.inf),
            np.empty((ring, width, FLOATS)),
            np.empty((ring, width, INTS), np.int64),
            np.zeros(ring, np.int64),
            np.zeros(slots, np.int64),
            np.full(slots, -1, np.int64),
            np.array([np.inf]),
            np.full(4, -1, np.int64),
            np.array(CELL),
            np.where(np.arange(ring) < near, room, early),
            np.array([early, near]),
        )
        self.now = 0
        """Frame up to which states have been extended."""
        for k, (state, mark) in enumerate(zip(starts, marks, strict=True)):
            self.beam.floats[0, k], self.beam.ranks[0, k] = state, state[RANK]
            self.beam.marks[0, k] = mark
            self.beam.marks[0, k, TIME], self.beam.marks[0, k, PARENT] = -1, k
        self.beam.counts[0] = len(starts)

    def advance(
        self,
        until: int,
        stay_in: int,
        tables: KernelTables,
        path: KernelPath,
        params: KernelParams,
        page_in: PageIn | None = None,
    ) -> int:
        """Extend all walks to the given frame; frames scored.

        Args:
            until: The frame to stop before.
            stay_in: Clip that must not be left, or -1.
            tables, path, params: What the kernels take.
            page_in: Gives tables that have the edges of these nodes too, where they do not have all.
        """
        with nullcontext() if page_in is None else page_in.lock:
            return self._advance(until, stay_in, tables, path, params, page_in)

    def _advance(
        self,
        until: int,
        stay_in: int,
        tables: KernelTables,
        path: KernelPath,
        params: KernelParams,
        page_in: PageIn | None,
    ) -> int:
        from choreograph.verbs.follow import _compiled_beam

        total, begun = 0, False
        pages = no_pages()
        if page_in is not None:
            tables, pages = page_in(np.zeros(0, np.int64))
        while True:
            scored, now = _compiled_beam.beam_advance(
                self.beam, self.now, until, begun, stay_in, tables, pages, path, params
            )
            total += int(scored)
            self.now = max(self.now, int(now))
            if now >= until:
                return total
            assert page_in is not None
            slot = now % len(self.beam.counts)
            (tables, pages), begun = page_in(self.beam.kept_marks[slot, : self.beam.kept[slot], NODE]), True

    def select(self, since: int, tables: KernelTables, path: KernelPath, params: KernelParams) -> Found | None:
        """The best walk from frame `since`, at which all walks are one, to where the beam has come."""
        from choreograph.verbs.follow import _compiled_beam

        cost, time, row, edge, shown, done = _compiled_beam.beam_select(self.beam, self.now, tables, path, params)
        if time < 0:
            return None
        edges, states, start = _compiled_beam.beam_trace(self.beam, since, time, row)
        return Found(float(cost), np.append(edges, edge), int(shown), bool(done), int(start), states)

    def restrict(self, at: int, row: int) -> None:
        """Keep only walks through the state kept at frame `at` in `row`."""
        from choreograph.verbs.follow import _compiled_beam

        _compiled_beam.beam_restrict(self.beam, at, row, self.now)
