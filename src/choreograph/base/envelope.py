"""Symmetric systems of equations whose rows reach back only a little: smoothing in time, with a few unknowns more.

Factors of such a matrix stay within its envelope, which is what lies between the first entry of each row and the
diagonal (George & Liu 1981). SciPy has solvers for bands, and for any sparse matrix; importing them takes longer than
finishing a walk does.
"""

from __future__ import annotations

import numpy as np

from choreograph.base.arrays import Floats, Ints

Entries = tuple[Ints, Ints, Floats]
"""Rows, columns and values, (E,) each, on and below the diagonal. Values at one place add up."""


def solve(parts: list[Entries], right: Floats) -> Floats:
    """The x of A x = right, like `right`, (N,) or (N, K).

    >>> solve([(np.array([0, 1, 1]), np.array([0, 0, 1]), np.array([4.0, 2.0, 5.0]))], np.array([8.0, 12.0])).tolist()
    [1.0, 2.0]

    Args:
        parts: Entries of A, which is symmetric and positive definite.
        right: The right side.

    Raises:
        ArithmeticError: If the matrix is not positive definite.
    """
    from choreograph.base import _compiled_envelope

    row, column, value = (np.concatenate(part) for part in zip(*parts, strict=True))
    count = len(right)
    first = np.arange(count)
    np.minimum.at(first, row, column)
    # Where a row's column 0 would be; its entries begin `first` places after that.
    begin = np.cumsum(np.arange(count) - first + 1) - np.arange(count) - 1
    matrix = np.bincount(begin[row] + column, value, minlength=int(begin[-1]) + count)
    solved = np.array(right, float).reshape(count, -1)
    if not _compiled_envelope.factorise(matrix, begin, first):
        raise ArithmeticError("the matrix is not positive definite")
    _compiled_envelope.substitute(matrix, begin, first, solved)
    return solved.reshape(right.shape)


def second_differences(weight: Floats) -> Entries:
    """Entries of the sum over t of weight[t] (x[t] - 2 x[t + 1] + x[t + 2])², as of x' A x.

    Args:
        weight: (N - 2,).
    """
    rows, columns, values = [], [], []
    at = np.arange(len(weight))
    for k, a in enumerate((1.0, -2.0, 1.0)):
        for m, b in enumerate((1.0, -2.0, 1.0)[: k + 1]):
            rows.append(at + k)
            columns.append(at + m)
            values.append(a * b * weight)
    return np.concatenate(rows), np.concatenate(columns), np.concatenate(values)


def diagonal(weight: Floats) -> Entries:
    """Entries of the sum of weight[t] x[t]²."""
    at = np.arange(len(weight))
    return at, at, np.asarray(weight, float)
