from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from choreograph.base.errors import Cancelled, RequestError
from choreograph.base.progress import Recorder
from choreograph.goals.model import JointGoal, LabelGoal, PlaceGoal, PoseGoal, PoseSource
from choreograph.graph.model import MotionGraph
from choreograph.scene.model import Obstacle, Scene
from choreograph.verbs.solve.cut_costs import median_cost
from choreograph.verbs.solve.hierarchy import Hierarchy, HierarchySettings
from choreograph.verbs.solve.prepare import find_hierarchy
from choreograph.verbs.solve.request import SolveRequest
from choreograph.verbs.solve.solution import PathSolution
from choreograph.verbs.solve.solver import PathSolver

BEGIN = PlaceGoal(0.0, (0.0, 0.0), 0.0)
TURN = SolveRequest(5.0, (BEGIN, PlaceGoal(5.0, (2.5, 3.0), 90.0)))
BY_A_CHECKPOINT = SolveRequest(5.0, (BEGIN, PlaceGoal(2.5, (0.5, 2.0), 34.0), PlaceGoal(5.0, (2.5, 3.0), 90.0)))


def best(graph: MotionGraph, request: SolveRequest, cuts: Hierarchy, evaluations: int) -> PathSolution:
    return PathSolver(graph, request, hierarchy=cuts).run(evaluations=evaluations).answers()[0]


def test_it_comes_near_and_says_how_near(walks: MotionGraph, cuts: Hierarchy) -> None:
    answer = best(walks, TURN, cuts, 200_000)
    assert len(answer.splice) == 151
    first, last = answer.errors
    assert (first.where, last.where) == ("goals[0]", "goals[1]")
    assert first.metres == pytest.approx(0, abs=1e-9)
    assert last.metres is not None and last.radians is not None and last.metres < 0.1 and last.radians < 0.1
    assert last.cost == pytest.approx((last.metres / 0.3) ** 2 + (last.radians / np.radians(10)) ** 2)


@pytest.mark.parametrize("request_", [TURN, BY_A_CHECKPOINT])
def test_more_time_is_never_worse(walks: MotionGraph, cuts: Hierarchy, request_: SolveRequest) -> None:
    solver, costs = PathSolver(walks, request_, hierarchy=cuts).run(evaluations=50), []
    costs.append(solver.answers()[0].cost)
    for _ in range(40):
        costs.append(solver.run(evaluations=1_000).answers()[0].cost)
    assert costs == sorted(costs, reverse=True) and costs[-1] < costs[0]


def test_the_seed_decides(walks: MotionGraph, cuts: Hierarchy) -> None:
    def pieces(seed: int) -> list[int]:
        found = best(walks, TURN.with_(seed=seed), cuts, 20_000)
        return [*found.splice.start, *found.splice.stop]

    assert pieces(1) == pieces(1) != pieces(2)


@pytest.mark.parametrize(("request_", "legs"), [(TURN, False), (BY_A_CHECKPOINT, True)])
def test_a_saved_search_goes_on_as_if_it_had_not_stopped(
    walks: MotionGraph, cuts: Hierarchy, request_: SolveRequest, legs: bool
) -> None:
    through = PathSolver(walks, request_, hierarchy=cuts).run(evaluations=15_000)
    while through._by_legs != legs:
        through.run(evaluations=1_000)
    state = json.loads(json.dumps(through.as_dict()))
    through.run(evaluations=30_000)
    resumed = PathSolver(walks, request_, hierarchy=cuts).resume(state).run(evaluations=30_000)
    assert resumed.evaluations == through.evaluations
    assert [p.cost for p in resumed.minima] == pytest.approx([p.cost for p in through.minima], rel=1e-9)
    other = SolveRequest(4.0, (BEGIN, PlaceGoal(4.0, (1.0, 1.0))))
    with pytest.raises(RequestError, match="another graph or request"):
        PathSolver(walks, other, hierarchy=cuts).resume(state)


def test_answers_differ_by_as_much_as_is_said(walks: MotionGraph, cuts: Hierarchy) -> None:
    solver = PathSolver(walks, TURN.with_(apart_m=0.4), hierarchy=cuts).run(evaluations=200_000)
    answers = solver.answers(6)
    assert len(answers) > 1
    assert [a.cost for a in answers] == sorted(a.cost for a in answers)
    roots = []
    for answer in answers:
        rows = np.concatenate(
            [np.arange(a, b) + cuts.frames.base[c] for c, a, b in
             zip(answer.splice.clip, answer.splice.start, answer.splice.stop, strict=True)]
        )  # fmt: skip
        piece = np.repeat(np.arange(len(answer.splice.clip)), answer.splice.piece_frames)
        lying = answer.splice.placements
        roots.append(np.exp(-1j * lying.yaw[piece]) * cuts.frames.place[rows] + lying.x[piece] + 1j * lying.z[piece])
    for n, one in enumerate(roots):
        for other in roots[:n]:
            assert np.abs(one - other).max() > 0.4


