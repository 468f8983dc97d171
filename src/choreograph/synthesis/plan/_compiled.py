"""Anytime repairing A* over primitives, compiled: a binary heap, a hash of cells by open addressing, immutable records.

A record is a primitive at an exact place with its parent record; a cell of the lattice (node, place, heading, stage)
knows the cheapest record in it. Records never change, so poses never go stale.

What is done for each edge is inlined: a call would pass a hundred arrays, and cost more than the work.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from choreograph.synthesis.plan._compiled_scene import (
    FAR,
    Shapes,
    capsule_gap,
    cell_of,
    concerns,
    point_gap,
    region_gap,
    touches,
)
from choreograph.synthesis.plan.heuristic import WAY_M, WAYS

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

RECORDS, HEAP, INCONSISTENT, CELLS, EXPANDED, ROUND, GOAL, GENERATED, REJECTED = range(9)
"""Places of the counters."""
WORKING, ROUND_DONE, EMPTY, FULL = range(4)
"""How an advance ends: budget used, this heuristic weight is done, nothing is left to expand, memory is used up."""
UNTESTED, KEPT, BROKEN = 0, 1, 2
TAU = 2 * math.pi


class Store(NamedTuple):
    """What the search remembers."""

    parent: NDArray[np.int32]
    primitive: NDArray[np.int32]
    place: Array
    """Frame of the event that each record ends with, yaw, x, z, (R, 3)."""
    cost: Array
    """From the start, (R,)."""
    rest: Array
    """Heuristic, (R,)."""
    stage: NDArray[np.int32]
    lattice_key: Ints
    """Of the cell that each record is in, (R,)."""
    state: NDArray[np.uint8]
    """Whether a record's constraints were tested: not yet, kept, broken."""
    key: Ints
    """Of the cell in each slot of the hash; -1 for none, (H,)."""
    best: NDArray[np.int32]
    """Cheapest record, of those that keep all constraints, of the cell in each slot."""
    closed: NDArray[np.int32]
    """Round in which the cell was last expanded."""
    heap_key: Array
    heap_record: NDArray[np.int32]
    inconsistent: NDArray[np.int32]
    counters: Ints
    goal_cost: Array
    """(1,); infinite before there is an answer."""
    rejected_by: Ints
    """How often each solid, then each region, then the corridor, turned a step away."""


class Moves(NamedTuple):
    """The network as the search reads it."""

    outcome: Array
    target: Ints
    first: Ints
    edge: NDArray[np.int32]
    edge_cost: Array
    kind: Ints
    sample_first: Ints
    points: NDArray[np.float32]
    facing: NDArray[np.float32]
    planted: NDArray[np.uint8]
    reach: NDArray[np.float32]
    """How far from its hips each sample reaches along the floor, (S,), metres."""
    top: NDArray[np.float32]
    """How high it reaches."""
    disc: Array
    """A circle on the floor that each primitive's body never leaves: x, z, radius, (P, 3)."""
    group: Ints
    """Nodes of one group share cells of the lattice, (N,)."""
    stone_group: Ints
    """Likewise on stones, where cells are smaller, (N,): numbers behind those of the groups."""
    terminal: NDArray[np.bool_]
    """Which primitives may be the last."""
    feet: Ints
    """Points of left ankle, left ball, right ankle, right ball."""
    capsules: Ints
    radii: Array


class Scene(NamedTuple):
    """What must be kept to."""

    solids: Shapes
    off: Shapes
    """Regions where no foot may stand."""
    stones: Shapes
    """Places to step on, in order."""
    gates: Array
    """Places to pass in order: circles x, z, radius, 0, 0 or lines x, z, -1, x, z, (T, 5)."""
    corridor_grid: Array
    """Least x and z, size of a cell, cells along x and z, (5,)."""
    corridor: NDArray[np.float32]
    """Distance from the path to keep near, (cells,); empty for no path."""
    corridor_m: float
    goal: Array
    """x, z, radius, facing, tolerance (radians; above pi for any), (5,)."""
    open_grid: Array
    open: NDArray[np.float32]
    """How far each cell is from all things at least, (cells,), as far as that matters."""
    open_m: float
    """And beyond the grid."""
    penalty_grid: Array
    penalty: NDArray[np.float32]
    """What a step that ends in a cell costs more, (cells,): so that another answer differs."""


