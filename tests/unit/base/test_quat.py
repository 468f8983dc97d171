from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from choreograph.base import quat

SHAPES = [(), (7,), (3, 5), (0,), (2, 0, 3)]
KINDS = ("any", "near identity", "half turns", "identity", "negative")


def sample(kind: str, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    axis = rng.normal(size=(*shape, 3))
    axis /= np.maximum(np.linalg.norm(axis, axis=-1, keepdims=True), 1e-30)
    angle = {
        "any": rng.uniform(0, np.pi, shape),
        "near identity": 10.0 ** rng.uniform(-17, -6, shape),
        "half turns": np.pi - rng.choice([0, 1e-12, 1e-7], shape),
        "identity": np.zeros(shape),
        "negative": rng.uniform(0, np.pi, shape),
    }[kind]
    q = quat.from_rotvec(axis * np.asarray(angle)[..., None])
    return -q if kind == "negative" else q


def same(a: np.ndarray, b: np.ndarray, tolerance: float = 1e-12) -> bool:
    return bool(np.all(quat.angle_between(a, b) < tolerance))


@pytest.fixture(params=SHAPES, ids=str)
def shape(request: pytest.FixtureRequest) -> tuple[int, ...]:
    return request.param


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return request.param


def test_group_axioms(kind: str, shape: tuple[int, ...], rng: np.random.Generator) -> None:
    a, b, c = (sample(kind, shape, rng) for _ in range(3))
    assert same(quat.multiply(quat.multiply(a, b), c), quat.multiply(a, quat.multiply(b, c)))
    assert same(quat.multiply(a, quat.inverse(a)), quat.IDENTITY)
    assert same(quat.multiply(a, quat.IDENTITY), a)
    assert quat.multiply(a, b).shape == (*shape, 4)
    assert np.allclose(np.linalg.norm(quat.multiply(a, b), axis=-1), 1)


def test_rotate_is_the_matrix_and_composes(kind: str, shape: tuple[int, ...], rng: np.random.Generator) -> None:
    a, b = sample(kind, shape, rng), sample(kind, shape, rng)
    v = rng.normal(size=(*shape, 3))
    assert np.allclose(quat.rotate(a, v), (quat.as_matrix(a) @ v[..., None])[..., 0], atol=1e-12)
    assert np.allclose(quat.rotate(quat.multiply(a, b), v), quat.rotate(a, quat.rotate(b, v)), atol=1e-12)
    assert np.allclose(quat.rotate(-a, v), quat.rotate(a, v))


def test_conversions_there_and_back(kind: str, shape: tuple[int, ...], rng: np.random.Generator) -> None:
    q = sample(kind, shape, rng)
    assert same(quat.from_rotvec(quat.as_rotvec(q)), q)
    assert np.all(np.linalg.norm(quat.as_rotvec(q), axis=-1) <= np.pi + 1e-12)
    assert same(quat.from_matrix(quat.as_matrix(q)), q, 1e-7)


@pytest.mark.parametrize("order", ["xyz", "zyx", "yxz", "zxy", "xzy", "yzx"])
def test_euler_agrees_with_scipy(order: str, rng: np.random.Generator) -> None:
    angles = rng.uniform(-3, 3, (50, 3))
    wanted = Rotation.from_euler(order.upper(), angles).as_quat()[:, [3, 0, 1, 2]]
    assert same(quat.from_euler(order, angles), wanted)
    assert same(quat.from_euler(order, quat.as_euler(order, wanted)), wanted, 1e-7)
    gimbal = quat.from_euler(order, np.array([[0.3, np.pi / 2, 0.2], [0.3, -np.pi / 2, -1.0]]))
    assert same(quat.from_euler(order, quat.as_euler(order, gimbal)), gimbal, 1e-6)


def test_small_rotation_vectors_keep_their_digits() -> None:
    v = np.array([[1e-9, -2e-9, 3e-9], [1e-300, 0, 0]])
    assert np.allclose(quat.as_rotvec(quat.from_rotvec(v)), v, rtol=1e-12, atol=0)


def test_slerp_ends_middle_and_shorter_arc(kind: str, shape: tuple[int, ...], rng: np.random.Generator) -> None:
    a, b = sample("any", shape, rng), sample(kind, shape, rng)
    zero, one = np.zeros(shape), np.ones(shape)
    assert same(quat.slerp(a, b, zero), a, 1e-7)
    assert same(quat.slerp(a, b, one), b, 1e-7)
    total = quat.angle_between(a, b)
    third = quat.slerp(a, b, one / 3)
    assert np.allclose(quat.angle_between(a, third), total / 3, atol=1e-7)
    assert same(quat.slerp(a, -b, one / 3), third, 1e-6) or np.any(total > np.pi - 1e-3)


def test_make_continuous_keeps_rotations_and_removes_flips(rng: np.random.Generator) -> None:
    smooth = quat.from_rotvec(np.cumsum(rng.normal(0, 0.1, (200, 3, 3)), axis=0))
    flipped = smooth * rng.choice([-1.0, 1.0], (200, 3, 1))
    out = quat.make_continuous(flipped)
    assert same(out, smooth, 1e-7)
    assert np.all(np.sum(out[1:] * out[:-1], axis=-1) > 0)
    assert np.array_equal(out[0], flipped[0])
    assert len(quat.make_continuous(np.zeros((0, 2, 4)))) == 0


def test_between_vectors_also_where_opposite(rng: np.random.Generator) -> None:
    a = rng.normal(size=(100, 3))
    for b in (rng.normal(size=(100, 3)), -a, a, -a + 1e-9):
        turned = quat.rotate(quat.between_vectors(a, b), a / np.linalg.norm(a, axis=1, keepdims=True))
        assert np.allclose(turned, b / np.linalg.norm(b, axis=1, keepdims=True), atol=1e-5)


def test_yaw_is_the_turn_about_the_vertical(rng: np.random.Generator) -> None:
    yaw = rng.uniform(-np.pi, np.pi, 50)
    assert np.allclose(quat.yaw_of(quat.from_yaw(yaw)), yaw)
    assert np.allclose(quat.yaw_of(-quat.from_yaw(yaw)), yaw)
    tilt = quat.from_rotvec(np.c_[rng.normal(0, 0.5, 50), np.zeros(50), rng.normal(0, 0.5, 50)])
    assert np.allclose(quat.yaw_of(quat.multiply(quat.from_yaw(yaw), tilt)), yaw)
    # +z turned by a quarter looks along +x.
    assert np.allclose(quat.rotate(quat.from_yaw(np.pi / 2), (0, 0, 1)), (1, 0, 0))


def test_normalise_makes_units_and_an_identity_of_nothing() -> None:
    assert np.allclose(quat.normalise([[0, 3, 0, 4], [0, 0, 0, 0]]), [[0, 0.6, 0, 0.8], [1, 0, 0, 0]])


def test_cross_is_numpys(rng: np.random.Generator) -> None:
    a, b = rng.normal(size=(4, 1, 3)), rng.normal(size=(5, 3))
    assert np.array_equal(quat.cross(a, b), np.cross(a, b))


@pytest.mark.parametrize("name", ["multiply", "slerp", "normalise", "as_rotvec"])
def test_products_are_their_plain_twins(name: str, kind: str, shape: tuple[int, ...], rng: np.random.Generator) -> None:
    a, b = sample(kind, shape, rng), sample("any", (), rng)
    given = {"multiply": (a, b), "slerp": (a, b, rng.uniform(size=shape))}.get(name, (a,))
    found, wanted = getattr(quat, name)(*given), getattr(quat, f"{name}_numpy")(*given)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-14)


@pytest.mark.parametrize("name", ["rotate", "cross", "between_vectors", "from_rotvec"])
def test_what_is_done_to_vectors_is_its_plain_twin(name: str, shape: tuple[int, ...], rng: np.random.Generator) -> None:
    v, other = rng.normal(size=(*shape, 3)), rng.normal(size=3)
    given = {"rotate": (sample("any", shape, rng), v), "from_rotvec": (v,)}.get(name, (v, other))
    found, wanted = getattr(quat, name)(*given), getattr(quat, f"{name}_numpy")(*given)
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-14)


def test_strides_and_numbers_of_other_kinds_do_not_matter(rng: np.random.Generator) -> None:
    many = rng.normal(size=(6, 5, 8))[::2, ::-1, ::2]
    np.testing.assert_array_equal(quat.multiply(many, [1, 0, 0, 0]), many)
    np.testing.assert_array_equal(quat.rotate(np.float32([1, 0, 0, 0]), many[..., 1:]), many[..., 1:])
