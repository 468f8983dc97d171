"""The dynamic program's inner loops. Plain twins are in the tests."""

from __future__ import annotations

import numpy as np

from choreograph.base.arrays import Complexes, Floats, Ints, Ints32
from choreograph.base.compiling import njit

_BLOCK = 32
"""Arrivals compared at once, in order of their score: wide enough for vector units, short enough to stop early."""


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"}, error_model="numpy")
def advance(
    first: int,
    cost: Floats,
    turn: Complexes,
    shift: Complexes,
    duration: Ints,
    head: Complexes,
    head_height: Floats,
    tail: Complexes,
    tail_height: Floats,
    begin: int,
    last: int,
    scale: float,
    beam: float,
    scores: Floats,
    tails: Floats,
    back: Ints32,
    reached: Floats,
) -> None:
    """Start every cell at the steps `first`, `first` + 1, …, each after the arrival that makes it cheapest.

    Args:
        first: Step that the first row of `cost` is for.
        cost: Of each cell from each start, (U, N); infinite where it must not be used.
        turn: Rotations, (U, N).
        shift: Translations, (U, N).
        duration: Of the cells, (N,).
        head: First points of their targets, (N, P).
        head_height: Their heights.
        tail: Last points.
        tail_height: Their heights.
        begin: Up to this step cells have no predecessor.
        last: From this step on none begin.
        scale: Square root of the price of a squared metre between neighbours' points.
        beam: Arrivals that are worse than the best by more are not gone on from.
        scores: Best cost of each cell by its end, a ring over steps, (R, N); changed.
        tails: Where the cells' targets end, scaled, a ring, (R, N, 3 P); changed.
        back: The cell before each cell by its end, (L, N); changed.
        reached: Best cost of each cell by its start, (U, N), infinite where it is not used; changed. Or of no rows.
    """
    ring, count = scores.shape
    points = head.shape[1]
    acc = np.empty(_BLOCK)
    place = np.empty(3 * points)
    for i in range(len(cost)):
        u = first + i
        slot = u % ring
        if u >= last:
            return
        alive = np.flatnonzero(scores[slot] < np.inf)
        order = alive[np.argsort(scores[slot][alive])]
        if len(order):
            limit = scores[slot, order[0]] + beam
            keep = len(order)
            while scores[slot, order[keep - 1]] > limit:
                keep -= 1
            order = order[:keep]
        q = scores[slot][order]
        ends = np.empty((3 * points, len(order)))
        for j in range(len(order)):
            for k in range(3 * points):
                ends[k, j] = tails[slot, order[j], k]
        scores[slot] = np.inf
        for n in range(count):
            if not cost[i, n] < np.inf:
                continue
            best, previous = 0.0, -1
            rho, shift_n = turn[i, n], shift[i, n]
            if u > begin:
                for k in range(points):
                    z = (rho * head[n, k] + shift_n) * scale
                    place[3 * k] = z.real
                    place[3 * k + 1] = head_height[n, k] * scale
                    place[3 * k + 2] = z.imag
                best = np.inf
                for low in range(0, len(q), _BLOCK):
                    if q[low] >= best:
                        break
                    wide = min(_BLOCK, len(q) - low)
                    for j in range(wide):
                        acc[j] = q[low + j]
                    for k in range(3 * points):
                        here = place[k]
                        for j in range(wide):
                            off = ends[k, low + j] - here
                            acc[j] += off * off
                    for j in range(wide):
                        if acc[j] < best:
                            best, previous = acc[j], order[low + j]
                if previous < 0:
                    continue
            stop = u + duration[n]
            scores[stop % ring, n] = best + cost[i, n]
            back[stop, n] = previous
            if i < len(reached):
                reached[i, n] = best + cost[i, n]
            for k in range(points):
                z = (rho * tail[n, k] + shift_n) * scale
                tails[stop % ring, n, 3 * k] = z.real
                tails[stop % ring, n, 3 * k + 1] = tail_height[n, k] * scale
                tails[stop % ring, n, 3 * k + 2] = z.imag


