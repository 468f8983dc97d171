"""From a sketch to the problem that the solver takes."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from choreograph.base.arrays import Flags, Floats
from choreograph.base.errors import RequestError
from choreograph.dynamics.contacts import ContactPoints
from choreograph.dynamics.dofs import Dofs
from choreograph.dynamics.strength import torque_limits
from choreograph.verbs.physics.contacts import LIMBS, Legs
from choreograph.verbs.physics.example_alignment import ROOT, ExampleMean
from choreograph.verbs.physics.pose_basis import PoseBasis
from choreograph.verbs.physics.program import TrajectoryProgram
from choreograph.verbs.physics.settings import USUAL_WEIGHTS, PhysicsLimits, PhysicsWeights
from choreograph.verbs.physics.sketch import Sketch
from choreograph.verbs.physics.spline import NodeGrid
from choreograph.verbs.physics.verify import CLEAR_M

_SINK_M = 5e-4
_RISE_M = 4e-3
"""How fast the floor comes up to its place around a key pose that is below it, metres a node."""
_STONE_M, _COMES_M_S = 0.02, 1.2
"""From which height on a footprint lies on a stone, and how fast a foot may come up to it beside it."""
_ROOM_RAD = 0.04
"""How far a key pose may be from a joint's limit at least."""
REACH_M = 2e-3
"""Farthest that a key pose's foot may be from its place."""
_SURE = 4.0
"""How many times smaller squared distances from what examples do at the same moment are than from their mean pose."""
_SPREADS = (0.06, 0.07, 0.07)
"""Standard deviations of the root's height, lean and pitch about what examples do at the same moment, m and rad."""
SHIFT_M = 0.12
"""Farthest that a key pose may be shifted so that its legs reach."""


def make_problem(
    sketch: Sketch,
    basis: PoseBasis,
    points: ContactPoints,
    *,
    floor: float = 0.0,
    weights: PhysicsWeights = USUAL_WEIGHTS,
    limits: PhysicsLimits = PhysicsLimits(),
    lead: ExampleMean | None = None,
    free: bool = True,
) -> TrajectoryProgram:
    """The problem of a sketch.

    Args:
        sketch: What the motion shall be.
        basis: The space of examples.
        points: That may touch the floor.
        floor: Height of the floor, metres.
        weights: Of the objective's parts.
        limits: What body and floor can bear.
        lead: What the examples do at the sketch's moments, which the objective pulls to; else their mean pose.
        free: Whether joints that carry nothing go through key poses as they are, else as the space has them.

    Raises:
        RequestError: If a key pose's leg cannot reach its footprint; the message says by how much.
    """
    legs = Legs(basis.dofs, points)
    count, npts = sketch.nodes, len(points.joints)
    held = sketch.flags[:, points.groups]
    targets = np.zeros((count, npts, 3))
    for stance, spot in zip(sketch.stances, sketch.footprints, strict=True):
        targets[stance.start : stance.stop, legs.sides[stance.side]] = spot
    _check_reach(sketch, basis.dofs)
    states, poses = [], []
    mask, values = np.zeros((count, len(basis.picks) + basis.space.dimensions), bool), None
    values = np.zeros(mask.shape)
    d = basis.space.dimensions
    rest = _outside(sketch, basis) if free else np.zeros((count, len(basis.dofs)))
    for pose in sketch.poses:
        at = pose.node
        inside = basis.coordinates(basis.state(pose.q)) + rest[at]
        bent, left = legs.reach(inside, held[at], targets[at])
        moved = float(np.linalg.norm(bent[:3] - inside[:3]))
        if (left > REACH_M or moved > SHIFT_M) and pose.whole:
            left = max(left, moved)
            raise RequestError(
                f"the pose at {sketch.times[at]:.2f} s cannot put its feet where they stand: a leg is "
                f"{100 * left:.1f} cm away; move the footprint or the pose, or let the foot land later",
                where="goals",
            )
        state = basis.state(pose.q)
        # The rest of the body as in the space; legs as they reach, and the root where they can.
        if not any(pose.root[:3]) or pose.whole:
            state[d : d + 3] = bent[:3]
        state[d + 6 :] = bent[basis.legs] - (basis.origin + state[:d] @ basis.columns.T)[basis.legs]
        states.append(state)
        poses.append(basis.coordinates(state) + rest[at])
        values[at] = state
        mask[at, :d] = pose.joints
        mask[at, d : d + 6] = pose.root
        settled = _held_legs(basis, held[at], legs)
        mask[at, d + 6 :] = ~settled & pose.joints
    heights = _heights(sketch, held, legs, floor)
    for pose, q in zip(sketch.poses, poses, strict=True):
        # Who begins below the floor may come up within a few nodes.
        own = legs.positions(q[None])[0, :, 1] - 1e-3
        ramp = own + _RISE_M * np.abs(np.arange(count) - pose.node)[:, None]
        heights = np.minimum(heights, ramp)
    dofs = _with_room(basis.dofs, np.array(poses))
    guess = _guess(sketch, np.array(states), [pose.node for pose in sketch.poses], d)
    guess = _stand(guess, basis, legs, held, targets, mask)
    base, pull = _prior(sketch, basis, weights, floor, lead)
    return TrajectoryProgram(
        dofs, basis.columns, basis.picks, basis.origin, np.array(sketch.times), _pushing(held), held, targets,
        heights, mask, values, base, pull, legs.holders, legs.offsets,
        torque_limits(basis.dofs, limits.strength), guess,
        None if sketch.source is None else basis.state(sketch.source),
        limits.friction, limits.most_force, limits.most_alone, limits.together(), limits.force_rate, weights,
        floor,        NodeGrid(sketch.times).through(basis.origin + rest),
    )  # fmt: skip


