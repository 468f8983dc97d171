"""The plain twins of the search kernels, and the search that tries every walk: slow, and easy to believe."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from choreograph.base.arrays import Floats, Ints
from choreograph.base.floor import FloorTransform
from choreograph.verbs.follow.kernel_inputs import KernelParams, KernelPath, KernelTables
from choreograph.verbs.follow.state import (
    COS,
    COST,
    FLOATS,
    PAUSE,
    REACHED,
    SIN,
    STRETCH,
    TURN,
    WALKED,
    YAW,
    X,
    Z,
)


class Tried(NamedTuple):
    """One walk of those there are."""

    cost: float
    edges: tuple[int, ...]
    last_shown: int
    """Frames shown of the last edge."""
    done: bool
    """Whether it reaches the path's end."""


def plan_bend(
    state: Floats, edge: int, tables: KernelTables, path: KernelPath, params: KernelParams, out: Floats
) -> None:
    """How an edge is bent from a state; goes to `out`."""
    out[[TURN, STRETCH]] = 0.0
    way = float(tables.edge_way[edge])
    if params.max_lateral <= 0 or way < 1e-3:
        return
    speed = way / (tables.length[edge] * params.dt)
    now = int(np.clip(state[REACHED] * params.per_metre, 0, len(path.points) - 1))
    if path.speed[now] >= 0:
        out[STRETCH] = np.clip(path.speed[now] / speed - 1, -params.max_stretch, params.max_stretch)
        way, speed = way * (1 + out[STRETCH]), speed * (1 + out[STRETCH])
    then = int(np.clip((state[REACHED] + way) * params.per_metre, 0, len(path.points) - 1))
    x, z, heading, own = tables.bend[edge]
    begin = FloorTransform(state[YAW], state[X], state[Z]).apply((x, 0.0, z))[[0, 2]]
    wanted_heading = path.guide[now, 2]
    left = np.array([math.cos(wanted_heading), -math.sin(wanted_heading)])
    aside = float((begin - path.guide[now, :2]) @ left)
    off = float(np.angle(np.exp(1j * (state[YAW] + heading - wanted_heading))))
    reach = max(params.pursuit_m, params.pursuit_s * speed)
    wanted = path.guide[then, 2] - wanted_heading - min(way / reach, 0.5) * (2 * off + aside / reach)
    lateral = params.max_lateral + params.more_lateral * float(np.clip((speed - 1.5) / 1.5, 0, 1))
    most = way * min(lateral / speed**2, params.max_curvature)
    bent = most * float(np.clip(2 - abs(own) / most, 0.2, 1))
    out[TURN] = np.clip(np.clip(wanted, min(-most, own), max(most, own)) - own, -bent, bent)


def bent_place(edge: int, row: int, tables: KernelTables, bend: Floats) -> tuple[float, float]:
    """x and z of the root in a row of a bent edge: on the arc that the chord to it belongs to."""
    begin = complex(*tables.bend[edge, :2])
    away = complex(*tables.way[row, :2]) - begin
    half = 0.5 * bend[TURN] * tables.so_far[row] / tables.edge_way[edge]
    there = begin + (1 + bend[STRETCH]) * np.sinc(half / np.pi) * away * np.exp(-1j * half)
    return there.real, there.imag


def offset(
    state: Floats, root: tuple[float, float], reached: float, path: KernelPath, params: KernelParams
) -> tuple[float, int, float]:
    """Squared distance from the root to the point it should be at, that point's index, and how far ahead it is."""
    at = min(max(reached, 0.0), params.length) * params.per_metre
    i = min(int(at), len(path.points) - 2)
    target = path.points[i] + (at - i) * (path.points[i + 1] - path.points[i])
    away = FloorTransform(state[YAW], state[X], state[Z]).apply((root[0], 0.0, root[1]))[[0, 2]] - target
    ahead = float(away @ (path.points[i + 1] - path.points[i])) * params.per_metre
    return float((away**2).sum()), i, ahead


def score_edge(
    state: Floats,
    pauses: int,
    edge: int,
    most: int,
    limit: float,
    tables: KernelTables,
    path: KernelPath,
    params: KernelParams,
    out: Floats,
) -> tuple[int, bool, int]:
    """Show up to `most` frames of an edge from a state, bent as `out` says; progress and cost go there too.

    Returns:
        Frames shown, whether the path's end was reached in the last of them, and how many pauses were begun.
    """
    dt = params.dt
    walked, reached, pause = (float(state[k]) for k in (WALKED, REACHED, PAUSE))
    cost = float(state[COST] + tables.extra[edge])
    seconds, longer = tables.length[edge] * dt, 1 + out[STRETCH]
    if params.max_lateral > 0:
        lateral = tables.edge_way[edge] * out[TURN] / seconds**2
        cost += params.bend_cost * (lateral**2 + (10 * out[STRETCH]) ** 2) * seconds
    shown, done = 0, False
    while shown < min(most, tables.length[edge]) and not done and (shown == 0 or cost < limit):
        row = int(tables.first[edge]) + shown
        shown += 1
        step = float(tables.way[row, 2] * longer)
        if pause > 0:
            pause -= dt
            cost += params.speed_weight * (step / dt) ** 2 * dt
        else:
            walked += step
            reached = max(walked, reached + params.gamma * dt)
            if pauses < len(path.pause_at) and reached >= path.pause_at[pauses]:
                reached, pause = float(path.pause_at[pauses]), float(path.pause_s[pauses])
                walked = min(walked, reached)
                pauses += 1
        off, i, ahead = offset(state, bent_place(edge, row, tables, out), reached, path, params)
        cost += off * dt
        if params.max_lateral > 0 and pause <= 0:
            reached = walked = reached + float(np.clip(0.25 * ahead, -0.5 * step, 0.5 * step))
        if pause <= 0 and path.speed[i] >= 0:
            cost += params.speed_weight * (step / dt - path.speed[i]) ** 2 * dt
        elif pause <= 0 and path.label[i] == 0:
            cost += params.idle_weight * max(0.0, 1 - step / dt / params.idle_below) ** 2 * dt
        if path.label[i] and not tables.labels[row] & path.label[i]:
            cost += params.label_weight * dt
        done = bool(reached >= params.length and pause <= 0 and pauses == len(path.pause_at))
    if done:
        cost += params.end_weight * off
        facing = tables.facing[row] + state[YAW] + out[TURN] * tables.so_far[row] / tables.edge_way[edge]
        cost += params.facing_weight * (1 - math.cos(facing - params.facing))
        cost += params.end_pose_cost * (10 * float(tables.bent_over[row])) ** 2
    out[[WALKED, REACHED, COST, PAUSE]] = walked, reached, cost, pause
    return shown, done, pauses


