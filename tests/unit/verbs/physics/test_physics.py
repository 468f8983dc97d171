"""Motions that obey mechanics: from the demo's jump, from recordings, and what is said where that cannot be."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import choreograph as cg
from choreograph.demo import demo_clip
from choreograph.formats import read_clip
from choreograph.verbs.physics.newton import NewtonSolver
from choreograph.verbs.physics.prepare import make_setting, problem_of, sketch_of
from choreograph.verbs.physics.program import TrajectoryProgram
from choreograph.verbs.physics.search import PhysicsResult
from choreograph.verbs.physics.sketch import refined

JUMP = demo_clip("jump_high", 60.0)
STAND = {"foot": "left", "start_s": 0.0, "end_s": 0.5, "position": (0.1, 0.0, 0.0), "facing_deg": 0.0}


@pytest.fixture(scope="module")
def question() -> TrajectoryProgram:
    request = cg.PhysicsRequest(farther_m=0.1)
    setting = make_setting(JUMP, request)
    return problem_of(setting, sketch_of(setting, request), request)


@pytest.fixture(scope="module")
def farther() -> PhysicsResult:
    return cg.physics(JUMP, cg.PhysicsRequest(farther_m=0.2))


def test_a_refined_sketch_stands_at_the_same_times(question: TrajectoryProgram) -> None:
    request = cg.PhysicsRequest()
    setting = make_setting(JUMP, request)
    once = sketch_of(setting, request)
    twice = refined(once)
    assert twice.nodes == 2 * once.nodes - 1 and np.allclose(twice.times[::2], once.times)
    assert np.array_equal(twice.flags[::2], once.flags)
    assert [(2 * s.start, 2 * s.stop - 1) for s in once.stances] == [(s.start, s.stop) for s in twice.stances]


def test_the_gradient_and_matrix_are_the_objectives_own(question: TrajectoryProgram) -> None:
    """Assembled at the guess, without inequalities, and compared with differences of the values."""
    solver = NewtonSolver(question)
    rng = np.random.default_rng(1)
    x = question.start() + 1e-3 * rng.normal(size=question.size)
    now = solver.values(x)
    inner = 2 * solver.h * solver.w_torque
    lam = {"root": rng.normal(size=(solver.count, 6)), "places": rng.normal(size=now.points.shape)}
    zero = np.zeros_like(now.tau)

    def assemble(x: np.ndarray) -> np.ndarray:
        here = solver.values(x)
        mu, row_w, row_g = np.array(here.tau) * inner, np.full_like(zero, inner), np.array(here.tau) * inner
        mu[:, :6], row_g[:, :6], row_w[:, :6] = lam["root"], lam["root"], 0.0
        none, rates = np.zeros((solver.count, solver.npts, 5)), np.zeros((solver.count - 1, solver.npts))
        solver.matrix.assemble(
            solver.spec, x, mu, lam["places"], row_w, row_g, zero, zero, np.zeros_like(lam["places"]), lam["places"],
            np.zeros((solver.count, solver.ny)), none, none,
            np.zeros((solver.count, solver.npts)), rates, rates, solver.band, solver.grad, solver.jac, solver.arms,
        )  # fmt: skip
        return np.array(solver.grad)

    def lagrangian(x: np.ndarray) -> float:
        here = solver.values(x)
        return here.objective + float((lam["root"] * here.tau[:, :6]).sum() + (lam["places"] * here.points).sum())

    gradient = assemble(x)
    step = rng.normal(size=question.size)
    slope = (lagrangian(x + 1e-6 * step) - lagrangian(x - 1e-6 * step)) / 2e-6
    assert slope == pytest.approx(float(gradient @ step), rel=1e-5)
    band, width = np.array(solver.band), solver.band.shape[1]
    product = band[:, 0] * step
    for off in range(1, width):
        product[off:] += band[:-off, off] * step[:-off]
        product[:-off] += band[:-off, off] * step[off:]
    change = (assemble(x + 1e-6 * step) - assemble(x - 1e-6 * step)) / 2e-6
    assert np.abs(change - product).max() < 1e-4 * np.abs(product).max()


def test_without_mechanics_the_matrix_is_that_of_places_alone(question: TrajectoryProgram) -> None:
    """The kinematic stage's own kernel against the whole one with no torque row and no multiplier."""
    solver, rng = NewtonSolver(question, kinematic=True), np.random.default_rng(2)
    x = question.start() + 1e-2 * rng.normal(size=question.size)
    points, rows = (solver.count, solver.npts), (solver.count, solver.n)
    given = [
        rng.random(rows), rng.normal(size=rows), rng.random((*points, 3)), rng.normal(size=(*points, 3)),
        rng.random((solver.count, solver.ny)), rng.random((*points, 5)), rng.normal(size=(*points, 5)),
        0.3 * question.active, np.zeros((points[0] - 1, points[1])), np.zeros((points[0] - 1, points[1])),
    ]  # fmt: skip
    none = np.zeros(rows)
    solver.matrix.assemble_places(solver.spec, x, *given, solver.band, solver.grad, solver.arms)
    found = [np.array(part) for part in (solver.band, solver.grad, solver.arms)]
    solver.matrix.assemble(
        solver.spec, x, none, np.zeros((*points, 3)), none, none, *given, solver.band, solver.grad, solver.jac,
        solver.arms,
    )  # fmt: skip
    for part, same in zip(found, (solver.band, solver.grad, solver.arms), strict=True):
        assert np.abs(part - same).max() < 1e-9 * np.abs(same).max()


