"""What showing an edge of the graph costs a walk along a path: kernels that the searches share, on flat arrays.

A state is a row of floats and a row of ints whose columns `state.py` names. The plain twins are in the tests.
Cost is in m²·s: squared distance to the path, integrated over time, plus what is asked for along stretches.
"""

from __future__ import annotations

import numpy as np

from choreograph.base.compiling import inlined
from choreograph.verbs.follow.state import COS, COST, PAUSE, REACHED, SIN, STRETCH, TURN, WALKED, YAW, X, Z

_HELD_BACK = 0.25
"""Share of the distance along the path by which progress is off that is made good in a frame."""


@inlined
def plan_bend(state, edge, tables, path, params, out) -> None:  # type: ignore[no-untyped-def]
    """How an edge is bent from a state: as far towards the path as the limits allow; goes to `out`.

    A path tracker: the turn that the guide makes over the edge's length, less a share of how far heading and place are
    off, critically damped. Nobody is turned more than the limit of lateral acceleration allows, but who turns more by
    himself may.
    """
    out[TURN], out[STRETCH] = 0.0, 0.0
    way = tables.edge_way[edge]
    if params.max_lateral <= 0.0 or way < 1e-3:
        return
    speed = way / (tables.length[edge] * params.dt)
    last = len(path.points) - 1
    at = int(min(max(state[REACHED], 0.0) * params.per_metre, float(last)))
    if path.speed[at] >= 0.0:
        stretch = min(max(path.speed[at] / speed - 1.0, -params.max_stretch), params.max_stretch)
        out[STRETCH] = stretch
        way, speed = way * (1.0 + stretch), speed * (1.0 + stretch)
    on = int(min(max(state[REACHED] + way, 0.0) * params.per_metre, float(last)))
    x0, z0, own = tables.bend[edge, 0], tables.bend[edge, 1], tables.bend[edge, 3]
    dx = x0 * state[COS] + z0 * state[SIN] + state[X] - path.guide[at, 0]
    dz = -x0 * state[SIN] + z0 * state[COS] + state[Z] - path.guide[at, 1]
    heading = path.guide[at, 2]
    aside = dx * path.guide[at, 3] - dz * path.guide[at, 4]
    off = state[YAW] + tables.bend[edge, 2] - heading
    off -= 2.0 * np.pi * np.rint(off / (2.0 * np.pi))
    reach = max(params.pursuit_m, params.pursuit_s * speed)
    share = min(way / reach, 0.5)
    wanted = path.guide[on, 2] - heading - share * (2.0 * off + aside / reach)
    lateral = params.max_lateral + params.more_lateral * min(max((speed - 1.5) / 1.5, 0.0), 1.0)
    most = way * min(lateral / (speed * speed), params.max_curvature)
    turn = min(max(wanted, min(-most, own)), max(most, own)) - own
    # Who turns sharply by himself is hardly bent: a turn is more than its curve.
    most *= min(max(2.0 - abs(own) / most, 0.2), 1.0)
    out[TURN] = min(max(turn, -most), most)


@inlined
def half_turn_per_metre(edge, tables, out) -> float:  # type: ignore[no-untyped-def]
    """Half of the turn by which an edge is bent, for each metre of it."""
    return 0.5 * out[TURN] / tables.edge_way[edge] if out[TURN] != 0.0 else 0.0


@inlined
def bent_root(edge, row, half_turn, tables, out):  # type: ignore[no-untyped-def]
    """x and z of the root in a row of an edge that is bent as `out` says, in coordinates of the edge's clip.

    `half_turn` is half of that turn for each metre of the edge. Nothing is divided here: it is called for every row.
    """
    root_x, root_z = tables.way[row, 0], tables.way[row, 1]
    if out[TURN] == 0.0 and out[STRETCH] == 0.0:
        return root_x, root_z
    # Along an arc: the chord to a place turns half as far as the arc does up to there.
    half = half_turn * tables.so_far[row]
    square = half * half
    cos = 1.0 - square * (1 / 2) * (1.0 - square * (1 / 12) * (1.0 - square * (1 / 30) * (1.0 - square * (1 / 56))))
    ratio = 1.0 - square * (1 / 6) * (1.0 - square * (1 / 20) * (1.0 - square * (1 / 42) * (1.0 - square * (1 / 72))))
    sin, longer = half * ratio, (1.0 + out[STRETCH]) * ratio
    x, z = root_x - tables.bend[edge, 0], root_z - tables.bend[edge, 1]
    return tables.bend[edge, 0] + longer * (x * cos + z * sin), tables.bend[edge, 1] + longer * (z * cos - x * sin)