class Tolls(NamedTuple):
    """What crossing a thing costs at least, B times; see `tolls`."""

    grid: Array
    through: NDArray[np.float32]
    """Distance to the goal, (B, cells), metres,"""
    round: NDArray[np.float32]
    """and round the thing."""
    feet: NDArray[np.bool_]
    """Whether frames of feet cross it, (B,)."""
    probe: Array
    """Else what crosses it, in each node's frame, (B, N, 2)."""
    neutral: NDArray[np.bool_]
    """Nodes that may be crossing it, (B, N), where they are"""
    near: NDArray[np.bool_]
    """near to it, (B, cells)."""
    per_metre: Array
    """(B, K)."""
    per_radian: Array
    nearer: Array
    """How much less than the distance to the goal a walk may come, (B,), metres."""
    free: Array
    """Potentials of walks to the goal, by how far it is, (B, K, N, WAYS),"""
    away: NDArray[np.int32]
    """How far a walk comes at least before it is across, (B, cells), in steps of `heuristic.WAY_M`,"""
    across: Array
    """and potentials of walks that cross that far away, (B, K, N, WAYS)."""


class Heuristic(NamedTuple):
    """Lower bounds of the cost to the goal."""

    per_metre: Array
    """(K,)."""
    per_radian: Array
    """(K,)."""
    potential: Array
    """By how far there is to go, (K, N, WAYS)."""
    hips: Array
    """(N, 3): where a node's hips are and face in the event's frame."""
    stone_target: Array
    """Discs to come near to, then the goal: x, z, radius, distance from there on, (T, 4)."""
    gate_target: Array
    field_grid: Array
    field: NDArray[np.float32]
    """Free distance to each gate target, (T, cells); empty where nothing is in the way."""
    facing_slack: float
    tolls: Tolls


@njit(cache=True, nogil=True, inline="always")
def _push(store: Store, key: float, record: int) -> None:
    at = store.counters[HEAP]
    store.counters[HEAP] += 1
    while at > 0:
        above = (at - 1) >> 1
        if store.heap_key[above] <= key:
            break
        store.heap_key[at] = store.heap_key[above]
        store.heap_record[at] = store.heap_record[above]
        at = above
    store.heap_key[at] = key
    store.heap_record[at] = record


@njit(cache=True, nogil=True)
def _sift(store: Store, at: int, key: float, record: int) -> None:
    size = store.counters[HEAP]
    while True:
        below = 2 * at + 1
        if below >= size:
            break
        if below + 1 < size and store.heap_key[below + 1] < store.heap_key[below]:
            below += 1
        if store.heap_key[below] >= key:
            break
        store.heap_key[at] = store.heap_key[below]
        store.heap_record[at] = store.heap_record[below]
        at = below
    store.heap_key[at] = key
    store.heap_record[at] = record


@njit(cache=True, nogil=True)
def _pop(store: Store) -> int:
    top = store.heap_record[0]
    store.counters[HEAP] -= 1
    size = store.counters[HEAP]
    if size > 0:
        _sift(store, 0, store.heap_key[size], store.heap_record[size])
    return int(top)


@njit(cache=True, nogil=True, inline="always")
def _slot(store: Store, key: int) -> int:
    """The slot of a cell, or the empty one where it would be."""
    mask = len(store.key) - 1
    mixed = (key ^ (key >> 29)) * 0x5851F42D4C957F2D
    at = ((mixed ^ (mixed >> 32)) & 0x7FFFFFFFFFFFFFFF) & mask
    while store.key[at] != -1 and store.key[at] != key:
        at = (at + 1) & mask
    return int(at)