def test_labels_obstacles_joints_and_poses_are_heeded(walks: MotionGraph, cuts: Hierarchy) -> None:
    base = (BEGIN, PlaceGoal(4.0, (0.0, 5.0)))
    turn = best(
        walks, SolveRequest(4.0, (*base, LabelGoal(start_s=0, end_s=4, label="turn", weight=100.0))), cuts, 100_000
    )
    walk = best(
        walks, SolveRequest(4.0, (*base, LabelGoal(start_s=0, end_s=4, label="walk", weight=100.0))), cuts, 100_000
    )
    number = walks.find_clip("walk")
    assert (turn.splice.clip != number).all() and (walk.splice.clip == number).all()
    around = best(
        walks, SolveRequest(4.0, base, scene=Scene((Obstacle(centre=(0.0, 2.5), radius_m=0.2),))), cuts, 100_000
    )
    through = best(walks, SolveRequest(4.0, base), cuts, 100_000)
    assert {e.where: e.cost for e in around.errors}["scene.obstacles"] < 0.1
    assert through.cost < around.cost
    pose = best(walks, SolveRequest(4.0, (PoseGoal(2.0, PoseSource("jog", 30)),)), cuts, 100_000)
    assert pose.errors[0].cost == pytest.approx(0, abs=1e-3)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (JointGoal(1, "tail", (0, 0, 0)), r"goals\[2\].joint is 'tail', .* there are .*Head"),
        (PoseGoal(1, PoseSource("swim", 0)), r"goals\[2\].pose.clip: no clip of the graph is called 'swim'"),
        (PoseGoal(1, PoseSource("walk", 9999), exact=True), r"goals\[2\].pose.frame is 9999; 'walk' has frames 0 to"),
        (
            LabelGoal(start_s=0, end_s=1, label="swim"),
            r"goals\[2\].label is 'swim', which no clip has; labels are: jog",
        ),
        (Obstacle(centre=(0.1, 0.0), radius_m=1.0), r"goals\[0\].place, .* lies inside scene.obstacles\[0\]"),
        (PoseGoal(1.1, PoseSource("jog", 60), exact=True), r"no motion of 5 s shows goals\[1\]"),
    ],
)
def test_what_cannot_be_is_refused(walks: MotionGraph, cuts: Hierarchy, change: Any, said: str) -> None:
    scene = Scene((change,)) if isinstance(change, Obstacle) else Scene()
    goals = [*TURN.goals] if isinstance(change, Obstacle) else [*TURN.goals, change]
    if "shows" in said:
        goals[1] = PoseGoal(1.0, PoseSource("walk", 20), exact=True)
    with pytest.raises(RequestError, match=said):
        PathSolver(walks, SolveRequest(5.0, goals, scene=scene), hierarchy=cuts)


def test_pieces_longer_than_any_clip_are_refused(walks: MotionGraph, cuts: Hierarchy) -> None:
    with pytest.raises(RequestError, match="allow shorter pieces"):
        PathSolver(walks, SolveRequest(60.0, TURN.goals, min_piece_s=30.0), hierarchy=cuts)


def test_it_can_be_cancelled_and_needs_a_limit(walks: MotionGraph, cuts: Hierarchy) -> None:
    solver = PathSolver(walks, TURN, hierarchy=cuts)
    with pytest.raises(Cancelled):
        solver.run(60.0, progress=Recorder(cancel_after=3))
    assert solver.answers()
    with pytest.raises(RequestError, match="seconds or evaluations"):
        solver.run()


def test_a_hard_stretch_is_shown_uncut(walks: MotionGraph, cuts: Hierarchy) -> None:
    asked = SolveRequest(
        5.0, (*TURN.goals, PoseGoal(1.5, PoseSource("walk_turn_90_right", 20), exact=True, duration_s=2.0))
    )
    solver = PathSolver(walks, asked, hierarchy=cuts).run(evaluations=30_000)
    for answer in solver.answers(5):
        ends = np.cumsum(answer.splice.piece_frames)
        piece = int(np.searchsorted(ends, 45, side="right"))
        assert walks.infos[answer.splice.clip[piece]].name == "walk_turn_90_right"
        begun = ends[piece] - answer.splice.piece_frames[piece]
        assert answer.splice.start[piece] + 45 - begun == 20 and ends[piece] > 105
    too_long = SolveRequest(
        5.0, (*TURN.goals, PoseGoal(0.5, PoseSource("walk_turn_90_right", 100), exact=True, duration_s=3.0))
    )
    with pytest.raises(RequestError, match=r"goals\[2\].duration_s is 3; 'walk_turn_90_right' goes on for 0.73 s"):
        PathSolver(walks, too_long, hierarchy=cuts)


