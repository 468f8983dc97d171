"""A request's scene as arrays for the search and for the check of finished motion."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from choreograph.base.arrays import Floats, Floats32, Ints
from choreograph.base.errors import RequestError
from choreograph.verbs.plan.request import PlanRequest
from choreograph.verbs.plan.scene_elements import Bar, Goal

if TYPE_CHECKING:
    from choreograph.verbs.plan._compiled_scene import Shapes


TALL_M = 100.0
REACH_M = 1.3
"""How far from the hips any part of a body may be."""
FOOT_M = 0.03
"""How far ankle and ball keep from where they may not stand: about half a foot's width."""
_OPEN_M = 2.0
"""How far from things floor may be to count as open."""
_CELL_M = 0.5
_MOST_CELLS = 4_000_000


@dataclass(frozen=True)
class Item:
    """A thing of the scene, and where the request names it."""

    where: str
    corners: tuple[tuple[float, float], ...]
    radius: float
    low: float = 0.0
    high: float = TALL_M
    clearance: float = 0.0


def solids_of(request: PlanRequest) -> list[Item]:
    """Everything that no part of the body may touch."""
    found = [
        Item(f"obstacles[{n}]", s.corners, s.radius, 0.0, TALL_M if s.height is None else s.height, s.clearance)
        for n, s in enumerate(request.obstacles)
    ]
    found += [Item(f"step_over[{n}]", s.corners, s.radius, 0.0, s.height) for n, s in enumerate(request.step_over)]
    found += [Item(f"bars[{n}]", _outline(bar), 0.0, bar.height, TALL_M) for n, bar in enumerate(request.bars)]
    return found


def regions_of(request: PlanRequest) -> list[Item]:
    """Everything that no foot may stand on."""
    return [
        Item(f"{name}[{n}]", region.corners, region.radius)
        for name in ("gaps", "keep_off")
        for n, region in enumerate(getattr(request, name))
    ]


def stones_of(request: PlanRequest) -> list[Item]:
    """What a foot must step on, in order."""
    return [Item(f"stones[{n}]", region.corners, region.radius) for n, region in enumerate(request.stones)]


def _outline(bar: Bar) -> tuple[tuple[float, float], ...]:
    (ax, az), (bx, bz) = bar.ends
    size = math.dist(*bar.ends)
    ox, oz = (bz - az) / size * bar.thickness / 2, -(bx - ax) / size * bar.thickness / 2
    return ((ax + ox, az + oz), (bx + ox, bz + oz), (bx - ox, bz - oz), (ax - ox, az - oz))


def make_shapes(items: Sequence[Item], margins: Floats, reach: float) -> Shapes:
    """Items as arrays, with lists of what is near each cell of the floor.

    Args:
        items: In order.
        margins: Of each, metres.
        reach: How far from a place something may be that concerns it.
    """
    from choreograph.verbs.plan._compiled_scene import Shapes

    lengths = [len(item.corners) for item in items]
    first = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    corner = np.array([c for item in items for c in item.corners], float).reshape(-1, 2)
    radius = np.array([item.radius for item in items], float)
    low, high = (np.array([getattr(item, name) for item in items], float) for name in ("low", "high"))
    margin = np.asarray(margins, float) + [item.clearance for item in items]
    box = np.zeros((len(items), 4))
    for m in range(len(items)):
        own = corner[first[m] : first[m + 1]]
        box[m] = [*(own.min(axis=0) - radius[m]), *(own.max(axis=0) + radius[m])]
    grid, starts, near = _lists(box, margin, reach)
    return Shapes(first, corner, radius, low, high, margin, box, grid, starts, near)


