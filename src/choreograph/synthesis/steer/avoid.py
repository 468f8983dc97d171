"""Keeping clear of what moves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from choreograph.synthesis.steer.basis import Dimension
from choreograph.synthesis.steer.goals import MovingObstacle
from choreograph.synthesis.steer.tasks import CompiledTask

Array = NDArray[np.float64]

MOST_OBSTACLES = 4
"""Obstacles that count at one time, the nearest."""


@dataclass(frozen=True)
class Avoid(CompiledTask):
    """Keep clear of something that moves: its state is where that is, to the left and ahead, and its velocity."""

    name: ClassVar[str] = "avoid"
    kernels: ClassVar[str] = "_compiled_avoid"
    by_gait: ClassVar[bool] = False
    mirror: ClassVar[tuple[int, ...]] = (-1, 1, -1, 1)

    obstacle_weight: float = 30.0
    radius_m: float = 0.6
    """Sum of the radii; obstacles of another size are moved nearer or farther by as much."""
    margin_m: float = 0.5
    """How far from its rim an obstacle begins to cost."""
    turning_weight: float = 0.2
    """Cost of a turn by 1 rad: what makes a small turn early better than a large one late."""
    parts: int = 4
    """Moments of a step at which the distance is taken."""

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        """Place to the left and ahead (m), velocity to the left and ahead (m/s)."""
        return (
            Dimension("left", -3.5, 3.5, 8, warp=1.0),
            Dimension("ahead", -2.5, 6.5, 9),
            Dimension("speed_left", -2.0, 2.0, 5),
            Dimension("speed_ahead", -2.0, 2.0, 5),
        )

    @property
    def numbers(self) -> Array:
        """What its kernels have to know of it, (5,)."""
        return np.array([self.obstacle_weight, self.radius_m, self.margin_m, self.turning_weight, self.parts], float)

    def known(self, after: Array) -> NDArray[np.bool_]:
        """Whether the obstacle is near enough to count."""
        inside = [(one.low <= after[:, k]) & (after[:, k] <= one.high) for k, one in enumerate(self.dimensions[:2])]
        return inside[0] & inside[1]

    def moved(self, state: Array, moves: Array, seconds: Array) -> Array:
        """Where the obstacle is after each step, seen from the character."""
        x, z = state[0] + state[2] * seconds - moves[:, 1], state[1] + state[3] * seconds - moves[:, 2]
        cos, sin = np.cos(moves[:, 0]), np.sin(moves[:, 0])
        vx, vz = state[2], state[3]
        return np.stack([x * cos - z * sin, x * sin + z * cos, vx * cos - vz * sin, vx * sin + vz * cos], axis=1)

    def cost(self, state: Array, after: Array, moves: Array, seconds: Array) -> Array:
        """How near it comes, over the step, and how far the character turns."""
        near = np.zeros(len(moves))
        for k in range(1, self.parts + 1):
            s = k / self.parts
            x = state[0] + s * (state[2] * seconds - moves[:, 1])
            z = state[1] + s * (state[3] * seconds - moves[:, 2])
            near += np.clip(1 - (np.hypot(x, z) - self.radius_m) / self.margin_m, 0.0, 1.3) ** 2
        return np.asarray(
            self.obstacle_weight * seconds * near / self.parts + self.turning_weight * np.abs(moves[:, 0])
        )


def obstacle_states(obstacles: Sequence[MovingObstacle], place: Array, wait_s: float, task: Avoid) -> list[Array]:
    """Obstacles that are near, nearest first, as the task avoid sees them: place and velocity of each in the
    character's own frame.

    Args:
        obstacles: Where they are now.
        place: Where the character will be: heading, x, z.
        wait_s: Time until it is there, seconds.
        task: Says how far away they begin to count, and what size it knows.
    """
    found = []
    cos, sin = math.cos(place[0]), math.sin(place[0])
    for one in obstacles:
        x, z = one.x + wait_s * one.vx - place[1], one.z + wait_s * one.vz - place[2]
        away = max(math.hypot(x, z), 1e-6)
        # One that is larger than those the task knows is as good as nearer.
        nearer = max(away - (one.radius - task.radius_m), 0.01) / away
        x, z = nearer * x, nearer * z
        speed = math.hypot(one.vx, one.vz)
        slow = min(1.0, 2.0 / speed) if speed > 0 else 1.0
        vx, vz = slow * one.vx, slow * one.vz
        state = np.array([x * cos - z * sin, x * sin + z * cos, vx * cos - vz * sin, vx * sin + vz * cos])
        if task.known(state[None])[0]:
            found.append((away, state))
    return [state for _, state in sorted(found, key=lambda pair: pair[0])[:MOST_OBSTACLES]]
