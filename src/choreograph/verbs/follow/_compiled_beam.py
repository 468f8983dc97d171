"""The kernels of the beam: of the walks that arrive in one frame, the best few are kept and extended."""

from __future__ import annotations

import numpy as np

from choreograph.base.compiling import compiled, hot, inlined
from choreograph.verbs.follow._compiled_scoring import (
    arrive,
    bend_cost,
    best_continuation,
    goal_to_come,
    plan_bend,
    score_edge,
)
from choreograph.verbs.follow._compiled_ways import add_ways
from choreograph.verbs.follow.continuations import MOST_CONTINUATIONS
from choreograph.verbs.follow.state import (
    COST,
    EDGE,
    FLOATS,
    INTS,
    NODE,
    PARENT,
    PAUSES,
    RANK,
    REACHED,
    STRETCH,
    TIME,
    WALKED,
    YAW,
    X,
    Z,
)


@hot
def _sink(ranks, heap, at, count) -> None:  # type: ignore[no-untyped-def]
    """Let an entry of a heap, worst first, sink to where it belongs."""
    row = heap[at]
    rank = ranks[row]
    while 2 * at + 1 < count:
        child = 2 * at + 1
        if child + 1 < count and ranks[heap[child + 1]] > ranks[heap[child]]:
            child += 1
        if ranks[heap[child]] <= rank:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = row


