"""Compiled kernels that make a network of primitives: cull what is redundant, gather poses into clusters, potentials.

Each has a plain twin in the tests.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@njit(cache=True, nogil=True)
def cull(
    order: Ints, sort: Ints, keep: Flags, outcome: Array, seconds: Array, pose: Array, tolerance: Array, pose_m: float
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
def gather(pose: Array, kind: Ints, radius: float) -> tuple[Ints, Ints]:
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
def potentials(first: Ints, target: Ints, weight: Array, end: Array, rounds: int) -> tuple[Array, bool]:
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