@inlined
def offset_to_path(state, root_x, root_z, reached, path, params):  # type: ignore[no-untyped-def]
    """Squared distance from the root to the point it should be at, that point's index, and how far ahead it is."""
    at = min(max(reached, 0.0), params.length) * params.per_metre
    i = min(int(at), len(path.points) - 2)
    share = at - i
    x = path.points[i, 0] + share * (path.points[i + 1, 0] - path.points[i, 0])
    z = path.points[i, 1] + share * (path.points[i + 1, 1] - path.points[i, 1])
    dx = root_x * state[COS] + root_z * state[SIN] + state[X] - x
    dz = -root_x * state[SIN] + root_z * state[COS] + state[Z] - z
    ahead = 0.0
    if params.max_lateral > 0.0:
        ahead = params.per_metre * (
            dx * (path.points[i + 1, 0] - path.points[i, 0]) + dz * (path.points[i + 1, 1] - path.points[i, 1])
        )
    return dx * dx + dz * dz, i, ahead


@inlined
def score_edge(  # type: ignore[no-untyped-def]
    state, pauses, edge, most, limit, tables, path, params, out
) -> tuple[int, bool, int]:
    """Show up to `most` frames of an edge from a state, bent as `out` says; progress and cost after them go there too.

    A walk that costs `limit` or more is of no interest: scoring then stops where it is, with a cost above the limit.

    Returns:
        Frames shown, whether the path's end was reached in the last of them, and how many pauses were begun.
    """
    dt, gamma = params.dt, params.gamma * params.dt
    walked, reached, cost, pause = state[WALKED], state[REACHED], state[COST], state[PAUSE]
    cost += tables.extra[edge]
    longer = 1.0 + out[STRETCH]
    half_turn = half_turn_per_metre(edge, tables, out)
    if params.max_lateral > 0.0:
        cost += bend_cost(edge, tables, params, out)
    shown, done = 0, False
    for row in range(tables.first[edge], tables.first[edge] + min(tables.length[edge], most)):
        shown += 1
        way = tables.way[row, 2] * longer
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
        root_x, root_z = bent_root(edge, row, half_turn, tables, out)
        off, i, ahead = offset_to_path(state, root_x, root_z, reached, path, params)
        cost += off * dt
        if params.max_lateral > 0.0 and pause <= 0.0:
            # Progress keeps beside the root: short cuts and detours would make it run ahead or stay behind for good.
            reached += min(max(_HELD_BACK * ahead, -0.5 * way), 0.5 * way)
            walked = reached
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
            facing = tables.facing[row] + state[YAW]
            if out[TURN] != 0.0:
                facing += 2.0 * half_turn * tables.so_far[row]
            cost += params.facing_weight * (1.0 - np.cos(facing - params.facing))
            if params.end_pose_cost > 0.0:
                cost += params.end_pose_cost * 100.0 * tables.bent_over[row] * tables.bent_over[row]
            break
        if cost >= limit:
            break
    out[WALKED], out[REACHED], out[COST], out[PAUSE] = walked, reached, cost, pause
    return shown, done, pauses


@inlined
def bend_cost(edge, tables, params, out) -> float:  # type: ignore[no-untyped-def]
    """What the bend of an edge costs: squared lateral acceleration, over its time; stretch by a tenth as 1 m/s²."""
    seconds = tables.length[edge] * params.dt
    lateral = tables.edge_way[edge] * out[TURN] / (seconds * seconds)
    return params.bend_cost * (lateral * lateral + 100.0 * out[STRETCH] * out[STRETCH]) * seconds


