"""Clusters and binary trees of cuts: k-means in the plane of frames left and frames entered."""

from __future__ import annotations

import numpy as np

from choreograph.base.arrays import Flags, Floats32, Ints32
from choreograph.base.compiling import njit

_ROUNDS = 8
"""Rounds of k-means; begun along the group's long axis it has settled by then."""


@njit(cache=True, nogil=True)
def _axes(i, j, at):  # type: ignore[no-untyped-def]
    """Mean, long direction and ratio of the axes of the ellipse that fits the points `at`."""
    n = len(at)
    mi = mj = 0.0
    for p in at:
        mi += i[p]
        mj += j[p]
    mi /= n
    mj /= n
    ii = jj = ij = 0.0
    for p in at:
        di, dj = i[p] - mi, j[p] - mj
        ii += di * di
        jj += dj * dj
        ij += di * dj
    # A cut covers its whole frame: a square of one frame has a variance of 1/12 each way.
    ii, jj, ij = ii / n + 1 / 12, jj / n + 1 / 12, ij / n
    middle, spread = (ii + jj) / 2, np.sqrt(((ii - jj) / 2) ** 2 + ij * ij)
    angle = 0.5 * np.arctan2(2 * ij, ii - jj)
    return mi, mj, np.cos(angle), np.sin(angle), np.sqrt((middle + spread) / max(middle - spread, 1e-9))


@njit(cache=True, nogil=True)
def _cluster(i, j, at, k, owner, along, centre, count):  # type: ignore[no-untyped-def]
    """Assign the points `at` to k clusters, begun at equal shares along the long axis.

    `along`, `centre` and `count` are room to work in, for as many points, (k, 2) and k.
    """
    mi, mj, ci, cj, _ = _axes(i, j, at)
    for n, p in enumerate(at):
        along[n] = (i[p] - mi) * ci + (j[p] - mj) * cj
    order = np.argsort(along)
    for n in range(len(at)):
        owner[order[n]] = n * k // len(at)
    for _ in range(_ROUNDS):
        centre[:] = 0.0
        count[:] = 0.0
        for n, p in enumerate(at):
            c = owner[n]
            centre[c, 0] += i[p]
            centre[c, 1] += j[p]
            count[c] += 1.0
        for c in range(k):
            centre[c] /= max(count[c], 1.0)
        changed = False
        for n, p in enumerate(at):
            best, nearest = owner[n], np.inf
            for c in range(k):
                if count[c] > 0:
                    d = (i[p] - centre[c, 0]) ** 2 + (j[p] - centre[c, 1]) ** 2
                    if d < nearest - 1e-12:
                        best, nearest = c, d
            if best != owner[n]:
                owner[n] = best
                changed = True
        if not changed:
            break


@njit(cache=True, nogil=True)
def _halve(i, j, at):  # type: ignore[no-untyped-def]
    """Order the points `at` by two clusters, begun on either side of their mean along the long axis; where they part.

    Of two clusters each point's is told by which side of a line it lies on. So a round is one pass that moves the
    points of one side to the front, and all that is kept of a cluster is the sum of its points.
    """
    n = len(at)
    if n == 2:
        return 1
    mi, mj, ci, cj, _ = _axes(i, j, at)
    edge = mi * ci + mj * cj
    total_i, total_j = mi * n, mj * n
    before, last_i, last_j = 0, 0.0, 0.0
    for _ in range(_ROUNDS):
        front, sum_i, sum_j = 0, 0.0, 0.0
        for k in range(n):
            p = at[k]
            if i[p] * ci + j[p] * cj < edge:
                sum_i += i[p]
                sum_j += j[p]
                at[k], at[front] = at[front], p
                front += 1
        if front == 0 or front == n or (front == before and sum_i == last_i and sum_j == last_j):
            break
        before, last_i, last_j = front, sum_i, sum_j
        # The line halfway between the clusters' centres.
        ai, aj = sum_i / front, sum_j / front
        bi, bj = (total_i - sum_i) / (n - front), (total_j - sum_j) / (n - front)
        ci, cj = bi - ai, bj - aj
        edge = 0.5 * ((ai + bi) * ci + (aj + bj) * cj)
    return front if 0 < front < n else n // 2


