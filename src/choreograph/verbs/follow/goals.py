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
from choreograph.scene.path import Path
from choreograph.verbs.follow.request import FollowAdvanced

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


def labels_of(path: Path) -> list[str]:
    """The labels that a path asks for, each once."""
    return list(dict.fromkeys(s.label for s in path.stretches if s.label is not None))


def asked_goals(path: Path) -> list[tuple[str | None, float | None]]:
    """The goals along a path, each once: labels, then speeds."""
    speeds = dict.fromkeys(s.speed for s in path.stretches if s.speed is not None)
    return [*((label, None) for label in labels_of(path)), *((None, speed) for speed in speeds)]


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
