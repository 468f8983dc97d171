"""The pose space: against scikit-learn's PCA, and what it promises about shares and signs."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA

from choreograph.base.errors import RequestError
from choreograph.features.pose_space import fit_pose_space


def _rows(seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(60, 4)) * [4.0, 2.0, 1.0, 0.2] @ rng.normal(size=(4, 9)) + rng.normal(size=9)


def test_agrees_with_scikit_learn() -> None:
    rows = _rows()
    space, oracle = fit_pose_space(rows, 3), PCA(3).fit(rows)
    np.testing.assert_allclose(space.variances, oracle.explained_variance_, rtol=1e-10)
    np.testing.assert_allclose(space.lift(space.project(rows)), oracle.inverse_transform(oracle.transform(rows)))
    assert space.share == pytest.approx(oracle.explained_variance_ratio_.sum())


def test_smallest_number_of_dimensions_that_holds_the_share() -> None:
    rows = _rows()
    space = fit_pose_space(rows, 0.97)
    assert space.share >= 0.97 > fit_pose_space(rows, space.dimensions - 1).share


def test_no_more_dimensions_than_the_rows_span() -> None:
    space = fit_pose_space(_rows(), 9)
    assert space.dimensions == 4
    np.testing.assert_allclose(space.lift(space.project(_rows())), _rows(), atol=1e-12)


def test_same_signs_whatever_the_order_of_rows() -> None:
    rows = _rows()
    np.testing.assert_allclose(fit_pose_space(rows, 3).axes, fit_pose_space(rows[::-1], 3).axes, atol=1e-10)


def test_refuses_what_is_not_finite() -> None:
    with pytest.raises(RequestError, match="finite"):
        fit_pose_space(np.full((4, 3), np.nan), 2)
