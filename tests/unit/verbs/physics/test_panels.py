"""Derivatives along the state's directions, panel by panel, against those by single joints, which Pinocchio checks."""

from __future__ import annotations

import numpy as np
import pytest

import choreograph as cg
from choreograph.demo import demo_clip
from choreograph.dynamics import _compiled as dynamics
from choreograph.motion.facts import GRAVITY_M_S2
from choreograph.verbs.physics import _compiled, _compiled_node
from choreograph.verbs.physics.panels import LANES, make_panels, parts_of
from choreograph.verbs.physics.prepare import make_setting, problem_of, sketch_of
from choreograph.verbs.physics.program import TrajectoryProgram

JUMP = demo_clip("jump_high", 60.0)


@pytest.fixture(scope="module")
def question() -> TrajectoryProgram:
    setting = make_setting(JUMP, cg.PhysicsRequest())
    return problem_of(setting, sketch_of(setting, cg.PhysicsRequest()), cg.PhysicsRequest())


def test_a_chain_belongs_to_its_own_part_alone() -> None:
    # A root that carries two chains of two; directions of the root, of one chain, of the other.
    ancestors = np.eye(5, dtype=bool)
    ancestors[0] = ancestors[1, 2] = ancestors[3, 4] = True
    w = np.eye(5)
    parts = parts_of(ancestors, w)
    assert parts[:, 0].all() and parts[:, 1].tolist() == [True, True, True, False, False]
    panels, groups = make_panels(ancestors, w, np.array([2, 4]))
    assert panels[2].tolist() == [[0, 1], [1, 2], [3, 2]] and groups[1].tolist() == [1, 2]
    assert panels[4].tolist() == [[True, True], [True, False], [False, True]]
    assert groups[2].tolist() == [[5, 3, 3], [3, 3, 1], [3, 1, 3]] and groups[3][1, 2, 0] == 0


def test_products_are_those_of_the_joints_derivatives(question: TrajectoryProgram) -> None:
    spec, w, rng = question.spec, question.w, np.random.default_rng(4)
    k = int(np.flatnonzero(~question.active.any(axis=1))[0])  # in flight: contacts are in the matrix's own test
    n, x = len(w), question.start() + 1e-2 * rng.normal(size=question.size)
    states = _compiled.coordinates(spec, x)
    q, v, a = (state[k] @ w.T + course[k] for state, course in zip(states, (spec[3], spec[13], spec[14]), strict=True))
    mu = rng.normal(size=n)
    work, room, tau = dynamics.make_work(n, GRAVITY_M_S2), _compiled_node.make_room(spec), np.empty(n)
    dynamics.values(question.tree, GRAVITY_M_S2, q, v, a, work, tau)
    _compiled_node.node(spec, x, k, mu, np.zeros((len(question.holders), 3)), work, room)
    parts = dynamics.all_derivatives(question.tree, GRAVITY_M_S2, q, v, a, mu)[1]
    products = np.zeros((_compiled_node.PRODUCTS, n, w.shape[1]))
    for (first, size), panel in zip(spec[18][2], room[0], strict=True):
        products[:, :, first : first + size] = np.swapaxes(panel.reshape(n, -1, LANES), 0, 1)[:, :, :size]
    for mine, theirs in zip(products[:3], parts[:3], strict=True):
        assert np.allclose(mine, theirs @ w, atol=1e-9)
    qq, qv, vq, vv, qa, aq = (vectors.T @ w for vectors in products[3:])
    hessians = (qq + qq.T, qv + vq.T, vv + vv.T, qa + aq.T)
    for mine, theirs in zip(hessians, parts[3:], strict=True):
        assert np.allclose(mine, w.T @ theirs @ w, atol=1e-9)
