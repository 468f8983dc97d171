"""A small graph of demo motion, and its interpolated graph, made once."""

from __future__ import annotations

import pytest

import choreograph as cg
from choreograph.demo import demo_clip
from choreograph.verbs.plan.prepare import PlanGraph, find_plan_graph

NAMES = (
    "walk",
    "walk_slow",
    "walk_veer_left",
    "walk_veer_right",
    "walk_jump_walk",
    "stand_to_jog",
    "walk_turn_90_left",
)


@pytest.fixture(scope="session")
def graph() -> cg.MotionGraph:
    return cg.build_graph([demo_clip(name, 60.0) for name in NAMES], cg.GraphSettings(threshold_m=0.06))


@pytest.fixture(scope="session")
def plans(graph: cg.MotionGraph) -> PlanGraph:
    return find_plan_graph(graph)
