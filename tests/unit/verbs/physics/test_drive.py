"""What is tried where a straight line leads nowhere, and a matrix that stays even however close nodes are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import choreograph as cg
from choreograph.demo import demo_clip
from choreograph.verbs.physics import solve_stages as drive
from choreograph.verbs.physics.interior_point import TrajectorySolution
from choreograph.verbs.physics.newton import NewtonSolver
from choreograph.verbs.physics.prepare import make_setting, problem_of, sketch_of
from choreograph.verbs.physics.program import TrajectoryProgram
from choreograph.verbs.physics.sketch import refined
from choreograph.verbs.physics.solve_stages import (
    RECORDED,
    STIFFER,
    STRAIGHT,
    TWO_STAGES,
    Solved,
    solve_finer,
    solve_in_stages,
)

REQUEST = cg.PhysicsRequest(start_s=0.2, end_s=0.7)


@pytest.fixture(scope="module")
def questions() -> list[TrajectoryProgram]:
    """A step of a walk; the same with nodes four times as close."""
    setting = make_setting(demo_clip("walk", 30.0), REQUEST)
    sketch = sketch_of(setting, REQUEST, coarser=3.0)
    return [problem_of(setting, one, REQUEST) for one in (sketch, refined(refined(sketch)))]


@pytest.fixture(scope="module")
def solved(questions: list[TrajectoryProgram]) -> Solved:
    return solve_in_stages(questions[0])


@pytest.mark.parametrize(("failing", "start"), [(0, STRAIGHT), (1, STIFFER), (2, RECORDED), (3, TWO_STAGES)])
def test_other_starts_are_tried_one_after_the_other(
    questions: list[TrajectoryProgram], solved: Solved, monkeypatch: pytest.MonkeyPatch, failing: int, start: str
) -> None:
    real, efforts = drive.solve, []

    def solve(problem: TrajectoryProgram, **given: Any) -> TrajectorySolution:
        found = real(problem, **given)
        if given.get("kinematic"):
            return found
        efforts.append(problem.weights.torque)
        return found if len(efforts) > failing else replace(found, status="not converged", violation=1.0)

    monkeypatch.setattr(drive, "solve", solve)
    again = solve_in_stages(questions[0])
    assert again.converged and again.start == start
    assert (0.0 in efforts) == (start == TWO_STAGES), "the first stage is mechanics without effort"
    assert again.solution.objective == pytest.approx(solved.solution.objective, rel=1e-2)


def test_closer_nodes_leave_the_matrix_even(questions: list[TrajectoryProgram], solved: Solved) -> None:
    finer = solve_finer(questions[1], solved)
    assert finer.converged and finer.solution.violation <= 1e-6
    sizes = []
    for one in (solved, finer):
        solver, at = NewtonSolver(one.problem), one.solution.point
        solver.assemble(at, solver.values(at.x), 1e-5)
        sizes.append(float(solver.band[:, 0].max()))
    assert sizes[1] < 2 * sizes[0], "rows of forces are 16 times as large, their squares 256 times"


def test_hands_carry_who_goes_down_on_them(recordings: Path) -> None:
    down = cg.read_clip(recordings / "cmu_more/108/108_25.amc")
    request = cg.PhysicsRequest(start_s=1.0, end_s=1.72, hands_carry=True)
    result = cg.physics(down, request, examples=[down])
    assert result.status == "complete", result.problems
    path = result.trajectory
    assert path is not None
    on_hands = path.forces[:, 8:, 1].sum(axis=1)
    assert on_hands.max() > 0.02 and path.points[on_hands > 0.02][:, 8:, 1].min() < 0.1
