"""A search through a scene, slice by slice: the compiled search, its memory, its bound and its answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from choreograph.base.arrays import Floats, Ints
from choreograph.base.floor import FloorTransform
from choreograph.verbs.plan.counters import EXPANDED, GOAL, HEAP, RECORDS
from choreograph.verbs.plan.network import mix_turns
from choreograph.verbs.plan.steps import STAND
from choreograph.verbs.plan.task import Task

if TYPE_CHECKING:
    from choreograph.verbs.plan._compiled_store import Store


ON_STONES = 0.25
"""Cells are so much smaller on stones: where a foot stands on one decides whether it reaches the next."""
_WEIGHTS = (3.0, 2.0, 1.7, 1.5, 1.35, 1.2, 1.1, 1.05, 1.02, 1.0)
_RECORD_BYTES = 168
"""Bytes that a record needs in all, with its share of heap and hash."""
_FEWEST = 1 << 16  # records of the search's store
_LEAST_M, _LEAST_DEG = 0.02, 3.0
"""Cells are no finer than this."""


@dataclass(frozen=True, eq=False)
class Chain:
    """An answer of the search: primitives one after another, each from a frame on the floor."""

    primitives: Ints
    """(n,)."""
    places: Floats
    """Frame that each begins at, yaw, x, z, (n, 3)."""
    end: Floats
    """Frame that the last ends at."""
    cost: float
    extra: float = 0.0
    """What is added so that answers differ."""

    @property
    def weighed(self) -> float:
        """What searches compare it by."""
        return self.cost + self.extra


class Planner:
    """ARA* on one task."""

    def __init__(
        self, task: Task, *, coarse: int = 0, finer: int = 0, known: Chain | None = None, share: float = 1.0
    ) -> None:
        """Prepare a search.

        Args:
            task: What is to be searched.
            coarse: Where above 0, similar poses share cells so many times as large: sooner an answer, but no bound.
            finer: How often cells are halved; headings become finer by a third each time.
            known: An answer that is there already; only cheaper ones are looked for.
            share: Of the memory that the request allows.
        """
        from choreograph.verbs.plan import _compiled

        self.task, self.world, self.request = task, task.world, task.request
        self._kernel, self.coarse, self.finer, self._known = _compiled, coarse, finer, known
        self.moves, self.scene, self.heuristic = task.moves, task.scene, task.heuristic
        world, request, network = task.world, task.request, task.world.network
        if coarse:
            group, alike = network.group.astype(np.int64), network.alike.astype(np.int64)
            self.moves = task.moves._replace(group=group, stone_group=alike + network.nodes)
        self._weights = [w for w in _WEIGHTS if w < request.advanced.first_weight]
        self.weight = request.advanced.first_weight
        wider = max(1, coarse)
        metres = max(_LEAST_M, wider * request.advanced.lattice_m * 0.5**finer)
        degrees = min(60, max(_LEAST_DEG, wider * request.advanced.lattice_deg * (2 / 3) ** finer))
        self.lattice = np.array([metres, 2 * math.pi / round(360 / degrees), metres * ON_STONES])
        self.widest = int(np.diff(network.first).max(initial=0))
        self._most = max(_FEWEST, int(share * request.advanced.memory_mb * 1e6 / _RECORD_BYTES))
        roots = np.flatnonzero(world.usable)
        if request.start.standing:
            kinds = world.table.kinds[network.primitives.steps[roots, 0], 0]
            roots = roots[kinds == STAND]
        self.roots = roots
        self.store = self._new_store(max(_FEWEST, 2 * len(roots)))
        self._root_places = self._start_places(roots)
        self._bound = 0.0
        self._read: tuple[int, Chain] | None = None
        self.status = _compiled.WORKING
        if known is not None:
            self.store.goal_cost[0] = known.weighed * (1 + 1e-12)
        _compiled.begin(
            self.store, self.moves, self.scene, self.heuristic, roots, task.own_costs[roots], self._root_places,
            self.lattice, self.weight,
        )  # fmt: skip

    # ------------------------------------------------------------------ what is known

    @property
    def cells(self) -> tuple[float, float]:
        """Size of the lattice's cells, metres and degrees."""
        return float(self.lattice[0]), round(math.degrees(self.lattice[1]), 3)

    @property
    def expanded(self) -> int:
        """Records expanded so far."""
        return int(self.store.counters[EXPANDED])

    @property
    def cost(self) -> float:
        """Of the best answer; infinite before there is one."""
        return float(self.store.goal_cost[0])

    @property
    def done(self) -> bool:
        """Whether nothing better can be had in the lattice, or there is no more memory, or no way at all."""
        return self.status in (self._kernel.EMPTY, self._kernel.FULL) or self.proved

    @property
    def proved(self) -> bool:
        """Whether the best answer is the best there is in the lattice."""
        return self.cost < math.inf and self._bound >= self.cost * (1 - 1e-9)

    @property
    def bound(self) -> float:
        """No answer in the lattice costs less; the greatest that was proved so far."""
        self._bound = max(self._bound, float(self._kernel.lower_bound(self.store)))
        return min(self._bound, self.cost)

    def advance(self, most: int = 2000) -> None:
        """Expand up to so many records."""
        kernel = self._kernel
        self.status = kernel.advance(
            self.store, self.moves, self.scene, self.heuristic, self.lattice, self.weight, most, self.widest
        )
        if self.status == kernel.FULL and len(self.store.parent) < self._most:
            self._grow()
            self.status = kernel.WORKING
        elif self.status == kernel.ROUND_DONE:
            # No record is left whose cost and weighted estimate are below the answer's cost.
            self._bound = max(self._bound, self.cost / self.weight if self.cost < math.inf else 0.0)
            _ = self.bound
            if not self.proved:
                self.weight = self._weights.pop(0) if self._weights else 1.0
                kernel.next_round(self.store, self.weight)
                if not self.store.counters[HEAP]:
                    self._bound = self.cost
            self.status = kernel.WORKING

    def learn(self, chain: Chain, share: float) -> None:
        """Look for what is cheaper than an answer that another search found, with a share of the memory."""
        self._most = max(_FEWEST, int(share * self.request.advanced.memory_mb * 1e6 / _RECORD_BYTES))
        if chain.weighed < self.cost:
            self.store.goal_cost[0] = chain.weighed * (1 + 1e-12)
            self.store.counters[GOAL], self._known = -1, chain
        if self.status == self._kernel.FULL:
            self.status = self._kernel.WORKING

    def chain(self) -> Chain | None:
        """The best answer so far."""
        record = int(self.store.counters[GOAL])
        if record < 0:
            return self._known
        if self._read is None or self._read[0] != record:
            self._read = record, self._read_chain(record)
        return self._read[1]

    def _read_chain(self, record: int) -> Chain:
        records = []
        while record >= 0:
            records.append(record)
            record = int(self.store.parent[record])
        records.reverse()
        primitives = self.store.primitive[records].astype(np.int64)
        first = self._root_places[np.flatnonzero(self.roots == primitives[0])]
        places = np.concatenate([first, self.store.place[records[:-1]]])
        cost = self.true_cost(primitives)
        extra = self.cost - cost if len(self.scene.penalty) else 0.0
        return Chain(primitives, places, self.store.place[records[-1]].copy(), cost, extra)

    def true_cost(self, primitives: Ints) -> float:
        """What a chain costs, without what is added so that answers differ."""
        network, total = self.world.network, float(self.task.own_costs[primitives[0]])
        for before, after in pairwise(primitives):
            node = network.target[before]
            low, high = network.first[node], network.first[node + 1]
            edge = low + int(np.flatnonzero(network.edge[low:high] == after)[0])
            total += float(self.task.edge_costs[edge])
        return total

    def nearest(self) -> tuple[float, float, float]:
        """The place of hips that came nearest to the goal, and how far from it that is: x, z, metres."""
        count = int(self.store.counters[RECORDS])
        if not count:
            return (*self.request.start.place, math.dist(self.request.start.place, self.scene.goal[:2]))
        node = self.world.network.target[self.store.primitive[:count]]
        place, hips = self.store.place[:count], self.world.network.hips[node]
        at = FloorTransform(*place.T).apply(np.stack([hips[:, 0], np.zeros(count), hips[:, 1]], axis=1))
        away = np.hypot(at[:, 0] - self.scene.goal[0], at[:, 2] - self.scene.goal[1])
        best = int(away.argmin())
        return float(at[best, 0]), float(at[best, 2]), float(away[best])

    def rejections(self) -> list[tuple[str, int]]:
        """What turned steps away, and how often, the most often first."""
        names = [item.where for item in (*self.request.scene.solids(), *self.request.scene.forbidden())] + ["path"]
        counts = self.store.rejected_by
        order = np.argsort(-counts, kind="stable")
        return [(names[n], int(counts[n])) for n in order if counts[n]]

    def cloud(self, most: int = 2000) -> Floats:
        """Places of expanded states, at most so many, x and z, (n, 2), metres."""
        count = int(self.store.counters[RECORDS])
        rows = np.unique(np.linspace(0, count - 1, min(count, most)).astype(int)) if count else np.zeros(0, int)
        return np.asarray(self.store.place[rows][:, 1:])

    # ------------------------------------------------------------------ inside

    def _start_places(self, roots: Ints) -> Floats:
        """Frames at which primitives begin so that hips are where the request says, (n, 3)."""
        world, some = self.world, self.world.network.primitives.take(roots)
        first = world.table.sample_first[:-1]
        at = some.mix(world.table.samples[first, 0][:, [0, 2]].astype(float))
        facing = mix_turns(some, world.table.facing[first].astype(float))
        start = FloorTransform(math.radians(self.request.start.facing_deg), *self.request.start.place)
        return (start @ FloorTransform(facing, at[:, 0], at[:, 1]).inverse()).as_rows()

    def _new_store(self, size: int) -> Store:
        from choreograph.verbs.plan._compiled_store import Store

        slots = 1 << math.ceil(math.log2(2 * size))
        things = len(self.scene.solids.low) + len(self.scene.off.low) + 1
        store = Store(
            np.empty(size, np.int32), np.empty(size, np.int32), np.empty((size, 3)), np.empty(size), np.empty(size),
            np.empty(size),
            np.empty(size, np.int32), np.empty(size, np.int64), np.zeros(size, np.uint8),
            np.full(slots, -1, np.int64), np.zeros(slots, np.int32),
            np.full(slots, -1, np.int32), np.empty(2 * size), np.empty(2 * size, np.int32), np.empty(size, np.int32),
            np.zeros(9, np.int64), np.array([math.inf]), np.zeros(things, np.int64),
            np.empty((self.moves.points.shape[1], 3)),
        )  # fmt: skip
        store.counters[GOAL] = -1
        return store

    def _grow(self) -> None:
        """Twice the room for records."""
        from choreograph.verbs.plan._compiled_store import rehash

        old = self.store
        new = self._new_store(min(2 * len(old.parent), self._most))
        fields = ("parent", "primitive", "place", "cost", "rest", "guide", "stage", "lattice_key", "state")
        for name in (*fields, "heap_key", "heap_record", "inconsistent"):
            values = getattr(old, name)
            getattr(new, name)[: len(values)] = values
        for name in ("counters", "goal_cost", "rejected_by"):
            getattr(new, name)[:] = getattr(old, name)
        rehash(old, new)
        self.store = new