@njit(cache=True, nogil=True)
def rehash(old: Store, new: Store) -> None:
    """Move the cells into a larger hash."""
    for slot in range(len(old.key)):
        if old.key[slot] != -1:
            at = _slot(new, old.key[slot])
            new.key[at] = old.key[slot]
            new.best[at] = old.best[slot]
            new.closed[at] = old.closed[slot]


@njit(cache=True, nogil=True, inline="always")
def cell_key(node: int, yaw: float, x: float, z: float, stage: int, lattice_m: float, lattice_rad: float) -> int:
    """A number for the lattice cell of a state."""
    turns = round(TAU / lattice_rad)
    a = math.floor(yaw / lattice_rad) % turns
    i, k = math.floor(x / lattice_m) + 8192, math.floor(z / lattice_m) + 8192
    return (((node << 14 | (i & 16383)) << 14 | (k & 16383)) << 8 | a) << 10 | stage


@njit(cache=True, nogil=True, inline="always")
def _along(target: Array, from_: int, x: float, z: float) -> float:
    """Least way from a place past the targets from one on, in order, to the last of them."""
    best = 0.0
    for n in range(from_, len(target)):
        away = math.hypot(x - target[n, 0], z - target[n, 1]) - target[n, 2]
        best = max(best, max(0.0, away) + target[n, 3])
    return best


@njit(cache=True, nogil=True, inline="always")
def _ways(metres: float) -> int:
    """A way as a place in tables of potentials."""
    return int(min(max(metres, 0.0) / WAY_M, WAYS - 1.0))


@njit(cache=True, nogil=True, inline="always")
def _toll(
    tolls: Tolls, b: int, node: int, yaw: float, x: float, z: float, hx: float, hz: float, turn: float
) -> float:  # fmt: skip
    """A lower bound of the cost to the goal: round one thing, or across it."""
    px, pz, off = x, z, 0.0
    if not tolls.feet[b]:
        cos, sin = math.cos(yaw), math.sin(yaw)
        ox, oz = tolls.probe[b, node, 0], tolls.probe[b, node, 1]
        px, pz = x + ox * cos + oz * sin, z - ox * sin + oz * cos
        off = math.hypot(px - hx, pz - hz)
    cell = cell_of(tolls.grid, px, pz)
    if cell < 0 or (tolls.neutral[b, node] and tolls.near[b, cell]):
        return 0.0
    through, around = tolls.through[b, cell] - off, tolls.round[b, cell] + off
    if not tolls.feet[b]:
        cell = cell_of(tolls.grid, hx, hz)
        if cell < 0:
            return 0.0
        through, around = tolls.through[b, cell], min(around, tolls.round[b, cell])
    away, left = tolls.away[b, cell], _ways(around - tolls.nearer[b])
    best = 0.0
    for k in range(tolls.per_metre.shape[1]):
        rate, turned = tolls.per_metre[b, k], tolls.per_radian[b, k] * turn
        best = max(
            best,
            min(rate * around + tolls.free[b, k, node, left], rate * through + tolls.across[b, k, node, away]) + turned,
        )
    return best


@njit(cache=True, nogil=True, inline="always")
def estimate(heuristic: Heuristic, scene: Scene, node: int, yaw: float, x: float, z: float, stage: int) -> float:
    """A lower bound of the cost from a state to the goal."""
    cos, sin = math.cos(yaw), math.sin(yaw)
    ox, oz = heuristic.hips[node, 0], heuristic.hips[node, 1]
    hx, hz = x + ox * cos + oz * sin, z - ox * sin + oz * cos
    stones = len(heuristic.stone_target)
    s, t = stage % stones, stage // stones
    way = max(_along(heuristic.stone_target, s, hx, hz), _along(heuristic.gate_target, t, hx, hz))
    if len(heuristic.field):
        cell = cell_of(heuristic.field_grid, hx, hz)
        if cell >= 0:
            free = heuristic.field[t, cell]
            if free >= FAR:
                return FAR
            way = max(way, free + heuristic.gate_target[t, 3])
    turn = 0.0
    if scene.goal[4] < math.pi:
        off = yaw + heuristic.hips[node, 2] - scene.goal[3]
        off = abs(off - TAU * round(off / TAU))
        turn = max(0.0, off - scene.goal[4] - heuristic.facing_slack)
    best, left = 0.0, _ways(way)
    for k in range(len(heuristic.per_metre)):
        potential = heuristic.potential[k, node, left]
        best = max(best, heuristic.per_metre[k] * way + heuristic.per_radian[k] * turn + potential)
    for b in range(len(heuristic.tolls.feet)):
        best = max(best, _toll(heuristic.tolls, b, node, yaw, x, z, hx, hz, turn))
    return best