def _outside(sketch: Sketch, basis: PoseBasis) -> Floats:
    """What key poses have that the space has not, carried from one to the next, (K, n); legs reach by themselves."""
    from scipy.interpolate import PchipInterpolator

    poses = [pose for pose in sketch.poses if pose.joints]
    q = np.array([pose.q for pose in poses])
    return np.asarray(
        PchipInterpolator(sketch.times[[pose.node for pose in poses]], q - basis.coordinates(basis.state(q)))(
            sketch.times
        )
    )


def _prior(
    sketch: Sketch, basis: PoseBasis, weights: PhysicsWeights, floor: float, lead: ExampleMean | None
) -> tuple[Floats, Floats]:
    """What states are like in the examples, (K, ny), and how much the distance of each entry from that counts, (ny,).

    The root's height, lean and pitch are more dimensions of their space where examples lead. Else its height is one for
    walks and runs: otherwise who pushes off falls short, and who lands sits down. Where feet stand on stones it is as
    much higher.
    """
    d, (height, spread) = basis.space.dimensions, basis.height
    base, pull = np.zeros((sketch.nodes, d + len(basis.picks))), np.zeros(d + len(basis.picks))
    pull[:d], pull[d + 6 :], pull[d + 1] = weights.prior, weights.slack, weights.prior / spread**2
    steps = [
        (float(sketch.times[[one.start, one.stop - 1]].mean()), float(spot[:, 1].min()))
        for one, spot in zip(sketch.stances, sketch.footprints, strict=True)
        if one.side < 2
    ]
    at, level = np.array(sorted(steps) or [(0.0, floor)]).T
    base[:, d + 1] = height
    if lead is not None:
        base[:, :d], pull[:d] = lead.states, weights.prior * _SURE
        spreads = (min(spread, _SPREADS[0]), *_SPREADS[1:])
        for column, entry in enumerate(ROOT):
            base[:, d + entry], pull[d + entry] = lead.root[:, column], weights.prior / spreads[column] ** 2
    base[:, d + 1] += np.interp(sketch.times, at, level)
    return base, pull


def _check_reach(sketch: Sketch, dofs: Dofs) -> None:
    """Refuse limbs that carry at the same time farther apart than a body is long.

    Raises:
        RequestError: With the distance that is missing.
    """
    lengths = _limb_lengths(dofs)
    pairs = list(zip(sketch.stances, sketch.footprints, strict=True))
    for k, (one, spot) in enumerate(pairs):
        for other, place in pairs[k + 1 :]:
            if one.stop <= other.start or other.stop <= one.start:
                continue
            apart = float(np.linalg.norm(spot.mean(axis=0) - place.mean(axis=0)))
            trunk = 0 if (one.side < 2) == (other.side < 2) else 1
            most = lengths[one.side] + lengths[other.side] + lengths[4 + trunk]
            if apart > most:
                raise RequestError(
                    f"{LIMBS[one.side]} and {LIMBS[other.side]} carry together at "
                    f"{sketch.times[max(one.start, other.start)]:.2f} s, {apart:.2f} m from each other: "
                    f"{100 * (apart - most):.0f} cm more than they reach; move one of them, or let it land later",
                    where="goals",
                )


def _limb_lengths(dofs: Dofs) -> Floats:
    """How far a body's left and right leg and arm reach, the width of its hips or shoulders, and its trunk, metres."""
    skeleton = dofs.skeleton
    rest = skeleton.rest_positions()

    def chain(side: str, parts: tuple[str, ...], more: float) -> float:
        joints = [skeleton.find(f"{side}_{part}") for part in parts]
        known = [rest[j] for j in joints if j is not None]
        return float(sum(np.linalg.norm(b - a) for a, b in pairwise(known))) + more * dofs.body.height

    limbs = [chain(side, ("upper_leg", "lower_leg", "foot"), 0.12) for side in ("left", "right")]
    limbs += [chain(side, ("upper_arm", "forearm", "hand"), 0.08) for side in ("left", "right")]
    ends = [[skeleton.find(f"{side}_{part}") for side in ("left", "right")] for part in ("upper_leg", "upper_arm")]
    middles = [rest[[j for j in pair if j is not None]] for pair in ends]
    width = max(float(np.linalg.norm(two[0] - two[-1])) if len(two) else 0.0 for two in middles)
    trunk = 0.0
    if all(len(two) for two in middles):
        trunk = float(np.linalg.norm(middles[0].mean(axis=0) - middles[1].mean(axis=0))) + width
    return np.array([*limbs, width, trunk])


