"""The search kernels of path following: scoring an edge, a beam, and branch and bound, on flat arrays.

A state is a row of floats and a row of ints whose columns `state.py` names. The plain twins are in `reference.py`.
Cost is in m²·s: squared distance to the path, integrated over time, plus what is asked for along stretches.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from choreograph.synthesis.follow.state import (
    COS,
    COST,
    EDGE,
    FLOATS,
    INTS,
    NODE,
    PARENT,
    PAUSE,
    PAUSES,
    RANK,
    REACHED,
    SIN,
    TIME,
    WALKED,
    YAW,
    X,
    Z,
)
from choreograph.synthesis.follow.tables import LOOKS

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_compiled = njit(cache=True, nogil=True, error_model="numpy", _nrt=True)
# In the hot loops nothing is allocated, and counting references to arrays would take half of the time (see
# github.com/numba/numba/issues/2345), so it is off there.
_hot = njit(cache=True, nogil=True, error_model="numpy", _nrt=False)
# The tables are many arrays, and handing them to a function costs more than most of these functions do.
_inlined = njit(cache=True, nogil=True, error_model="numpy", _nrt=False, forceinline=True)


@_inlined
def _offset(state, way, row, reached, path, knobs):  # type: ignore[no-untyped-def]
    """Squared distance from the root in a row of `way` to the point it should be at, and that point's index."""
    at = min(max(reached, 0.0), knobs.length) * knobs.per_metre
    i = min(int(at), len(path.points) - 2)
    share = at - i
    x = path.points[i, 0] + share * (path.points[i + 1, 0] - path.points[i, 0])
    z = path.points[i, 1] + share * (path.points[i + 1, 1] - path.points[i, 1])
    root_x, root_z = way[row, 0], way[row, 1]
    dx = root_x * state[COS] + root_z * state[SIN] + state[X] - x
    dz = -root_x * state[SIN] + root_z * state[COS] + state[Z] - z
    return dx * dx + dz * dz, i


@_inlined
def score_edge(  # type: ignore[no-untyped-def]
    state, pauses, edge, most, limit, tables, path, knobs, out
) -> tuple[int, bool, int]:
    """Show up to `most` frames of an edge from a state; progress and cost after them go to `out`.

    A walk that costs `limit` or more is of no interest: scoring then stops where it is, with a cost above the limit.

    Returns:
        Frames shown, whether the path's end was reached in the last of them, and how many pauses were begun.
    """
    dt, gamma = knobs.dt, knobs.gamma * knobs.dt
    walked, reached, cost, pause = state[WALKED], state[REACHED], state[COST], state[PAUSE]
    cost += tables.extra[edge]
    shown, done = 0, False
    for row in range(tables.first[edge], tables.first[edge] + min(tables.length[edge], most)):
        shown += 1
        way = tables.way[row, 2]
        if pause > 0.0:
            # Standing at a pause: the way made meanwhile is no progress, and moving is what is penalised.
            pause -= dt
            cost += knobs.speed_weight * way * way / dt
        else:
            walked += way
            reached = max(walked, reached + gamma)
            if pauses < len(path.pause_at) and reached >= path.pause_at[pauses]:
                reached = path.pause_at[pauses]
                walked = min(walked, reached)
                pause = path.pause_s[pauses]
                pauses += 1
        off, i = _offset(state, tables.way, row, reached, path, knobs)
        cost += off * dt
        if pause <= 0.0:
            if path.speed[i] >= 0.0:
                cost += knobs.speed_weight * (way / dt - path.speed[i]) ** 2 * dt
            elif way < knobs.idle_below * dt:
                cost += knobs.idle_weight * (1.0 - way / (knobs.idle_below * dt)) ** 2 * dt
        if path.label[i] != 0 and tables.labels[row] & path.label[i] == 0:
            cost += knobs.label_weight * dt
        if reached >= knobs.length and pause <= 0.0 and pauses >= len(path.pause_at):
            done = True
            cost += knobs.end_weight * off
            cost += knobs.facing_weight * (1.0 - np.cos(tables.facing[row] + state[YAW] - knobs.facing))
            break
        if cost >= limit:
            break
    out[WALKED], out[REACHED], out[COST], out[PAUSE] = walked, reached, cost, pause
    return shown, done, pauses


