"""Drawing seed paths: where a path may be at which time and still be ended, and random walks that keep there."""

from __future__ import annotations

import numpy as np

from choreograph.base.compiling import compiled, hot, inlined
from choreograph.verbs.solve._compiled_score import copy, draw, score

_JUMP = 0.04
"""Chance that a seed path cuts at a frame where it can: pieces of about a second."""


@inlined
def shows_hard(time, row, count, hard_time, hard_row):  # type: ignore[no-untyped-def]
    """Whether showing `count` rows from `row` on at `time` keeps every hard frame that falls there."""
    for h in range(len(hard_time)):
        into = hard_time[h] - time
        if 0 <= into < count and row + into != hard_row[h]:
            return False
    return True


@compiled
def find_reach(frames, least, graph, first_cut, cuts, hard_time, hard_row):  # type: ignore[no-untyped-def]
    """Where a path can be so that it can still be ended: (N + 1, G), whether row g may be about to be shown at time t.

    Before row g the path may also cut; a piece that is entered is shown for `least` frames at least.
    """
    rows = len(graph.clip_of)
    reach = np.zeros((frames + 1, rows), np.bool_)
    reach[frames] = True
    for time in range(frames - 1, -1, -1):
        for g in range(rows):
            ok = False
            if graph.real[g]:
                ok = reach[time + 1, g + 1] and shows_hard(time, g, 1, hard_time, hard_row)
                if not ok and time + least <= frames:
                    for n in range(first_cut[g], first_cut[g + 1]):
                        to = graph.target[cuts[n]]
                        if (
                            to + least < graph.base[graph.clip_of[to] + 1]
                            and reach[time + least, to + least]
                            and shows_hard(time, to, least, hard_time, hard_row)
                        ):
                            ok = True
                            break
            reach[time, g] = ok
    return reach


@hot
def draw_seed(  # type: ignore[no-untyped-def]
    reach, least, begin, graph, first_cut, cuts, hard_time, hard_row, chance, starts, stops, nodes
):
    """A random path within reach, written to starts, stops and nodes; its number of pieces, 0 if it has too many."""
    frames = len(reach) - 1
    g = begin[int(draw(chance) * len(begin))]
    starts[0] = g
    pieces, time, g = 1, least, g + least
    while time < frames:
        onward = graph.real[g] and reach[time + 1, g + 1] and shows_hard(time, g, 1, hard_time, hard_row)
        if not onward or (time + least <= frames and draw(chance) < _JUMP):
            found, chosen = 0, -1
            if graph.real[g] and time + least <= frames:
                for n in range(first_cut[g], first_cut[g + 1]):
                    to = graph.target[cuts[n]]
                    if (
                        to + least < graph.base[graph.clip_of[to] + 1]
                        and reach[time + least, to + least]
                        and shows_hard(time, to, least, hard_time, hard_row)
                    ):
                        found += 1
                        if draw(chance) * found < 1.0:
                            chosen = cuts[n]
            if chosen >= 0:
                if pieces == len(starts):
                    return 0
                stops[pieces - 1] = g
                nodes[pieces - 1] = chosen
                starts[pieces] = graph.target[chosen]
                pieces += 1
                g = graph.target[chosen] + least
                time += least
                continue
        g += 1
        time += 1
    stops[pieces - 1] = g
    return pieces


@hot
def draw_best(  # type: ignore[no-untyped-def]
    draws, reach, begin, first_cut, cuts, path, trial, graph, asked, chance, tally
):
    """The best of so many seed paths, written to `path`: its number of pieces, 0 if none could be drawn."""
    starts, stops, nodes = path
    kept, lowest = 0, np.inf
    for _ in range(draws):
        count = draw_seed(
            reach, asked.least, begin, graph, first_cut, cuts, asked.hard_time, asked.hard_row, chance,
            trial[0], trial[1], trial[2],
        )  # fmt: skip
        if count == 0:
            continue
        tally[0] += 1
        cost = score(trial[0], trial[1], trial[2], count, lowest, graph, asked)
        if cost < lowest:
            kept, lowest = count, cost
            copy(trial[0], 0, count, starts, 0)
            copy(trial[1], 0, count, stops, 0)
            copy(trial[2], 0, count - 1, nodes, 0)
    return kept
