"""What a motion can be asked for at its times: places, joints, poses, hard frames, labels, obstacles, functions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, Self

from annotated_types import Ge, Gt, Le, MaxLen, MinLen
from pydantic import BeforeValidator, WithJsonSchema, model_validator

from choreograph.base.errors import RequestError
from choreograph.contract.request import Degrees, Metres, Name, Place, Point, Request, Seconds, Weight, Wrong, quote

LONGEST_S = 600.0
Time = Annotated[Seconds, Ge(0), Le(LONGEST_S)]
FrameNumber = Annotated[int, Ge(0), Le(10**9)]


class BodyTarget(Request):
    """Where the body is on the floor at a time, and where it faces. The first of a request is met exactly."""

    at_s: Time
    """When, from the motion's first frame."""
    position: Point
    """x and z of the torso, metres."""
    facing_deg: Degrees | None = None
    """Where it faces: 0 looks along +z, 90 along +x; null for any."""
    weight: Weight = 1.0
    """How much it counts."""

    @property
    def facing(self) -> float | None:
        """Yaw, radians; None for any."""
        return None if self.facing_deg is None else math.radians(self.facing_deg)


class JointTarget(Request):
    """Where a joint is at a time, and how it moves."""

    at_s: Time
    """When, from the motion's first frame."""
    joint: Name
    """A joint's name or role: "head", "left_hand" …"""
    position: Place = (None, None, None)
    """x, y and z in metres; null for a coordinate that does not matter."""
    velocity: Place = (None, None, None)
    """Likewise, metres per second."""
    weight: Weight = 1.0
    """How much it counts."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if all(value is None for value in (*self.position, *self.velocity)):
            raise Wrong("", "asks for nothing; give it a position or a velocity")
        return self


class PoseTarget(Request):
    """A pose like that of a clip's frame at a time, wherever on the floor."""

    at_s: Time
    """When, from the motion's first frame."""
    clip: Name
    """A clip of the graph."""
    frame: FrameNumber
    """At the clip's own rate; the nearest at the graph's rate is taken."""
    weight: Weight = 1.0
    """How much it counts."""


class HardFrame(Request):
    """Exactly this frame of this clip at this time, and what follows it for a while: every answer shows it."""

    at_s: Time
    """When, from the motion's first frame."""
    clip: Name
    """A clip of the graph."""
    frame: FrameNumber
    """At the clip's own rate."""
    lasts_s: Time = 0.0
    """How long the clip is shown from there on, uncut."""


class LabelTarget(Request):
    """Motion with this label from one time to another."""

    start_s: Time
    """From when, from the motion's first frame."""
    stop_s: Time
    """Until when."""
    label: Name
    """What clips shall be labelled: "walk", "run" …"""
    weight: Weight = 1.0
    """How much it counts."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.stop_s <= self.start_s:
            raise Wrong("stop_s", f"is {self.stop_s:g}, not after its start_s, {self.start_s:g}")
        return self


# ---------------------------------------------------------------- obstacles


class Circle(Request):
    """A round obstacle."""

    centre: Point
    """x and z, metres."""
    radius: Annotated[Metres, Gt(0), Le(1000)]


class Box(Request):
    """A rectangle along the axes."""

    low: Point
    """The corner with the least x and z, metres."""
    high: Point
    """The corner with the greatest x and z."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if not (self.low[0] < self.high[0] and self.low[1] < self.high[1]):
            raise Wrong("high", f"is {list(self.high)}; it must lie beyond low, {list(self.low)}, in x and in z")
        return self


class Polygon(Request):
    """An obstacle of any outline whose sides do not cross."""

    corners: Annotated[tuple[Point, ...], MinLen(3), MaxLen(1000)]
    """In order, x and z in metres."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        sides = [(corner, self.corners[n - 1]) for n, corner in enumerate(self.corners)]
        if abs(sum(a[0] * b[1] - b[0] * a[1] for a, b in sides)) < 1e-9:
            raise Wrong("corners", "enclose nothing; give corners of a polygon, in order")
        for n, one in enumerate(sides):
            for m in range(n + 1, len(sides)):
                if _cross(one, sides[m]):
                    raise Wrong(
                        "corners", f"have crossing sides: before corner {n} and before corner {m}; give them in order"
                    )
        return self


class TorsoObstacle(Request):
    """A circle, box or polygon on the floor that the torso keeps clear of.

    >>> TorsoObstacle.of_circle((1.0, 2.0), 0.5).as_document()
    {'circle': {'centre': [1, 2], 'radius': 0.5}}
    """

    circle: Circle | None = None
    """A round one,"""
    box: Box | None = None
    """or a rectangle along the axes,"""
    polygon: Polygon | None = None
    """or one of any outline."""
    clearance: Annotated[Metres, Ge(0), Le(1000)] = 0.3
    """How far from it the torso should stay."""
    weight: Weight = 1.0
    """How much it counts."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        shapes = [name for name in ("circle", "box", "polygon") if getattr(self, name) is not None]
        if len(shapes) != 1:
            raise Wrong("", f"must have one of circle, box, polygon; it has {', '.join(shapes) or 'none'}")
        return self

    @classmethod
    def of_circle(cls, centre: Point, radius: float, **how: float) -> TorsoObstacle:
        """A round obstacle.

        Args:
            centre: x and z, metres.
            radius: Metres.
            how: Clearance and weight.
        """
        return cls(circle=Circle(centre=centre, radius=radius), **how)

    @classmethod
    def of_box(cls, low: Point, high: Point, **how: float) -> TorsoObstacle:
        """A rectangle along the axes, between two opposite corners."""
        (left, right), (near, far) = (sorted((float(low[axis]), float(high[axis]))) for axis in (0, 1))
        return cls(box=Box(low=(left, near), high=(right, far)), **how)

    @classmethod
    def of_polygon(cls, corners: Sequence[Point], **how: float) -> TorsoObstacle:
        """An obstacle with these corners, in order."""
        return cls(polygon=Polygon(corners=tuple(corners)), **how)

    @property
    def corners(self) -> tuple[Point, ...]:
        """Corners of its outline in order, metres; a single one is a circle's centre."""
        if self.circle is not None:
            return (self.circle.centre,)
        if self.box is not None:
            (left, near), (right, far) = self.box.low, self.box.high
            return ((left, near), (right, near), (right, far), (left, far))
        return self.polygon.corners if self.polygon is not None else ()

    @property
    def radius(self) -> float:
        """Round its corners, metres: 0 but for circles."""
        return 0.0 if self.circle is None else self.circle.radius


