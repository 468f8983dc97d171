"""Feet stay on the floor while hands are asked for."""

from __future__ import annotations

import numpy as np
import pytest

import choreograph as cg
from choreograph.demo import demo_clip
from choreograph.goals.target import Target
from choreograph.motion.clip import Clip
from choreograph.verbs.complete.floor_limits import (
    Floor,
    clearance,
    find_flight,
    highest_recorded,
    is_upper,
    longest_recorded,
    stand_levels,
)
from choreograph.verbs.complete.residual_terms import POSITION, Term, Terms


@pytest.fixture(scope="module")
def clips() -> list[Clip]:
    return [demo_clip(name, 30.0) for name in ("walk", "walk_veer_left", "walk_jump_walk")]


@pytest.fixture(scope="module")
def model(clips: list[Clip]) -> cg.MotionModel:
    return cg.learn(clips, cg.LearnSettings(order=2, components=1))


def raised(clip: Clip, frames: slice, up_m: float) -> Clip:
    root = np.array(clip.root_pos)
    root[frames, 1] += up_m
    return clip.with_frames(root, np.array(clip.local_rot))


def completed(model: cg.MotionModel, height: float) -> cg.CompleteResult:
    walk = demo_clip("walk", 30.0)
    source = cg.PoseSource(root=walk.root_pos[30], rotations=walk.local_rot[30])
    pose = cg.PoseGoal(0.0, source, as_recorded=True)
    goal = cg.JointGoal(1.5, "right_hand", (None, height, None))
    return cg.complete(model, cg.CompleteRequest(3.0, [pose, goal]))


@pytest.mark.parametrize("height", [1.4, 1.9])
def test_a_raised_hand_leaves_the_body_on_the_floor(model: cg.MotionModel, height: float) -> None:
    result = completed(model, height)
    assert result.problems == ()
    clip = result.clip
    hand = clip.global_positions()[round(1.5 * clip.fps), clip.skeleton.need("right_hand")]
    assert abs(hand[1] - height) < 1e-3
    assert clearance(clip, stand_levels(model)).max() < 0.05


def test_a_hand_out_of_reach_is_missed_and_nobody_flies(model: cg.MotionModel) -> None:
    result = completed(model, 2.5)
    assert result.problems[0].where == "goals[1].position"
    assert "cm from its target at 1.5 s. That is" in result.problems[0].text
    assert clearance(result.clip, stand_levels(model)).max() < 0.05


def test_a_recorded_jump_is_completed_as_one(model: cg.MotionModel, clips: list[Clip]) -> None:
    jump = clips[2]
    high = clearance(jump, stand_levels(model))
    top = int(high.argmax())
    assert high[top] > 0.1
    part = jump[top - 20 : top + 21]
    keys = [
        cg.PoseGoal(frame / 30, cg.PoseSource("walk_jump_walk", top - 20 + frame), as_recorded=True)
        for frame in (0, 20, 40)
    ]
    track = part.global_positions()[:, part.skeleton.need("right_hand")]
    goal = cg.JointGoal(start_s=0.0, end_s=40 / 30, joint="right_hand", points=tuple(map(tuple, track.tolist())))
    made = cg.complete(clips, cg.CompleteRequest(40 / 30, [*keys, goal])).clip
    assert abs(clearance(made, stand_levels(model)).max() - high[top]) < 0.03


def test_the_floor_holds_the_lowest_foot_where_goals_lift_it(model: cg.MotionModel, clips: list[Clip]) -> None:
    walk, levels = clips[0][:60], stand_levels(model)
    floor = Floor(walk, levels, Terms())
    assert not floor.hold(walk)
    assert floor.terms == []
    assert floor.hold(raised(walk, slice(20, 30), 0.2))
    assert [term.frame for term in floor.terms] == list(range(20, 30))
    own = clearance(walk, levels)
    for term in floor.terms:
        assert term.joints[0] in walk.skeleton.feet
        assert term.target[1] == pytest.approx(levels[term.joints[0]] + max(own[term.frame], 0.0))


def test_the_floor_lets_go_of_legs_that_are_led_and_of_flights(model: cg.MotionModel, clips: list[Clip]) -> None:
    walk, levels = clips[0][:60], stand_levels(model)
    led = Terms([Term(POSITION, frame, (walk.skeleton.need("left_foot"),), (0.0, 0.3, 0.0), 1.0) for frame in (24, 25)])
    lifted = raised(walk, slice(20, 30), 0.2)
    floor = Floor(walk, levels, led)
    assert floor.hold(lifted)
    assert not {24, 25} & {term.frame for term in floor.terms}
    floor.allow(lifted, Terms())
    assert floor.terms == []
    assert not floor.hold(raised(walk, slice(18, 32), 0.3))


def test_goals_of_legs_and_hips_are_not_of_the_upper_body(clips: list[Clip]) -> None:
    skeleton = clips[0].skeleton
    names = ("left_hand", "head", "left_foot", "right_toe", "right_lower_leg", "hips")
    assert [is_upper(skeleton, skeleton.need(name)) for name in names] == [True, True, False, False, False, False]


def test_flights_that_nobody_recorded_are_told(model: cg.MotionModel, clips: list[Clip]) -> None:
    walk, jump = clips[0], clips[2]
    goal = Target("goals[3].position", "position", 1.0, 1.0, (walk.skeleton.need("head"),), exact=True)
    assert highest_recorded(model) > 0.1
    assert find_flight(walk, model, [goal]) is None
    assert find_flight(jump, model, [goal]) is None
    problem = find_flight(raised(walk, slice(25, 35), highest_recorded(model) + 0.2), model, [goal])
    assert problem is not None
    assert problem.where == "goals[3].position"
    assert "lowest foot is above the floor by" in problem.text and problem.kind == "airborne"


def test_hovering_longer_than_anybody_recorded_is_told(model: cg.MotionModel, clips: list[Clip]) -> None:
    walk = clips[0]
    goal = Target("goals[1]", "position", 1.0, 1.0, (walk.skeleton.need("head"),), exact=True)
    longest, height = longest_recorded(model), highest_recorded(model) / 2
    assert 0.2 < longest < 0.8
    short, long = (round((longest + more) * walk.fps) for more in (0.1, 0.4))
    assert find_flight(raised(walk, slice(10, 10 + short), height), model, [goal]) is None
    problem = find_flight(raised(walk, slice(10, 10 + long), height), model, [goal])
    assert problem is not None
    assert (problem.unit, problem.where) == ("s", "goals[1]")
    assert "No foot stands for" in problem.text
    assert problem.nearest == pytest.approx(longest, abs=1e-3)