@pytest.mark.slow
def test_both_feet_bear_no_more_together_than_they_may(farther: PhysicsResult) -> None:
    assert farther.verification is not None
    most = 0.85 * farther.verification.peak_force
    less = cg.physics(JUMP, cg.PhysicsRequest(farther_m=0.2, advanced={"limits": {"most_together": most}}))
    assert less.status == "complete" and less.verification is not None
    assert less.verification.peak_force <= most + 1e-3


def test_a_recording_says_itself_what_feet_bear() -> None:
    limits = cg.PhysicsLimits()
    assert limits.together(3.2) == 4.0 and limits.together(6.4) == 6.4
    assert limits.with_(most_together=3.0).together(6.4) == 3.0
    assert 1.5 < make_setting(JUMP, cg.PhysicsRequest()).bears < 8.0


def test_a_jump_goes_farther_and_obeys_mechanics(farther: PhysicsResult) -> None:
    assert farther.status == "complete" and not farther.problems
    checked = farther.verification
    assert checked is not None
    assert farther.best.details["violation"] <= 1e-6
    assert checked.com_off_m < 1e-3 and checked.slip_m < 4e-3 and checked.below_m < 3e-3
    assert checked.peak_force < 4.3 and checked.joint_over_deg <= 0.05 and checked.torque_over <= 1e-3
    way = [np.linalg.norm((clip.root_pos[-1] - clip.root_pos[0])[[0, 2]]) for clip in (JUMP, farther.clip)]
    assert way[1] - way[0] == pytest.approx(0.2, abs=0.03)


def test_inverse_dynamics_finds_the_same_ground_forces(farther: PhysicsResult) -> None:
    found = cg.inverse_dynamics(farther.clip, cg.DynamicsRequest(cutoff_hz=0.0)).dynamics
    assert found is not None and farther.trajectory is not None
    ours = farther.trajectory.forces.sum(axis=1)[:, 1]
    at = np.interp(np.arange(len(farther.clip)) / 60.0, farther.trajectory.times, ours)
    gap = np.abs(found.needed_force[:, 1] / found.weight - at)[2:-2]
    assert np.median(gap) < 0.05 and np.percentile(gap, 90) < 0.3


@pytest.mark.slow
def test_a_changed_request_goes_on_from_the_last_solution() -> None:
    search = cg.PhysicsSearch(JUMP, cg.PhysicsRequest())
    search.run()
    first = search.best().best.details["iterations"]
    search.change(cg.PhysicsRequest(farther_m=0.03))
    search.run()
    assert search.carried and search.best().status == "complete"
    assert search.best().best.details["iterations"] < first + 5


def test_it_can_be_cancelled() -> None:
    def stop(stage: str, done: int, total: int) -> None:
        raise cg.Cancelled

    with pytest.raises(cg.Cancelled):
        cg.physics(JUMP, progress=stop)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"start_s": 90.0}, "frames"),
        ({"goals": [{"at_s": 50.0, "pose": {}}]}, "not within"),
        ({"goals": [{"at_s": 0.5, "pose": {"frame": 99_999}}]}, "no frame"),
        ({"floor_m": 0.5}, "inside the floor"),
        ({"goals": [STAND, {**STAND, "foot": "right", "position": (3.0, 0.0, 0.0)}]}, "cm more"),
    ],
)
def test_what_cannot_be_is_said(given: dict[str, object], said: str) -> None:
    with pytest.raises(cg.RequestError, match=said):
        cg.physics(JUMP, cg.PhysicsRequest(**given))


def test_masses_must_be_above_zero() -> None:
    with pytest.raises(cg.RequestError, match="above 0"):
        cg.PhysicsRequest(body={"mass_kg": 0.0})


@pytest.mark.parametrize(
    ("name", "others", "span", "peak"),
    [
        ("16_05", ("16_06", "16_07", "16_09", "16_10"), (None, None), 4.0),
        ("16_45", ("16_46", "16_35", "16_36", "16_56", "16_55"), (0.05, 1.058), 3.3),
        ("16_21", ("16_22", "16_15", "16_16", "16_31", "16_47"), (0.3, 1.66), 1.6),
    ],
    ids=["jump", "run", "walk"],
)
def test_held_out_recordings(
    recordings: Path, name: str, others: tuple[str, ...], span: tuple[float | None, float | None], peak: float
) -> None:
    folder = recordings / "cmu/16"
    examples = [read_clip(folder / f"{other}.amc") for other in others]
    request = cg.PhysicsRequest(start_s=span[0], end_s=span[1])
    result = cg.physics(read_clip(folder / f"{name}.amc"), request, examples=examples)
    assert result.status == "complete", result.problems
    checked, recorded = result.verification, result.recorded
    assert checked is not None and recorded is not None
    assert checked.com_off_m < 1e-3 and checked.spin_drift < 0.05 and checked.slip_m < 3e-3
    assert checked.residual < 0.25 and checked.peak_force < peak and checked.below_m < 2e-3
    # Nearer to what the person did than a straight line from the first pose to the last.
    at = np.rint(np.linspace(0, len(recorded) - 1, len(result.clip))).astype(int)
    real = recorded.global_positions()[at]
    made = np.linalg.norm(result.clip.global_positions() - real, axis=2).mean()
    share = np.linspace(0, 1, len(at))[:, None, None]
    line = np.linalg.norm(real[0] + share * (real[-1] - real[0]) - real, axis=2).mean()
    assert made < 0.8 * line
