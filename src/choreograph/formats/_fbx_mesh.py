"""Meshes of an FBX file: corners with normals and texture places, skin weights and materials, in the bind pose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Floats, Ints
from choreograph.base.errors import FormatError
from choreograph.formats._fbx_scene import FbxScene, Node, euler, local_matrices, plain_name
from choreograph.formats._fbx_tree import Record
from choreograph.formats.assemble import MAX_LENGTH

_MOST = 4_000_000
"""Corners of all meshes together."""


@dataclass(frozen=True, eq=False)
class Material:
    """A base colour, and the picture that it multiplies."""

    name: str
    colour: tuple[float, float, float]
    image: bytes | None


@dataclass(frozen=True, eq=False)
class Mesh:
    """Triangles of one material."""

    name: str
    points: Floats
    """In the world, in the bind pose, in the file's unit and axes, (V, 3)."""
    normals: Floats
    places: Floats | None
    """Texture coordinates, (V, 2), from the upper left."""
    joints: Ints
    """(V, 4)"""
    weights: Floats
    triangles: Ints
    material: Material


def read_meshes(scene: FbxScene, joints: list[Node], path: Path | None) -> Iterator[Mesh]:
    """The meshes that joints move."""
    at = {node.id: k for k, node in enumerate(joints)}
    below: dict[int, list[int]] = {}
    for child, parent, prop in scene.links:
        if prop is None:
            below.setdefault(parent, []).append(child)
    total = 0
    for node in scene.nodes:
        for key in below.get(node.id, ()):
            record = scene.objects.get(key)
            if record is None or record.name != "Geometry" or record.values[-1:] != ["Mesh"]:
                continue
            skin = _skin(scene, below, key, at)
            holder = _holder(node, at)
            if skin is None and holder is None:
                continue
            materials = [
                _material(scene, below, child, path)
                for child in below[node.id]
                if (material := scene.objects.get(child)) is not None and material.name == "Material"
            ]
            for mesh in _meshes(record, node, skin, holder or 0, materials):
                total += len(mesh.points)
                if total > _MOST:
                    raise FormatError(f"its meshes have more than {_MOST} corners")
                yield mesh


def _holder(node: Node, at: dict[int, int]) -> int | None:
    above: Node | None = node
    while above is not None:
        if above.id in at:
            return at[above.id]
        above = above.parent
    return None


@dataclass(frozen=True, eq=False)
class _Skin:
    joints: Ints
    """Of every weight, (W,)."""
    points: Ints
    weights: Floats
    place: Floats
    """From the mesh to the world when it was bound, (4, 4)."""


def _skin(scene: FbxScene, below: dict[int, list[int]], geometry: int, at: dict[int, int]) -> _Skin | None:
    joints, points, weights, places = [], [], [], []
    for skin in below.get(geometry, ()):
        for key in below.get(skin, ()):
            cluster = scene.objects.get(key)
            if cluster is None or cluster.name != "Deformer" or cluster.values[-1:] != ["Cluster"]:
                continue
            links = [child for child in below.get(key, ()) if child in at]
            rows, share = cluster.array("Indexes"), cluster.array("Weights")
            if not links or rows is None or share is None or len(rows) != len(share):
                continue
            joints.append(np.full(len(rows), at[links[0]], np.int64))
            points.append(rows.astype(np.int64))
            weights.append(share.astype(np.float64))
            own, link = cluster.array("Transform"), cluster.array("TransformLink")
            if own is not None and link is not None and own.size == 16 and link.size == 16:
                places.append(link.reshape(4, 4).T.astype(float) @ own.reshape(4, 4).T.astype(float))
    if not joints or not places:
        return None
    place = np.median(places, axis=0)
    if not np.isfinite(place).all():
        raise FormatError("a skin is bound nowhere")
    return _Skin(np.concatenate(joints), np.concatenate(points), np.concatenate(weights), place)