@njit(cache=True, nogil=True, inline="always")
def _crosses(ax: float, az: float, bx: float, bz: float, gate: Array) -> bool:
    """Whether the way from one place to the next passes a gate."""
    if gate[2] >= 0:
        return math.hypot(bx - gate[0], bz - gate[1]) <= gate[2] or math.hypot(ax - gate[0], az - gate[1]) <= gate[2]
    cx, cz, dx, dz = gate[0], gate[1], gate[3], gate[4]
    one = (bx - ax) * (cz - az) - (bz - az) * (cx - ax)
    two = (bx - ax) * (dz - az) - (bz - az) * (dx - ax)
    three = (dx - cx) * (az - cz) - (dz - cz) * (ax - cx)
    four = (dx - cx) * (bz - cz) - (dz - cz) * (bx - cx)
    return one * two <= 0 and three * four < 0


@njit(cache=True, nogil=True, inline="always")
def _foot_allowed(scene: Scene, ax: float, az: float, bx: float, bz: float) -> int:
    """-1 where a foot, from ankle to ball, may stand; else the region that it must not stand in."""
    away, which = region_gap(scene.off, ax, az)
    other, second = region_gap(scene.off, bx, bz)
    if away >= 0 and other >= 0:
        return -1
    mx, mz = (ax + bx) / 2, (az + bz) / 2
    for m in range(len(scene.stones.low)):
        if point_gap(scene.stones, m, mx, mz) <= scene.stones.margin[m]:
            return -1
    return which if away < 0 else second


@njit(cache=True, nogil=True, inline="always")
def stage_after(
    moves: Moves, scene: Scene, primitive: int, yaw: float, x: float, z: float, stage: int, stones: int
) -> int:
    """The stage after a primitive laid at a frame: stones stepped on, and gates passed times `stones`.

    Args:
        moves: The network.
        scene: What must be kept to.
        primitive: Which.
        yaw: Of the frame, radians.
        x: Metres.
        z: Metres.
        stage: Before it.
        stones: Number of stones and one.
    """
    cos, sin = math.cos(yaw), math.sin(yaw)
    s, t = stage % stones, stage // stones
    gates = len(scene.gates)
    if t < gates:
        px = pz = 0.0
        low = moves.sample_first[primitive]
        for n in range(low, moves.sample_first[primitive + 1]):
            rx, rz = moves.points[n, 0, 0], moves.points[n, 0, 2]
            hx, hz = x + rx * cos + rz * sin, z - rx * sin + rz * cos
            if n > low:
                while t < gates and _crosses(px, pz, hx, hz, scene.gates[t]):
                    t += 1
            px, pz = hx, hz
    if s < stones - 1 and moves.kind[moves.target[primitive]] < 2:
        ox, oz = moves.outcome[primitive, 1], moves.outcome[primitive, 2]
        fx, fz = x + ox * cos + oz * sin, z - ox * sin + oz * cos
        if point_gap(scene.stones, s, fx, fz) <= scene.stones.margin[s]:
            s += 1
    return int(t * stones + s)


