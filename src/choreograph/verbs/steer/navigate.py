"""Keeping to a line: the task that is asked for most, with a look at the step after the next."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from choreograph.base.arrays import Floats, Ints
from choreograph.verbs.steer.basis import Dimension
from choreograph.verbs.steer.costs import Ahead
from choreograph.verbs.steer.tasks import CompiledTask, wrapped

DEEP = 6
"""Steps that are weighed by their best next step, the best ones. What is learned of half turns is not exact, and one
step turns by little: a step more tells who begins to turn from who walks on."""
NEAR_M = 1.5
"""Offset up to which the value function says how to come to the line. Farther away it hardly falls towards the line,
by less than it is off: what is learned for any gait does not know how long the wanted one takes to come there."""
_WALK_M_S = 1.0
"""Speed at which one comes to a line from far away, about."""
_LEAST_RAD = math.radians(30.0)
"""Angle to the line at which a character comes nearer at least, however much directions count."""


@dataclass(frozen=True)
class Navigate(CompiledTask):
    """Keep to a line: its state is the offset to the left of it, the angle of travel against it, and its curvature."""

    name: ClassVar[str] = "navigate"
    kernels: ClassVar[str] = "_compiled_navigate"
    deep: ClassVar[int] = DEEP
    mirror: ClassVar[tuple[int, ...]] = (-1, -1, -1)

    deviation_weight: float = 1.0
    direction_weight: float = 1.0
    horizon_s: float = 4.0
    offset_m: float = 4.0
    """Bound of the offset."""
    curvature: float = 1.0
    """Bound of the curvature, 1/m."""

    @property
    def dimensions(self) -> tuple[Dimension, ...]:
        """Offset (m), angle (rad), curvature (1/m)."""
        return (
            Dimension("offset", -self.offset_m, self.offset_m, 9, warp=0.4),
            Dimension("angle", -math.pi, math.pi, 16, periodic=True, warp=0.3),
            Dimension("curvature", -self.curvature, self.curvature, 5),
        )

    @property
    def slope(self) -> float:
        """What each metre beyond the bound of the offset costs."""
        return self.deviation_weight * self.horizon_s

    @property
    def numbers(self) -> Floats:
        """Weights of deviation and direction, and the slope beyond the bound, (3,)."""
        return np.array([self.deviation_weight, self.direction_weight, self.slope])

    @property
    def direction(self) -> float:
        """What a second costs in a direction 1 rad off."""
        return self.direction_weight

    def beyond(self, after: Floats, cuts: Ints, own: Ahead) -> Floats:
        """What no spline tells, (A,): offsets beyond the bound, as if each metre stayed for as long as the horizon is;
        and turning back, which has a ridge at half a turn, where left and right are as good, and depends on whether
        the recording turns at that cut."""
        offsets = self.slope * np.maximum(np.abs(after[:, 0]) - self.offset_m, 0.0)
        return np.asarray(offsets + own.turning_at(cuts, after[:, 1]))

    @property
    def approach(self) -> float:
        """Angle to the line at which one comes nearer from far away, radians: the one that costs least, where a second
        1 rad off costs as much as it saves later to be nearer by what one walks in it."""
        worth = self.slope * _WALK_M_S
        cos = self.direction_weight / worth if worth > 0 else 1.0
        return max(math.acos(min(cos, 1.0)), _LEAST_RAD)

    def led(self, state: Floats) -> Floats:
        """What to keep to at an offset, angle and curvature, (3,): the line itself where it is near; else a straight
        line from where the character is that comes nearer to it. What is learned is most exact on a line."""
        offset, angle, _ = state
        if abs(offset) <= NEAR_M:
            return state
        return np.array([0.0, wrapped(angle + math.copysign(self.approach, offset)), 0.0])

    def moved(self, state: Floats, moves: Floats, seconds: Floats) -> Floats:
        """Offset and angle to a line of constant curvature."""
        offset, angle, curvature = state
        yaw, x, z = moves.T
        cos, sin = math.cos(angle), math.sin(angle)
        left, ahead = offset + x * cos + z * sin, -x * sin + z * cos
        turned = np.zeros(len(moves))
        if abs(curvature) >= 1e-4:
            side = math.copysign(1.0, curvature)
            across = 1 / curvature - left
            turned = side * np.arctan2(ahead, side * across)
            left = side * (abs(1 / curvature) - np.hypot(across, ahead))
        return np.stack([left, wrapped(angle + yaw - turned), np.full(len(moves), curvature)], axis=1)

    def _rate(self, offset: Floats, angle: Floats) -> Floats:
        return self.deviation_weight * (np.sqrt(offset**2 + 0.0025) - 0.05) + self.direction_weight * np.abs(angle)

    def cost(self, state: Floats, after: Floats, moves: Floats, seconds: Floats) -> Floats:
        """Deviation and direction, over the step."""
        both = self._rate(state[0], state[1]) + self._rate(after[:, 0], after[:, 1])
        return np.asarray(0.5 * seconds * both)
