"""A request as the compiled search reads it: moves, scene and lower bounds; searches of several kinds share it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from choreograph.base.arrays import Flags, Floats, seal
from choreograph.motion import body_points as points
from choreograph.motion.body_points import PointBody
from choreograph.scene.arrays import REACH_M, make_shapes
from choreograph.scene.model import Item
from choreograph.verbs.plan.crossing_costs import find_tolls
from choreograph.verbs.plan.grids import FOOT_M, distance_grid, open_floor
from choreograph.verbs.plan.heuristic import (
    ROUND,
    STRAIGHT,
    STRAIGHT_M,
    HeuristicTargets,
    Rates,
    edge_ways,
    far_potentials,
    find_fields,
    make_heuristic,
    potentials_to,
)
from choreograph.verbs.plan.network import Network
from choreograph.verbs.plan.primitives import OBJECTIVES, PrimitiveTable
from choreograph.verbs.plan.request import PlanRequest
from choreograph.verbs.plan.samples import discs, lattice_slack, mix_samples

if TYPE_CHECKING:
    from choreograph.verbs.plan._compiled_bounds import Heuristic
    from choreograph.verbs.plan._compiled_steps import Moves, StepScene


BENT_M, BENT_RAD = 0.05, math.radians(3)
"""How far from where it should a plan may step on a stone, or end, less its margins: finishing bends it there."""

Penalty = tuple[Floats, Any]
"""Grid and what a step that ends in its cells costs more, so that answers differ."""


@dataclass(frozen=True, eq=False)
class World:
    """What primitives there are for a request: the network, with what only this request's goal needs."""

    table: PrimitiveTable
    network: Network
    rates: Rates
    feet_rates: Rates
    """Likewise, of ways from foot to foot."""
    terminal: Flags
    """Which primitives may be the last, (P,)."""
    usable: Flags
    """Which may be taken at all, (P,)."""
    body: PointBody
    all_end: bool
    """Whether any primitive may be the last."""


