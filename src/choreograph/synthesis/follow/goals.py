"""Goals along a path, labels and speeds: how long each node of a graph is from showing them. And costs of style."""

from __future__ import annotations

import re
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from choreograph.graph.model import TRANSITION, MotionGraph
from choreograph.motion.labels import matches_label
from choreograph.synthesis.follow.request import FollowSettings
from choreograph.synthesis.follow.tables import EdgeTables
from choreograph.synthesis.path import Path

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

_NEAR_SPEED = 0.12
"""Share by which an edge may be off a speed that is asked for and still count as that fast."""
_LONG_S = 30.0
"""Seconds that stand for never."""
_STYLE_COST = 0.05
"""Cost of a second in another style than asked for, m²·s: less than a label, which the path asks for at a place."""
_PACE_M_S = 1.4
"""Speed at which somebody is reckoned to come to what is asked for ahead."""


class Goals(NamedTuple):
    """What a path asks for, as the kernels take it."""

    bits: Ints
    """Labels asked for that hold in each row, as bits, (R,)."""
    wait_s: Floats
    """Seconds from each node to the next frame that shows each goal, (N, B)."""
    cost: Floats
    """Cost of a second without it, (B,), m²·s."""


def labels_of(path: Path) -> list[str]:
    """The labels that a path asks for, each once."""
    return list(dict.fromkeys(s.label for s in path.stretches if s.label is not None))


def _asked(path: Path) -> list[tuple[str | None, float | None]]:
    """The goals along a path, each once: labels, then speeds."""
    speeds = dict.fromkeys(s.speed for s in path.stretches if s.speed is not None)
    return [*((label, None) for label in labels_of(path)), *((None, speed) for speed in speeds)]


def find_goals(graph: MotionGraph, tables: EdgeTables, path: Path, settings: FollowSettings, edge_way: Floats) -> Goals:
    """How far each node is from what a path asks for; only a search that bends asks that.

    Args:
        graph: Where walks come from.
        tables: Its tables.
        path: What is asked for along it.
        settings: What it costs to be without that.
        edge_way: Way made along each edge, (E,), metres.
    """
    bits = tables.bits(labels_of(path))
    goals = _asked(path) if settings.bends else []
    wait, cost = np.zeros((len(graph.nodes), len(goals))), np.zeros(len(goals))
    speed = edge_way / (tables.length / graph.rate_hz)
    for k, (label, asked) in enumerate(goals):
        if label is not None:
            shown, cost[k] = (bits >> k) & 1 == 1, settings.label_cost
        else:
            assert asked is not None
            # By a third off is what somebody walks who should jog.
            shown = np.repeat(np.abs(speed / asked - 1) < _NEAR_SPEED + settings.max_stretch, tables.length)
            cost[k] = settings.speed_cost * (asked / 3) ** 2
        wait[:, k] = find_wait(graph, tables, shown) / graph.rate_hz
    return Goals(bits, wait, cost)


def find_wait(graph: MotionGraph, tables: EdgeTables, shown: Flags) -> Floats:
    """Frames from each node to the next row that is shown, along the quickest walk, (N,); half a minute for never."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import dijkstra

    edges, nodes = graph.edges, len(graph.nodes)
    never = int(_LONG_S * graph.rate_hz)
    row = np.arange(len(shown)) - np.repeat(tables.first, tables.length)
    begins = np.minimum.reduceat(np.where(shown, row, never), tables.first)
    soonest = np.full(nodes, never)
    np.minimum.at(soonest, edges.source, begins)
    # Backwards, from a place that leads to every node which shows it on its own; of parallel edges the shortest.
    source = np.concatenate([edges.target, np.full(nodes, nodes)]).astype(np.int64)
    target = np.concatenate([edges.source, np.arange(nodes)]).astype(np.int64)
    weight = np.concatenate([tables.length, soonest + 1]).astype(float)
    order = np.lexsort((weight, target, source))
    first = np.concatenate([[True], (np.diff(source[order]) != 0) | (np.diff(target[order]) != 0)])
    kept = order[first]
    links = coo_matrix((weight[kept], (source[kept], target[kept])), shape=(nodes + 1, nodes + 1)).tocsr()
    return np.minimum(dijkstra(links, indices=nodes)[:nodes] - 1, float(never))


def goals_ahead(path: Path, along: Floats) -> tuple[Ints, Floats]:
    """The goal that holds at each place along a path or is the next ahead, (N,), -1 for none; and how far, seconds."""
    number, far = np.full(len(along), -1, np.int64), np.full(len(along), np.inf)
    goals = _asked(path)
    for stretch in path.stretches:
        for goal in ((stretch.label, None), (None, stretch.speed)):
            if goal not in goals or goal == (None, None):
                continue
            ahead = np.where(along <= stretch.stop, np.maximum(stretch.start - along, 0.0), np.inf)
            nearer = ahead < far
            number[nearer], far[nearer] = goals.index(goal), ahead[nearer]
    return number, np.where(number >= 0, far / _PACE_M_S, 0.0)


def style_costs(graph: MotionGraph, tables: EdgeTables, settings: FollowSettings, style: str | None) -> Floats:
    """What edges cost that change from one style to another, or are not of the style asked for, (E,), m²·s."""
    if "style changes" not in tables.derived:
        tables.derived["style changes"] = _style_changes(graph, tables)
    costs = settings.style_change_cost * tables.derived["style changes"]
    if style is not None:
        tables.bits([style])  # refuses a label that nothing has
        fits = np.array([any(matches_label(style, text) for text in said) for said in tables.label_sets])
        other = np.add.reduceat((~fits[tables.label_words]).astype(float), tables.first)
        costs = costs + _STYLE_COST * other / graph.rate_hz
    return np.asarray(costs)


def _style_changes(graph: MotionGraph, tables: EdgeTables) -> Floats:
    """How much the labels where a transition ends differ from those where it begins, (E,), 0 to 1."""
    words = [_words(said) for said in tables.label_sets]
    first = tables.label_words[tables.first]
    last = tables.label_words[tables.first + tables.length - 1]
    blends = graph.edges.kind == TRANSITION
    differ = np.zeros((len(words), len(words)))
    met = np.zeros(differ.shape, bool)
    met[first[blends], last[blends]] = True
    for a, b in np.argwhere(met):
        differ[a, b] = _difference(words[a], words[b])
    return np.asarray(differ[first, last] * blends)


def _words(said: frozenset[str]) -> set[str]:
    return {word for text in said for word in re.findall(r"\w+", text.lower())}


def _difference(a: set[str], b: set[str]) -> float:
    """How much of what is said of one is not said of the other, 0 to 1; 0 where nothing is said."""
    return 1 - len(a & b) / min(len(a), len(b)) if a and b else 0.0
