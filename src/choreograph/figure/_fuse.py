"""Several overlapping surfaces as one: a skin over all of them, without seams where they meet.

What of each part lies inside another one is left out; through the rest goes a smooth surface, an implicit moving least
squares fit to points and normals (Kolluri 2005), drawn by surface nets (Gibson 1998) on a grid. Colours and what points
follow are averaged in the same way, so that skin bends over hips and shoulders instead of breaking there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from choreograph.base.arrays import Flags, Floats, Indices
from choreograph.figure._loft import LoftSurface, join

_NEIGHBOURS = 14
"""Points that tell where the surface is."""
_BAND = 3
"""Cells on either side of the points in which it is looked for."""
_MOST_CELLS = 3_000_000  # of the grid; larger surfaces are joined as they are
_CORNERS = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
_EDGES = np.array([[a, b] for a in range(8) for b in range(a + 1, 8) if np.abs(_CORNERS[a] - _CORNERS[b]).sum() == 1])


def fuse(parts: Sequence[LoftSurface], middle: Floats, cell: float) -> LoftSurface:
    """One surface over all parts; the parts joined as they are where the grid would be too large.

    Args:
        parts: Closed surfaces that overlap their neighbours.
        middle: A point in the plane of symmetry, (3,), metres.
        cell: Width of the grid's cells, metres: what is smaller is smoothed over.
    """
    from scipy.ndimage import distance_transform_edt

    whole = join(parts)
    cloud = _Cloud(whole, _outside(parts, cell), cell)
    low = np.floor((cloud.seeds.min(axis=0) - middle) / cell).astype(int) - _BAND - 1
    shape = np.ceil((cloud.seeds.max(axis=0) - middle) / cell).astype(int) + _BAND + 2 - low
    if np.prod(shape) > _MOST_CELLS:
        return whole
    # Half a cell off, so that no sample lies in the plane of symmetry.
    origin = middle + (low + 0.5) * cell
    field = np.full(shape, np.nan)
    near = np.zeros(shape, bool)
    near[tuple(np.rint((cloud.seeds - origin) / cell).astype(int).T)] = True
    near = distance_transform_edt(~near) < _BAND
    places = np.argwhere(near)
    field[near] = _heights(cloud, origin + cell * places)
    vertices, triangles = _surface_nets(field)
    if not len(triangles):
        return whole
    vertices = origin + cell * vertices
    near_them = cloud.near(vertices)
    vertices = vertices - near_them.heights(vertices)[:, None] * _unit(near_them.blend(cloud.normals))
    return cloud.surface(vertices, triangles)


class _Cloud:
    """Points of a surface that are not hidden, and a smooth surface through them."""

    def __init__(self, whole: LoftSurface, visible: Flags, cell: float) -> None:
        from scipy.spatial import cKDTree

        self.points = whole.vertices[visible].astype(float)
        self.normals = whole.normals[visible].astype(float)
        self.colours = whole.colours[visible].astype(float)
        count = int(whole.joint_indices.max()) + 1
        self.weights = np.zeros((len(self.points), count))
        rows = np.arange(len(self.points))[:, None]
        np.add.at(self.weights, (rows, whole.joint_indices[visible]), whole.joint_weights[visible])
        faces = whole.vertices[whole.triangles[visible[whole.triangles].any(axis=1)]].astype(float)
        self.seeds = np.concatenate(
            [self.points, faces.mean(axis=1), ((faces + faces[:, [1, 2, 0]]) / 2).reshape(-1, 3)]
        )
        self.tree = cKDTree(self.points)
        self.width = 2.0 * cell

    def near(self, places: Floats) -> _Near:
        """The points near places, and how much each counts."""
        far, which = self.tree.query(places, k=min(_NEIGHBOURS, len(self.points)))
        # Where points are sparse, the nearest ones count as they do where they are dense.
        width = np.maximum(self.width, 0.7 * far[:, 3:4])
        share = np.exp(-((far / width) ** 2)) + 1e-12
        return _Near(self, share / share.sum(axis=1, keepdims=True), which)

    def surface(self, vertices: Floats, triangles: Indices) -> LoftSurface:
        """The surface with what its points follow and their colours."""
        near = self.near(vertices)
        weights = near.blend(self.weights)
        best = np.argsort(-weights, axis=1, kind="stable")[:, :4]
        if best.shape[1] < 4:
            best = np.pad(best, ((0, 0), (0, 4 - best.shape[1])))
        values = np.take_along_axis(weights, best, axis=1)
        values[:, 1:][np.diff(best, axis=1) == 0] = 0.0
        values = np.where(values > 1e-3, values, 0.0)
        best = np.where(values > 0, best, 0)
        return LoftSurface(
            vertices=vertices.astype(np.float32),
            normals=_unit(near.blend(self.normals)).astype(np.float32),
            triangles=triangles.astype(np.int32),
            joint_indices=best.astype(np.uint16),
            joint_weights=(values / values.sum(axis=1, keepdims=True)).astype(np.float32),
            colours=near.blend(self.colours).astype(np.float32),
        )


@dataclass(frozen=True, eq=False)
class _Near:
    """Points of a cloud near some places."""

    cloud: _Cloud
    share: Floats
    """How much each of them counts, (P, k)."""
    which: Indices

    def heights(self, places: Floats) -> Floats:
        """How far places lie outside of the surface, (P,), metres; inside below zero."""
        above = np.einsum(
            "pkc,pkc->pk", places[:, None] - self.cloud.points[self.which], self.cloud.normals[self.which]
        )
        return np.asarray(np.sum(self.share * above, axis=1))

    def blend(self, values: Floats) -> Floats:
        """The values of the points, averaged."""
        return np.einsum("pk,pkc->pc", self.share, values[self.which])


def _outside(parts: Sequence[LoftSurface], cell: float) -> Flags:
    """Which vertices of all parts lie in no other part."""
    from scipy.spatial import cKDTree

    visible = [np.ones(len(part.vertices), bool) for part in parts]
    boxes = [(part.vertices.min(axis=0) - cell, part.vertices.max(axis=0) + cell) for part in parts]
    for k, other in enumerate(parts):
        tree = cKDTree(other.vertices)
        for n, part in enumerate(parts):
            if n == k:
                continue
            inside = np.flatnonzero(np.all((part.vertices > boxes[k][0]) & (part.vertices < boxes[k][1]), axis=1))
            if not len(inside):
                continue
            points = part.vertices[inside]
            far, which = tree.query(points, k=4)
            share = 1 / (far + 1e-4)
            above = np.einsum("pkc,pkc->pk", points[:, None] - other.vertices[which], other.normals[which])
            visible[n][inside[np.sum(share * above, axis=1) / share.sum(axis=1) < -0.1 * cell]] = False
    return np.concatenate(visible)


def _heights(cloud: _Cloud, places: Floats) -> Floats:
    return cloud.near(places).heights(places)


def _surface_nets(field: Floats) -> tuple[Floats, Indices]:
    """Where a sampled field is zero: vertices in units of its grid, and triangles with the positive side outside."""
    corners = np.stack([field[_window(field.shape, corner)] for corner in _CORNERS], axis=-1)
    crossed = np.isfinite(corners).all(axis=-1) & (corners < 0).any(axis=-1) & (corners >= 0).any(axis=-1)
    cells = np.argwhere(crossed)
    values = corners[crossed]
    first, second = values[:, _EDGES[:, 0]], values[:, _EDGES[:, 1]]
    cut = (first < 0) != (second < 0)
    share = np.where(cut, first / np.where(cut, first - second, 1.0), 0.0)[..., None]
    on_edges = (1 - share) * _CORNERS[_EDGES[:, 0]] + share * _CORNERS[_EDGES[:, 1]]
    vertices = cells + (on_edges * cut[..., None]).sum(axis=1) / cut.sum(axis=1)[:, None]
    number = np.full(crossed.shape, -1, np.intp)
    number[crossed] = np.arange(len(cells))
    triangles = []
    for axis in range(3):
        one, two = (axis + 1) % 3, (axis + 2) % 3
        ahead = [slice(None)] * 3
        ahead[axis] = slice(1, None)
        behind = [slice(None)] * 3
        behind[axis] = slice(None, -1)
        low, high = field[tuple(behind)], field[tuple(ahead)]
        cuts = np.argwhere(((low < 0) != (high < 0)) & np.isfinite(low) & np.isfinite(high))
        inner = (cuts[:, one] > 0) & (cuts[:, two] > 0)
        inner &= (cuts[:, one] < field.shape[one] - 1) & (cuts[:, two] < field.shape[two] - 1)
        cuts = cuts[inner]
        around = []
        for a, b in ((-1, -1), (0, -1), (0, 0), (-1, 0)):
            cell = cuts.copy()
            cell[:, one] += a
            cell[:, two] += b
            around.append(number[tuple(cell.T)])
        quad = np.stack(around, axis=1)
        whole = (quad >= 0).all(axis=1)
        quad, cuts = quad[whole], cuts[whole]
        outward = low[tuple(cuts.T)] < 0
        quad = np.where(outward[:, None], quad, quad[:, ::-1])
        triangles += [quad[:, [0, 1, 2]], quad[:, [0, 2, 3]]]
    return vertices, np.concatenate(triangles)


def _window(shape: tuple[int, ...], corner: Indices) -> tuple[slice, ...]:
    return tuple(slice(int(c), size - 1 + int(c)) for c, size in zip(corner, shape, strict=True))


def _unit(vectors: Floats) -> Floats:
    return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12))
