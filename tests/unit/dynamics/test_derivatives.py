"""The compiled recursion against Pinocchio, against CasADi's derivatives, and against differences."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from choreograph.demo import demo_clip
from choreograph.dynamics import _compiled
from choreograph.dynamics.body import make_body
from choreograph.dynamics.dofs import Dofs, make_dofs, tree_of
from choreograph.dynamics.export import as_urdf
from choreograph.motion.facts import GRAVITY_M_S2


@pytest.fixture(scope="module")
def dofs() -> Dofs:
    clip = demo_clip("jump_high", 30.0)
    return make_dofs(make_body(clip.skeleton), [clip])


@pytest.fixture(scope="module")
def place(dofs: Dofs) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(5)
    q = dofs.angles(demo_clip("jump_high", 30.0))[12]
    return q, rng.normal(0, 1, len(dofs)), rng.normal(0, 3, len(dofs)), rng.normal(0, 1, len(dofs))


def differences(function: Any, x: np.ndarray, step: float = 1e-6) -> np.ndarray:
    rows = []
    for k in range(len(x)):
        off = np.zeros(len(x))
        off[k] = step
        rows.append((function(x + off) - function(x - off)) / (2 * step))
    return np.array(rows)


def test_forces_and_first_derivatives_are_pinocchios(dofs: Dofs, place: tuple[np.ndarray, ...]) -> None:
    pin = pytest.importorskip("pinocchio")
    q, v, a, mu = place
    tau, parts = _compiled.all_derivatives(tree_of(dofs), GRAVITY_M_S2, q, v, a, mu)
    model = pin.buildModelFromXML(as_urdf(dofs))
    model.gravity.linear = np.array([0.0, -GRAVITY_M_S2, 0.0])
    joints = [model.joints[model.getJointId(name)] for name in dofs.names]
    q_pin, order = pin.neutral(model), [joint.idx_v for joint in joints]
    for joint, angle in zip(joints, q, strict=True):
        q_pin[joint.idx_q : joint.idx_q + joint.nq] = angle if joint.nq == 1 else (np.cos(angle), np.sin(angle))
    v_pin, a_pin = np.zeros(model.nv), np.zeros(model.nv)
    v_pin[order], a_pin[order] = v, a
    data = model.createData()
    assert np.allclose(
        pin.rnea(model, data, q_pin, v_pin, a_pin)[order], tau, atol=2e-3
    )  # links without mass weigh 1 mg
    pin.computeRNEADerivatives(model, data, q_pin, v_pin, a_pin)
    for mine, theirs in zip(parts[:3], (data.dtau_dq, data.dtau_dv, data.M), strict=True):
        full = np.triu(theirs) + np.triu(theirs, 1).T if theirs is data.M else theirs
        assert np.allclose(mine, full[np.ix_(order, order)], atol=5e-3)


def test_second_derivatives_are_those_of_the_first(dofs: Dofs, place: tuple[np.ndarray, ...]) -> None:
    q, v, a, mu = place
    tree = tree_of(dofs)
    _, parts = _compiled.all_derivatives(tree, GRAVITY_M_S2, q, v, a, mu)

    def slopes(q: np.ndarray, v: np.ndarray) -> list[np.ndarray]:
        first = _compiled.all_derivatives(tree, GRAVITY_M_S2, q, v, a, mu)[1]
        return [mu @ first[k] for k in range(3)]

    by_q = [differences(lambda x, k=k: slopes(x, v)[k], q) for k in range(3)]
    by_v = differences(lambda x: slopes(q, x)[1], v)
    for mine, theirs in zip(parts[3:], (by_q[0], by_q[1], by_v, by_q[2]), strict=True):
        assert np.allclose(mine, theirs, atol=2e-6 * (1 + np.abs(theirs).max()))


def test_points_move_as_differences_say(dofs: Dofs, place: tuple[np.ndarray, ...]) -> None:
    tree, holders = tree_of(dofs), np.array([len(dofs) - 1, 9], np.int32)
    offsets = np.array([[0.1, -0.2, 0.05], [0.0, 0.1, 0.3]])
    places, moves = _compiled.point_motions(tree, place[0], holders, offsets)

    def points(q: np.ndarray) -> np.ndarray:
        return np.asarray(_compiled.points(tree, q[None], holders, offsets)[0])

    assert np.allclose(places, points(place[0]), atol=1e-12)
    assert np.allclose(moves, differences(points, place[0]), atol=1e-8)


def test_casadi_agrees_on_a_pendulum_of_two_links() -> None:
    casadi = pytest.importorskip("casadi")
    tree = (
        np.array([-1, 0], np.int32), np.array([True, True]), np.array([[0.0, 0, 1], [0, 0, 1]]),
        np.array([[0.0, 0, 0], [0, -1.0, 0]]), np.array([2.0, 1.0]), np.array([[0.0, -0.5, 0], [0, -0.4, 0]]),
        np.array([0.1 * np.eye(3), 0.05 * np.eye(3)]),
    )  # fmt: skip
    q, v, a = casadi.SX.sym("q", 2), casadi.SX.sym("v", 2), casadi.SX.sym("a", 2)

    def centre(first: Any, second: Any, length: float) -> Any:
        return casadi.vertcat(
            casadi.sin(first) + length * casadi.sin(first + second),
            -casadi.cos(first) - length * casadi.cos(first + second),
        )

    one = casadi.vertcat(0.5 * casadi.sin(q[0]), -0.5 * casadi.cos(q[0]))
    two = centre(q[0], q[1], 0.4)
    speeds = [casadi.jtimes(part, q, v) for part in (one, two)]
    energy = (
        0.5 * 2.0 * casadi.sumsqr(speeds[0]) + 0.5 * 1.0 * casadi.sumsqr(speeds[1])
        + 0.5 * 0.1 * v[0] ** 2 + 0.5 * 0.05 * (v[0] + v[1]) ** 2
    )  # fmt: skip
    lagrangian = energy - GRAVITY_M_S2 * (2.0 * one[1] + 1.0 * two[1])
    push = casadi.gradient(lagrangian, v)
    torque = casadi.jtimes(push, q, v) + casadi.jtimes(push, v, a) - casadi.gradient(lagrangian, q)
    mu = np.array([0.7, -1.3])
    weighted = casadi.dot(casadi.DM(mu), torque)
    hessian = casadi.hessian(weighted, casadi.vertcat(q, v, a))[0]
    theirs = casadi.Function("f", [q, v, a], [torque, casadi.jacobian(torque, q), hessian])
    at = [np.array([0.4, -0.9]), np.array([1.2, 0.3]), np.array([-2.0, 4.0])]
    tau, parts = _compiled.all_derivatives(tree, GRAVITY_M_S2, *at, mu)
    value, slope, curve = (np.array(part) for part in theirs(*at))
    assert np.allclose(tau, value.ravel(), atol=1e-12)
    assert np.allclose(parts[0], slope, atol=1e-12)
    assert np.allclose(parts[3], curve[:2, :2], atol=1e-12) and np.allclose(parts[4], curve[:2, 2:4], atol=1e-12)
    assert np.allclose(parts[5], curve[2:4, 2:4], atol=1e-12) and np.allclose(parts[6], curve[:2, 4:], atol=1e-12)
