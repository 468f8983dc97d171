"""Which frames can be shown when, and how far a way can lead: what no path can do is known before the search."""

from __future__ import annotations

import numpy as np

from choreograph.base.compiling import compiled
from choreograph.verbs.solve._compiled_seeds import shows_hard


@compiled
def find_shown(until, reach, begin, least, graph, first_cut, targets, hard_time, hard_row):  # type: ignore[no-untyped-def]
    """Whether some path along the cuts shows row g at time t before `until`, (N, G).

    `reach` is what `find_reach` gives for the cuts; `targets` are the rows they enter, in the order of `first_cut`.
    """
    frames, rows = len(reach) - 1, len(graph.clip_of)
    shown = np.zeros((frames, rows), np.bool_)
    free = np.zeros((frames + 1, rows), np.bool_)  # about to show this row, and free to cut before it
    entered = np.zeros((frames, rows), np.bool_)
    for g in begin:
        entered[0, g] = True
    for time in range(until):
        for g in range(rows):
            if not free[time, g] or not graph.real[g]:
                continue
            if reach[time + 1, g + 1] and shows_hard(time, g, 1, hard_time, hard_row):
                shown[time, g] = True
                free[time + 1, g + 1] = True
            if time + least > frames:
                continue
            for n in range(first_cut[g], first_cut[g + 1]):
                to = targets[n]
                if (
                    not entered[time, to]
                    and to + least < graph.base[graph.clip_of[to] + 1]
                    and reach[time + least, to + least]
                    and shows_hard(time, to, least, hard_time, hard_row)
                ):
                    entered[time, to] = True
        for g in range(rows):
            if entered[time, g]:
                for k in range(least):
                    shown[time + k, g + k] = True
                free[time + least, g + least] = True
    return shown


@compiled
def longest_way(frames, least, along, ends, first_cut, targets, moved):  # type: ignore[no-untyped-def]
    """The longest way, metres, that any path goes in so many steps from frame to frame.

    Every piece that is entered is shown for `least` frames, or to the end. `along` is how far the torso has come in its
    clip at each row, `ends` the last row of its clip, and `moved` how far it goes at each cut.
    """
    rows, size = len(along), least + 1
    way = np.full((size, rows), -1.0)  # by the time, of which only the next `least` are kept
    longest = 0.0
    for g in range(rows):
        way[0, g] = 0.0
    for time in range(frames + 1):
        here, left = way[time % size], frames - time
        shown = min(least, left)
        for g in range(rows):
            if here[g] < 0.0:
                continue
            if left == 0:
                longest = max(longest, here[g])
                continue
            if g < ends[g]:
                after = way[(time + 1) % size]
                after[g + 1] = max(after[g + 1], here[g] + along[g + 1] - along[g])
            for n in range(first_cut[g], first_cut[g + 1]):
                to = targets[n]
                if to + shown <= ends[to]:
                    entered = way[(time + shown) % size]
                    total = here[g] + moved[n] + along[to + shown] - along[to]
                    entered[to + shown] = max(entered[to + shown], total)
        here[:] = -1.0
    return longest
