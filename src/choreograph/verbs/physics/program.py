"""Trajectory program: unknowns, constraints and objective of a motion that shall obey mechanics, as arrays.

Forces are in body weights, torques in body weights times metres, so that all constraints are of one size. The state y
is [basis coordinates (d, in standard deviations), root (6), what the legs add to the basis], a cubic B-spline over time
with a knot at each node (see `spline`); coordinates are q = q₀ + W y.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from choreograph.base.arrays import Flags, Floats, Indices, Ints32
from choreograph.dynamics.dofs import Dofs, tree_of
from choreograph.motion.facts import GRAVITY_M_S2
from choreograph.verbs.physics.panels import make_panels
from choreograph.verbs.physics.settings import USUAL_WEIGHTS, PhysicsWeights
from choreograph.verbs.physics.spline import NodeGrid

FOOT_POINTS = 4
"""Contact points of a foot; they stand together in all arrays of points."""
OBJECTIVE_SCALE = 50.0
"""Weight of the whole objective, against the constraints."""
_SMOOTHER = 5.0
"""Weight of accelerations in the first, kinematic stage, against the second's."""


@dataclass(frozen=True)
class Soft:
    """How much it matters that forces carry a motion and feet stay in place, where that cannot be demanded."""

    root: float = 400.0
    """Of squared forces and moments that nothing gives, beyond what is free, (BW)² and (BW·m)²."""
    free: float = 0.04
    """What may be left of them, BW and BW·m: as much as recordings leave."""
    places: float = 4e5
    """Of squared distances of held points from their places, m²."""


