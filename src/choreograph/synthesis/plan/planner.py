"""A search through a scene, slice by slice: the compiled search, its memory, its bound and its answers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from choreograph.maths.floor import FloorTransform
from choreograph.motion.arrays import seal
from choreograph.synthesis.plan import body as points
from choreograph.synthesis.plan.body import Body
from choreograph.synthesis.plan.heuristic import (
    ROUND,
    STRAIGHT,
    STRAIGHT_M,
    Rates,
    Targets,
    edge_ways,
    find_fields,
    make_heuristic,
    potentials_to,
)
from choreograph.synthesis.plan.network import Network, mix_turns
from choreograph.synthesis.plan.primitives import OBJECTIVES, StepTable
from choreograph.synthesis.plan.request import PlanRequest
from choreograph.synthesis.plan.samples import discs, lattice_slack, mix_samples
from choreograph.synthesis.plan.scene import (
    FOOT_M,
    REACH_M,
    distance_grid,
    gates_of,
    inner_radius,
    make_shapes,
    open_floor,
    regions_of,
    solids_of,
    stones_of,
)
from choreograph.synthesis.plan.steps import STAND
from choreograph.synthesis.plan.tolls import find_tolls

if TYPE_CHECKING:
    from choreograph.synthesis.plan import _compiled

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

SLICE = 2000
"""Records expanded between looks at the clock; also what makes answers the same however a search is stepped."""
ON_STONES = 0.25
"""Cells are so much smaller on stones: where a foot stands on one decides whether it reaches the next."""
BENT_M, BENT_RAD = 0.05, math.radians(3)
"""How far from where it should a plan may step on a stone, or end, less its margins: finishing bends it there."""
_WEIGHTS = (3.0, 2.0, 1.7, 1.5, 1.35, 1.2, 1.1, 1.05, 1.02, 1.0)
_RECORD_BYTES = 160
"""Bytes that a record needs in all, with its share of heap and hash."""
_FEWEST = 1 << 16
_LEAST_M, _LEAST_DEG = 0.02, 3.0
"""Cells are no finer than this."""


@dataclass(frozen=True, eq=False)
class Chain:
    """An answer of the search: primitives one after another, each from a frame on the floor."""

    primitives: Ints
    """(n,)."""
    places: Array
    """Frame that each begins at, yaw, x, z, (n, 3)."""
    end: Array
    """Frame that the last ends at."""
    cost: float


@dataclass(frozen=True, eq=False)
class World:
    """What primitives there are for a request: the network, with what only this request's goal needs."""

    table: StepTable
    network: Network
    rates: Rates
    feet_rates: Rates
    """Likewise, of ways from foot to foot."""
    terminal: NDArray[np.bool_]
    """Which primitives may be the last, (P,)."""
    usable: NDArray[np.bool_]
    """Which may be taken at all, (P,)."""
    body: Body
    all_end: bool
    """Whether any primitive may be the last."""


@dataclass(frozen=True)
class Margins:
    """How much farther than they must plans keep from things, metres, by where the request names them."""

    usual: float
    more: dict[str, float]

    def of(self, where: str) -> float:
        """For one thing."""
        return self.usual + self.more.get(where, 0.0)


