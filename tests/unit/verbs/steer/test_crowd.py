"""Characters that are steered: lines kept, goals changed, feet held, poses at any rate, and what is recorded."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from tests.unit.verbs.steer.conftest import NAMES

import choreograph as cg
from choreograph.demo import demo_clip
from choreograph.finishing.foot_contacts import foot_slide
from choreograph.verbs.steer.avoid import Avoid
from choreograph.verbs.steer.controller import SteerPolicy
from choreograph.verbs.steer.costs import StepCosts, StepObjective, score_steps
from choreograph.verbs.steer.crowd import Crowd
from choreograph.verbs.steer.evaluate import beam_cost, policy_cost
from choreograph.verbs.steer.frame_pool import FramePool
from choreograph.verbs.steer.goals import MovingObstacle, SteerGoal
from choreograph.verbs.steer.learn import PolicyLearning, learn
from choreograph.verbs.steer.policy import ValueFunction
from choreograph.verbs.steer.prepare import standard_tasks
from choreograph.verbs.steer.recording import SteerRecording


def walked(crowd: Crowd, seconds: float, rate: float = 30.0) -> np.ndarray:
    return np.array([crowd.tick(1 / rate).root_pos[0] for _ in range(round(seconds * rate))])


@pytest.mark.slow
def test_a_line_is_kept_and_gone_back_on(policy: SteerPolicy, pool: FramePool) -> None:
    crowd = Crowd(policy, pool)
    one = crowd.add(goal=SteerGoal(0.0, 0.0, 0.0))
    there = walked(crowd, 20.0)
    assert np.abs(there[150:, 0]).mean() < 0.12 and there[-1, 2] > 15
    one.set_goal(SteerGoal(0.0, 0.0, math.pi))
    back = walked(crowd, 14.0)
    assert back[-1, 2] < there[-1, 2] - 5 and abs(back[-1, 0]) < 0.3


@pytest.mark.slow
def test_a_goal_that_changes_within_a_step_is_heard_at_once(policy: SteerPolicy, pool: FramePool) -> None:
    ways = []
    for goal in (None, SteerGoal(heading=math.pi / 2)):
        crowd = Crowd(policy, pool)
        one = crowd.add(goal=SteerGoal(0.0, 0.0, 0.0))
        walked(crowd, 4.1)
        if goal is not None:
            one.set_goal(goal)
        ways.append(walked(crowd, 0.6, 60.0))
    assert np.abs(ways[1] - ways[0]).max() > 0.05


def test_the_output_rate_does_not_change_the_motion(policy: SteerPolicy, pool: FramePool) -> None:
    ends = []
    for rate in (24.0, 30.0, 120.0):
        crowd = Crowd(policy, pool, clean=False)
        crowd.add(goal=SteerGoal(0.0, 0.0, 0.7))
        ends.append(walked(crowd, 6.0, rate)[-1])
    assert np.allclose(ends[0], ends[1], atol=1e-6) and np.allclose(ends[0], ends[2], atol=1e-6)


def test_speed_zero_is_standing_and_goes_on(policy: SteerPolicy, pool: FramePool) -> None:
    crowd = Crowd(policy, pool)
    one = crowd.add(goal=SteerGoal(0.0, 0.0, 0.0))
    walked(crowd, 3.0)
    one.set_goal(SteerGoal(speed=0.0))
    walked(crowd, 4.0)
    still = walked(crowd, 3.0)
    assert np.ptp(still[:, [0, 2]], axis=0).max() < 0.25
    one.set_goal(SteerGoal(speed=1.3))
    assert np.linalg.norm(walked(crowd, 5.0)[-1] - still[-1]) > 2.5


def test_each_frame_is_a_pose_and_nobody_jumps(policy: SteerPolicy, pool: FramePool) -> None:
    crowd = Crowd(policy, pool)
    one = crowd.add(goal=SteerGoal(0.0, 0.0, 0.0))
    places = []
    for k in range(600):
        if k % 100 == 99:
            one.set_goal(SteerGoal(heading=0.9 * k))
        poses = crowd.tick(1 / 60)
        assert np.allclose(np.linalg.norm(poses.local_rot, axis=-1), 1)
        assert poses.layers[0, :, 4].sum() == pytest.approx(1)
        places.append(poses.root_pos[0])
    assert np.linalg.norm(np.diff(places, axis=0), axis=1).max() < 0.08


def test_live_feet_wander_less_than_blended_ones(policy: SteerPolicy, pool: FramePool) -> None:
    slides = []
    for clean in (False, True):
        crowd = Crowd(policy, pool, clean=clean)
        one = crowd.add(goal=SteerGoal(0.0, 0.0, 0.0))
        frames = []
        for k in range(480):
            if k % 90 == 89:
                one.set_goal(SteerGoal(heading=0.5 * k))
            poses = crowd.tick(1 / 30)
            frames.append((poses.root_pos[0], poses.local_rot[0]))
        root, rot = (np.array(part) for part in zip(*frames, strict=True))
        slides.append(foot_slide(cg.Clip(pool.skeleton, 30.0, root, rot)))
    assert slides[1] < 0.9 * slides[0]


def test_a_recording_becomes_a_montage_that_knows_its_sources(policy: SteerPolicy, pool: FramePool) -> None:
    crowd, steps = Crowd(policy, pool), policy.costs.steps
    crowd.add(goal=SteerGoal(0.0, 0.0, 0.0))
    crowd.add(3.0, 1.0, 2.0)
    recording = SteerRecording(steps.clips, 30.0)
    for _ in range(120):
        recording.take(crowd.tick(1 / 30))
    montage = recording.montage(1)
    assert len(montage) == 120
    done = cg.finish(montage)
    assert set(done.origins.source_clip.tolist()) <= set(range(len(steps.clips)))
    assert np.abs(done.clip.root_pos[-1] - crowd.poses().root_pos[1]).max() < 0.1


@pytest.mark.parametrize("speed", [None, 1.2])
@pytest.mark.parametrize("gait", [None, "walk"])
@pytest.mark.parametrize(("x", "heading"), [(30.0, 0.0), (-30.0, 0.0), (8.0, math.pi), (3.0, 0.0)])
def test_however_far_its_line_is_a_character_comes_to_it(
    policy: SteerPolicy, pool: FramePool, x: float, heading: float, gait: str | None, speed: float | None
) -> None:
    crowd = Crowd(policy, pool)
    one = crowd.add(goal=SteerGoal(x, 0.0, heading, speed, gait))
    away = np.abs(walked(crowd, 14.0)[:, 0] - x)
    assert not one.outside
    assert away[-1] < max(0.3, abs(x) - 8)
    every = away[:: len(away) // 14]  # a second apart, from when it has turned
    assert ((np.diff(every[3:]) < -0.3) | (every[4:] < 1.5)).all()


def test_a_gait_without_a_speed_does_not_stand(policy: SteerPolicy) -> None:
    steps, costs = policy.costs.steps, policy.costs
    still = steps.speed < 0.1
    assert still.any()
    assert (costs.goal(StepObjective(label="walk"))[still] > 3 * steps.seconds[still]).all()
    assert costs.goal(StepObjective(label="stand"))[still] == pytest.approx(0.0)


def test_a_turn_beyond_what_is_learned_is_a_problem_of_the_result(policy: SteerPolicy) -> None:
    graph = cg.build_graph([demo_clip(name, 30.0) for name in NAMES])
    request = cg.SteerRequest("circle:radius=0.4", duration_s=3.0)
    result = cg.SteerSearch(graph, request, policy=policy).run()
    assert "navigate.curvature" in result.best.details["clamped"]
    (said,) = [one.text for one in result.problems if one.kind == "out_of_range"]
    assert "-1 to 1" in said and "bends less sharply" in said


@pytest.mark.parametrize(("x", "said"), [(4.0, "reached after"), (12.0, "not reached yet")])
def test_a_line_far_away_is_said_with_when_it_was_come_to(policy: SteerPolicy, x: float, said: str) -> None:
    graph = cg.build_graph([demo_clip(name, 30.0) for name in NAMES])
    goals = [{"heading_deg": 0.0}, {"at_s": 1.0, "place": (x, 0.0), "heading_deg": 0.0}]
    result = cg.SteerSearch(graph, cg.SteerRequest(goals=goals, duration_s=9.0), policy=policy).run()
    assert any(f"The line was up to {x:.1f} m away, {said}" in one.text for one in result.problems)


def test_bad_ticks_goals_and_places_are_refused(policy: SteerPolicy, pool: FramePool) -> None:
    crowd = Crowd(policy, pool)
    with pytest.raises(cg.RequestError, match="begins at"):
        crowd.add(math.nan)
    one = crowd.add()
    with pytest.raises(cg.RequestError, match="time moves on"):
        crowd.tick(-1.0)
    with pytest.raises(cg.RequestError, match="no step is a 'swim'"):
        one.set_goal(SteerGoal(label="swim"))


def test_the_policy_is_no_better_than_a_beam_and_not_much_worse(policy: SteerPolicy) -> None:
    state = np.array([0.5, 1.0, 0.0])
    ours, best = policy_cost(policy, 3, state, 4.0), beam_cost(policy, 3, state, 4.0, 20)
    assert best <= ours + 1e-9 < 3 * best


def test_an_obstacle_ahead_makes_straight_on_cost_more(policy: SteerPolicy, pool: FramePool) -> None:
    task = Avoid()
    value = ValueFunction("avoid", task.basis, np.zeros(task.basis.size), np.zeros(len(policy.costs.steps.cut_foot)))
    both = SteerPolicy(policy.costs, {**policy.tasks, "avoid": task}, {**policy.values, "avoid": value})
    ends = []
    for others in ([], [MovingObstacle(0.0, 5.0, 0.6)]):
        crowd = Crowd(both, pool)
        crowd.add(goal=SteerGoal(0.0, 0.0, 0.0))
        ends.append(np.array([crowd.tick(1 / 30, others).root_pos[0] for _ in range(150)]))
    gaps = [np.hypot(way[:, 0], way[:, 2] - 5.0).min() for way in ends]
    assert gaps[0] < 0.2 < gaps[1]


def test_an_obstacle_that_is_met_is_seen_as_it_was() -> None:
    task = Avoid(pace_m_s=1.0)
    assert np.allclose(task.met(np.array([[0.3, 4.0, 0.0, -1.0]])), [[0.3, 4.0, 0.0, 2.0]])  # passes on the left
    assert np.allclose(task.met(np.array([[-2.0, 2.0, 1.0, 0.0]])), [[0.0, math.sqrt(8), -math.pi / 4, math.sqrt(2)]])
    for seen in np.random.default_rng(3).uniform(-2, 2, (20, 4)):
        assert np.allclose(task.seen(task.met(seen[None])[0]), seen)


def test_compiled_avoidance_is_its_plain_twin(policy: SteerPolicy) -> None:
    task, costs = Avoid(), policy.costs
    rng = np.random.default_rng(5)
    value = ValueFunction("avoid", task.basis, rng.normal(size=task.basis.size), np.zeros(len(costs.steps.cut_foot)))
    for state in ((0.3, 2.0, 0.2, 2.2), (-2.1, 5.5, -2.5, 0.5), (0.1, 0.4, 3.0, 0.9)):
        fast, plain = (np.zeros((len(costs.steps), len(costs.bend))) for _ in range(2))
        own = policy.ahead(SteerGoal())
        task.add_scores(4, np.array(state), costs, own, value, fast)
        super(Avoid, task).add_scores(4, np.array(state), costs, own, value, plain)
        assert np.allclose(fast, plain, atol=1e-9)
        step, bend, score = task.best(4, np.array(state), costs, own, value, np.empty_like(fast))
        whole = np.full_like(fast, np.inf)
        low, high = score_steps(costs, 4, own, whole)
        task.add_scores(4, np.array(state), costs, own, value, whole)
        assert score == pytest.approx(whole[step, bend]) and score <= whole[low:high, 0].min() + 1e-9


@pytest.mark.slow
def test_a_script_through_python(tmp_path: Path) -> None:
    graph = cg.build_graph([demo_clip(name, 30.0) for name in ("walk", "walk_veer_left", "walk_turn_90_left")])
    file = tmp_path / "goals.csv"
    file.write_text("t,x,z,heading_deg,speed\n0,0,0,0,\n4,0,4,90,\n", encoding="utf-8")
    request = cg.SteerRequest(goals=str(file), duration_s=9.0)
    result = cg.steer(graph, request)
    assert result.clip.seconds == pytest.approx(9.0, abs=0.1)
    assert result.clip.root_pos[-1, 0] > 2.5
    assert result.best.details["learning"]["navigate"]["coverage"] == 1.0
    again = cg.steer(graph, request)
    assert np.array_equal(again.clip.local_rot, result.clip.local_rot)


def test_who_turns_in_place_stays_there(costs: StepCosts, pool: FramePool) -> None:
    tasks = standard_tasks(costs.settings)
    value = learn(tasks["spin"], costs, PolicyLearning(samples=400, sweeps=6, weighed=False))
    crowd = Crowd(SteerPolicy(costs, {"spin": tasks["spin"]}, {"spin": value}), pool)
    crowd.add(2.0, -1.0, goal=SteerGoal(2.0, -1.0, 0.0, speed=0.0, turn=0.8))
    way = np.array([crowd.tick(0.2).root_pos[0, [0, 2]] for _ in range(5 * 300)])
    assert np.hypot(*(way - (2.0, -1.0)).T).max() < 2.0