@njit(cache=True, nogil=True)
def _medoid(i, j, at):  # type: ignore[no-untyped-def]
    """The point nearest to the mean of the points `at`."""
    mi = mj = 0.0
    for p in at:
        mi += i[p]
        mj += j[p]
    mi /= len(at)
    mj /= len(at)
    best, nearest = at[0], np.inf
    for p in at:
        d = (i[p] - mi) ** 2 + (j[p] - mj) ** 2
        if d < nearest:
            best, nearest = p, d
    return best


@njit(cache=True, nogil=True)
def _partition(at, owner, cluster, low):  # type: ignore[no-untyped-def]
    """Move the members of a cluster to the front of at[low:]; where they end."""
    end = low
    for n in range(low, len(at)):
        if owner[n] == cluster:
            at[n], at[end] = at[end], at[n]
            owner[n], owner[end] = owner[end], owner[n]
            end += 1
    return end


@njit(cache=True, nogil=True)
def build_trees(i: Ints32, j: Ints32, first: Ints32, share: float) -> tuple[Ints32, Ints32, int]:
    """Clusters and trees of the cuts of one pair of clips.

    Args:
        i: Frame left of each cut, ordered by group.
        j: Frame entered.
        first: Where each group begins, and the number of cuts.
        share: Clusters of a group, as a share of the ratio of its axes; at least one.

    Returns:
        For each node the cut that it names, its first child or -1, and how many nodes at the front are roots.
    """
    total = len(i)
    at = np.arange(total)
    owner = np.zeros(total, np.int64)
    along = np.empty(total)
    # First the clusters: ranges of `at`, whose nodes are the roots.
    low, high = np.empty(2 * total, np.int64), np.empty(2 * total, np.int64)
    roots = 0
    for g in range(len(first) - 1):
        begin, end = first[g], first[g + 1]
        k = 1
        if share > 0 and end - begin > 2:
            k = min(max(int(np.rint(share * _axes(i, j, at[begin:end])[4])), 1), end - begin)
        if k > 1:
            room = along[: end - begin], np.empty((k, 2)), np.empty(k)
            _cluster(i, j, at[begin:end], k, owner[begin:end], *room)
        edge = begin
        for c in range(k):
            stop = _partition(at[:end], owner[:end], c, edge) if k > 1 else end
            if stop > edge:
                low[roots], high[roots] = edge, stop
                roots += 1
                edge = stop
    leaf, child = np.empty(2 * total, np.int32), np.full(2 * total, -1, np.int32)
    nodes = roots
    node = 0
    while node < nodes:
        begin, end = low[node], high[node]
        leaf[node] = _medoid(i, j, at[begin:end])
        if end - begin > 1:
            middle = begin + _halve(i, j, at[begin:end])
            child[node] = nodes
            low[nodes], high[nodes] = begin, middle
            low[nodes + 1], high[nodes + 1] = middle, end
            nodes += 2
        node += 1
    return leaf[:nodes].copy(), child[:nodes].copy(), roots


@njit(cache=True, nogil=True)
def are_sound(source: Ints32, target: Ints32, cost: Floats32, child: Ints32, real: Flags, roots: int) -> bool:
    """Whether cuts join frames that there are, and their trees end; a dense archive has a hundred million.

    Args:
        source, target, cost, child: As in `Hierarchy`.
        real: Which rows are frames.
        roots: How many trees there are, one at least.
    """
    for n in range(len(child)):
        s, t, c = source[n], target[n], child[n]
        if not (0 <= s < len(real) and 0 <= t < len(real) and real[s] and real[t]):
            return False
        # Children come behind their parent and behind all roots, so no way down leads round in a circle.
        if c != -1 and not (n < c and roots <= c and c + 1 < len(child)):
            return False
        if not 0 <= cost[n] < np.inf:
            return False
    return True
