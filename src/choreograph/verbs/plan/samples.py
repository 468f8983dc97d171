"""Samples of primitives, at which constraints are tested, and how far hips are from where their nodes have them."""

from __future__ import annotations

import numpy as np

from choreograph.base.arrays import Bytes, Floats, Floats32, Ints
from choreograph.verbs.plan.network import Network, hips_in, mix_turns
from choreograph.verbs.plan.primitives import Primitives, PrimitiveTable


def mix_samples(primitives: Primitives, table: PrimitiveTable) -> tuple[Ints, Floats32, Floats32, Bytes]:
    """Samples of primitives: where each one's begin, points, facings and feet that stand."""
    counts = np.diff(table.sample_first)[primitives.steps[:, 0]]
    first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    inside = np.arange(first[-1]) - np.repeat(first[:-1], counts)
    rows = np.repeat(table.sample_first[primitives.steps[:, 0]], counts) + inside
    weight = np.repeat(primitives.weights[:, 0], counts)
    cloud = weight[:, None, None].astype(np.float32) * table.samples[rows]
    base = table.facing[rows].astype(float)
    facing = base.copy()
    for k in (1, 2):
        step = np.repeat(primitives.steps[:, k], counts)
        has = np.flatnonzero(step >= 0)
        other = table.sample_first[step[has]] + inside[has]
        share = np.repeat(primitives.weights[:, k], counts)[has]
        cloud[has] += share[:, None, None].astype(np.float32) * table.samples[other]
        facing[has] += share * np.angle(np.exp(1j * (table.facing[other].astype(float) - base[has])))
    return first, cloud.astype(np.float32), facing.astype(np.float32), table.planted[rows]


def discs(first: Ints, cloud: Floats32, radius: float) -> Floats:
    """A circle on the floor for each primitive that its body never leaves: x, z, radius, (P, 3).

    Args:
        first: Where each primitive's samples begin, (P + 1,).
        cloud: Points at samples, (S, POINTS, 3).
        radius: Of the thickest capsule.
    """
    flat = cloud[..., [0, 2]].astype(float)
    low = np.minimum.reduceat(flat.min(axis=1), first[:-1])
    high = np.maximum.reduceat(flat.max(axis=1), first[:-1])
    middle = (low + high) / 2
    away = np.hypot(*(flat - np.repeat(middle, np.diff(first), axis=0)[:, None]).transpose(2, 0, 1)).max(axis=1)
    return np.column_stack([middle, np.maximum.reduceat(away, first[:-1]) + radius])


def lattice_slack(network: Network, table: PrimitiveTable) -> tuple[float, float, float]:
    """How far hips at the end of primitives are from those of their nodes, metres and radians, and from the event."""
    primitives, last = network.primitives, table.sample_first[1:] - 1
    place = primitives.mix(table.samples[last, 0][:, [0, 2]].astype(float))
    own = hips_in(network.outcome, place, mix_turns(primitives, table.facing[last].astype(float)))
    node = network.hips[network.target]
    away = np.hypot(*(own - node)[:, :2].T)
    turn = np.abs(np.angle(np.exp(1j * (own - node)[:, 2])))
    return float(away.max(initial=0.0)), float(turn.max(initial=0.0)), float(np.hypot(*node[:, :2].T).max(initial=0.0))