def _lists(box: Floats, margin: Floats, reach: float) -> tuple[Floats, Ints, Ints]:
    if not len(box):
        return np.array([0.0, 0.0, 1.0, 0.0, 0.0]), np.zeros(1, np.int64), np.zeros(0, np.int64)
    wide = np.maximum(margin, 0.0) + reach
    low, high = box[:, :2] - wide[:, None], box[:, 2:] + wide[:, None]
    origin, span = low.min(axis=0), high.max(axis=0) - low.min(axis=0)
    cell = max(_CELL_M, math.sqrt(float(span.prod()) / _MOST_CELLS))
    counts = np.ceil(span / cell).astype(int) + 1
    rows, items = [], []
    first, last = ((edge - origin) // cell for edge in (low, high))
    for m in range(len(box)):
        x, z = (np.arange(int(first[m, k]), int(last[m, k]) + 1) for k in (0, 1))
        cells = (x[:, None] * counts[1] + z).ravel()
        rows.append(cells)
        items.append(np.full(len(cells), m))
    every, which = np.concatenate(rows), np.concatenate(items)
    order = np.argsort(every, kind="stable")
    starts = np.searchsorted(every[order], np.arange(counts.prod() + 1)).astype(np.int64)
    return np.array([*origin, cell, *counts], float), starts, which[order].astype(np.int64)


def open_floor(every: Sequence[Shapes]) -> tuple[Floats, Floats32, float]:
    """How far cells of the floor are from all shapes at least: grid, (cells,), and how far it is beyond the grid."""
    from choreograph.verbs.plan._compiled_field import clear_of

    boxes = np.concatenate([shapes.box for shapes in every])
    if not len(boxes):
        return np.array([0.0, 0.0, 1.0, 0.0, 0.0]), np.zeros(0, np.float32), 0.0
    low, high = boxes[:, :2].min(axis=0) - _OPEN_M - 0.5, boxes[:, 2:].max(axis=0) + _OPEN_M + 0.5
    cell = max(0.1, math.sqrt(float((high - low).prod()) / _MOST_CELLS))
    counts = np.ceil((high - low) / cell).astype(int)
    out = np.full(counts, _OPEN_M, np.float32)
    for shapes in every:
        clear_of(out, shapes, low, cell, _OPEN_M)
    return np.array([*low, cell, *counts], float), out.ravel(), _OPEN_M


def distance_grid(points: Floats, within: float) -> tuple[Floats, Floats32]:
    """A grid of distances from a line through points (N, 2), as far as matters: grid and (cells,), metres."""
    cell = max(0.05, within / 8)
    low, high = points.min(axis=0) - within - 2 * cell, points.max(axis=0) + within + 2 * cell
    counts = np.ceil((high - low) / cell).astype(int)
    if counts.prod() > _MOST_CELLS:
        cell *= math.sqrt(counts.prod() / _MOST_CELLS) * 1.01
        counts = np.ceil((high - low) / cell).astype(int)
    out = np.full(counts, np.float32(1e9))
    for a, b in pairwise(points):
        first = np.maximum(0, ((np.minimum(a, b) - within - 2 * cell - low) / cell).astype(int))
        last = np.minimum(counts, ((np.maximum(a, b) + within + 2 * cell - low) / cell).astype(int) + 1)
        x = low[0] + (np.arange(first[0], last[0]) + 0.5) * cell
        z = low[1] + (np.arange(first[1], last[1]) + 0.5) * cell
        along = b - a
        share = ((x[:, None] - a[0]) * along[0] + (z - a[1]) * along[1]) / max(float(along @ along), 1e-12)
        share = np.clip(share, 0, 1)
        away = np.hypot(x[:, None] - a[0] - share * along[0], z - a[1] - share * along[1])
        part = out[first[0] : last[0], first[1] : last[1]]
        np.minimum(part, away.astype(np.float32), out=part)
    return np.array([*low, cell, *counts], float), out.ravel()


def gates_of(request: PlanRequest) -> Floats:
    """Points and lines to pass, in order, as rows x, z, radius, 0, 0 or x, z, -1, x, z; a path's points behind them."""
    rows = []
    for gate in request.through:
        if gate.ends is None:
            rows.append((*gate.middle, gate.radius, 0.0, 0.0))
        else:
            rows.append((*gate.ends[0], -1.0, *gate.ends[1]))
    if request.path is not None:
        points = np.array(request.path.points)
        along = np.concatenate([[0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])
        stations = np.arange(1, max(1, min(40, round(along[-1] / 2.0)))) / max(1, min(40, round(along[-1] / 2.0)))
        at = np.stack([np.interp(stations * along[-1], along, points[:, k]) for k in (0, 1)], axis=1)
        rows += [(x, z, request.path.within, 0.0, 0.0) for x, z in at]
    return np.array(rows, float).reshape(-1, 5)


def check_scene(request: PlanRequest) -> None:
    """Raise a RequestError that says what contradicts itself."""
    goal = request.goal
    if goal is None:
        raise RequestError("goal is missing: say where the motion ends", where="goal")
    for item in solids_of(request):
        for name, place in (("start.position", request.start.position), ("goal.position", goal.position)):
            if item.low <= 0.5 and item.high > 0.8 and signed_gap(item, place) < 0 and not _escapes(item, goal, name):
                raise RequestError(
                    f"{name} is ({place[0]:g}, {place[1]:g}), which is inside {item.where}; move one of them",
                    where=name,
                )
        for n, region in enumerate(request.stones):
            if item.low <= 0 and signed_gap(item, region.middle) < 0:
                raise RequestError(
                    f"stones[{n}] is inside {item.where}, where nobody can stand; move one of them",
                    where=f"stones[{n}]",
                )
    for k, region in enumerate(request.keep_off):
        for n, stone in enumerate(request.stones):
            if signed_gap(Item("", region.corners, region.radius), stone.middle) < 0:
                raise RequestError(
                    f"stones[{n}] must be stepped on, but is inside keep_off[{k}]; move one of them, or make a gap of "
                    "the region, in which stones are",
                    where=f"stones[{n}]",
                )
    if request.path is not None:
        _check_near_path(request, goal)


def _escapes(item: Item, goal: Goal, name: str) -> bool:
    """Whether a goal's circle reaches out of what its middle is in."""
    return name == "goal.position" and -signed_gap(item, goal.position) < goal.radius


def _check_near_path(request: PlanRequest, goal: Goal) -> None:
    assert request.path is not None
    for name, place, room in (
        ("start.position", request.start.position, 0.0),
        ("goal.position", goal.position, goal.radius),
    ):
        away = min(_to_segment(place, a, b) for a, b in pairwise(request.path.points))
        if away > request.path.within + room:
            raise RequestError(
                f"{name} is {away:.2f} m from the path, but the path is to be kept within {request.path.within:g} m; "
                "move it, or give the path more room",
                where=name,
            )


def inner_radius(item: Item) -> float:
    """About the radius of the largest circle in a region, metres."""
    if len(item.corners) == 1:
        return float(item.radius)
    return float(min(np.ptp(np.array(item.corners), axis=0))) / 2


def signed_gap(item: Item, place: tuple[float, float]) -> float:
    """Distance of a place from an item's outline, metres; below 0 inside."""
    if len(item.corners) == 1:
        return math.dist(item.corners[0], place) - item.radius
    x, z = place
    away, inside = math.inf, False
    for a, b in zip((item.corners[-1], *item.corners), item.corners, strict=False):
        away = min(away, _to_segment(place, a, b))
        if (a[1] > z) != (b[1] > z) and x < (b[0] - a[0]) * (z - a[1]) / (b[1] - a[1]) + a[0]:
            inside = not inside
    return -away if inside else away


def _to_segment(place: tuple[float, float], a: Sequence[float], b: Sequence[float]) -> float:
    x, z, along_x, along_z = place[0] - a[0], place[1] - a[1], b[0] - a[0], b[1] - a[1]
    share = min(1.0, max(0.0, (x * along_x + z * along_z) / max(along_x * along_x + along_z * along_z, 1e-12)))
    return math.hypot(x - share * along_x, z - share * along_z)
