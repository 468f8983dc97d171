"""Steps, primitives, compression and the heuristic."""

from __future__ import annotations

import dataclasses
from itertools import pairwise

import numpy as np
import pytest
from tests.unit.verbs.plan.requests import request_of

import choreograph as cg
from choreograph.base.floor import FloorTransform
from choreograph.demo import demo_clip
from choreograph.goals.model import PlaceGoal
from choreograph.motion.body_points import POSED, PointBody
from choreograph.scene.model import Obstacle, Shape
from choreograph.verbs.plan import _compiled_bounds
from choreograph.verbs.plan.crossing_costs import no_tolls
from choreograph.verbs.plan.heuristic import WAYS, Rates
from choreograph.verbs.plan.network import Tolerances, compress
from choreograph.verbs.plan.planner import Chain, Planner
from choreograph.verbs.plan.primitives import MOST_NOVEL_M, novelty
from choreograph.verbs.plan.steps import LEFT, RIGHT, find_steps, read_track
from choreograph.verbs.plan.task import Margins, Task
from choreograph.verbs.plan.to_montage import Plan
from choreograph.verbs.plan.world import make_world


def run(planner: Planner, most: int = 200_000) -> Planner:
    while not planner.done and planner.expanded < most:
        planner.advance()
    return planner


def test_a_walk_is_steps_from_foot_to_foot():
    walk = demo_clip("walk", 60.0)
    track = read_track(walk, 0, PointBody.of(walk.skeleton))
    steps = find_steps([track])
    kinds = [step.start.kind for step in steps if step.start.kind != step.stop.kind]
    assert len(steps) >= 5 and set(kinds) <= {LEFT, RIGHT}
    assert all(a != b for a, b in pairwise(kinds))
    for step in steps:
        assert step.breaks[0] == step.start.frame and step.breaks[-1] == step.stop.frame
        assert len(step.breaks) == len(step.states) + 1


def test_outcomes_lead_from_one_foot_to_the_next(plans):
    table = plans.table
    for n in np.flatnonzero(np.diff(table.track) == 0):
        if table.phase_frame[table.phase_first[n + 1] - 1] != table.phase_frame[table.phase_first[n + 1]]:
            continue
        after = FloorTransform(*table.begin[n]) @ FloorTransform(*table.outcome[n])
        np.testing.assert_allclose(after.as_rows()[1:], table.begin[n + 1][1:], atol=1e-6)


def test_a_blend_costs_what_its_steps_do(plans):
    blends = plans.every.take(~plans.every.raw)
    costs = blends.mix(plans.table.costs)
    low = np.where(blends.steps[..., None] >= 0, plans.table.costs[blends.steps], np.inf).min(axis=1)
    assert (costs >= low - 1e-9).all()
    np.testing.assert_allclose(blends.weights.sum(axis=1), 1.0)
    assert (blends.steps[:, 2] >= 0).any() or len(blends) < 50
    sorts = plans.table.sort[blends.steps]
    assert (np.where(blends.steps >= 0, sorts, sorts[:, :1]) == sorts[:, :1]).all()


def test_compression_keeps_every_recorded_step_and_fewer_blends(plans):
    kept = compress(plans.table, plans.every, Tolerances())
    assert set(np.flatnonzero(plans.every.raw)) <= set(kept) and len(kept) < len(plans.every)
    coarse = compress(plans.table, plans.every, Tolerances(place_m=0.2, heading_deg=20, time_s=0.3, pose_m=0.2))
    assert len(coarse) < len(kept)
    np.testing.assert_array_equal(kept, plans.kept)


def test_recorded_steps_can_follow_as_they_were_recorded(plans):
    network, table = plans.network, plans.table
    own = {int(step): p for p, step in enumerate(network.primitives.steps[:, 0]) if network.primitives.raw[p]}
    for n in range(len(table) - 1):
        if table.track[n] != table.track[n + 1]:
            continue
        end, begin = table.phase_frame[table.phase_first[n + 1] - 1], table.phase_frame[table.phase_first[n + 1]]
        node = network.target[own[n]]
        follow = network.edge[network.first[node] : network.first[node + 1]]
        assert end != begin or own[n + 1] in follow


