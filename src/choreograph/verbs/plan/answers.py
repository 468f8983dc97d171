"""Answers of a plan: chains of steps as finished motion, checked and measured."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.base.floor import FloorTransform
from choreograph.contract.result import Answer, Metric, Motion, source_runs
from choreograph.finishing.body import RootTarget
from choreograph.finishing.foot_contacts import plant_speed
from choreograph.graph.model import MotionGraph
from choreograph.verbs.plan.check import Checked, check_motion
from choreograph.verbs.plan.network import ALIKE_M
from choreograph.verbs.plan.planner import Chain
from choreograph.verbs.plan.request import PlanRequest
from choreograph.verbs.plan.samples import mix_samples
from choreograph.verbs.plan.task import BENT_M, World
from choreograph.verbs.plan.to_montage import Plan

_PULL_M, _PULL_RAD = 0.05, math.radians(6)
"""How far the end is brought nearer to the goal's middle in finishing."""
_PULL_M_S = 0.02
"""And how fast; twice as fast where it is outside the goal's circle,"""
_INSIDE = 0.6
"""until it is within so much of it."""
_SHIFTED = 3
"""How often a motion is shifted, step by step, so that its feet stand where they should and it is clear of things."""
_HOLD_M_S = 0.5
"""Feet on the floor are held below this speed unless the request says otherwise: plans are bent to their goals."""


@dataclass(frozen=True, eq=False)
class FinishedPlan:
    """A chain as finished motion."""

    chain: Chain
    motion: Motion
    checked: Checked
    way: Floats
    """Of the hips, (F, 2), metres."""
    blended: float
    """Share of the steps that are blends."""
    bound: float = 0.0
    lattice: tuple[float, float] = (0.2, 15.0)
    """Cells within which the bound holds, metres and degrees."""
    whole: bool = False
    """Whether the chain's primitives are counted among all, not those that compression leaves."""
    evaluations: int = 0
    repaired: int = 0
    cloud: tuple[tuple[float, float], ...] = ()


def show_chain(graph: MotionGraph, world: World, chain: Chain, request: PlanRequest) -> FinishedPlan:
    """A chain finished and checked."""
    from choreograph.finishing.finish import finish

    plan = Plan(graph, world, chain)
    settings = request.finish
    if settings.foot_hold_m_s is None:
        settings = settings.with_(foot_hold_m_s=_HOLD_M_S)
    for again in range(_SHIFTED + 1):
        draft = finish(plan, settings, name="plan", body=_targets(plan, request))
        checked = check_motion(draft.clip, request, world.body)
        if not any(broken.shiftable for broken in checked.broken) or again == _SHIFTED:
            break
        plan = replace(plan, shift=plan.shift.more(checked.shifts, plan.seconds))
    motion = Motion(draft.clip, source_runs(draft.origins, draft.origins.names), draft.raw)
    way = draft.clip.global_positions()[:, draft.clip.skeleton.hips][:, [0, 2]]
    blended = float((~world.network.primitives.raw[chain.primitives]).mean())
    return FinishedPlan(chain, motion, checked, way, blended)


def _targets(plan: Plan, request: PlanRequest) -> list[RootTarget]:
    """Where the hips are at the start, and at the end: where the plan has them, nearer to the goal's middle.

    Behind the last stone they are where the plan has them, too: what leads to the goal must not move feet off stones.
    """
    end, chain = request.end, plan.chain
    targets = [RootTarget(0.0, request.start.place, math.radians(request.start.facing_deg))]
    times, last = np.cumsum(plan.world.network.seconds[chain.primitives]), len(chain.primitives) - 1
    stones, steps = request.scene.footholds(), [*chain.places[1:, 1:], chain.end[1:]]
    stepped = [n for n, (x, z) in enumerate(steps) if any(s.distance((x, z)) <= BENT_M for s in stones)]
    if stepped and stepped[-1] + 1 < last:
        at, facing = _hips_after(plan, stepped[-1] + 1)
        when = times[stepped[-1] + 1 : stepped[-1] + 2]
        x, z = at + plan.shift.at(when)[0]
        targets.append(RootTarget(float(when[0]), (float(x), float(z)), facing))
    at, facing = _hips_after(plan, last)
    seconds, gap = plan.seconds - targets[-1].at_s, np.array(end.place) - at
    away = float(np.hypot(*gap))
    pull = max(min(_PULL_M, _PULL_M_S * seconds), min(away - _INSIDE * end.radius, 2 * _PULL_M_S * seconds))
    at = at + gap * min(1.0, pull / max(away, 1e-9))
    if end.facing is not None:
        turn = math.remainder(end.facing - facing, 2 * math.pi)
        facing += max(-_PULL_RAD, min(_PULL_RAD, turn))
    return [*targets, RootTarget(plan.seconds, (float(at[0]), float(at[1])), facing)]