def _geometric(node: Node) -> Floats:
    out = np.eye(4)
    turn = quat.as_matrix(euler(node.vector("GeometricRotation"), "xyz"))
    out[:3, :3] = turn * node.vector("GeometricScaling", 1.0)
    out[:3, 3] = node.vector("GeometricTranslation")
    return out


def _world(node: Node) -> Floats:
    out, above = np.eye(4), node
    while True:
        out = local_matrices(above, None, np.zeros(1))[0] @ out
        if above.parent is None:
            return out
        above = above.parent


def _meshes(record: Record, node: Node, skin: _Skin | None, holder: int, materials: list[Material]) -> Iterator[Mesh]:
    vertices, ends = record.array("Vertices"), record.array("PolygonVertexIndex")
    if vertices is None or ends is None or len(vertices) % 3 or not len(ends):
        return
    points = vertices.astype(np.float64).reshape(-1, 3)
    ends = ends.astype(np.int64)
    corners = np.where(ends < 0, ~ends, ends)
    if not (np.abs(points) < MAX_LENGTH).all() or corners.max() >= len(points):
        raise FormatError("a mesh has corners that are not there")
    polygon = np.concatenate([[0], np.cumsum(ends < 0)[:-1]])
    place = (_world(node) if skin is None else skin.place) @ _geometric(node)
    normals = _layer(record, "LayerElementNormal", "Normals", "NormalsIndex", 3, corners, polygon)
    places = _layer(record, "LayerElementUV", "UV", "UVIndex", 2, corners, polygon)
    world = points @ place[:3, :3].T + place[:3, 3]
    if normals is None:
        normals = _face_normals(world, corners, polygon)
    else:
        normals = normals @ np.linalg.pinv(place[:3, :3])
    normals = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
    joints, weights = _four(len(points), skin, holder)
    which = _layer(record, "LayerElementMaterial", "Materials", "", 1, corners, polygon)
    number = np.zeros(len(corners), np.int64) if which is None else which[:, 0].astype(np.int64)
    triangles = _triangles(polygon)
    if np.linalg.det(place[:3, :3]) < 0:
        triangles = triangles[:, ::-1]
    for one in np.unique(number[triangles[:, 0]]):
        own = triangles[number[triangles[:, 0]] == one]
        used, back = np.unique(own, return_inverse=True)
        rows = np.column_stack([world[corners[used]], normals[used], *([] if places is None else [places[used]])])
        _, first, same = np.unique(np.round(rows, 6), axis=0, return_index=True, return_inverse=True)
        usable = used[first]
        uv = None if places is None else np.column_stack([places[usable, 0], 1 - places[usable, 1]])
        material = materials[one] if 0 <= one < len(materials) else Material("plain", (0.6, 0.6, 0.6), None)
        spots = corners[usable]
        yield Mesh(
            node.name,
            world[spots],
            normals[usable],
            uv,
            joints[spots],
            weights[spots],
            same.ravel()[back.ravel()].reshape(-1, 3),
            material,
        )


def _triangles(polygon: Ints) -> Ints:
    """Corners of triangles that fill the polygons, as fans, (T, 3)."""
    starts = np.flatnonzero(np.concatenate([[True], np.diff(polygon) > 0]))
    first = np.repeat(starts, np.diff(np.append(starts, len(polygon))))
    inside = np.arange(len(polygon))
    ahead = inside - first
    last = inside[ahead >= 2]
    return np.column_stack([first[last], last - 1, last])


def _layer(
    record: Record, name: str, values: str, index: str, width: int, corners: Ints, polygon: Ints
) -> Floats | None:
    """What a layer says of every corner, (C, width); None where it says nothing that can be used."""
    layer = record.first(name)
    data = None if layer is None else layer.array(values)
    if layer is None or data is None or len(data) == 0 or len(data) % width:
        return None
    table = data.astype(np.float64).reshape(-1, width)
    mapping = _text(layer, "MappingInformationType")
    if mapping in ("ByVertice", "ByVertex"):
        rows = corners
    elif mapping == "ByPolygon":
        rows = polygon
    elif mapping == "AllSame":
        rows = np.zeros(len(corners), np.int64)
    else:
        rows = np.arange(len(corners))
    order = layer.array(index) if index and _text(layer, "ReferenceInformationType") != "Direct" else None
    if order is not None:
        if rows.max() >= len(order):
            return None
        rows = order.astype(np.int64)[rows]
    if rows.max() >= len(table) or rows.min() < 0 or not np.isfinite(table).all():
        return None
    return table[rows]


