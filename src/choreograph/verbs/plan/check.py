"""Requirements measured on the finished motion: what easing and cleaning broke, and by how much."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.contract.problem import Problem, ProblemKind, amount
from choreograph.motion import body_points as points
from choreograph.motion.body_points import PointBody
from choreograph.motion.clip import Clip
from choreograph.scene.measure import body_clearances
from choreograph.verbs.plan.footholds import (
    TOUCH_M,
    Broken,
    Print,
    broken_regions,
    broken_stones,
    find_shifts,
    push_away,
    read_prints,
)
from choreograph.verbs.plan.grids import line_distance
from choreograph.verbs.plan.request import End, PlanRequest
from choreograph.verbs.plan.steps import read_track


@dataclass(frozen=True, eq=False)
class Checked:
    """A finished motion against its request."""

    broken: tuple[Broken, ...]
    clearance_m: float
    """How near the body comes to anything; infinite where there is nothing."""
    goal_m: float
    """Distance of the hips from the goal's middle at the end."""
    goal_rad: float
    """How far they face away from what is asked; 0 where nothing is."""
    footprints: tuple[Print, ...]
    """Where feet stand."""
    shifts: Floats
    """When each of them does, seconds, and how far it would have to move to stand where it should, x, z, (n, 3)."""


def check_motion(clip: Clip, request: PlanRequest, body: PointBody) -> Checked:
    """What a finished motion keeps to and what not."""
    track = read_track(clip.with_contacts(None), 0, body)
    prints = read_prints(track)
    shifts = find_shifts(track, prints, request)
    near = body_clearances(request.scene.solids(), track.points, track.fps, body)
    missed = []
    for one in near:
        if one.by <= 0:
            continue
        pushed = one.item.where.startswith("scene.obstacles") and not one.item.bar
        missed.append(Broken(one.item.where, one.by, one.problem(), pushed))
        if pushed:
            push_away(shifts, one.item, one.at_s, (one.place[0], one.place[2]), one.by)
    missed += broken_regions(track, prints, request) + broken_stones(prints, request)
    hips = track.points[:, points.HIPS][:, [0, 2]]
    missed += _waypoints(hips, request) + _path(hips, track.fps, request)
    # The last frame itself: the track may skip it.
    at = clip.global_positions()[-1, clip.skeleton.hips]
    goal_m, goal_rad, ends = _end(at, float(clip.facing()[-1]), clip.seconds, request.end)
    clear = min((one.gap_m for one in near), default=math.inf)
    return Checked((*missed, *ends), clear, goal_m, goal_rad, tuple(prints), shifts)


def _waypoints(hips: Floats, request: PlanRequest) -> list[Broken]:
    from choreograph.verbs.plan._compiled_steps import crosses

    at = 1
    for one, gate in zip(request.waypoints, request.gates(), strict=False):
        while at < len(hips) and not crosses(*hips[at - 1], *hips[at], gate):
            at += 1
        if at >= len(hips):
            x, z = one.middle
            by = float(np.hypot(hips[:, 0] - x, hips[:, 1] - z).min()) - one.reach
            problem = Problem.of(
                ProblemKind.WAYPOINT_MISSED, one.where, asked=0.0, got=max(by, 0.0), unit="m", place=(x, 0.0, z),
                item=one.where,
            )  # fmt: skip
            return [Broken(one.where, max(by, 0.01), problem)]
    return []


def _path(hips: Floats, fps: float, request: PlanRequest) -> list[Broken]:
    if request.path is None:
        return []
    some, limit = hips[::3], request.path.tolerance_m
    away = line_distance(some, request.path.line)
    worst = int(away.argmax())
    by = float(away[worst]) - limit
    if by <= TOUCH_M:
        return []
    far, when = amount(float(away[worst]), "m"), 3 * worst / fps
    problem = Problem.of(
        ProblemKind.PATH_MISSED, "path", asked=limit, got=away[worst], tolerance=limit, unit="m", at_s=when,
        place=(float(some[worst, 0]), 0.0, float(some[worst, 1])), error=f"{far} at {amount(when, 's')}",
        limit=amount(limit, "m"),
    )  # fmt: skip
    return [Broken("path", by, problem)]


def _end(at: Floats, facing: float, seconds: float, end: End) -> tuple[float, float, list[Broken]]:
    away, missed = math.dist((at[0], at[2]), end.place), []
    where: dict[str, Any] = {
        "unit": "m",
        "at_s": seconds,
        "place": (float(at[0]), 0.0, float(at[2])),
        "what": "The torso",
    }
    if away > end.radius + TOUCH_M:
        place = f"{end.where}.place"
        problem = Problem.of(
            ProblemKind.POSITION_MISSED, place, asked=end.radius, got=away, tolerance=end.radius, **where
        )
        missed.append(Broken(place, away - end.radius, problem))
    turn = 0.0 if end.facing is None else abs(math.remainder(facing - end.facing, 2 * math.pi))
    off, allowed = math.degrees(turn), math.degrees(end.tolerance)
    if off > allowed + 0.1:
        place = f"{end.where}.facing_deg"
        problem = Problem.of(
            ProblemKind.FACING_MISSED,
            place,
            asked=allowed,
            got=off,
            tolerance=allowed,
            **{**where, "unit": "°"},
            off=off,
        )
        missed.append(Broken(place, turn - end.tolerance, problem))
    return away, turn, missed
