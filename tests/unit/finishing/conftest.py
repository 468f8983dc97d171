"""A small graph of demo walks with true foot plants, and walks through it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from choreograph.build.graph import build_graph
from choreograph.demo import demo_clip
from choreograph.graph.model import MotionGraph
from choreograph.graph.settings import GraphSettings
from choreograph.graph.tables import SEGMENT, TRANSITION
from choreograph.motion.clip import Clip
from choreograph.verbs.walk import Walk


@pytest.fixture(scope="session")
def walking() -> Clip:
    """Four seconds of a straight walk at 120 frames per second."""
    return demo_clip("walk", 120.0)[120:600]


@pytest.fixture(scope="session")
def graph() -> MotionGraph:
    """Three walks, one of them at another rate than the rest."""
    clips = [demo_clip("walk", 120.0), demo_clip("walk_veer_left", 120.0), demo_clip("walk_slow", 60.0)]
    return build_graph(clips, GraphSettings(threshold_m=0.06), workers=1)


@pytest.fixture(scope="session")
def walk_through() -> Callable[..., Walk]:
    """Make a walk: `transitions` of them, with the segments that chance lays between, as `take` allows."""

    def make(graph: MotionGraph, transitions: int, seed: int = 0, clips: tuple[int, ...] | None = None) -> Walk:
        rng = np.random.default_rng(seed)
        table = graph.edges
        allowed = np.ones(len(table), bool)
        if clips is not None:
            allowed = np.isin(table.clip, clips) & np.isin(table.target_clip, clips)
        node = int(table.source[np.flatnonzero(allowed & (table.kind == TRANSITION))[0]])
        taken: list[int] = []
        while transitions:
            here = np.arange(graph.first_edge[node], graph.first_edge[node + 1])
            here = here[allowed[here]]
            onward = here[table.kind[here] == SEGMENT]
            edge = int(rng.choice(onward) if len(onward) and rng.random() < 0.6 else rng.choice(here))
            transitions -= int(table.kind[edge] == TRANSITION)
            taken.append(edge)
            node = int(table.target[edge])
        return Walk(graph, np.array(taken))

    return make
