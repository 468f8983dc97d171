"""Compiled kernels that make a network of primitives: cull what is redundant, gather poses into clusters, potentials.

Each has a plain twin in the tests.
"""

from __future__ import annotations

import math

import numpy as np

from choreograph.base.arrays import Bytes, Flags, Floats, Ints, Ints32
from choreograph.base.compiling import njit


@njit(cache=True, nogil=True)
def cull(
    order: Ints,
    sort: Ints,
    keep: Flags,
    outcome: Floats,
    seconds: Floats,
    pose: Floats,
    tolerance: Floats,
    pose_m: float,
) -> Ints:
    """For each primitive the one that stands for it, (P,): itself, or one that came before it and does the same.

    Args:
        order: Primitives, those to be preferred first, (P,).
        sort: Only those of one sort stand for each other, (P,).
        keep: Which stay in any case, (P,).
        outcome: Yaw, x, z, (P, 3).
        seconds: (P,).
        pose: Start and end poses, (P, D).
        tolerance: Of place (metres), heading (radians) and time (seconds).
        pose_m: Of poses: their distance, at most.
    """
    count = len(order)
    stands = np.empty(count, np.int64)
    kept = np.empty(count, np.int64)
    following = np.full(count, -1, np.int64)
    head = np.full(int(sort.max()) + 1, -1, np.int64)
    made = 0
    limit = pose_m * pose_m
    for n in range(count):
        p = order[n]
        stands[p] = p
        if not keep[p]:
            at = head[sort[p]]
            while at >= 0:
                q = kept[at]
                dx, dz = outcome[p, 1] - outcome[q, 1], outcome[p, 2] - outcome[q, 2]
                if dx * dx + dz * dz <= tolerance[0] ** 2 and abs(seconds[p] - seconds[q]) <= tolerance[2]:
                    turn = outcome[p, 0] - outcome[q, 0]
                    turn = abs(turn - 2 * math.pi * round(turn / (2 * math.pi)))
                    if turn <= tolerance[1]:
                        gap = 0.0
                        for d in range(pose.shape[1]):
                            gap += (pose[p, d] - pose[q, d]) ** 2
                            if gap > limit:
                                break
                        if gap <= limit:
                            stands[p] = q
                            break
                at = following[at]
        if stands[p] == p:
            kept[made] = p
            following[made] = head[sort[p]]
            head[sort[p]] = made
            made += 1
    return stands


@njit(cache=True, nogil=True)
def gather(pose: Floats, kind: Ints, radius: float) -> tuple[Ints, Ints]:
    """Clusters of poses: the row that leads each, (N,), and the cluster of each row, (P,), the nearest within reach.

    A row that no leader of its kind is within `radius` of leads a new cluster.
    """
    rows, size = pose.shape
    leaders = np.empty(rows, np.int64)
    member = np.empty(rows, np.int64)
    made = 0
    for p in range(rows):
        best, nearest = -1, radius * radius
        for n in range(made):
            q = leaders[n]
            if kind[q] != kind[p]:
                continue
            gap = 0.0
            for d in range(size):
                gap += (pose[p, d] - pose[q, d]) ** 2
                if gap > nearest:
                    break
            if gap <= nearest:
                best, nearest = n, gap
        if best < 0:
            leaders[made] = p
            best = made
            made += 1
        member[p] = best
    return leaders[:made].copy(), member


@njit(cache=True, nogil=True)
def potentials(first: Ints, target: Ints, weight: Floats, end: Floats, rounds: int) -> tuple[Floats, bool]:
    """Least sum of edge weights from each node to where `end` lets it stop, (N,); False where a cycle is negative.

    Args:
        first: Where each node's edges begin, (N + 1,).
        target: Node that each edge leads to, (E,).
        weight: Of each edge, (E,); may be negative.
        end: What it costs to stop at each node, (N,); infinite where one may not.
        rounds: Most rounds over all edges; more are needed only where a cycle is negative.
    """
    nodes = len(end)
    value = end.copy()
    for _ in range(rounds):
        changed = False
        for n in range(nodes - 1, -1, -1):
            best = value[n]
            for e in range(first[n], first[n + 1]):
                there = weight[e] + value[target[e]]
                if there < best - 1e-9:
                    best = there
            if best < value[n]:
                value[n] = best
                changed = True
        if not changed:
            return value, True
    return value, False


