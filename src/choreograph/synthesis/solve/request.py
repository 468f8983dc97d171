"""What can be asked of solving: a length, and what shall be where at which time.

Each object checks its own values; what needs a graph to be checked (clips, joints, labels) is checked when the search
begins. Errors name the constraint by its place in the request, such as body[1].position.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from choreograph.errors import RequestError

if TYPE_CHECKING:
    from choreograph.synthesis.solve.functions import MotionView

Point = tuple[float, float]


class Plain:
    """A dataclass that keeps arrays and lists as tuples, and NumPy's numbers as Python's."""

    def __post_init__(self) -> None:
        for entry in fields(self):  # type: ignore[arg-type]
            object.__setattr__(self, entry.name, _plain(getattr(self, entry.name)))


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    return tuple(_plain(part) for part in value) if isinstance(value, list | tuple) else value


@dataclass(frozen=True)
class BodyTarget(Plain):
    """Where the body is on the floor at a time, and where it faces. The first of a request is met exactly."""

    at_s: float
    position: Point
    """x and z of the torso, metres."""
    facing: float | None = None
    """Yaw, radians: 0 looks along +z, pi/2 along +x; None for any."""
    weight: float = 1.0


@dataclass(frozen=True)
class JointTarget(Plain):
    """Where a joint is at a time, and how it moves."""

    at_s: float
    joint: str
    """A joint's name or role: "head", "left_hand" …"""
    position: tuple[float | None, float | None, float | None] = (None, None, None)
    """x, y and z in metres; None for a coordinate that does not matter."""
    velocity: tuple[float | None, float | None, float | None] = (None, None, None)
    """Likewise, metres per second."""
    weight: float = 1.0


@dataclass(frozen=True)
class PoseTarget(Plain):
    """A pose like that of a clip's frame at a time, wherever on the floor."""

    at_s: float
    clip: str
    frame: int
    """At the clip's own rate; the nearest at the graph's rate is taken."""
    weight: float = 1.0


@dataclass(frozen=True)
class HardFrame(Plain):
    """Exactly this frame of this clip at this time, and what follows it for a while: every answer shows it."""

    at_s: float
    clip: str
    frame: int
    """At the clip's own rate; the nearest at the graph's rate is taken."""
    lasts_s: float = 0.0
    """How long the clip is shown from there on, uncut, seconds."""


@dataclass(frozen=True)
class LabelTarget(Plain):
    """Motion with this label from one time to another."""

    start_s: float
    stop_s: float
    label: str
    weight: float = 1.0


@dataclass(frozen=True)
class FunctionTarget(Plain):
    """A function of one's own that says what a motion costs; the search keeps what lowers it."""

    function: Callable[[MotionView], Any]
    """Gets a `MotionView` and returns its cost, 0 or more: one number, or one for each frame (N,), which count by
    the second: 1 throughout ten seconds costs 10."""
    name: str = ""
    """What messages call it; the function's own name if empty."""
    weight: float = 1.0


@dataclass(frozen=True)
class Obstacle(Plain):
    """A circle, box or polygon on the floor that the torso keeps clear of."""

    corners: tuple[Point, ...]
    """Corners of a polygon in order, metres; a single one is a circle's centre."""
    radius: float = 0.0
    """Round its corners and sides, metres."""
    clearance: float = 0.3
    """How far from it the torso should stay, metres."""
    weight: float = 1.0

    @classmethod
    def circle(cls, centre: Point, radius: float, **how: float) -> Obstacle:
        """A round obstacle."""
        return cls((centre,), radius, **how)

    @classmethod
    def box(cls, low: Point, high: Point, **how: float) -> Obstacle:
        """A rectangle along the axes, between two opposite corners."""
        (left, right), (near, far) = (sorted((low[axis], high[axis])) for axis in (0, 1))
        return cls(((left, near), (right, near), (right, far), (left, far)), **how)


