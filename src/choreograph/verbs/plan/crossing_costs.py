"""Tolls: what crossing a gap or passing under a bar costs at least, since only some steps can.

Of two ways to the goal one is taken: round the thing, or across it. Round it, more metres are left; across it, at least
one of the steps that can is still to be taken. The lesser of the two bounds what is left, from where it cannot be
crossed otherwise. Who is still far from it must come there first: one who ducks at once goes all of the way ducked, or
gets up and ducks again; and who is across it has as far to go as the goal is from there. Steps that are shorter than a
gap is wide cannot reach its inner part from outside; a head that stays above a bar's height cannot come to the other
side of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from choreograph.base.arrays import Flags, Floats, Ints
from choreograph.motion import body_points as points
from choreograph.scene.arrays import make_shapes
from choreograph.scene.model import Item
from choreograph.verbs.plan.grids import FOOT_M
from choreograph.verbs.plan.heuristic import (
    FEET,
    ROUND,
    STRAIGHT,
    STRAIGHT_M,
    WAY_M,
    WAYS,
    Rates,
    count_ways,
    edge_ways,
    far_potentials,
)
from choreograph.verbs.plan.network import Network, hips_in
from choreograph.verbs.plan.primitives import PrimitiveTable
from choreograph.verbs.plan.samples import mix_samples

if TYPE_CHECKING:
    from choreograph.verbs.plan._compiled_bounds import Tolls
    from choreograph.verbs.plan.request import PlanRequest
    from choreograph.verbs.plan.task import World


MOST = 3
"""Gaps and bars that are looked at, those nearest to the straight way."""
_CELL_M, _MOST_CELLS = 0.05, 100_000  # width of the grid's cells, at least, and how many they are, at most
_AROUND_M = 3.0  # that the grid reaches beyond start, goal and what is crossed
_THICK = 3.0
"""Cells across a gap's inner part, or a bar."""
_ROUNDS = 240  # of relaxation until costs settle, at most
_NEAR_M = 0.3
"""How far from where its node has it a head may be."""


@dataclass(frozen=True, eq=False)
class _Barrier:
    """Something to be crossed: cells that only some steps lead across."""

    feet: bool
    """Whether frames of feet cross it, or heads."""
    cells: Flags
    """(X, Z)."""
    crossing: Flags
    """Primitives that can, (P,)."""
    probe: Floats
    """x and z of what crosses it in each node's frame, (N, 2)."""
    neutral: Flags
    """Nodes in which what crosses it may be on the way across, (N,), where they are"""
    near: Flags
    """near to it, (X, Z)."""
    reach: float
    """How far from its cells what is measured may be when a step that crosses it ends, metres."""


def no_tolls() -> Tolls:
    """None at all."""
    from choreograph.verbs.plan._compiled_bounds import Tolls

    nothing = np.zeros((0, 0))
    fields = np.zeros((0, 0), np.float32)
    three, four = np.zeros((0, 0, 0)), np.zeros((0, 0, 0, 0))
    none = np.zeros((0, 0), np.bool_)
    return Tolls(
        np.array([0.0, 0.0, 1.0, 0.0, 0.0]), fields, fields, np.zeros(0, np.bool_), three, none, none, nothing, nothing,
        np.zeros(0), four, np.zeros((0, 0), np.int32), four,
    )  # fmt: skip


