"""Compiled geometry of scenes: capsules against upright prisms, feet against regions of the floor.

A shape is a circle (one corner and a radius) or a polygon (corners in order, radius 0). A solid is a shape with a
lowest and a highest point. Each kernel has a plain twin in the tests.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from choreograph.base.arrays import Floats, Ints
from choreograph.base.compiling import hot, inlined, njit

FAR = 1e9


class Shapes(NamedTuple):
    """M shapes on the floor, and which of them are near to where."""

    first: Ints
    """Where each shape's corners begin, (M + 1,)."""
    corner: Floats
    """x and z, (K, 2), metres."""
    radius: Floats
    """Of circles, (M,); 0 for polygons."""
    low: Floats
    """Heights between which it is solid, (M,), metres."""
    high: Floats
    margin: Floats
    """How much farther than it need to be what keeps clear of it shall be, (M,); below 0 a region is made smaller."""
    box: Floats
    """Least x and z, greatest x and z, (M, 4)."""
    grid: Floats
    """Of the lists: least x and z, size of a cell, number of cells along x and z, (5,)."""
    list_first: Ints
    """Where each cell's list begins, (cells + 1,)."""
    near: Ints
    """Shapes near each cell."""


@inlined
def cell_of(grid: Floats, x: float, z: float) -> int:
    """The cell that a place is in; -1 beyond the grid."""
    i, k = math.floor((x - grid[0]) / grid[2]), math.floor((z - grid[1]) / grid[2])
    if i < 0 or k < 0 or i >= grid[3] or k >= grid[4]:
        return -1
    return int(i * grid[4] + k)


@hot
def point_segment(px: float, pz: float, ax: float, az: float, bx: float, bz: float) -> float:
    """Distance of a point from a segment."""
    dx, dz = bx - ax, bz - az
    size = dx * dx + dz * dz
    t = 0.0
    if size > 0:
        t = min(1.0, max(0.0, ((px - ax) * dx + (pz - az) * dz) / size))
    return math.hypot(px - ax - t * dx, pz - az - t * dz)


@hot
def segment_segment(ax: float, az: float, bx: float, bz: float, cx: float, cz: float, dx: float, dz: float) -> float:
    """Distance between two segments on the floor; 0 where they cross."""
    one = (bx - ax) * (cz - az) - (bz - az) * (cx - ax)
    two = (bx - ax) * (dz - az) - (bz - az) * (dx - ax)
    three = (dx - cx) * (az - cz) - (dz - cz) * (ax - cx)
    four = (dx - cx) * (bz - cz) - (dz - cz) * (bx - cx)
    if one * two < 0 and three * four < 0:
        return 0.0
    near = min(point_segment(ax, az, cx, cz, dx, dz), point_segment(bx, bz, cx, cz, dx, dz))
    return min(near, point_segment(cx, cz, ax, az, bx, bz), point_segment(dx, dz, ax, az, bx, bz))


@inlined
def inside(shapes: Shapes, m: int, x: float, z: float) -> bool:
    """Whether a place is inside a shape."""
    low, high = shapes.first[m], shapes.first[m + 1]
    if high - low == 1:
        return math.hypot(x - shapes.corner[low, 0], z - shapes.corner[low, 1]) < shapes.radius[m]
    within = False
    before = high - 1
    for n in range(low, high):
        xa, za = shapes.corner[n, 0], shapes.corner[n, 1]
        xb, zb = shapes.corner[before, 0], shapes.corner[before, 1]
        if (za > z) != (zb > z) and x < (xb - xa) * (z - za) / (zb - za) + xa:
            within = not within
        before = n
    return within


@inlined
def gap(shapes: Shapes, m: int, ax: float, az: float, bx: float, bz: float) -> float:
    """Distance of a segment on the floor from a shape, metres; below 0 inside it, by how deep its first end is."""
    low, high = shapes.first[m], shapes.first[m + 1]
    if high - low == 1:
        return point_segment(shapes.corner[low, 0], shapes.corner[low, 1], ax, az, bx, bz) - shapes.radius[m]
    best = FAR
    before = high - 1
    for n in range(low, high):
        away = segment_segment(
            ax, az, bx, bz, shapes.corner[before, 0], shapes.corner[before, 1], shapes.corner[n, 0], shapes.corner[n, 1]
        )
        best = min(best, away)
        before = n
    if inside(shapes, m, ax, az):
        depth = FAR
        before = high - 1
        for n in range(low, high):
            depth = min(
                depth,
                point_segment(
                    ax, az, shapes.corner[before, 0], shapes.corner[before, 1], shapes.corner[n, 0], shapes.corner[n, 1]
                ),
            )
            before = n
        return -depth
    return best


