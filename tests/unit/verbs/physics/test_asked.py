"""What can be asked besides farther, higher and turned: footprints by parts, hands, places in the air, speed, time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import choreograph as cg
from choreograph.demo import demo_clip
from choreograph.dynamics.body import make_body
from choreograph.dynamics.contacts import measure_points, with_hands
from choreograph.verbs.physics.prepare import lead_of, make_setting, problem_of, sketch_of
from choreograph.verbs.physics.problems import off_grid_problems
from choreograph.verbs.physics.search import PhysicsResult
from choreograph.verbs.physics.sketch import paced
from choreograph.verbs.physics.solve_stages import solve_in_stages
from choreograph.verbs.physics.timing import slopes
from choreograph.verbs.physics.verify import TOLERANCES

WALK, JUMP = demo_clip("walk", 60.0), demo_clip("jump_high", 60.0)
PART = {"end_s": 1.2}


def stand(foot: str, start: float, end: float, position: Any, **more: Any) -> cg.ContactGoal:
    return cg.ContactGoal(foot=foot, start_s=start, end_s=end, position=position, **{"facing_deg": 0.0, **more})


def carry(hand: str, start: float, end: float, position: Any) -> cg.ContactGoal:
    return cg.ContactGoal(hand=hand, start_s=start, end_s=end, position=position)


def footprints(**given: Any) -> list[cg.ContactGoal]:
    """Those of the walk, as one would write them down."""
    request = cg.PhysicsRequest(**given)
    setting = make_setting(WALK, request)
    sketch = sketch_of(setting, request)
    return [
        stand(
            ("left", "right")[stance.side],
            float(sketch.times[stance.start]),
            float(sketch.times[stance.stop - 1]),
            tuple(float(v) for v in spot.mean(axis=0)),
        )
        for stance, spot in zip(sketch.stances, sketch.footprints, strict=True)
    ]


def holds(result: PhysicsResult) -> PhysicsResult:
    assert result.status == "complete" and not result.problems, result.problems
    return result


def test_feet_climb_a_step_and_land_with_the_heel_first() -> None:
    prints = footprints(end_s=1.5)
    last = max(range(len(prints)), key=lambda k: prints[k].span)
    x, _, z = prints[last].position
    start, stop = prints[last].span
    foot = prints.pop(last).foot or ""
    for part, begins in (("heel", start), ("ball", start + 0.08), ("toe", start + 0.08)):
        prints.append(stand(foot, begins, stop, (x, 0.15, z), parts=(part,)))
    result = holds(cg.physics(WALK, cg.PhysicsRequest(end_s=1.5, goals=tuple(prints))))
    problem, path = result.solved.problem, result.trajectory  # type: ignore[union-attr]
    side = 4 * ("left", "right").index(foot)
    assert path is not None
    assert np.allclose(path.points[-1, side : side + 4, 1], 0.15, atol=3e-3)
    landing = np.flatnonzero(problem.held[:, side] & (problem.times > start - 1e-3))[0]
    assert problem.held[landing, side] and not problem.held[landing, side + 1 : side + 4].any()


def test_a_hand_holds_on_and_carries() -> None:
    body = make_body(WALK.skeleton)
    points = with_hands(measure_points([WALK], body.height), WALK.skeleton, body.height)
    palm = points.positions(WALK)[36, 8]
    spot = (float(palm[0]), float(palm[1]) - 0.02, float(palm[2]))
    request = cg.PhysicsRequest(**PART, goals=(carry("left", 0.45, 0.75, spot),))
    path = holds(cg.physics(WALK, request)).trajectory
    assert path is not None
    held = (path.times > 0.46) & (path.times < 0.74)
    assert np.linalg.norm(path.points[held, 8] - palm, axis=1).max() < 3e-3
    assert path.forces[held, 8, 1].max() > 0.005 and not path.forces[path.times > 0.8, 8].any()


def test_a_limb_that_cannot_reach_is_said_by_how_much() -> None:
    far = (carry("left", 0.5, 0.8, (3.0, 1.0, 3.0)),)
    with pytest.raises(cg.RequestError, match=r"\d+ cm more than they reach"):
        cg.physics(WALK, cg.PhysicsRequest(**PART, goals=far))


def test_the_body_is_where_it_is_wanted_in_the_air() -> None:
    flight = 0.5 * JUMP.seconds
    high = float(JUMP.root_pos[round(flight * 60), 1]) - 0.02
    request = cg.PhysicsRequest(goals=(cg.PlaceGoal(at_s=flight, height_m=high),))
    setting = make_setting(JUMP, request)
    solved = solve_in_stages(problem_of(setting, sketch_of(setting, request, coarser=1.5), request))
    assert solved.solution.status != "not converged"
    problem = solved.problem
    node = int(np.flatnonzero(problem.pose_mask[1:-1].any(axis=1))[0]) + 1
    y, _, _ = problem.spline.at(problem.coefficients(solved.solution.x), problem.times)
    assert problem.pose_mask[node].sum() == 1
    assert (problem.origin + y @ problem.w.T)[node, 1] == pytest.approx(high, abs=1e-5)


def test_a_faster_walk_takes_less_time_over_the_same_steps() -> None:
    way = float(np.linalg.norm((WALK.root_pos[72] - WALK.root_pos[0])[[0, 2]]))
    result = holds(cg.physics(WALK, cg.PhysicsRequest(**PART, speed_m_s=1.1 * way / 1.2)))
    assert result.clip.seconds == pytest.approx(1.2 / 1.1, abs=0.03)
    with pytest.raises(cg.RequestError, match="are possible"):
        cg.physics(WALK, cg.PhysicsRequest(**PART, speed_m_s=12.0))


@pytest.mark.slow
def test_durations_are_found_that_take_less_effort() -> None:
    given = holds(cg.physics(WALK, cg.PhysicsRequest(**PART)))
    free = holds(cg.physics(WALK, cg.PhysicsRequest(**PART, timing="stances", advanced={"time_range": (0.8, 1.25)})))
    details = free.best.details
    assert free.best.cost is not None and given.best.cost is not None and free.best.cost < given.best.cost
    assert all(0.8 - 1e-6 <= factor <= 1.25 + 1e-6 for factor in details["durations"])
    assert details["effort_saved"] > 0.01


def test_slopes_of_durations_are_those_of_solved_neighbours() -> None:
    request = cg.PhysicsRequest(end_s=0.8)
    setting = make_setting(WALK, request)
    sketch = sketch_of(setting, request, coarser=2.0)
    phase = sketch.phases()
    lead = lead_of(setting, sketch, request)
    solved = solve_in_stages(problem_of(setting, sketch, request, lead))
    ends = []
    for sign in (1, -1):
        other = paced(sketch, np.where(phase == 1, np.exp(sign * 0.01), 1.0))
        ends.append(solve_in_stages(problem_of(setting, other, request, lead)).solution.objective)
    assert slopes(solved, phase)[1] == pytest.approx((ends[0] - ends[1]) / 0.02, rel=0.1, abs=0.05)


def test_forces_change_no_faster_than_they_may() -> None:
    request = cg.PhysicsRequest(end_s=0.9, advanced={"limits": {"force_rate": 4.5}})
    result = holds(cg.physics(WALK, request))
    problem, x = result.solved.problem, result.solved.solution.x  # type: ignore[union-attr]
    rate = np.abs(np.diff(problem.forces(x)[..., 1], axis=0)) / np.diff(problem.times)[:, None]
    assert rate.max() <= 4.5 + 1e-4
    free = cg.physics(WALK, request.with_(advanced={}))
    loose = free.solved.problem  # type: ignore[union-attr]
    forces = loose.forces(free.solved.solution.x)  # type: ignore[union-attr]
    assert (np.abs(np.diff(forces[..., 1], axis=0)) / np.diff(loose.times)[:, None]).max() > 5.0


def test_whatever_does_not_hold_between_the_nodes_is_a_problem() -> None:
    checked = cg.physics(WALK, cg.PhysicsRequest(end_s=0.7)).verification
    assert checked is not None and not list(off_grid_problems(checked))
    for name, most in TOLERANCES.items():
        said = list(off_grid_problems(replace(checked, **{name: 2 * most})))
        assert len(said) == 1 and said[0].kind == "physics_violated"


def ask(goal: dict[str, Any]) -> cg.PhysicsRequest:
    return cg.PhysicsRequest(goals=[goal])


@pytest.mark.parametrize(
    ("goals", "message"),
    [
        ((stand("left", 0.0, 0.5, (0.1, 0.0, 0.0)), stand("left", 0.4, 0.8, (0.1, 0.0, 0.5))), "stands twice"),
        (
            (
                stand("left", 0.0, 0.5, (0.1, 0.0, 0.0), parts=("heel",)),
                stand("left", 0.4, 0.8, (0.1, 0.0, 0.5), parts=("toe",)),
            ),
            "without a step between them",
        ),
        ((carry("left", 0.1, 0.5, (0.2, 0.9, 0.3)), carry("left", 0.4, 0.8, (0.2, 0.9, 0.3))), "carries twice"),
    ],
)
def test_a_limb_is_in_one_place_at_a_time(goals: tuple[cg.ContactGoal, ...], message: str) -> None:
    with pytest.raises(cg.RequestError, match=message):
        cg.physics(WALK, cg.PhysicsRequest(**PART, goals=goals))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ask({"foot": "left", "start_s": 0, "end_s": 1}), r"goals\[0\]\.position is missing"),
        (lambda: ask({"foot": "both", "start_s": 0, "end_s": 1, "position": [0, 0, 0]}), "a goal for each side"),
        (lambda: ask({"start_s": 0, "end_s": 1, "place": [0, 0]}), r"goals\[0\]\.start_s is nothing that physics"),
        (lambda: ask({"place": [0, 0]}), r"goals\[0\]\.at_s is missing"),
        (lambda: ask({"at_s": 1, "place": [0, 0], "standing": True}), r"goals\[0\]\.standing is nothing"),
        (lambda: ask({"at_s": 1, "place": [0, 0], "weight": 2.0}), r"goals\[0\]\.weight is nothing"),
        (lambda: ask({"at_s": 1, "place": [0, 0], "exact": False}), "meets all goals exactly"),
        (lambda: ask({"at_s": 1, "pose": {"clip": "walk"}}), "give a file"),
        (lambda: ask({"label": "run", "start_s": 0, "end_s": 1}), "which physics cannot search for"),
        (lambda: cg.PhysicsRequest(speed_m_s=1.0, duration_share=2.0), "drop one"),
        (lambda: cg.PhysicsRequest(smallest_change=True, timing="all"), "which only finishes"),
    ],
)
def test_contradictions_are_refused(make: Any, said: str) -> None:
    with pytest.raises(cg.RequestError, match=said):
        make()


def test_examples_without_the_behaviour_are_named_before_solving() -> None:
    search, stages = cg.PhysicsSearch(JUMP, cg.PhysicsRequest(), examples=[WALK]), []
    assert any("none of the examples does" in doubt.text for doubt in search.check_examples())

    def hear(stage: str, done: int, total: int) -> None:
        stages.append(stage)
        raise cg.Cancelled

    with pytest.raises(cg.Cancelled):
        search.step(progress=hear)
    assert "though" in stages[0]
    assert not cg.PhysicsSearch(JUMP, cg.PhysicsRequest()).check_examples()
