"""Walks: edges that follow one another, laid on the floor without drift."""

from __future__ import annotations

from decimal import Decimal, getcontext

import numpy as np
import pytest

from choreograph.base.floor import FloorTransform
from choreograph.build.graph import build_graph
from choreograph.demo import demo_clip
from choreograph.graph.model import MotionGraph
from choreograph.graph.settings import GraphSettings
from choreograph.graph.tables import TRANSITION
from choreograph.verbs.walk import Walk


@pytest.fixture(scope="module")
def graph() -> MotionGraph:
    clips = [demo_clip(name, 60.0) for name in ("walk", "walk_veer_left")]
    return build_graph(clips, GraphSettings(threshold_m=0.06), workers=1)


def turn(angle: float) -> tuple[Decimal, Decimal]:
    """Cosine and sine to fifty digits, by their series."""
    x = Decimal(angle)
    terms, term = [Decimal(1)], Decimal(1)
    for k in range(1, 60):
        term = term * x / k
        terms.append(term)
    cos = sum((-1) ** (k // 2) * terms[k] for k in range(0, 60, 2))
    sin = sum((-1) ** (k // 2) * terms[k] for k in range(1, 60, 2))
    return Decimal(cos), Decimal(sin)


def test_ten_thousand_transitions_do_not_drift(graph: MotionGraph, rng: np.random.Generator) -> None:
    table = graph.edges
    edges = graph.random_walk(60_000, rng)
    changes = np.cumsum(table.kind[edges] == TRANSITION)
    edges = edges[: int(np.searchsorted(changes, 10_000)) + 2]
    start = FloorTransform(0.3, 2.0, -1.0)
    placed = Walk(graph, edges, start).placements
    getcontext().prec = 50
    cos, sin = turn(start.yaw)
    x, z = Decimal(start.x), Decimal(start.z)
    turns = {int(e): turn(float(table.yaw[e])) for e in np.unique(edges)}
    for e in edges[:-1].tolist():
        dx, dz = Decimal(float(table.x[e])), Decimal(float(table.z[e]))
        x, z = dx * cos + dz * sin + x, -dx * sin + dz * cos + z
        c, s = turns[e]
        cos, sin = cos * c - sin * s, sin * c + cos * s
    assert float(np.hypot(placed.x, placed.z).max()) > 100  # it went somewhere
    assert abs(placed.x[-1] - float(x)) < 1e-6
    assert abs(placed.z[-1] - float(z)) < 1e-6
    assert abs(np.exp(1j * placed.yaw[-1]) - complex(float(cos), float(sin))) < 1e-9


def test_a_walk_counts_its_frames(graph: MotionGraph, rng: np.random.Generator) -> None:
    edges = graph.random_walk(20, rng)
    whole = Walk(graph, edges)
    assert len(whole) == int((graph.edges.stop[edges] - graph.edges.start[edges]).sum())
    assert len(Walk(graph, edges, frames=7)) == 7
    for frames in (0, len(whole) + 1):
        with pytest.raises(ValueError, match=f"the edges show {len(whole)} frames"):
            Walk(graph, edges, frames=frames)


def test_the_edges_of_a_walk_follow_one_another(graph: MotionGraph, rng: np.random.Generator) -> None:
    edges = graph.random_walk(20, rng)
    elsewhere = np.flatnonzero(graph.edges.source != graph.edges.target[edges[9]])[0]
    with pytest.raises(ValueError, match="must follow one another"):
        Walk(graph, [*edges[:10], elsewhere])
    with pytest.raises(ValueError, match="at least one edge"):
        Walk(graph, [])


def test_the_first_edge_lies_where_the_walk_starts(graph: MotionGraph, rng: np.random.Generator) -> None:
    start = FloorTransform(1.0, 2.0, 3.0)
    placed = Walk(graph, graph.random_walk(5, rng), start).placements
    assert (placed.yaw[0], placed.x[0], placed.z[0]) == (1.0, 2.0, 3.0)
