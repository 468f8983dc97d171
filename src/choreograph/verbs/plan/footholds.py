"""Where feet stand in a finished motion, what they break, and how far they would have to move to keep it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.contract.problem import Problem, ProblemKind
from choreograph.motion import body_points as points
from choreograph.motion.contacts import runs
from choreograph.scene.model import Item
from choreograph.verbs.plan.request import PlanRequest
from choreograph.verbs.plan.steps import StepTrack, foot_frame

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
    shiftable: bool = False
    """Whether shifting the motion along the floor may mend it."""


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


def read_prints(track: StepTrack) -> list[Print]:
    """Where feet stand, in order of time."""
    prints = []
    for side in (0, 1):
        for start, stop in runs(track.planted[:, side]):
            yaw, x, z = foot_frame(track.points, track.velocity, track.facing, side, start, stop)
            prints.append(Print(float(x), float(z), float(yaw), side, start, stop))
    return sorted(prints, key=lambda one: (one.start, one.side))


def broken_regions(track: StepTrack, prints: Sequence[Print], request: PlanRequest) -> list[Broken]:
    """Feet that stand where none may."""
    items, stones, missed = request.scene.forbidden(), request.scene.footholds(), []
    for one in prints if items else ():
        under = [stone for stone in stones if stone.distance((one.x, one.z)) <= TOUCH_M]
        feet = track.points[one.start : one.stop : 2, [points.ankle(one.side), points.ball(one.side)]][..., [0, 2]]
        middles = feet.mean(axis=1)
        bare = np.all([stone.distance(middles) > _ROLL_M for stone in under], axis=0)
        for item in items:
            depths = np.where(bare, -item.distance(feet).min(axis=1), 0.0)
            deepest = int(depths.argmax())
            depth, (x, z) = float(depths[deepest]), middles[deepest].tolist()
            if depth > TOUCH_M:
                problem = Problem.of(
                    ProblemKind.STEP_FORBIDDEN, item.where, asked=0.0, got=-depth, unit="m", place=(x, 0.0, z),
                    at_s=one.start / track.fps, depth=depth, item=item.where,
                )  # fmt: skip
                missed.append(Broken(item.where, depth, problem, True))
    return missed


def broken_stones(prints: Sequence[Print], request: PlanRequest) -> list[Broken]:
    """Stones that no foot steps on in their order."""
    missed, at = [], 0
    for item in request.scene.footholds():
        gaps = item.distance([(one.x, one.z) for one in prints[at:]]) if prints[at:] else np.ones(1)
        hit = np.flatnonzero(gaps <= TOUCH_M)
        if len(hit):
            at += int(hit[0]) + 1
            continue
        by = float(gaps.min())
        x, z = np.mean(item.outline, axis=0).tolist()
        problem = Problem.of(
            ProblemKind.STONE_MISSED, item.where, asked=0.0, got=by, unit="m", place=(x, 0.0, z), item=item.where
        )
        missed.append(Broken(item.where, by, problem, True))
    return missed


def find_shifts(track: StepTrack, prints: Sequence[Print], request: PlanRequest) -> Floats:
    """When each foot stands, seconds, and how far it would have to move to stand where it should, x, z, (n, 3)."""
    stones, regions = request.scene.footholds(), request.scene.forbidden()
    feet, meant, after = np.array([(one.x, one.z) for one in prints]).reshape(-1, 2), {}, 0
    for stone in stones:
        if after < len(prints):
            after += int(np.argmin(stone.distance(feet[after:]))) + 1
            meant[after - 1] = stone
    rows = []
    for n, one in enumerate(prints):
        shift = np.zeros(2)
        if n in meant:
            shift = _onto(meant[n], one)
        elif not any(stone.distance(feet[n]) <= 0 for stone in stones):
            shift = _out_of(regions, track, one)
        far = float(np.hypot(*shift)) > _FARTHEST_M
        rows.append([(one.start + one.stop - 1) / 2 / track.fps, *(np.zeros(2) if far else shift)])
    return np.array(rows).reshape(-1, 3)


def _onto(stone: Item, one: Print) -> Floats:
    """The way to a stone, on the line to its middle."""
    at, middle = np.array([one.x, one.z]), np.mean(stone.outline, axis=0)
    inside = min(_INSIDE_M, -_INSIDE_SHARE * float(stone.distance(middle)))
    if stone.distance(at) <= -inside:
        return np.zeros(2)
    low, high = 0.0, 1.0
    for _ in range(12):
        share = (low + high) / 2
        if stone.distance(at + share * (middle - at)) <= -inside:
            high = share
        else:
            low = share
    return (middle - at) * high


def push_away(shifts: Floats, item: Item, at_s: float, hips: tuple[float, float], by: float) -> None:
    """Add to shifts what keeps a body clear of a thing that it comes too near to at a time, and steps around that."""
    if by <= _FARTHEST_M and len(shifts):
        near = np.maximum(0.0, 1 - np.abs(shifts[:, 0] - at_s) / _AROUND_S)
        order = np.argsort(shifts[:, 0])
        there = float(np.interp(at_s, shifts[order, 0], near[order]))  # steps lie before and behind that time
        shifts[:, 1:] += (near / max(there, 0.5))[:, None] * _outwards(item, np.array(hips)) * (by + _INSIDE_M)


def _outwards(item: Item, at: Floats) -> Floats:
    """The direction in which one comes away from a thing soonest, (2,)."""
    step = 0.005 * np.eye(2)
    slope = item.distance(at + step) - item.distance(at - step)
    return slope / max(float(np.hypot(*slope)), 1e-9)


def _out_of(regions: Sequence[Item], track: StepTrack, one: Print) -> Floats:
    """The shortest way out of regions where no foot may stand, ankle and ball together."""
    feet = track.points[one.start : one.stop, [points.ankle(one.side), points.ball(one.side)]][..., [0, 2]]
    shift = np.zeros(2)
    for item in regions:
        for at in np.median(feet, axis=0) + shift:
            gap = float(item.distance(at))
            if gap < _INSIDE_M / 2:
                shift = shift + _outwards(item, at) * (_INSIDE_M - gap)
    return shift
