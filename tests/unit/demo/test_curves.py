"""The curves meet what they are given."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from choreograph.demo.curves import bump, glide, integral, jet, jet_times, quintic, smoothstep

numbers = st.floats(-5, 5)


@given(st.lists(numbers, min_size=6, max_size=6), st.floats(-3, 3), st.floats(0.05, 4))
def test_a_quintic_has_the_jets_it_was_given(values: list[float], start: float, span: float) -> None:
    first, last = np.array(values[:3]), np.array(values[3:])
    stop = start + span
    h = 1e-4 * span
    near = np.array([start, start + h, start + 2 * h, stop - 2 * h, stop - h, stop])
    y = quintic(first, last, start, stop, near)
    size = 1 + np.abs(values).max() * max(1.0, 1 / span**2, span**2)
    np.testing.assert_allclose([y[0], y[-1]], [first[0], last[0]], atol=1e-9 * size)
    slopes = [(-3 * y[0] + 4 * y[1] - y[2]) / (2 * h), (3 * y[5] - 4 * y[4] + y[3]) / (2 * h)]
    np.testing.assert_allclose(slopes, [first[1], last[1]], atol=1e-4 * size)
    bends = [(y[0] - 2 * y[1] + y[2]) / h**2, (y[3] - 2 * y[4] + y[5]) / h**2]
    np.testing.assert_allclose(bends, [first[2], last[2]], atol=0.02 * size / min(1.0, span**2))


def test_a_jet_is_value_slope_and_bend_from_either_side() -> None:
    for side in (-1.0, 1.0):
        found = jet(np.sin(jet_times(0.7, side)), side)
        np.testing.assert_allclose(found, [np.sin(0.7), np.cos(0.7), -np.sin(0.7)], atol=1e-4)


def test_a_jet_looks_to_one_side_only() -> None:
    corner = jet(np.abs(jet_times(0.0, 1.0)), 1.0)
    np.testing.assert_allclose(corner[:2], [0.0, 1.0], atol=1e-9)
    np.testing.assert_allclose(jet(np.abs(jet_times(0.0, -1.0)), -1.0)[:2], [0.0, -1.0], atol=1e-9)


def test_glide_passes_through_its_keys_and_stays_between_them() -> None:
    keys = ((0.0, 1.0), (1.0, 3.0), (2.5, -1.0))
    times = np.linspace(-1, 4, 501)
    values = glide(keys, times)
    np.testing.assert_allclose(glide(keys, np.array([-9.0, 0.0, 1.0, 2.5, 9.0])), [1, 1, 3, -1, -1])
    assert values.max() <= 3 and values.min() >= -1
    assert np.abs(np.diff(values, 2)).max() < 0.01


def test_smoothstep_is_clipped() -> None:
    np.testing.assert_allclose(smoothstep([-1.0, 0.0, 0.5, 1.0, 2.0]), [0, 0, 0.5, 1, 1])


def test_the_integral_is_zero_at_time_zero() -> None:
    times = np.linspace(-1, 2, 3001)
    np.testing.assert_allclose(integral(np.cos(times), times), np.sin(times), atol=1e-6)


def test_a_bump_is_one_in_its_middle_and_nothing_outside() -> None:
    np.testing.assert_allclose(bump(np.array([-1.0, 0.0, 0.5, 1.0, 3.0])), [0, 0, 1, 0, 0])