@njit(cache=True, nogil=True)
def broken_by(moves: Moves, scene: Scene, primitive: int, yaw: float, x: float, z: float, body: Array) -> int:
    """What a primitive laid at a frame breaks, at any of its samples: solids, then regions, then the path; or -1.

    Args:
        moves: The network.
        scene: What must be kept to.
        primitive: Which.
        yaw: Of the frame, radians.
        x: Metres.
        z: Metres.
        body: Room for a body's points, (POINTS, 3).
    """
    cos, sin = math.cos(yaw), math.sin(yaw)
    solids, regions = len(scene.solids.low), len(scene.off.low)
    if solids:  # the hips first: they are what most often touches, and soon looked at
        for n in range(moves.sample_first[primitive], moves.sample_first[primitive + 1]):
            rx, ry, rz = moves.points[n, 0, 0], moves.points[n, 0, 1], moves.points[n, 0, 2]
            hx, hz = x + rx * cos + rz * sin, z - rx * sin + rz * cos
            cell = cell_of(scene.solids.grid, hx, hz)
            for q in range(scene.solids.list_first[cell], scene.solids.list_first[cell + 1]) if cell >= 0 else range(0):
                m = scene.solids.near[q]
                if concerns(scene.solids, m, hx, hz, moves.radii[0], ry) and (
                    capsule_gap(scene.solids, m, hx, ry, hz, hx, ry, hz, moves.radii[0]) < scene.solids.margin[m]
                ):
                    return int(m)
    for n in range(moves.sample_first[primitive], moves.sample_first[primitive + 1]):
        rx, rz = moves.points[n, 0, 0], moves.points[n, 0, 2]
        hx, hz = x + rx * cos + rz * sin, z - rx * sin + rz * cos
        if len(scene.corridor):
            cell = cell_of(scene.corridor_grid, hx, hz)
            if cell < 0 or scene.corridor[cell] > scene.corridor_m:
                return solids + regions
        cell = cell_of(scene.solids.grid, hx, hz) if solids else -1
        laid = False
        for q in range(scene.solids.list_first[cell], scene.solids.list_first[cell + 1]) if cell >= 0 else range(0):
            m = scene.solids.near[q]
            if not concerns(scene.solids, m, hx, hz, moves.reach[n], moves.top[n]):
                continue
            if not laid:
                laid = True
                for j in range(len(body)):
                    bx, bz = moves.points[n, j, 0], moves.points[n, j, 2]
                    body[j, 0] = x + bx * cos + bz * sin
                    body[j, 1] = moves.points[n, j, 1]
                    body[j, 2] = z - bx * sin + bz * cos
            if touches(scene.solids, m, body, moves.capsules, moves.radii):
                return int(m)
        for side in range(2 if regions else 0):
            if moves.planted[n] & (1 << side):
                a, b = moves.feet[2 * side], moves.feet[2 * side + 1]
                ax, az = moves.points[n, a, 0], moves.points[n, a, 2]
                bx, bz = moves.points[n, b, 0], moves.points[n, b, 2]
                hit = _foot_allowed(
                    scene, x + ax * cos + az * sin, z - ax * sin + az * cos,
                    x + bx * cos + bz * sin, z - bx * sin + bz * cos,
                )  # fmt: skip
                if hit >= 0:
                    return solids + hit
    return -1


@njit(cache=True, nogil=True, inline="always")
def _in_the_open(moves: Moves, scene: Scene, primitive: int, cos: float, sin: float, x: float, z: float) -> bool:
    """Whether nothing is so near that a primitive laid at a frame could break it."""
    if len(scene.corridor):
        return False
    if len(scene.solids.low) == 0 and len(scene.off.low) == 0:
        return True
    mx, mz = moves.disc[primitive, 0], moves.disc[primitive, 1]
    cell = cell_of(scene.open_grid, x + mx * cos + mz * sin, z - mx * sin + mz * cos)
    return bool((scene.open[cell] if cell >= 0 else scene.open_m) > moves.disc[primitive, 2])


