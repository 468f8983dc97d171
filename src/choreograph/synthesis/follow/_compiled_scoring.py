"""What showing an edge of the graph costs a walk along a path: kernels that the searches share, on flat arrays.

A state is a row of floats and a row of ints whose columns `state.py` names. The plain twins are in the tests.
Cost is in m²·s: squared distance to the path, integrated over time, plus what is asked for along stretches.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from choreograph.synthesis.follow.state import COS, COST, PAUSE, REACHED, SIN, WALKED, YAW, X, Z

compiled = njit(cache=True, nogil=True, error_model="numpy", _nrt=True)
# In the hot loops nothing is allocated, and counting references to arrays would take half of the time (see
# github.com/numba/numba/issues/2345), so it is off there.
hot = njit(cache=True, nogil=True, error_model="numpy", _nrt=False)
# The tables are many arrays, and handing them to a function costs more than most of these functions do.
inlined = njit(cache=True, nogil=True, error_model="numpy", _nrt=False, forceinline=True)


@inlined
def offset_to_path(state, way, row, reached, path, params):  # type: ignore[no-untyped-def]
    """Squared distance from the root in a row of `way` to the point it should be at, and that point's index."""
    at = min(max(reached, 0.0), params.length) * params.per_metre
    i = min(int(at), len(path.points) - 2)
    share = at - i
    x = path.points[i, 0] + share * (path.points[i + 1, 0] - path.points[i, 0])
    z = path.points[i, 1] + share * (path.points[i + 1, 1] - path.points[i, 1])
    root_x, root_z = way[row, 0], way[row, 1]
    dx = root_x * state[COS] + root_z * state[SIN] + state[X] - x
    dz = -root_x * state[SIN] + root_z * state[COS] + state[Z] - z
    return dx * dx + dz * dz, i


@inlined
def score_edge(  # type: ignore[no-untyped-def]
    state, pauses, edge, most, limit, tables, path, params, out
) -> tuple[int, bool, int]:
    """Show up to `most` frames of an edge from a state; progress and cost after them go to `out`.

    A walk that costs `limit` or more is of no interest: scoring then stops where it is, with a cost above the limit.

    Returns:
        Frames shown, whether the path's end was reached in the last of them, and how many pauses were begun.
    """
    dt, gamma = params.dt, params.gamma * params.dt
    walked, reached, cost, pause = state[WALKED], state[REACHED], state[COST], state[PAUSE]
    cost += tables.extra[edge]
    shown, done = 0, False
    for row in range(tables.first[edge], tables.first[edge] + min(tables.length[edge], most)):
        shown += 1
        way = tables.way[row, 2]
        if pause > 0.0:
            # Standing at a pause: the way made meanwhile is no progress, and moving is what is penalised.
            pause -= dt
            cost += params.speed_weight * way * way / dt
        else:
            walked += way
            reached = max(walked, reached + gamma)
            if pauses < len(path.pause_at) and reached >= path.pause_at[pauses]:
                reached = path.pause_at[pauses]
                walked = min(walked, reached)
                pause = path.pause_s[pauses]
                pauses += 1
        off, i = offset_to_path(state, tables.way, row, reached, path, params)
        cost += off * dt
        if pause <= 0.0:
            if path.speed[i] >= 0.0:
                cost += params.speed_weight * (way / dt - path.speed[i]) ** 2 * dt
            elif path.label[i] == 0 and way < params.idle_below * dt:
                cost += params.idle_weight * (1.0 - way / (params.idle_below * dt)) ** 2 * dt
        if path.label[i] != 0 and tables.labels[row] & path.label[i] == 0:
            cost += params.label_weight * dt
        if reached >= params.length and pause <= 0.0 and pauses >= len(path.pause_at):
            done = True
            cost += params.end_weight * off
            cost += params.facing_weight * (1.0 - np.cos(tables.facing[row] + state[YAW] - params.facing))
            break
        if cost >= limit:
            break
    out[WALKED], out[REACHED], out[COST], out[PAUSE] = walked, reached, cost, pause
    return shown, done, pauses


@inlined
def arrive(state, edge, tables, out) -> None:  # type: ignore[no-untyped-def]
    """Where on the floor the clip lies in which an edge arrives. Turns are composed without any trigonometry."""
    cos, sin = state[COS], state[SIN]
    turn_cos, turn_sin = tables.turn[edge, 0], tables.turn[edge, 1]
    out[YAW] = state[YAW] + tables.yaw[edge]
    out[COS] = cos * turn_cos - sin * turn_sin
    out[SIN] = sin * turn_cos + cos * turn_sin
    out[X] = tables.shift[edge, 0] * cos + tables.shift[edge, 1] * sin + state[X]
    out[Z] = -tables.shift[edge, 0] * sin + tables.shift[edge, 1] * cos + state[Z]


@inlined
def least_to_come(error, reached, frames, params) -> float:  # type: ignore[no-untyped-def]
    """The least that the next frames can cost a walk that is `error` metres off now.

    Root and target each move at most `fastest` a frame, so the error falls by at most the sum of both; and the walk
    cannot be over before the rest of the path is walked at that speed.
    """
    dt, fastest = params.dt, params.fastest
    target = max(fastest, params.gamma * dt)
    fall = fastest + target
    left = min(float(frames), np.floor(max(params.length - reached, 0.0) / target))
    n = min(left, np.floor(error / fall))
    if n <= 0.0:
        return 0.0
    return dt * (n * error * error - fall * error * n * (n + 1.0) + fall * fall * n * (n + 1.0) * (2.0 * n + 1.0) / 6.0)


@inlined
def _offset_on_way(state, way, moment, tables, path, params) -> float:  # type: ignore[no-untyped-def]
    """Squared distance to the path at a moment of a continuation, to the nearest of the path's points."""
    reached = max(state[WALKED] + tables.ways[way, moment, 2], state[REACHED])
    i = int(min(max(reached, 0.0) * params.per_metre, len(path.points) - 1.0))
    x, z = tables.ways[way, moment, 0], tables.ways[way, moment, 1]
    dx = x * state[COS] + z * state[SIN] + state[X] - path.points[i, 0]
    dz = -x * state[SIN] + z * state[COS] + state[Z] - path.points[i, 1]
    return dx * dx + dz * dz


@inlined
def best_continuation(state, node, most, tables, path, params, ends) -> float:  # type: ignore[no-untyped-def]
    """Roughly what the next second or so costs on the node's best continuation, or `most` if that is less.

    All are judged by where they end first, and the one that ends best is seen whole before the others, most of which
    need not be seen any further then. `ends` is room for what the ends cost.
    """
    first, count = tables.first_way[node], tables.first_way[node + 1] - tables.first_way[node]
    last = tables.ways.shape[1] - 1
    near, nearest = 0, np.inf
    for k in range(count):
        ends[k] = tables.way_cost[first + k] + params.continuation_s * _offset_on_way(
            state, first + k, last, tables, path, params
        )
        if ends[k] < nearest:
            near, nearest = k, ends[k]
    if nearest >= most:
        return most
    best = most
    for turn in range(-1, count):
        k = near if turn < 0 else turn
        cost, m = ends[k], last
        while m > 0 and cost < best:
            m -= 1
            cost += params.continuation_s * _offset_on_way(state, first + k, m, tables, path, params)
        best = min(best, cost)
    return best
