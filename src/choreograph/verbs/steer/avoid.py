"""Keeping clear of what moves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from choreograph.base.arrays import Flags, Floats
from choreograph.verbs.steer.basis import Dimension
from choreograph.verbs.steer.goals import MovingObstacle
from choreograph.verbs.steer.tasks import CompiledTask

MOST_OBSTACLES = 4
"""Obstacles that count at one time, the nearest."""
FASTEST_M_S = 2.0
"""Obstacles that move faster are taken to move so fast."""


@dataclass(frozen=True)
class Avoid(CompiledTask):
    """Keep clear of something that moves.

    Where that is and how it moves decide one thing above all: how near it would pass if both went on as they go, and
    when. So these are the first two numbers of the state; a spline over places and velocities would have to follow the
    narrow ridge of those that meet slantwise through four dimensions.
    """

    name: ClassVar[str] = "avoid"
    kernels: ClassVar[str] = "_compiled_avoid"
    by_gait: ClassVar[bool] = False
    mirror: ClassVar[tuple[int, ...]] = (-1, 1, -1, 1)

    obstacle_weight: float = 30.0
    pace_m_s: float = 1.2
    """How fast a character that goes on is taken to walk."""
    radius_m: float = 0.6
    """Sum of the radii; obstacles of another size are moved nearer or farther by as much."""
    margin_m: float = 0.5
    """How far from its rim an obstacle begins to cost."""
    turning_weight: float = 1.0
    """Cost of a turn by 1 rad. Whoever has a direction to go in pays for every turn away from it, as long as it lasts:
    without that, to turn round and flee, or to wait for that, would be worth as much here as to step aside."""
    parts: int = 4
    """Moments of a step at which the distance is taken."""

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        """How far to the left of the obstacle's way the character is (m, see `met`), how far away that is (m), the
        direction that the obstacle comes from (rad, 0 is ahead), and the speed at which it comes (m/s)."""
        return (
            Dimension("miss", -2.2, 2.2, 10, warp=0.8),
            Dimension("away", -1.2, 6.0, 8),
            Dimension("bearing", -math.pi, math.pi, 8, periodic=True),
            Dimension("speed", 0.0, FASTEST_M_S + self.pace_m_s, 4),
        )

    @property
    def numbers(self) -> Floats:
        """What its kernels have to know of it, (6,)."""
        numbers = self.obstacle_weight, self.radius_m, self.margin_m, self.turning_weight, self.parts, self.pace_m_s
        return np.array(numbers, float)

    def known(self, after: Floats) -> Flags:
        """Whether the obstacle is near enough to count."""
        inside = [(one.low <= after[:, k]) & (after[:, k] <= one.high) for k, one in enumerate(self.dimensions[:2])]
        return inside[0] & inside[1]

    def met(self, seen: Floats) -> Floats:
        """The states (N, 4) of obstacles that are seen so: place to the left and ahead, and velocity, likewise."""
        x, z, u, v = seen.T[0], seen.T[1], seen.T[2], seen.T[3] - self.pace_m_s
        bearing = np.arctan2(-u, -v)
        cos, sin = np.cos(bearing), np.sin(bearing)
        return np.stack([x * cos - z * sin, x * sin + z * cos, bearing, np.hypot(u, v)], axis=1)

    def seen(self, state: Floats) -> Floats:
        """Place and velocity (4,) of the obstacle of a state."""
        miss, away, bearing, speed = state
        cos, sin = math.cos(bearing), math.sin(bearing)
        return np.array(
            [away * sin + miss * cos, away * cos - miss * sin, -speed * sin, self.pace_m_s - speed * cos], float
        )

    def moved(self, state: Floats, moves: Floats, seconds: Floats) -> Floats:
        """Where the obstacle is after each step, seen from the character."""
        left, ahead, vx, vz = self.seen(state)
        x, z = left + vx * seconds - moves[:, 1], ahead + vz * seconds - moves[:, 2]
        cos, sin = np.cos(moves[:, 0]), np.sin(moves[:, 0])
        seen = np.stack([x * cos - z * sin, x * sin + z * cos, vx * cos - vz * sin, vx * sin + vz * cos], axis=1)
        return self.met(seen)

    def cost(self, state: Floats, after: Floats, moves: Floats, seconds: Floats) -> Floats:
        """How near it comes, over the step, and how far the character turns."""
        near, (left, ahead, vx, vz) = np.zeros(len(moves)), self.seen(state)
        for k in range(1, self.parts + 1):
            s = k / self.parts
            x = left + s * (vx * seconds - moves[:, 1])
            z = ahead + s * (vz * seconds - moves[:, 2])
            near += np.clip(1 - (np.hypot(x, z) - self.radius_m) / self.margin_m, 0.0, 1.3) ** 2
        return np.asarray(
            self.obstacle_weight * seconds * near / self.parts + self.turning_weight * np.abs(moves[:, 0])
        )


def obstacle_states(obstacles: Sequence[MovingObstacle], place: Floats, wait_s: float, task: Avoid) -> list[Floats]:
    """Obstacles that are near, nearest first, as the task avoid sees them: place and velocity of each in the
    character's own frame.

    Args:
        obstacles: Where they are now.
        place: Where the character will be: heading, x, z.
        wait_s: Time until it is there, seconds.
        task: Says how far away they begin to count, and what size it knows.
    """
    states = []
    cos, sin = math.cos(place[0]), math.sin(place[0])
    for one in obstacles:
        x, z = one.x + wait_s * one.vx - place[1], one.z + wait_s * one.vz - place[2]
        away = max(math.hypot(x, z), 1e-6)
        # One that is larger than those the task knows is as good as nearer.
        nearer = max(away - (one.radius - task.radius_m), 0.01) / away
        x, z = nearer * x, nearer * z
        speed = math.hypot(one.vx, one.vz)
        slow = min(1.0, FASTEST_M_S / speed) if speed > 0 else 1.0
        vx, vz = slow * one.vx, slow * one.vz
        seen = np.array([x * cos - z * sin, x * sin + z * cos, vx * cos - vz * sin, vx * sin + vz * cos])
        state = task.met(seen[None])
        if task.known(state)[0]:
            states.append((away, state[0]))
    return [state for _, state in sorted(states, key=lambda pair: pair[0])[:MOST_OBSTACLES]]