@_inlined
def arrive(state, edge, tables, out) -> None:  # type: ignore[no-untyped-def]
    """Where on the floor the clip lies in which an edge arrives. Turns are composed without any trigonometry."""
    cos, sin = state[COS], state[SIN]
    turn_cos, turn_sin = tables.turn[edge, 0], tables.turn[edge, 1]
    out[YAW] = state[YAW] + tables.yaw[edge]
    out[COS] = cos * turn_cos - sin * turn_sin
    out[SIN] = sin * turn_cos + cos * turn_sin
    out[X] = tables.shift[edge, 0] * cos + tables.shift[edge, 1] * sin + state[X]
    out[Z] = -tables.shift[edge, 0] * sin + tables.shift[edge, 1] * cos + state[Z]


@_inlined
def least_to_come(error, reached, frames, knobs) -> float:  # type: ignore[no-untyped-def]
    """The least that the next frames can cost a walk that is `error` metres off now.

    Root and target each move at most `fastest` a frame, so the error falls by at most the sum of both; and the walk
    cannot be over before the rest of the path is walked at that speed.
    """
    dt, fastest = knobs.dt, knobs.fastest
    target = max(fastest, knobs.gamma * dt)
    fall = fastest + target
    left = min(float(frames), np.floor(max(knobs.length - reached, 0.0) / target))
    n = min(left, np.floor(error / fall))
    if n <= 0.0:
        return 0.0
    return dt * (n * error * error - fall * error * n * (n + 1.0) + fall * fall * n * (n + 1.0) * (2.0 * n + 1.0) / 6.0)