def _cross(one: tuple[Point, Point], other: tuple[Point, Point]) -> bool:
    """Whether two sides go through each other; touching does not count."""

    def side(line: tuple[Point, Point], point: Point) -> float:
        (ax, az), (bx, bz) = line
        return (bx - ax) * (point[1] - az) - (bz - az) * (point[0] - ax)

    return side(one, other[0]) * side(one, other[1]) < 0 and side(other, one[0]) * side(other, one[1]) < 0


# ---------------------------------------------------------------- functions


class LoadedFunction:
    """A function from a file, which knows by what name a request asked for it."""

    def __init__(self, function: Callable[[Any], Any], source: str) -> None:
        self._function, self.source = function, source
        self.__name__ = source.rpartition(":")[2]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LoadedFunction) and other.source == self.source

    def __hash__(self) -> int:
        return hash(self.source)

    def __call__(self, motion: Any) -> Any:
        """What the function says about a motion."""
        return self._function(motion)


def _check_function(value: Any) -> Any:
    if callable(value):
        return value
    file, colon, name = value.rpartition(":") if isinstance(value, str) else ("", "", "")
    if not colon or not file.endswith(".py") or not name.isidentifier():
        raise Wrong("", f"is {quote(value)}; it must be FILE.py:NAME, such as style.py:stay_low, or a function")
    return value


class FunctionTarget(Request):
    """A function of one's own that says what a motion costs; the search keeps what lowers it."""

    function: Annotated[Any, BeforeValidator(_check_function), WithJsonSchema({"type": "string", "maxLength": 4096})]
    """Gets a `MotionView` and returns its cost, 0 or more: one number, or one for each frame (N,), which count by
    the second: 1 throughout ten seconds costs 10. In request files FILE.py:NAME."""
    name: Annotated[str, MaxLen(200)] = ""
    """What messages call it; the function's own name if empty."""
    weight: Weight = 1.0
    """How much it counts."""

    @property
    def called(self) -> str:
        """What messages call it."""
        return self.name or getattr(self.function, "__name__", "function")

    def as_document(self) -> dict[str, Any]:
        """As request files have it; a function that is in no file by its module and name."""
        function = self.function
        if not isinstance(function, str):
            place = f"{getattr(function, '__module__', '')}:{getattr(function, '__qualname__', self.called)}"
            function = getattr(function, "source", place)
        return {**super().as_document(), "function": function}

    def loaded(self, folder: Path, where: str, *, allow_code: bool) -> FunctionTarget:
        """The same with its function at hand. Its file is run to get it, so only where that is allowed.

        Raises:
            RequestError: If that is not allowed, or the file does not have the function.
        """
        import importlib.util

        if not isinstance(self.function, str):
            return self
        named, where = self.function, f"{where}.function"
        file, _, name = named.rpartition(":")
        if not allow_code:
            raise RequestError(
                f"{where} is {named!r}: that runs the code in {file}; if you trust it, allow it (allow_code)",
                where=where,
            )
        spec = importlib.util.spec_from_file_location(Path(file).stem, folder / file)
        assert spec is not None and spec.loader is not None  # the name ends in .py
        module = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except OSError as error:
            raise RequestError(f"{where}: {folder / file} cannot be read: {error.strerror}", where=where) from None
        except Exception as error:
            said = f"{where}: {folder / file} raised {type(error).__name__}: {error}"
            raise RequestError(said, where=where) from error
        found = getattr(module, name, None)
        if not callable(found):
            raise RequestError(f"{where}: {folder / file} has no function {name!r}", where=where)
        return self.with_(function=LoadedFunction(found, named))