@pytest.mark.parametrize(
    "scene",
    [
        {"goal": PlaceGoal(place=(0.3, 2.5), facing_deg=10.0)},
        {"goal": PlaceGoal(place=(0.0, 2.5)), "obstacles": (Obstacle(centre=(0.5, 1.3), radius_m=0.25),)},
        {"goal": PlaceGoal(place=(0.0, 3.0)), "gaps": (Shape(low=(-4.0, 1.2), high=(4.0, 1.6)),)},
        {"goal": PlaceGoal(place=(0.0, 2.5)), "bars": (Obstacle(ends=((-4.0, 1.5), (4.0, 1.5)), base_m=1.76),)},
    ],
    ids=["turned", "obstacle", "gap", "bar"],
)
def test_the_heuristic_never_says_more_than_the_rest_costs(graph, plans, scene, monkeypatch):
    request = request_of(**scene, interpolation=False)
    world = make_world(graph, plans, request)
    guided = run(Planner(Task.of(world, request, Margins(0.0, {}))))
    assert bool(len(guided.heuristic.tolls.feet)) == ("gaps" in scene or "bars" in scene)
    nodes = world.network.nodes
    nothing = Rates(np.zeros(1), np.zeros(1), np.zeros((1, nodes)))
    monkeypatch.setattr("choreograph.verbs.plan.task.find_tolls", lambda *_: no_tolls())
    monkeypatch.setattr("choreograph.verbs.plan.task.far_potentials", lambda *_: np.zeros((1, nodes, WAYS)))
    blind = run(Planner(Task.of(dataclasses.replace(world, rates=nothing), request, Margins(0.0, {}))))
    assert guided.proved and blind.proved, (guided.status, blind.status, guided.cost, blind.cost)
    # Which record is the first in a cell differs between the two, so within the lattice.
    assert guided.cost == pytest.approx(blind.cost, rel=0.03)
    assert guided.expanded < blind.expanded
    for chain in (guided.chain(), blind.chain()):
        assert chain is not None
        _check_along(guided, chain)


def _check_along(guided: Planner, chain: Chain) -> None:
    """At no place of a way does the heuristic say more than what is left of it costs."""
    world = guided.world
    left = guided.true_cost(chain.primitives)
    ends = [*chain.places[1:], chain.end]
    for n, (primitive, (yaw, x, z)) in enumerate(zip(chain.primitives, ends, strict=True)):
        spent = guided.true_cost(chain.primitives[: n + 1])
        node = int(world.network.target[primitive])
        best, guide = _compiled_bounds.estimate(guided.heuristic, guided.scene.goal, node, yaw, x, z, 0)
        assert guide <= best <= left - spent + 1e-6


def test_blends_only_make_it_cheaper_and_compression_hardly_dearer(graph, plans):
    request = request_of(goal=PlaceGoal(place=(0.4, 2.2), tolerance_m=0.2))
    costs = {}
    for name, asked, full in (
        ("plain", request.with_(interpolation=False), False),
        ("blends", request, False),
        ("all", request, True),
    ):
        planner = run(Planner(Task.of(make_world(graph, plans, asked, full=full), asked, Margins(0.0, {}))), 60_000)
        costs[name] = planner.cost
    assert costs["blends"] <= 1.01 * costs["plain"]
    assert costs["blends"] <= 1.05 * costs["all"]


def test_a_chain_of_recorded_steps_shows_the_recording(graph, plans):
    table, network = plans.table, plans.network
    track = int(np.bincount(table.track).argmax())
    steps = np.flatnonzero(table.track == track)[1:4]
    own = {int(step): p for p, step in enumerate(network.primitives.steps[:, 0]) if network.primitives.raw[p]}
    chain_of = np.array([own[int(step)] for step in steps])
    request = request_of(goal=PlaceGoal(place=(0.0, 2.0)))
    world = make_world(graph, plans, request)
    places = table.begin[steps]
    from choreograph.verbs.plan.planner import Chain

    montage = Plan(graph, world, Chain(chain_of, places, places[-1], 0.0)).as_montage()
    clip = graph.clips[int(table.clip[steps[0]])]
    first = int(table.phase_frame[table.phase_first[steps[0]]])
    from choreograph.finishing.assemble import assemble

    made = assemble(montage)
    np.testing.assert_allclose(made.root_pos, clip.root_pos[first : first + len(made)], atol=1e-6)


def test_the_lattice_must_be_one_that_can_be():
    with pytest.raises(cg.RequestError, match=r"advanced\.lattice_m"):
        request_of(goal=PlaceGoal(place=(0.0, 1.0)), advanced={"lattice_m": 0.0})


def test_blends_are_hardly_farther_from_their_steps_than_allowed(plans):
    assert plans.every.raw[: len(plans.table)].all()
    blends = np.flatnonzero(~plans.every.raw)
    far = novelty(plans.every, plans.table)
    assert len(blends) and far[blends].min() > 0 and far.max() <= MOST_NOVEL_M and not far[plans.every.raw].any()
    # Each pose against all poses of its steps, turned by a fine grid of angles about their means.
    for p in blends[:: max(1, len(blends) // 5)]:
        rows = [
            np.arange(plans.table.sample_first[s], plans.table.sample_first[s + 1])
            for s in plans.every.steps[p]
            if s >= 0
        ]
        weights = plans.every.weights[p]
        mixed = sum(w * plans.table.samples[r, :POSED].astype(float) for w, r in zip(weights, rows, strict=False))
        known = plans.table.samples[np.concatenate(rows), :POSED].astype(float)
        mixed, known = (each - each.mean(axis=1, keepdims=True) * (1, 0, 1) for each in (mixed, known))
        worst = 0.0
        for pose in mixed:
            gaps = []
            for turn in np.radians(np.arange(-8, 8, 0.1)):
                laid = FloorTransform(turn).apply(known)
                gaps.append(np.sqrt(((laid - pose) ** 2).sum(axis=2).mean(axis=1)).min())
            worst = max(worst, min(gaps))
        assert far[p] == pytest.approx(worst, abs=2e-4)
