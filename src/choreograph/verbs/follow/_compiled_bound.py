"""The kernels of the exact search: branch and bound, and walks followed edge by edge."""

from __future__ import annotations

import numpy as np

from choreograph.base.compiling import compiled, hot
from choreograph.verbs.follow._compiled_scoring import (
    arrive,
    bent_root,
    half_turn_per_metre,
    least_to_come,
    offset_to_path,
    plan_bend,
    score_edge,
)
from choreograph.verbs.follow.state import COST, FLOATS, NODE, PAUSES, RANK, REACHED


@hot
def _open_state(  # type: ignore[no-untyped-def]
    state, node, pauses, left, stay_in, best, bounded, tables, path, params, child_state, child_mark
) -> tuple[int, int, int, bool, float, int]:
    """Score the edges that leave a state; those that lead on go to the children, their bounds in the column RANK.

    Returns:
        Number of children; then, if an edge reaches the horizon or the path's end at less than `best`, that edge, the
        frames shown of it and whether it was the path's end, else -1, 0 and False; the least cost, and frames scored.
    """
    count, scored = 0, 0
    over_edge, over_shown, over_done = -1, 0, False
    for edge in range(tables.first_edge[node], tables.last_edge[node]):
        if stay_in >= 0 and tables.target_clip[edge] != stay_in:
            continue
        child = child_state[count]
        plan_bend(state, edge, tables, path, params, child)
        shown, done, begun = score_edge(state, pauses, edge, left, best, tables, path, params, child)
        scored += shown
        if child[COST] >= best:
            continue
        if done or shown >= left:
            best = child[COST]
            over_edge, over_shown, over_done = edge, shown, done
            continue
        bound = child[COST]
        if bounded:
            root_x, root_z = bent_root(
                edge, tables.first[edge] + shown - 1, half_turn_per_metre(edge, tables, child), tables, child
            )
            off, _, _ = offset_to_path(state, root_x, root_z, child[REACHED], path, params)
            bound += least_to_come(np.sqrt(off), child[REACHED], left - shown, params)
            if bound >= best:
                continue
        arrive(state, edge, tables, child)
        child[RANK] = bound
        child_mark[count, 0], child_mark[count, 1], child_mark[count, 2] = edge, shown, begun
        count += 1
    return count, over_edge, over_shown, over_done, best, scored


@compiled
def branch_and_bound(  # type: ignore[no-untyped-def]
    start, start_mark, horizon, stay_in, best, budget, ordered, bounded, tables, path, params
):
    """The best walk of `horizon` frames, exactly, if the budget lasts.

    Depth first. A branch is left when it cannot beat the best walk so far, and where it comes to a node whose edges are
    not in the tables: then it counts as untried.

    Args:
        start: The state to begin from, (12,).
        start_mark: Its ints, (5,).
        horizon: Frames to look ahead.
        stay_in: Clip that must not be left, or -1.
        best: Cost to beat.
        budget: Frames that may be scored.
        ordered: Whether the most promising edge is tried first, or simply the first.
        bounded: Whether a branch is judged by the least it can still cost too, or by its cost so far alone.
        tables, path, params: See `tables.py`.

    Returns:
        Cost, edges, frames shown by the last edge, whether the path's end was reached, frames scored, and the least
        that any walk left untried can cost (infinite where the search ran to its end). Without edges, nothing beat
        `best`.
    """
    widest = 0
    for node in range(len(tables.last_edge)):
        widest = max(widest, tables.last_edge[node] - tables.first_edge[node])
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
    depth, scored, beyond = 0, 0, np.inf
    while True:
        if tables.first_edge[node] < 0:
            beyond = min(beyond, state[RANK])
        count[depth], edge, shown, done, best, more = _open_state(
            state, node, pauses, horizon - time_at[depth], stay_in, best, bounded, tables, path, params,
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

    untried = beyond
    for d in range(depth + 1):
        for k in range(tried[d], count[d]):
            untried = min(untried, child_state[d, order[d, k], RANK])
    return best, winner[:winner_count], winner_shown, winner_done, scored, untried


@compiled
def replay(start, start_mark, edges, last_shown, enough, tables, path, params):  # type: ignore[no-untyped-def]
    """Follow edges from a state until enough frames are shown or the path's end is reached.

    Args:
        start: The state to begin from, (12,).
        start_mark: Its ints, (5,).
        edges: The edges to take.
        last_shown: Frames to show of the last of them, or -1 for all.
        enough: Frames after which no further edge is begun.
        tables, path, params: See `tables.py`.

    Returns:
        The states before, between and after the edges taken, (K + 1, 12); the ints of the last, (5,); the frames
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
        plan_bend(state, edge, tables, path, params, after)
        shown, done, mark[PAUSES] = score_edge(state, mark[PAUSES], edge, most, np.inf, tables, path, params, after)
        arrive(state, edge, tables, after)
        mark[NODE] = tables.target[edge]
        frames += shown
        taken += 1
    return states[: taken + 1], mark, frames, done
