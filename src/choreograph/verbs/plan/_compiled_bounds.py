"""Lower bounds of the cost from a state to the goal, compiled; see `heuristic` and `tolls`."""

from __future__ import annotations

import math
from typing import NamedTuple

from choreograph.base.arrays import Flags, Floats, Floats32, Ints32
from choreograph.base.compiling import inlined
from choreograph.scene._compiled_scene import FAR, cell_of
from choreograph.verbs.plan.heuristic import WAY_M, WAYS

TAU = 2 * math.pi


class Tolls(NamedTuple):
    """What crossing a thing costs at least, B times; see `tolls`."""

    grid: Floats
    through: Floats32
    """Distance to the goal, (B, cells), metres,"""
    round: Floats32
    """and round the thing."""
    feet: Flags
    """Whether frames of feet cross it, (B,)."""
    probe: Floats
    """Else what crosses it, in each node's frame, (B, N, 2)."""
    neutral: Flags
    """Nodes that may be crossing it, (B, N), where they are"""
    near: Flags
    """near to it, (B, cells)."""
    per_metre: Floats
    """(B, K)."""
    per_radian: Floats
    nearer: Floats
    """How much less than the distance to the goal a walk may come, (B,), metres."""
    free: Floats
    """Potentials of walks to the goal, by how far it is, (B, N, WAYS, K),"""
    away: Ints32
    """How far a walk comes at least before it is across, (B, cells), in steps of `heuristic.WAY_M`,"""
    across: Floats
    """and potentials of walks that cross that far away, (B, N, WAYS, K)."""


class Heuristic(NamedTuple):
    """Lower bounds of the cost to the goal."""

    per_metre: Floats
    """(K,)."""
    per_radian: Floats
    """(K,)."""
    potential: Floats
    """By how far there is to go, (N, WAYS, K)."""
    hips: Floats
    """(N, 3): where a node's hips are and face in the event's frame."""
    stone_target: Floats
    """Discs to come near to, then the goal: x, z, radius, distance from there on, (T, 4)."""
    gate_target: Floats
    field_grid: Floats
    field: Floats32
    """Free distance to each gate target, (T, cells); empty where nothing is in the way."""
    facing_slack: float
    tolls: Tolls


@inlined
def _along(target: Floats, from_: int, x: float, z: float) -> float:
    """Least way from a place past the targets from one on, in order, to the last of them."""
    best = 0.0
    for n in range(from_, len(target)):
        away = math.hypot(x - target[n, 0], z - target[n, 1]) - target[n, 2]
        best = max(best, max(0.0, away) + target[n, 3])
    return best


@inlined
def _ways(metres: float) -> int:
    """A way as a place in tables of potentials."""
    return int(min(max(metres, 0.0) / WAY_M, WAYS - 1.0))


@inlined
def _toll(
    tolls: Tolls, b: int, node: int, yaw: float, x: float, z: float, hx: float, hz: float, turn: float
) -> tuple[float, float]:  # fmt: skip
    """Lower bounds of the cost to the goal, round one thing, or across it: the greatest, and one to be guided by."""
    px, pz, off = x, z, 0.0
    if not tolls.feet[b]:
        cos, sin = math.cos(yaw), math.sin(yaw)
        ox, oz = tolls.probe[b, node, 0], tolls.probe[b, node, 1]
        px, pz = x + ox * cos + oz * sin, z - ox * sin + oz * cos
        off = math.hypot(px - hx, pz - hz)
    cell = cell_of(tolls.grid, px, pz)
    if cell < 0 or (tolls.neutral[b, node] and tolls.near[b, cell]):
        return 0.0, 0.0
    through, around = tolls.through[b, cell] - off, tolls.round[b, cell] + off
    if not tolls.feet[b]:
        cell = cell_of(tolls.grid, hx, hz)
        if cell < 0:
            return 0.0, 0.0
        through, around = tolls.through[b, cell], min(around, tolls.round[b, cell])
    away, left = tolls.away[b, cell], _ways(around - tolls.nearer[b])
    best = guide = 0.0
    for k in range(tolls.per_metre.shape[1]):
        rate, turned = tolls.per_metre[b, k], tolls.per_radian[b, k] * turn
        across = rate * through + tolls.across[b, node, away, k]
        best = max(best, min(rate * around + tolls.free[b, node, left, k], across) + turned)
        guide = max(guide, min(rate * around + tolls.free[b, node, 0, k], across) + turned)
    return best, guide


@inlined
def estimate(
    heuristic: Heuristic, goal: Floats, node: int, yaw: float, x: float, z: float, stage: int
) -> tuple[float, float]:  # fmt: skip
    """Lower bounds of the cost from a state to the goal: the greatest, and one to be guided by.

    The first knows what getting up costs, the second forgets it: times a weight, who must duck on the way would
    otherwise be kept from it for long.
    """
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
                return FAR, FAR
            way = max(way, free + heuristic.gate_target[t, 3])
    turn = 0.0
    if goal[4] < math.pi:
        off = yaw + heuristic.hips[node, 2] - goal[3]
        off = abs(off - TAU * round(off / TAU))
        turn = max(0.0, off - goal[4] - heuristic.facing_slack)
    best, guide, left = 0.0, 0.0, _ways(way)
    for k in range(len(heuristic.per_metre)):
        least = heuristic.per_metre[k] * way + heuristic.per_radian[k] * turn
        best = max(best, least + heuristic.potential[node, left, k])
        guide = max(guide, least + heuristic.potential[node, 0, k])
    for b in range(len(heuristic.tolls.feet)):
        more, other = _toll(heuristic.tolls, b, node, yaw, x, z, hx, hz, turn)
        best, guide = max(best, more), max(guide, other)
    return best, guide
