"""Systems within an envelope, against SciPy's solvers of bands and of sparse matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import solveh_banded
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import spsolve

from choreograph.base import envelope


@given(st.integers(3, 80), st.integers(0, 2**32 - 1))
def test_smoothing_in_time_is_what_a_banded_solver_gives(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    weight, stiff = rng.uniform(0.1, 2, count), rng.uniform(0, 1e4, count - 2)
    right = rng.normal(size=(count, 2))
    band = np.zeros((3, count))
    band[2] = weight
    for k, a in enumerate((1.0, -2.0, 1.0)):
        for m, b in enumerate((1.0, -2.0, 1.0)):
            if m >= k:
                band[2 - (m - k), m : m + count - 2] += a * b * stiff
    solved = envelope.solve([envelope.diagonal(weight), envelope.second_differences(stiff)], right)
    np.testing.assert_allclose(solved, solveh_banded(band, right), rtol=1e-8, atol=1e-9)


@given(st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_rows_may_reach_back_as_far_as_they_like(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    row = rng.integers(0, count, 2 * count)
    column = rng.integers(0, row + 1)
    value = rng.normal(size=len(row))
    whole = coo_matrix((value, (row, column)), shape=(count, count)).toarray()
    whole = whole + whole.T - np.diag(np.diag(whole))
    more = np.abs(whole).sum(axis=1) + 1.0  # so that it is positive definite
    right = rng.normal(size=count)
    solved = envelope.solve([(row, column, value), envelope.diagonal(more)], right)
    expected = spsolve(coo_matrix(whole + np.diag(more)).tocsc(), right)
    np.testing.assert_allclose(solved, np.atleast_1d(expected), rtol=1e-9, atol=1e-12)


def test_a_matrix_that_is_not_positive_definite_is_refused() -> None:
    with pytest.raises(ArithmeticError, match="positive definite"):
        envelope.solve([envelope.diagonal(np.array([1.0, -1.0]))], np.ones(2))
    with pytest.raises(ArithmeticError, match="positive definite"):
        envelope.solve([envelope.diagonal(np.array([1.0, np.nan]))], np.ones(2))
