"""Compiled kernels of systems within an envelope; imported on first use, since importing numba takes a while."""

from __future__ import annotations

import numpy as np

from choreograph.base.arrays import Floats, Ints
from choreograph.base.compiling import njit


@njit(cache=True, nogil=True)
def factorise(matrix: Floats, begin: Ints, first: Ints) -> bool:
    """Replace a matrix by its Cholesky factor; whether it has one.

    Args:
        matrix: Rows one after another, each from its first entry to the diagonal.
        begin: (N,): where the row's column 0 would be.
        first: (N,): column of its first entry.
    """
    for i in range(len(begin)):
        for j in range(first[i], i):
            total = matrix[begin[i] + j]
            for k in range(max(first[i], first[j]), j):
                total -= matrix[begin[i] + k] * matrix[begin[j] + k]
            matrix[begin[i] + j] = total / matrix[begin[j] + j]
        total = matrix[begin[i] + i]
        for k in range(first[i], i):
            total -= matrix[begin[i] + k] * matrix[begin[i] + k]
        if not total > 0.0:
            return False
        matrix[begin[i] + i] = np.sqrt(total)
    return True


@njit(cache=True, nogil=True)
def substitute(factor: Floats, begin: Ints, first: Ints, right: Floats) -> None:
    """Replace right sides, (N, K), by what solves the equations; see `factorise`."""
    rows, count = right.shape
    for c in range(count):
        for i in range(rows):
            total = right[i, c]
            for k in range(first[i], i):
                total -= factor[begin[i] + k] * right[k, c]
            right[i, c] = total / factor[begin[i] + i]
        for i in range(rows - 1, -1, -1):
            right[i, c] /= factor[begin[i] + i]
            for k in range(first[i], i):
                right[k, c] -= factor[begin[i] + k] * right[i, c]
