"""Kernels against their plain twins, bases, and value functions that steer."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.interpolate import BSpline

import choreograph as cg
from choreograph.base.floor import compose
from choreograph.base.progress import Recorder
from choreograph.verbs.steer.avoid import Avoid
from choreograph.verbs.steer.basis import Dimension, SplineBasis
from choreograph.verbs.steer.controller import SteerPolicy
from choreograph.verbs.steer.costs import StepCosts, StepObjective, score_steps
from choreograph.verbs.steer.crowd import Crowd
from choreograph.verbs.steer.frame_pool import FramePool
from choreograph.verbs.steer.goals import SteerGoal
from choreograph.verbs.steer.learn import QUICK, PolicyLearning, draw_samples, learn
from choreograph.verbs.steer.navigate import DEEP, Navigate
from choreograph.verbs.steer.policy import ValueFunction, check_fits
from choreograph.verbs.steer.tasks import TRIED_BENT, Spin, SteerTask


def test_splines_are_scipys_and_sum_to_one() -> None:
    basis = SplineBasis((Dimension("x", -1.0, 2.0, 7),))
    at = np.linspace(-1, 2, 23)
    index, weight = basis.at(at[:, None])
    coefficients = np.random.default_rng(1).normal(size=7)
    step = 3.0 / 4
    plain = BSpline(-1 + step * np.arange(-3, 8), coefficients, 3)(np.minimum(at, 2 - 1e-9))
    assert np.allclose((coefficients[index] * weight).sum(axis=1), plain, atol=1e-7)
    assert np.allclose(weight.sum(axis=1), 1)


def test_a_periodic_dimension_closes() -> None:
    basis = SplineBasis((Dimension("a", -math.pi, math.pi, 8, periodic=True, warp=0.4),))
    value = ValueFunction("any", basis, np.random.default_rng(2).normal(size=8), np.zeros(1))
    assert value.at(np.array([[-math.pi]])) == pytest.approx(value.at(np.array([[math.pi]])))
    assert value.at(np.array([[0.3]])) == pytest.approx(value.at(np.array([[0.3 + 2 * math.pi]])))


@pytest.mark.parametrize("state", [(0.0, 0.0, 0.0), (0.8, -2.9, 0.0), (-5.0, 1.2, 0.6), (1.5, 3.0, -0.9)])
def test_the_compiled_scores_are_those_of_the_plain_twin(costs: StepCosts, state: tuple[float, ...]) -> None:
    task, rng = Navigate(), np.random.default_rng(4)
    value = ValueFunction("navigate", task.basis, rng.normal(size=task.basis.size), np.zeros(len(costs.steps.cut_foot)))
    own = costs.following(StepObjective(speed=1.0), task.direction)
    fast, plain = (np.zeros((len(costs.steps), len(costs.bend))) for _ in range(2))
    for cut in (0, 7, 20):
        for out, add in ((fast, task.add_scores), (plain, super(Navigate, task).add_scores)):
            score_steps(costs, cut, own, out)
            add(cut, np.array(state), costs, own, value, out)
        assert np.allclose(fast, plain, atol=1e-9)


def test_what_follows_from_a_cut_obeys_bellman(costs: StepCosts) -> None:
    steps, goal = costs.steps, costs.goal(StepObjective(speed=0.0))
    ahead = costs.ahead(goal)
    for cut in range(0, len(ahead), 5):
        low, high = steps.ranges[steps.cut_foot[cut] :][:2]
        next_ = costs.price[cut, steps.start[low:high]] + goal[low:high]
        assert ahead[cut] == pytest.approx((next_ + (costs.discount * ahead[steps.stop])[low:high]).min(), abs=1e-3)


def _turned(values: np.ndarray, cut: int, angle: float) -> float:
    """A row of a table of angles, evenly from -π on, as straight lines."""
    every = np.append(values[cut], values[cut, 0])
    return float(np.interp((angle + math.pi) % (2 * math.pi), np.linspace(0, 2 * math.pi, len(every)), every))


def test_what_turning_costs_obeys_bellman_at_every_cut_and_angle(costs: StepCosts) -> None:
    steps, own = costs.steps, costs.following(StepObjective(speed=1.0), 1.0)
    values = own.turning + own.cuts[:, None]
    angles = np.linspace(-math.pi, math.pi, values.shape[1], endpoint=False)
    assert own.turning.min() >= 0 and own.turning[:, 0].mean() > 1.0
    wrong = []
    for cut in range(0, len(values), 9):
        low, high = steps.ranges[steps.cut_foot[cut] :][:2]
        for k in range(0, len(angles), 8):
            best = math.inf
            for step in range(low, high):
                for bend, price in enumerate(costs.bend):
                    turn = steps.align[cut, steps.start[step], 0] + steps.moves[step, bend, 0]
                    after = (angles[k] + turn + math.pi) % (2 * math.pi) - math.pi
                    cost = costs.price[cut, steps.start[step]] + own.goal[step] + price
                    cost += 0.5 * steps.seconds[step] * (abs(angles[k]) + abs(after))
                    later = _turned(values, int(steps.stop[step]), after)
                    best = min(best, cost + costs.discount[step] * later)
            wrong.append(values[cut, k] - max(best, own.cuts[cut]))
    assert np.abs(wrong).max() < 0.2 and np.abs(wrong).mean() < 0.05


def test_turning_counts_at_angles_between_those_of_the_table(costs: StepCosts) -> None:
    own = costs.following(StepObjective(), 1.0)
    cuts, angle = np.array([3, 3, 8]), np.array([-math.pi, 3.1, 0.37])
    plain = [_turned(own.turning, int(cut), float(at)) for cut, at in zip(cuts, angle, strict=True)]
    assert np.allclose(own.turning_at(cuts, angle), plain)
    assert costs.following(StepObjective()).turning_at(cuts, angle).tolist() == [0, 0, 0]


@pytest.mark.parametrize("state", [(0.0, math.pi, 0.0), (0.3, -2.6, 0.3), (-1.0, 0.4, 0.0)])
def test_a_deep_choice_is_the_best_of_two_steps(costs: StepCosts, state: tuple[float, ...]) -> None:
    """Against all pairs of steps, the second unbent, where every step is looked at."""
    task, steps = Navigate(), costs.steps
    rng = np.random.default_rng(6)
    value = ValueFunction("navigate", task.basis, rng.normal(size=task.basis.size), np.zeros(len(steps.cut_foot)))
    own, out = costs.following(StepObjective(), task.direction), np.empty((len(steps), len(costs.bend)))

    def scores(cut: int, at: np.ndarray) -> tuple[int, int, np.ndarray]:
        low, high = score_steps(costs, cut, own, out)
        task.add_scores(cut, at, costs, own, value, out)
        return low, high, out[low:high].copy()

    for cut in (0, 7, 20):
        at = np.array(state)
        low, _, first = scores(cut, at)
        tried = low + np.argsort(first[:, 0])[:TRIED_BENT]
        tried = tried[np.argsort(first[tried - low].min(axis=1))][:DEEP]
        best = (math.inf, -1, -1)
        for step in tried:
            bend = int(first[step - low].argmin())
            move = compose(steps.align[cut, steps.start[step]], steps.moves[step, bend])[None]
            lasts = steps.seconds[[step]]
            after = task.moved(at, move, lasts)
            cost = costs.price[cut, steps.start[step]] + own.goal[step] + costs.bend[bend]
            cost += float(task.cost(at, after, move, lasts)[0])
            end = int(steps.stop[step])
            start, _, second = scores(end, after[0])
            near = costs.near[end][costs.near[end] >= 0] - start
            best = min(best, (cost + costs.discount[step] * second[near, 0].min(), int(step), bend))
        found = task.best(cut, at, costs, own, value, out)
        assert found[2] == pytest.approx(best[0]) and found[:2] == best[1:]


@pytest.mark.parametrize("task", [Navigate(), Avoid()])
def test_choices_of_many_samples_are_those_of_each(costs: StepCosts, task: SteerTask) -> None:
    rng, steps = np.random.default_rng(8), costs.steps
    kind = rng.integers(2, size=len(steps.cut_foot))
    value = ValueFunction(task.name, task.basis, rng.normal(size=2 * task.basis.size), np.zeros(len(kind)), kind=kind)
    own, out = costs.following(StepObjective(), task.direction), np.empty((len(steps), len(costs.bend)))
    states, cuts = draw_samples(task.basis, kind, 40, rng)
    many = task.choices(cuts, states, costs, own, value)
    assert many is not None
    for n, (cut, state) in enumerate(zip(cuts, states, strict=True)):
        step, bend, _ = task.best(int(cut), state, costs, own, value, out, deep=False)
        move = compose(steps.align[cut, steps.start[step]], steps.moves[step, bend])[None]
        after = task.moved(state, move, steps.seconds[[step]])
        spent = costs.price[cut, steps.start[step]] + own.goal[step] + costs.bend[bend]
        spent += task.cost(state, after, move, steps.seconds[[step]])[0]
        assert many.steps[n] == step and many.spent[n] == pytest.approx(spent)
        assert np.allclose(np.exp(1j * many.after[n]), np.exp(1j * after[0]), atol=1e-9)


def test_a_quick_value_function_goes_back_the_way_it_came(costs: StepCosts, pool: FramePool) -> None:
    for seed in range(3):
        value = learn(Navigate(), costs, replace(QUICK, seed=seed))
        crowd = Crowd(SteerPolicy(costs, {"navigate": Navigate()}, {"navigate": value}), pool)
        one = crowd.add(goal=SteerGoal(0.0, 0.0, 0.0))
        for _ in range(90):
            crowd.tick(1 / 30)
        one.set_goal(SteerGoal(0.0, float(crowd.poses().root_pos[0, 2]), math.pi))
        way = np.array([crowd.tick(1 / 30).root_pos[0, [0, 2]] for _ in range(240)])
        assert way[-1, 1] < way[:, 1].max() - 2.0, f"seed {seed} never turned back"


def test_the_linear_program_ends_with_every_sample_obeyed(costs: StepCosts) -> None:
    settings = PolicyLearning(samples=250, sweeps=4, rounds=30)
    value = learn(Spin(), costs, settings)
    assert value.report["rows"] >= 250 and value.report["violation"] <= settings.tolerance
    assert value.report["coverage"] == 1.0
    assert 0 < value.report["search_cost"] <= value.report["policy_cost"] < 3 * value.report["search_cost"]


def test_learning_can_be_cancelled(costs: StepCosts) -> None:
    with pytest.raises(cg.Cancelled):
        learn(Navigate(), costs, PolicyLearning(samples=50), Recorder(cancel_after=2))


class _Broken(Navigate):
    def cost(self, state: np.ndarray, after: np.ndarray, moves: np.ndarray, seconds: np.ndarray) -> np.ndarray:
        raise ZeroDivisionError("no way")


class _Nowhere(Navigate):
    def cost(self, state: np.ndarray, after: np.ndarray, moves: np.ndarray, seconds: np.ndarray) -> np.ndarray:
        return np.full(len(after), np.nan)


@pytest.mark.parametrize(("task", "said"), [(_Broken(), "ZeroDivisionError: no way"), (_Nowhere(), "is no number")])
def test_a_task_that_fails_is_named(costs: StepCosts, task: SteerTask, said: str) -> None:
    with pytest.raises(cg.RequestError, match=said):
        learn(task, costs, PolicyLearning(samples=5, sweeps=1))


def test_a_value_function_of_another_graph_is_refused(policy: SteerPolicy) -> None:
    value = policy.values["navigate"]
    task, steps = policy.tasks["navigate"], policy.costs.steps
    check_fits(value, task, steps)
    fewer = ValueFunction("navigate", value.basis, value.coefficients, value.cuts[1:])
    with pytest.raises(cg.RequestError, match="another graph"):
        check_fits(fewer, task, steps)
    other = replace(value, steps="of somebody else")
    with pytest.raises(cg.RequestError, match="other recordings"):
        SteerPolicy(policy.costs, {"navigate": task}, {"navigate": other})
    nowhere = replace(value, cuts=value.cuts * np.nan)
    with pytest.raises(cg.RequestError, match="no numbers"):
        check_fits(nowhere, task, steps)
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


class _Stuck(_Home):
    def cost(self, state: np.ndarray, after: np.ndarray, moves: np.ndarray, seconds: np.ndarray) -> np.ndarray:
        raise ValueError("not there")


@pytest.mark.parametrize("beside", [False, True])
def test_a_task_that_raises_while_it_steers_is_named(policy: SteerPolicy, pool: FramePool, beside: bool) -> None:
    task, count = _Stuck(), len(policy.costs.steps.cut_foot)
    value = ValueFunction("home", task.basis, np.zeros(task.basis.size), np.zeros(count))
    others, known = (policy.tasks, policy.values) if beside else ({}, {})
    crowd = Crowd(SteerPolicy(policy.costs, {**others, "home": task}, {**known, "home": value}), pool)
    crowd.add()
    with pytest.raises(cg.RequestError, match="'home' raised ValueError: not there"):
        [crowd.tick(0.3) for _ in range(5)]


@pytest.mark.slow
def test_a_task_of_ones_own_leads_home(costs: StepCosts, pool: FramePool) -> None:
    value = learn(_Home(), costs, PolicyLearning(samples=1000, sweeps=10))
    crowd = Crowd(SteerPolicy(costs, {"home": _Home()}, {"home": value}), pool)
    crowd.add(4.0, -5.0, math.pi)
    way = np.array([crowd.tick(1 / 30).root_pos[0, [0, 2]] for _ in range(450)])
    assert np.hypot(*way.T)[-150:].min() < 1.0
    lost = Crowd(SteerPolicy(costs, {"home": _Lost()}, {"home": value}), pool)
    lost.add()
    with pytest.raises(cg.RequestError, match="KeyError"):
        [lost.tick(0.3) for _ in range(5)]
