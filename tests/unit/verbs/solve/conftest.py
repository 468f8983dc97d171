"""Demo motion to solve with, and a graph so small that every path can be tried."""

from __future__ import annotations

import pytest

from choreograph.build.graph import build_graph
from choreograph.demo import demo_clip
from choreograph.graph.model import MotionGraph
from choreograph.graph.settings import GraphSettings
from choreograph.verbs.solve.hierarchy import Hierarchy, HierarchySettings
from choreograph.verbs.solve.prepare import find_hierarchy

NAMES = ("walk", "walk_turn_90_left", "walk_turn_90_right", "jog")
LABELS = {"walk": "walk", "walk_turn_90_left": "turn", "walk_turn_90_right": "turn", "jog": "jog"}


@pytest.fixture(scope="session")
def walks() -> MotionGraph:
    """Walks that lead into each other, and a jog that a raised τ leads to."""
    return build_graph([demo_clip(name, 30.0).with_labels([LABELS[name]]) for name in NAMES])


@pytest.fixture(scope="session")
def cuts(walks: MotionGraph) -> Hierarchy:
    return find_hierarchy(walks)


@pytest.fixture(scope="session")
def tiny() -> tuple[MotionGraph, Hierarchy]:
    """Three clips of some 15 frames each at 10 Hz, and a few dozen cuts."""
    clips = [demo_clip(name, 30.0)[10:56] for name in NAMES[:3]]
    graph = build_graph(clips, GraphSettings(rate_hz=10.0, threshold_m=0.001))
    return graph, find_hierarchy(graph, HierarchySettings(max_cut_cost=6.0, apart_s=0.3))