@hot
def _heapify(ranks, heap, count) -> None:  # type: ignore[no-untyped-def]
    """Make a heap, worst first, of the first `count` rows."""
    for k in range(count):
        heap[k] = k
    for k in range(count // 2 - 1, -1, -1):
        _sink(ranks, heap, k, count)


@inlined
def beam_put(beam, slot, state, mark) -> None:  # type: ignore[no-untyped-def]
    """Enter a state among those of its age; where there is no room it replaces the worst, which it must beat."""
    ranks, heap = beam.ranks[slot], beam.heap[slot]
    room, row = beam.room[slot], beam.counts[slot]
    if row == room:
        row = heap[0]
    else:
        beam.counts[slot] += 1
    ranks[row] = state[RANK]
    for k in range(FLOATS):
        beam.floats[slot, row, k] = state[k]
    for k in range(INTS):
        beam.marks[slot, row, k] = mark[k]
    if beam.limit[slot] < np.inf:
        _sink(ranks, heap, 0, room)
        beam.limit[slot] = ranks[heap[0]]
    elif beam.counts[slot] == room:
        _heapify(ranks, heap, room)
        beam.limit[slot] = ranks[heap[0]]


@inlined
def _open(beam, slot) -> None:  # type: ignore[no-untyped-def]
    """Let walks wait for a frame as many as there is room for; before, only some are let in."""
    if beam.room[slot] < beam.ranks.shape[1]:
        beam.room[slot] = beam.ranks.shape[1]
        beam.limit[slot] = np.inf


@hot
def _keep_best(beam, slot, now) -> None:  # type: ignore[no-untyped-def]
    """Of the states that arrived in one frame, keep the best, but one only of those that are nearly the same."""
    width, slots = beam.kept_floats.shape[1], len(beam.hash_key)
    ranks, heap, count = beam.ranks[slot], beam.heap[slot], beam.counts[slot]
    _heapify(ranks, heap, count)
    for last in range(count - 1, 0, -1):  # heap sort: the worst go to the end
        worst = heap[0]
        heap[0] = heap[last]
        _sink(ranks, heap, 0, last)
        heap[last] = worst
    kept = 0
    for k in range(count):
        row = heap[k]
        if kept == width:
            break
        if beam.floats[slot, row, COST] >= beam.best_cost[0]:
            continue
        state = beam.floats[slot, row]
        turn = state[YAW] - 2.0 * np.pi * np.floor(state[YAW] / (2.0 * np.pi))
        key = np.int64(beam.marks[slot, row, NODE])
        key = key * 1000003 + np.int64(np.floor(state[X] / beam.cell[0]))
        key = key * 1000003 + np.int64(np.floor(state[Z] / beam.cell[0]))
        key = key * 1000003 + np.int64(np.floor(turn / beam.cell[1]))
        key = key * 1000003 + np.int64(np.floor(state[REACHED] / beam.cell[0]))
        at = (key ^ (key >> 17) ^ (key >> 31)) & (slots - 1)
        taken = False
        while beam.hash_time[at] == now:
            if beam.hash_key[at] == key:
                taken = True
                break
            at = (at + 1) & (slots - 1)
        if taken:
            continue
        beam.hash_key[at], beam.hash_time[at] = key, now
        for i in range(FLOATS):
            beam.kept_floats[slot, kept, i] = state[i]
        for i in range(INTS):
            beam.kept_marks[slot, kept, i] = beam.marks[slot, row, i]
        kept += 1
    beam.kept[slot] = kept
    beam.counts[slot] = 0
    beam.limit[slot] = np.inf
    beam.room[slot] = beam.early[0]


@hot
def _extend(beam, now, stay_in, tables, pages, path, params, after, mark, ends) -> int:  # type: ignore[no-untyped-def]
    """Extend the states kept at a frame; the number of frames scored."""
    ring = len(beam.counts)
    slot = now % ring
    scored = 0
    for s in range(beam.kept[slot]):
        state, node = beam.kept_floats[slot, s], beam.kept_marks[slot, s, NODE]
        for edge in range(tables.first_edge[node], tables.last_edge[node]):
            if stay_in >= 0 and tables.target_clip[edge] != stay_in:
                continue
            length, target = tables.length[edge], tables.target[edge]
            arrival = (now + length) % ring
            over = beam.best_cost[0]
            spent = state[COST] + tables.extra[edge]
            if spent >= over:
                continue
            # A walk that may end on the way is not judged by where the edge leads.
            may_end = state[REACHED] + length * params.fastest >= params.length
            # However it is bent it leads no farther: most of those that cannot be let in need no bend to be told.
            least = state[REACHED] + params.gamma * params.dt * length
            farthest = max(state[WALKED] + tables.edge_way[edge] * (1.0 + params.max_stretch), least)
            if not may_end and beam.limit[arrival] - spent <= params.credit * (params.length - farthest):
                continue
            plan_bend(state, edge, tables, path, params, after)
            # Looking ahead is cheaper than scoring the edge, so what is seen there comes first.
            after[WALKED] = state[WALKED] + tables.edge_way[edge] * (1.0 + after[STRETCH])
            after[REACHED] = max(after[WALKED], least)
            left = params.credit * (params.length - after[REACHED])
            if tables.wait_s.shape[1] > 0:
                left += goal_to_come(after, target, tables, path, params)
            spare = beam.limit[arrival] - left - spent
            if params.max_lateral > 0.0 and not may_end:
                spare -= bend_cost(edge, tables, params, after)
            if spare <= 0.0 and not may_end:
                continue
            arrive(state, edge, tables, after)
            if params.heuristic_weight > 0.0:
                if tables.first_way[target] < 0:
                    add_ways(target, pages)
                ahead = params.heuristic_weight * best_continuation(
                    after, target, spare / params.heuristic_weight, tables, path, params, ends
                )
                left += ahead
                if ahead >= spare and not may_end:
                    continue
            limit = over if may_end else min(over, beam.limit[arrival] - left)
            shown, done, pauses = score_edge(
                state, beam.kept_marks[slot, s, PAUSES], edge, length, limit, tables, path, params, after
            )
            scored += shown
            if after[COST] >= limit:
                continue
            if done:
                beam.best_cost[0] = after[COST]
                beam.best_mark[0], beam.best_mark[1] = now, s
                beam.best_mark[2], beam.best_mark[3] = edge, shown
                continue
            after[RANK] = after[COST] + left
            if after[RANK] >= beam.limit[arrival]:
                continue
            mark[NODE], mark[TIME], mark[PARENT] = target, now, s
            mark[EDGE], mark[PAUSES] = edge, pauses
            beam_put(beam, arrival, after, mark)
    return scored


@inlined
def _is_missing(beam, slot, tables) -> bool:  # type: ignore[no-untyped-def]
    """Whether a state kept at a frame stands at a node whose edges are not in the tables yet."""
    missing = False
    for s in range(beam.kept[slot]):
        missing |= tables.first_edge[beam.kept_marks[slot, s, NODE]] < 0
    return missing


@inlined
def _is_full(beam, slot, tables, pages) -> bool:  # type: ignore[no-untyped-def]
    """Whether there may not be room for the continuations of all nodes that the states kept at a frame lead to."""
    edges = 0
    for s in range(beam.kept[slot]):
        node = beam.kept_marks[slot, s, NODE]
        edges += tables.last_edge[node] - tables.first_edge[node]
    return pages.step > 0 and pages.counted[0] + edges * MOST_CONTINUATIONS > len(pages.changes)


@compiled
def beam_advance(beam, since, until, begun, stay_in, tables, pages, path, params):  # type: ignore[no-untyped-def]
    """Extend all states that arrive in the frames [since, until).

    Walks that reach the path's end are over; the best of them is kept in `beam.best_*`.

    Args:
        beam: See `beam.Beam`.
        since: First frame to work on.
        until: Frame to stop before.
        begun: Whether the best states of the first frame were kept before: then it had to stop there.
        stay_in: Clip that must not be left, or -1.
        tables, path, params: See `tables.py`.
        pages: Continuations that are found as they are needed; see `ways.Pages`.

    Returns:
        The number of frames scored; and the frame that it came to: `until`, or one at which a state stands at a node
        whose edges must be read into the tables, or leads to nodes whose continuations need more room.
    """
    after = np.empty(FLOATS)
    mark = np.empty(INTS, np.int64)
    ends = np.empty(MOST_CONTINUATIONS)
    scored = 0
    for now in range(since, until):
        if not (begun and now == since):
            _keep_best(beam, now % len(beam.counts), now)
            _open(beam, (now + beam.early[1]) % len(beam.counts))
        slot = now % len(beam.counts)
        if _is_missing(beam, slot, tables) or _is_full(beam, slot, tables, pages):
            return scored, now
        scored += _extend(beam, now, stay_in, tables, pages, path, params, after, mark, ends)
    return scored, until


@compiled
def beam_select(beam, horizon, tables, path, params):  # type: ignore[no-untyped-def]
    """The best walk, scored at exactly the horizon; those under way on an edge are scored as far as they are.

    Returns:
        Cost, then time and row of the last kept state, the edge taken from it, the frames shown of that edge, and
        whether the path's end was reached. A time of -1 says that there is no walk.
    """
    ring = len(beam.counts)
    best, time, row, edge, shown, done = np.inf, -1, -1, -1, 0, False
    after = np.empty(FLOATS)
    if beam.best_mark[0] >= 0:
        time, row, edge = beam.best_mark[0], beam.best_mark[1], beam.best_mark[2]
        plan_bend(beam.kept_floats[time % ring, row], edge, tables, path, params, after)
        shown, done, _ = score_edge(
            beam.kept_floats[time % ring, row], beam.kept_marks[time % ring, row, PAUSES], edge,
            min(beam.best_mark[3], horizon - time), np.inf, tables, path, params, after,
        )  # fmt: skip
        best = after[COST]
    # Nothing becomes cheaper on the way: no walk of interest costs more by now than the best one will where it arrives.
    most = best
    for later in range(horizon, horizon + ring):
        slot = later % ring
        for k in range(beam.counts[slot]):
            if 0 <= beam.marks[slot, k, TIME] < horizon:
                most = min(most, beam.floats[slot, k, COST])
    most += 1e-12 + 1e-9 * abs(most)
    for later in range(horizon, horizon + ring):
        slot = later % ring
        for k in range(beam.counts[slot]):
            since, parent, on = beam.marks[slot, k, TIME], beam.marks[slot, k, PARENT], beam.marks[slot, k, EDGE]
            if since < 0 or since >= horizon:
                continue
            cost = beam.floats[slot, k, COST]
            if later > horizon:
                old, limit = since % ring, min(best, most)
                if beam.kept_floats[old, parent, COST] + tables.extra[on] >= limit:
                    continue
                plan_bend(beam.kept_floats[old, parent], on, tables, path, params, after)
                score_edge(
                    beam.kept_floats[old, parent], beam.kept_marks[old, parent, PAUSES], on, horizon - since,
                    limit, tables, path, params, after,
                )  # fmt: skip
                cost = after[COST]
                if cost >= limit:
                    continue
            if cost < best:
                best, time, row, edge, shown, done = cost, since, parent, on, horizon - since, False
    return best, time, row, edge, shown, done


@compiled
def beam_trace(beam, since, time, row):  # type: ignore[no-untyped-def]
    """The way back from the state kept at frame `time` in `row` to the one at frame `since`.

    Returns:
        The edges between them, (K,), and frame and row of the state that each of them leaves and of the last one,
        (K + 1, 2), in the order in which they are walked; and the state, of those begun from, that it all comes from.
    """
    ring, count = len(beam.counts), 0
    at, k = time, row
    while at > since:
        mark = beam.kept_marks[at % ring, k]
        at, k, count = mark[TIME], mark[PARENT], count + 1
    start = beam.kept_marks[at % ring, k, PARENT] if at == 0 else 0
    edges, states = np.empty(count, np.int64), np.empty((count + 1, 2), np.int64)
    states[count, 0], states[count, 1] = time, row
    for n in range(count - 1, -1, -1):
        mark = beam.kept_marks[states[n + 1, 0] % ring, states[n + 1, 1]]
        edges[n], states[n, 0], states[n, 1] = mark[EDGE], mark[TIME], mark[PARENT]
    return edges, states, start


@compiled
def beam_restrict(beam, at, row, horizon) -> None:  # type: ignore[no-untyped-def]
    """Forget every state that does not come from the one kept at frame `at` in `row`."""
    ring, width = len(beam.counts), beam.kept_floats.shape[1]
    alive = np.zeros((ring, width), np.bool_)
    alive[at % ring, row] = True
    for now in range(at + 1, horizon):
        slot = now % ring
        for s in range(beam.kept[slot]):
            since = beam.kept_marks[slot, s, TIME]
            if since >= at:
                alive[slot, s] = alive[since % ring, beam.kept_marks[slot, s, PARENT]]
    for later in range(horizon, horizon + ring):
        slot, kept = later % ring, 0
        for k in range(beam.counts[slot]):
            since = beam.marks[slot, k, TIME]
            if since >= at and alive[since % ring, beam.marks[slot, k, PARENT]]:
                for i in range(FLOATS):
                    beam.floats[slot, kept, i] = beam.floats[slot, k, i]
                for i in range(INTS):
                    beam.marks[slot, kept, i] = beam.marks[slot, k, i]
                beam.ranks[slot, kept] = beam.ranks[slot, k]
                kept += 1
        beam.counts[slot] = kept
        beam.limit[slot] = np.inf
    over = beam.best_mark[0]
    if over >= 0 and not (over >= at and alive[over % ring, beam.best_mark[1]]):
        beam.best_mark[0] = -1
        beam.best_cost[0] = np.inf
