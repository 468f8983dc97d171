"""Joint angles: the compiled kernel against SciPy's, joint by joint, and back to the rotations they came from."""

from __future__ import annotations

import numpy as np
import pytest

from choreograph.base import quat
from choreograph.dynamics import _compiled_angles


def turns(rng: np.random.Generator, count: int) -> np.ndarray:
    return quat.normalise(rng.normal(size=(count, 4)))


@pytest.mark.parametrize("order", ["xyz", "yzx", "zxy", "zyx", "xzy", "yxz"])
def test_angles_are_those_of_scipy(order: str) -> None:
    rng = np.random.default_rng(3)
    rows, (frame, rest) = turns(rng, 200).reshape(100, 2, 4), turns(rng, 2)
    axes = np.array([["xyz".index(axis) for axis in order]])
    mine = _compiled_angles.euler(rows, np.array([1]), axes, frame[None], rest[None])[:, 0]
    turned = quat.multiply(rows[:, 1], quat.inverse(rest))
    theirs = quat.as_euler(order, quat.multiply(quat.multiply(quat.inverse(frame), turned), frame))
    assert np.allclose(mine, theirs, atol=1e-9)


@pytest.mark.parametrize("order", ["xyz", "zyx"])
@pytest.mark.parametrize("middle", [np.pi / 2, -np.pi / 2])
def test_locked_angles_are_the_same_rotation(order: str, middle: float) -> None:
    rows = quat.from_euler(order, np.array([[0.4, middle, -0.9]]))
    axes, still = np.array([["xyz".index(axis) for axis in order]]), np.array([quat.IDENTITY])
    found = _compiled_angles.euler(rows[:, None], np.array([0]), axes, still, still)[:, 0]
    again = quat.from_euler(order, found)
    assert abs(float((again * rows).sum())) == pytest.approx(1.0, abs=1e-9)
