"""Where a walk along a path may begin: places in clips, each laid on the floor so that it leaves along the path."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from choreograph.base.arrays import Complexes, Flags, Floats, Indices, Ints
from choreograph.base.errors import RequestError
from choreograph.base.floor import FloorTransform
from choreograph.graph.model import MotionGraph
from choreograph.scene.path import Path
from choreograph.verbs.follow import state
from choreograph.verbs.follow.request import FollowRequest
from choreograph.verbs.follow.tables import EdgeTables

_STRAIGHT_S = 1.0
"""Seconds of travel by which a clip's direction is judged; less is mostly sway."""
_STANDING_M = 0.1
"""Way in that time below which someone stands, and is laid by where they face."""


def find_starts(
    graph: MotionGraph,
    path: Path,
    tables: EdgeTables,
    request: FollowRequest,
    wanted: Flags | None = None,
) -> tuple[Floats, Ints]:
    """States to begin from, (K, 12), and their ints, (K, 5): at the path's start, about to travel along it.

    The best come first: those that keep nearest to the path if their clip is simply played on.

    Args:
        graph: Where walks come from.
        path: The line to follow.
        tables: The graph's tables.
        request: How.
        wanted: Nodes that show what is asked for at the path's start, (N,), where anything is.
    """
    nodes = _choose_nodes(graph, request, wanted)
    placed = _lay(graph, path, tables, nodes, request.start_heading)
    settings = request.settings
    cost = settings.weights.heuristic * _played_on(graph, path, tables, nodes, placed, settings.continuation_s)
    order = np.argsort(cost, kind="stable")
    states, marks = np.zeros((len(nodes), state.FLOATS)), np.zeros((len(nodes), state.INTS), np.int64)
    marks[:, state.NODE] = nodes[order]
    states[:, state.YAW], states[:, state.X], states[:, state.Z] = (v[order] for v in (placed.yaw, placed.x, placed.z))
    states[:, state.COS], states[:, state.SIN] = np.cos(states[:, state.YAW]), np.sin(states[:, state.YAW])
    states[:, state.RANK] = cost[order]
    return states, marks


def _choose_nodes(graph: MotionGraph, request: FollowRequest, fits: Flags | None) -> Indices:
    """Nodes to try: those asked for, or of the clip with the largest margin, or drawn from all."""
    nodes, pool = graph.nodes, np.arange(len(graph.nodes)) if fits is None else np.flatnonzero(fits)
    if fits is None and graph.usual_clips is not None:
        pool = np.flatnonzero(graph.usual_clips[nodes.clip])
    wanted = request.start.clip
    if wanted is None and request.prefer and max(request.prefer.values()) > 0:
        wanted = max(request.prefer, key=lambda name: request.prefer[name])
    if wanted is not None:
        clip = graph.find_clip(wanted)
        pool = np.flatnonzero(nodes.clip == clip)
        if not len(pool):
            inside = sorted({graph.infos[c].name for c in np.unique(nodes.clip)})
            raise RequestError(
                f"{wanted!r} is not in the graph's connected part; begin in one of: {', '.join(inside[:12])}"
            )
        if request.start.frame is not None:
            frame = request.start.frame * graph.rate_hz / graph.infos[clip].fps
            pool = pool[np.abs(nodes.frame[pool] - frame).argsort(kind="stable")[:1]]
    rng = np.random.default_rng(request.seed)
    count = 1 if request.settings.method == "thesis" else request.settings.start_count
    return np.sort(rng.choice(pool, min(count, len(pool)), replace=False))


def _lay(graph: MotionGraph, path: Path, tables: EdgeTables, nodes: Indices, heading: float | None) -> FloorTransform:
    """Lays the nodes' clips so that their roots stand at the path's start and leave along the path, or as told."""
    second = round(_STRAIGHT_S * graph.rate_hz)
    now, left = tables.node_row[nodes], tables.node_left[nodes]
    near_end = left < 0.3 * graph.rate_hz  # look back instead
    here = np.where(near_end, now - np.minimum(second, graph.nodes.frame[nodes]), now)
    there = np.where(near_end, now, now + np.minimum(second, left))
    way = _root(tables, there) - _root(tables, here)
    own = np.arctan2(way.real, way.imag)
    stands = np.abs(way) < _STANDING_M
    own[stands] = tables.facing_at(graph, nodes[stands])
    begin = path.at(0.0)
    if heading is None:
        ahead = path.at(np.minimum(np.abs(way), path.length)) - begin
        yaw = np.arctan2(ahead[:, 0], ahead[:, 1]) - own
    else:
        yaw = heading - own
    turned = _root(tables, now) * np.exp(-1j * yaw)
    return FloorTransform(yaw, begin[0] - turned.real, begin[1] - turned.imag)


def _root(tables: EdgeTables, rows: NDArray[Any]) -> Complexes:
    """Where the root is in these rows, x + iz."""
    return np.asarray(tables.clip_way[rows, 0] + 1j * tables.clip_way[rows, 1])


def _played_on(
    graph: MotionGraph, path: Path, tables: EdgeTables, nodes: Indices, placed: FloorTransform, seconds: float
) -> Floats:
    """What the next seconds cost if the nodes' clips are simply played on, (K,), m²·s."""
    ahead = np.arange(1, max(2, round(seconds * graph.rate_hz)))[:, None]
    now = tables.node_row[nodes]
    rows = now + np.minimum(ahead, tables.node_left[nodes])
    x, z, walked = np.moveaxis(tables.clip_way[rows], 2, 0)
    place = (x + 1j * z) * np.exp(-1j * np.asarray(placed.yaw)) + placed.x + 1j * np.asarray(placed.z)
    target = path.at(np.minimum(walked - tables.clip_way[now, 2], path.length))
    off = np.abs(place - target[..., 0] - 1j * target[..., 1]) ** 2
    return np.asarray(off.mean(axis=0) * seconds)
