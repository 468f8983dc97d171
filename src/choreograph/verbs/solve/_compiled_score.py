"""Scoring a path, from any of its pieces on; and what kernels share.

The plain twins are in the tests.
"""

from __future__ import annotations

import numpy as np

from choreograph.base.compiling import hot, inlined
from choreograph.verbs.solve.cut_foot_alignment import LOOSE
from choreograph.verbs.solve.terms import BODY, JOINT, OBSTACLE, TABLE


@inlined
def draw(state):  # type: ignore[no-untyped-def]
    """A number from 0 to below 1, and the state of chance one step on (splitmix64)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@inlined
def copy(values, first, count, out, at):  # type: ignore[no-untyped-def]
    """Copy a stretch without the temporary array that assigning slices would need."""
    for k in range(count):
        out[at + k] = values[first + k]


@inlined
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


@inlined
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


@inlined
def _place_next(turn, shift, left, entered, graph):  # type: ignore[no-untyped-def]
    """How a clip entered at a row lies on the floor, given how the one lies that is left at a row."""
    both, x, z = LOOSE, 0.0, 0.0
    for foot in range(graph.stance.shape[1]):
        firm, other = np.float64(graph.stance[left, foot, 0]), np.float64(graph.stance[entered, foot, 0])
        both += firm * other
        x += other * graph.stance[left, foot, 1] - firm * graph.stance[entered, foot, 1]
        z += other * graph.stance[left, foot, 2] - firm * graph.stance[entered, foot, 2]
    out = turn * graph.turn[left]
    at = turn * graph.place[left] + shift + out * complex(x / both, z / both)
    turn = out * graph.turn[entered].conjugate()
    return turn, at - turn * graph.place[entered]


@inlined
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
        turn, shift = _place_next(turn, shift, stops[k], starts[k + 1], graph)
        time = ends
    return turn, shift


@inlined
def _place_at(n, row, turn, graph, asked):  # type: ignore[no-untyped-def]
    """How a clip lies on the floor so that body constraint n, which asks for a facing or for none, is met at `row`."""
    if asked.turn_weight[n] > 0.0:
        turn = asked.goal_turn[n] * graph.turn[row].conjugate()
    return turn, asked.goal[n] - turn * graph.place[row]


@inlined
def score_from(  # type: ignore[no-untyped-def]
    k, time, term, cost, turn, shift, starts, stops, nodes, count, limit, graph, asked
):
    """The score of a path, from what is known at the start of piece k on; stops where it meets the limit."""
    while True:
        ends = time + stops[k] - starts[k]
        while term < len(asked.time) and asked.time[term] < ends:
            row = starts[k] + asked.time[term] - time
            cost += score_term(term, row, turn, shift, graph, asked)
            if asked.by_legs and asked.kind[term] == BODY:
                turn, shift = _place_at(term, row, turn, graph, asked)
            term += 1
            if cost >= limit:
                return cost
        if k == count - 1:
            return cost
        cost += asked.cut_weight * graph.cost[nodes[k]]
        turn, shift = _place_next(turn, shift, stops[k], starts[k + 1], graph)
        time = ends
        k += 1


@inlined
def score(starts, stops, nodes, count, limit, graph, asked):  # type: ignore[no-untyped-def]
    """The score of a whole path (equation 1), or something above the limit."""
    turn, shift = _place_first(starts, stops, count, graph, asked)
    return score_from(0, 0, 0, 0.0, turn, shift, starts, stops, nodes, count, limit, graph, asked)


@inlined
def score_begun_earlier(first, earlier, starts, stops, nodes, count, limit, prefix, graph, asked):  # type: ignore[no-untyped-def]
    """The score of a path that begins so many frames earlier than one whose prefixes are known, its own to `first`.

    All that comes behind its first frame keeps its shape, so it is turned and moved as one. This needs a first body
    constraint at the first frame, and piece `first` to begin where no later one has laid the path anew.
    """
    row = starts[0]
    begin_turn = asked.anchor_turn * graph.turn[row].conjugate()
    begin = asked.anchor - begin_turn * graph.place[row]
    again = begin_turn * prefix.turn[0].conjugate()
    time, cost = prefix.time[first] + earlier, prefix.cuts[first]
    term, k = 0, 0
    while term < len(asked.time) and asked.time[term] < time:
        while k + 1 < first and asked.time[term] >= prefix.time[k + 1] + earlier:
            k += 1
        row = stops[k] - (prefix.time[k + 1] + earlier - asked.time[term])
        shift = again * (prefix.shift[k] - prefix.shift[0]) + begin
        cost += score_term(term, row, again * prefix.turn[k], shift, graph, asked)
        term += 1
        if cost >= limit:
            return cost
    turn, shift = again * prefix.turn[first], again * (prefix.shift[first] - prefix.shift[0]) + begin
    return score_from(first, time, term, cost, turn, shift, starts, stops, nodes, count, limit, graph, asked)


@hot
def find_prefixes(path, count, graph, asked, prefix):  # type: ignore[no-untyped-def]
    """What is known at the start of each piece, for scoring from there on."""
    starts, stops, nodes = path
    turn, shift = _place_first(starts, stops, count, graph, asked)
    time, term, cost, cuts = 0, 0, 0.0, 0.0
    for k in range(count):
        prefix.time[k], prefix.term[k], prefix.cost[k], prefix.cuts[k] = time, term, cost, cuts
        prefix.turn[k], prefix.shift[k] = turn, shift
        ends = time + stops[k] - starts[k]
        while term < len(asked.time) and asked.time[term] < ends:
            row = starts[k] + asked.time[term] - time
            cost += score_term(term, row, turn, shift, graph, asked)
            if asked.by_legs and asked.kind[term] == BODY:
                turn, shift = _place_at(term, row, turn, graph, asked)
            term += 1
        if k < count - 1:
            rough = asked.cut_weight * graph.cost[nodes[k]]
            cost += rough
            cuts += rough
            turn, shift = _place_next(turn, shift, stops[k], starts[k + 1], graph)
        time = ends
    return cost
