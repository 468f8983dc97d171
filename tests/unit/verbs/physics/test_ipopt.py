"""A second solver on the same derivatives: both find the same motion."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csc_matrix

import choreograph as cg
from choreograph.demo import demo_clip
from choreograph.verbs.physics.ipopt import _Nlp, solve_ipopt
from choreograph.verbs.physics.prepare import make_setting, problem_of, sketch_of
from choreograph.verbs.physics.program import TrajectoryProgram
from choreograph.verbs.physics.sketch import refined
from choreograph.verbs.physics.solve_stages import solve_in_stages


@pytest.fixture(scope="module")
def question() -> TrajectoryProgram:
    clip = demo_clip("walk", 30.0)
    request = cg.PhysicsRequest(start_s=0.2, end_s=0.7, advanced={"limits": {"force_rate": 30.0, "most_together": 1.3}})
    setting = make_setting(clip, request)
    sketch = sketch_of(setting, request, coarser=3.0)
    uneven = np.zeros(sketch.nodes - 1, bool)
    uneven[3] = True
    return problem_of(setting, refined(sketch, uneven), request)


def test_the_jacobian_and_hessian_are_those_of_the_values(question: TrajectoryProgram) -> None:
    nlp, rng = _Nlp(question, None), np.random.default_rng(0)
    x, step = question.start(), rng.normal(size=question.size)
    shape = (nlp.rows, question.size)

    def jacobian(x: np.ndarray) -> csc_matrix:
        return csc_matrix((nlp.jacobian(x), (nlp.jac_rows, nlp.jac_cols)), shape=shape)

    ahead, back = (nlp.constraints(nlp.solver.values(x + sign * 1e-6 * step)) for sign in (1, -1))
    assert np.abs(jacobian(x) @ step - (ahead - back) / 2e-6).max() < 1e-6 * np.abs(ahead - back).max() / 2e-6
    lam = rng.normal(size=nlp.rows)
    upper = csc_matrix(
        (nlp.hessian(x, 0.7, lam), (nlp.hess_cols, nlp.hess_cols + nlp.hess_offsets)), shape=(shape[1], shape[1])
    )
    product = upper @ step + upper.T @ step - upper.diagonal() * step
    ends = [0.7 * nlp.gradient(x + s * 1e-6 * step) + jacobian(x + s * 1e-6 * step).T @ lam for s in (1, -1)]
    assert np.abs(product - (ends[0] - ends[1]) / 2e-6).max() < 1e-4 * np.abs(product).max()


@pytest.mark.slow
def test_both_solvers_find_the_same_motion(question: TrajectoryProgram) -> None:
    pytest.importorskip("casadi")
    own = solve_in_stages(question)
    start = 0.8 * own.solution.x + 0.2 * question.start()
    other = solve_ipopt(question, start, iterations=120)
    assert own.converged and other.status == "converged" and other.violation <= 1e-6
    assert other.objective == pytest.approx(own.solution.objective, rel=2e-3)


def test_ipopt_can_be_stopped(question: TrajectoryProgram) -> None:
    pytest.importorskip("casadi")

    def stop(iteration: int, x: np.ndarray, violation: float) -> None:
        raise cg.Cancelled

    with pytest.raises(cg.Cancelled):
        solve_ipopt(question, question.start(), watch=stop)
