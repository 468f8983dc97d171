"""Feet and bodies brought by centimetres to where they should be, and answers that are not lost on the way."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from tests.unit.verbs.plan.requests import request_of

from choreograph.contract.problem import Problem, ProblemKind
from choreograph.goals.model import PlaceGoal
from choreograph.scene.model import Obstacle, Scene, Shape
from choreograph.verbs.plan import attempt
from choreograph.verbs.plan.footholds import Broken, Print, find_shifts, push_away
from choreograph.verbs.plan.plot import blocks, outlines
from choreograph.verbs.plan.search import PlanSearch
from choreograph.verbs.plan.steps import read_track
from choreograph.verbs.plan.to_montage import Shift

AHEAD = PlaceGoal(place=(0.0, 3.0), tolerance_m=0.25)


def test_a_shift_is_what_it_was_made_of_at_its_times_and_none_at_both_ends():
    shift = Shift().more(np.array([(1.0, 0.03, 0.0), (2.0, 0.0, -0.02)]), 3.0)
    np.testing.assert_allclose(shift.at(np.array([0.0, 1.0, 2.0, 3.0])), [(0, 0), (0.03, 0), (0, -0.02), (0, 0)])
    again = shift.more(np.array([(1.0, 0.01, 0.0)]), 3.0)
    np.testing.assert_allclose(again.at(np.array([1.0])), [(0.04, 0.0)])
    assert np.abs(np.diff(shift.at(np.linspace(0, 3, 301)), axis=0)).max() < 0.001


@pytest.mark.parametrize("stone", [Shape(centre=(0.0, 1.0), radius_m=0.08), Shape(low=(-0.1, 0.95), high=(0.06, 1.1))])
def test_feet_are_brought_onto_the_stones_that_are_meant_and_no_farther(graph, plans, stone):
    request = request_of(goal=AHEAD, stones=(stone,), gaps=(Shape(low=(-1.0, 0.8), high=(1.0, 2.0)),))
    track = read_track(graph.clips[0], 0, plans.body)
    beside, near, on = (Print(x, z, 0.0, 0, 0, 9) for x, z in ((0.9, -3.0), (0.11, 1.02), (0.0, 1.0)))
    ((_, *none), (_, *moved)) = find_shifts(track, [beside, near], request)
    (item,) = request.scene.footholds()
    there = item.distance((near.x + moved[0], near.z + moved[1]))
    assert none == [0, 0] and -0.0105 <= there <= -0.0095
    assert find_shifts(track, [on], request)[0, 1:].tolist() == [0, 0]
    away = Print(0.3, 1.0, 0.0, 0, 0, 9)
    assert find_shifts(track, [away], request)[0, 1:].tolist() == [0, 0], "too far to be bent there"


def test_bodies_are_pushed_off_things_and_steps_long_before_are_not():
    (item,) = Scene(obstacles=[Obstacle(centre=(1.0, 1.0), radius_m=0.3)]).solids()
    shifts = np.array([(0.0, 0.0, 0.0), (2.0, 0.0, 0.0), (2.6, 0.0, 0.0)])
    push_away(shifts, item, 2.0, (0.5, 1.0), 0.02)
    np.testing.assert_allclose(shifts[:, 1:], [(0, 0), (-0.03, 0), (-0.015, 0)], atol=1e-9)


def test_stones_between_recorded_steps_are_stepped_on(graph, plans):
    """A landing four centimetres beside a stone of three is bent onto it."""
    first = PlanSearch(graph, request_of(goal=AHEAD, work_limit=3000), plans=plans).run()
    x, z, *_ = first.best.details["footprints"][2]
    stone = Shape(centre=(x + 0.04, z), radius_m=0.03)
    result = PlanSearch(graph, request_of(goal=AHEAD, stones=(stone,), work_limit=6000), plans=plans).run()
    (item,) = result.request.scene.footholds()
    prints = result.best.details["footprints"]
    assert result.problems == () and min(item.distance((x, z)) for x, z, *_ in prints) <= 0.002


def test_an_answer_that_keeps_all_is_not_lost_where_cheaper_ones_break_things(graph, plans, monkeypatch):
    seen, make = [], attempt.show_chain

    def only_the_first_keeps(*args):
        shown = make(*args)
        seen.append(shown.chain.cost)
        problem = Problem(ProblemKind.COLLISION, "touched", "scene.obstacles[0]", 0.0, -0.01)
        broken = () if len(seen) == 1 else (Broken("scene.obstacles[0]", 0.01, problem),)
        return dataclasses.replace(shown, checked=dataclasses.replace(shown.checked, broken=broken))

    monkeypatch.setattr(attempt, "show_chain", only_the_first_keeps)
    request = request_of(
        goal=PlaceGoal(place=(0.4, 4.0)), obstacles=(Obstacle(centre=(0.2, 2.0), radius_m=0.2),), work_limit=4000
    )
    result = PlanSearch(graph, request, plans=plans).run()
    assert result.problems == () and result.best.cost == seen[0] and min(seen) < seen[0]


def test_recorded_steps_alone_are_the_answer_where_blends_break_things(graph, plans, monkeypatch):
    make = attempt.show_chain

    def blends_break(*args):
        shown = make(*args)
        problem = Problem(ProblemKind.COLLISION, "touched", "scene.obstacles[0]", 0.0, -0.01)
        broken = (Broken("scene.obstacles[0]", 0.01, problem),) if shown.blended else ()
        return dataclasses.replace(shown, checked=dataclasses.replace(shown.checked, broken=broken))

    monkeypatch.setattr(attempt, "show_chain", blends_break)
    request = request_of(goal=PlaceGoal(place=(0.4, 4.0)), obstacles=(Obstacle(centre=(0.2, 2.0), radius_m=0.2),))
    plain = PlanSearch(graph, request.with_(interpolation=False, work_limit=2000), plans=plans).run()
    result = PlanSearch(graph, request.with_(work_limit=4000), plans=plans).run()
    assert result.problems == () and result.best.metrics["blended"].value == 0
    assert result.best.cost <= plain.best.cost


def test_it_ends_in_time_where_nothing_is_found(graph, plans, monkeypatch):
    ticks = iter(range(10**9))
    monkeypatch.setattr(attempt, "clock", lambda: 0.5 * next(ticks))
    gap = Shape(low=(-60.0, 1.5), high=(60.0, 6.5))
    search = PlanSearch(graph, request_of(goal=PlaceGoal(place=(0.0, 8.0)), gaps=(gap,), time_limit_s=8.0), plans=plans)
    while search.step():
        pass
    assert search._try is not None and search._try.whole and search._try.seconds <= 10.0


def test_what_stands_in_a_scene_is_a_block_and_what_lies_there_a_line():
    request = request_of(
        goal=AHEAD, bars=({"ends": ((-1, 2), (1, 2)), "base_m": 1.3},), gaps=(Shape(low=(-1, 1), high=(1, 1.5)),),
        obstacles=(Obstacle(centre=(2.0, 1.0), radius_m=0.3), Obstacle(low=(2, 2), high=(3, 3), height_m=0.2)),
        through=({"place": (0.0, 1.0)},),
    )  # fmt: skip
    heights = [(low, high) for _, low, high, _ in blocks(request)]
    assert heights[0][1] < 0.01 and (0.0, 0.2) in heights and heights.count((0.0, 1.3)) == 2
    assert any(low == 1.3 for low, _ in heights) and max(high for _, high in heights) < 1.4
    assert len(outlines(request)) == 2
