"""Constraints looked at again, on the finished motion: what easing and cleaning broke is said, and by how much."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.contract.problem import Problem, ProblemKind
from choreograph.motion.clip import Clip
from choreograph.verbs.plan import body as points
from choreograph.verbs.plan.body import Body
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
from choreograph.verbs.plan.request import PlanRequest
from choreograph.verbs.plan.scene import (
    REACH_M,
    gates_of,
    make_shapes,
    solids_of,
)
from choreograph.verbs.plan.scene_elements import Goal
from choreograph.verbs.plan.steps import Track, read_track


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


def check_motion(clip: Clip, request: PlanRequest, body: Body) -> Checked:
    """What a finished motion keeps to and what not."""
    track = read_track(clip.with_contacts(None), 0, body)
    prints = read_prints(track)
    shifts = find_shifts(track, prints, request)
    found = _solids(track, request, body, shifts)
    found += broken_regions(track, prints, request) + broken_stones(prints, request)
    hips = track.points[:, points.HIPS][:, [0, 2]]
    found += _gates(hips, request)
    found += _path(hips, request)
    # The last frame itself: the track may skip it.
    at = clip.global_positions()[-1, clip.skeleton.hips]
    goal_m, goal_rad, missed = _goal(at, float(clip.facing()[-1]), request.goal)
    clear = _clearance(track, request, body)
    return Checked((*found, *missed), clear, goal_m, goal_rad, tuple(prints), shifts)


def _clearance(track: Track, request: PlanRequest, body: Body) -> float:
    from choreograph.verbs.plan._compiled_scene import clearances

    items = solids_of(request)
    if not items:
        return math.inf
    near, _ = clearances(make_shapes(items, np.zeros(len(items)), REACH_M), track.points, body.capsules, body.radii)
    return float(near.min())


def _solids(track: Track, request: PlanRequest, body: Body, shifts: Floats) -> list[Broken]:
    """What the body touches; what keeps it clear of obstacles is added to shifts."""
    from choreograph.verbs.plan._compiled_scene import clearances

    items = solids_of(request)
    if not items:
        return []
    shapes = make_shapes(items, np.zeros(len(items)), REACH_M)
    near, frame = clearances(shapes, track.points, body.capsules, body.radii)
    found = []
    for m in np.flatnonzero(near < np.array([item.clearance for item in items])):
        item, at = items[m], track.points[frame[m], points.HIPS]
        by = item.clearance - float(near[m])
        said = f"the body comes {100 * by:.1f} cm too near to {item.where} at {frame[m] / track.fps:.1f} s"
        if item.where.startswith("bars"):
            top = float(track.points[frame[m], points.HEAD_TOP, 1])
            when = f"at {frame[m] / track.fps:.1f} s, with the head at {top:.2f} m"
            said = f"the body touches {item.where}, which is at {item.low:g} m, {when}"
        problem = Problem(
            ProblemKind.COLLISION, said, item.where, item.clearance, float(near[m]), unit="m", place=tuple(at.tolist())
        )
        found.append(Broken(item.where, by, problem))
        if item.where.startswith("obstacles"):
            push_away(shifts, item, frame[m] / track.fps, (float(at[0]), float(at[2])), by)
    return found


def _gates(hips: Floats, request: PlanRequest) -> list[Broken]:
    from choreograph.verbs.plan._compiled_steps import crosses

    found: list[Broken] = []
    at = 1
    for n, gate in enumerate(gates_of(request)[: len(request.through)]):
        while at < len(hips) and not crosses(*hips[at - 1], *hips[at], gate):
            at += 1
        if at >= len(hips):
            where, (x, z) = f"through[{n}]", request.through[n].middle
            by = float(np.hypot(hips[:, 0] - x, hips[:, 1] - z).min()) - request.through[n].reach
            said = f"{where} is not passed; the nearest comes within {max(by, 0.0):.2f} m of it"
            return [
                Broken(
                    where,
                    max(by, 0.01),
                    Problem(ProblemKind.WAYPOINT_MISSED, said, where, 0.0, by, unit="m", place=(x, 0.0, z)),
                )
            ]
    return found


def _path(hips: Floats, request: PlanRequest) -> list[Broken]:
    if request.path is None:
        return []
    line = np.array(request.path.points)
    worst, place = 0.0, hips[0]
    for at in hips[::3]:
        a, along = line[:-1], np.diff(line, axis=0)
        share = np.clip(((at - a) * along).sum(1) / np.maximum((along**2).sum(1), 1e-12), 0, 1)
        away = float(np.hypot(*(at - a - share[:, None] * along).T).min())
        if away > worst:
            worst, place = away, at
    by = worst - request.path.within
    if by <= TOUCH_M:
        return []
    said = f"the hips are {worst:.2f} m from the path at most, more than the {request.path.within:g} m asked for"
    place3 = (float(place[0]), 0.0, float(place[1]))
    return [
        Broken(
            "path",
            by,
            Problem(ProblemKind.PATH_MISSED, said, "path", request.path.within, worst, unit="m", place=place3),
        )
    ]


def _goal(at: Floats, facing: float, goal: Goal | None) -> tuple[float, float, list[Broken]]:
    assert goal is not None
    away, found = math.dist((at[0], at[2]), goal.position), []
    place = (float(at[0]), 0.0, float(at[2]))
    if away > goal.radius + TOUCH_M:
        said = f"the motion ends {away:.2f} m from the goal, more than the {goal.radius:g} m asked for"
        problem = Problem(ProblemKind.POSITION_MISSED, said, "goal.position", goal.radius, away, unit="m", place=place)
        found.append(Broken("goal.position", away - goal.radius, problem))
    turn = 0.0
    if goal.facing_deg is not None:
        turn = abs(math.remainder(facing - math.radians(goal.facing_deg), 2 * math.pi))
        if math.degrees(turn) > goal.tolerance_deg + 0.1:
            said = (
                f"the motion ends {math.degrees(turn):.0f}° from facing as asked, more than the "
                f"{goal.tolerance_deg:g}° allowed"
            )
            problem = Problem(
                ProblemKind.FACING_MISSED,
                said,
                "goal.facing_deg",
                goal.tolerance_deg,
                math.degrees(turn),
                unit="°",
                place=place,
            )
            found.append(Broken("goal.facing_deg", turn - math.radians(goal.tolerance_deg), problem))
    return away, turn, found
