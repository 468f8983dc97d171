"""Kernels for graphs that are too large to have tables of all their edges. The plain twins are in the tests."""

from __future__ import annotations

import numpy as np

from choreograph.synthesis.compiling import compiled, hot, inlined
from choreograph.synthesis.follow._compiled_continuations import _kind


@compiled
def sum_within(step, first, length):  # type: ignore[no-untyped-def]
    """Sums since each run of rows began, (R,)."""
    out = np.empty(len(step))
    for e in range(len(first)):
        total = 0.0
        for row in range(first[e], first[e] + length[e]):
            total += step[row]
            out[row] = total
    return out


@inlined
def _own(clip, frame, tracks) -> float:  # type: ignore[no-untyped-def]
    """Where a frame at the graph's rate stands among all clips' own frames."""
    return min(tracks.offsets[clip] + frame * tracks.ratio[clip], float(tracks.last[clip]))


@inlined
def _root_at(clip, frame, tracks):  # type: ignore[no-untyped-def]
    """Root at a fractional frame, x + iz."""
    own = _own(clip, frame, tracks)
    low = int(own)
    here = tracks.place[low]
    return here + (own - low) * (tracks.place[min(low + 1, tracks.last[clip])] - here)


@compiled
def fill_rows(number, first, per_frame, usual_height, edges, tracks):  # type: ignore[no-untyped-def]
    """What is known of some edges: the compiled twin of `tables.find_rows`, `find_faulty` and `find_rough`.

    Args:
        number: The edges, (K,); none of them a long blend.
        first: Where the rows of each begin, and how many there are, (K + 1,).
        per_frame: Into how many steps a frame is divided along which the root's way is summed.
        usual_height: Of a body, metres.
        edges, tracks: See `paging.EdgeColumns` and `paging.Tracks`.

    Returns:
        x, z and step of each row, (R, 3); facing, labels, how much lower the body is, and way since the edge began,
        (R,); of each edge whether it shows a fault, and how often something abrupt, (K,).
    """
    rows = first[-1]
    way, facing, words = np.empty((rows, 3)), np.empty(rows), np.empty(rows, np.int32)
    lower, walked = np.empty(rows), np.empty(rows)
    faulty, rough = np.zeros(len(number), np.bool_), np.empty(len(number))
    for n in range(len(number)):
        e = number[n]
        clip, there, start, begin = edges.clip[e], edges.target_clip[e], edges.start[e], edges.target_start[e]
        length = edges.stop[e] - start
        blends = edges.kind[e] == 1
        turn = complex(np.cos(edges.yaw[e]), -np.sin(edges.yaw[e]))
        shift = complex(edges.x[e], edges.z[e])
        before, total = 0j, 0.0
        for k in range(length + 1):
            step = 0.0
            for part in range(per_frame if k == 0 else 1, per_frame + 1):
                t = k - 1.0 + part / per_frame
                root = _root_at(clip, start + t, tracks)
                if blends:
                    share = t / length
                    weight = share * share * (3.0 - 2.0 * share)
                    root += weight * (_root_at(there, begin + t, tracks) * turn + shift - root)
                if k > 0:
                    step += abs(root - before)
                before = root
            if k == 0:
                continue
            row = first[n] + k - 1
            total += step
            way[row, 0], way[row, 1], way[row, 2], walked[row] = before.real, before.imag, step, total
            late = blends and 2 * k >= length
            own = int(np.rint(_own(there, float(begin + k), tracks) if late else _own(clip, float(start + k), tracks)))
            facing[row] = tracks.facing[own] + (edges.yaw[e] if late else 0.0)
            words[row] = tracks.words[own]
            lower[row] = max(1.0 - tracks.height[own] / usual_height, 0.0)
        counts = 0.0
        for side in range(2):
            at, since = (clip, start) if side == 0 else (there, begin)
            low, high = _own(at, float(since), tracks), _own(at, float(since + length), tracks)
            faulty[n] |= tracks.faults_before[int(np.ceil(high)) + 1] > tracks.faults_before[int(np.floor(low))]
            counts += tracks.abrupt_before[int(np.rint(high))] - tracks.abrupt_before[int(np.rint(low))]
        rough[n] = 0.5 * counts  # both sides of what does not blend are the same
    return way, facing, words, lower, walked, faulty, rough


@compiled
def least_wait(first_edge, target, start, stop, soonest, never):  # type: ignore[no-untyped-def]
    """Frames from each node to the next that shows something, along the quickest walk, (N,); `never` at most.

    Args:
        first_edge: Each node's first edge, (N + 1,).
        target, start, stop: Of each edge.
        soonest: Frames from each node to it on an edge that leaves the node, (N,).
        never: Frames that stand for never.
    """
    wait = np.minimum(soonest, never)
    changed = True
    while changed:
        changed = False
        # Time runs forward in clips, so what is known is handed back along a whole clip at once.
        for n in range(len(wait) - 1, -1, -1):
            for e in range(first_edge[n], first_edge[n + 1]):
                there = wait[target[e]] + stop[e] - start[e]
                if there < wait[n]:
                    wait[n] = there
                    changed = True
    return wait


