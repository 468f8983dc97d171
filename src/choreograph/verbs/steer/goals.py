"""What a character is to do from a moment on: a line, a speed, a label; and what it is to keep clear of."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from numbers import Real

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.base.errors import RequestError
from choreograph.scene.obstacle_file import MAX_RADIUS_M
from choreograph.scene.path import Path
from choreograph.verbs.steer.costs import StepObjective

LOOK_M = 1.2
"""How far ahead of a character a path's curvature is taken."""
_AS_NEAR_M = 0.3
"""Places of a path that are farther than the nearest by less are as good to begin at: the first of them is taken."""
_AHEAD_M = 2.5
"""How far ahead of where it was last a character looks for its place on a path."""
_SEAM_M = 0.1
"""How far apart the ends of a closed path may be."""


@dataclass(frozen=True)
class SteerGoal:
    """What is wanted from a moment on; None for anything.

    >>> SteerGoal(heading=0.0, speed=1.2).speed
    1.2
    """

    x: float | None = None
    """With z: a point of the line to keep to, metres; None for the place where the character is."""
    z: float | None = None
    heading: float | None = None
    """Direction of the line, radians from +z towards +x; None to go on as it is."""
    speed: float | None = None
    """m/s."""
    label: str | None = None
    """A label of the steps, or stand, walk, run."""
    torso: float | None = None
    """Where the torso faces against the line's direction, radians."""
    turn: float | None = None
    """How fast to turn, rad/s; of the line only x and z count then: the place to turn at."""
    path: Path | None = field(default=None, compare=False)
    """A drawn line to follow instead of a straight one; straight on behind its end."""

    def __post_init__(self) -> None:
        for name in ("x", "z", "heading", "speed", "torso", "turn"):
            value = getattr(self, name)
            if value is not None and not (isinstance(value, Real) and math.isfinite(value)):
                raise RequestError(f"a goal's {name} is {value}; it must be a number, or left out", where=name)
        if self.speed is not None and not 0 <= self.speed <= 20:
            raise RequestError(f"a goal's speed is {self.speed:g} m/s; it must be from 0 to 20", where="speed")
        if (self.x is None) != (self.z is None):
            raise RequestError("a goal has x and z, or neither", where="x")

    @property
    def objective(self) -> StepObjective:
        """What every step should be like, wherever the character is."""
        return StepObjective(self.speed, self.label, self.torso, self.turn)

    @property
    def circle_m(self) -> float:
        """Distance from its place that a character who walks while turning may have: across the circle of speed and
        rate."""
        if not self.turn or not self.speed:
            return 0.0
        return 2 * self.speed / abs(self.turn)

    def laid(self, place: Floats) -> SteerGoal:
        """The goal with what it leaves open about its line taken from where the character is (yaw, x, z)."""
        heading = float(place[0]) if self.heading is None else self.heading
        x, z = (float(place[1]), float(place[2])) if self.x is None else (self.x, self.z)
        return replace(self, x=x, z=z, heading=heading)


class Line:
    """A goal's line as a character keeps to it: remembers how far along a path it has come, and in which round."""

    def __init__(self, goal: SteerGoal) -> None:
        self.goal = goal
        self._at = 0
        """Number of the sampled point that the character has come to, counted on from round to round."""
        self._first = True
        if goal.path is not None:
            self._points = goal.path.sampled(min(0.05, goal.path.length / 10))
            self._step = goal.path.length / (len(self._points) - 1)
            self._closed = _is_closed(goal.path)

    def state(self, place: Floats) -> Floats:
        """Offset to the left (m), angle of travel against the line (rad) and curvature (1/m) at yaw, x and z."""
        if self.goal.path is None:
            assert self.goal.heading is not None and self.goal.x is not None and self.goal.z is not None
            heading, x, z, curvature = self.goal.heading, self.goal.x, self.goal.z, 0.0
        else:
            heading, x, z, curvature = self._on_path(self.goal.path, place)
        # Left of the direction (sin h, cos h) is (cos h, -sin h).
        offset = (place[1] - x) * math.cos(heading) - (place[2] - z) * math.sin(heading)
        angle = (place[0] - heading + math.pi) % (2 * math.pi) - math.pi
        return np.array([offset, angle, curvature])

    def _on_path(self, path: Path, place: Floats) -> tuple[float, float, float, float]:
        step, last = self._step, len(self._points) - 1
        if self._first:
            numbers = np.arange(last + 1)
        else:
            ahead = min(_AHEAD_M, path.length / 2) if self._closed else _AHEAD_M
            numbers = np.arange(self._at, self._at + int(ahead / step) + 2)
            numbers = numbers if self._closed else numbers[numbers <= last]
        points = self._points[numbers % last if self._closed else numbers]
        gaps = np.hypot(points[:, 0] - place[1], points[:, 1] - place[2])
        low = 0
        if self._first:  # where a path comes by again, as a circle does, it is followed from the first time on
            near = gaps <= gaps.min() + _AS_NEAR_M
            low = int(near.argmax())
            gaps = gaps[low : low + int(np.argmin(np.append(near[low:], False)))]
        self._at, self._first = int(numbers[low + int(gaps.argmin())]), False
        along = min((self._at % last if self._closed else self._at) * step, path.length)
        at = along + np.array([0.0, 0.3, LOOK_M + 0.3])
        tangents = path.tangent(at % path.length if self._closed else np.minimum(at, path.length))
        headings = np.unwrap(np.arctan2(tangents[:, 0], tangents[:, 1]))
        over = at[2] > path.length and not self._closed
        curvature = 0.0 if over else float(headings[2] - headings[0]) / (at[2] - at[0])
        x, z = path.at(np.array([along]))[0]
        return float(headings[0]), float(x), float(z), curvature

    @property
    def ended(self) -> bool:
        """Whether a path's end is reached; a closed one has none."""
        return self.goal.path is not None and not self._closed and self._at >= len(self._points) - 1


def _is_closed(path: Path) -> bool:
    """Whether a path ends where it begins, and going on there takes no turn back."""
    first, last = path.tangent(np.array([0.0, path.length]))
    ends = path.at(np.array([0.0, path.length]))
    return float(np.hypot(*(ends[1] - ends[0]))) <= _SEAM_M and float(first @ last) >= 0.0


@dataclass(frozen=True)
class MovingObstacle:
    """A disc on the floor that moves."""

    x: float
    z: float
    radius: float
    vx: float = 0.0
    vz: float = 0.0
    """Velocity, m/s."""

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not math.isfinite(value):
                raise RequestError(f"an obstacle's {name} is {value}; it must be a number", where=name)
        if not 0 < self.radius <= MAX_RADIUS_M:
            raise RequestError(
                f"an obstacle's radius is {self.radius:g} m; it must be above 0 and at most {MAX_RADIUS_M:g}"
            )

    def at(self, seconds: float) -> MovingObstacle:
        """Where it will be."""
        return replace(self, x=self.x + seconds * self.vx, z=self.z + seconds * self.vz)


def obstacle_at(track: Floats, t: float) -> MovingObstacle | None:
    """An obstacle of a track at a moment; None while its radius is 0, for then it is not there."""
    k = max(int(np.searchsorted(track[:, 0], t, side="right")) - 1, 0)
    since, x, z, radius, vx, vz = track[k].tolist()
    if radius <= 0:
        return None
    passed = max(t, track[0, 0]) - since
    return MovingObstacle(x + vx * passed, z + vz * passed, radius, vx, vz)