@inlined
def arrive(state, edge, tables, out) -> None:  # type: ignore[no-untyped-def]
    """Where on the floor the clip lies in which an edge arrives that is bent as `out` says."""
    cos, sin = state[COS], state[SIN]
    turn_cos, turn_sin = tables.turn[edge, 0], tables.turn[edge, 1]
    shift_x, shift_z = tables.shift[edge, 0], tables.shift[edge, 1]
    out[YAW] = state[YAW] + tables.yaw[edge]
    if out[TURN] != 0.0 or out[STRETCH] != 0.0:
        # What comes is turned about the edge's end, and that is where the bend leads.
        end = tables.first[edge] + tables.length[edge] - 1
        bent_x, bent_z = bent_root(edge, end, half_turn_per_metre(edge, tables, out), tables, out)
        bend_cos, bend_sin = np.cos(out[TURN]), np.sin(out[TURN])
        x, z = shift_x - tables.way[end, 0], shift_z - tables.way[end, 1]
        shift_x, shift_z = bent_x + x * bend_cos + z * bend_sin, bent_z + z * bend_cos - x * bend_sin
        turn_cos, turn_sin = turn_cos * bend_cos - turn_sin * bend_sin, turn_sin * bend_cos + turn_cos * bend_sin
        out[YAW] += out[TURN]
    # Turns are composed without any trigonometry.
    out[COS] = cos * turn_cos - sin * turn_sin
    out[SIN] = sin * turn_cos + cos * turn_sin
    out[X] = shift_x * cos + shift_z * sin + state[X]
    out[Z] = -shift_x * sin + shift_z * cos + state[Z]


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
def goal_to_come(state, node, tables, path, params) -> float:  # type: ignore[no-untyped-def]
    """The least that it costs to come to the goal that holds here or is the next ahead, if the node is farther."""
    i = int(min(max(state[REACHED], 0.0) * params.per_metre, len(path.points) - 1.0))
    goal = path.goal[i]
    if goal < 0:
        return 0.0
    return tables.wait_cost[goal] * max(tables.wait_s[node, goal] - path.goal_s[i], 0.0)


@inlined
def best_continuation(state, node, most, tables, path, params, ends) -> float:  # type: ignore[no-untyped-def]
    """Roughly what the next second or so costs on the node's best continuation, or `most` if that is less.

    All are judged by where they end first, and the one that ends best is seen whole before the others, most of which
    need not be seen any further then. `ends` is room for what the ends cost. Places count by the nearest of the path's
    points.
    """
    first, count = tables.first_way[node], tables.last_way[node] - tables.first_way[node]
    last, furthest = tables.ways.shape[1] - 1, len(path.points) - 1.0
    # By name: out of the array they would be read anew each time, as writing to `ends` might have changed them.
    cos, sin, x0, z0 = state[COS], state[SIN], state[X], state[Z]
    walked, reached = state[WALKED], max(state[REACHED], 0.0)
    near, nearest = 0, np.inf
    weight = params.continuation_s * tables.moment_weight[last]
    for k in range(count):
        x, z = tables.ways[first + k, last, 0], tables.ways[first + k, last, 1]
        made = max(walked + tables.ways[first + k, last, 2], reached)
        i = int(min(made * params.per_metre, furthest))
        dx, dz = x * cos + z * sin + x0 - path.points[i, 0], z * cos - x * sin + z0 - path.points[i, 1]
        ends[k] = tables.way_cost[first + k] + weight * (dx * dx + dz * dz)
        if ends[k] < nearest:
            near, nearest = k, ends[k]
    if nearest >= most:
        return most
    best = most
    for turn in range(-1, count):
        if turn == near:
            continue
        k = near if turn < 0 else turn
        cost, m = ends[k], last
        while m > 0 and cost < best:
            m -= 1
            x, z = tables.ways[first + k, m, 0], tables.ways[first + k, m, 1]
            made = max(walked + tables.ways[first + k, m, 2], reached)
            i = int(min(made * params.per_metre, furthest))
            dx, dz = x * cos + z * sin + x0 - path.points[i, 0], z * cos - x * sin + z0 - path.points[i, 1]
            cost += params.continuation_s * tables.moment_weight[m] * (dx * dx + dz * dz)
        best = min(best, cost)
    return best
