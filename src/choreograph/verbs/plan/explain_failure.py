"""Why there is no way: which part of the scene blocks, and the nearest place that can be had."""

from __future__ import annotations

import numpy as np

from choreograph.base.errors import RequestError
from choreograph.scene.arrays import REACH_M, make_shapes
from choreograph.verbs.plan.counters import RECORDS
from choreograph.verbs.plan.grids import line_distance
from choreograph.verbs.plan.planner import Planner
from choreograph.verbs.plan.prepare import PlanGraph
from choreograph.verbs.plan.request import PlanRequest

_MOST_TRIED = 60
"""Solids that are taken away one by one to see whether that opens a way."""
_MOST_NAMED = 6  # things that a sentence lists


def check_scene(request: PlanRequest) -> None:
    """Raise a RequestError that says what contradicts itself."""
    scene, end = request.scene, request.end
    ends = [("start.place", request.start.place, 0.0), (f"{end.where}.place", end.place, end.radius)]
    middles = [stone.middle for stone in scene.stones]
    for item in scene.solids():
        gaps = item.distance([place for _, place, _ in ends] + middles)
        for (name, place, room), gap in zip(ends, gaps, strict=False):
            if item.low <= 0.5 and item.high > 0.8 and gap < 0 and -gap >= room:
                text = f"{name} is ({place[0]:g}, {place[1]:g}), which is inside {item.where}; move one of them"
                raise RequestError(text, where=name)
        for n in np.flatnonzero(gaps[2:] < 0) if item.low <= 0 else ():
            text = f"scene.stones[{n}] is inside {item.where}, where no foot can stand; move one of them"
            raise RequestError(text, where=f"scene.stones[{n}]")
    for k, region in enumerate(scene.keep_off if middles else ()):
        for n in np.flatnonzero(region.distance(middles) < 0):
            raise RequestError(
                f"scene.stones[{n}] must be stepped on, but is inside scene.keep_off[{k}]; move one of them, or make a "
                "gap of the region, in which stones are",
                where=f"scene.stones[{n}]",
            )
    if request.path is not None:
        away = line_distance(np.array([place for _, place, _ in ends]), request.path.line)
        for (name, _, room), gap in zip(ends, away, strict=True):
            if gap > request.path.tolerance_m + room:
                raise RequestError(
                    f"{name} is {gap:.2f} m from the path, but the path is to be kept within "
                    f"{request.path.tolerance_m:g} m; move it, or give the path more room",
                    where=name,
                )


def longest_step_m(plans: PlanGraph) -> float:
    """The longest recorded step, from where one foot stands to where the next lands."""
    landings = plans.table.kinds[:, 1] < 2
    lengths = np.hypot(plans.table.outcome[:, 1], plans.table.outcome[:, 2])[landings]
    return float(lengths.max(initial=0.0))


def why_none(planner: Planner | None, request: PlanRequest, plans: PlanGraph, *, mirrored: bool = True) -> RequestError:
    """What to say where a search found nothing; `mirrored` says whether the graph has mirror images already."""
    assert planner is not None
    x, z, away = planner.nearest()
    nearest = f"the nearest place that was come to is ({x:.2f}, {z:.2f}), {away:.2f} m from the goal"
    blocks = _closed_off(planner, request)
    if blocks is not None:
        text = f"{_listed(blocks)} close the goal off" if blocks else "the obstacles together close the goal off"
        where = blocks[0] if len(blocks) == 1 else f"{request.end.where}.place"
        tried = f"; {nearest}" if int(planner.store.counters[RECORDS]) else ""
        return RequestError(f"there is no way to the goal: {text}{tried}. Move one of them", where=where)
    turned = planner.rejections()
    kernel = planner._kernel
    ended = planner.status in (kernel.EMPTY,)
    begin = "there is no way to the goal" if ended else "no way to the goal was found in time"
    if not int(planner.store.counters[RECORDS]):
        return _no_first_step(begin, planner, request, turned)
    reason = f"; most steps are turned away by {turned[0][0]}" if turned else ""
    where = turned[0][0] if turned else f"{request.end.where}.place"
    stage = int(planner.store.stage[: int(planner.store.counters[RECORDS])].max(initial=0))
    stones = len(request.scene.stones) + 1
    reached = stage % stones
    if request.scene.stones and reached < len(request.scene.stones):
        where = f"scene.stones[{reached}]"
        reason = f"; no step was found onto {where}"
    if request.scene.stones or request.scene.gaps:
        reason += f". The longest recorded step is {longest_step_m(plans):.2f} m"
    first = f"move {where} or make it smaller, " if turned and where == turned[0][0] else ""
    more = "" if mirrored else ", or build the graph with mirrored copies (mirror)"
    advice = f"All that its steps can do was tried: {first}{_other_clips(request)}{more}"
    return RequestError(f"{begin}{reason}; {nearest}. {advice if ended else 'Search longer'}", where=where)


def _no_first_step(begin: str, planner: Planner, request: PlanRequest, turned: list[tuple[str, int]]) -> RequestError:
    """What to say where not even a first step can be made: in the way is something, or there are too few steps."""
    if turned:
        return RequestError(
            f"{begin}: {turned[0][0]} is in the way of every first step; move the start", where="start.place"
        )
    if not len(planner.roots):
        text = "no recorded step begins with both feet at rest"
        return RequestError(f"{begin}: {text}; {_other_clips(request)}", where="start.standing")
    count = len(planner.roots)
    steps = f"the {count} steps that there are do" if count > 1 else "the only step that there is does"
    where = "only" if request.only is not None else f"{request.end.where}.place"
    return RequestError(f"{begin}: {steps} not lead so far; {_other_clips(request)}", where=where)


def _other_clips(request: PlanRequest) -> str:
    """What to do where the steps of the clips are too few."""
    return "add clips that step or turn otherwise" if request.only is None else "choose more clips (only)"


def _closed_off(planner: Planner, request: PlanRequest) -> list[str] | None:
    """Solids without any one of which there would be a way; none where it takes more than one; None if there is one."""
    heuristic = planner.heuristic
    if not len(heuristic.field):
        return None
    from choreograph.scene._compiled_scene import cell_of

    stage = 0
    cell = cell_of(heuristic.field_grid, *request.start.place)
    if cell < 0 or heuristic.field[stage, cell] < 1e8:
        return None
    items, names = request.scene.solids(), []
    from choreograph.verbs.plan.heuristic import find_fields

    for n in range(min(len(items), _MOST_TRIED)):
        rest = [item for k, item in enumerate(items) if k != n]
        shapes = make_shapes(rest, np.array([planner.task.margins.of(item.where) for item in rest]), REACH_M)
        radius = float(planner.world.body.radii[0])
        grid, field = find_fields(shapes, heuristic.gate_target[:1], request.start.place, (0.5, 1.2), radius - 0.06)
        if not len(field):
            names.append(items[n].where)
            continue
        cell = cell_of(grid, *request.start.place)
        if cell < 0 or field[0, cell] < 1e8:
            names.append(items[n].where)
    return names


def _listed(places: list[str]) -> str:
    """Places in a sentence, the first few by name."""
    few, more = places[:_MOST_NAMED], len(places) - _MOST_NAMED
    return ", ".join(few) + f" and {more} more" if more > 0 else " and ".join(few)
