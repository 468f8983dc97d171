"""The interpolated motion graph: nodes are clusters of poses at events, edges are primitives that begin in such a pose.

Compression comes in two steps, both reversible since the primitives it culls stay listed: of primitives that lead to
the same the cheapest stays, and poses that are alike are one node. Recorded steps always stay.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from choreograph.base.arrays import Flags, Floats, Floats32, Ints, Ints32
from choreograph.verbs.plan.primitives import Primitives, PrimitiveTable

EASE_S = 0.3
"""Time over which the mismatch of two poses is eased."""
MISMATCH_EFFORT = 6 * 12 / EASE_S**3
"""Effort per square metre of mismatch, 1/s³: six times that of a cubic that closes it over that time, since poses on
the way are like none that were recorded, and feet that are held make them less so."""


GROUP_M = 0.12
"""Radius of the coarse clusters."""
ALIKE_M = 0.09
"""Radius of the clusters that share cells of the lattice: poses that may follow each other."""


@dataclass(frozen=True)
class Tolerances:
    """What counts as the same in compression, and how far poses may be apart where steps follow each other."""

    place_m: float = 0.05
    heading_deg: float = 6.0
    time_s: float = 0.05
    pose_m: float = 0.035
    node_m: float = 0.03
    """Radius of the clusters of poses, root-mean-square per joint."""
    join_m: float = 0.09
    """A step may follow where its first pose is within this of the cluster."""


@dataclass(frozen=True, eq=False)
class Network:
    """Primitives, the nodes they lead to, and which may follow at each node."""

    primitives: Primitives
    outcome: Floats
    """(P, 3), yaw, x, z."""
    seconds: Floats
    """(P,)."""
    costs: Floats
    """(P, 4), by objective."""
    target: Ints
    """Node that each leads to, (P,)."""
    kind: Ints
    """Kind of the event that each node is, (N,)."""
    hips: Floats
    """Where the hips of a node's leading pose are in the event's frame, x, z, and where they face, (N, 3)."""
    group: Ints
    """Coarser clusters of nodes, (N,): a first answer is looked for among them."""
    alike: Ints
    """Clusters of nodes that share cells of the lattice, (N,)."""
    first: Ints
    """Where each node's edges begin, (N + 1,)."""
    edge: Ints32
    """Primitive of each edge, (E,)."""
    mismatch: Floats32
    """Distance of the node's pose from the primitive's first, (E,), metres."""

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return len(self.kind)

    def edge_costs(self, objective: int) -> Floats:
        """What each edge costs: its primitive, and what easing the mismatch does, (E,)."""
        own = self.costs[:, objective]
        scale = float(np.median(own / np.maximum(self.costs[:, 0], 1e-9))) if len(own) else 1.0
        eased = MISMATCH_EFFORT * self.mismatch.astype(float) ** 2
        return np.asarray(own[self.edge] + eased * scale)

    def only(self, rows: Flags) -> Network:
        """The network with the edges of these primitives alone; nodes and primitives keep their numbers."""
        edges = rows[self.edge]
        source = np.repeat(np.arange(self.nodes), np.diff(self.first))[edges]
        return Network(
            self.primitives, self.outcome, self.seconds, self.costs, self.target, self.kind, self.hips, self.group,
            self.alike, np.searchsorted(source, np.arange(self.nodes + 1)).astype(np.int64), self.edge[edges],
            self.mismatch[edges],
        )  # fmt: skip


def compress(table: PrimitiveTable, primitives: Primitives, tolerances: Tolerances) -> Ints:
    """The primitives that stay, ascending: all recorded steps, and blends that do what no cheaper one does."""
    from choreograph.verbs.plan import _compiled_network

    if not len(primitives):
        return np.zeros(0, np.int64)
    cost = primitives.mix(table.costs)[:, 0]
    order = np.lexsort((cost, ~primitives.raw))
    poses = np.concatenate([primitives.mix(table.start_pose), primitives.mix(table.stop_pose)], axis=1) / np.sqrt(2)
    stands = _compiled_network.cull(
        order,
        table.sort[primitives.steps[:, 0]],
        primitives.raw,
        primitives.outcomes(table),
        primitives.mix(table.seconds),
        poses,
        np.array([tolerances.place_m, np.radians(tolerances.heading_deg), tolerances.time_s]),
        tolerances.pose_m,
    )
    return np.flatnonzero(stands == np.arange(len(stands)))


def connect(table: PrimitiveTable, primitives: Primitives, tolerances: Tolerances) -> Network:
    """Nodes of the poses that primitives end in, and edges where primitives can follow."""
    from choreograph.verbs.plan import _compiled_network

    begins, ends = primitives.mix(table.start_pose), primitives.mix(table.stop_pose)
    kinds = table.kinds[primitives.steps[:, 0]]
    leaders, target = _compiled_network.gather(ends, kinds[:, 1], tolerances.node_m)
    centres = ends[leaders]
    first, edges, gaps = [0], [], []
    squares = (begins**2).sum(axis=1)
    for low in range(0, len(leaders), 512):
        some = centres[low : low + 512]
        apart = np.sqrt(np.maximum((some**2).sum(axis=1)[:, None] + squares - 2 * some @ begins.T, 0.0))
        apart[kinds[leaders[low : low + 512], 1][:, None] != kinds[None, :, 0]] = np.inf
        rows, columns = np.nonzero(apart <= tolerances.join_m)
        edges.append(columns.astype(np.int32))
        gaps.append(apart[rows, columns].astype(np.float32))
        first += (first[-1] + np.cumsum(np.bincount(rows, minlength=len(some)))).tolist()
    return Network(
        primitives,
        primitives.outcomes(table),
        primitives.mix(table.seconds),
        primitives.mix(table.costs),
        target,
        kinds[leaders, 1],
        _hips(table, primitives, leaders),
        _compiled_network.gather(centres, kinds[leaders, 1], GROUP_M)[1],
        _compiled_network.gather(centres, kinds[leaders, 1], ALIKE_M)[1],
        np.array(first, np.int64),
        np.concatenate([np.zeros(0, np.int32), *edges]),
        np.concatenate([np.zeros(0, np.float32), *gaps]),
    )


def _hips(table: PrimitiveTable, primitives: Primitives, rows: Ints) -> Floats:
    """Where hips are and face at the end of primitives, in the last event's frame: x, z, yaw, (N, 3)."""
    some = primitives.take(rows)
    last = table.sample_first[1:] - 1
    return hips_in(some.outcomes(table), some.mix(table.samples[last, 0][:, [0, 2]].astype(float)),
                   mix_turns(some, table.facing[last].astype(float)))  # fmt: skip


def mix_turns(primitives: Primitives, yaw: Floats) -> Floats:
    """Weighted headings of steps (N,) as headings of primitives (P,), averaged on the short way round."""
    out = np.zeros(len(primitives), complex)
    for k in range(3):
        out += np.where(
            primitives.steps[:, k] >= 0, primitives.weights[:, k] * np.exp(1j * yaw[primitives.steps[:, k]]), 0
        )
    return np.asarray(np.angle(out))


def hips_in(frame: Floats, place: Floats, facing: Floats) -> Floats:
    """Places (N, 2) and headings (N,) as seen from frames (N, 3): x, z, yaw."""
    cos, sin = np.cos(frame[:, 0]), np.sin(frame[:, 0])
    dx, dz = place[:, 0] - frame[:, 1], place[:, 1] - frame[:, 2]
    return np.stack([dx * cos - dz * sin, dx * sin + dz * cos, np.angle(np.exp(1j * (facing - frame[:, 0])))], axis=1)
