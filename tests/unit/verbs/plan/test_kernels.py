"""Compiled kernels against plain twins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import bellman_ford

from choreograph.scene import _compiled_scene as scene
from choreograph.scene.arrays import make_shapes
from choreograph.scene.model import Item
from choreograph.verbs.plan import _compiled_field as field
from choreograph.verbs.plan import _compiled_network as network

SQUARE = ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0))
BENT = ((0.0, 0.0), (2.0, 0.0), (2.0, 1.0), (1.0, 1.0), (1.0, 2.0), (0.0, 2.0))


def cull_plainly(order, sort, keep, outcome, seconds, pose, tolerance, pose_m):
    stands, kept = np.empty(len(order), int), []
    for p in order:
        stands[p] = p
        for q in [] if keep[p] else reversed(kept):
            turn = abs(math.remainder(outcome[p, 0] - outcome[q, 0], 2 * math.pi))
            near = np.hypot(*(outcome[p] - outcome[q])[1:]) <= tolerance[0] and turn <= tolerance[1]
            alike = abs(seconds[p] - seconds[q]) <= tolerance[2] and np.linalg.norm(pose[p] - pose[q]) <= pose_m
            if sort[p] == sort[q] and near and alike:
                stands[p] = q
                break
        if stands[p] == p:
            kept.append(p)
    return stands


def test_culling_keeps_what_its_twin_keeps():
    rng = np.random.default_rng(1)
    count = 300
    given = (
        rng.permutation(count), rng.integers(0, 3, count), rng.random(count) < 0.1, rng.uniform(-0.2, 0.2, (count, 3)),
        rng.uniform(0, 0.2, count), rng.uniform(0, 0.04, (count, 4)), np.array([0.1, 0.1, 0.08]), 0.04,
    )  # fmt: skip
    stands = network.cull(*given)
    np.testing.assert_array_equal(stands, cull_plainly(*given))
    assert 10 < (stands == np.arange(count)).sum() < count
    assert (stands[given[2]] == np.flatnonzero(given[2])).all()


def test_poses_gather_about_leaders_of_their_kind():
    rng = np.random.default_rng(2)
    pose, kind = rng.uniform(0, 1, (200, 3)), rng.integers(0, 2, 200)
    leaders, member = network.gather(pose, kind, 0.3)
    away = np.linalg.norm(pose - pose[leaders[member]], axis=1)
    assert (away <= 0.3).all() and (kind[leaders[member]] == kind).all()
    for n, leader in enumerate(leaders):
        earlier = leaders[:n][kind[leaders[:n]] == kind[leader]]
        assert (np.linalg.norm(pose[earlier] - pose[leader], axis=1) > 0.3).all()


def test_potentials_are_the_least_sums_to_an_end():
    rng = np.random.default_rng(3)
    nodes, edges = 30, 120
    source = np.sort(rng.integers(0, nodes, edges))
    target, weight = rng.integers(0, nodes, edges), rng.uniform(0.1, 1.0, edges)
    first = np.searchsorted(source, np.arange(nodes + 1))
    end = np.full(nodes, np.inf)
    end[[4, 9]] = 0.0
    value, whole = network.potentials(first, target, weight, end, 200)
    matrix = np.full((nodes + 1, nodes + 1), np.inf)
    for s, t, w in zip(source, target, weight, strict=True):
        matrix[t, s] = min(matrix[t, s], w)
    matrix[nodes, [4, 9]] = 1e-12
    known = bellman_ford(csr_matrix(np.where(np.isinf(matrix), 0, matrix)), indices=nodes)[:nodes]
    assert whole
    np.testing.assert_allclose(value, known, atol=1e-6)
    assert not network.potentials(first, target, -weight, np.zeros(nodes), 60)[1]


@pytest.mark.slow
def test_run_outs_that_may_be_over_behind_some_edges_are_the_least_sums_too():
    rng = np.random.default_rng(7)
    nodes, edges, count = 6, 14, 4
    source = np.sort(rng.integers(0, nodes, edges))
    target, weight = rng.integers(0, nodes, edges), rng.uniform(0.1, 1.0, edges)
    cells, crossing = rng.integers(1, 3, edges), rng.random(edges) < 0.4
    first, behind = np.searchsorted(source, np.arange(nodes + 1)), rng.uniform(0, 1, edges)

    def least(node: int, away: int, depth: int) -> float:
        """Over all walks of so many edges."""
        best = np.inf
        for e in range(first[node], first[node + 1]) if depth else ():
            left = max(0, away - cells[e])
            if left == 0 and crossing[e]:
                best = min(best, weight[e] + behind[e])
            best = min(best, weight[e] + least(target[e], left, depth - 1))
        return best

    near = np.array([least(n, 0, 7) for n in range(nodes)])
    got = network.run_outs(first, target, weight, cells, np.where(crossing, behind, np.inf), near, count)
    assert np.isfinite(got).any()
    for n in range(nodes):
        # Each cell is at most one more edge, so walks as much longer as `near` was allowed are among those tried.
        np.testing.assert_allclose(got[n], [least(n, c, 7 + c) for c in range(count)], atol=1e-9)


def test_run_outs_are_the_least_sums_of_walks_that_come_far_enough():
    rng = np.random.default_rng(8)
    nodes, edges = 6, 14
    source = np.sort(rng.integers(0, nodes, edges))
    target, weight, cells = rng.integers(0, nodes, edges), rng.uniform(0.1, 1.0, edges), rng.integers(1, 3, edges)
    first, near = np.searchsorted(source, np.arange(nodes + 1)), rng.uniform(0, 0.1, nodes)

    def least(node: int, far: int) -> float:
        ways = range(first[node], first[node + 1])
        return (
            min((weight[e] + least(target[e], far - cells[e]) for e in ways), default=np.inf) if far > 0 else near[node]
        )

    got = network.run_outs(first, target, weight, cells, np.full(edges, np.inf), near, 5)
    assert np.isfinite(got[:, 4]).any()
    np.testing.assert_allclose(got, [[least(n, c) for c in range(5)] for n in range(nodes)], atol=1e-9)


@pytest.mark.parametrize("corners", [SQUARE, BENT], ids=["square", "bent"])
def test_gaps_of_capsules_agree_with_sampling(corners):
    rng = np.random.default_rng(4)
    shapes = make_shapes([Item("", corners, 0.0, 0.0, 1.0)], np.zeros(1), 2.0)
    sides = [(np.array(a), np.array(b)) for a, b in zip(corners, (*corners[1:], corners[0]), strict=True)]
    for _ in range(60):
        a, b = rng.uniform(-2, 3, (2, 2))
        points = a + np.linspace(0, 1, 400)[:, None] * (b - a)
        rim = np.concatenate([s + np.linspace(0, 1, 200)[:, None] * (e - s) for s, e in sides])
        away = np.linalg.norm(points[:, None] - rim, axis=2).min()
        got = scene.gap(shapes, 0, *a, *b)
        if scene.inside(shapes, 0, *a):
            assert got <= 0
        else:
            assert got == pytest.approx(away, abs=0.02)
        assert scene.point_gap(shapes, 0, *a) == pytest.approx(scene.gap(shapes, 0, *a, *a))


def test_capsules_pass_over_what_is_lower_and_under_what_is_higher():
    shapes = make_shapes([Item("", SQUARE, 0.0, 0.0, 0.3), Item("", ((0.0, 0.0),), 0.5, 1.3, 100.0)], np.zeros(2), 1.0)
    assert scene.capsule_gap(shapes, 0, 0.0, 0.5, 0.0, 0.5, 0.6, 0.0, 0.1) == scene.FAR
    assert scene.capsule_gap(shapes, 0, 0.0, 0.35, 0.0, 0.5, 0.6, 0.0, 0.1) < 0
    assert scene.capsule_gap(shapes, 1, 0.0, 0.0, 0.0, 0.0, 1.1, 0.0, 0.1) == scene.FAR
    assert scene.capsule_gap(shapes, 1, 0.0, 0.0, 0.0, 0.0, 1.25, 0.0, 0.1) < 0
    # Only the part between the heights counts: it leans away from the circle above.
    assert scene.capsule_gap(shapes, 0, 3.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.0) == pytest.approx(1.7, abs=0.01)


def test_free_distance_is_near_the_straight_one_and_goes_round_walls():
    blocked = np.zeros((120, 120), bool)
    far = field.free_distance(blocked, 0.1, 2.0, 2.0, 0.0)
    straight = np.hypot(*(np.indices(blocked.shape) * 0.1 + 0.05 - 2.0))
    assert (far / field.LONGER <= straight + 0.2).all() and (far >= straight - 0.2).all()
    blocked[:, 60] = True
    blocked[110, 60] = False
    far = field.free_distance(blocked, 0.1, 6.0, 2.0, 0.0)
    assert far[60, 100] > 10 and far[60, 60] > 1e8
    blocked[110, 60] = True
    assert field.free_distance(blocked, 0.1, 6.0, 2.0, 0.0)[60, 100] > 1e8


def test_feet_are_parted_where_no_chain_of_short_ways_joins_them():
    rng = np.random.default_rng(5)
    first = np.array([0, 3, 7, 9, 12])
    feet, planted = rng.uniform(-0.8, 0.8, (12, 4, 2)), rng.integers(0, 4, 12).astype(np.uint8)
    got = network.parted(first, feet, planted, 0.5)
    for p in range(4):
        rows = range(first[p], first[p + 1])
        spots = [feet[n, j] for n in rows for j in range(4) if planted[n] & (1 << j // 2)]
        group = {0} if spots else set()
        for _ in spots:
            group |= {b for a in group for b in range(len(spots)) if np.hypot(*(spots[a] - spots[b])) <= 0.5}
        assert got[p] == (len(group) < len(spots))
    assert got.any()


def test_bends_are_measured_along_the_way_and_off_the_chord():
    hips = np.array([(0.0, 0.0), (0.5, 0.5), (1.0, 0.0), (0.0, 1.0)])
    way, off = network.bends(
        np.array([0, 3, 4]), hips, np.array([0, 1], np.int32), np.zeros((2, 2)), np.array([(1.0, 0.0), (0.0, 2.0)])
    )
    np.testing.assert_allclose(way, (math.sqrt(2), 2.0))
    np.testing.assert_allclose(off, (0.5, 0.0))