@_inlined
def played_on(state, node, most, tables, path, knobs) -> float:  # type: ignore[no-untyped-def]
    """Roughly what the next second costs if the clip is simply played on: what walks of one age are compared by.

    Seen at a few moments only. A clip that ends sooner is taken to go on as it was. Beyond `most` the cost is of no
    interest; the last moments come first, since errors grow.
    """
    here = tables.node_row[node]
    moments = min(LOOKS, tables.node_left[node] // knobs.look_step)
    stride = knobs.look_step * knobs.dt
    if moments == 0:
        off, _ = _offset(state, tables.clip_way, here, state[REACHED], path, knobs)
        return LOOKS * off * stride
    cost, weight = 0.0, stride * LOOKS / moments
    for m in range(moments, 0, -1):
        row = here + m * knobs.look_step
        walked = state[WALKED] + tables.clip_way[row, 2] - tables.clip_way[here, 2]
        reached = max(walked, state[REACHED] + knobs.gamma * stride * m)
        off, _ = _offset(state, tables.clip_way, row, reached, path, knobs)
        cost += off * weight
        if cost >= most:
            break
    return cost


@_hot
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


@_hot
def _heapify(ranks, heap, count) -> None:  # type: ignore[no-untyped-def]
    """Make a heap, worst first, of the first `count` rows."""
    for k in range(count):
        heap[k] = k
    for k in range(count // 2 - 1, -1, -1):
        _sink(ranks, heap, k, count)


@_inlined
def beam_put(beam, slot, state, mark) -> None:  # type: ignore[no-untyped-def]
    """Enter a state among those of its age; where there is no room it replaces the worst, which it must beat."""
    ranks, heap = beam.ranks[slot], beam.heap[slot]
    room, row = len(ranks), beam.counts[slot]
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


@_hot
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


@_hot
def _extend(beam, now, stay_in, tables, path, knobs, after, mark) -> int:  # type: ignore[no-untyped-def]
    """Extend the states kept at a frame; the number of frames scored."""
    ring = len(beam.counts)
    slot = now % ring
    scored = 0
    for s in range(beam.kept[slot]):
        state, node = beam.kept_floats[slot, s], beam.kept_marks[slot, s, NODE]
        for edge in range(tables.first_edge[node], tables.first_edge[node + 1]):
            if stay_in >= 0 and tables.target_clip[edge] != stay_in:
                continue
            length, target = tables.length[edge], tables.target[edge]
            arrival = (now + length) % ring
            over = beam.best_cost[0]
            if state[COST] + tables.extra[edge] >= over:
                continue
            arrive(state, edge, tables, after)
            # Looking ahead is cheaper than scoring the edge, so what is seen there comes first.
            after[WALKED] = state[WALKED] + tables.edge_way[edge]
            after[REACHED] = max(after[WALKED], state[REACHED] + knobs.gamma * knobs.dt * length)
            left = knobs.credit * (knobs.length - after[REACHED])
            spare = beam.limit[arrival] - left - state[COST] - tables.extra[edge]
            # A walk that may end on the way is not judged by where the edge leads.
            may_end = state[REACHED] + length * knobs.fastest >= knobs.length
            if spare <= 0.0 and not may_end:
                continue
            if knobs.look_trust > 0.0:
                look = knobs.look_trust * played_on(after, target, spare / knobs.look_trust, tables, path, knobs)
                left += look
                if look >= spare and not may_end:
                    continue
            limit = over if may_end else min(over, beam.limit[arrival] - left)
            shown, done, pauses = score_edge(
                state, beam.kept_marks[slot, s, PAUSES], edge, length, limit, tables, path, knobs, after
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


@_compiled
def beam_advance(beam, since, until, stay_in, tables, path, knobs) -> int:  # type: ignore[no-untyped-def]
    """Extend all states that arrive in the frames [since, until); the number of frames scored.

    Walks that reach the path's end are over; the best of them is kept in `beam.best_*`.

    Args:
        beam: See `beam.Beam`.
        since: First frame to work on.
        until: Frame to stop before.
        stay_in: Clip that must not be left, or -1.
        tables, path, knobs: See `tables.py`.
    """
    after = np.empty(FLOATS)
    mark = np.empty(INTS, np.int64)
    scored = 0
    for now in range(since, until):
        _keep_best(beam, now % len(beam.counts), now)
        scored += _extend(beam, now, stay_in, tables, path, knobs, after, mark)
    return scored


@_compiled
def beam_select(beam, horizon, tables, path, knobs):  # type: ignore[no-untyped-def]
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
        shown, done, _ = score_edge(
            beam.kept_floats[time % ring, row], beam.kept_marks[time % ring, row, PAUSES], edge,
            min(beam.best_mark[3], horizon - time), np.inf, tables, path, knobs, after,
        )  # fmt: skip
        best = after[COST]
    for later in range(horizon, horizon + ring):
        slot = later % ring
        for k in range(beam.counts[slot]):
            since, parent, on = beam.marks[slot, k, TIME], beam.marks[slot, k, PARENT], beam.marks[slot, k, EDGE]
            if since < 0 or since >= horizon:
                continue
            cost = beam.floats[slot, k, COST]
            if later > horizon:
                old = since % ring
                if beam.kept_floats[old, parent, COST] + tables.extra[on] >= best:
                    continue
                score_edge(
                    beam.kept_floats[old, parent], beam.kept_marks[old, parent, PAUSES], on, horizon - since,
                    best, tables, path, knobs, after,
                )  # fmt: skip
                cost = after[COST]
            if cost < best:
                best, time, row, edge, shown, done = cost, since, parent, on, horizon - since, False
    return best, time, row, edge, shown, done


@_compiled
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


@_hot
def _open_state(  # type: ignore[no-untyped-def]
    state, node, pauses, left, stay_in, best, bounded, tables, path, knobs, child_state, child_mark
) -> tuple[int, int, int, bool, float, int]:
    """Score the edges that leave a state; those that lead on go to the children, their bounds in the column RANK.

    Returns:
        Number of children; then, if an edge reaches the horizon or the path's end at less than `best`, that edge, the
        frames shown of it and whether it was the path's end, else -1, 0 and False; the least cost, and frames scored.
    """
    count, scored = 0, 0
    over_edge, over_shown, over_done = -1, 0, False
    for edge in range(tables.first_edge[node], tables.first_edge[node + 1]):
        if stay_in >= 0 and tables.target_clip[edge] != stay_in:
            continue
        child = child_state[count]
        shown, done, begun = score_edge(state, pauses, edge, left, best, tables, path, knobs, child)
        scored += shown
        if child[COST] >= best:
            continue
        if done or shown >= left:
            best = child[COST]
            over_edge, over_shown, over_done = edge, shown, done
            continue
        bound = child[COST]
        if bounded:
            off, _ = _offset(state, tables.way, tables.first[edge] + shown - 1, child[REACHED], path, knobs)
            bound += least_to_come(np.sqrt(off), child[REACHED], left - shown, knobs)
            if bound >= best:
                continue
        arrive(state, edge, tables, child)
        child[RANK] = bound
        child_mark[count, 0], child_mark[count, 1], child_mark[count, 2] = edge, shown, begun
        count += 1
    return count, over_edge, over_shown, over_done, best, scored


@_compiled
def branch_and_bound(  # type: ignore[no-untyped-def]
    start, start_mark, horizon, stay_in, best, budget, ordered, bounded, tables, path, knobs
):
    """The best walk of `horizon` frames, exactly, if the budget lasts.

    Depth first. A branch is left when it cannot beat the best walk so far.

    Args:
        start: The state to begin from, (10,).
        start_mark: Its ints, (5,).
        horizon: Frames to look ahead.
        stay_in: Clip that must not be left, or -1.
        best: Cost to beat.
        budget: Frames that may be scored.
        ordered: Whether the most promising edge is tried first, or simply the first.
        bounded: Whether a branch is judged by the least it can still cost too, or by its cost so far alone.
        tables, path, knobs: See `tables.py`.

    Returns:
        Cost, edges, frames shown by the last edge, whether the path's end was reached, frames scored, and the least
        that any walk left untried can cost (infinite where the search ran to its end). Without edges, nothing beat
        `best`.
    """
    widest = 0
    for node in range(len(tables.first_edge) - 1):
        widest = max(widest, tables.first_edge[node + 1] - tables.first_edge[node])
    # By depth: children as states, as edge, frames shown and pauses begun, and the order in which they are tried.
    child_state = np.empty((horizon + 1, widest, FLOATS))
    child_mark = np.empty((horizon + 1, widest, 3), np.int64)
    order = np.empty((horizon + 1, widest), np.int64)
    count = np.zeros(horizon + 1, np.int64)
    tried = np.zeros(horizon + 1, np.int64)
    time_at = np.zeros(horizon + 1, np.int64)
    taken = np.empty(horizon + 1, np.int64)
    winner = np.empty(horizon + 1, np.int64)
    winner_count, winner_shown, winner_done = 0, 0, False

    state, node, pauses = start, start_mark[NODE], start_mark[PAUSES]
    depth, scored = 0, 0
    while True:
        count[depth], edge, shown, done, best, more = _open_state(
            state, node, pauses, horizon - time_at[depth], stay_in, best, bounded, tables, path, knobs,
            child_state[depth], child_mark[depth],
        )  # fmt: skip
        scored += more
        tried[depth] = 0
        if edge >= 0:
            for d in range(depth):
                winner[d] = taken[d]
            winner[depth] = edge
            winner_count, winner_shown, winner_done = depth + 1, shown, done
        for k in range(count[depth]):
            at = k
            if ordered:
                while at > 0 and child_state[depth, order[depth, at - 1], RANK] > child_state[depth, k, RANK]:
                    order[depth, at] = order[depth, at - 1]
                    at -= 1
            order[depth, at] = k
        while depth >= 0 and (
            tried[depth] == count[depth] or child_state[depth, order[depth, tried[depth]], RANK] >= best
        ):
            # All tried here, or this one cannot beat the best any more.
            if tried[depth] < count[depth]:
                tried[depth] += 1
            else:
                depth -= 1
        if depth < 0 or scored >= budget:
            break
        k = order[depth, tried[depth]]
        tried[depth] += 1
        taken[depth] = child_mark[depth, k, 0]
        state, node, pauses = child_state[depth, k], tables.target[taken[depth]], child_mark[depth, k, 2]
        time_at[depth + 1] = time_at[depth] + child_mark[depth, k, 1]
        depth += 1

    untried = np.inf
    for d in range(depth + 1):
        for k in range(tried[d], count[d]):
            untried = min(untried, child_state[d, order[d, k], RANK])
    return best, winner[:winner_count], winner_shown, winner_done, scored, untried


@_compiled
def replay(start, start_mark, edges, last_shown, enough, tables, path, knobs):  # type: ignore[no-untyped-def]
    """Follow edges from a state until enough frames are shown or the path's end is reached.

    Args:
        start: The state to begin from, (10,).
        start_mark: Its ints, (5,).
        edges: The edges to take.
        last_shown: Frames to show of the last of them, or -1 for all.
        enough: Frames after which no further edge is begun.
        tables, path, knobs: See `tables.py`.

    Returns:
        The states before, between and after the edges taken, (K + 1, 10); the ints of the last, (5,); the frames
        shown, and whether the path's end was reached.
    """
    states = np.zeros((len(edges) + 1, FLOATS))
    mark = start_mark.copy()
    for k in range(FLOATS):
        states[0, k] = start[k]
    taken, frames, done = 0, 0, False
    while taken < len(edges) and frames < enough and not done:
        edge, state, after = edges[taken], states[taken], states[taken + 1]
        most = tables.length[edge]
        if taken == len(edges) - 1 and last_shown >= 0:
            most = last_shown
        shown, done, mark[PAUSES] = score_edge(state, mark[PAUSES], edge, most, np.inf, tables, path, knobs, after)
        arrive(state, edge, tables, after)
        mark[NODE] = tables.target[edge]
        frames += shown
        taken += 1
    return states[: taken + 1], mark, frames, done
