"""Scene: what stands and lies on the floor, the same for every verb that looks at it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from annotated_types import Ge, Gt, Le, MaxLen, MinLen
from pydantic import model_validator

from choreograph.base.arrays import Floats
from choreograph.contract.limits import beside
from choreograph.contract.request import (
    Degrees,
    FileName,
    Metres,
    Option,
    OrFile,
    Point,
    Request,
    Seconds,
    Weight,
    Wrong,
)  # fmt: skip
from choreograph.scene.obstacle_file import read_tracks

BODY_M = 0.3
"""Distance from the hips to an obstacle at which the whole body is taken to be clear of it, where only the hips are
looked at: half a man's breadth."""
TALL_M = 100.0
"""Height of what is unlimited."""
_FORMS = {"circle": ("centre", "radius_m"), "box": ("low", "high"), "polygon": ("corners",), "line": ("ends",)}
_MANY = MaxLen(10_000)  # items of one list
Velocity = tuple[Annotated[float, Ge(-1000), Le(1000)], Annotated[float, Ge(-1000), Le(1000)]]


class Item(NamedTuple):
    """One thing of a scene as numbers, and where the request names it."""

    where: str
    outline: tuple[Point, ...]
    """Corners in order, x and z, metres; a single one is a circle's centre."""
    radius: float = 0.0
    low: float = 0.0
    """Heights between which it is solid, metres."""
    high: float = TALL_M
    clearance: float = 0.0
    weight: float = 1.0
    bar: bool = False
    """Whether it is a line above the floor."""

    def distance(self, points: Any) -> Floats:
        """Distances of points on the floor (..., 2) from the outline, (...), metres; below 0 inside."""
        return outline_distance(self.outline, self.radius, points)


class Shape(Request):
    """An outline on the floor: a circle, a box along the axes, a polygon, or a thick line.

    >>> Shape(centre=(1.0, 2.0), radius_m=0.1).as_document()
    {'centre': [1, 2], 'radius_m': 0.1}
    """

    centre: Point | None = None
    """Centre of a circle, x and z, metres."""
    radius_m: Annotated[Metres, Gt(0), Le(1000)] | None = None
    """Radius of the circle."""
    low: Point | None = None
    """Corner of a box with the least x and z, metres."""
    high: Point | None = None
    """Corner of the box with the greatest x and z."""
    corners: Annotated[tuple[Point, ...], MinLen(3), MaxLen(1000)] | None = None
    """Corners of a polygon in order, x and z, metres."""
    ends: tuple[Point, Point] | None = None
    """Ends of a line, such as a wall or a bar, x and z, metres."""
    thickness_m: Annotated[Metres, Gt(0), Le(10)] = 0.05
    """Thickness of the line."""

    @model_validator(mode="after")
    def _check_shape(self) -> Self:
        named = [form for form, names in _FORMS.items() if any(getattr(self, name) is not None for name in names)]
        if len(named) != 1:
            raise Wrong("", f"must have one of {', '.join(_FORMS)}; it has {', '.join(named) or 'none'}")
        missing = [name for name in _FORMS[named[0]] if getattr(self, name) is None]
        if missing:
            raise Wrong(missing[0], f"is missing: a {named[0]} has {' and '.join(_FORMS[named[0]])}")
        if self.low and self.high and not (self.low[0] < self.high[0] and self.low[1] < self.high[1]):
            raise Wrong("high", f"is {list(self.high)}; it must lie beyond low, {list(self.low)}, in x and in z")
        if self.ends and math.dist(*self.ends) < 0.01:
            raise Wrong("ends", "are in one place; a line leads from one place to another")
        if self.corners:
            _check_corners(self.corners)
        return self

    @property
    def outline(self) -> tuple[Point, ...]:
        """Corners of its outline in order, metres; a single one is a circle's centre."""
        if self.centre is not None:
            return (self.centre,)
        if self.low is not None and self.high is not None:
            (left, near), (right, far) = self.low, self.high
            return ((left, near), (right, near), (right, far), (left, far))
        if self.ends is not None:
            (ax, az), (bx, bz) = self.ends
            size = math.dist(*self.ends)
            ox, oz = (bz - az) / size * self.thickness_m / 2, -(bx - ax) / size * self.thickness_m / 2
            return ((ax + ox, az + oz), (bx + ox, bz + oz), (bx - ox, bz - oz), (ax - ox, az - oz))
        return self.corners or ()

    @property
    def middle(self) -> Point:
        """Mean of the outline's corners."""
        outline = self.outline
        return sum(x for x, _ in outline) / len(outline), sum(z for _, z in outline) / len(outline)

    def item(self, where: str) -> Item:
        """The outline as numbers."""
        return Item(where, self.outline, self.radius_m or 0.0)

    def distance(self, points: Any) -> Floats:
        """Distances of points on the floor (..., 2) from the outline, (...), metres; below 0 inside."""
        return outline_distance(self.outline, self.radius_m or 0.0, points)