@njit(cache=True, nogil=True, error_model="numpy")
def align(
    flat: Complexes,
    height: Floats,
    weight: Floats,
    u: int,
    d: int,
    a: Complexes,
    a_height: Floats,
    row: float,
    frames: float,
) -> tuple[float, complex, complex, complex, float, float]:
    """Lay a segment over steps u … u + d of an input.

    Args:
        flat: Input, (L, P).
        height: Its heights.
        weight: Of its steps, (L,).
        u: First step.
        d: Steps.
        a: Controls of all examples, (F, P).
        a_height: Their heights.
        row: Row of `a` where the segment begins.
        frames: Its length in rows.

    Returns:
        Sum of weighted squared distances over steps and points; rotation; weighted middles of the input and of the
        segment, which is laid there; size of their weighted product, by which a turn away costs more; sum of weights.
    """
    points = flat.shape[1]
    total, x_mean, a_mean = 0.0, 0j, 0j
    for j in range(d + 1):
        w = weight[u + j] * (0.5 if j in (0, d) else 1.0)
        at = row + frames * j / d
        low = min(int(at), len(a) - 2)
        share = at - low
        total += w
        for p in range(points):
            x_mean += w * flat[u + j, p]
            a_mean += w * (a[low, p] * (1 - share) + a[low + 1, p] * share)
    if total <= 0:
        return np.inf, 1 + 0j, 0j, 0j, 0.0, 0.0
    x_mean /= total * points
    a_mean /= total * points
    squares, product = 0.0, 0j
    for j in range(d + 1):
        w = weight[u + j] * (0.5 if j in (0, d) else 1.0)
        at = row + frames * j / d
        low = min(int(at), len(a) - 2)
        share = at - low
        for p in range(points):
            x = flat[u + j, p] - x_mean
            y = a[low, p] * (1 - share) + a[low + 1, p] * share - a_mean
            up = height[u + j, p] - (a_height[low, p] * (1 - share) + a_height[low + 1, p] * share)
            product += w * x * y.conjugate()
            squares += w * (x.real**2 + x.imag**2 + y.real**2 + y.imag**2 + up * up)
    size = abs(product)
    rho = product / size if size > 1e-12 else 1 + 0j
    return max(squares - 2 * size, 0.0), rho, x_mean, a_mean, size, total


@njit(cache=True, nogil=True, error_model="numpy")
def refine(
    flat: Complexes,
    height: Floats,
    weight: Floats,
    bounds: Ints,
    first: Ints,
    last: Ints,
    reach: int,
    low: Ints,
    high: Ints,
    a: Complexes,
    a_height: Floats,
    row: Ints,
    frames: Ints,
    head: Complexes,
    head_height: Floats,
    tail: Complexes,
    tail_height: Floats,
    price: float,
    step_s: float,
) -> tuple[float, Ints]:
    """The best boundaries of a given sequence of segments, each within `reach` steps of where it was.

    Args:
        flat: Input, (L, P).
        height: Its heights.
        weight: Of its steps.
        bounds: Where segments begin and end now, (M + 1,).
        first: Where each boundary may lie at the earliest, (M + 1,).
        last: And at the latest.
        reach: Steps that a boundary may move by.
        low: Least length of each segment in steps, (M,).
        high: Greatest length.
        a: Controls of all examples, (F, P).
        a_height: Their heights.
        row: First row of each segment, (M,).
        frames: Its length in rows.
        head: First points of the targets, (M, P).
        head_height: Their heights.
        tail: Last points.
        tail_height: Their heights.
        price: Of a squared metre between neighbours, averaged over points, seconds.
        step_s: Seconds of a step.

    Returns:
        Cost of the best, infinite if there is none, and the boundaries.
    """
    pieces, wide = len(row), 2 * reach + 1
    points, targets = flat.shape[1], head.shape[1]
    score = np.full((wide, wide), np.inf)
    ends = np.zeros((wide, wide, targets), np.complex128)
    back = np.full((pieces, wide, wide), -1, np.int64)
    for i in range(pieces):
        new = np.full((wide, wide), np.inf)
        new_ends = np.zeros((wide, wide, targets), np.complex128)
        for p in range(wide):
            u = bounds[i] + p - reach
            if u < first[i] or u > last[i]:
                continue
            for r in range(wide):
                stop = bounds[i + 1] + r - reach
                d = stop - u
                if d < max(low[i], 1) or d > high[i] or stop < first[i + 1] or stop > last[i + 1]:
                    continue
                squares, rho, x_mean, a_mean, _, _ = align(flat, height, weight, u, d, a, a_height, row[i], frames[i])
                if not squares < np.inf:
                    continue
                shift_n = x_mean - rho * a_mean
                best, previous = 0.0, -1
                if i > 0:
                    best = np.inf
                    up = 0.0
                    for k in range(targets):
                        up += (head_height[i, k] - tail_height[i - 1, k]) ** 2
                    for o in range(wide):
                        if score[o, p] >= best:
                            continue
                        gap = up
                        for k in range(targets):
                            z = rho * head[i, k] + shift_n - ends[o, p, k]
                            gap += z.real**2 + z.imag**2
                        value = score[o, p] + price * gap / targets
                        if value < best:
                            best, previous = value, o
                    if previous < 0:
                        continue
                new[p, r] = best + squares * step_s / points
                back[i, p, r] = previous
                for k in range(targets):
                    new_ends[p, r, k] = rho * tail[i, k] + shift_n
        score, ends = new, new_ends
    found = bounds.copy()
    at = int(np.argmin(score))
    p, r = at // wide, at % wide
    cost = score[p, r]
    if cost < np.inf:
        for i in range(pieces - 1, -1, -1):
            found[i + 1] = bounds[i + 1] + r - reach
            found[i] = bounds[i] + p - reach
            p, r = back[i, p, r], p
    return cost, found


