from __future__ import annotations

import json

import numpy as np
import pytest

from choreograph.base.errors import RequestError
from choreograph.finishing.finish import finish
from choreograph.goals.model import CostGoal, PlaceGoal, PoseGoal, PoseSource
from choreograph.graph.model import MotionGraph
from choreograph.verbs.solve.functions import MotionView
from choreograph.verbs.solve.hierarchy import Hierarchy
from choreograph.verbs.solve.request import SolveRequest
from choreograph.verbs.solve.solution import PathSolution
from choreograph.verbs.solve.solver import PathSolver

BEGIN = PlaceGoal(0.0, (0.0, 0.0), 0.0)
BODY = (BEGIN, PlaceGoal(4.0, (0.5, 4.0)))


def answer_to(graph: MotionGraph, cuts: Hierarchy, function, evaluations: int = 60_000, **how) -> PathSolution:  # type: ignore[no-untyped-def]
    asked = SolveRequest(4.0, (*BODY, CostGoal(function=function, **how)))
    return PathSolver(graph, asked, hierarchy=cuts).run(evaluations=evaluations).answers()[0]


def test_a_view_is_the_motion_that_would_come_of_it(walks: MotionGraph, cuts: Hierarchy) -> None:
    seen: list[MotionView] = []

    def look(view: MotionView) -> float:
        seen.append(view)
        return 0.0

    hard = (PoseGoal(2.0, PoseSource("walk_turn_90_right", 40), exact=True),)
    asked = SolveRequest(4.0, (*BODY, *hard, CostGoal(function=look)))
    answer = PathSolver(walks, asked, hierarchy=cuts).run(evaluations=20_000).answers()[0]
    last = seen[-1]  # `answers` asks once more for what it gives
    raw = finish(answer.splice).raw
    assert raw.fps == 30 and len(raw) == len(last.times_s) == 121
    assert np.allclose(last.joints, raw.global_positions(), atol=1e-5)
    assert np.allclose(last.root, raw.global_positions()[:, raw.skeleton.hips][:, [0, 2]], atol=1e-6)
    assert np.allclose(np.exp(1j * last.facing), np.exp(1j * raw.facing()), atol=1e-6)
    assert np.array_equal(last.joint("head"), last.joints[:, walks.skeleton.need("head")])
    assert last.labels[60] == ("turn",) and len(last.labels) == 121
    assert walks.infos[last.clip[60]].name == "walk_turn_90_right" and last.frame[60] == 40


def test_the_search_turns_to_what_a_function_likes(walks: MotionGraph, cuts: Hierarchy) -> None:
    def left_of_the_line(view: MotionView) -> np.ndarray:
        return np.asarray(np.maximum(0.3 - view.root[:, 0], 0.0) / 0.3)

    def right_of_the_line(view: MotionView) -> np.ndarray:
        return np.asarray(np.maximum(view.root[:, 0] + 0.3, 0.0) / 0.3)

    middles, costs = [], []
    for function in (left_of_the_line, right_of_the_line):
        answer = answer_to(walks, cuts, function, weight=5.0)
        raw = finish(answer.splice).raw
        middles.append(raw.root_pos[40:90, 0].mean())
        costs.append({e.where: e.cost for e in answer.errors}["goals[2]"])
        assert answer.cost == pytest.approx(sum(e.cost for e in answer.errors), abs=0.05)  # the rest are cuts
    assert middles[0] > middles[1] + 0.4
    # A per-frame cost of 1 counts 1 a second, here 4 in all, by its weight.
    flat = answer_to(walks, cuts, lambda c: np.ones(len(c.times_s)), 3_000, weight=2.0)
    assert {e.where: e.cost for e in flat.errors}["goals[2]"] == pytest.approx(2 * 121 / 30)


def test_a_saved_search_with_a_function_goes_on_as_if_it_had_not_stopped(walks: MotionGraph, cuts: Hierarchy) -> None:
    asked = SolveRequest(4.0, (*BODY, CostGoal(function=lambda c: float(np.abs(c.root[:, 0]).max()))))
    through = PathSolver(walks, asked, hierarchy=cuts).run(evaluations=15_000)
    state = json.loads(json.dumps(through.as_dict()))
    through.run(evaluations=15_000)
    resumed = PathSolver(walks, asked, hierarchy=cuts).resume(state).run(evaluations=15_000)
    assert resumed.evaluations == through.evaluations
    assert resumed.answers()[0].cost == pytest.approx(through.answers()[0].cost, rel=1e-9)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda c: 1 / 0, r"goals\[2\] \(odd\) raised ZeroDivisionError: division by zero"),
        (lambda c: c.joint("tail"), r"goals\[2\] \(odd\) raised RoleError"),
        (lambda c: float("nan"), r"goals\[2\] \(odd\) returned nan; a cost must be a finite number"),
        (lambda c: np.full(len(c.times_s), np.inf), r"goals\[2\] \(odd\) returned inf"),
        (lambda c: -2.0, r"goals\[2\] \(odd\) returned -2; a cost must be a finite number, 0 or more"),
        (lambda c: [1.0, 2.0], r"goals\[2\] \(odd\) returned \[1.0, 2.0\]; .* one for each of the 121 frames"),
        (lambda c: "much", r"goals\[2\] \(odd\) returned 'much'"),
        (lambda c: None, r"goals\[2\] \(odd\) returned nan"),
    ],
)
def test_a_function_that_fails_is_named(walks: MotionGraph, cuts: Hierarchy, function, said: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(RequestError, match=said):
        answer_to(walks, cuts, function, 1_000, name="odd")


def test_what_is_no_function_is_refused(walks: MotionGraph, cuts: Hierarchy) -> None:
    with pytest.raises(RequestError, match=r"^function is 3; it must be FILE.py:NAME, .* or a function"):
        CostGoal(function=3)
    # A name of one says how to allow it, wherever it is come upon.
    asked = SolveRequest(4.0, (*BODY, CostGoal(function="style.py:low")))
    with pytest.raises(RequestError, match=r"goals\[2\].function is 'style.py:low': that runs the code .*allow_code"):
        PathSolver(walks, asked, hierarchy=cuts)