@dataclass(frozen=True, eq=False)
class TrajectoryProgram:
    """What is asked of a motion, at K nodes; P contact points; n coordinates; ny of the state."""

    dofs: Dofs
    basis: Floats
    """How coordinates depend on the state's first d entries, (n, d)."""
    picks: Ints32
    """Coordinates that the other entries of the state add to: the root's six, then the legs'."""
    origin: Floats
    """q₀, (n,)."""
    times: Floats
    """Of the nodes, (K,), seconds; the first is 0."""
    active: Flags
    """Which points push, (K, P)."""
    held: Flags
    """Which points are kept at their targets, (K, P)."""
    targets: Floats
    """(K, P, 3), metres."""
    floor: Floats
    """Height that each point must not fall below while it is not held, (K, P), metres."""
    pose_mask: Flags
    """Which entries of the state are given, (K, ny)."""
    pose_values: Floats
    base: Floats
    """State that the objective pulls to, (K, ny)."""
    pull: Floats
    """How much the state's squared distance from that counts, (ny,)."""
    holders: Ints32
    """The degree of freedom that carries each point, (P,)."""
    offsets: Floats
    """The points in that one's frame, (P, 3)."""
    torque_limits: Floats
    """(n,), BW·m; infinite for the root."""
    guess: Floats
    """State at the nodes from which the search begins, (K, ny)."""
    second_guess: Floats | None = None
    """Another, for where the first leads nowhere, (K, ny)."""
    friction: float = 0.8
    most_force: float = 0.9
    """Of one point, BW."""
    most_alone: float = 2.76
    """Of a foot that carries all alone, BW."""
    most_together: float = np.inf
    """Of both feet together, BW."""
    force_rate: float | None = None
    """Of the change of one point's upward force, BW/s, at most."""
    weights: PhysicsWeights = USUAL_WEIGHTS
    level: float = 0.0
    """Height of the floor itself, metres."""
    course: Floats | None = None
    """Coefficients (K + 2, n) of a spline that moves along, which the state adds to instead of q₀."""
    soft: Soft | None = None
    """Where mechanics and contacts are wishes rather than constraints."""

    @property
    def nodes(self) -> int:
        """K."""
        return len(self.active)

    @cached_property
    def w(self) -> Floats:
        """W, (n, ny)."""
        rest = np.zeros((len(self.origin), len(self.picks)))
        rest[self.picks, np.arange(len(self.picks))] = 1.0
        return np.ascontiguousarray(np.concatenate([self.basis, rest], axis=1))

    @property
    def h(self) -> float:
        """Mean time between nodes, seconds."""
        return float(self.times[-1]) / max(self.nodes - 1, 1)

    @property
    def spline(self) -> NodeGrid:
        """The times as a grid."""
        return NodeGrid(self.times)

    @property
    def slope(self) -> float:
        """Of the sides of a friction pyramid inside of the cone."""
        return self.friction / np.sqrt(2)

    @cached_property
    def most_forces(self) -> Floats:
        """Of each point at each node, (K, P), BW: who carries a foot's load alone may carry more."""
        count, points = self.active.shape
        if points < 2 * FOOT_POINTS:
            return np.full(self.active.shape, self.most_force)
        on_feet = 2 * FOOT_POINTS
        feet = self.active[:, :on_feet].reshape(count, -1, FOOT_POINTS).sum(axis=2)
        most = self.most_force * np.clip((FOOT_POINTS - 1) / np.maximum(feet, 1), 1.0, 2.0)
        alone = np.asarray(((feet > 0).sum(axis=1) == 1) & ~self.active[:, on_feet:].any(axis=1))
        most[alone] = np.minimum(most[alone], self.most_alone / np.maximum(feet[alone], 1))
        hands = np.full((count, points - on_feet), self.most_force)
        return np.concatenate([np.repeat(most, FOOT_POINTS, axis=1), hands], axis=1)

    @cached_property
    def together(self) -> Flags:
        """Which points push at nodes at which both feet might bear too much together, (K, P)."""
        feet = np.array(self.active)
        feet[:, 2 * FOOT_POINTS :] = False
        if self.active.shape[1] >= 2 * FOOT_POINTS:
            both = feet[:, :FOOT_POINTS].any(axis=1) & feet[:, FOOT_POINTS:].any(axis=1)
            feet[~both | ((feet * self.most_forces).sum(axis=1) <= self.most_together)] = False
        else:
            feet[:] = False
        return feet

    @cached_property
    def offs(self) -> Ints32:
        """Where each block of unknowns begins, (K + 3,)."""
        ny = self.w.shape[1]
        sizes = np.full(self.nodes + 2, ny)
        sizes[1:-1] += 3 * self.active.sum(axis=1)
        return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return int(self.offs[-1])

    @cached_property
    def width(self) -> int:
        """Of the lower band, the diagonal among it."""
        reach = self.offs[3:] - self.offs[:-3] - (np.append(3 * self.active.sum(axis=1), 0)[1:])
        return int(reach.max())

    @cached_property
    def tree(self) -> tuple[Floats, ...]:
        """The body, with forces in body weights."""
        parts = list(tree_of(self.dofs))
        weight = self.dofs.body.weight
        parts[4], parts[6] = parts[4] / weight, parts[6] / weight
        return tuple(parts)

    @cached_property
    def spec(self) -> Any:
        """As the compiled kernels take it."""
        weights, scale = self.weights, OBJECTIVE_SCALE
        quad_y = 2 * scale * np.diag(self.pull)
        quad_a = 2 * scale * weights.acceleration * (self.w.T @ self.w)
        params = np.array([GRAVITY_M_S2, scale * weights.torque, scale * weights.rate, self.slope])
        course = self.course_at(self.times)
        return (
            self.tree, self.offs, self.w, np.array(course[0]), np.array(self.active),
            np.array(self.holders, np.int32), np.array(self.offsets),
            np.ascontiguousarray(self.basis), np.array(self.picks, np.int32), params,
            quad_y, np.ascontiguousarray(quad_a), np.array(self.base), np.array(course[1]), np.array(course[2]),
            self.spline.stencils, self.spline.spans, np.diff(self.times),
            *make_panels(self.dofs.ancestors, self.w, np.array(self.holders)),
        )  # fmt: skip

    @cached_property
    def kinematic_spec(self) -> Any:
        """The same without torques in the objective, and smoother: for a start that stands where it shall."""
        parts = list(self.spec)
        params = np.array(parts[9])
        params[1] = 0.0
        parts[9], parts[11] = params, _SMOOTHER * parts[11]
        return tuple(parts)

    def course_at(self, times: Floats) -> tuple[Floats, Floats, Floats]:
        """Coordinates that the state adds to, their velocities and accelerations at times (F,), each (F, n)."""
        if self.course is not None:
            return self.spline.at(self.course, times)
        still = np.zeros((len(times), len(self.origin)))
        return still + self.origin, still, still

    def coordinates(self, x: Floats, times: Floats) -> tuple[Floats, Floats, Floats]:
        """Coordinates of the body, their velocities and accelerations at times (F,), each (F, n)."""
        states = self.spline.at(self.coefficients(x), times)
        course = self.course_at(times)
        q, v, a = (there + state @ self.w.T for there, state in zip(course, states, strict=True))
        return q, v, a

    def start(self, guess: Floats | None = None) -> Floats:
        """The unknowns at a guess: a spline through its states, and the body's weight shared by who pushes."""
        x = np.zeros(self.size)
        coefficients = self.spline.through(self.guess if guess is None else guess)
        ny, offs = self.w.shape[1], self.offs
        for b in range(self.nodes + 2):
            x[offs[b] : offs[b] + ny] = coefficients[b]
        for k in range(self.nodes):
            count = int(self.active[k].sum())
            if count:
                x[offs[k + 1] + ny + 1 : offs[k + 2] : 3] = min(1.0 / count, 0.9 * self.most_force)
        return x

    def forces(self, x: Floats) -> Floats:
        """Forces at the nodes, (K, P, 3), BW; zero where a point does not push."""
        out = np.zeros((*self.active.shape, 3))
        out[self.active] = x[self._force_places].reshape(-1, 3)
        return out

    @cached_property
    def _force_places(self) -> Indices:
        """Where forces stand among the unknowns: node by node, point by point."""
        ny = self.w.shape[1]
        return np.concatenate([np.arange(self.offs[k + 1] + ny, self.offs[k + 2]) for k in range(self.nodes)])

    def coefficients(self, x: Floats) -> Floats:
        """Of the spline, (K + 2, ny)."""
        ny = self.w.shape[1]
        return np.array([x[o : o + ny] for o in self.offs[:-1]])