def arrive(state: Floats, edge: int, tables: KernelTables, out: Floats) -> None:
    """Where on the floor the clip lies in which an edge arrives that is bent as `out` says."""
    here = FloorTransform(state[YAW], state[X], state[Z])
    end = int(tables.first[edge] + tables.length[edge] - 1)
    x, z = bent_place(edge, end, tables, out)
    back = FloorTransform(0.0, -tables.way[end, 0], -tables.way[end, 1])
    bend = FloorTransform(0.0, x, z) @ FloorTransform(out[TURN]) @ back
    there = here @ bend @ FloorTransform(tables.yaw[edge], *tables.shift[edge])
    out[YAW], out[X], out[Z] = there.yaw, there.x, there.z
    out[COS], out[SIN] = math.cos(there.yaw), math.sin(there.yaw)


def best_continuation(state: Floats, node: int, tables: KernelTables, path: KernelPath, params: KernelParams) -> float:
    """Roughly what the next second or so costs on the best of the node's ways on."""
    ways = slice(tables.first_way[node], tables.first_way[node + 1])
    x, z, made = np.moveaxis(tables.ways[ways], 2, 0)
    place = FloorTransform(state[YAW], state[X], state[Z]).apply(np.stack([x, 0 * x, z], axis=-1))[..., [0, 2]]
    reached = np.maximum(state[WALKED] + made, state[REACHED])
    at = np.clip(reached * params.per_metre, 0, len(path.points) - 1).astype(int)
    off = ((place - path.points[at]) ** 2).sum(axis=-1)
    return float((tables.way_cost[ways] + params.continuation_s * off @ tables.moment_weight).min())


class Way(NamedTuple):
    """A walk on from a node: its edges, its transitions, and how far it turns in all and in its second half."""

    edges: tuple[int, ...]
    changes: int
    turn: float
    late: float


def find_continuations(
    node: int, frames: int, half: int, tables: KernelTables, changes: Ints, turned: Floats, bins: int, bin_rad: float
) -> list[Way]:
    """The ways of `frames` frames on from a node, of each kind the first of those with the fewest transitions."""
    best: dict[tuple[int, int], Way] = {}
    for edge in range(tables.first_edge[node], tables.first_edge[node + 1]):
        first, length = int(tables.first[edge]), int(tables.length[edge])
        turn = [0.0, *turned[first : first + min(length, frames)]]
        late = turn[-1] - turn[min(max(frames - half, 0), len(turn) - 1)]
        onward = [Way((), 0, 0.0, 0.0)]
        if length < frames:
            onward = find_continuations(
                int(tables.target[edge]), frames - length, half, tables, changes, turned, bins, bin_rad
            )
        for rest in onward:
            way = Way((edge, *rest.edges), int(changes[edge]) + rest.changes, turn[-1] + rest.turn, late + rest.late)
            early_kind, late_kind = (
                int(np.clip(np.rint(x / bin_rad), -(bins // 2), bins // 2)) for x in (way.turn - way.late, way.late)
            )
            kind = early_kind, late_kind
            if kind not in best or way.changes < best[kind].changes:
                best[kind] = way
    return [best[kind] for kind in sorted(best)]


def every_walk(
    state: Floats,
    node: int,
    pauses: int,
    horizon: int,
    stay_in: int,
    tables: KernelTables,
    path: KernelPath,
    params: KernelParams,
) -> Iterator[Tried]:
    """Every walk of exactly `horizon` frames from a state, or as far as the path's end.

    Args:
        state: Where it begins, (12,).
        node: The node there.
        pauses: How many pauses were begun.
        horizon: Frames to look ahead.
        stay_in: Clip that must not be left, or -1.
        tables, path, params: As for the kernels.
    """
    for edge in range(tables.first_edge[node], tables.first_edge[node + 1]):
        if stay_in >= 0 and tables.target_clip[edge] != stay_in:
            continue
        after = np.zeros(FLOATS)
        plan_bend(state, edge, tables, path, params, after)
        shown, done, begun = score_edge(state, pauses, edge, horizon, np.inf, tables, path, params, after)
        if done or shown == horizon:
            yield Tried(float(after[COST]), (edge,), shown, done)
            continue
        arrive(state, edge, tables, after)
        onward = every_walk(after, int(tables.target[edge]), begun, horizon - shown, stay_in, tables, path, params)
        for rest in onward:
            yield rest._replace(edges=(edge, *rest.edges))