class Planner:
    """ARA* on one request, network and set of margins."""

    def __init__(
        self,
        world: World,
        request: PlanRequest,
        margins: Margins,
        penalty: tuple[Array, Any] | None = None,
        *,
        coarse: int = 0,
        finer: int = 0,
        known: Chain | None = None,
        share: float = 1.0,
    ) -> None:
        """Prepare a search.

        Args:
            world: Primitives and their network.
            request: What is wanted.
            margins: How far to keep from things.
            penalty: Grid and what a step that ends in its cells costs more.
            coarse: Where above 0, similar poses share cells so many times as large: sooner an answer, but no bound.
            finer: How often cells are halved; headings become finer by a third each time.
            known: An answer that is there already; only cheaper ones are looked for.
            share: Of the memory that the request allows.
        """
        from choreograph.synthesis.plan import _compiled

        self.world, self.request, self.margins = world, request, margins
        self._kernel, self.coarse, self.finer, self._known = _compiled, coarse, finer, known
        objective = OBJECTIVES.index(request.objective)
        self._edge_costs = world.network.edge_costs(objective)
        self._own_costs = world.network.costs[:, objective]
        self.moves = self._moves()
        self.scene = self._scene(penalty)
        self.heuristic = self._heuristic()
        self._weights = [w for w in _WEIGHTS if w < request.search.first_weight]
        self.weight = request.search.first_weight
        wider = max(1, coarse)
        metres = max(_LEAST_M, wider * request.search.lattice_m * 0.5**finer)
        degrees = min(60, max(_LEAST_DEG, wider * request.search.lattice_deg * (2 / 3) ** finer))
        self.lattice = np.array([metres, 2 * math.pi / round(360 / degrees), metres * ON_STONES])
        self.widest = int(np.diff(world.network.first).max(initial=0))
        self._most = max(_FEWEST, int(share * request.search.memory_mb * 1e6 / _RECORD_BYTES))
        roots = np.flatnonzero(world.usable)
        if request.start.standing:
            kinds = world.table.kinds[world.network.primitives.steps[roots, 0], 0]
            roots = roots[kinds == STAND]
        self.roots = roots
        self.store = self._new_store(max(_FEWEST, 2 * len(roots)))
        self._root_places = self._start_places(roots)
        self._bound = 0.0
        self.status = _compiled.WORKING
        if known is not None:
            self.store.goal_cost[0] = known.cost * (1 + 1e-12)
        _compiled.begin(
            self.store, self.moves, self.scene, self.heuristic, roots, self._own_costs[roots], self._root_places,
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
        return int(self.store.counters[self._kernel.EXPANDED])

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

    def advance(self, most: int = SLICE) -> None:
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
                if not self.store.counters[kernel.HEAP]:
                    self._bound = self.cost
            self.status = kernel.WORKING

    def learn(self, chain: Chain, share: float) -> None:
        """Look for what is cheaper than an answer that another search found, with a share of the memory."""
        self._most = max(_FEWEST, int(share * self.request.search.memory_mb * 1e6 / _RECORD_BYTES))
        if chain.cost < self.cost:
            self.store.goal_cost[0] = chain.cost * (1 + 1e-12)
            self.store.counters[self._kernel.GOAL], self._known = -1, chain
        if self.status == self._kernel.FULL:
            self.status = self._kernel.WORKING

    def chain(self) -> Chain | None:
        """The best answer so far."""
        record = int(self.store.counters[self._kernel.GOAL])
        if record < 0:
            return self._known
        records = []
        while record >= 0:
            records.append(record)
            record = int(self.store.parent[record])
        records.reverse()
        primitives = self.store.primitive[records].astype(np.int64)
        first = self._root_places[np.flatnonzero(self.roots == primitives[0])]
        places = np.concatenate([first, self.store.place[records[:-1]]])
        return Chain(primitives, places, self.store.place[records[-1]].copy(), self.true_cost(primitives))

    def true_cost(self, primitives: Ints) -> float:
        """What a chain costs, without what is added so that answers differ."""
        network, total = self.world.network, float(self._own_costs[primitives[0]])
        for before, after in pairwise(primitives):
            node = network.target[before]
            low, high = network.first[node], network.first[node + 1]
            edge = low + int(np.flatnonzero(network.edge[low:high] == after)[0])
            total += float(self._edge_costs[edge])
        return total

    def nearest(self) -> tuple[float, float, float]:
        """The place of hips that came nearest to the goal, and how far from it that is: x, z, metres."""
        count = int(self.store.counters[self._kernel.RECORDS])
        if not count:
            return (*self.request.start.position, math.dist(self.request.start.position, self.scene.goal[:2]))
        node = self.world.network.target[self.store.primitive[:count]]
        place, hips = self.store.place[:count], self.world.network.hips[node]
        at = FloorTransform(*place.T).apply(np.stack([hips[:, 0], np.zeros(count), hips[:, 1]], axis=1))
        away = np.hypot(at[:, 0] - self.scene.goal[0], at[:, 2] - self.scene.goal[1])
        best = int(away.argmin())
        return float(at[best, 0]), float(at[best, 2]), float(away[best])

    def rejections(self) -> list[tuple[str, int]]:
        """What turned steps away, and how often, the most often first."""
        names = [item.where for item in (*solids_of(self.request), *regions_of(self.request))] + ["path"]
        counts = self.store.rejected_by
        order = np.argsort(-counts, kind="stable")
        return [(names[n], int(counts[n])) for n in order if counts[n]]

    def cloud(self, most: int = 2000) -> Array:
        """Places of expanded states, at most so many, x and z, (n, 2), metres."""
        count = int(self.store.counters[self._kernel.RECORDS])
        rows = np.unique(np.linspace(0, count - 1, min(count, most)).astype(int)) if count else np.zeros(0, int)
        return np.asarray(self.store.place[rows][:, 1:])

    # ------------------------------------------------------------------ inside

    def _moves(self) -> _compiled.Moves:
        from choreograph.synthesis.plan._compiled import Moves

        world, network = self.world, self.world.network
        first, cloud, facing, planted = mix_samples(network.primitives, world.table)
        reach = np.hypot(*(cloud - cloud[:, :1])[..., [0, 2]].transpose(2, 0, 1)).max(axis=1) + world.body.radii.max()
        top = cloud[..., 1].max(axis=1) + world.body.radii.max()
        group, finer = (network.group, network.alike) if self.coarse else (network.alike, np.arange(network.nodes))
        group, finer = group.astype(np.int64), finer.astype(np.int64) + network.nodes
        feet = np.array([points.ankle(0), points.ball(0), points.ankle(1), points.ball(1)], np.int64)
        # Read-only, as what the cache keeps is: else kernels would be compiled once more for what was just built.
        return Moves(
            seal(network.outcome), seal(network.target.astype(np.int64, copy=False)),
            seal(network.first.astype(np.int64, copy=False)), seal(network.edge.astype(np.int32, copy=False)),
            self._edge_costs, seal(network.kind.astype(np.int64, copy=False)), first, cloud, facing, planted,
            reach.astype(np.float32), top.astype(np.float32), discs(first, cloud, float(world.body.radii.max())),
            group, finer, world.terminal, feet, world.body.capsules, world.body.radii,
        )  # fmt: skip

    def _scene(self, penalty: tuple[Array, Any] | None) -> _compiled.Scene:
        from choreograph.synthesis.plan._compiled import Scene

        request, goal = self.request, self.request.goal
        assert goal is not None
        solids, regions, stones = solids_of(request), regions_of(request), stones_of(request)
        margin = self.margins.of
        grid, corridor = np.array([0.0, 0.0, 1.0, 0.0, 0.0]), np.zeros(0, np.float32)
        if request.path is not None:
            grid, corridor = distance_grid(np.array(request.path.points), request.path.within)
        room = min(margin("goal.position"), 0.4 * goal.radius + BENT_M) - BENT_M
        tolerance, facing = 4.0, 0.0
        if goal.facing_deg is not None:
            facing = math.radians(goal.facing_deg)
            tolerance = math.radians(goal.tolerance_deg) + BENT_RAD if goal.tolerance_deg < 170 else 4.0
        shrunk = np.array([BENT_M - min(margin(item.where), 0.45 * inner_radius(item) + BENT_M) for item in stones])
        solid = make_shapes(solids, np.array([margin(item.where) for item in solids]), REACH_M)
        off = make_shapes(regions, np.array([margin(item.where) + FOOT_M for item in regions]), 0.5)
        return Scene(
            solid, off, make_shapes(stones, shrunk, 0.5),
            gates_of(request),
            grid, corridor, (request.path.within if request.path is not None else 0.0) - margin("path"),
            np.array([*goal.position, goal.radius - room, facing, tolerance]), *open_floor((solid, off)),
            *(penalty if penalty is not None else (np.array([0.0, 0.0, 1.0, 0.0, 0.0]), np.zeros(0, np.float32))),
        )  # fmt: skip

    def _heuristic(self) -> _compiled.Heuristic:
        world, network, request, scene = self.world, self.world.network, self.request, self.scene
        slack_m, slack_rad, offset = lattice_slack(network, world.table)
        goal = [*scene.goal[:2], scene.goal[2] + slack_m]
        gates = [
            (gate[0], gate[1], gate[2] + slack_m + 0.2)
            if gate[2] >= 0
            else (*(gate[:2] + gate[3:]) / 2, math.dist(gate[:2], gate[3:]) / 2 + slack_m + 0.2)
            for gate in scene.gates
        ]
        stones = [
            (*region.middle, region.radius + max((math.dist(region.middle, c) for c in region.corners), default=0)
             + offset) for region in request.stones
        ]  # fmt: skip
        stone_target = Targets(np.array([*stones, goal], float).reshape(-1, 3)).with_rest()
        gate_target = Targets(np.array([*gates, goal], float).reshape(-1, 3)).with_rest()
        heights = world.table.samples[:, points.HIPS, 1]
        fields = find_fields(
            scene.solids, gate_target, request.start.position, (float(heights.min()), float(heights.max())),
            float(world.body.radii[0]) - slack_m - STRAIGHT_M,
        )  # fmt: skip
        rates, potential = world.rates, world.rates.potential
        if not world.all_end:
            end = np.full(network.nodes, np.inf)
            end[network.target[np.flatnonzero(world.terminal)]] = 0.0
            way, turn = edge_ways(network, world.table, ROUND if solids_of(request) else STRAIGHT)
            potential = potentials_to(network, rates, self._edge_costs, way, turn, end)
        margins = {item.where: self.margins.of(item.where) for item in regions_of(request)}
        tolls = find_tolls(world, request, self._edge_costs, (goal[0], goal[1], goal[2]), margins)
        return make_heuristic(network, rates, potential, (stone_target, gate_target), fields, slack_rad, tolls)

    def _start_places(self, roots: Ints) -> Array:
        """Frames at which primitives begin so that hips are where the request says, (n, 3)."""
        world, some = self.world, self.world.network.primitives.take(roots)
        first = world.table.sample_first[:-1]
        at = some.mix(world.table.samples[first, 0][:, [0, 2]].astype(float))
        facing = mix_turns(some, world.table.facing[first].astype(float))
        start = FloorTransform(math.radians(self.request.start.facing_deg), *self.request.start.position)
        return (start @ FloorTransform(facing, at[:, 0], at[:, 1]).inverse()).as_rows()

    def _new_store(self, size: int) -> _compiled.Store:
        from choreograph.synthesis.plan._compiled import Store

        slots = 1 << math.ceil(math.log2(2 * size))
        things = len(self.scene.solids.low) + len(self.scene.off.low) + 1
        store = Store(
            np.empty(size, np.int32), np.empty(size, np.int32), np.empty((size, 3)), np.empty(size), np.empty(size),
            np.empty(size, np.int32), np.empty(size, np.int64), np.zeros(size, np.uint8),
            np.full(slots, -1, np.int64), np.zeros(slots, np.int32),
            np.full(slots, -1, np.int32), np.empty(2 * size), np.empty(2 * size, np.int32), np.empty(size, np.int32),
            np.zeros(9, np.int64), np.array([math.inf]), np.zeros(things, np.int64),
        )  # fmt: skip
        store.counters[self._kernel.GOAL] = -1
        return store

    def _grow(self) -> None:
        """Twice the room for records."""
        old = self.store
        new = self._new_store(min(2 * len(old.parent), self._most))
        kept = ("parent", "primitive", "place", "cost", "rest", "stage", "lattice_key", "state")
        for name in (*kept, "heap_key", "heap_record", "inconsistent"):
            values = getattr(old, name)
            getattr(new, name)[: len(values)] = values
        for name in ("counters", "goal_cost", "rejected_by"):
            getattr(new, name)[:] = getattr(old, name)
        self._kernel.rehash(old, new)
        self.store = new
