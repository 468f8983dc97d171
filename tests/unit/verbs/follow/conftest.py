"""Small graphs to search: of random numbers, so small that every walk can be tried, and of demo motion."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from choreograph.base.arrays import seal
from choreograph.build.graph import build_graph
from choreograph.demo import demo_clip
from choreograph.features.root_tracks import TREMBLE_S
from choreograph.graph.model import MotionGraph
from choreograph.graph.settings import GraphSettings
from choreograph.motion.bend import SMOOTH_S
from choreograph.verbs.follow.kernel_inputs import KernelParams, KernelPath, KernelTables
from choreograph.verbs.follow.state import FLOATS
from choreograph.verbs.follow.tables import EdgeTables, find_tables


def random_problem(
    seed: int,
    *,
    nodes: int = 6,
    clips: int = 2,
    stretches: bool = False,
    length: float = 4.0,
    bend: float = 0.3,
    bends: bool = False,
) -> SimpleNamespace:
    """Tables of a graph of random edges, a path, params, and a state to begin from.

    Each edge is a way of a few frames; every node has one edge that stays in its clip and some that may change it.
    """
    rng = np.random.default_rng(seed)
    source = np.sort(np.concatenate([np.arange(nodes), rng.integers(0, nodes, nodes)]))
    edges = len(source)
    node_clip = np.arange(nodes) % clips
    own = np.concatenate([[True], np.diff(source) > 0])  # the first edge of each node goes on in its own clip
    target = np.where(own, (source + clips) % nodes, rng.integers(0, nodes, edges))
    count = rng.integers(2, 6, edges)
    first = np.concatenate([[0], np.cumsum(count)[:-1]])
    ways = []
    shift = np.empty((edges, 2))
    yaw = rng.uniform(-bend, bend, edges)
    for e in range(edges):
        heading = np.cumsum(rng.normal(0, bend / 4, count[e]))
        step = rng.uniform(0.05, 0.15, count[e])
        place = np.cumsum(step[:, None] * np.stack([np.sin(heading), np.cos(heading)], axis=1), axis=0)
        ways.append(np.column_stack([place, step * rng.uniform(1.0, 1.02, count[e])]))
        shift[e] = place[-1]  # every node stands at the origin of its clip, so the way goes on without a jump
    way = np.concatenate(ways)
    tables = KernelTables(
        way=seal(way), facing=seal(rng.uniform(-3, 3, len(way))), labels=seal(rng.integers(0, 4, len(way))),
        first=seal(first.astype(np.int64)), length=seal(count.astype(np.int64)),
        edge_way=seal(np.add.reduceat(way[:, 2], first)), extra=seal(np.where(own, 0.0, 0.01)),
        target=seal(target.astype(np.int64)), yaw=seal(yaw),
        turn=seal(np.stack([np.cos(yaw), np.sin(yaw)], axis=1)), shift=seal(shift),
        first_edge=seal(np.searchsorted(source, np.arange(nodes + 1)).astype(np.int64)),
        last_edge=seal(np.searchsorted(source, np.arange(1, nodes + 1)).astype(np.int64)),
        target_clip=seal(node_clip[target].astype(np.int64)),
        first_way=seal(3 * np.arange(nodes + 1)),
        last_way=seal(3 * np.arange(1, nodes + 1)), ways=seal(rng.normal(0, 0.5, (3 * nodes, 4, 3))),
        way_cost=seal(0.01 * rng.integers(0, 3, 3 * nodes)),
        moment_weight=seal(np.array([0.9, 0.5, 0.3, 0.2]) if bends else np.ones(4)),
        so_far=seal(np.concatenate([np.cumsum(one[:, 2]) for one in ways])),
        bend=seal(np.column_stack([np.zeros((edges, 2)), rng.normal(0, 0.1, edges), yaw])),
        wait_s=seal(rng.uniform(0, 2, (nodes, 1 if bends else 0))), wait_cost=seal(np.array([0.25])),
        bent_over=seal(np.abs(rng.normal(0, 0.1, len(way)))),
    )  # fmt: skip
    points = np.stack([0.5 * np.sin(np.linspace(0, 3, 81)), np.linspace(0, length, 81)], axis=1)
    along = float(np.hypot(*np.diff(points, axis=0).T).sum())
    speed, label = np.full(81, -1.0), np.zeros(81, np.int64)
    pause_at, pause_s = np.zeros(0), np.zeros(0)
    if stretches:
        speed[20:50], label[10:40], label[40:60] = 2.0, 1, 3
        pause_at, pause_s = np.array([0.3 * along, 0.3 * along, 0.8 * along]), np.array([0.2, 0.1, 0.15])
    step = np.gradient(points, axis=0)
    heading = np.arctan2(step[:, 0], step[:, 1])
    guide = np.column_stack([points + rng.normal(0, 0.01, points.shape), heading, np.cos(heading), np.sin(heading)])
    goal, goal_s = np.full(81, -1), np.zeros(81)
    if stretches and bends:
        goal[5:40], goal_s[5:10] = 0, 0.4
    path = KernelPath(*(seal(a) for a in (points, speed, label, pause_at, pause_s, guide, goal, goal_s)))
    params = KernelParams(
        dt=0.1, gamma=0.06, speed_weight=0.02, label_weight=0.25, idle_weight=0.1, idle_below=0.9,
        end_weight=0.4 if stretches else 0.0,
        facing_weight=0.05 if stretches else 0.0,
        fastest=float(way[:, 2].max()) * (1.5 * 1.1 if bends else 1.0), per_metre=80 / along, length=along,
        continuation_s=0.2, heuristic_weight=0.0, credit=0.0, facing=0.7,
        max_lateral=1.5 if bends else 0.0, more_lateral=1.0, max_curvature=2.0,
        max_stretch=0.1 if bends else 0.0,
        bend_cost=0.006, pursuit_m=0.35, pursuit_s=0.3, end_pose_cost=0.01 if bends else 0.0,
    )  # fmt: skip
    return SimpleNamespace(rng=rng, tables=tables, path=path, params=params, shared=(tables, path, params))


def random_state(problem: SimpleNamespace, *, far: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
    """A state somewhere near the path, not always at its start."""
    rng = problem.rng
    state, mark = np.zeros(FLOATS), np.zeros(5, np.int64)
    reached = rng.uniform(0, 0.9) * problem.params.length
    yaw = rng.normal(0, 0.5)
    at = problem.path.points[int(reached * problem.params.per_metre)] + rng.normal(0, far, 2)
    state[:9] = yaw, np.cos(yaw), np.sin(yaw), *at, reached * rng.uniform(0.9, 1), reached, rng.uniform(0, 1), 0.0
    mark[0] = rng.integers(len(problem.tables.first_edge) - 1)
    mark[4] = int((problem.path.pause_at < reached).sum())
    if mark[4] and rng.random() < 0.5:
        state[8] = 0.15
    return state, mark


@pytest.fixture(scope="session")
def make_problem() -> SimpleNamespace:
    """How to make a small random search."""
    return SimpleNamespace(problem=random_problem, state=random_state)


WALKS = (
    "walk",
    "walk_fast",
    "walk_veer_left",
    "walk_veer_right",
    "walk_turn_90_left",
    "walk_turn_90_right",
    "stand",
    "start_left_foot",
    "stop_left_foot",
    "jog",
    "walk_to_jog",
    "jog_to_walk",
)


@pytest.fixture(scope="session")
def graph() -> MotionGraph:
    """A small graph of demo motion in which one can walk straight and turn."""
    return build_graph([demo_clip(name, 60.0) for name in WALKS], GraphSettings(threshold_m=0.08), workers=1)


@pytest.fixture(scope="session")
def tables(graph: MotionGraph) -> EdgeTables:
    return find_tables(graph, TREMBLE_S)


@pytest.fixture(scope="session")
def bend_tables(graph: MotionGraph) -> EdgeTables:
    """Of the root's way without its sway, for searches that bend."""
    return find_tables(graph, SMOOTH_S)