class StepOver(Shape):
    """Something low on the floor to step over: no part of the body may touch it."""

    height_m: Annotated[Metres, Gt(0), Le(1.5)]
    """Height."""

    def item(self, where: str) -> Item:
        """The outline as numbers."""
        return super().item(where)._replace(high=self.height_m)


class ObstacleMove(Request):
    """Where an obstacle is from a moment on, and how fast it moves from there."""

    at_s: Annotated[Seconds, Ge(0), Le(1e6)]
    """From when on."""
    place: Point | None = None
    """Its middle, x and z, metres; null while it is not there."""
    velocity: Velocity = (0.0, 0.0)
    """x and z, m/s."""
    radius_m: Annotated[Metres, Gt(0), Le(1000)] | None = None
    """Radius from then on, of circles; null for no change."""


class Obstacle(Shape):
    """Something to keep clear of: it stands on the floor, hangs above it, or moves.

    >>> Obstacle(ends=((-1.0, 3.0), (1.0, 3.0)), base_m=1.3).item("scene.obstacles[0]").low
    1.3
    """

    height_m: Annotated[Metres, Gt(0), Le(TALL_M)] | None = None
    """Height of its upper edge; null for unlimited."""
    base_m: Annotated[Metres, Ge(0), Le(TALL_M)] = 0.0
    """Height of its lower edge; above 0 it is a bar to pass under."""
    clearance_m: Annotated[Metres, Ge(0), Le(1000)] = 0.0
    """Distance to keep from it."""
    of: Literal["body", "hips"] = "body"
    """What keeps that distance: every part of the body, or the hips alone."""
    weight: Weight = 1.0
    """How much it counts."""
    moves: Annotated[tuple[ObstacleMove, ...], MaxLen(100_000)] = ()
    """How it moves over time, in order; it stands where it is until the first."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.height_m is not None and self.height_m <= self.base_m:
            raise Wrong("height_m", f"is {self.height_m:g}; it must be above base_m, {self.base_m:g}")
        for n, (earlier, later) in enumerate(zip(self.moves, self.moves[1:], strict=False), 1):
            if later.at_s < earlier.at_s:
                raise Wrong(f"moves[{n}]", f"is at {later.at_s:g} s, before {earlier.at_s:g} s")
        return self

    @classmethod
    def of_track(cls, track: Floats) -> Obstacle:
        """The disc of a track, as `track` gives it, within whose radius the hips may not come."""
        moves = [
            ObstacleMove(at_s=t, place=(x, z) if radius > 0 else None, velocity=(vx, vz), radius_m=radius or None)
            for t, x, z, radius, vx, vz in track.tolist()
        ]
        return cls(centre=track[0, 1:3], radius_m=track[:, 3].max(), of="hips", moves=moves)

    @property
    def hips_m(self) -> float:
        """Distance that the hips keep from it, metres, where only the hips are looked at."""
        return self.clearance_m + (BODY_M if self.of == "body" else 0.0)

    def item(self, where: str) -> Item:
        """The outline as numbers."""
        high = TALL_M if self.height_m is None else self.height_m
        return Item(
            where, self.outline, self.radius_m or 0.0, self.base_m, high, self.clearance_m, self.weight,
            self.ends is not None and self.base_m > 0,
        )  # fmt: skip

    def track(self) -> Floats:
        """Where its middle is over time, (K, 6): seconds, x, z, radius and velocity; radius 0 while it is not there."""
        radius = self.radius_m or max(math.dist(self.middle, corner) for corner in self.outline)
        rows = [(0.0, *self.middle, radius, 0.0, 0.0)]
        for moved in self.moves:
            if moved.place is None:
                rows.append((moved.at_s, *rows[-1][1:3], 0.0, 0.0, 0.0))
                continue
            radius = moved.radius_m or radius
            rows.append((moved.at_s, *moved.place, radius, *moved.velocity))
        return np.array(rows[1:] if len(rows) > 1 and rows[1][0] == 0 else rows)

    def gaps(self, points: Any, at_s: Any = 0.0) -> Floats:
        """Distances of points on the floor (..., 2) at times (...) from where it is then; infinite while it is gone."""
        if not self.moves:
            return self.distance(points)
        track, points = self.track(), np.asarray(points, float)
        times = np.broadcast_to(np.asarray(at_s, float), points.shape[:-1])
        row = track[np.maximum(np.searchsorted(track[:, 0], times, side="right") - 1, 0)]
        moved = row[..., 1:3] + row[..., 4:] * np.maximum(times - row[..., 0], 0)[..., None] - self.middle
        wider = row[..., 3] - self.radius_m if self.radius_m is not None else 0.0
        return np.where(row[..., 3] > 0, self.distance(points - moved) - wider, np.inf)


class ObstacleScene(Request):
    """What is in the way, for verbs that look at nothing else of a scene.

    >>> ObstacleScene(obstacles="others.csv").as_document()
    {'obstacles': 'others.csv'}
    """

    panel: ClassVar[str] = "Scene"

    obstacles: Annotated[tuple[Obstacle, ...], _MANY, OrFile(), Option(("--obstacles",))] = ()
    """What to keep clear of: a list, or a CSV file with t,id,x,z,radius, whose radius is that within which the hips may
    not come."""

    def resolved(self, folder: Path, *, allow_code: bool = False) -> Self:
        """The scene with its files taken from a folder."""
        files = {
            name: beside(folder, value)
            for name in ("obstacles", "drawing")
            if isinstance(value := getattr(self, name, None), str) and value
        }
        return self.with_(**files) if files else self

    def listed(self) -> tuple[Obstacle, ...]:
        """The obstacles, read from their file if they are in one."""
        if isinstance(self.obstacles, str):
            return tuple(Obstacle.of_track(track) for track in read_tracks(self.obstacles).values())
        return self.obstacles


class Scene(ObstacleScene):
    """What is in the way, and the ground; a verb says which of it it looks at.

    >>> scene = Scene(obstacles=[{"centre": (0.0, 2.0), "radius_m": 0.5}])
    >>> scene.distance([(0.0, 0.0), (0.0, 2.0)]).tolist()
    [1.5, -0.5]
    """

    obstacles: Annotated[tuple[Obstacle, ...], _MANY, OrFile(), Option(hidden=True)] = ()
    """What to keep clear of: a list, or a CSV file with t,id,x,z,radius, whose radius is that within which the hips may
    not come."""
    gaps: Annotated[tuple[Shape, ...], _MANY] = ()
    """Holes in the floor: no foot stands there, but on stones."""
    stones: Annotated[tuple[Shape, ...], MaxLen(60)] = ()
    """Where a foot must step, in order."""
    keep_off: Annotated[tuple[Shape, ...], _MANY] = ()
    """Where no foot may step."""
    step_over: Annotated[tuple[StepOver, ...], _MANY] = ()
    """What to step over."""
    floor_m: Annotated[Metres, Ge(-1000), Le(1000)] | None = None
    """Height of the floor; measured from the feet if not given."""
    drawing: Annotated[str, MaxLen(4096), FileName(), Option(("--drawing",))] = ""
    """An SVG floor plan, whose layers are named after the parts of a scene."""

    def refuse(self, verb: str, *parts: str) -> None:
        """Raise a mistake where the scene has parts that a verb does not look at.

        Args:
            verb: What messages call it.
            parts: Names of fields.
        """
        for name in parts:
            if getattr(self, name) not in ((), None, ""):
                raise Wrong(f"scene.{name}", f"is something that {verb} does not look at; leave it out")

    def solids(self) -> list[Item]:
        """What no part of the body may touch, where it stands at the start; bars last."""
        items = [one.item(f"scene.obstacles[{n}]") for n, one in enumerate(self.listed())]
        items += [one.item(f"scene.step_over[{n}]") for n, one in enumerate(self.step_over)]
        return sorted(items, key=lambda item: item.bar)

    def forbidden(self) -> list[Item]:
        """What no foot may stand on."""
        return [
            shape.item(f"scene.{name}[{n}]")
            for name in ("gaps", "keep_off")
            for n, shape in enumerate(getattr(self, name))
        ]

    def footholds(self) -> list[Item]:
        """What a foot must step on, in order."""
        return [shape.item(f"scene.stones[{n}]") for n, shape in enumerate(self.stones)]

    def distance(self, points: Any, at_s: Any = 0.0) -> Floats:
        """Distances of points on the floor (..., 2) at times (...) from the nearest obstacle; infinite without any."""
        far = np.full(np.asarray(points, float).shape[:-1], np.inf)
        return np.minimum.reduce([far, *(one.gaps(points, at_s) for one in self.listed())])


class Start(Request):
    """Where the motion begins."""

    panel: ClassVar[str] = "Start"

    place: Point = (0.0, 0.0)
    """Place of the hips, x and z, metres."""
    facing_deg: Annotated[Degrees, Option(("--start-facing",))] = 0.0
    """Where they face: 0 looks along +z, 90 along +x."""
    standing: Annotated[bool, Option(("--start-standing",))] = False
    """Whether it begins with both feet on the floor, at rest; if not, also in the middle of a walk."""


def outline_distance(outline: Sequence[Point] | Floats, radius: float, points: Any) -> Floats:
    """Distances of points on the floor (..., 2) from an outline, (...), metres; below 0 inside.

    >>> outline_distance([(0, 0), (2, 0), (2, 2), (0, 2)], 0.0, [(1, 1), (3, 1)]).tolist()
    [-1.0, 1.0]
    """
    corners, points = np.array(outline, float), np.asarray(points, float)
    if len(corners) == 1:
        return np.hypot(*np.moveaxis(points - corners[0], -1, 0)) - radius
    before, at = np.roll(corners, 1, axis=0), points[..., None, :]
    side = corners - before
    share = ((at - before) * side).sum(-1) / np.maximum((side**2).sum(-1), 1e-12)
    away = at - before - np.clip(share, 0, 1)[..., None] * side
    with np.errstate(invalid="ignore", divide="ignore"):
        crossing = before[:, 0] + side[:, 0] * (at[..., 1] - before[:, 1]) / side[:, 1]
    crossed = ((before[:, 1] > at[..., 1]) != (corners[:, 1] > at[..., 1])) & (at[..., 0] < crossing)
    gap = np.hypot(away[..., 0], away[..., 1]).min(axis=-1)
    return np.where(crossed.sum(axis=-1) % 2, -gap, gap)


def _check_corners(corners: Sequence[Point]) -> None:
    """Refuse a polygon that encloses nothing, or whose sides cross; touching does not count."""
    stop = np.array(corners, float)
    start = np.roll(stop, 1, axis=0)
    if abs((stop[:, 0] * start[:, 1] - start[:, 0] * stop[:, 1]).sum()) < 1e-9:
        raise Wrong("corners", "enclose nothing; give corners of a polygon, in order")

    def beside_lines(points: Floats) -> Floats:
        """On which side of each line each point lies, (lines, points)."""
        along, away = stop - start, points[None] - start[:, None]
        return along[:, :1] * away[..., 1] - along[:, 1:] * away[..., 0]

    apart = beside_lines(start) * beside_lines(stop) < 0
    crossing = np.argwhere(apart & apart.T)
    if len(crossing):
        n, m = crossing[0]
        raise Wrong("corners", f"have crossing sides: before corner {n} and before corner {m}; give them in order")
