"""Goals along a path, labels and speeds: how long each node of a graph is from showing them. And costs of style."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from choreograph.base.arrays import Flags, Floats, Ints, Ints32
from choreograph.graph.model import MotionGraph
from choreograph.graph.tables import TRANSITION
from choreograph.motion.labels import matches_label
from choreograph.scene.path import Path
from choreograph.verbs.follow.request import FollowAdvanced
from choreograph.verbs.follow.tables import EdgeTables

_NEAR_SPEED = 0.12
"""Share by which an edge may be off a speed that is asked for and still count as that fast."""
_LONG_S = 30.0
"""Seconds that stand for never."""
_STYLE_COST = 0.05
"""Cost of a second in another style than asked for, m²·s: less than a label, which the path asks for at a place."""
_UNUSUAL_COST = 0.02
"""Cost of a second in a clip that takes part only because it is asked for somewhere, m²·s: elsewhere it is left."""
_FAR_TIMES = 3.0
"""By how many times its cost a transition costs more whose poses are as far apart as the graph's threshold. Blended,
those are as many centimetres from recorded ones as all bending is: few clips have few transitions, and these count."""
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


def asked_goals(path: Path) -> list[tuple[str | None, float | None]]:
    """The goals along a path, each once: labels, then speeds."""
    speeds = dict.fromkeys(s.speed for s in path.stretches if s.speed is not None)
    return [*((label, None) for label in labels_of(path)), *((None, speed) for speed in speeds)]


def find_goals(graph: MotionGraph, tables: EdgeTables, path: Path, settings: FollowAdvanced, edge_way: Floats) -> Goals:
    """How far each node is from what a path asks for; only a search that bends asks that.

    Args:
        graph: Where walks come from.
        tables: Its tables.
        path: What is asked for along it.
        settings: What it costs to be without that.
        edge_way: Way made along each edge, (E,), metres.
    """
    bits = tables.bits(labels_of(path))
    goals = asked_goals(path) if settings.bends else []
    wait, cost = np.zeros((len(graph.nodes), len(goals))), np.zeros(len(goals))
    speed = edge_way / (tables.length / graph.rate_hz)
    for k, (label, asked) in enumerate(goals):
        if label is not None:
            shown = (bits >> k) & 1 == 1
        else:
            assert asked is not None
            low, high = speeds_that_fit(settings, asked)
            shown = np.repeat((speed > low) & (speed < high), tables.length)
        cost[k] = goal_cost(settings, asked)
        wait[:, k] = find_wait(graph, tables, shown) / graph.rate_hz
    return Goals(bits, wait, cost)


def goal_cost(settings: FollowAdvanced, speed: float | None) -> float:
    """Cost of a second without a goal, m²·s: a speed, or a label."""
    # By a third off is what somebody walks who should jog.
    return settings.label_cost if speed is None else settings.speed_cost * (speed / 3) ** 2


def speeds_that_fit(settings: FollowAdvanced, speed: float) -> Floats:
    """Speeds between which an edge counts as that fast, m/s."""
    off = _NEAR_SPEED + settings.max_stretch
    return speed * np.array([1 - off, 1 + off])


def never_frames(graph: MotionGraph) -> int:
    """Frames that stand for never."""
    return int(_LONG_S * graph.rate_hz)


def find_wait(graph: MotionGraph, tables: EdgeTables, shown: Flags) -> Floats:
    """Frames from each node to the next row that is shown, along the quickest walk, (N,); half a minute for never."""
    from choreograph.verbs.follow import _compiled_paging

    edges, never = graph.edges, never_frames(graph)
    row = np.arange(len(shown)) - np.repeat(tables.first, tables.length)
    begins = np.minimum.reduceat(np.where(shown, row, never), tables.first)
    soonest = np.full(len(graph.nodes), never)
    np.minimum.at(soonest, edges.source, begins)
    found = _compiled_paging.least_wait(graph.first_edge, edges.target, edges.start, edges.stop, soonest, never)
    return np.asarray(found, float)


def goals_ahead(path: Path, along: Floats) -> tuple[Ints, Floats]:
    """The goal that holds at each place along a path or is the next ahead, (N,), -1 for none; and how far, seconds."""
    number, far = np.full(len(along), -1, np.int64), np.full(len(along), np.inf)
    goals = asked_goals(path)
    for stretch in path.stretches:
        for goal in ((stretch.label, None), (None, stretch.speed)):
            if goal not in goals or goal == (None, None):
                continue
            ahead = np.where(along <= stretch.stop, np.maximum(stretch.start - along, 0.0), np.inf)
            nearer = ahead < far
            number[nearer], far[nearer] = goals.index(goal), ahead[nearer]
    return number, np.where(number >= 0, far / _PACE_M_S, 0.0)


def passage_costs(graph: MotionGraph, number: Ints | slice, settings: FollowAdvanced) -> Floats:
    """What it costs to take edges, (N,), m²·s: transitions, the more the farther apart poses are; rare clips."""
    edges = graph.edges
    far = edges.distance_m[number] / max(graph.threshold_m, 1e-3)
    far = 1.0 + _FAR_TIMES * np.where(far > 1.0, far, far * far) if settings.bends else np.maximum(far, 1.0)
    costs = settings.weights.transition * far * (edges.kind[number] == TRANSITION)
    if graph.usual_clips is not None:
        seconds = (edges.stop[number] - edges.start[number]) / graph.rate_hz
        costs += _UNUSUAL_COST * seconds * ~graph.usual_clips[edges.target_clip[number]]
    return np.asarray(costs)


def style_costs(graph: MotionGraph, tables: EdgeTables, settings: FollowAdvanced, style: str | None) -> Floats:
    """What edges cost that change from one style to another, or are not of the style asked for, (E,), m²·s."""
    if "style changes" not in tables.derived:
        first = tables.label_words[tables.first]
        last = tables.label_words[tables.first + tables.length - 1]
        blends = graph.edges.kind == TRANSITION
        tables.derived["style changes"] = style_differences(label_words(tables.label_sets), first, last, blends)
    costs = settings.weights.style_change * tables.derived["style changes"]
    if style is not None:
        tables.bits([style])  # refuses a label that nothing has
        fits = np.array([any(matches_label(style, text) for text in said) for said in tables.label_sets])
        costs = costs + off_style(fits, tables.label_words, tables.first, graph.rate_hz)
    return np.asarray(costs)


def off_style(fits: Flags, words: Ints32, first: Ints, rate_hz: float) -> Floats:
    """What edges cost that are not of a style, (E,): by the sets of labels that fit it, and those of their rows."""
    other = np.add.reduceat((~fits[words]).astype(float), first)
    return np.asarray(_STYLE_COST * other / rate_hz)


class LabelWords(NamedTuple):
    """The words of sets of labels, as bits: so that what two have in common is counted at once for thousands."""

    bits: NDArray[np.uint64]
    """(S, K): which of all words each set has."""
    size: Ints
    """(S,): how many it has."""


def label_words(sets: Sequence[frozenset[str]]) -> LabelWords:
    """The words of sets of labels."""
    said = [{word for text in labels for word in re.findall(r"\w+", text.lower())} for labels in sets]
    number = {word: n for n, word in enumerate(sorted(set().union(*said)))}
    bits = np.zeros((len(sets), len(number) // 64 + 1), np.uint64)
    for own, words in zip(bits, said, strict=True):
        for n in map(number.__getitem__, words):
            own[n // 64] |= np.uint64(1 << n % 64)
    return LabelWords(bits, np.array([len(words) for words in said], np.int64))


def style_differences(words: LabelWords, first: Ints32, last: Ints32, blends: Flags) -> Floats:
    """How much of what is said where a transition begins or ends is not said of the other, (E,), 0 to 1.

    Args:
        words: The sets of labels.
        first, last: Which of them hold where each edge begins and ends, (E,).
        blends: Which edges are transitions, (E,); of others, and where nothing is said, it is 0.
    """
    common = np.bitwise_count(words.bits[first] & words.bits[last]).sum(axis=1, dtype=np.int64)
    fewer = np.minimum(words.size[first], words.size[last])
    return np.where(blends & (fewer > 0), 1 - common / np.maximum(fewer, 1), 0.0)
