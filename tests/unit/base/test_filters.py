import numpy as np
import pytest
from scipy.ndimage import gaussian_filter1d, maximum_filter1d

from choreograph.base.filters import gaussian, held_gaussian, running_maximum


@pytest.mark.parametrize("shape", [(60,), (60, 2), (60, 3, 4)])
def test_it_is_scipys_filter_without_the_ends(shape, rng):
    values = rng.normal(size=shape)
    wanted = gaussian_filter1d(values, 3.5, axis=0, radius=9)[9:-9]
    np.testing.assert_allclose(gaussian(values, 3.5, 9), wanted, atol=1e-14)


@pytest.mark.parametrize("sigma", [0.1, 0.4, 2.1, 40.0])
@pytest.mark.parametrize("shape", [(1, 3), (60,), (60, 3), (7, 2, 2)])
def test_held_at_its_ends_it_is_scipys_filter_to_the_last_bit(shape, sigma, rng):
    values = rng.normal(size=shape)
    assert (held_gaussian(values, sigma) == gaussian_filter1d(values, sigma, axis=0, mode="nearest")).all()


@pytest.mark.parametrize("size", [1, 3, 25])
@pytest.mark.parametrize("frames", [1, 4, 60])
def test_the_running_maximum_is_scipys(frames, size, rng):
    values = rng.normal(size=frames)
    assert (running_maximum(values, size) == maximum_filter1d(values, size)).all()