@njit(cache=True, nogil=True)
def run_outs(
    first: Ints, target: Ints, weight: Floats, cells: Ints, behind: Floats, near: Floats, count: int
) -> Floats:
    """Least sum of edge weights from each node over walks that come so many cells far at least, (N, C).

    Args:
        first: Where each node's edges begin, (N + 1,).
        target: Node that each edge leads to, (E,).
        weight: Of each edge, (E,); may be negative.
        cells: How far each edge comes at most, in cells, (E,); one at least.
        behind: Least sum behind each edge with which a walk may be over once it came so far, (E,); infinite for others.
        near: Least sum of walks of any length, (N,).
        count: Cells, C.
    """
    nodes = len(near)
    out = np.full((nodes, count), np.inf)
    out[:, 0] = near
    for c in range(1, count):
        for n in range(nodes):
            best = np.inf
            for e in range(first[n], first[n + 1]):
                left = max(0, c - cells[e])
                best = min(best, weight[e] + out[target[e], left])
                if left == 0:
                    best = min(best, weight[e] + behind[e])
            out[n, c] = best
    return out


@njit(cache=True, nogil=True)
def bends(first: Ints, hips: Floats, edge: Ints32, start: Floats, stop: Floats) -> tuple[Floats, Floats]:
    """How long the hips' way is along each edge, (E,), and how far it leaves the straight one, (E,), metres.

    Args:
        first: Where each primitive's samples begin, (P + 1,).
        hips: x and z at samples, (S, 2).
        edge: Primitive of each edge, (E,).
        start: Where its way begins, (E, 2).
        stop: And ends, (E, 2).
    """
    way, off = np.zeros(len(edge)), np.zeros(len(edge))
    for e in range(len(edge)):
        ax, az, bx, bz = start[e, 0], start[e, 1], stop[e, 0], stop[e, 1]
        dx, dz = bx - ax, bz - az
        size = dx * dx + dz * dz
        px, pz = ax, az
        for n in range(first[edge[e]], first[edge[e] + 1]):
            x, z = hips[n, 0], hips[n, 1]
            way[e] += math.hypot(x - px, z - pz)
            share = min(1.0, max(0.0, ((x - ax) * dx + (z - az) * dz) / size)) if size > 0 else 0.0
            off[e] = max(off[e], math.hypot(x - ax - share * dx, z - az - share * dz))
            px, pz = x, z
        way[e] += math.hypot(bx - px, bz - pz)
    return way, off


@njit(cache=True, nogil=True)
def parted(first: Ints, feet: Floats, planted: Bytes, reach: float) -> Flags:
    """Whether the places where a primitive's feet stand fall into parts that are farther from each other, (P,).

    Args:
        first: Where each primitive's samples begin, (P + 1,).
        feet: x and z of left ankle, left ball, right ankle, right ball, (S, 4, 2).
        planted: Feet that stand, 1 for the left, 2 for the right, (S,).
        reach: Places nearer to each other than this are in one part, metres.
    """
    out = np.zeros(len(first) - 1, np.bool_)
    for p in range(len(out)):
        count = 4 * (first[p + 1] - first[p])
        place, part = np.empty((count, 2)), np.zeros(count, np.int64)
        size = 0
        for n in range(first[p], first[p + 1]):
            for j in range(4):
                if planted[n] & (1 << (j // 2)):
                    place[size] = feet[n, j]
                    size += 1
        if size == 0:
            continue
        # Grow the part of the first place until nothing is near it any more.
        part[0] = 1
        grown = True
        while grown:
            grown = False
            for a in range(size):
                if part[a] != 1:
                    continue
                for b in range(size):
                    if part[b] == 0 and math.hypot(place[a, 0] - place[b, 0], place[a, 1] - place[b, 1]) <= reach:
                        part[b] = 1
                        grown = True
                part[a] = 2
        for a in range(size):
            out[p] = out[p] or part[a] == 0
    return out
