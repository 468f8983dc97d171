import numpy as np
import pytest
from scipy.ndimage import gaussian_filter1d

from choreograph.maths.filters import gaussian


@pytest.mark.parametrize("shape", [(60,), (60, 2), (60, 3, 4)])
def test_it_is_scipys_filter_without_the_ends(shape, rng):
    values = rng.normal(size=shape)
    wanted = gaussian_filter1d(values, 3.5, axis=0, radius=9)[9:-9]
    np.testing.assert_allclose(gaussian(values, 3.5, 9), wanted, atol=1e-14)
