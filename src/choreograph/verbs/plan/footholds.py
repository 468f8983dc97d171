"""Where feet stand in a finished motion, what they break, and how far they would have to move to keep it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.contract.problem import Problem, ProblemKind
from choreograph.motion.contacts import runs
from choreograph.verbs.plan import body as points
from choreograph.verbs.plan.request import PlanRequest
from choreograph.verbs.plan.scene import Item, regions_of, signed_gap, stones_of
from choreograph.verbs.plan.steps import Track, foot_frame

TOUCH_M = 0.002
"""What is nearer than it may be by less is not told from rounding."""
_ROLL_M = 0.04
"""How far beside its stone the middle of a foot may be while it comes down and rolls off over its ball."""
_INSIDE_M, _INSIDE_SHARE = 0.01, 0.2
"""How far inside a stone feet are brought, and that as a share of its size at most."""
_FARTHEST_M = 0.08
"""What would have to move farther is left where it is."""
_AROUND_S = 1.2
"""How long before and after it comes too near to a thing a body is moved away from it."""


@dataclass(frozen=True)
class Broken:
    """A constraint that a finished motion breaks."""

    where: str
    """In the request."""
    by: float
    """How much, metres or radians."""
    problem: Problem


class Print(NamedTuple):
    """A foot that stands."""

    x: float
    z: float
    yaw: float
    side: int
    start: int
    """First frame of the track in which it does,"""
    stop: int
    """and the first in which it does not any more."""


def read_prints(track: Track) -> list[Print]:
    """Where feet stand, in order of time."""
    found = []
    for side in (0, 1):
        for start, stop in runs(track.planted[:, side]):
            yaw, x, z = foot_frame(track.points, track.velocity, track.facing, side, start, stop)
            found.append(Print(float(x), float(z), float(yaw), side, start, stop))
    return sorted(found, key=lambda one: (one.start, one.side))


def broken_regions(track: Track, prints: Sequence[Print], request: PlanRequest) -> list[Broken]:
    """Feet that stand where none may."""
    items, stones, found = regions_of(request), stones_of(request), []
    for one in prints if items else ():
        under = [stone for stone in stones if signed_gap(stone, (one.x, one.z)) <= TOUCH_M]
        for item in items:
            depth, where = 0.0, None
            for frame in range(one.start, one.stop, 2):
                feet = track.points[frame, [points.ankle(one.side), points.ball(one.side)]][:, [0, 2]]
                deepest = -min(signed_gap(item, (float(x), float(z))) for x, z in feet)
                middle = (float(feet[:, 0].mean()), float(feet[:, 1].mean()))
                if deepest > depth and not any(signed_gap(stone, middle) <= _ROLL_M for stone in under):
                    depth, where = deepest, (middle[0], 0.0, middle[1])
            if where is not None and depth > TOUCH_M:
                said = f"a foot stands {100 * depth:.1f} cm inside {item.where} at {one.start / track.fps:.1f} s"
                found.append(
                    Broken(
                        item.where,
                        depth,
                        Problem(ProblemKind.STEP_FORBIDDEN, said, item.where, 0.0, -depth, unit="m", place=where),
                    )
                )
    return found


def broken_stones(prints: Sequence[Print], request: PlanRequest) -> list[Broken]:
    """Stones that no foot steps on in their order."""
    found, at = [], 0
    for item in stones_of(request):
        gaps = [signed_gap(item, (one.x, one.z)) for one in prints[at:]]
        hit = next((n for n, away in enumerate(gaps) if away <= TOUCH_M), None)
        if hit is not None:
            at += hit + 1
            continue
        by = min(gaps, default=1.0)
        x, z = np.mean(item.corners, axis=0)
        said = f"no foot steps on {item.where}; the nearest comes within {100 * by:.1f} cm"
        found.append(
            Broken(
                item.where,
                by,
                Problem(ProblemKind.STONE_MISSED, said, item.where, 0.0, by, unit="m", place=(float(x), 0.0, float(z))),
            )
        )
    return found


def find_shifts(track: Track, prints: Sequence[Print], request: PlanRequest) -> Floats:
    """When each foot stands, seconds, and how far it would have to move to stand where it should, x, z, (n, 3)."""
    stones, regions = stones_of(request), regions_of(request)
    meant, after = {}, 0
    for stone in stones:
        away = [signed_gap(stone, (one.x, one.z)) for one in prints[after:]]
        if away:
            after += int(np.argmin(away)) + 1
            meant[after - 1] = stone
    rows = []
    for n, one in enumerate(prints):
        shift = np.zeros(2)
        if n in meant:
            shift = _onto(meant[n], one)
        elif not any(signed_gap(stone, (one.x, one.z)) <= 0 for stone in stones):
            shift = _out_of(regions, track, one)
        far = float(np.hypot(*shift)) > _FARTHEST_M
        rows.append([(one.start + one.stop - 1) / 2 / track.fps, *(np.zeros(2) if far else shift)])
    return np.array(rows).reshape(-1, 3)


def _onto(stone: Item, one: Print) -> Floats:
    """The way to a stone, on the line to its middle."""
    at, middle = np.array([one.x, one.z]), np.mean(stone.corners, axis=0)
    inside = min(_INSIDE_M, -_INSIDE_SHARE * signed_gap(stone, (float(middle[0]), float(middle[1]))))
    low, high = 0.0, 1.0
    for _ in range(12):
        share = (low + high) / 2
        place = at + share * (middle - at)
        if signed_gap(stone, (float(place[0]), float(place[1]))) <= -inside:
            high = share
        else:
            low = share
    return (middle - at) * high if signed_gap(stone, (one.x, one.z)) > -inside else np.zeros(2)


def push_away(shifts: Floats, item: Item, at_s: float, hips: tuple[float, float], by: float) -> None:
    """Add to shifts what keeps a body clear of a thing that it comes too near to at a time, and steps around that."""
    if by <= _FARTHEST_M and len(shifts):
        near = np.maximum(0.0, 1 - np.abs(shifts[:, 0] - at_s) / _AROUND_S)
        order = np.argsort(shifts[:, 0])
        there = float(np.interp(at_s, shifts[order, 0], near[order]))  # steps lie before and behind that time
        shifts[:, 1:] += (near / max(there, 0.5))[:, None] * _outwards(item, np.array(hips)) * (by + _INSIDE_M)


def _outwards(item: Item, at: Floats) -> Floats:
    """The direction in which one comes away from a thing soonest, (2,)."""
    slope = [
        signed_gap(item, (float(at[0] + x), float(at[1] + z))) - signed_gap(item, (float(at[0] - x), float(at[1] - z)))
        for x, z in ((0.005, 0.0), (0.0, 0.005))
    ]
    return np.array(slope) / max(math.hypot(*slope), 1e-9)


def _out_of(regions: Sequence[Item], track: Track, one: Print) -> Floats:
    """The shortest way out of regions where no foot may stand, ankle and ball together."""
    feet = track.points[one.start : one.stop, [points.ankle(one.side), points.ball(one.side)]][..., [0, 2]]
    shift = np.zeros(2)
    for item in regions:
        for at in np.median(feet, axis=0) + shift:
            gap = signed_gap(item, (float(at[0]), float(at[1])))
            if gap < _INSIDE_M / 2:
                shift = shift + _outwards(item, at) * (_INSIDE_M - gap)
    return shift