@dataclass(frozen=True)
class SolveRequest:
    """A motion to be found. Times are in seconds from its first frame; it has a frame at 0 and one at `length_s`.

    The score of an answer is measured so that 30 cm, 10° and a second without the label asked for cost 1 each, at a
    weight of 1.
    """

    length_s: float
    body: tuple[BodyTarget, ...] = ()
    joints: tuple[JointTarget, ...] = ()
    poses: tuple[PoseTarget, ...] = ()
    frames: tuple[HardFrame, ...] = ()
    labels: tuple[LabelTarget, ...] = ()
    obstacles: tuple[Obstacle, ...] = ()
    functions: tuple[FunctionTarget, ...] = ()
    min_piece_s: float = 1 / 3
    """Least length of a piece of a clip, seconds; without it the search chatters."""
    cut_weight: float = 0.006
    """What a cut at the greatest cost allowed, τ, adds to the score. With a third of that answers are no nearer to what
    is asked for, and a tenth farther from recorded poses."""

    def __post_init__(self) -> None:
        for entry in fields(self):
            value = getattr(self, entry.name)
            object.__setattr__(self, entry.name, tuple(value) if entry.name in LISTS else _plain(value))
        need_range("length_s", self.length_s, 0.1, 600.0)
        need_range("min_piece_s", self.min_piece_s, 0.0, self.length_s)
        need_range("cut_weight", self.cut_weight, 0.0, 1e6)
        for name in LISTS:
            for number, item in enumerate(getattr(self, name)):
                self._check(f"{name}[{number}]", item)
        for name in ("body", "frames"):
            times = [item.at_s for item in getattr(self, name)]
            for number in range(1, len(times)):
                if times[number] <= times[number - 1]:
                    raise RequestError(
                        f"{name}[{number}].at_s is {times[number]:g}, not after {name}[{number - 1}] at "
                        f"{times[number - 1]:g}; give them in order of time"
                    )
        if self.body and self.body[0].facing is None:
            raise RequestError("body[0].facing is missing: the first body constraint says where the motion begins")

    def check_asks(self) -> None:
        """Raise a RequestError if there is nothing to search for."""
        if not any(getattr(self, name) for name in LISTS[1:]) and len(self.body) < 2:
            raise RequestError(
                "nothing is asked for besides a length and a start; add a second body constraint, a joint, a pose, a "
                "label, a hard frame, an obstacle or a function"
            )

    def _check(self, path: str, item: object) -> None:
        for entry in fields(item):  # type: ignore[arg-type]
            value, where = getattr(item, entry.name), f"{path}.{entry.name}"
            if entry.name in ("at_s", "start_s", "stop_s"):
                need_range(where, value, 0.0, self.length_s, "the motion lasts from 0 to length_s")
            elif entry.name == "weight":
                need_range(where, value, 1e-9, 1e9, "leave the constraint out where it should not count")
            elif entry.name in ("radius", "clearance"):
                need_range(where, value, 0.0, 1e3)
            elif entry.name == "lasts_s":
                need_range(where, value, 0.0, self.length_s - item.at_s, "it must end with the motion")  # type: ignore[attr-defined]
            elif entry.name == "function" and not callable(value):
                raise RequestError(f"{where} is {value!r}, which cannot be called; give a function")
            elif entry.name == "frame":
                need_range(where, value, 0, 1e9)
            elif entry.name == "facing" and value is not None:
                need_range(where, value, -1e3, 1e3)
            elif entry.name in ("position", "velocity"):
                need_point(where, value, 2 if isinstance(item, BodyTarget) else 3, isinstance(item, JointTarget))
        if isinstance(item, JointTarget) and all(v is None for v in (*item.position, *item.velocity)):
            raise RequestError(f"{path}: neither a position nor a velocity is asked for")
        if isinstance(item, LabelTarget) and item.stop_s <= item.start_s:
            raise RequestError(f"{path}.stop_s is {item.stop_s:g}, not after its start_s, {item.start_s:g}")
        if isinstance(item, Obstacle):
            if len(item.corners) == 1:
                need_point(f"{path}.corners[0]", item.corners[0], 2)
                need_radius(f"{path}.radius", item.radius)
            else:
                need_polygon(f"{path}.corners", item.corners)


LISTS = ("body", "joints", "poses", "frames", "labels", "obstacles", "functions")
"""The parts of a request that hold several constraints."""


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def need_range(where: str, value: object, low: float, high: float, hint: str = "") -> None:
    """Raise a RequestError unless a value is a number between two others."""
    if not _is_number(value) or not low <= float(value) <= high:  # type: ignore[arg-type]
        why = f"; {hint}" if hint else ""
        raise RequestError(f"{where} is {value!r}; it must be a number from {low:g} to {high:g}{why}")


def need_point(where: str, value: object, size: int, holes: bool = False) -> None:
    """Raise a RequestError unless a value is so many numbers; with holes, some of them may be None."""
    ok = isinstance(value, Sequence) and not isinstance(value, str) and len(value) == size
    if not ok or not all(_is_number(v) or (holes and v is None) for v in value):  # type: ignore[attr-defined]
        names = "x and z" if size == 2 else "x, y and z"
        free = ", null for one that does not matter" if holes else ""
        raise RequestError(f"{where} is {value!r}; it must be {size} numbers, {names} in metres{free}")


def need_radius(where: str, value: object) -> None:
    """Raise a RequestError unless a value can be the radius of a circle."""
    need_range(where, value, 0.0, 1e3)
    if not value:
        raise RequestError(f"{where} is {value!r}; a circle needs one above 0")


def need_polygon(where: str, value: object) -> None:
    """Raise a RequestError unless a value is the corners of a polygon, in order, whose sides do not cross."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise RequestError(f"{where} is {value!r}; it must be a list of points")
    if len(value) < 3:
        raise RequestError(f"{where} has {len(value)}; a polygon has three or more")
    for number, corner in enumerate(value):
        need_point(f"{where}[{number}]", corner, 2)
    sides = [(value[n], value[(n + 1) % len(value)]) for n in range(len(value))]
    if abs(sum(a[0] * b[1] - b[0] * a[1] for a, b in sides)) < 1e-9:
        raise RequestError(f"{where} enclose nothing; give corners of a polygon, in order")
    for n, one in enumerate(sides):
        for m in range(n + 1, len(sides)):
            if _cross(one, sides[m]):
                raise RequestError(
                    f"{where}: the side behind corner {n} crosses that behind corner {m}; give them in order"
                )


def _cross(one: tuple[Point, Point], other: tuple[Point, Point]) -> bool:
    """Whether two sides go through each other; touching does not count."""

    def side(line: tuple[Point, Point], point: Point) -> float:
        (ax, az), (bx, bz) = line
        return (bx - ax) * (point[1] - az) - (bz - az) * (point[0] - ax)

    return side(one, other[0]) * side(one, other[1]) < 0 and side(other, one[0]) * side(other, one[1]) < 0