@njit(cache=True, nogil=True, inline="always")
def _lands(
    moves: Moves, scene: Scene, primitive: int, cos: float, sin: float, x: float, z: float, store: Store
) -> bool:  # fmt: skip
    """Whether the feet that stand when a primitive ends do so where they may: soon looked at."""
    n = moves.sample_first[primitive + 1] - 1
    for side in range(2):
        if moves.planted[n] & (1 << side):
            a, b = moves.feet[2 * side], moves.feet[2 * side + 1]
            ax, az = moves.points[n, a, 0], moves.points[n, a, 2]
            bx, bz = moves.points[n, b, 0], moves.points[n, b, 2]
            hit = _foot_allowed(
                scene, x + ax * cos + az * sin, z - ax * sin + az * cos,
                x + bx * cos + bz * sin, z - bx * sin + bz * cos,
            )  # fmt: skip
            if hit >= 0:
                store.counters[REJECTED] += 1
                store.rejected_by[len(scene.solids.low) + hit] += 1
                return False
    return True


@njit(cache=True, nogil=True, inline="always")
def at_goal(moves: Moves, scene: Scene, primitive: int, yaw: float, x: float, z: float) -> bool:
    """Whether a primitive laid at a frame ends with the hips in the goal, facing as asked."""
    if not moves.terminal[primitive]:
        return False
    last = moves.sample_first[primitive + 1] - 1
    cos, sin = math.cos(yaw), math.sin(yaw)
    rx, rz = moves.points[last, 0, 0], moves.points[last, 0, 2]
    hx, hz = x + rx * cos + rz * sin, z - rx * sin + rz * cos
    if math.hypot(hx - scene.goal[0], hz - scene.goal[1]) > scene.goal[2]:
        return False
    if scene.goal[4] >= math.pi:
        return True
    off = yaw + moves.facing[last] - scene.goal[3]
    return abs(off - TAU * round(off / TAU)) <= scene.goal[4]


@njit(cache=True, nogil=True, inline="always")
def _reach(
    store: Store, moves: Moves, scene: Scene, heuristic: Heuristic, parent: int, primitive: int, start: Array,
    cost: float, stage: int, lattice: Array, weight: float, body: Array,
) -> None:  # fmt: skip
    """Lay a primitive at a frame behind a record, and note where it leads if that is new, cheaper and allowed."""
    counters = store.counters
    counters[GENERATED] += 1
    yaw, x, z = start[0], start[1], start[2]
    cos, sin = math.cos(yaw), math.sin(yaw)
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
    after = stage_after(moves, scene, primitive, yaw, x, z, stage, stones)
    final = after == (len(scene.gates) + 1) * stones - 1 and at_goal(moves, scene, primitive, yaw, x, z)
    if after % stones > stage % stones:
        key = cell_key(moves.stone_group[node], turned, nx, nz, after, lattice[2], lattice[1])
    else:
        key = cell_key(moves.group[node], turned, nx, nz, after, lattice[0], lattice[1])
    slot = _slot(store, key)
    known = store.key[slot] != -1
    better = not known or cost < store.cost[store.best[slot]]
    if not (better or final):
        return
    rest = estimate(heuristic, scene, node, turned, nx, nz, after)
    if not final and (rest >= FAR or cost + rest >= store.goal_cost[0]):
        return
    if len(scene.off.low) and not _lands(moves, scene, primitive, cos, sin, x, z, store):
        return
    # Constraints are tested when a record is about to be expanded: of eighty that are laid, one is. Until then it
    # stands in nobody's way.
    bare = _in_the_open(moves, scene, primitive, cos, sin, x, z)
    tested = bare or final or parent < 0
    if tested and not bare:
        broke = broken_by(moves, scene, primitive, yaw, x, z, body)
        if broke >= 0:
            counters[REJECTED] += 1
            store.rejected_by[broke] += 1
            return
    record = counters[RECORDS]
    counters[RECORDS] += 1
    store.parent[record], store.primitive[record] = parent, primitive
    store.place[record, 0], store.place[record, 1], store.place[record, 2] = turned, nx, nz
    store.cost[record], store.rest[record], store.stage[record] = cost, rest, after
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
            _push(store, cost + weight * rest, record)


