"""What cannot be: said before solving where that can be known, else with what is violated and what it would take."""

from __future__ import annotations

import re

import numpy as np
import pytest

import choreograph as cg
from choreograph.demo import demo_clip
from choreograph.motion.skeleton import Skeleton
from choreograph.verbs.physics.search import PhysicsResult

JUMP, WALK = demo_clip("jump_high", 60.0), demo_clip("walk", 60.0)


@pytest.fixture(scope="module")
def too_high() -> PhysicsResult:
    return cg.physics(JUMP, cg.PhysicsRequest(higher_m=1.2, work_limit=10))


@pytest.mark.slow
def test_a_flight_longer_than_any_take_off_allows_says_the_torque_it_takes(too_high: PhysicsResult) -> None:
    said = [problem for problem in too_high.problems if problem.where == "advanced.limits.strength"]
    assert len(said) == 1
    torque, most = (float(number) for number in re.findall(r"([\d.]+) N·m", said[0].text))
    assert torque > most == pytest.approx(said[0].asked, abs=0.5)


@pytest.mark.slow
def test_what_does_not_converge_is_the_best_that_was_reached_and_marked(too_high: PhysicsResult) -> None:
    assert too_high.status == "not converged" and len(too_high.clip) > 30
    first, violation = too_high.problems[0], too_high.best.details["violation"]
    assert re.search(r"Solver stopped after \d+ iterations; .+ by [\d.e-]+", first.text)
    assert first.got == pytest.approx(violation, abs=1e-4) and violation > 1e-6
    assert np.isfinite(too_high.clip.root_pos).all()


def test_a_leg_that_does_not_reach_its_footprint_says_by_how_much() -> None:
    apart = [
        cg.ContactGoal(foot=foot, start_s=0.0, end_s=0.5, position=(x, 0.0, 0.0), facing_deg=0.0)
        for foot, x in (("left", 0.7), ("right", -0.7))
    ]
    with pytest.raises(cg.RequestError, match=r"a leg is \d+\.\d cm away"):
        cg.physics(JUMP, cg.PhysicsRequest(goals=apart))


def test_an_end_pose_inside_the_floor_says_how_deep() -> None:
    sunk = np.array(JUMP.root_pos)
    sunk[:, 1] -= np.linspace(0.0, 0.4, len(JUMP))
    with pytest.raises(cg.RequestError, match=rf"{(len(JUMP) - 1) / 60:.2f} s has its \w+ \d+ cm inside the floor"):
        cg.physics(JUMP.with_frames(sunk, JUMP.local_rot), cg.PhysicsRequest(floor_m=0.0))


def test_a_skeleton_without_feet_is_refused() -> None:
    count = 40
    stick = Skeleton(("a", "b"), np.array([-1, 0]), np.array([[0.0, 0, 0], [0, 1, 0]]))
    clip = cg.Clip(stick, 60.0, np.zeros((count, 3)), np.tile([1.0, 0, 0, 0], (count, 2, 1)), "stick")
    with pytest.raises(cg.RoleError, match="with_roles"):
        cg.physics(clip)


@pytest.mark.parametrize("given", [{"mass_kg": 0.0}, {"mass_kg": -70.0}, {"masses_kg": {"LeftLeg": 0.0}}])
def test_masses_must_be_above_zero(given: dict[str, object]) -> None:
    with pytest.raises(cg.RequestError, match=r"(above|greater than) 0"):
        cg.physics(WALK, cg.PhysicsRequest(end_s=0.8, body=given))
