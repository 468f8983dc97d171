"""Lower bounds of the cost to the goal, from what a metre and a turn cost at the least.

Let every edge cost at least `per_metre` times its way plus `per_radian` times its turn, but for differences of a
potential of its nodes. Then so does every walk, and way and turn to the goal bound what is left. The greatest rates for
which there is a potential are those at which the cheapest cycle costs nothing; they are found by bisection.

Who has some way to go cannot end at once: potentials are those of walks that come so far at least. One who crouches
a few metres from the goal gets up, or goes all of them crouched.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from choreograph.base.arrays import Flags, Floats, Floats32, Ints, seal
from choreograph.verbs.plan.network import Network
from choreograph.verbs.plan.primitives import OBJECTIVES, PrimitiveTable
from choreograph.verbs.plan.samples import mix_samples

if TYPE_CHECKING:
    from choreograph.scene._compiled_scene import Shapes
    from choreograph.verbs.plan._compiled_bounds import Heuristic, Tolls


STRAIGHT, ROUND, FEET = MEASURES = (0, 1, 2)
"""How ways are measured: of the hips as the crow flies; likewise, but along the curve where hips leave the straight way
by more than `STRAIGHT_M`, so that it holds round corners; from where a foot stands to where the next one does."""
STRAIGHT_M = 0.08  # see `MEASURES`
WAY_M, WAYS = 0.1, 60
"""Steps in which the way that is left is counted, and how many of them."""
_SHARES = (1.0, 0.85, 0.6, 0.0)
"""Shares of the greatest rate per metre that are tried; turns get what remains."""
_ROUNDS = 60  # of relaxation until potentials settle, at most
_BISECTIONS = 10  # in search of the greatest rate
_SHY = 0.995
"""Rates stay this much below the greatest, where potentials would need endless rounds."""
_CELL_M, _MOST_CELLS = 0.05, 400_000  # width of the grid's cells, at least, and how many they are, at most
_AROUND_M = 3.0
"""How far beyond the scene's things free ways are looked for."""


@dataclass(frozen=True, eq=False)
class Rates:
    """What metres and turns cost at least, K times, and the potentials that belong to it."""

    per_metre: Floats
    """(K,)."""
    per_radian: Floats
    """(K,)."""
    potential: Floats
    """(K, N), for walks that may end at any node."""


def edge_ways(network: Network, table: PrimitiveTable, measure: int) -> tuple[Floats, Floats]:
    """How far each edge comes, metres, and how much the hips turn, radians, (E,) each.

    Args:
        network: Nodes and edges.
        table: The steps.
        measure: One of `STRAIGHT`, `ROUND` and `FEET`.
    """
    edge, source = network.edge, np.repeat(np.arange(network.nodes), np.diff(network.first))
    outcome, after, before = network.outcome[edge], network.hips[network.target[edge]], network.hips[source]
    cos, sin = np.cos(outcome[:, 0]), np.sin(outcome[:, 0])
    x = outcome[:, 1] + after[:, 0] * cos + after[:, 1] * sin
    z = outcome[:, 2] - after[:, 0] * sin + after[:, 1] * cos
    turn = np.abs(np.angle(np.exp(1j * (outcome[:, 0] + after[:, 2] - before[:, 2]))))
    if measure == FEET:
        return np.hypot(outcome[:, 1], outcome[:, 2]), turn
    chord = np.hypot(x - before[:, 0], z - before[:, 1])
    if measure == STRAIGHT:
        return chord, turn
    from choreograph.verbs.plan._compiled_network import bends

    first, hips, _, _ = mix_samples(network.primitives, table)
    way, off = bends(first, hips[:, 0].astype(float)[:, [0, 2]], edge, before[:, :2], np.stack([x, z], axis=1))
    return np.where(off <= STRAIGHT_M, chord, np.maximum(chord, way)), turn


def find_rates(network: Network, costs: Floats, way: Floats, turn: Floats) -> Rates:
    """The greatest rates for which every walk's cost is bounded."""
    from choreograph.verbs.plan._compiled_network import potentials

    target, anywhere = network.target[network.edge], np.zeros(network.nodes)

    def fits(metre: float, radian: float) -> Floats | None:
        value, whole = potentials(network.first, target, costs - metre * way - radian * turn, anywhere, _ROUNDS)
        return value if whole else None

    def greatest(highest: float, trial: object) -> float:
        low, high = 0.0, highest
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            if trial(middle) is not None:  # type: ignore[operator]
                low = middle
            else:
                high = middle
        return low * _SHY

    if not len(costs):
        return Rates(np.zeros(1), np.zeros(1), np.zeros((1, network.nodes)))
    metre = greatest(float(np.median(costs / np.maximum(way, 1e-3)) * 2), lambda rate: fits(rate, 0.0))
    highest = float(np.median(costs / np.maximum(turn, 1e-2)) * 4)
    pairs = [(metre, 0.0)]
    for share in _SHARES[1:]:
        pairs.append((share * metre, greatest(highest, lambda rate, share=share: fits(share * metre, rate))))
    good = [(pair, value) for pair in pairs if (value := fits(*pair)) is not None] or [((0.0, 0.0), anywhere)]
    return Rates(
        np.array([pair[0] for pair, _ in good]), np.array([pair[1] for pair, _ in good]), np.array([v for _, v in good])
    )


def potentials_to(network: Network, rates: Rates, costs: Floats, way: Floats, turn: Floats, end: Floats) -> Floats:
    """Potentials for walks that end where `end`, (N,), is 0 and not infinite, (K, N)."""
    from choreograph.verbs.plan._compiled_network import potentials

    target = network.target[network.edge]
    rows: list[Floats] = []
    for metre, radian in zip(rates.per_metre, rates.per_radian, strict=True):
        value, whole = potentials(network.first, target, costs - metre * way - radian * turn, end, 4 * _ROUNDS)
        rows.append(value if whole else np.where(np.isfinite(value), np.minimum(rates.potential[len(rows)], 0), np.inf))
    return np.array(rows)


