"""Kernels that find continuations of single nodes. The plain twin is in the tests."""

from __future__ import annotations

import numpy as np

from choreograph.base.compiling import compiled, hot, inlined
from choreograph.verbs.follow._compiled_continuations import _kind
from choreograph.verbs.follow.continuations import TURN_BIN_RAD, TURN_BINS
from choreograph.verbs.follow.lazy_continuations import BEGIN, END, LAST, ROW


@inlined
def _blend_turn(here, there, end, yaw, length, k, frames) -> float:  # type: ignore[no-untyped-def]
    """How far the hips have turned k frames into a blend that leaves one row and enters another."""
    middle = (length + 1) // 2
    if k < middle:
        return frames.turned[min(here + k, end)] - frames.turned[here]
    last = min(here + middle - 1, end)
    jump = frames.facing[there + middle] + yaw - frames.facing[last]
    jump -= 2.0 * np.pi * np.floor((jump + np.pi) / (2.0 * np.pi))
    return frames.turned[last] - frames.turned[here] + jump + frames.turned[there + k] - frames.turned[there + middle]


@inlined
def _turn_at(node, changes, e1, d1, e2, d2, t, net, frames) -> float:  # type: ignore[no-untyped-def]
    """How far the hips have turned after t frames of a walk that takes a transition after d1 and one after d2."""
    turn, row, at = 0.0, net.node[node, ROW], 0
    for n in range(changes):
        e, d = (e1, d1) if n == 0 else (e2, d2)
        if t <= d:
            break
        turn += frames.turned[row + d - at] - frames.turned[row]
        row += d - at
        length = net.stop[e] - net.start[e]
        there = net.node[net.target[e], ROW]
        k = min(t - d, length)
        begin = max(there - length, net.node[net.target[e], BEGIN])
        turn += _blend_turn(row, begin, net.node[net.source[e], END], net.yaw[e], length, k, frames)
        row, at = there, d + length
        if t <= at:
            return turn
    return turn + frames.turned[row + t - at] - frames.turned[row]