def find_tolls(
    world: World, request: PlanRequest, costs: Floats, goal: tuple[float, float, float], margins: Mapping[str, float]
) -> Tolls:
    """The tolls of a scene.

    Args:
        world: Primitives and their network.
        request: The scene.
        costs: Of edges, (E,).
        goal: x, z, and how far from there hips may be in the end, what nodes do not know included.
        margins: How much farther than they must feet keep from each gap, metres.
    """
    from choreograph.verbs.plan._compiled_bounds import Tolls
    from choreograph.verbs.plan._compiled_field import LONGER, free_distance

    measure = ROUND if request.scene.solids() else STRAIGHT
    gaps = (
        []
        if request.scene.stones
        else [item for item in request.scene.forbidden() if item.where.startswith("scene.gaps")]
    )
    bars = [item for item in request.scene.solids() if item.bar]
    if not gaps and not bars:
        return no_tolls()
    nearest = sorted([*gaps, *bars], key=lambda item: _off_the_way(item, request.start.place, goal[:2]))[:MOST]
    places = np.array([goal[:2], request.start.place, *(corner for item in nearest for corner in item.outline)])
    wide = max(item.radius for item in nearest)
    low, high = places.min(axis=0) - _AROUND_M - wide, places.max(axis=0) + _AROUND_M + wide
    cell = max(_CELL_M, math.sqrt(float((high - low).prod()) / _MOST_CELLS))
    counts = np.ceil((high - low) / cell).astype(int)
    grid = np.array([*low, cell, *counts], float)
    barriers: list[_Barrier] = []
    rows: list[tuple[Any, ...]] = []
    for item in nearest:
        barrier = _gap(world, item, margins[item.where], grid) if item in gaps else _bar(world, item, grid)
        if barrier is None or not barrier.cells.any() or barrier.crossing.all():
            continue
        rates = world.feet_rates if barrier.feet else world.rates
        far = [
            free_distance(blocked, cell, goal[0] - low[0], goal[1] - low[1], goal[2])
            for blocked in (np.zeros_like(barrier.cells), barrier.cells)
        ]
        least = [np.where(each < 1e8, np.maximum(0.0, each / LONGER - 2 * cell), 1e9) for each in far]
        least[1][barrier.cells] = least[0][barrier.cells]
        ways = edge_ways(world.network, world.table, FEET if barrier.feet else measure)
        values = _potentials(world, rates, costs, ways, barrier, float(least[0][barrier.cells].min()) - barrier.reach)
        if values is None:
            continue
        barriers.append(barrier)
        rows.append((*least, rates.per_metre, rates.per_radian, *values))
    if not rows:
        return no_tolls()
    return Tolls(
        grid,
        np.array([row[0].ravel() for row in rows], np.float32),
        np.array([row[1].ravel() for row in rows], np.float32),
        np.array([one.feet for one in barriers]),
        np.array([one.probe for one in barriers]),
        np.array([one.neutral for one in barriers]),
        np.array([one.near.ravel() for one in barriers]),
        _padded([row[2] for row in rows]),
        _padded([row[3] for row in rows]),
        np.array([row[4] for row in rows]),
        np.ascontiguousarray(np.moveaxis(_padded([row[5] for row in rows]), 1, -1)),
        np.array([_steps_away(one, cell).ravel() for one in barriers], np.int32),
        np.ascontiguousarray(np.moveaxis(_padded([row[6] for row in rows]), 1, -1)),
    )


def _steps_away(barrier: _Barrier, cell: float) -> Ints:
    """How many steps of `WAY_M` a walk from each cell comes at least before it is across, (X, Z)."""
    from scipy.ndimage import distance_transform_edt

    away = distance_transform_edt(~barrier.cells) * cell - 2 * cell - barrier.reach
    return np.clip(away / WAY_M, 0, WAYS - 1).astype(np.int64)


def _padded(rows: list[Floats]) -> Floats:
    """Rows of different numbers of rates as one array; the last of each is said again."""
    most = max(len(row) for row in rows)
    return np.array([np.concatenate([row, *[row[-1:]] * (most - len(row))]) for row in rows])


def _off_the_way(item: Item, start: tuple[float, float], goal: tuple[float, float]) -> float:
    way = [np.array(start) + share * (np.array(goal) - start) for share in np.linspace(0, 1, 21)]
    return float(np.abs(item.distance(way)).min())


def _potentials(
    world: World, rates: Rates, costs: Floats, ways: tuple[Floats, Floats], barrier: _Barrier, behind_m: float
) -> tuple[float, Floats, Floats] | None:
    """How much less than it is far walks may come, and potentials of walks to the goal and of those that cross.

    Args:
        world: Primitives and their network.
        rates: Per metre and radian.
        costs: Of edges, (E,).
        ways: Of edges, metres and radians.
        barrier: What is crossed.
        behind_m: How far it is to the goal at least from where it is crossed.
    """
    from choreograph.verbs.plan._compiled_network import potentials, run_outs

    network, (way, turn) = world.network, ways
    target, cells = network.target[network.edge], count_ways(way)
    source = np.repeat(np.arange(network.nodes), np.diff(network.first))
    crossing = barrier.crossing[network.edge]
    # A walk of feet ends where hips are in the goal: as much nearer as they are from the last foot.
    nearer = np.hypot(*network.hips[:, :2].T) if barrier.feet else np.zeros(network.nodes)
    most = float(nearer.max(initial=0.0))
    ends = np.zeros(network.nodes, bool)
    ends[network.target[world.terminal]] = True
    weights = [
        costs - metre * way - radian * turn for metre, radian in zip(rates.per_metre, rates.per_radian, strict=True)
    ]
    near = [
        potentials(network.first, target, weight, np.where(ends, -metre * nearer, np.inf), _ROUNDS)
        for metre, weight in zip(rates.per_metre, weights, strict=True)
    ]
    if not all(whole for _, whole in near):
        return None
    free = np.minimum(far_potentials(network, rates, costs, ways, np.array([value for value, _ in near])), 1e9)
    # What is left behind an edge that crosses: all of the way from there, but for what the edge itself comes.
    own = way if barrier.feet else edge_ways(network, world.table, ROUND)[0] + STRAIGHT_M
    left = np.clip(np.floor((behind_m - most - own) / WAY_M), 0, WAYS - 1).astype(np.int64)
    across = []
    for weight, value in zip(weights, free, strict=True):
        behind, then = np.where(crossing, value[target, left], np.inf), np.full(network.nodes, np.inf)
        np.minimum.at(then, source, weight + behind)
        after, whole = potentials(network.first, target, weight, then, _ROUNDS)
        if not whole:
            return None
        across.append(run_outs(network.first, target, weight, cells, behind, after, WAYS))
    return most, free, np.minimum(np.array(across), 1e9)


