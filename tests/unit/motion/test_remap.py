from __future__ import annotations

import numpy as np

from choreograph.maths import quat
from choreograph.motion import _compiled_remap
from choreograph.motion.remap import lay_on_numpy


def test_rotations_are_laid_on_as_the_plain_twin_does(rng: np.random.Generator) -> None:
    turned, align = (quat.normalise(rng.normal(size=(*shape, 4))) for shape in ((9, 3), (6,)))
    parents = np.array([-1, 0, 1, 2, 3, 0], np.int32)
    low = np.array([-1, 2, -2, -1, 0, -1])  # nothing above, laid on, written already, as its parent, laid on
    found = np.tile(quat.normalise(rng.normal(size=4)), (9, 6, 1))
    wanted = found.copy()
    _compiled_remap.lay_on(found, turned, low, align, parents)
    lay_on_numpy(wanted, turned, low, align, parents)
    np.testing.assert_allclose(found, wanted, atol=1e-15)
    np.testing.assert_array_equal(found[:, 3], found[:, 2])