@inlined
def capsule_gap(
    shapes: Shapes, m: int, ax: float, ay: float, az: float, bx: float, by: float, bz: float, radius: float
) -> float:
    """How far a capsule is from a solid along the floor, where their heights meet; far where they do not."""
    low, high = shapes.low[m] - radius, shapes.high[m] + radius
    if (ay > high and by > high) or (ay < low and by < low):
        return FAR
    if ay > high or ay < low or by > high or by < low:
        rise = by - ay
        t0, t1 = (low - ay) / rise, (high - ay) / rise
        start, stop = max(0.0, min(t0, t1)), min(1.0, max(t0, t1))
        cx, cz = ax + stop * (bx - ax), az + stop * (bz - az)
        ax, az = ax + start * (bx - ax), az + start * (bz - az)
        bx, bz = cx, cz
    box = shapes.box
    over = max(
        max(box[m, 0] - max(ax, bx), min(ax, bx) - box[m, 2]), max(box[m, 1] - max(az, bz), min(az, bz) - box[m, 3])
    )
    if over > radius + 0.5:
        return over - radius
    return gap(shapes, m, ax, az, bx, bz) - radius


@inlined
def concerns(shapes: Shapes, m: int, x: float, z: float, reach: float, top: float) -> bool:
    """Whether a solid may be within its margin of a body as wide as `reach` about a place, and as high as `top`."""
    box, room = shapes.box, reach + shapes.margin[m]
    if top < shapes.low[m] or x < box[m, 0] - room or x > box[m, 2] + room:
        return False
    return z >= box[m, 1] - room and z <= box[m, 3] + room


@inlined
def touches(solids: Shapes, m: int, points: Floats, capsules: Ints, radii: Floats) -> bool:
    """Whether a body, as points (POINTS, 3), comes nearer to a solid than its margin."""
    for c in range(len(capsules)):
        a, b = capsules[c, 0], capsules[c, 1]
        away = capsule_gap(
            solids, m, points[a, 0], points[a, 1], points[a, 2], points[b, 0], points[b, 1], points[b, 2], radii[c]
        )
        if away < solids.margin[m]:
            return True
    return False


@inlined
def point_gap(shapes: Shapes, m: int, x: float, z: float) -> float:
    """Distance of a place from a shape, metres; below 0 inside it."""
    low, high = shapes.first[m], shapes.first[m + 1]
    if high - low == 1:
        return math.hypot(x - shapes.corner[low, 0], z - shapes.corner[low, 1]) - shapes.radius[m]
    best = FAR
    before = high - 1
    for n in range(low, high):
        best = min(
            best,
            point_segment(
                x, z, shapes.corner[before, 0], shapes.corner[before, 1], shapes.corner[n, 0], shapes.corner[n, 1]
            ),
        )
        before = n
    return -best if inside(shapes, m, x, z) else best


@inlined
def region_gap(regions: Shapes, x: float, z: float) -> tuple[float, int]:
    """How far a place is from the nearest region of the floor, its margin taken off, and which; below 0 inside."""
    cell = cell_of(regions.grid, x, z)
    best, which = FAR, -1
    if cell >= 0:
        for n in range(regions.list_first[cell], regions.list_first[cell + 1]):
            m = regions.near[n]
            if not concerns(regions, m, x, z, 0.0, 0.0):
                continue
            away = point_gap(regions, m, x, z) - regions.margin[m]
            if away < best:
                best, which = away, int(m)
    return best, which


@njit(cache=True, nogil=True)
def clearances(solids: Shapes, points: Floats, capsules: Ints, radii: Floats) -> tuple[Floats, Ints]:
    """How near a body comes to each solid over its frames (F, POINTS, 3), metres, (M,), and in which frame."""
    nearest, frame = np.full(len(solids.low), FAR), np.zeros(len(solids.low), np.int64)
    for f in range(len(points)):
        cell = cell_of(solids.grid, points[f, 0, 0], points[f, 0, 2])
        if cell < 0:
            continue
        for n in range(solids.list_first[cell], solids.list_first[cell + 1]):
            m = solids.near[n]
            for c in range(len(capsules)):
                a, b = capsules[c, 0], capsules[c, 1]
                away = capsule_gap(
                    solids, m, points[f, a, 0], points[f, a, 1], points[f, a, 2],
                    points[f, b, 0], points[f, b, 1], points[f, b, 2], radii[c],
                )  # fmt: skip
                if away < nearest[m]:
                    nearest[m], frame[m] = away, f
    return nearest, frame
