"""The kernels that find the continuations of every node. The plain twin is in the tests."""

from __future__ import annotations

import numpy as np

from choreograph.base.compiling import compiled, inlined


@inlined
def _kind(turned, late, bins, bin_rad) -> int:  # type: ignore[no-untyped-def]
    """Which kind of way this is, by how far it turns before its second half and in it; the outermost kinds are open."""
    low, high = -(bins // 2), bins // 2
    early_bin = min(max(int(np.rint((turned - late) / bin_rad)), low), high)
    late_bin = min(max(int(np.rint(late / bin_rad)), low), high)
    return (early_bin - low) * bins + late_bin - low


@compiled
def _grown(array, room):  # type: ignore[no-untyped-def]
    larger = np.empty(room, array.dtype)
    larger[: len(array)] = array
    return larger


@compiled
def find_continuations(first_edge, first, length, target, changes, turned, frames, bins, bin_rad):  # type: ignore[no-untyped-def]
    """For each node the walks of `frames` frames from it, of each kind that with the fewest transitions.

    A way of r frames is an edge and then a way of what is left of r, so those of every length are found in turn.

    Args:
        first_edge, first, length, target: As in `KernelTables`.
        changes: Whether each edge is a transition, (E,).
        turned: How far the hips have turned since the edge began, by row, (R,), radians.
        frames: Length of the ways.
        bins: Into how many classes the turn in each half is divided, an odd number.
        bin_rad: Width of a class.

    Returns:
        The number of the first way of each node, of `frames` frames, (N + 1,); and of all ways, of whatever length, the
        first edge and the way after it, or -1 where it ends within that edge.
    """
    nodes, half = len(first_edge) - 1, frames // 2
    begin = np.zeros((frames + 1, nodes + 1), np.int64)
    room = 16 * nodes
    edge_of, then = np.empty(room, np.int32), np.empty(room, np.int64)
    cost, turn, late = np.empty(room, np.int64), np.empty(room), np.empty(room)
    kinds = bins * bins
    slot_edge, slot_then, slot_cost = np.empty(kinds, np.int64), np.empty(kinds, np.int64), np.empty(kinds, np.int64)
    slot_turn, slot_late = np.empty(kinds), np.empty(kinds)
    count = 0
    for r in range(1, frames + 1):
        for n in range(nodes):
            begin[r, n] = count
            slot_edge[:] = -1
            for e in range(first_edge[n], first_edge[n + 1]):
                rest = r - length[e]
                shown = min(length[e], r)
                last = first[e] + shown - 1
                # What the edge itself turns within the second half of the whole way, which begins in it, or not.
                early = min(max(r - half, 0), shown)
                own_late = turned[last] - (turned[first[e] + early - 1] if early > 0 else 0.0)
                low, high = 0, 1
                if rest > 0:
                    low, high = begin[rest, target[e]], begin[rest, target[e] + 1]
                for k in range(low, high):
                    new_cost, new_turn, new_late, after = changes[e], turned[last], own_late, -1
                    if rest > 0:
                        new_cost, new_turn, after = new_cost + cost[k], new_turn + turn[k], k
                        new_late += late[k]
                    s = _kind(new_turn, new_late, bins, bin_rad)
                    if slot_edge[s] < 0 or new_cost < slot_cost[s]:
                        slot_edge[s], slot_then[s], slot_cost[s] = e, after, new_cost
                        slot_turn[s], slot_late[s] = new_turn, new_late
            if count + kinds > room:
                room *= 2
                edge_of, then = _grown(edge_of, room), _grown(then, room)
                cost, turn, late = _grown(cost, room), _grown(turn, room), _grown(late, room)
            for s in range(kinds):
                if slot_edge[s] >= 0:
                    edge_of[count], then[count], cost[count] = slot_edge[s], slot_then[s], slot_cost[s]
                    turn[count], late[count] = slot_turn[s], slot_late[s]
                    count += 1
        begin[r, nodes] = count
    return begin[frames], edge_of[:count], then[:count]


@compiled
def lay_ways(begin, edge_of, then, first, length, way, turn, shift, changes, step, moments):  # type: ignore[no-untyped-def]
    """Where the root is at a few moments of each node's ways, in the coordinates of the node's clip.

    Args:
        begin, edge_of, then: See `find_continuations`.
        first, length, way, turn, shift: As in `KernelTables`.
        changes: Whether each edge is a transition, (E,).
        step: Frames between the moments.
        moments: How many of them.

    Returns:
        x, z and way made, (W, moments, 3), and the number of transitions, (W,).
    """
    places = np.empty((begin[-1] - begin[0], moments, 3))
    count = np.zeros(len(places))
    for w in range(len(places)):
        k, frame, m, walked = begin[0] + w, 0, 0, 0.0
        cos, sin, x, z = 1.0, 0.0, 0.0, 0.0
        while k >= 0:
            e = edge_of[k]
            count[w] += changes[e]
            for row in range(first[e], first[e] + length[e]):
                frame += 1
                walked += way[row, 2]
                if m < moments and frame == (m + 1) * step:
                    places[w, m, 0] = way[row, 0] * cos + way[row, 1] * sin + x
                    places[w, m, 1] = -way[row, 0] * sin + way[row, 1] * cos + z
                    places[w, m, 2] = walked
                    m += 1
            x, z = x + shift[e, 0] * cos + shift[e, 1] * sin, z - shift[e, 0] * sin + shift[e, 1] * cos
            cos, sin = cos * turn[e, 0] - sin * turn[e, 1], sin * turn[e, 0] + cos * turn[e, 1]
            k = then[k]
    return places, count
