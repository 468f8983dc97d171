"""Anytime repairing A* over primitives, compiled.

What is done for each edge is inlined: a call would pass a hundred arrays, and cost more than the work.
"""

from __future__ import annotations

import math

import numpy as np

from choreograph.base.arrays import Floats, Ints
from choreograph.base.compiling import hot, inlined
from choreograph.scene._compiled_scene import FAR, cell_of
from choreograph.verbs.plan._compiled_bounds import Heuristic, estimate
from choreograph.verbs.plan._compiled_steps import (
    Moves,
    StepScene,
    at_goal,
    broken_by,
    in_the_open,
    lands_in,
    stage_after,
)
from choreograph.verbs.plan._compiled_store import TAU, Store, cell_key, pop, push, sift, slot_of
from choreograph.verbs.plan.counters import (
    CELLS,
    EXPANDED,
    GENERATED,
    GOAL,
    HEAP,
    INCONSISTENT,
    RECORDS,
    REJECTED,
    ROUND,
)

WORKING, ROUND_DONE, EMPTY, FULL = range(4)
"""How an advance ends: budget used, this heuristic weight is done, nothing is left to expand, memory is used up."""
UNTESTED, KEPT, BROKEN = 0, 1, 2
GUIDED = 1.4
"""Heuristic weight above which the search is guided by what forgets."""


@inlined
def _reach(
    store: Store, moves: Moves, scene: StepScene, heuristic: Heuristic, parent: int, primitive: int, start: Floats,
    cos: float, sin: float, cost: float, stage: int, lattice: Floats, weight: float,
) -> None:  # fmt: skip
    """Lay a primitive at a frame behind a record, and note where it leads if that is new, cheaper and allowed."""
    counters = store.counters
    counters[GENERATED] += 1
    if cost >= store.goal_cost[0]:
        return
    yaw, x, z = start[0], start[1], start[2]
    ox, oz = moves.outcome[primitive, 1], moves.outcome[primitive, 2]
    nx, nz = x + ox * cos + oz * sin, z - ox * sin + oz * cos
    turned = yaw + moves.outcome[primitive, 0]
    turned -= TAU * math.floor(turned / TAU)
    if len(scene.penalty):
        cell = cell_of(scene.penalty_grid, nx, nz)
        if cell >= 0:
            cost += scene.penalty[cell] * (1.0 if parent >= 0 else 0.0)
            if cost >= store.goal_cost[0]:
                return
    node = moves.target[primitive]
    stones = len(heuristic.stone_target)
    after = stage_after(moves, scene, primitive, cos, sin, x, z, stage, stones)
    final = after == (len(scene.gates) + 1) * stones - 1 and at_goal(moves, scene, primitive, yaw, cos, sin, x, z)
    if after % stones > stage % stones:
        key = cell_key(moves.stone_group[node], turned, nx, nz, after, lattice[2], lattice[1])
    else:
        key = cell_key(moves.group[node], turned, nx, nz, after, lattice[0], lattice[1])
    slot = slot_of(store, key)
    known = store.key[slot] != -1
    better = not known or cost < store.cost[store.best[slot]]
    if not (better or final):
        return
    rest, guide = estimate(heuristic, scene.goal, node, turned, nx, nz, after)
    if not final and (rest >= FAR or cost + rest >= store.goal_cost[0]):
        return
    if len(scene.off.low):
        hit = lands_in(moves, scene, primitive, cos, sin, x, z)
        if hit >= 0:
            counters[REJECTED] += 1
            store.rejected_by[len(scene.solids.low) + hit] += 1
            return
    # Constraints are tested when a record is about to be expanded: of eighty that are laid, one is. Until then it
    # stands in nobody's way.
    bare = in_the_open(moves, scene, primitive, cos, sin, x, z)
    tested = bare or final or parent < 0
    if tested and not bare:
        broke = broken_by(moves, scene, primitive, yaw, x, z, store.body)
        if broke >= 0:
            counters[REJECTED] += 1
            store.rejected_by[broke] += 1
            return
    record = counters[RECORDS]
    counters[RECORDS] += 1
    store.parent[record], store.primitive[record] = parent, primitive
    store.place[record, 0], store.place[record, 1], store.place[record, 2] = turned, nx, nz
    store.cost[record], store.rest[record], store.guide[record], store.stage[record] = cost, rest, guide, after
    store.lattice_key[record] = key
    store.state[record] = KEPT if tested else UNTESTED
    if final:
        store.goal_cost[0] = cost
        counters[GOAL] = record
    if tested and better:
        _settle(store, slot, record)
    if better and moves.first[node + 1] > moves.first[node] and cost + rest < store.goal_cost[0]:
        if tested and store.closed[slot] == counters[ROUND]:
            store.inconsistent[counters[INCONSISTENT]] = record
            counters[INCONSISTENT] += 1
        else:
            push(store, _key(store, record, weight), record)


@inlined
def _settle(store: Store, slot: int, record: int) -> None:
    """Make a record that keeps all constraints the best of its cell."""
    if store.key[slot] == -1:
        store.key[slot] = store.lattice_key[record]
        store.closed[slot] = -1
        store.counters[CELLS] += 1
    store.best[slot] = record