@njit(cache=True, nogil=True, inline="always")
def _settle(store: Store, slot: int, record: int) -> None:
    """Make a record that keeps all constraints the best of its cell."""
    if store.key[slot] == -1:
        store.key[slot] = store.lattice_key[record]
        store.closed[slot] = -1
        store.counters[CELLS] += 1
    store.best[slot] = record


@njit(cache=True, nogil=True)
def _is_open(store: Store, record: int) -> bool:
    """Whether a record is still the best known of its cell, or may become that."""
    if store.state[record] == BROKEN:
        return False
    slot = _slot(store, store.lattice_key[record])
    if store.key[slot] == -1 or store.best[slot] == record:
        return True
    return store.state[record] == UNTESTED and store.cost[record] < store.cost[store.best[slot]]


@njit(cache=True, nogil=True)
def _next(store: Store, moves: Moves, scene: Scene, body: Array) -> int:
    """The next record to expand, its constraints tested; -1 where none is left or none can be better."""
    counters = store.counters
    while counters[HEAP] > 0 and store.heap_key[0] < store.goal_cost[0]:
        record = _pop(store)
        if not _is_open(store, record):
            continue
        slot = _slot(store, store.lattice_key[record])
        if store.state[record] == UNTESTED:
            at = store.place[store.parent[record]]
            broke = broken_by(moves, scene, store.primitive[record], at[0], at[1], at[2], body)
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


@njit(cache=True, nogil=True)
def begin(
    store: Store, moves: Moves, scene: Scene, heuristic: Heuristic, roots: Ints, costs: Array, places: Array,
    lattice: Array, weight: float,
) -> None:  # fmt: skip
    """Lay every primitive that may come first at the start."""
    body = np.empty((moves.points.shape[1], 3))
    for n in range(len(roots)):
        _reach(store, moves, scene, heuristic, -1, roots[n], places[n], costs[n], 0, lattice, weight, body)


@njit(cache=True, nogil=True)
def advance(
    store: Store, moves: Moves, scene: Scene, heuristic: Heuristic, lattice: Array, weight: float, budget: int,
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
    body = np.empty((moves.points.shape[1], 3))
    room = min(len(store.parent), len(store.heap_key), len(store.inconsistent)) - widest - 1
    cells = int(0.6 * len(store.key)) - widest - 1
    for _ in range(budget):
        if (
            counters[RECORDS] >= room or counters[HEAP] >= room or counters[INCONSISTENT] >= room
            or counters[CELLS] >= cells
        ):  # fmt: skip
            return FULL
        record = _next(store, moves, scene, body)
        if record < 0:
            if counters[INCONSISTENT] >= room:
                return FULL
            return ROUND_DONE if store.goal_cost[0] < np.inf or counters[INCONSISTENT] > 0 else EMPTY
        counters[EXPANDED] += 1
        store.closed[_slot(store, store.lattice_key[record])] = counters[ROUND]
        node = moves.target[store.primitive[record]]
        for e in range(moves.first[node], moves.first[node + 1]):
            _reach(
                store, moves, scene, heuristic, record, moves.edge[e], store.place[record],
                store.cost[record] + moves.edge_cost[e], store.stage[record], lattice, weight, body,
            )  # fmt: skip
    return WORKING


@njit(cache=True, nogil=True)
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
        store.heap_key[n] = store.cost[store.heap_record[n]] + weight * store.rest[store.heap_record[n]]
    for n in range(kept // 2 - 1, -1, -1):
        _sift(store, n, store.heap_key[n], store.heap_record[n])


@njit(cache=True, nogil=True)
def lower_bound(store: Store) -> float:
    """No answer in the lattice can cost less: the least cost and estimate of what is still to be expanded."""
    counters = store.counters
    best = store.goal_cost[0]
    for n in range(counters[HEAP] + counters[INCONSISTENT]):
        record = store.heap_record[n] if n < counters[HEAP] else store.inconsistent[n - counters[HEAP]]
        if _is_open(store, record):
            best = min(best, store.cost[record] + store.rest[record])
    return best
