"""The inner loops of guided time warping: what each triple of frames costs, and the cheapest path through them."""

from __future__ import annotations

import numpy as np

from choreograph.base.arrays import Floats, Floats32, Ints
from choreograph.base.compiling import njit

_BLOCK = 16
"""References compared at once: the least of a block tells whether any of it is among the nearest."""
_FAR = np.float32(3e38)


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz", "nnan"}, error_model="numpy")
def _mean_of_nearest(rest: Floats32, dots: Floats32, own: float, near: Floats32) -> float:
    """Mean distance to the nearest references, whose squares are own + rest - dots; `near` (K,) is scratch."""
    neighbours = near.shape[0]
    near[:] = _FAR
    worst = _FAR
    for start in range(0, rest.shape[0], _BLOCK):
        low = _FAR
        for r in range(start, start + _BLOCK):
            low = min(low, rest[r] - dots[r])
        if low >= worst:
            continue
        for r in range(start, start + _BLOCK):
            value = rest[r] - dots[r]
            if value < worst:
                place = neighbours - 1
                while place > 0 and near[place - 1] > value:
                    near[place] = near[place - 1]
                    place -= 1
                near[place] = value
                worst = near[neighbours - 1]
    total = 0.0
    for q in range(neighbours):
        total += np.sqrt(max(np.float64(near[q]) + own, 0.0))
    return total / neighbours


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz", "nnan"}, error_model="numpy")
def step_costs(rest: Floats32, back: Floats32, ahead: Floats32, own: Floats, neighbours: int, out: Floats32) -> None:
    """Write what it costs to come to each frame by a step and to leave it by another.

    The feature of a triple is a sum of a part that knows only the step before and one that knows only the step after,
    so its products with the references are sums too, and s² triples need 2 s products instead of s².

    Args:
        rest: Squared lengths of the references' features, (R,); R is a multiple of 16, padded with huge values.
        back: Twice the product of the part of each step before with each reference, (N, S, R).
        ahead: The same for each step after, (N, S, R).
        own: Squared length of the triples' features, (N, S after, S before).
        neighbours: How many references are averaged.
        out: Mean distance to the nearest references, (N, S after, S before); changed.
    """
    count, steps, references = back.shape
    near = np.empty(neighbours, np.float32)
    left = np.empty(references, np.float32)
    for j in range(count):
        for b in range(steps):
            for r in range(references):
                left[r] = rest[r] - ahead[j, b, r]
            for a in range(steps):
                out[j, b, a] = _mean_of_nearest(left, back[j, a], own[j, b, a], near)


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc", "nsz", "nnan"}, error_model="numpy")
def duration_costs(
    rest: Floats32, products: Floats32, own: Floats, durations: Floats, neighbours: int, out: Floats32
) -> None:
    """Write what it costs that a frame comes one duration after the last and stays another before the next.

    The inverse problem: frames are fixed, and times are chosen. With D- and D+ the ways from a frame to its neighbours
    and t-, t+ the durations, velocity is (D+ - D-) / (t- + t+), acceleration 2 (D+ / t+ + D- / t-) / (t- + t+).

    Args:
        rest: Squared lengths of the references' features, (R,); R is a multiple of 16, padded with huge values.
        products: Twice the product of D+ - D- with the references' velocities, and of D- and D+ with their
            accelerations, (N, 3, R).
        own: Squared length of the features, (N, S after, S before).
        durations: Seconds, (S,).
        neighbours: How many references are averaged.
        out: Mean distance to the nearest references, (N, S after, S before); changed.
    """
    count, references, steps = products.shape[0], products.shape[2], durations.shape[0]
    near = np.empty(neighbours, np.float32)
    dots = np.empty(references, np.float32)
    for j in range(count):
        for b in range(steps):
            for a in range(steps):
                whole = 1.0 / (durations[a] + durations[b])
                speed = np.float32(whole)
                left, right = np.float32(2.0 * whole / durations[a]), np.float32(2.0 * whole / durations[b])
                for r in range(references):
                    dots[r] = speed * products[j, 0, r] + left * products[j, 1, r] + right * products[j, 2, r]
                out[j, b, a] = _mean_of_nearest(rest, dots, own[j, b, a], near)


@njit(cache=True, nogil=True, error_model="numpy")
def cheapest_path(
    costs: Floats32, by_position: bool, first_step: int, low: Ints, high: Ints, fewest: Ints, most: Ints
) -> tuple[Ints, float]:
    """The cheapest way from coordinate to coordinate, one step for each position, (P,), and its cost; exact.

    c_p(k, b) = min over a of c_(p-1)(k - b, a) + f(k - b, a, b), with b the last step and a the one before it. Costs
    belong to the coordinate (a frame that may be chosen) or to the position (a frame that is always shown).

    Args:
        costs: f, by coordinate or position, step after and step before, (N or P, S, S).
        by_position: Whether the first axis of `costs` is the position.
        first_step: Length of the step with index 0, from 0 up.
        low: Least coordinate allowed at each position, (P,).
        high: Greatest coordinate allowed at each position, (P,).
        fewest: Shortest step out of each coordinate (or position), as an index, (N or P,).
        most: Longest, as an index, (N or P,).

    Returns:
        The coordinates, all -1 where there is no way, and the cost, infinite then.
    """
    positions, steps = low.shape[0], costs.shape[1]
    span = 0
    for p in range(positions):
        span = max(span, high[p] - low[p] + 1)
    before = np.full((span, steps), np.inf)
    after = np.full((span, steps), np.inf)
    came = np.zeros((positions, span, steps), np.uint8)
    path = np.full(positions, -1, np.int64)
    # The first step has no cost: nothing came before it.
    for k in range(low[0], high[0] + 1):
        row = 0 if by_position else k
        for b in range(fewest[row], most[row] + 1):
            to = k + b + first_step
            if positions > 1 and low[1] <= to <= high[1]:
                before[to - low[1], b] = 0.0
    for p in range(1, positions - 1):
        after[:] = np.inf
        for k in range(low[p], high[p] + 1):
            row = p if by_position else k
            here = before[k - low[p]]
            alive = False
            for a in range(steps):
                alive = alive or here[a] < np.inf
            if not alive:
                continue
            for b in range(fewest[row], most[row] + 1):
                to = k + b + first_step
                if to < low[p + 1] or to > high[p + 1]:
                    continue
                best, arg = np.inf, 0
                cost = costs[row, b]
                for a in range(steps):
                    value = here[a] + cost[a]
                    if value < best:
                        best, arg = value, a
                after[to - low[p + 1], b] = best
                came[p + 1, to - low[p + 1], b] = arg
        before, after = after, before
    best, at, step = np.inf, -1, 0
    last = positions - 1
    for k in range(low[last], high[last] + 1):
        for b in range(steps):
            if before[k - low[last], b] < best:
                best, at, step = before[k - low[last], b], k, b
    if at < 0:
        return path, np.inf
    for p in range(last, 0, -1):
        path[p] = at
        previous = came[p, at - low[p], step]
        at -= step + first_step
        step = previous
    path[0] = at
    return path, best
