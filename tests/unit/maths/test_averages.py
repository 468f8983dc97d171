import numpy as np
import pytest
from scipy.ndimage import gaussian_filter1d

from choreograph.maths.averages import gaussian_average


@pytest.mark.parametrize(("sigma", "reach"), [(0.2, 1), (1.1, 5), (9.9, 40)])
def test_averages_are_those_of_scipy_to_the_last_bit(sigma, reach):
    points = np.random.default_rng(0).normal(size=(100 + 2 * reach, 2)).cumsum(axis=0)
    theirs = gaussian_filter1d(points, sigma, axis=0, mode="nearest", radius=reach)[reach:-reach]
    assert np.array_equal(gaussian_average(points, sigma, reach), theirs)
