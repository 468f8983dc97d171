"""The search's kernels on flat arrays: drawing seed paths, scoring a path, and bettering it by mutations.

A path is K pieces of clips, rows [start, stop) of the frame table, that together show exactly N frames. Between piece
k and k + 1 lies a cut, a node of the hierarchy; a path's row of `nodes` names them. Plain twins are in `reference.py`.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from choreograph.synthesis.solve.terms import BODY, JOINT, OBSTACLE, TABLE

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_allocating = njit(cache=True, nogil=True, error_model="numpy")
# In the hot loops nothing is allocated, and counting references to arrays would take half of the time (see
# github.com/numba/numba/issues/2345), so it is off there.
_hot = njit(cache=True, nogil=True, error_model="numpy", _nrt=False)
# The tables are many arrays, and handing them to a function costs more than most of these functions do.
_inlined = njit(cache=True, nogil=True, error_model="numpy", _nrt=False, forceinline=True)

_JUMP = 0.04
"""Chance that a seed path cuts at a frame where it can: pieces of about a second."""


@_inlined
def draw(state):  # type: ignore[no-untyped-def]
    """A number from 0 to below 1, and the state of chance one step on (splitmix64)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)) * (1.0 / 9007199254740992.0)


# ---------------------------------------------------------------------------------------------------- seeds


@_inlined
def _shows_hard(time, row, count, hard_time, hard_row):  # type: ignore[no-untyped-def]
    """Whether showing `count` rows from `row` on at `time` keeps every hard frame that falls there."""
    for h in range(len(hard_time)):
        into = hard_time[h] - time
        if 0 <= into < count and row + into != hard_row[h]:
            return False
    return True


@_allocating
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
                ok = reach[time + 1, g + 1] and _shows_hard(time, g, 1, hard_time, hard_row)
                if not ok and time + least <= frames:
                    for n in range(first_cut[g], first_cut[g + 1]):
                        to = graph.target[cuts[n]]
                        if (
                            to + least < graph.base[graph.clip_of[to] + 1]
                            and reach[time + least, to + least]
                            and _shows_hard(time, to, least, hard_time, hard_row)
                        ):
                            ok = True
                            break
            reach[time, g] = ok
    return reach


