"""What a scene can be made of: solids, regions of the floor, bars, gates, a path, a start and a goal."""

from __future__ import annotations

import math
from typing import Annotated, Self

from annotated_types import Ge, Gt, Le, MaxLen, MinLen
from pydantic import model_validator

from choreograph.contract.request import Degrees, Metres, Name, Option, Point, Request, Wrong
from choreograph.verbs.solve.constraints import Box, Circle, FrameNumber, Polygon

FARTHEST_M = 1000.0
"""How far from the origin things of a scene may be."""
Height = Annotated[Metres, Gt(0), Le(100)]
Radius = Annotated[Metres, Gt(0), Le(100)]


class Region(Request):
    """A circle, box or polygon on the floor.

    >>> Region.of_circle((1.0, 2.0), 0.1).as_document()
    {'circle': {'centre': [1, 2], 'radius': 0.1}}
    """

    circle: Circle | None = None
    """A round one,"""
    box: Box | None = None
    """or a rectangle along the axes,"""
    polygon: Polygon | None = None
    """or one of any outline."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        shapes = [name for name in ("circle", "box", "polygon") if getattr(self, name) is not None]
        if len(shapes) != 1:
            raise Wrong("", f"must have one of circle, box, polygon; it has {', '.join(shapes) or 'none'}")
        for x, z in self.corners:
            if abs(x) > FARTHEST_M or abs(z) > FARTHEST_M:
                raise Wrong(shapes[0], f"reaches to ({x:g}, {z:g}); a scene is within {FARTHEST_M:g} m of its origin")
        return self

    @classmethod
    def of_circle(cls, centre: Point, radius: float, **more: float) -> Self:
        """A round one: centre x and z, and radius, metres."""
        return cls(circle=Circle(centre=centre, radius=radius), **more)

    @classmethod
    def of_box(cls, low: Point, high: Point, **more: float) -> Self:
        """A rectangle along the axes, between two opposite corners."""
        (left, right), (near, far) = (sorted((float(low[axis]), float(high[axis]))) for axis in (0, 1))
        return cls(box=Box(low=(left, near), high=(right, far)), **more)

    @classmethod
    def of_polygon(cls, corners: tuple[Point, ...], **more: float) -> Self:
        """One with these corners, in order."""
        return cls(polygon=Polygon(corners=tuple(corners)), **more)

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

    @property
    def middle(self) -> Point:
        """Mean of its corners."""
        corners = self.corners
        return sum(x for x, _ in corners) / len(corners), sum(z for _, z in corners) / len(corners)


class Solid(Region):
    """Something on the floor that no part of the body may touch."""

    height: Height | None = None
    """How high it is, metres; null for so high that nobody looks over it."""
    clearance: Annotated[Metres, Ge(0), Le(10)] = 0.0
    """How far from it every part of the body stays, metres."""


class StepOver(Region):
    """Something low on the floor to step over: no part of the body may touch it."""

    height: Annotated[Metres, Gt(0), Le(1.5)]
    """How high it is, metres."""


class Bar(Request):
    """A bar across the way to pass under: no part of the body may touch it, or be above it."""

    ends: tuple[Point, Point]
    """x and z of its ends, metres."""
    height: Height
    """Of its lower edge above the floor, metres."""
    thickness: Annotated[Metres, Gt(0), Le(10)] = 0.05
    """Along the floor, metres."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if math.dist(*self.ends) < 0.01:
            raise Wrong("ends", "are in one place; a bar leads from one place to another")
        return self


class Gate(Request):
    """A place to pass: near a point, or across a line."""

    position: Point | None = None
    """x and z of a point that the hips come near, metres,"""
    radius: Radius = 0.3
    """and how near, metres;"""
    ends: tuple[Point, Point] | None = None
    """or the ends of a line that the hips cross."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if (self.position is None) == (self.ends is None):
            raise Wrong("", "must have a position or ends, one of them")
        if self.ends is not None and math.dist(*self.ends) < 0.01:
            raise Wrong("ends", "are in one place; a gate is a line from one place to another")
        return self

    @property
    def middle(self) -> Point:
        """Where it is."""
        if self.ends is None:
            assert self.position is not None
            return self.position
        (ax, az), (bx, bz) = self.ends
        return (ax + bx) / 2, (az + bz) / 2

    @property
    def reach(self) -> float:
        """How far from its middle one may pass it, metres."""
        return self.radius if self.ends is None else math.dist(*self.ends) / 2


class Corridor(Request):
    """A path to keep near, from its first point to its last."""

    points: Annotated[tuple[Point, ...], MinLen(2), MaxLen(10_000)]
    """x and z, metres."""
    within: Annotated[Radius, Option(("--path-within",))] = 0.5
    """How far from it the hips may be, metres."""


class Start(Request):
    """Where the motion begins."""

    position: Point = (0.0, 0.0)
    """x and z of the hips, metres."""
    facing_deg: Annotated[Degrees, Option(("--start-facing",))] = 0.0
    """Where they face: 0 looks along +z, 90 along +x."""
    standing: Annotated[bool, Option(("--start-standing",))] = False
    """Whether it begins with both feet on the floor, at rest; else also in the middle of a walk."""


class GoalPose(Request):
    """The pose of a clip's frame."""

    clip: Name
    """A clip of the graph."""
    frame: FrameNumber
    """At the clip's own rate."""


class Goal(Request):
    """Where the motion ends, and how."""

    position: Point
    """x and z of the hips, metres."""
    radius: Radius = 0.3
    """How far from there they may be, metres."""
    facing_deg: Degrees | None = None
    """Where they face; null for anywhere."""
    tolerance_deg: Annotated[Degrees, Gt(0), Le(180)] = 15.0
    """How far they may face away from that."""
    standing: bool = False
    """Whether it ends with both feet on the floor, at rest."""
    label: Name | None = None
    """What to do there: motion with this label, such as sit or pick up, from its beginning to its end."""
    pose: GoalPose | None = None
    """The pose to end in."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        given = [name for name in ("standing", "label", "pose") if getattr(self, name)]
        if len(given) > 1:
            raise Wrong(given[1], f"is given beside {given[0]}; give one of them")
        return self