def _text(record: Record, name: str) -> str:
    value = record.first(name)
    return str(value.values[0]) if value is not None and value.values else ""


def _face_normals(points: Floats, corners: Ints, polygon: Ints) -> Floats:
    triangles = _triangles(polygon)
    a, b, c = (points[corners[triangles[:, k]]] for k in range(3))
    faces = np.cross(b - a, c - a)
    summed = np.zeros((int(polygon.max()) + 1, 3))
    np.add.at(summed, polygon[triangles[:, 0]], faces)
    return np.asarray(summed[polygon])


def _four(count: int, skin: _Skin | None, holder: int) -> tuple[Ints, Floats]:
    """The four joints that every point follows most, (V, 4), and how much; what nobody moves follows its holder."""
    joints, weights = np.full((count, 4), holder, np.int64), np.zeros((count, 4))
    if skin is not None:
        good = (skin.points >= 0) & (skin.points < count) & np.isfinite(skin.weights) & (skin.weights > 0)
        point, joint, weight = skin.points[good], skin.joints[good], skin.weights[good]
        order = np.lexsort((-weight, point))
        point, joint, weight = point[order], joint[order], weight[order]
        starts = np.searchsorted(point, point)
        rank = np.arange(len(point)) - starts
        few = rank < 4
        joints[point[few], rank[few]] = joint[few]
        weights[point[few], rank[few]] = weight[few]
    total = weights.sum(axis=1, keepdims=True)
    bare = total[:, 0] <= 1e-9
    weights[bare, 0], total[bare] = 1.0, 1.0
    joints[weights == 0] = holder
    return joints, weights / total


def _material(scene: FbxScene, below: dict[int, list[int]], key: int, path: Path | None) -> Material:
    record = scene.objects[key]
    table = record.first("Properties70")
    values = {str(p.values[0]): p.values[4:] for p in table.all("P")} if table is not None else {}
    colour: Any = values.get("DiffuseColor") or values.get("Diffuse") or (0.6, 0.6, 0.6)
    factor = values.get("DiffuseFactor") or [1.0]
    image = None
    for child, parent, prop in scene.links:
        if parent == key and prop in ("DiffuseColor", "Maya|baseColor", "3dsMax|Parameters|base_color_map"):
            for video in below.get(child, ()):
                image = image or _picture(scene.objects.get(video), path)
            texture = scene.objects.get(child)
            image = image or _picture(texture, path)
    rgb = (1.0, 1.0, 1.0) if image is not None else tuple(float(x) * float(factor[0]) for x in colour[:3])
    return Material(plain_name(record.values[1]) if len(record.values) > 1 else "", rgb, image)  # type: ignore[arg-type]


def _picture(record: Record | None, path: Path | None) -> bytes | None:
    """A PNG or JPEG that is in the file, or beside it."""
    if record is None:
        return None
    content = record.first("Content")
    if content is not None and content.values and isinstance(content.values[0], bytes):
        data = content.values[0]
        return data if data[:4] in (b"\x89PNG", b"\xff\xd8\xff\xe0", b"\xff\xd8\xff\xe1", b"\xff\xd8\xff\xdb") else None
    for name in ("RelativeFilename", "FileName", "Filename"):
        name_of = _text(record, name).replace("\\", "/")
        if name_of and path is not None:
            beside = path.parent / Path(name_of).name
            if beside.suffix.lower() in (".png", ".jpg", ".jpeg") and beside.is_file():
                return beside.read_bytes()
    return None
