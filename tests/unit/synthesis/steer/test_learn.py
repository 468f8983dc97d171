"""Kernels against their plain twins, bases, and value functions that steer."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.interpolate import BSpline

import choreograph as cg
from choreograph.progress import Recorder
from choreograph.synthesis.steer.basis import Basis, Dimension
from choreograph.synthesis.steer.controller import SteerBrain
from choreograph.synthesis.steer.costs import StepCosts, Wanted, score_steps
from choreograph.synthesis.steer.crowd import Crowd
from choreograph.synthesis.steer.learn import LearnSettings, learn
from choreograph.synthesis.steer.policy import ValueFunction
from choreograph.synthesis.steer.pool import Pool
from choreograph.synthesis.steer.prepare import check_fits
from choreograph.synthesis.steer.tasks import Navigate, Spin, SteerTask


def test_splines_are_scipys_and_sum_to_one() -> None:
    basis = Basis((Dimension("x", -1.0, 2.0, 7),))
    at = np.linspace(-1, 2, 23)
    index, weight = basis.at(at[:, None])
    coefficients = np.random.default_rng(1).normal(size=7)
    step = 3.0 / 4
    plain = BSpline(-1 + step * np.arange(-3, 8), coefficients, 3)(np.minimum(at, 2 - 1e-9))
    assert np.allclose((coefficients[index] * weight).sum(axis=1), plain, atol=1e-7)
    assert np.allclose(weight.sum(axis=1), 1)


def test_a_periodic_dimension_closes() -> None:
    basis = Basis((Dimension("a", -math.pi, math.pi, 8, periodic=True, warp=0.4),))
    value = ValueFunction("any", basis, np.random.default_rng(2).normal(size=8), np.zeros(1))
    assert value.at(np.array([[-math.pi]])) == pytest.approx(value.at(np.array([[math.pi]])))
    assert value.at(np.array([[0.3]])) == pytest.approx(value.at(np.array([[0.3 + 2 * math.pi]])))


def test_holding_dimensions_gives_the_same_function() -> None:
    basis = Navigate().basis
    rng = np.random.default_rng(3)
    value = ValueFunction("navigate", basis, rng.normal(size=basis.size), np.zeros(1))
    state = np.array([[0.7, -1.1, 0.4]])
    held, table = value.held_at(state[0, 2:])
    left = ValueFunction("held", Basis(basis.dimensions[:2]), held, np.zeros(1))
    assert left.at(state[:, :2]) == pytest.approx(value.at(state))
    assert table.shape == (2, 5)


@pytest.mark.parametrize("state", [(0.0, 0.0, 0.0), (0.8, -2.9, 0.0), (-5.0, 1.2, 0.6), (1.5, 3.0, -0.9)])
def test_the_compiled_scores_are_those_of_the_plain_twin(costs: StepCosts, state: tuple[float, ...]) -> None:
    task, rng = Navigate(), np.random.default_rng(4)
    value = ValueFunction("navigate", task.basis, rng.normal(size=task.basis.size), np.zeros(len(costs.steps.cut_foot)))
    goal = costs.goal(Wanted(speed=1.0))
    fast, plain = (np.zeros((len(costs.steps), len(costs.bend))) for _ in range(2))
    for cut in (0, 7, 20):
        for out, add in ((fast, task.add_scores), (plain, super(Navigate, task).add_scores)):
            score_steps(costs, cut, goal, costs.ahead(goal), out)
            add(cut, np.array(state), costs, value, out)
        assert np.allclose(fast, plain, atol=1e-9)


def test_what_follows_from_a_cut_obeys_bellman(costs: StepCosts) -> None:
    steps, goal = costs.steps, costs.goal(Wanted(speed=0.0))
    ahead = costs.ahead(goal)
    for cut in range(0, len(ahead), 5):
        low, high = steps.ranges[steps.cut_foot[cut] :][:2]
        next_ = costs.price[cut, steps.start[low:high]] + goal[low:high]
        assert ahead[cut] == pytest.approx((next_ + (costs.discount * ahead[steps.stop])[low:high]).min(), abs=1e-3)


def test_the_linear_program_ends_with_every_sample_obeyed(costs: StepCosts) -> None:
    settings = LearnSettings(samples=250, sweeps=4, rounds=30)
    value = learn(Spin(), costs, settings)
    assert value.report["rows"] >= 250 and value.report["violation"] <= settings.tolerance
    assert value.report["coverage"] == 1.0
    assert 0 < value.report["search_cost"] <= value.report["policy_cost"] < 3 * value.report["search_cost"]


def test_learning_can_be_cancelled(costs: StepCosts) -> None:
    with pytest.raises(cg.Cancelled):
        learn(Navigate(), costs, LearnSettings(samples=50), Recorder(cancel_after=2))


class _Broken(Navigate):
    def cost(self, state: np.ndarray, after: np.ndarray, moves: np.ndarray, seconds: np.ndarray) -> np.ndarray:
        raise ZeroDivisionError("no way")


class _Nowhere(Navigate):
    def cost(self, state: np.ndarray, after: np.ndarray, moves: np.ndarray, seconds: np.ndarray) -> np.ndarray:
        return np.full(len(after), np.nan)


@pytest.mark.parametrize(("task", "said"), [(_Broken(), "ZeroDivisionError: no way"), (_Nowhere(), "is no number")])
def test_a_task_that_fails_is_named(costs: StepCosts, task: SteerTask, said: str) -> None:
    with pytest.raises(cg.RequestError, match=said):
        learn(task, costs, LearnSettings(samples=5, sweeps=1))


def test_a_value_function_of_another_graph_is_refused(brain: SteerBrain) -> None:
    value = brain.values["navigate"]
    task, steps = brain.tasks["navigate"], brain.costs.steps
    check_fits(value, task, steps)
    fewer = ValueFunction("navigate", value.basis, value.coefficients, value.cuts[1:])
    with pytest.raises(cg.RequestError, match="another graph"):
        check_fits(fewer, task, steps)
    with pytest.raises(cg.RequestError, match="another version"):
        check_fits(ValueFunction("spin", value.basis, value.coefficients, value.cuts), task, steps)


class _Home(SteerTask):
    name = "home"
    dimensions = (Dimension("left", -8, 8, 7, warp=1.0), Dimension("ahead", -8, 8, 7, warp=1.0))  # type: ignore[assignment]

    def moved(self, state: np.ndarray, moves: np.ndarray, seconds: np.ndarray) -> np.ndarray:
        x, z = state[0] - moves[:, 1], state[1] - moves[:, 2]
        cos, sin = np.cos(moves[:, 0]), np.sin(moves[:, 0])
        return np.stack([x * cos - z * sin, x * sin + z * cos], axis=1)

    def cost(self, state: np.ndarray, after: np.ndarray, moves: np.ndarray, seconds: np.ndarray) -> np.ndarray:
        return np.asarray(seconds * np.hypot(after[:, 0], after[:, 1]))

    def state(self, place: np.ndarray) -> np.ndarray:
        yaw, x, z = place
        return np.array([-x * np.cos(yaw) + z * np.sin(yaw), -x * np.sin(yaw) - z * np.cos(yaw)])


class _Lost(_Home):
    def state(self, place: np.ndarray) -> np.ndarray:
        raise KeyError("where")


def test_a_task_of_ones_own_leads_home(costs: StepCosts, pool: Pool) -> None:
    value = learn(_Home(), costs, LearnSettings(samples=1000, sweeps=10))
    crowd = Crowd(SteerBrain(costs, {"home": _Home()}, {"home": value}), pool)
    crowd.add(4.0, -5.0, math.pi)
    way = np.array([crowd.tick(1 / 30).root_pos[0, [0, 2]] for _ in range(450)])
    assert np.hypot(*way.T)[-150:].min() < 1.0
    lost = Crowd(SteerBrain(costs, {"home": _Lost()}, {"home": value}), pool)
    lost.add()
    with pytest.raises(cg.RequestError, match="KeyError"):
        [lost.tick(0.3) for _ in range(5)]