@dataclass(frozen=True)
class Margins:
    """How much farther than they must plans keep from things, metres, by where the request names them."""

    usual: float
    more: dict[str, float]

    def of(self, where: str) -> float:
        """For one thing."""
        return self.usual + self.more.get(where, 0.0)


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be searched, for one set of margins."""

    world: World
    request: PlanRequest
    margins: Margins
    edge_costs: Floats
    """(E,)."""
    own_costs: Floats
    """Of primitives, (P,)."""
    moves: Moves
    scene: StepScene
    heuristic: Heuristic

    @classmethod
    def of(cls, world: World, request: PlanRequest, margins: Margins, penalty: Penalty | None = None) -> Task:
        """Prepare a request.

        Args:
            world: Primitives and their network.
            request: What is wanted.
            margins: How far to keep from things.
            penalty: What steps cost more in some places.
        """
        objective = OBJECTIVES.index(request.objective)
        costs = world.network.edge_costs(objective)
        scene = _scene(request, margins, penalty)
        return cls(
            world, request, margins, costs, world.network.costs[:, objective], _moves(world, costs), scene,
            _heuristic(world, request, margins, scene, costs),
        )  # fmt: skip


def _moves(world: World, costs: Floats) -> Moves:
    from choreograph.verbs.plan._compiled_steps import Moves

    network = world.network
    first, cloud, facing, planted = mix_samples(network.primitives, world.table)
    reach = np.hypot(*(cloud - cloud[:, :1])[..., [0, 2]].transpose(2, 0, 1)).max(axis=1) + world.body.radii.max()
    top = cloud[..., 1].max(axis=1) + world.body.radii.max()
    group, finer = network.alike.astype(np.int64), network.nodes + np.arange(network.nodes)
    feet = np.array([points.ankle(0), points.ball(0), points.ankle(1), points.ball(1)], np.int64)
    last = first[1:] - 1
    ends = np.stack([cloud[last, 0, 0], cloud[last, 0, 2], facing[last]], axis=1).astype(float)
    # Read-only, as what the cache keeps is: else kernels would be compiled once more for what was just built.
    return Moves(
        seal(network.outcome), seal(network.target.astype(np.int64, copy=False)),
        seal(network.first.astype(np.int64, copy=False)), seal(network.edge.astype(np.int32, copy=False)),
        costs, seal(network.kind.astype(np.int64, copy=False)), first, cloud, facing, planted,
        reach.astype(np.float32), top.astype(np.float32), discs(first, cloud, float(world.body.radii.max())),
        group, finer, world.terminal, ends, feet, world.body.capsules, world.body.radii,
    )  # fmt: skip


def _scene(request: PlanRequest, margins: Margins, penalty: Penalty | None) -> StepScene:
    from choreograph.verbs.plan._compiled_steps import StepScene

    end, solids, regions, stones = (
        request.end, request.scene.solids(), request.scene.forbidden(), request.scene.footholds(),
    )  # fmt: skip
    margin = margins.of
    grid, corridor = np.array([0.0, 0.0, 1.0, 0.0, 0.0]), np.zeros(0, np.float32)
    if request.path is not None:
        grid, corridor = distance_grid(request.path.line, request.path.tolerance_m)
    room = min(margin(f"{end.where}.place"), 0.4 * end.radius + BENT_M) - BENT_M
    tolerance, facing = 4.0, 0.0
    if end.facing is not None:
        facing = end.facing
        tolerance = end.tolerance + BENT_RAD if end.tolerance < math.radians(170) else 4.0
    shrunk = np.array([BENT_M - min(margin(item.where), 0.45 * _inner_radius(item) + BENT_M) for item in stones])
    solid = make_shapes(solids, np.array([margin(item.where) for item in solids]), REACH_M)
    off = make_shapes(regions, np.array([margin(item.where) + FOOT_M for item in regions]), 0.5)
    return StepScene(
        solid, off, make_shapes(stones, shrunk, 0.5),
        request.gates(),
        grid, corridor, (request.path.tolerance_m if request.path is not None else 0.0) - margin("path"),
        np.array([*end.place, end.radius - room, facing, tolerance]), *open_floor((solid, off)),
        *(penalty if penalty is not None else (np.array([0.0, 0.0, 1.0, 0.0, 0.0]), np.zeros(0, np.float32))),
    )  # fmt: skip


def _inner_radius(item: Item) -> float:
    """About the radius of the largest circle in a region, metres."""
    return float(item.radius if len(item.outline) == 1 else min(np.ptp(np.array(item.outline), axis=0)) / 2)


def _heuristic(world: World, request: PlanRequest, margins: Margins, scene: StepScene, costs: Floats) -> Heuristic:
    network = world.network
    slack_m, slack_rad, offset = lattice_slack(network, world.table)
    goal = [*scene.goal[:2], scene.goal[2] + slack_m]
    gates = [
        (gate[0], gate[1], gate[2] + slack_m + 0.2)
        if gate[2] >= 0
        else (*(gate[:2] + gate[3:]) / 2, math.dist(gate[:2], gate[3:]) / 2 + slack_m + 0.2)
        for gate in scene.gates
    ]
    stones = [
        (*stone.middle, (stone.radius_m or 0.0) + max(math.dist(stone.middle, c) for c in stone.outline) + offset)
        for stone in request.scene.stones
    ]
    stone_target = HeuristicTargets(np.array([*stones, goal], float).reshape(-1, 3)).with_rest()
    gate_target = HeuristicTargets(np.array([*gates, goal], float).reshape(-1, 3)).with_rest()
    heights = world.table.samples[:, points.HIPS, 1]
    fields = find_fields(
        scene.solids, gate_target, request.start.place, (float(heights.min()), float(heights.max())),
        float(world.body.radii[0]) - slack_m - STRAIGHT_M,
    )  # fmt: skip
    rates, potential = world.rates, world.rates.potential
    way, turn = edge_ways(network, world.table, ROUND if request.scene.solids() else STRAIGHT)
    if not world.all_end:
        end = np.full(network.nodes, np.inf)
        end[network.target[np.flatnonzero(world.terminal)]] = 0.0
        potential = potentials_to(network, rates, costs, way, turn, end)
    potential = far_potentials(network, rates, costs, (way, turn), potential)
    wider = {item.where: margins.of(item.where) for item in request.scene.forbidden()}
    tolls = find_tolls(world, request, costs, (goal[0], goal[1], goal[2]), wider)
    return make_heuristic(network, rates, potential, (stone_target, gate_target), fields, slack_rad, tolls)