@_hot
def draw_seed(  # type: ignore[no-untyped-def]
    reach, least, begin, graph, first_cut, cuts, hard_time, hard_row, chance, starts, stops, nodes
):
    """A random path within reach, written to starts, stops and nodes; its number of pieces, 0 if it has too many."""
    frames = len(reach) - 1
    g = begin[int(draw(chance) * len(begin))]
    starts[0] = g
    pieces, time, g = 1, least, g + least
    while time < frames:
        onward = graph.real[g] and reach[time + 1, g + 1] and _shows_hard(time, g, 1, hard_time, hard_row)
        if not onward or (time + least <= frames and draw(chance) < _JUMP):
            found, chosen = 0, -1
            if graph.real[g] and time + least <= frames:
                for n in range(first_cut[g], first_cut[g + 1]):
                    to = graph.target[cuts[n]]
                    if (
                        to + least < graph.base[graph.clip_of[to] + 1]
                        and reach[time + least, to + least]
                        and _shows_hard(time, to, least, hard_time, hard_row)
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


# ---------------------------------------------------------------------------------------------------- scoring


@_inlined
def keep_clear(point, asked):  # type: ignore[no-untyped-def]
    """Squared depth, metres, to which a point on the floor is nearer to obstacles than it should be, weighted."""
    total = 0.0
    for o in range(len(asked.first_corner) - 1):
        low, high = asked.first_corner[o], asked.first_corner[o + 1]
        nearest, inside = np.inf, False
        before = asked.corners[high - 1]
        for c in range(low, high):
            here = asked.corners[c]
            side = here - before
            length = side.real * side.real + side.imag * side.imag
            off = point - before
            share = 0.0
            if length > 0.0:
                share = min(max((off.real * side.real + off.imag * side.imag) / length, 0.0), 1.0)
            gap = off - share * side
            nearest = min(nearest, gap.real * gap.real + gap.imag * gap.imag)
            if (before.imag > point.imag) != (here.imag > point.imag) and point.real < before.real + side.real * (
                point.imag - before.imag
            ) / side.imag:
                inside = not inside
            before = here
        distance = np.sqrt(nearest)
        depth = asked.reach[o] - (-distance if inside else distance)
        if depth > 0.0:
            total += asked.clear_weight[o] * depth * depth
    return total


@_inlined
def score_term(n, row, turn, shift, graph, asked):  # type: ignore[no-untyped-def]
    """What one term costs when `row` is shown at its time, with its clip laid on the floor by turn and shift."""
    kind, weight = asked.kind[n], asked.weight[n]
    if kind == TABLE:
        return weight * asked.tables[asked.table[n], row]
    here = turn * graph.place[row] + shift
    if kind == BODY:
        gap = here - asked.goal[n]
        cost = weight * (gap.real * gap.real + gap.imag * gap.imag)
        if asked.turn_weight[n] > 0.0:
            off = turn * graph.turn[row] * asked.goal_turn[n].conjugate()
            angle = np.arctan2(off.imag, off.real)
            cost += asked.turn_weight[n] * angle * angle
        return cost
    if kind == OBSTACLE:
        return weight * keep_clear(here, asked)
    joint = asked.table[n]
    x, y, z = asked.points[joint, row, 0], asked.points[joint, row, 1], asked.points[joint, row, 2]
    point = turn * graph.turn[row] * (np.float64(x) + 1j * np.float64(z))
    if kind == JOINT:
        point += here
    total = 0.0
    for axis in range(3):
        wanted = asked.goal_point[n, axis]
        if not np.isnan(wanted):
            value = point.real if axis == 0 else np.float64(y) if axis == 1 else point.imag
            total += (value - wanted) ** 2
    return weight * total


@_inlined
def _place_first(starts, stops, count, graph, asked):  # type: ignore[no-untyped-def]
    """How the first piece lies on the floor so that the first body constraint is met."""
    turn, shift = complex(1.0, 0.0), complex(0.0, 0.0)
    time = 0
    for k in range(count):
        ends = time + stops[k] - starts[k]
        if asked.anchor_time < ends or k == count - 1:
            row = starts[k] + asked.anchor_time - time
            t = turn * graph.turn[row]
            p = turn * graph.place[row] + shift
            first = asked.anchor_turn * t.conjugate()
            return first, asked.anchor - first * p
        out = turn * graph.turn[stops[k]]
        at = turn * graph.place[stops[k]] + shift
        turn = out * graph.turn[starts[k + 1]].conjugate()
        shift = at - turn * graph.place[starts[k + 1]]
        time = ends
    return turn, shift


@_inlined
def score_from(  # type: ignore[no-untyped-def]
    k, time, term, cost, turn, shift, starts, stops, nodes, count, limit, graph, asked
):
    """The score of a path, from what is known at the start of piece k on; stops where it meets the limit."""
    while True:
        ends = time + stops[k] - starts[k]
        while term < len(asked.time) and asked.time[term] < ends:
            cost += score_term(term, starts[k] + asked.time[term] - time, turn, shift, graph, asked)
            term += 1
            if cost >= limit:
                return cost
        if k == count - 1:
            return cost
        cost += asked.cut_weight * graph.cost[nodes[k]]
        out = turn * graph.turn[stops[k]]
        at = turn * graph.place[stops[k]] + shift
        turn = out * graph.turn[starts[k + 1]].conjugate()
        shift = at - turn * graph.place[starts[k + 1]]
        time = ends
        k += 1


@_inlined
def score(starts, stops, nodes, count, limit, graph, asked):  # type: ignore[no-untyped-def]
    """The score of a whole path (equation 1), or something above the limit."""
    turn, shift = _place_first(starts, stops, count, graph, asked)
    return score_from(0, 0, 0, 0.0, turn, shift, starts, stops, nodes, count, limit, graph, asked)


@_hot
def _prefixes(path, count, graph, asked, prefix):  # type: ignore[no-untyped-def]
    """What is known at the start of each piece, for scoring from there on."""
    starts, stops, nodes = path
    turn, shift = _place_first(starts, stops, count, graph, asked)
    time, term, cost = 0, 0, 0.0
    for k in range(count):
        prefix.time[k], prefix.term[k], prefix.cost[k] = time, term, cost
        prefix.turn[k], prefix.shift[k] = turn, shift
        ends = time + stops[k] - starts[k]
        while term < len(asked.time) and asked.time[term] < ends:
            cost += score_term(term, starts[k] + asked.time[term] - time, turn, shift, graph, asked)
            term += 1
        if k < count - 1:
            cost += asked.cut_weight * graph.cost[nodes[k]]
            out = turn * graph.turn[stops[k]]
            at = turn * graph.place[stops[k]] + shift
            turn = out * graph.turn[starts[k + 1]].conjugate()
            shift = at - turn * graph.place[starts[k + 1]]
        time = ends
    return cost


# ---------------------------------------------------------------------------------------------------- mutations


@_inlined
def _keeps_hard(starts, stops, count, asked):  # type: ignore[no-untyped-def]
    for h in range(len(asked.hard_time)):
        time = 0
        for k in range(count):
            ends = time + stops[k] - starts[k]
            if asked.hard_time[h] < ends:
                if starts[k] + asked.hard_time[h] - time != asked.hard_row[h]:
                    return False
                break
            time = ends
    return True


@_inlined
def _copy(values, first, count, out, at):  # type: ignore[no-untyped-def]
    """Copy a stretch without the temporary array that assigning slices would need."""
    for k in range(count):
        out[at + k] = values[first + k]


@_inlined
def _try(first, total, trial, count, best, prefix, graph, asked, tally):  # type: ignore[no-untyped-def]
    """Score a trial path whose pieces before `first` are the path's own, both ways to come out at N frames.

    Its pieces show `total` frames. Either the last piece's end makes up for it, and what is before the mutation keeps
    its time, or the first piece's start does, and what is behind keeps its time. The best path yet is kept in `best`.
    """
    starts, stops, nodes = trial
    last = count - 1
    missing = asked.frames - total
    own_start, own_stop = starts[0], stops[last]
    for way in range(2):
        if way == 1 and missing == 0:
            break
        if way == 0:
            stops[last] = own_stop + missing
        else:
            stops[last] = own_stop
            starts[0] = own_start - missing
        fits = (
            stops[last] < graph.base[graph.clip_of[starts[last]] + 1]
            and starts[0] >= graph.base[graph.clip_of[own_start]]
            and stops[last] - starts[last] >= asked.least
            and stops[0] - starts[0] >= asked.least
        )
        if not fits or (len(asked.hard_time) > 0 and not _keeps_hard(starts, stops, count, asked)):
            continue
        tally[0] += 1
        if way == 0 and first > 0 and asked.anchor_time == 0:
            cost = score_from(
                first, prefix.time[first], prefix.term[first], prefix.cost[first], prefix.turn[first],
                prefix.shift[first], starts, stops, nodes, count, best.cost[0], graph, asked,
            )  # fmt: skip
        else:
            cost = score(starts, stops, nodes, count, best.cost[0], graph, asked)
        if cost < best.cost[0]:
            best.cost[0] = cost
            best.pieces[0] = count
            _copy(starts, 0, count, best.starts, 0)
            _copy(stops, 0, count, best.stops, 0)
            _copy(nodes, 0, last, best.nodes, 0)
    starts[0], stops[last] = own_start, own_stop


@_inlined
def _join(trial, k, node, graph):  # type: ignore[no-untyped-def]
    """Put a cut behind piece k of a trial."""
    starts, stops, nodes = trial
    nodes[k] = node
    stops[k] = graph.source[node]
    starts[k + 1] = graph.target[node]


@_inlined
def _shown(trial, count):  # type: ignore[no-untyped-def]
    total = 0
    for k in range(count):
        total += trial[1][k] - trial[0][k]
    return total


@_hot
def replace_stretch(i, j, path, count, trial, best, prefix, graph, asked, chance, tally):  # type: ignore[no-untyped-def]
    """Score every way to go from piece i to piece j by no, one or two cuts of G′; of two cuts, a sample if too many.

    i = -1 begins anew before piece j, j = count ends anew behind piece i; i = j leaves a piece and comes back to it.
    """
    starts, stops, nodes = path
    least, clips = asked.least, graph.clips
    head = i + 1
    tail = count - j
    new_starts, new_stops, new_nodes = trial
    _copy(starts, 0, head, new_starts, 0)
    _copy(stops, 0, head, new_stops, 0)
    _copy(nodes, 0, head - 1, new_nodes, 0)
    kept = 0
    for k in range(count):
        if k < i or k > j:
            kept += stops[k] - starts[k]
    here = graph.clip_of[starts[i]] if i >= 0 else -1
    there = graph.clip_of[starts[j]] if j < count else -1
    earliest = starts[i] + least if i >= 0 else 0
    latest = stops[j] - least if j < count else 0

    for cuts in range(3):
        # Pieces of the trial: the head, what the cuts lead through, the tail. With an open side, one piece more.
        opened = (1 if i < 0 else 0) + (1 if j >= count else 0)
        between = cuts - 1 + opened
        size = head + between + tail
        if size > len(new_starts) or size < 1 or (cuts == 0 and opened == 0 and i == j):
            continue
        offset = head + between
        if cuts > 0 or opened == 1:
            _copy(starts, j, tail, new_starts, offset)
            _copy(stops, j, tail, new_stops, offset)
            _copy(nodes, j, tail - 1, new_nodes, offset)
        if cuts == 0:
            if opened == 1:
                # Simply begin in piece j, or end in piece i.
                _try(0 if i < 0 else i, _shown(trial, size), trial, size, best, prefix, graph, asked, tally)
            elif here == there and i < j and stops[j] - starts[i] >= least:
                # Go on in the same clip.
                _copy(starts, j + 1, tail - 1, new_starts, head)
                _copy(stops, j + 1, tail - 1, new_stops, head)
                _copy(nodes, j, tail - 1, new_nodes, head - 1)
                new_stops[i] = stops[j]
                _try(i, _shown(trial, size), trial, size, best, prefix, graph, asked, tally)
                new_stops[i] = stops[i]
            continue
        if cuts == 1:
            if i < 0:
                # From any clip: its piece is as long as what it replaces, so that the rest keeps its time.
                length = 0
                for k in range(j):
                    length += stops[k] - starts[k]
                length += stops[j] - starts[j]
                for other in range(clips):
                    for node in range(
                        graph.first_root[other * clips + there], graph.first_root[other * clips + there + 1]
                    ):
                        if graph.target[node] > latest:
                            continue
                        _join(trial, 0, node, graph)
                        new_starts[0] = new_stops[0] - (length - (stops[j] - graph.target[node]))
                        if new_starts[0] >= graph.base[other] and new_stops[0] - new_starts[0] >= least:
                            _try(0, asked.frames, trial, size, best, prefix, graph, asked, tally)
            else:
                low = graph.first_root[here * clips + (there if there >= 0 else 0)]
                high = graph.first_root[here * clips + (there + 1 if there >= 0 else clips)]
                for node in range(low, high):
                    if graph.source[node] < earliest or (there >= 0 and graph.target[node] > latest):
                        continue
                    _join(trial, i, node, graph)
                    if there < 0:
                        new_stops[i + 1] = new_starts[i + 1] + least
                    total = kept + new_stops[i] - starts[i] + new_stops[i + 1] - new_starts[i + 1]
                    _try(i, total, trial, size, best, prefix, graph, asked, tally)
            continue
        if i < 0:
            continue
        # Two cuts: number all pairs, and score every step-th of them.
        low, high = graph.first_root[here * clips], graph.first_root[(here + 1) * clips]
        pairs = 0
        for node in range(low, high):
            if graph.source[node] >= earliest:
                via = graph.clip_of[graph.target[node]]
                if there >= 0:
                    pairs += graph.first_root[via * clips + there + 1] - graph.first_root[via * clips + there]
                else:
                    pairs += graph.first_root[(via + 1) * clips] - graph.first_root[via * clips]
        step = max(1, (pairs + asked.sample - 1) // asked.sample)
        wanted = int(draw(chance) * step)
        passed = 0
        for node in range(low, high):
            if graph.source[node] < earliest:
                continue
            via = graph.clip_of[graph.target[node]]
            first = graph.first_root[via * clips + (there if there >= 0 else 0)]
            stop = graph.first_root[via * clips + (there + 1 if there >= 0 else clips)]
            joined = False
            while wanted < passed + stop - first:
                second = first + wanted - passed
                wanted += step
                if graph.source[second] - graph.target[node] < least or (there >= 0 and graph.target[second] > latest):
                    continue
                if not joined:
                    _join(trial, i, node, graph)
                    joined = True
                _join(trial, i + 1, second, graph)
                if there < 0:
                    new_stops[i + 2] = new_starts[i + 2] + least
                total = kept + new_stops[i] - starts[i] + new_stops[i + 1] - new_starts[i + 1]
                total += new_stops[i + 2] - new_starts[i + 2]
                _try(i, total, trial, size, best, prefix, graph, asked, tally)
            passed += stop - first
        if i >= 0:
            new_stops[i] = stops[i]


@_hot
def demote(p, q, path, count, trial, best, prefix, graph, asked, tally):  # type: ignore[no-untyped-def]
    """Score every way to replace cuts p and q, one or both, by one of their children."""
    starts, stops, nodes = path
    _copy(starts, 0, count, trial[0], 0)
    _copy(stops, 0, count, trial[1], 0)
    _copy(nodes, 0, count - 1, trial[2], 0)
    for a in range(3 if graph.child[nodes[p]] >= 0 else 1):
        first = nodes[p] if a == 0 else graph.child[nodes[p]] + a - 1
        for b in range(3 if p != q and graph.child[nodes[q]] >= 0 else 1):
            if a == 0 and (b == 0 or p == q):
                continue
            second = first if p == q else nodes[q] if b == 0 else graph.child[nodes[q]] + b - 1
            _join(trial, p, first, graph)
            if p != q:
                _join(trial, q, second, graph)
            ok = True
            for k in (p, p + 1, q, q + 1):
                # The ends are looked at when their length is known.
                if 0 < k < count - 1 and trial[1][k] - trial[0][k] < asked.least:
                    ok = False
            if ok:
                _try(p, _shown(trial, count), trial, count, best, prefix, graph, asked, tally)


@_hot
def _list_batches(count, nodes, graph, chance, order):  # type: ignore[no-untyped-def]
    """Every stretch that can be replaced and every two cuts that can be demoted, in random order; how many."""
    batches = 0
    for i in range(-1, count):
        for j in range(max(i, 0), count + 1):
            if i >= 0 or j < count:
                order[batches, 0], order[batches, 1], order[batches, 2] = 0, i, j
                batches += 1
    for p in range(count - 1):
        for q in range(p, count - 1):
            if graph.child[nodes[p]] >= 0 or graph.child[nodes[q]] >= 0:
                order[batches, 0], order[batches, 1], order[batches, 2] = 1, p, q
                batches += 1
    for n in range(batches):
        other = n + int(draw(chance) * (batches - n))
        for column in range(3):
            order[n, column], order[other, column] = order[other, column], order[n, column]
    return batches


@_hot
def improve(  # type: ignore[no-untyped-def]
    path, count, trial, best, prefix, order, passed, graph, asked, chance, evaluations, tally
):
    """Better a path until none of its mutations betters it, or so many evaluations were made.

    Mutations are taken in batches, in random order: all replacements of one stretch, or all demotions of two cuts. The
    best of a batch is accepted at once if it betters the path, and the batches are listed anew. `passed` holds how many
    batches there are, 0 if they are to be listed, and how many of them were tried, so that a search can be interrupted.

    Returns:
        The path's number of pieces, its score, and whether it is a local minimum.
    """
    begun = tally[0]
    starts, stops, nodes = path
    cost = _prefixes(path, count, graph, asked, prefix)
    while tally[0] - begun < evaluations:
        if passed[0] == 0:
            passed[0] = _list_batches(count, nodes, graph, chance, order)
            passed[1] = 0
        if passed[1] == passed[0]:
            return count, cost, True
        kind, a, b = order[passed[1], 0], order[passed[1], 1], order[passed[1], 2]
        passed[1] += 1
        best.cost[0] = cost - 1e-9
        best.pieces[0] = 0
        if kind == 0:
            replace_stretch(a, b, path, count, trial, best, prefix, graph, asked, chance, tally)
        else:
            demote(a, b, path, count, trial, best, prefix, graph, asked, tally)
        if best.pieces[0] > 0:
            count = best.pieces[0]
            _copy(best.starts, 0, count, starts, 0)
            _copy(best.stops, 0, count, stops, 0)
            _copy(best.nodes, 0, count - 1, nodes, 0)
            cost = _prefixes(path, count, graph, asked, prefix)
            passed[0] = 0
    return count, cost, False


@_hot
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
            _copy(trial[0], 0, count, starts, 0)
            _copy(trial[1], 0, count, stops, 0)
            _copy(trial[2], 0, count - 1, nodes, 0)
    return kept