def _hips_after(plan: Plan, number: int) -> tuple[Floats, float]:
    """Where the hips are, x and z, and face when one of a chain's primitives ends."""
    world, primitive = plan.world, int(plan.chain.primitives[number])
    _, cloud, facings, _ = mix_samples(world.network.primitives.take(np.array([primitive])), world.table)
    place = FloorTransform(*plan.chain.places[number])
    return place.apply(cloud[-1, 0].astype(float))[[0, 2]], float(facings[-1]) + place.yaw


def ways_apart(one: FinishedPlan, other: FinishedPlan) -> float:
    """How far from each other two ways are where they are farthest apart, metres."""
    a, b = one.way[::10], other.way[::10]
    away = np.hypot(a[:, None, 0] - b[None, :, 0], a[:, None, 1] - b[None, :, 1])
    return float(max(away.min(axis=1).max(), away.min(axis=0).max()))


_UNITS = {"effort": "m²/s³", "time": "s", "length": "m", "torque": "N²m²s"}


def make_answer(walk: FinishedPlan, request: PlanRequest, number: int, status: str) -> Answer:
    """A finished chain as an answer."""
    clip, checked, chain = walk.motion.clip, walk.checked, walk.chain
    lattice = (
        f"within the lattice of {100 * walk.lattice[0]:g} cm, {walk.lattice[1]:g}° and poses {100 * ALIKE_M:g} cm alike"
    )
    metrics = {
        "seconds": Metric(clip.seconds, "s", "lasts"),
        "cost": Metric(chain.cost, _UNITS[request.objective], f"costs ({request.objective})"),
    }
    if walk.bound > 0:
        metrics["bound"] = Metric(chain.cost / walk.bound, "×", f"at most as dear as the best {lattice}")
    metrics |= {
        "steps": Metric(len(chain.primitives), "", "steps"),
        "blended": Metric(walk.blended, "", "of them blends"),
        "goal": Metric(checked.goal_m, "m", "from the goal"),
    }
    if request.end.facing is not None:
        metrics["goal_facing"] = Metric(math.degrees(checked.goal_rad), "°", "off its facing")
    if math.isfinite(checked.clearance_m) and checked.clearance_m < 100:
        metrics["clearance"] = Metric(checked.clearance_m, "m", "clear of things")
    if clip.skeleton.feet:
        metrics["foot_slide"] = Metric(plant_speed(clip), "m/s", "standing feet slide at")
    details: dict[str, Any] = {
        "evaluations": walk.evaluations,
        "repairs": walk.repaired,
        "proved": f"at most {chain.cost / walk.bound:.3f} times the best {lattice}" if walk.bound > 0 else "",
        "footprints": [[round(x, 3), round(z, 3), round(yaw, 3), side] for x, z, yaw, side, *_ in checked.footprints],
        "expanded": [list(place) for place in walk.cloud],
    }
    way = walk.way[:: max(1, round(clip.fps / 10))]
    return Answer(
        (walk.motion,),
        f"{float(np.hypot(*np.diff(walk.way[::6], axis=0).T).sum()):.1f} m"
        + (f", {number + 1}" if request.count > 1 else ""),
        metrics,
        tuple(broken.problem for broken in checked.broken),
        status,
        chain.cost,
        walk.bound if walk.bound > 0 else None,
        path=[(round(float(x), 3), round(float(z), 3)) for x, z in way],
        details=details,
    )
