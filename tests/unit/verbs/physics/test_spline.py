"""Splines on uneven nodes: through values, between nodes, and the same on more nodes."""

from __future__ import annotations

import numpy as np
import pytest

from choreograph.verbs.physics.spline import NodeGrid, even_grid

RNG = np.random.default_rng(0)
UNEVEN = np.concatenate([[0.0], np.cumsum(RNG.uniform(0.02, 0.1, 11))])


@pytest.mark.parametrize("times", [even_grid(12, 0.1), UNEVEN], ids=["even", "uneven"])
def test_a_spline_goes_through_its_values_and_does_not_bend_at_its_ends(times: np.ndarray) -> None:
    grid, values = NodeGrid(times), RNG.normal(size=(12, 2))
    again, _, bend = grid.at(grid.through(values), times)
    assert np.allclose(again, values) and np.allclose(bend[[0, -1]], 0.0, atol=1e-8)


@pytest.mark.parametrize("times", [even_grid(12, 0.1), UNEVEN], ids=["even", "uneven"])
def test_stencils_are_the_spline_and_its_derivatives_at_nodes(times: np.ndarray) -> None:
    grid, c = NodeGrid(times), RNG.normal(size=(14, 3))
    for order, found in enumerate(grid.at(c, times)):
        three = np.stack([c[:-2], c[1:-1], c[2:]], axis=1)
        assert np.allclose(np.einsum("kc,kcy->ky", grid.stencils[:, order], three), found, rtol=1e-9, atol=1e-8)


def test_more_nodes_make_the_same_spline() -> None:
    grid, c = NodeGrid(UNEVEN), RNG.normal(size=(14, 3))
    finer = NodeGrid(np.sort(np.concatenate([UNEVEN, 0.5 * (UNEVEN[2:5] + UNEVEN[3:6]), [0.4 * UNEVEN[1]]])))
    at = np.linspace(0.0, UNEVEN[-1], 97)
    pairs = zip(grid.at(c, at), finer.at(finer.carried(grid, c), at), strict=True)
    assert all(np.allclose(one, other, atol=1e-6 * np.abs(one).max()) for one, other in pairs)


def test_spans_add_up_to_all_of_the_time_and_half_a_gap_at_each_end() -> None:
    grid = NodeGrid(UNEVEN)
    gaps = np.diff(UNEVEN)
    assert grid.spans.sum() == pytest.approx(UNEVEN[-1] + 0.5 * (gaps[0] + gaps[-1]))