@inlined
def _enter(node, changes, e1, d1, e2, d2, span, bins, bin_rad, net, frames, slots) -> int:  # type: ignore[no-untyped-def]
    """Keep a walk if it is the first of its kind; whether it was."""
    whole = _turn_at(node, changes, e1, d1, e2, d2, span, net, frames)
    late = whole - _turn_at(node, changes, e1, d1, e2, d2, span - span // 2, net, frames)
    s = _kind(whole, late, bins, bin_rad)
    if slots[s, 0] >= 0:
        return 0
    slots[s, 0], slots[s, 1], slots[s, 2], slots[s, 3], slots[s, 4] = changes, e1, d1, e2, d2
    return 1


@inlined
def _reached(node, rows, net) -> int:  # type: ignore[no-untyped-def]
    """One past the last node that lies less than so many rows after a node; it is of the same clip if the row is."""
    until, end = node + 1, net.node[node, ROW] + rows
    while until < len(net.node) and net.node[until, ROW] < end:
        until += 1
    return until


@hot
def _find_kinds(node, span, enough, most, second, bins, bin_rad, net, frames, slots) -> int:  # type: ignore[no-untyped-def]
    """The walks of `span` frames from a node with the fewest transitions, at most two, of each kind; how many.

    Of those with one transition about `most` are looked at, spread evenly; of those with two, where there are not
    enough with fewer, about `second`.
    """
    slots[:, 0] = -1
    found, here = 0, net.node[node, ROW]
    if here + span <= net.node[node, LAST]:
        found += _enter(node, 0, -1, 0, -1, 0, span, bins, bin_rad, net, frames, slots)
    until = _reached(node, min(span, net.node[node, LAST] - here + 1), net)
    begin, end = net.first_edge[node], net.first_edge[until]
    # Where there are many, some of them, spread evenly.
    for e in range(begin, end, (end - begin + most - 1) // most):
        if net.kind[e] != 1:
            continue
        d1 = net.node[net.source[e], ROW] - here
        over = d1 + net.stop[e] - net.start[e]
        m = net.target[e]
        if over >= span or net.node[m, ROW] + span - over <= net.node[m, LAST]:
            found += _enter(node, 1, e, d1, -1, 0, span, bins, bin_rad, net, frames, slots)
            if found == len(slots):
                break
    if found >= enough:
        return found
    each = int(np.sqrt(second))
    for e in range(begin, end, (end - begin + each - 1) // each):
        d1 = net.node[net.source[e], ROW] - here
        over = d1 + net.stop[e] - net.start[e]
        if net.kind[e] != 1 or over >= span:
            continue
        m = net.target[e]
        there, rest = net.node[m, ROW], min(span - over, net.node[m, LAST] - net.node[m, ROW] + 1)
        until = _reached(m, rest, net)
        low, high = net.first_edge[m], net.first_edge[until]
        for f in range(low, high, (high - low + each - 1) // each):
            if net.kind[f] != 1:
                continue
            d2 = over + net.node[net.source[f], ROW] - there
            left = span - d2 - (net.stop[f] - net.start[f])
            if left <= 0 or net.node[net.target[f], ROW] + left <= net.node[net.target[f], LAST]:
                found += _enter(node, 2, e, d1, f, d2, span, bins, bin_rad, net, frames, slots)
        if found == len(slots):
            break
    return found


@inlined
def _place(place, own_x, own_z, cos, sin, x, z) -> None:  # type: ignore[no-untyped-def]
    """Write where a root is that lies somewhere in a clip which is turned and moved."""
    place[0] = own_x * cos + own_z * sin + x
    place[1] = -own_x * sin + own_z * cos + z


@inlined
def _walked(row, now, last, frames) -> float:  # type: ignore[no-untyped-def]
    """Way from one row to another of a clip; beyond its last, on as fast as it was there."""
    way = frames.way[min(now, last), 2] - frames.way[row, 2]
    if now > last > row:
        way += (now - last) * (frames.way[last, 2] - frames.way[last - 1, 2])
    return way


@hot
def _lay(node, slot, step, moments, net, frames, places) -> None:  # type: ignore[no-untyped-def]
    """Where the root is at the moments of a walk, in coordinates of the node's clip; see `lay_ways`."""
    row, at, m, walked = net.node[node, ROW], 0, 0, 0.0
    last = net.node[node, END]
    cos, sin, x, z = 1.0, 0.0, 0.0, 0.0
    for n in range(slot[0] + 1):
        # As recorded, up to the next transition.
        e, d = (slot[1], slot[2]) if n == 0 else (slot[3], slot[4])
        if n == slot[0]:
            d = step * moments
        while m < moments and (m + 1) * step <= d:
            now = row + (m + 1) * step - at
            _place(places[m], frames.way[min(now, last), 0], frames.way[min(now, last), 1], cos, sin, x, z)
            places[m, 2] = walked + _walked(row, now, last, frames)
            m += 1
        if n == slot[0] or m == moments:
            break
        walked += _walked(row, row + d - at, last, frames)
        length = net.stop[e] - net.start[e]
        turn_cos, turn_sin = np.cos(net.yaw[e]), np.sin(net.yaw[e])
        begin = max(net.node[net.target[e], ROW] - length, net.node[net.target[e], BEGIN])
        for k in range(1, length + 1):
            here, there = min(row + d + k - at, last), begin + k
            share = k / length
            weight = share * share * (3.0 - 2.0 * share)
            walked += (1.0 - weight) * (frames.way[here, 2] - frames.way[here - 1, 2])
            walked += weight * (frames.way[there, 2] - frames.way[there - 1, 2])
            if m < moments and d + k == (m + 1) * step:
                there_x = frames.way[there, 0] * turn_cos + frames.way[there, 1] * turn_sin + net.x[e]
                there_z = -frames.way[there, 0] * turn_sin + frames.way[there, 1] * turn_cos + net.z[e]
                own_x = frames.way[here, 0] + weight * (there_x - frames.way[here, 0])
                own_z = frames.way[here, 1] + weight * (there_z - frames.way[here, 1])
                _place(places[m], own_x, own_z, cos, sin, x, z)
                places[m, 2] = walked
                m += 1
        x, z = x + net.x[e] * cos + net.z[e] * sin, z - net.x[e] * sin + net.z[e] * cos
        cos, sin = cos * turn_cos - sin * turn_sin, sin * turn_cos + cos * turn_sin
        row, at, last = net.node[net.target[e], ROW], d + length, net.node[net.target[e], END]


@hot
def add_ways(node, pages) -> None:  # type: ignore[no-untyped-def]
    """Find the continuations of a node, with two transitions at most: for each kind of turn one with the fewest.

    There must be room for one of each kind.
    """
    step, moments = pages.step, pages.places.shape[1]
    alone = _find_kinds(
        node, step * moments, pages.enough, pages.most, pages.second, TURN_BINS, TURN_BIN_RAD, pages.net, pages.frames,
        pages.slots,
    ) == 0  # fmt: skip
    if alone:  # nothing leads so far with so few transitions: as far as its clip goes
        for k in range(5):
            pages.slots[0, k] = 0
    count = pages.counted[0]
    pages.first[node] = count
    for s in range(len(pages.slots)):
        if pages.slots[s, 0] >= 0:
            _lay(node, pages.slots[s], step, moments, pages.net, pages.frames, pages.places[count])
            pages.changes[count] = 3 if alone else pages.slots[s, 0]
            pages.cost[count] = pages.change_cost * pages.changes[count]
            count += 1
    pages.last[node] = count
    pages.counted[0] = count


@compiled
def find_ways(nodes, pages) -> None:  # type: ignore[no-untyped-def]
    """Find the continuations of some nodes, (K,), that have none yet; see `ways.Pages`."""
    for n in range(len(nodes)):
        if pages.first[nodes[n]] < 0:
            add_ways(nodes[n], pages)