def test_a_changed_request_begins_with_what_was_found(walks: MotionGraph, cuts: Hierarchy) -> None:
    solver = PathSolver(walks, TURN, hierarchy=cuts).run(evaluations=40_000)
    near = SolveRequest(5.0, (BEGIN, PlaceGoal(5.0, (2.4, 3.1), 90.0)))
    changed = solver.with_request(near)
    at_once = changed.answers()[0]
    assert changed.evaluations == 0 and at_once.cost < 2.0 and not at_once.minimum
    fresh = PathSolver(walks, near, hierarchy=cuts).run(evaluations=400)
    assert at_once.cost < fresh.answers()[0].cost
    state = json.loads(json.dumps(changed.run(evaluations=300).as_dict()))
    assert changed.answers()[0].cost <= at_once.cost
    resumed = PathSolver(walks, near, hierarchy=cuts).resume(state)
    assert resumed.run(evaluations=5_000).answers()[0].cost == changed.run(evaluations=5_000).answers()[0].cost
    # Of another length nothing can be used, and what cannot be is refused without harm.
    assert solver.with_request(SolveRequest(4.0, (BEGIN, PlaceGoal(4.0, (1, 2))))).answers() == []
    with pytest.raises(RequestError, match="no clip of the graph"):
        solver.with_request(SolveRequest(5.0, (*TURN.goals, PoseGoal(1, PoseSource("swim", 0), exact=True))))
    assert solver.answers()
    kept = solver.with_request(SolveRequest(5.0, (*TURN.goals, PoseGoal(1, PoseSource("walk", 40), exact=True))))
    for path in kept._waiting:
        assert kept._fits(path)


@pytest.mark.parametrize("spoil", [{"starts": [5]}, {"nodes": []}, {"stops": [10**9] * 9}])
def test_a_state_that_was_tampered_with_is_refused(walks: MotionGraph, cuts: Hierarchy, spoil: dict) -> None:  # type: ignore[type-arg]
    solver = PathSolver(walks, TURN, hierarchy=cuts).run(evaluations=20_000)
    state = json.loads(json.dumps(solver.as_dict()))
    state["minima"][0] |= spoil
    with pytest.raises(RequestError, match="another graph or request"):
        PathSolver(walks, TURN, hierarchy=cuts).resume(state)


def test_hard_frames_in_parts_that_are_not_connected_are_refused(walks: MotionGraph, cuts: Hierarchy) -> None:
    strict = find_hierarchy(walks, HierarchySettings(max_cut_cost=median_cost(cuts.frames, 3)))
    assert strict.lost_clips() == [walks.find_clip("jog")]
    first, third, fourth = (
        PoseGoal(0.5, PoseSource("walk", 20), exact=True),
        PoseGoal(4.0, PoseSource("jog", 60), exact=True),
        PoseGoal(4.5, PoseSource("jog", 75), exact=True),
    )
    hard = (first, PoseGoal(1.0, PoseSource("walk", 35), exact=True), third, fourth)
    # Of four hard frames, the two are named between which there is no way, and what max_cut_cost would make one.
    two = r"shows goals\[3\] \(walk, 1 s\) and goals\[4\] \(jog, 4 s\)"
    said = rf"{two}: no cuts lead .* allow cuts up to \d"
    with pytest.raises(RequestError, match=said) as refused:
        PathSolver(walks, SolveRequest(5.0, (*TURN.goals, *hard)), hierarchy=strict)
    enough = float(str(refused.value).rsplit(" ", 2)[1])
    assert find_hierarchy(walks, HierarchySettings(max_cut_cost=enough)).lost_clips() == []


def test_a_hard_frame_that_cannot_be_come_to_in_time_is_named_alone(walks: MotionGraph, cuts: Hierarchy) -> None:
    hard = (
        PoseGoal(1.0, PoseSource("walk", 40), exact=True),
        PoseGoal(4.9, PoseSource("walk", walks.infos[0].own_frames - 2), exact=True),
    )
    with pytest.raises(RequestError, match=r"no motion of 5 s shows goals\[3\] \(walk, 4.9 s\): its clip"):
        PathSolver(walks, SolveRequest(5.0, (*TURN.goals, *hard)), hierarchy=cuts)


def test_the_same_motion_a_little_later_is_no_other_answer(walks: MotionGraph, cuts: Hierarchy) -> None:
    asked = SolveRequest(2.0, (LabelGoal(start_s=0, end_s=2, label="turn"),))
    solver = PathSolver(walks, asked.with_(apart_m=0.1), hierarchy=cuts).run(evaluations=1_000)
    nothing, base = np.zeros(0, np.int64), int(cuts.frames.base[walks.find_clip("walk_turn_90_left")])
    solver.minima, solver._open, solver._lowest = [], None, None
    for begin in (0, 4, 8, 30):
        rows = np.array([base + begin]), np.array([base + begin + solver.asked.frames])
        solver.minima.append(solver._scored(*rows, nothing, True))
    roots = [path.root for path in solver.minima]
    assert np.abs(roots[1] - roots[0]).max() > 0.1  # it turns sooner
    assert [int(answer.splice.start[0]) for answer in solver.answers(4)] == [0, 30]