@njit(cache=True, nogil=True, error_model="numpy")
def keep_descendants(scores: Floats, back: Ints32, duration: Ints, done: int, step: int, cell: int) -> None:
    """Give up all sequences that do not go through a cell that ends at a step; `scores` is changed.

    Args:
        scores: Best cost of each cell by its end, a ring over steps, (R, N).
        back: The cell before each cell by its end, (L, N).
        duration: Of the cells, (N,).
        done: First step from which cells have not been started: the ring holds it and what comes after.
        step: The step that all sequences have to have a boundary at.
        cell: The cell that ends there.
    """
    ring, count = scores.shape
    for stop in range(done, done + ring):
        for n in range(count):
            if scores[stop % ring, n] < np.inf:
                at, m = stop, n
                while m >= 0 and at > step:
                    before = back[at, m]
                    at -= duration[m]
                    m = before
                if at != step or m != cell:
                    scores[stop % ring, n] = np.inf


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz"}, error_model="numpy")
def retreat(
    first: int,
    cost: Floats,
    turn: Complexes,
    shift: Complexes,
    duration: Ints,
    head: Complexes,
    head_height: Floats,
    tail: Complexes,
    tail_height: Floats,
    begin: int,
    last: int,
    scale: float,
    ahead: Floats,
    heads: Floats,
    order: Ints,
    rest: Floats,
) -> None:
    """From the last row of `cost` to its first: what the best sequence costs after each cell.

    The mirror image of `advance`.

    Args:
        first: Step that the first row of `cost` is for.
        cost: Of each cell from each start, (U, N); infinite where it must not be used.
        turn: Rotations, (U, N).
        shift: Translations, (U, N).
        duration: Of the cells, (N,).
        head: First points of their targets, (N, P).
        head_height: Their heights.
        tail: Last points.
        tail_height: Their heights.
        begin: Up to this step cells have no predecessor.
        last: Cells that end at this step or later have no successor.
        scale: Square root of the price of a squared metre between neighbours' points.
        ahead: Least cost of each cell and all after it by its start, a ring over steps, (R, N); changed.
        heads: Where the cells' targets begin, scaled, a ring, (R, N, 3 P); changed.
        order: Cells of each step of the ring in order of that cost, (R, N); changed.
        rest: Least cost of all that comes after a cell, by its start, (U, N); changed.
    """
    ring, count = ahead.shape
    points = head.shape[1]
    place = np.empty(3 * points)
    for i in range(len(cost) - 1, -1, -1):
        u = first + i
        slot = u % ring
        for n in range(count):
            ahead[slot, n] = np.inf
            rest[i, n] = np.inf
            if not cost[i, n] < np.inf or u >= last:
                continue
            rho, shift_n = turn[i, n], shift[i, n]
            stop = u + duration[n]
            best = 0.0
            if stop < last:
                for k in range(points):
                    z = (rho * tail[n, k] + shift_n) * scale
                    place[3 * k] = z.real
                    place[3 * k + 1] = tail_height[n, k] * scale
                    place[3 * k + 2] = z.imag
                best = np.inf
                if stop > begin:
                    there = stop % ring
                    for j in range(count):
                        m = order[there, j]
                        value = ahead[there, m]
                        if value >= best:
                            break
                        for k in range(3 * points):
                            off = heads[there, m, k] - place[k]
                            value += off * off
                        if value < best:
                            best = value
            rest[i, n] = best
            ahead[slot, n] = best + cost[i, n]
            for k in range(points):
                z = (rho * head[n, k] + shift_n) * scale
                heads[slot, n, 3 * k] = z.real
                heads[slot, n, 3 * k + 1] = head_height[n, k] * scale
                heads[slot, n, 3 * k + 2] = z.imag
        order[slot] = np.argsort(ahead[slot])
