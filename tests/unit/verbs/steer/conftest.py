"""A few demo recordings cut into steps, and a value function learned quickly."""

from __future__ import annotations

import pytest

from choreograph.demo import demo_clip
from choreograph.verbs.steer.controller import SteerPolicy
from choreograph.verbs.steer.costs import SteerAdvanced, StepCosts
from choreograph.verbs.steer.frame_pool import FramePool, build_frame_pool
from choreograph.verbs.steer.learn import PolicyLearning, learn
from choreograph.verbs.steer.prepare import standard_tasks
from choreograph.verbs.steer.steps import StepClips, build_steps

NAMES = ("walk", "walk_veer_left", "walk_turn_90_left", "start_left_foot", "stop_left_foot")


@pytest.fixture(scope="session")
def steps() -> StepClips:
    return build_steps([demo_clip(name, 30.0) for name in NAMES], mirror=True)


@pytest.fixture(scope="session")
def costs(steps: StepClips) -> StepCosts:
    return StepCosts(steps, SteerAdvanced())


@pytest.fixture(scope="session")
def policy(costs: StepCosts) -> SteerPolicy:
    task = standard_tasks(costs.settings)["navigate"]
    value = learn(task, costs, PolicyLearning(samples=2000, sweeps=12))
    return SteerPolicy(costs, {"navigate": task}, {"navigate": value})


@pytest.fixture(scope="session")
def pool(steps: StepClips) -> FramePool:
    return build_frame_pool(steps.clips)
