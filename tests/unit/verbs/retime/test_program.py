from __future__ import annotations

import numpy as np
import pytest
from tests.unit.verbs.retime import plain_program as plain

from choreograph.verbs.retime import _compiled
from choreograph.verbs.retime.program import choose_grid
from choreograph.verbs.retime.request import RetimeAdvanced


def small_case(seed: int):
    """Random costs, limits, pins; steps from 0 or 1 on; by coordinate or by position."""
    rng = np.random.default_rng(seed)
    positions, steps, first = int(rng.integers(2, 7)), int(rng.integers(2, 4)), int(rng.integers(0, 2))
    longest = steps - 1 + first
    count = int(rng.integers(positions, positions * longest + 3))
    by_position = bool(rng.integers(2))
    rows = positions if by_position else count
    costs = rng.random((rows, steps, steps)).astype(np.float32)
    low, high = np.zeros(positions, np.int64), np.full(positions, count - 1, np.int64)
    high[0] = rng.integers(0, 2)
    end = int(rng.integers(count // 2, count))
    low[-1] = high[-1] = end
    if positions > 3 and rng.random() < 0.6:  # a pin
        place = int(rng.integers(1, positions - 1))
        low[place] = high[place] = min(round(end * place / (positions - 1)), count - 1)
    fewest, most = np.zeros(rows, np.int64), np.full(rows, steps - 1, np.int64)
    tied = rng.random(rows) < 0.2
    fewest[tied] = most[tied] = rng.integers(0, steps, tied.sum())
    return costs, by_position, first, low, high, fewest, most


@pytest.mark.parametrize("seed", range(150))
def test_path_is_the_cheapest_of_all(seed: int) -> None:
    case = small_case(seed)
    path, cost = _compiled.cheapest_path(*case)
    best = plain.brute_force(*case)
    assert cost == pytest.approx(best, rel=1e-6)
    twin_path, twin_cost = plain.cheapest_path(*case)
    assert twin_cost == pytest.approx(best, rel=1e-6)
    if np.isfinite(best):
        costs, by_position, first, low, high, fewest, most = case
        steps = np.diff(path) - first
        rows = np.arange(len(path)) if by_position else path
        assert (path >= low).all() and (path <= high).all()
        assert all(fewest[rows[p]] <= b <= most[rows[p]] for p, b in enumerate(steps))
        walked = sum(float(costs[rows[p], steps[p], steps[p - 1]]) for p in range(1, len(steps)))
        assert walked == pytest.approx(best, rel=1e-6)
        if len(path) > 2:  # with two, all ways cost nothing
            assert np.array_equal(path, twin_path)
    else:
        assert (path == -1).all()


def test_small_cases_have_and_lack_ways() -> None:
    found = [np.isfinite(_compiled.cheapest_path(*small_case(seed))[1]) for seed in range(150)]
    assert 60 < sum(found) < 150


@pytest.mark.parametrize("neighbours", [1, 3, 5])
def test_costs_are_those_of_the_plain_twins(neighbours: int) -> None:
    rng = np.random.default_rng(neighbours)
    count, steps, references, dims = 7, 4, 48, 6
    known = rng.normal(size=(references, dims))
    before, after = rng.normal(size=(2, count, steps, dims))
    rest = (known**2).sum(axis=1).astype(np.float32)
    rest[-5:] = 1e30  # padding
    own = ((after[:, :, None] + before[:, None]) ** 2).sum(axis=-1)
    back, ahead = (2 * (x @ known.T).astype(np.float32) for x in (before, after))
    fast, slow = np.empty((2, count, steps, steps), np.float32)
    _compiled.step_costs(rest, back, ahead, own, neighbours, fast)
    plain.step_costs(rest, back, ahead, own, neighbours, slow)
    assert fast == pytest.approx(slow, rel=1e-3, abs=1e-3)
    # Both are mean distances to the nearest.
    apart = np.linalg.norm(after[2, 1] + before[2, 3] - known[:-5], axis=1)
    assert fast[2, 1, 3] == pytest.approx(np.sort(apart)[:neighbours].mean(), rel=1e-3)

    durations = np.array([0.02, 0.03, 0.05, 0.08])
    products = rng.normal(size=(count, 3, references)).astype(np.float32)
    large = 1e4 + rng.random((count, 4, 4))
    _compiled.duration_costs(rest, products, large, durations, neighbours, fast)
    plain.duration_costs(rest, products, large, durations, neighbours, slow)
    assert fast == pytest.approx(slow, rel=1e-3)


def test_grids_hold_what_is_needed_and_the_recorded_pace() -> None:
    for rate in np.exp(np.linspace(np.log(0.1), np.log(10), 60)):
        for as_recorded in (False, True):
            for direction in ("steps", "durations"):
                grid = choose_grid([rate], RetimeAdvanced(direction=direction), as_recorded=as_recorded)
                assert grid.rates.min() <= min(rate, 1.0) and grid.rates.max() >= max(rate, 1.0), (rate, grid)
                assert len(grid.steps) <= 48


def test_dragging_a_key_keeps_the_grid() -> None:
    grids = {choose_grid([rate], RetimeAdvanced()) for rate in np.linspace(1.2, 1.4, 50)}
    assert len(grids) <= 2
