"""Demo motion to solve with, and a graph so small that every path can be tried."""

from __future__ import annotations

import numpy as np
import pytest

from choreograph.demo import demo_clip
from choreograph.graph.build import build_graph
from choreograph.graph.model import MotionGraph
from choreograph.graph.settings import GraphSettings
from choreograph.synthesis.solve.hierarchy import Hierarchy, HierarchySettings
from choreograph.synthesis.solve.search import find_cuts

NAMES = ("walk", "walk_turn_90_left", "walk_turn_90_right", "jog")


@pytest.fixture(scope="session")
def walks() -> MotionGraph:
    return build_graph([demo_clip(name, 30.0).with_labels([name.split("_")[0]]) for name in NAMES])


@pytest.fixture(scope="session")
def cuts(walks: MotionGraph) -> Hierarchy:
    return find_cuts(walks)


@pytest.fixture(scope="session")
def tiny() -> tuple[MotionGraph, Hierarchy]:
    """Three clips of some 15 frames each at 10 Hz, and a few dozen cuts."""
    clips = [demo_clip(name, 30.0)[10:56] for name in NAMES[:3]]
    graph = build_graph(clips, GraphSettings(rate_hz=10.0, threshold_m=0.001))
    return graph, find_cuts(graph, HierarchySettings(tau=6.0, apart_s=0.3))


def all_paths(cuts: Hierarchy, frames: int, least: int) -> list[tuple[list[int], list[int], list[int]]]:
    """Every path of so many frames, pieces of `least` or more, along the finest cuts: starts, stops, nodes."""
    leaves = np.flatnonzero(cuts.child < 0)
    leaving: dict[int, list[int]] = {}
    for node in leaves:
        leaving.setdefault(int(cuts.source[node]), []).append(int(node))
    ends = cuts.frames.base[cuts.frames.clip_of + 1] - 1  # rows of padding
    found = []

    def go_on(starts: list[int], stops: list[int], nodes: list[int], shown: int) -> None:
        start, left = starts[-1], frames - shown
        if left >= least and start + left <= ends[start]:
            found.append((starts, [*stops, start + left], nodes))
        for stop in range(start + least, min(start + left - least, int(ends[start]) - 1) + 1):
            for node in leaving.get(stop, []):
                go_on([*starts, int(cuts.target[node])], [*stops, stop], [*nodes, node], shown + stop - start)

    for row in np.flatnonzero(cuts.frames.real):
        go_on([int(row)], [], [], 0)
    return found