def count_ways(way: Floats) -> Ints:
    """How far edges come at most, in steps of `WAY_M`; one at least."""
    return np.maximum(1, np.ceil(way / WAY_M - 1e-9)).astype(np.int64)


def far_potentials(network: Network, rates: Rates, costs: Floats, ways: tuple[Floats, Floats], near: Floats) -> Floats:
    """Potentials of walks that come so far at least, (K, N, WAYS), from those of any walk, (K, N)."""
    from choreograph.verbs.plan._compiled_network import run_outs

    target, (way, turn) = network.target[network.edge], ways
    nowhere = np.full(len(target), np.inf)
    rows = [
        run_outs(network.first, target, costs - metre * way - radian * turn, count_ways(way), nowhere, value, WAYS)
        for metre, radian, value in zip(rates.per_metre, rates.per_radian, near, strict=True)
    ]
    return np.array(rows)


def rates_of(network: Network, table: PrimitiveTable, objective: int, measure: int) -> Rates:
    """Rates of one objective, by one way of measuring."""
    return find_rates(network, network.edge_costs(objective), *edge_ways(network, table, measure))


def all_rates(network: Network, table: PrimitiveTable) -> Mapping[tuple[int, int], Rates]:
    """Rates by objective and by how ways are measured."""
    out = {}
    for measure in MEASURES:
        way, turn = edge_ways(network, table, measure)
        for objective in range(len(OBJECTIVES)):
            out[objective, measure] = find_rates(network, network.edge_costs(objective), way, turn)
    return out


@dataclass(frozen=True, eq=False)
class HeuristicTargets:
    """Discs to come near to in order, the goal the last."""

    discs: Floats
    """x, z, radius, (T, 3)."""

    def with_rest(self) -> Floats:
        """The discs, each with the least way from it past those behind it to the last, (T, 4)."""
        rest = np.zeros(len(self.discs))
        for n in range(len(self.discs) - 2, -1, -1):
            away = (
                np.hypot(*(self.discs[n + 1 :, :2] - self.discs[n, :2]).T) - self.discs[n + 1 :, 2] - self.discs[n, 2]
            )
            rest[n] = float((np.maximum(0.0, away) + rest[n + 1 :]).max())
        return np.column_stack([self.discs, rest])


def find_fields(
    solids: Shapes, gates: Floats, start: tuple[float, float], hips: tuple[float, float], radius: float
) -> tuple[Floats, Floats32]:
    """Free distances to each gate target, (T, cells), metres, and their grid; empty where nothing is in the way.

    Args:
        solids: What is in the way, margins included.
        gates: Gate targets, x, z, radius and more, (T, 4).
        start: Where the hips begin.
        hips: Least and greatest height of hips.
        radius: How near hips may come to a solid, metres, less what the lattice does not know.
    """
    from choreograph.verbs.plan._compiled_field import LONGER, free_distance

    tall = (solids.low <= hips[0]) & (solids.high >= hips[1])
    if not tall.any():
        return np.array([0.0, 0.0, 1.0, 0.0, 0.0]), np.zeros((0, 0), np.float32)
    places = np.concatenate([gates[:, :2], [start], solids.box[tall][:, :2], solids.box[tall][:, 2:]])
    low, high = places.min(axis=0) - _AROUND_M, places.max(axis=0) + _AROUND_M
    cell = max(_CELL_M, math.sqrt(float((high - low).prod()) / _MOST_CELLS))
    counts = np.ceil((high - low) / cell).astype(int)
    blocked = _blocked(solids, tall, low, cell, counts, radius - cell * math.sqrt(0.5))
    fields = []
    for x, z, reach in gates[:, :3]:
        far = free_distance(blocked, cell, x - low[0], z - low[1], reach)
        fields.append(np.where(far < 1e8, np.maximum(0, far / LONGER - 2 * cell), np.float32(1e9)).ravel())
    return np.array([*low, cell, *counts], float), np.array(fields, np.float32)


def _blocked(solids: Shapes, tall: Flags, low: Floats, cell: float, counts: Ints, reach: float) -> Flags:
    """Cells in which hips cannot be: all of the cell is nearer to a solid than hips may come."""
    from choreograph.verbs.plan._compiled_field import mark

    out = np.zeros(counts, np.bool_)
    mark(out, solids, np.flatnonzero(tall), low, cell, reach)
    return out


def make_heuristic(
    network: Network,
    rates: Rates,
    potential: Floats,
    targets: tuple[Floats, Floats],
    fields: tuple[Floats, Floats32],
    slack: float,
    tolls: Tolls,
) -> Heuristic:
    """The heuristic as the search reads it.

    Args:
        network: Whose hips they are.
        rates: Per metre and radian.
        potential: By how far there is to go, (K, N, WAYS).
        targets: Of stones and of gates.
        fields: Their grid, and free distances.
        slack: How far from the lattice's facing that of a record may be, radians.
        tolls: What crossing things costs.
    """
    from choreograph.verbs.plan._compiled_bounds import Heuristic

    finite = np.ascontiguousarray(np.moveaxis(np.where(np.isfinite(potential), potential, 1e9), 0, -1))
    stones, gates = targets
    return Heuristic(
        seal(rates.per_metre), seal(rates.per_radian), finite, seal(network.hips), stones, gates, fields[0],
        np.ascontiguousarray(fields[1], np.float32), slack, tolls,
    )  # fmt: skip
