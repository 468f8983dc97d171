"""The dynamic program as it is written down (Hsu 2004, equations 4.1 to 4.7), loop by loop: slow, for comparison."""

from __future__ import annotations

import numpy as np

from choreograph.base.arrays import Complexes, Floats
from choreograph.verbs.perform.segment_fits import Cells, Signal


def align_plain(x: Floats, a: Floats, weight: Floats) -> tuple[float, float, Floats]:
    """The turn and shift over the floor that bring points nearest to others.

    Args:
        x: Points to meet, (N, 3), metres.
        a: Points to move, (N, 3).
        weight: Of each, (N,).

    Returns:
        Weighted sum of squared distances left, yaw in radians, and shift (x, z).
    """
    total = weight.sum()
    x_mean, a_mean = weight @ x / total, weight @ a / total
    p, q = x - x_mean, a - a_mean
    yaw = np.arctan2(weight @ (q[:, 2] * p[:, 0] - q[:, 0] * p[:, 2]), weight @ (q[:, 0] * p[:, 0] + q[:, 2] * p[:, 2]))
    shift = (x_mean - turn_plain(a_mean[None], yaw)[0])[[0, 2]]
    moved = turn_plain(a, yaw) + np.array([shift[0], 0.0, shift[1]])
    return float(weight @ ((x - moved) ** 2).sum(axis=1)), float(yaw), shift


def turn_plain(points: Floats, yaw: float) -> Floats:
    """Points (..., 3) turned about the vertical."""
    out = np.array(points)
    out[..., 0] = points[..., 0] * np.cos(yaw) + points[..., 2] * np.sin(yaw)
    out[..., 2] = -points[..., 0] * np.sin(yaw) + points[..., 2] * np.cos(yaw)
    return out


def solve_plain(cells: Cells, signal: Signal, price: float) -> tuple[float, list[tuple[int, int]]]:
    """Cost of the best sequence, and its cells with the step that each begins at.

    Args:
        cells: Segments at all their lengths.
        signal: The input.
        price: Of a squared metre between neighbours' points, seconds.
    """
    x = _join(signal.flat, signal.height)
    points = x.shape[1]
    controls = [_join(flat[k], height[k]) for flat, height in cells.control.values() for k in range(len(flat))]
    heads, tails = _join(*cells.head), _join(*cells.tail)
    best: dict[tuple[int, int], float] = {}  # Q by the step at which a cell ends, and the cell
    before: dict[tuple[int, int], int] = {}
    ends: dict[tuple[int, int], Floats] = {}
    for u in range(signal.last):
        for n in range(len(cells)):
            d = int(cells.duration[n])
            stop = u + d
            over = min(stop, signal.last) - max(u, signal.begin)
            if (u < signal.begin or stop > signal.last) and over < min(max(1, -(-d // 3)), signal.last - signal.begin):
                continue
            weight = np.array(signal.weight[u : stop + 1])
            weight[[0, -1]] *= 0.5
            squares, yaw, shift = align_plain(
                x[u : stop + 1].reshape(-1, 3), controls[n].reshape(-1, 3), np.repeat(weight, points)
            )
            offset = np.array([shift[0], 0.0, shift[1]])
            value, previous = 0.0, -1
            if u > signal.begin:
                head = turn_plain(heads[n], yaw) + offset
                value = np.inf
                for r in range(len(cells)):
                    if (u, r) in best:
                        gap = float(np.mean(np.sum((ends[u, r] - head) ** 2, axis=1)))
                        if best[u, r] + price * gap < value:
                            value, previous = best[u, r] + price * gap, r
                if previous < 0:
                    continue
            best[stop, n] = value + squares / (points * cells.rate_hz)
            before[stop, n] = previous
            ends[stop, n] = turn_plain(tails[n], yaw) + offset
    (stop, n), cost = min(((k, v) for k, v in best.items() if k[0] >= signal.last), key=lambda kv: kv[1])
    found = []
    while n >= 0:
        found.append((n, stop - int(cells.duration[n])))
        stop, n = found[-1][1], before[stop, n]
    return cost, found[::-1]


def _join(flat: Complexes, height: Floats) -> Floats:
    return np.stack([flat.real, height, flat.imag], axis=-1)
