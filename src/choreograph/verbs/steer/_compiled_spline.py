"""Compiled splines of value functions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from choreograph.base.arrays import Floats, Ints
from choreograph.base.compiling import njit

JIT: dict[str, Any] = {"cache": True, "nogil": True, "fastmath": {"contract", "nsz", "arcp"}, "error_model": "numpy"}


@njit(inline="always", **JIT)
def spline(value: float, row: Floats, weights: Floats) -> int:
    """The four cubic B-splines at a value, into `weights` (4,); the number of the first of them."""
    low, high, count, periodic, warp = row[0], row[1], int(row[2]), row[3] > 0, row[4]
    if periodic:
        t = (value - low) / (high - low)
        if warp > 0:
            t -= warp / (2 * math.pi) * math.sin(2 * math.pi * t)
        t = (t - math.floor(t)) * count
        first = min(int(t), count - 1)
    else:
        v = min(max(value, low), high)
        if warp > 0:
            # asinh by its logarithm: half the time, and no less exact within bounds.
            x = (v - 0.5 * (low + high)) / warp
            far = math.log(abs(x) + math.sqrt(x * x + 1))
            t = 0.5 + row[5] * (far if x >= 0 else -far)
        else:
            t = (v - low) / (high - low)
        t *= count - 3
        first = min(int(t), count - 4)
    s = t - first
    r = 1 - s
    weights[0] = r * r * r / 6
    weights[1] = (3 * s * s * s - 6 * s * s + 4) / 6
    weights[2] = (3 * r * r * r - 6 * r * r + 4) / 6
    weights[3] = s * s * s / 6
    return first


@njit(**JIT)
def basis_at(state: Floats, table: Floats) -> tuple[Ints, Floats]:
    """Which basis functions are not zero at states (N, D), and their values, both (N, 4^D).

    Args:
        state: (N, D).
        table: What describes each dimension, (D, 6), see `Basis.table`.
    """
    count, dims = state.shape
    terms = 4**dims
    index, value = np.zeros((count, terms), np.int64), np.ones((count, terms))
    weights = np.empty(4)
    for n in range(count):
        for d in range(dims):
            size = int(table[d, 2])
            first = spline(state[n, d], table[d], weights)
            stride = 4 ** (dims - 1 - d)
            for k in range(terms):
                at = (k // stride) % 4
                place = first + at
                if place >= size:
                    place -= size
                index[n, k] = index[n, k] * size + place
                value[n, k] *= weights[at]
    return index, value


@njit(inline="always", **JIT)
def value2(a: float, b: float, table: Floats, coefficients: Floats, wa: Floats, wb: Floats) -> float:
    """A function of two dimensions; beyond the bounds of the first it goes on as steeply as the task says elsewhere."""
    size_a, size_b = int(table[0, 2]), int(table[1, 2])
    first_a, first_b = spline(a, table[0], wa), spline(b, table[1], wb)
    total = 0.0
    for i in range(4):
        row = first_a + i
        if row >= size_a:
            row -= size_a
        part = 0.0
        base = row * size_b
        for k in range(4):
            column = first_b + k
            if column >= size_b:
                column -= size_b
            part += wb[k] * coefficients[base + column]
        total += wa[i] * part
    return total


@njit(inline="always", **JIT)
def value4(s: Floats, table: Floats, coefficients: Floats, w: Floats, at: Ints) -> float:
    """A function of four dimensions; `w` (4, 4) and `at` (4, 4) are room to work in."""
    for d in range(4):
        first, size = spline(s[d], table[d], w[d]), int(table[d, 2])
        for k in range(4):
            at[d, k] = first + k if first + k < size else first + k - size
    n1, n2, n3 = int(table[1, 2]), int(table[2, 2]), int(table[3, 2])
    total = 0.0
    for i in range(4):
        for j in range(4):
            base = (at[0, i] * n1 + at[1, j]) * n2
            two = 0.0
            for k in range(4):
                row = (base + at[2, k]) * n3
                one = 0.0
                for m in range(4):
                    one += w[3, m] * coefficients[row + at[3, m]]
                two += w[2, k] * one
            total += w[0, i] * w[1, j] * two
    return total