def _heights(sketch: Sketch, held: Flags, legs: Legs, floor: float) -> Floats:
    """What each point must stay above while it is not held, (K, P): the floor, and stones that its foot comes down on.

    A foot comes to a stone from above: the sooner it lands, or the less ago it left, the higher it is.
    """
    heights = np.full(held.shape, floor + CLEAR_M)
    for stance, spot in zip(sketch.stances, sketch.footprints, strict=True):
        mine = legs.sides[stance.side]
        level = float(spot[:, 1].min())
        if stance.side < 2 and level > floor + _STONE_M:
            away = np.maximum(sketch.times[stance.start] - sketch.times, sketch.times - sketch.times[stance.stop - 1])
            above = level + CLEAR_M - _COMES_M_S * np.maximum(away, 0.0)
            heights[:, mine] = np.maximum(heights[:, mine], above[:, None])
    for stance, spot in zip(sketch.stances, sketch.footprints, strict=True):
        # The rest of a foot that stands may lie on what it stands on, as stiff as the foot is.
        if stance.side < 2:
            level = float(spot[:, 1].min())
            heights[stance.start : stance.stop, legs.sides[stance.side]] = level - _SINK_M
    return heights


def _with_room(dofs: Dofs, poses: Floats) -> Dofs:
    """The body with joint limits that key poses (M, n) keep, which in the space of examples may be a little beyond."""
    low, high = poses.min(axis=0) - _ROOM_RAD, poses.max(axis=0) + _ROOM_RAD
    return replace(dofs, lower=np.minimum(dofs.lower, low), upper=np.maximum(dofs.upper, high))


def _held_legs(basis: PoseBasis, held: Flags, legs: Legs) -> Flags:
    """Which of the legs' own coordinates the contacts settle: those of legs whose foot stands with heel and ball."""
    out = np.zeros(len(basis.legs), bool)
    for side in (0, 1):
        if held[legs.sides[side]].all():
            out |= np.isin(basis.legs, legs.legs[side])
    return out


def _guess(sketch: Sketch, states: Floats, nodes: list[int], d: int) -> Floats:
    """Straight lines between key poses; yaw, lean and pitch change in the air only, where there is a flight."""
    grid = np.arange(sketch.nodes)
    out = np.stack([np.interp(grid, nodes, states[:, c]) for c in range(states.shape[1])], axis=1)
    air = np.zeros(sketch.nodes)
    for start, stop in sketch.flights():
        air[start:stop] = 1.0
    if 1 < air.sum() < sketch.nodes:
        share = np.cumsum(air) - air[0]
        share = share / share[-1]
        for c in range(d + 3, d + 6):
            out[:, c] = states[0, c] + share * (states[-1, c] - states[0, c])
    return out


def _stand(guess: Floats, basis: PoseBasis, legs: Legs, held: Flags, targets: Floats, given: Flags) -> Floats:
    """The guess with legs bent so that standing feet are about where they shall be, and swung in between."""
    d, count = basis.space.dimensions, len(guess)
    wanted = sorted({0, count - 1, *np.flatnonzero(given.any(axis=1)).tolist()})
    free = np.asarray(held.any(axis=1))
    edges = np.flatnonzero((held[1:] != held[:-1]).any(axis=1))
    wanted = sorted({*wanted, *(edges + 1).tolist(), *edges.tolist(), *range(0, count, 4)})
    adds, at = [], []
    for k in wanted:
        if given[k].any():
            adds.append(np.zeros(guess.shape[1]))
            at.append(k)
        elif free[k]:
            q = basis.coordinates(guess[k])
            bent = legs.near(q, held[k], targets[k])
            change = np.zeros(guess.shape[1])
            change[d:] = (bent - q)[basis.picks]
            adds.append(change)
            at.append(k)
    grid, parts = np.arange(count), np.array(adds)
    return np.asarray(guess + np.stack([np.interp(grid, at, parts[:, c]) for c in range(guess.shape[1])], axis=1))


def _pushing(held: Flags) -> Flags:
    """Which held points push: none at the node where it comes down or lifts off, unless nothing else would push.

    Otherwise the solver cheats the grid, with a spike of force at the last node of a contact.
    """
    out = np.array(held)
    count = len(held)
    for p in range(held.shape[1]):
        column = held[:, p]
        edges = np.flatnonzero(np.diff(np.concatenate([[False], column, [False]]).astype(np.int8)))
        for start, stop in zip(edges[::2], edges[1::2], strict=True):
            if stop - start < 3:
                continue
            if start > 0:
                out[start, p] = False
            if stop < count:
                out[stop - 1, p] = False
    on = np.asarray(held.any(axis=1))
    for k in np.flatnonzero(on & ~out.any(axis=1)):
        beside_air = (k > 0 and not on[k - 1]) or (k + 1 < count and not on[k + 1])
        if not beside_air:
            out[k] = held[k]
    return out