@inlined
def _key(store: Store, record: int, weight: float) -> float:
    """What records are expanded in the order of."""
    return store.cost[record] + weight * (store.guide[record] if weight > GUIDED else store.rest[record])


@hot
def _is_open(store: Store, record: int) -> bool:
    """Whether a record is still the best known of its cell, or may become that."""
    if store.state[record] == BROKEN:
        return False
    slot = slot_of(store, store.lattice_key[record])
    if store.key[slot] == -1 or store.best[slot] == record:
        return True
    return store.state[record] == UNTESTED and store.cost[record] < store.cost[store.best[slot]]


@hot
def _next(store: Store, moves: Moves, scene: StepScene) -> int:
    """The next record to expand, its constraints tested; -1 where none is left or none can be better."""
    counters = store.counters
    while counters[HEAP] > 0 and store.heap_key[0] < store.goal_cost[0]:
        record = pop(store)
        if not _is_open(store, record):
            continue
        slot = slot_of(store, store.lattice_key[record])
        if store.state[record] == UNTESTED:
            at = store.place[store.parent[record]]
            broke = broken_by(moves, scene, store.primitive[record], at[0], at[1], at[2], store.body)
            if broke >= 0:
                store.state[record] = BROKEN
                counters[REJECTED] += 1
                store.rejected_by[broke] += 1
                continue
            store.state[record] = KEPT
            _settle(store, slot, record)
        if store.closed[slot] == counters[ROUND]:
            store.inconsistent[counters[INCONSISTENT]] = record
            counters[INCONSISTENT] += 1
            if counters[INCONSISTENT] >= len(store.inconsistent) - 1:
                return -1
            continue
        return int(record)
    return -1


@hot
def begin(
    store: Store, moves: Moves, scene: StepScene, heuristic: Heuristic, roots: Ints, costs: Floats, places: Floats,
    lattice: Floats, weight: float,
) -> None:  # fmt: skip
    """Lay every primitive that may come first at the start."""
    for n in range(len(roots)):
        cos, sin = math.cos(places[n, 0]), math.sin(places[n, 0])
        _reach(store, moves, scene, heuristic, -1, roots[n], places[n], cos, sin, costs[n], 0, lattice, weight)


@hot
def advance(
    store: Store, moves: Moves, scene: StepScene, heuristic: Heuristic, lattice: Floats, weight: float, budget: int,
    widest: int,
) -> int:  # fmt: skip
    """Expand up to `budget` records; how it ended.

    Args:
        store: What is known; changed.
        moves: The network.
        scene: What must be kept to.
        heuristic: Lower bounds.
        lattice: Size of cells: metres and radians, and metres on stones.
        weight: Heuristic weight.
        budget: Records to expand at most.
        widest: Most edges of a node.
    """
    counters = store.counters
    room = min(len(store.parent), len(store.heap_key), len(store.inconsistent)) - widest - 1
    cells = int(0.6 * len(store.key)) - widest - 1
    for _ in range(budget):
        if (
            counters[RECORDS] >= room or counters[HEAP] >= room or counters[INCONSISTENT] >= room
            or counters[CELLS] >= cells
        ):  # fmt: skip
            return FULL
        record = _next(store, moves, scene)
        if record < 0:
            if counters[INCONSISTENT] >= room:
                return FULL
            return ROUND_DONE if store.goal_cost[0] < np.inf or counters[INCONSISTENT] > 0 else EMPTY
        counters[EXPANDED] += 1
        store.closed[slot_of(store, store.lattice_key[record])] = counters[ROUND]
        node = moves.target[store.primitive[record]]
        cos, sin = math.cos(store.place[record, 0]), math.sin(store.place[record, 0])
        for e in range(moves.first[node], moves.first[node + 1]):
            _reach(
                store, moves, scene, heuristic, record, moves.edge[e], store.place[record], cos, sin,
                store.cost[record] + moves.edge_cost[e], store.stage[record], lattice, weight,
            )  # fmt: skip
    return WORKING


@hot
def next_round(store: Store, weight: float) -> None:
    """Take inconsistent records into the heap and order it by another heuristic weight."""
    counters = store.counters
    kept = 0
    size = counters[HEAP]
    for n in range(size + counters[INCONSISTENT]):
        record = store.heap_record[n] if n < size else store.inconsistent[n - size]
        if _is_open(store, record) and store.cost[record] + store.rest[record] < store.goal_cost[0]:
            store.heap_record[kept] = record
            kept += 1
            if kept >= len(store.heap_key) - 1:
                break
    counters[HEAP], counters[INCONSISTENT] = kept, 0
    counters[ROUND] += 1
    for n in range(kept):
        store.heap_key[n] = _key(store, store.heap_record[n], weight)
    for n in range(kept // 2 - 1, -1, -1):
        sift(store, n, store.heap_key[n], store.heap_record[n])


@hot
def lower_bound(store: Store) -> float:
    """No answer in the lattice can cost less: the least cost and estimate of what is still to be expanded."""
    counters = store.counters
    best = store.goal_cost[0]
    for n in range(counters[HEAP] + counters[INCONSISTENT]):
        record = store.heap_record[n] if n < counters[HEAP] else store.inconsistent[n - counters[HEAP]]
        if _is_open(store, record):
            best = min(best, store.cost[record] + store.rest[record])
    return best
