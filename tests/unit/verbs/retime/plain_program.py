"""Plain twins of the compiled kernels of retiming, and the cheapest path by trying all of them."""

from __future__ import annotations

from itertools import product

import numpy as np


def step_costs(rest, back, ahead, own, neighbours, out) -> None:
    for j, b, a in np.ndindex(out.shape):
        squares = own[j, b, a] + rest - back[j, a] - ahead[j, b]
        out[j, b, a] = np.sqrt(np.maximum(np.sort(squares)[:neighbours], 0)).mean()


def duration_costs(rest, products, own, durations, neighbours, out) -> None:
    for j, b, a in np.ndindex(out.shape):
        whole = durations[a] + durations[b]
        shares = np.array([1 / whole, 2 / (whole * durations[a]), 2 / (whole * durations[b])])
        squares = own[j, b, a] + rest - shares @ products[j]
        out[j, b, a] = np.sqrt(np.maximum(np.sort(squares)[:neighbours], 0)).mean()


def cheapest_path(costs, by_position, first_step, low, high, fewest, most):
    """The same dynamic program with dictionaries instead of tables."""
    best = {}
    for k in range(low[0], high[0] + 1):
        row = 0 if by_position else k
        for b in range(fewest[row], most[row] + 1):
            if low[1] <= k + b + first_step <= high[1]:
                best[k + b + first_step, b] = (0.0, [k, k + b + first_step])
    for p in range(1, len(low) - 1):
        after = {}
        for (k, a), (cost, path) in best.items():
            row = p if by_position else k
            for b in range(fewest[row], most[row] + 1):
                to = k + b + first_step
                if not low[p + 1] <= to <= high[p + 1]:
                    continue
                value = cost + float(costs[row, b, a])
                if (to, b) not in after or value < after[to, b][0]:
                    after[to, b] = (value, [*path, to])
        best = after
    if not best:
        return np.full(len(low), -1), np.inf
    value, path = min(best.values(), key=lambda one: one[0])
    return np.array(path), value


def brute_force(costs, by_position, first_step, low, high, fewest, most):
    """The cost of the cheapest of all paths, each walked from its start."""
    least, steps = np.inf, range(costs.shape[1])
    for start in range(low[0], high[0] + 1):
        for chosen in product(steps, repeat=len(low) - 1):
            path = np.cumsum([start, *(b + first_step for b in chosen)])
            if (path < low).any() or (path > high).any():
                continue
            rows = np.arange(len(path)) if by_position else path
            if any(not fewest[rows[p]] <= b <= most[rows[p]] for p, b in enumerate(chosen)):
                continue
            cost = sum(float(costs[rows[p], chosen[p], chosen[p - 1]]) for p in range(1, len(chosen)))
            least = min(least, cost)
    return least
