from __future__ import annotations

import numpy as np
import pytest

from choreograph.base import quat
from choreograph.base.floor import FloorTransform


def some(rng: np.random.Generator, shape: tuple[int, ...] = ()) -> FloorTransform:
    return FloorTransform(rng.uniform(-3, 3, shape), rng.normal(size=shape), rng.normal(size=shape))


def near(a: FloorTransform, b: FloorTransform, tolerance: float = 1e-12) -> bool:
    gaps = [np.abs(np.angle(np.exp(1j * (np.asarray(a.yaw) - b.yaw)))), np.abs(a.x - b.x), np.abs(a.z - b.z)]
    return all(np.all(gap < tolerance) for gap in gaps)


@pytest.mark.parametrize("shape", [(), (6,), (2, 3)])
def test_group_axioms(shape: tuple[int, ...], rng: np.random.Generator) -> None:
    a, b, c = some(rng, shape), some(rng, shape), some(rng, shape)
    assert near((a @ b) @ c, a @ (b @ c))
    assert near(a @ a.inverse(), FloorTransform()) and near(a.inverse() @ a, FloorTransform())
    assert near(a @ FloorTransform(), a) and near(FloorTransform() @ a, a)
    points = rng.normal(size=(*shape, 3))
    assert np.allclose((a @ b).apply(points), a.apply(b.apply(points)))
    assert np.allclose(a.inverse().apply(a.apply(points)), points)


def test_is_the_turn_about_y_then_the_shift(rng: np.random.Generator) -> None:
    a, points = some(rng), rng.normal(size=(9, 3))
    wanted = quat.rotate(quat.from_yaw(a.yaw), points) + np.array([a.x, 0, a.z])
    assert np.allclose(a.apply(points), wanted)
    rotations = quat.from_rotvec(rng.normal(size=(9, 3)))
    ahead = quat.rotate(a.turn(rotations), (0, 0, 1))
    assert np.allclose(ahead, a.apply(quat.rotate(rotations, (0, 0, 1))) - a.apply(np.zeros(3)))


def test_ten_thousand_steps_do_not_drift() -> None:
    step = FloorTransform(2 * np.pi / 10_000, 0.1, 0.0)
    there = FloorTransform()
    for _ in range(10_000):  # once round a circle of 159 m
        there = there @ step
    assert near(there, FloorTransform(), 1e-9)
    back = there
    for _ in range(10_000):
        back = back @ step.inverse()
    assert near(back, FloorTransform(), 1e-9)


def test_plain_numbers_stay_plain() -> None:
    a = FloorTransform(1, 2, 3) @ FloorTransform(np.float64(4), 5, 6)
    assert type(a.yaw) is type(a.x) is type(a.z) is float
    assert -np.pi < a.yaw <= np.pi
    assert type(a.inverse().x) is float