def _gap(world: World, item: Item, margin: float, grid: Floats) -> _Barrier | None:
    """The inner part of a gap, and the steps whose feet reach across it."""
    from choreograph.verbs.plan._compiled_network import parted

    depth = margin + FOOT_M - _distances(item, grid)
    deepest = float(depth.max()) - _THICK / 2 * float(grid[2])
    if deepest <= 0:
        return None
    network = world.network
    first, cloud, _, planted = mix_samples(network.primitives, world.table)
    feet = np.array([points.ankle(0), points.ball(0), points.ankle(1), points.ball(1)])
    crossing = parted(first, cloud[:, feet][..., [0, 2]].astype(float), planted, 2 * deepest)
    inner, none = depth >= deepest, np.zeros(network.nodes, bool)
    return _Barrier(True, inner, crossing, np.zeros((network.nodes, 2)), none, inner, 0.0)


def _bar(world: World, item: Item, grid: Floats) -> _Barrier | None:
    """A bar but for its ends, and the steps in which a head is below its height."""
    network = world.network
    first, cloud, _, _ = mix_samples(network.primitives, world.table)
    hips, head = cloud[:, points.HIPS], cloud[:, points.HEAD_TOP]
    below = item.low - float(world.body.radii[1])
    upright = head[:, 1] > below + 0.01
    if not upright.any():
        return None
    crossing = np.minimum.reduceat(np.where(upright, 1, 0), first[:-1]) == 0
    leans = float(np.hypot(*(head - hips)[upright][:, [0, 2]].T).max())
    a, b, c, d = np.array(item.outline)
    ends = np.array([(a + d) / 2, (b + c) / 2])
    length = float(np.hypot(*(ends[1] - ends[0])))
    if length <= 4 * leans + 0.2:
        return None
    along = (ends[1] - ends[0]) / length
    ends = np.array([ends[0] + 2 * leans * along, ends[1] - 2 * leans * along])
    line = Item("", tuple((float(x), float(z)) for x, z in (*ends, *ends[::-1])), 0.0)
    away = _distances(line, grid)
    thick = max(_THICK / 2 * float(grid[2]), 0.1)
    probe, height = _heads(network, world.table)
    # Ways are those of the hips; while the head is below it they are as far behind as any pose has them.
    reach = thick + _NEAR_M + float(np.hypot(*(head - hips)[:, [0, 2]].T).max())
    return _Barrier(False, away <= thick, crossing, probe, height <= below + 0.05, away <= thick + _NEAR_M, reach)


def _heads(network: Network, table: PrimitiveTable) -> tuple[Floats, Floats]:
    """Where heads are in nodes' frames, (N, 2), and how high, (N,)."""
    _, leaders = np.unique(network.target, return_index=True)
    some, last = network.primitives.take(leaders), table.sample_first[1:] - 1
    head = some.mix(table.samples[last, points.HEAD_TOP].astype(float))
    return hips_in(network.outcome[leaders], head[:, [0, 2]], np.zeros(len(head)))[:, :2], head[:, 1]


def _distances(item: Item, grid: Floats) -> Floats:
    """Of the cells' middles from an item's outline, below 0 inside, (X, Z), metres."""
    from choreograph.verbs.plan._compiled_field import distances

    counts = grid[3:].astype(int)
    return np.asarray(distances(make_shapes([item], np.zeros(1), 0.5), grid[:2], float(grid[2]), counts[0], counts[1]))
