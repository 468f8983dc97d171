"""Solving as a search: steps, change, what is kept and resumed, answers and what is said about them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from choreograph.base.errors import Cancelled, RequestError, SearchStateError
from choreograph.base.progress import Recorder
from choreograph.contract.result import Result
from choreograph.contract.search import Budget
from choreograph.goals.model import LabelGoal, PlaceGoal, PoseGoal, PoseSource
from choreograph.graph.model import MotionGraph
from choreograph.verbs.solve import answers as answers_module
from choreograph.verbs.solve.cut_costs import median_cost
from choreograph.verbs.solve.hierarchy import Hierarchy
from choreograph.verbs.solve.request import SolveAdvanced, SolveRequest
from choreograph.verbs.solve.search import SolveSearch, solve
from choreograph.verbs.solve.solution import GroupSolution

BEGIN = PlaceGoal(0.0, (0.0, 0.0), 0.0)
TURN = SolveRequest(5.0, (BEGIN, PlaceGoal(5.0, (2.5, 3.0), 90.0)), count=2, work_limit=60_000, apart_m=0.3)
NEAR = TURN.with_(goals=(BEGIN, PlaceGoal(5.0, (2.4, 3.1), 90.0)))


def run(walks: MotionGraph, cuts: Hierarchy, request: SolveRequest = TURN) -> Result:
    return SolveSearch(walks, request, hierarchy=cuts).run()


def same(one: Result, other: Result) -> bool:
    """Whether all frames of all answers are the same, bit for bit."""
    pairs = list(zip(one.answers, other.answers, strict=True))
    return all(
        np.array_equal(a.clip.root_pos, b.clip.root_pos) and np.array_equal(a.clip.local_rot, b.clip.local_rot)
        for a, b in pairs
    )


@pytest.fixture(scope="module")
def found(walks: MotionGraph, cuts: Hierarchy) -> Result:
    return run(walks, cuts)


def test_answers_are_finished_motion_with_metrics(found: Result) -> None:
    assert found.verb == "solve" and found.status == "complete" and len(found.answers) == 2
    assert found.problems == () and found.request == TURN
    for answer in found.answers:
        clip = answer.clip
        hips = clip.global_positions()[-1, clip.skeleton.hips]
        assert clip.seconds == pytest.approx(5 + 1 / clip.fps) and answer.status == "complete"
        assert hips[[0, 2]] == pytest.approx([2.5, 3.0], abs=1e-6)
        assert answer.metrics["body_worst"].value < 1e-6 and answer.metrics["facing_worst"].value < 1e-4
        assert answer.metrics["score"].value == answer.cost == answer.details["score"]
        errors = answer.details["errors"]
        assert [error["where"] for error in errors] == ["goals[0]", "goals[1]"]
        assert answer.metrics["body_brought"].value == max(error["metres"] for error in errors)
        pieces = answer.details["pieces"]
        assert sum(piece["stop"] - piece["start"] for piece in pieces) == 151
        assert answer.name.endswith(f"m, {len(pieces)} pieces" if len(pieces) > 1 else "m, 1 piece")
        assert answer.motions[0].sources[0].clip == pieces[0]["clip"]
        assert answer.path[0] == (0.0, 0.0) and np.allclose(answer.path[-1], (2.5, 3.0), atol=0.2)
    plain = json.loads(json.dumps(found.as_json()))
    assert plain["evaluations"] >= 60_000 and plain["rate_hz"] == 30 and plain["max_cut_cost"] > 0


def test_it_is_one_function(walks: MotionGraph, found: Result) -> None:
    told = Recorder()
    assert same(solve(walks, TURN, progress=told), found)
    stages = [stage for stage, _, _ in told.calls]
    assert stages.index("finishing") > stages.index("searching")
    assert [call[1:] for call in told.calls if call[0] == "searching"][-1] == (60_000, 60_000)


@pytest.mark.parametrize("budget", [Budget(steps=500), Budget(seconds=0.001), Budget(steps=25_000)])
def test_steps_of_any_size_come_to_the_same(walks: MotionGraph, cuts: Hierarchy, found: Result, budget: Budget) -> None:
    search = SolveSearch(walks, TURN, hierarchy=cuts)
    with pytest.raises(RequestError, match="no motion was found yet"):
        search.best()
    while search.step(budget):
        if not search.done:
            assert search.best().status in ("searching", "complete")
    assert search.done and same(search.best(), found)


def test_answers_are_finished_once(
    walks: MotionGraph, cuts: Hierarchy, found: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    finished = []
    finish = answers_module.finish
    monkeypatch.setattr(answers_module, "finish", lambda *a, **k: (finished.append(1), finish(*a, **k))[1])
    search = SolveSearch(walks, TURN, hierarchy=cuts)
    first, again = search.run(), search.best()
    assert len(finished) == 2 and first.answers[0].clip is again.answers[0].clip


def test_stopped_there_is_the_best_so_far_and_it_goes_on(walks: MotionGraph, cuts: Hierarchy, found: Result) -> None:
    search = SolveSearch(walks, TURN, hierarchy=cuts)
    for after in (1, 2, 3):
        with pytest.raises(Cancelled):
            search.run(Recorder(cancel_after=after))
        result = search.best()
        assert result.status == "searching" and len(result.clip) == 151
    assert same(search.run(), found)


def test_a_kept_search_goes_on_as_if_it_had_not_stopped(walks: MotionGraph, cuts: Hierarchy) -> None:
    through = SolveSearch(walks, TURN, hierarchy=cuts)
    first = through.run()
    state = json.loads(json.dumps(through.state()))
    through.change(TURN)  # the same again: on for as long
    assert not through.done
    second = through.run()
    resumed = SolveSearch(walks, TURN, hierarchy=cuts)
    resumed.resume(state)
    assert not resumed.done and same(resumed.best(), first)
    again = resumed.run()
    assert same(again, second) and again.provenance["evaluations"] == second.provenance["evaluations"]
    assert again.provenance["evaluations"] >= 2 * 60_000
    with pytest.raises(SearchStateError, match="seed is 3, but the saved search began with 0"):
        SolveSearch(walks, TURN.with_(seed=3), hierarchy=cuts).resume(state)
    with pytest.raises(SearchStateError, match="another graph or request"):
        SolveSearch(walks, TURN.with_(duration_s=5.5), hierarchy=cuts).resume(state)


@pytest.mark.parametrize(
    "spoil",
    [
        {"batches": [[0, 900, 901]]},
        {"batches": [[0, 0, 0]] * 100_000},
        {"chance": 0},
        {"tried": -1},
        {"warmed": "x"},
        {"minima": 3},
        {"evaluations": None},
        {"current": {"starts": []}},
    ],
)
def test_a_damaged_state_is_refused_and_changes_nothing(
    walks: MotionGraph, cuts: Hierarchy, spoil: dict[str, Any]
) -> None:
    request = TURN.with_(work_limit=5, count=1)
    search = SolveSearch(walks, request, hierarchy=cuts)
    first = search.run()
    state = {**json.loads(json.dumps(search.state())), **spoil}
    with pytest.raises(SearchStateError, match=r"the saved search is damaged|another graph or request"):
        search.resume(state)
    assert same(search.best(), first)


def test_a_changed_request_begins_with_what_was_found(walks: MotionGraph, cuts: Hierarchy) -> None:
    search = SolveSearch(walks, TURN, hierarchy=cuts)
    search.run()
    search.change(NEAR)
    at_once = search.best()
    assert at_once.status == "searching" and (at_once.best.cost or 0) < 2.0
    hips = at_once.clip.global_positions()[-1, at_once.clip.skeleton.hips]
    assert hips[[0, 2]] == pytest.approx([2.4, 3.1], abs=1e-6)
    assert (search.run().best.cost or 0) <= (at_once.best.cost or 0)
    # What cannot be is refused without harm; of another seed nothing is used.
    with pytest.raises(RequestError, match="no clip of the graph"):
        search.change(NEAR.with_(goals=(*NEAR.goals, PoseGoal(1, PoseSource("swim", 0), exact=True))))
    assert search.best().request == NEAR
    search.change(TURN.with_(seed=5))
    with pytest.raises(RequestError, match="no motion was found yet"):
        search.best()
    assert same(search.run(), run(walks, cuts, TURN.with_(seed=5)))


def test_more_answers_of_the_same_search_need_no_new_one(walks: MotionGraph, cuts: Hierarchy) -> None:
    search = SolveSearch(walks, TURN.with_(count=1), hierarchy=cuts)
    one = search.run()
    search.change(TURN.with_(count=3, apart_m=0.1))
    more = search.best()
    assert len(more.answers) == 3 and more.best.cost == one.best.cost


def test_time_is_as_good_a_limit(walks: MotionGraph, cuts: Hierarchy) -> None:
    told = Recorder()
    search = SolveSearch(walks, TURN.with_(work_limit=None, time_limit_s=0.1, count=1), hierarchy=cuts)
    result = search.run(told)
    assert result.status == "complete" and result.seconds > 0
    searching = [call for call in told.calls if call[0] == "searching"]
    assert searching[0][2] == 100 and searching[-1] == ("searching", 100, 100)
    said = search.amount("searching", 50, 100)
    assert said is not None and said.startswith("0.1/0.1 s, score 0.")
    assert search.amount("finishing", 0, 1) is None


def test_fewer_answers_than_asked_for_are_a_problem(walks: MotionGraph, cuts: Hierarchy) -> None:
    result = run(walks, cuts, TURN.with_(count=500, apart_m=3.0))
    [few] = result.notes
    assert few.where == "count" and few.asked == 500 and few.got == len(result.answers) < 500
    assert few.kind == "fewer_answers"


def test_answers_that_are_far_worse_are_left_out_and_that_is_said(
    walks: MotionGraph, cuts: Hierarchy, monkeypatch: pytest.MonkeyPatch
) -> None:
    casts = [GroupSolution({}, cost) for cost in (0.2, 1.1, 1.9, 2.1, 30.0)]
    assert [cast.cost for cast in answers_module.without_far_worse(casts)] == [0.2, 1.1, 1.9]
    assert answers_module.without_far_worse([]) == []
    monkeypatch.setattr(answers_module, "WORSE", 1.01)
    monkeypatch.setattr(answers_module, "_WORSE_BY", 0.0)
    result = run(walks, cuts, TURN.with_(count=60, apart_m=0.05))
    least = result.best.cost or 0.0
    assert all((answer.cost or 0.0) < 1.01 * least for answer in result.answers)
    [few] = result.notes
    assert few.where == "count" and few.got == len(result.answers)
    assert few.kind == "fewer_answers" and "or worse" in few.text


def test_clips_that_cannot_be_cut_into_are_named(walks: MotionGraph, cuts: Hierarchy) -> None:
    strict = TURN.with_(advanced=SolveAdvanced(median_cost(cuts.frames, 3)), count=1, work_limit=1_000)
    result = solve(walks, strict)
    [lost] = [problem for problem in result.notes if problem.where == "advanced.max_cut_cost"]
    assert lost.text.startswith("1 of 4 clips cannot be used: jog. ")
    assert result.provenance["lost_clips"] == ["jog"]
    enough = solve(walks, strict.with_(advanced=SolveAdvanced(lost.nearest)))
    assert enough.notes == () and enough.provenance["lost_clips"] == []


def test_labels_that_are_asked_for_in_any_case_are_the_same(walks: MotionGraph, cuts: Hierarchy) -> None:
    def asked(label: str) -> Result:
        wanted = TURN.with_(
            goals=(LabelGoal(start_s=1, end_s=3, label=label, weight=10.0),), count=1, work_limit=20_000
        )
        return run(walks, cuts, wanted)

    assert same(asked("turn"), asked("Turn"))