@compiled
def soonest_shown(net, frames, shown, fitting, never):  # type: ignore[no-untyped-def]
    """Frames from each node to the first on its edges that shows something, (N,).

    Args:
        net, frames: See `paging.Net` and `paging.Frames`.
        shown: Which sets of labels show it; empty where it is a speed.
        fitting: Speeds between which an edge shows it, metres in a frame.
        never: Frames that stand for never.
    """
    out = np.full(len(net.node_row), never)
    for n in range(len(out)):
        here = net.node_row[n]
        for e in range(net.first_edge[n], net.first_edge[n + 1]):
            length = net.stop[e] - net.start[e]
            blends = net.kind[e] == 1
            there = net.node_row[net.target[e]] - length
            if len(shown) == 0:
                way = frames.way[min(here + length, net.node_end[n]), 2] - frames.way[here, 2]
                if blends:
                    way = 0.5 * (
                        way + frames.way[there + length, 2] - frames.way[max(there, net.node_begin[net.target[e]]), 2]
                    )
                if fitting[0] < way / length < fitting[1]:
                    out[n] = 0
                continue
            for k in range(1, min(length, out[n]) + 1):
                row = min(here + k, net.node_end[n])
                if blends and 2 * k >= length:
                    row = max(there + k, net.node_begin[net.target[e]])
                if shown[frames.words[row]]:
                    out[n] = min(out[n], k - 1)
                    break
    return out


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
    turn, row, at = 0.0, net.node_row[node], 0
    for n in range(changes):
        e, d = (e1, d1) if n == 0 else (e2, d2)
        if t <= d:
            break
        turn += frames.turned[row + d - at] - frames.turned[row]
        row += d - at
        length = net.stop[e] - net.start[e]
        there = net.node_row[net.target[e]]
        k = min(t - d, length)
        begin = max(there - length, net.node_begin[net.target[e]])
        turn += _blend_turn(row, begin, net.node_end[net.source[e]], net.yaw[e], length, k, frames)
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
    until, end = node + 1, net.node_row[node] + rows
    while until < len(net.node_row) and net.node_row[until] < end:
        until += 1
    return until


@hot
def _find_kinds(node, span, enough, most, second, bins, bin_rad, net, frames, slots) -> int:  # type: ignore[no-untyped-def]
    """The walks of `span` frames from a node with the fewest transitions, at most two, of each kind; how many.

    Of those with one transition about `most` are looked at, spread evenly; of those with two, where there are not
    enough with fewer, about `second`.
    """
    slots[:, 0] = -1
    found, here = 0, net.node_row[node]
    if here + span <= net.node_last[node]:
        found += _enter(node, 0, -1, 0, -1, 0, span, bins, bin_rad, net, frames, slots)
    until = _reached(node, min(span, net.node_last[node] - here + 1), net)
    begin, end = net.first_edge[node], net.first_edge[until]
    # Where there are many, some of them, spread evenly.
    for e in range(begin, end, (end - begin + most - 1) // most):
        if net.kind[e] != 1:
            continue
        d1 = net.node_row[net.source[e]] - here
        over = d1 + net.stop[e] - net.start[e]
        m = net.target[e]
        if over >= span or net.node_row[m] + span - over <= net.node_last[m]:
            found += _enter(node, 1, e, d1, -1, 0, span, bins, bin_rad, net, frames, slots)
            if found == len(slots):
                break
    if found >= enough:
        return found
    each = int(np.sqrt(second))
    for e in range(begin, end, (end - begin + each - 1) // each):
        d1 = net.node_row[net.source[e]] - here
        over = d1 + net.stop[e] - net.start[e]
        if net.kind[e] != 1 or over >= span:
            continue
        m = net.target[e]
        there, rest = net.node_row[m], min(span - over, net.node_last[m] - net.node_row[m] + 1)
        until = _reached(m, rest, net)
        low, high = net.first_edge[m], net.first_edge[until]
        for f in range(low, high, (high - low + each - 1) // each):
            if net.kind[f] != 1:
                continue
            d2 = over + net.node_row[net.source[f]] - there
            left = span - d2 - (net.stop[f] - net.start[f])
            if left <= 0 or net.node_row[net.target[f]] + left <= net.node_last[net.target[f]]:
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
    row, at, m, walked = net.node_row[node], 0, 0, 0.0
    last = net.node_end[node]
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
        begin = max(net.node_row[net.target[e]] - length, net.node_begin[net.target[e]])
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
        row, at, last = net.node_row[net.target[e]], d + length, net.node_end[net.target[e]]


@compiled
def near_continuations(nodes, step, moments, enough, most, second, bins, bin_rad, net, frames):  # type: ignore[no-untyped-def]
    """The continuations of some nodes, with two transitions at most: for each kind of turn one with the fewest.

    Args:
        nodes: Which ones, (K,).
        step: Frames between the moments.
        moments: How many of them.
        enough: Continuations of a node from which on none with two transitions are looked for.
        most: Walks with one transition that are looked at from each node, about.
        second: Walks with two that are, about.
        bins, bin_rad: Classes of turn in each half of a continuation; see `find_continuations`.
        net, frames: See `paging.Net` and `paging.Frames`.

    Returns:
        Where each node's begin among them, (K + 1,); x, z and length at the moments, (W, moments, 3); and the number of
        transitions of each, (W,).
    """
    kinds = bins * bins
    slots = np.empty((kinds, 5), np.int64)
    first = np.zeros(len(nodes) + 1, np.int64)
    room = 16 * len(nodes) + kinds
    places, changes = np.empty((room, moments, 3)), np.empty(room)
    count = 0
    for n in range(len(nodes)):
        alone = _find_kinds(nodes[n], step * moments, enough, most, second, bins, bin_rad, net, frames, slots) == 0
        if alone:  # nothing leads so far with so few transitions: as far as its clip goes
            slots[0] = 0
        if count + kinds > room:
            room *= 2
            more, more_changes = np.empty((room, moments, 3)), np.empty(room)
            more[:count], more_changes[:count] = places[:count], changes[:count]
            places, changes = more, more_changes
        for s in range(kinds):
            if slots[s, 0] >= 0:
                _lay(nodes[n], slots[s], step, moments, net, frames, places[count])
                changes[count] = 3 if alone else slots[s, 0]
                count += 1
        first[n + 1] = count
    return first, places[:count].copy(), changes[:count].copy()
