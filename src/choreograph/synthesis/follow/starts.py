"""Where a walk along a path may begin: places in clips, each laid on the floor so that it leaves along the path."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choreograph.errors import RequestError
from choreograph.graph.model import MotionGraph
from choreograph.maths.floor import FloorTransform
from choreograph.synthesis.follow import state
from choreograph.synthesis.follow.request import FollowSettings
from choreograph.synthesis.path import Path

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_STRAIGHT_S = 1.0
"""Seconds of travel by which a clip's direction is judged; less is mostly sway."""
_STANDING_M = 0.1
"""Way in that time below which someone stands, and is laid by where they face."""


def find_starts(graph: MotionGraph, path: Path, settings: FollowSettings) -> tuple[Floats, Ints]:
    """States to begin from, (K, 10), and their ints, (K, 5): at the path's start, about to travel along it."""
    nodes = _choose_nodes(graph, settings)
    states, marks = np.zeros((len(nodes), state.FLOATS)), np.zeros((len(nodes), state.INTS), np.int64)
    marks[:, state.NODE] = nodes
    for k, node in enumerate(nodes):
        placed = _lay(graph, path, int(node), settings.start_heading)
        states[k, [state.YAW, state.X, state.Z]] = placed.yaw, placed.x, placed.z
    states[:, state.COS], states[:, state.SIN] = np.cos(states[:, state.YAW]), np.sin(states[:, state.YAW])
    return states, marks


def _choose_nodes(graph: MotionGraph, settings: FollowSettings) -> NDArray[np.intp]:
    """Nodes to try: those asked for, or of the clip with the largest margin, or drawn from all."""
    nodes, pool = graph.nodes, np.arange(len(graph.nodes))
    wanted = settings.start_clip
    if wanted is None and settings.margins and max(settings.margins.values()) > 0:
        wanted = max(settings.margins, key=lambda name: settings.margins[name])
    if wanted is not None:
        clip = graph.find_clip(wanted)
        pool = np.flatnonzero(nodes.clip == clip)
        if not len(pool):
            inside = sorted({graph.infos[c].name for c in np.unique(nodes.clip)})
            raise RequestError(
                f"{wanted!r} is not in the graph's connected part; begin in one of: {', '.join(inside[:12])}"
            )
        if settings.start_frame is not None:
            frame = settings.start_frame * graph.rate_hz / graph.infos[clip].fps
            pool = pool[np.abs(nodes.frame[pool] - frame).argsort(kind="stable")[:1]]
    rng = np.random.default_rng(settings.seed)
    count = 1 if settings.method == "thesis" else settings.starts
    return np.sort(rng.choice(pool, min(count, len(pool)), replace=False))


def _lay(graph: MotionGraph, path: Path, node: int, heading: float | None) -> FloorTransform:
    """Lays a node's clip so that its root stands at the path's start and leaves along the path, or as told."""
    clip = int(graph.nodes.clip[node])
    info, root = graph.infos[clip], graph.clips[clip].root_pos[:, [0, 2]]
    now = round(graph.own_frame(clip, int(graph.nodes.frame[node])))
    here, there = now, min(now + round(_STRAIGHT_S * info.fps), len(root) - 1)
    if there - here < 0.3 * info.fps:  # near the clip's end: look back instead
        here, there = max(now - round(_STRAIGHT_S * info.fps), 0), now
    way = root[there] - root[here]
    length = float(np.hypot(*way))
    if heading is None:
        ahead = path.at(min(length, path.length)) - path.at(0.0)
        heading = float(np.arctan2(ahead[0], ahead[1]))
    standing = length < _STANDING_M
    own = float(graph.clips[clip].facing()[here]) if standing else float(np.arctan2(way[0], way[1]))
    turn = FloorTransform(heading - own)
    x, _, z = turn.apply((root[now, 0], 0.0, root[now, 1]))
    begin = path.at(0.0)
    return FloorTransform(turn.yaw, float(begin[0] - x), float(begin[1] - z))
