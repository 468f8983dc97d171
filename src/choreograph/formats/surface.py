"""The surface of a character: its meshes with base colours, ready to be posed by joint positions and rotations.

Pictures draw vertex colours, so textures are sampled at vertices; meshes coarser than their texture are divided first.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Floats, Floats32, Indices, Ints
from choreograph.base.errors import FormatError
from choreograph.figure.mannequin import SkinnedMesh, skin
from choreograph.formats._glb import Glb
from choreograph.formats._gltf_read import Rig
from choreograph.formats.rigged import RiggedCharacter, node_matrices

_MOST_TRIANGLES = 120_000
"""Up to which a textured mesh is divided."""
_MOST_DRAWN = 2_000_000  # triangles of one file
_GREY = np.array([0.6, 0.6, 0.6])


@dataclass(frozen=True, eq=False)
class CharacterSurface:
    """A character's surface."""

    mesh: SkinnedMesh
    """Its joints are slots: a joint as one of the meshes is bound to it."""
    slots: Indices
    """The skeleton's joint for each slot, (S,)."""

    def pose(self, positions: Floats, rotations: Floats) -> tuple[Floats32, Floats32]:
        """Vertices and normals in a pose given by joint positions (..., J, 3) and rotations (..., J, 4)."""
        return skin(self.mesh, positions[..., self.slots, :], rotations[..., self.slots, :])


@dataclass(eq=False)
class _Part:
    points: Floats
    normals: Floats
    triangles: Ints
    colours: Floats
    joints: Ints
    weights: Floats


def read_surface(character: RiggedCharacter, *, coloured: bool = True) -> CharacterSurface | None:
    """The surface of a character; None where its meshes are compressed or of another kind than is read.

    Without its colours it is read faster.

    >>> from choreograph.demo import demo_clip
    >>> from choreograph.formats import write_clip
    >>> from choreograph.formats.character import read_character
    >>> write_clip("hero.glb", demo_clip("walk", 30.0))
    >>> read_surface(read_character("hero.glb")).mesh.triangles.shape[1]
    3
    """
    glb = Glb(character.document, memoryview(character.body))
    rest = character.skeleton.rest_positions()
    world = turned_to_front(character, node_matrices(character.rig))
    binds: list[tuple[int, Floats]] = [(joint, np.eye(4)) for joint in range(len(rest))]
    try:
        parts = list(_parts(glb, character.rig, world, binds, coloured))
    except (FormatError, KeyError, IndexError, TypeError, ValueError):
        return None
    if not parts:
        return None
    scales = np.array([np.cbrt(max(np.linalg.det(bind[:3, :3]), 1e-12)) for _, bind in binds])
    slots = np.array([joint for joint, _ in binds], np.intp)
    # Meshes bound at another scale than the skeleton's: points are scaled, so that binds are turns and shifts alone.
    points = [part.points * _scale_of(part, scales) for part in parts]
    starts = np.cumsum([0, *(len(own) for own in points[:-1])])
    turns = quat.from_matrix(_rotations(np.array([bind[:3, :3] for _, bind in binds])))
    shifts = np.array([bind[:3, 3] for _, bind in binds])
    back = quat.inverse(turns)
    mesh = SkinnedMesh(
        vertices=np.concatenate(points).astype(np.float32),
        normals=np.concatenate([part.normals for part in parts]).astype(np.float32),
        triangles=np.concatenate([p.triangles + at for p, at in zip(parts, starts, strict=True)]).astype(np.int32),
        joint_indices=np.concatenate([part.joints for part in parts]).astype(np.uint16),
        joint_weights=np.concatenate([part.weights for part in parts]).astype(np.float32),
        colours=np.concatenate([part.colours for part in parts]).astype(np.float32),
        bind_pos=quat.rotate(back, rest[slots] - shifts),
        bind_rot=back,
    )
    return CharacterSurface(mesh, slots)


def turned_to_front(character: RiggedCharacter, world: Floats) -> Floats:
    """Joint transforms with the root at the origin and the body facing +z."""
    turn = np.eye(4)
    turn[:3, :3] = quat.as_matrix(character.turn)
    moved = world.copy()
    moved[:, :3, 3] -= world[0, :3, 3]
    return np.asarray(turn @ moved)


def _scale_of(part: _Part, scales: Floats) -> float:
    return float(np.median(scales[part.joints[:, 0]]))


def _rotations(linear: Floats) -> Floats:
    """The nearest rotation of each matrix, (N, 3, 3)."""
    u, _, vt = np.linalg.svd(linear)
    flip = np.sign(np.linalg.det(u @ vt))
    u[..., 2] *= flip[:, None]
    return np.asarray(u @ vt)


# ------------------------------------------------------------------------------------------------------------- parts


def _parts(glb: Glb, rig: Rig, world: Floats, binds: list[tuple[int, Floats]], coloured: bool) -> Iterator[_Part]:
    """Every mesh that hangs from the skeleton; what each is bound by comes to the binds."""
    nodes = glb.items("nodes")
    joint_of = {node: k for k, node in enumerate(rig.nodes)}
    count = 0
    for number, node in enumerate(nodes):
        if "mesh" not in node:
            continue
        mesh = glb.item("meshes", node["mesh"])
        rows: Ints | None = None
        if "skin" in node:
            skin_ = glb.item("skins", node["skin"])
            if not all(joint in joint_of for joint in skin_["joints"]):
                continue  # another figure's
            inverse = inverse_binds(glb, skin_)
            rows = len(binds) + np.arange(len(skin_["joints"]))
            for k, joint in enumerate(skin_["joints"]):
                binds.append((joint_of[joint], world[joint_of[joint]] @ inverse[k]))
            place = np.eye(4)
        else:
            place_of = holder_of(glb, joint_of, number)
            if place_of is None:
                continue
            holder, local = place_of
            place = world[holder] @ local
        for primitive in mesh.get("primitives", []):
            part = _primitive(glb, primitive, rows, place, None if rows is not None else holder)
            if part is not None:
                part = _coloured(glb, primitive, part) if coloured else part
                count += len(part.triangles)
                if count > _MOST_DRAWN:
                    raise FormatError("has more triangles than are drawn")
                yield part


def inverse_binds(glb: Glb, skin_: dict[str, Any]) -> Floats:
    """What brings vertices into the frame of each of a skin's joints, (J, 4, 4)."""
    if "inverseBindMatrices" not in skin_:
        return np.tile(np.eye(4), (len(skin_["joints"]), 1, 1))
    return np.asarray(glb.array(skin_["inverseBindMatrices"], 16).reshape(-1, 4, 4).transpose(0, 2, 1))


def holder_of(glb: Glb, joint_of: dict[int, int], number: int) -> tuple[int, Floats] | None:
    """The joint that a plain mesh hangs from, and its transform in that joint's frame."""
    nodes = glb.items("nodes")
    parents = {int(child): n for n, node in enumerate(nodes) for child in node.get("children", ())}
    local, at = np.eye(4), number
    for _ in range(len(nodes)):
        if at in joint_of:
            return joint_of[at], local
        local = _matrix(nodes[at]) @ local
        if at not in parents:
            return None
        at = parents[at]
    return None


def _matrix(node: dict[str, Any]) -> Floats:
    if "matrix" in node:
        return np.array(node["matrix"], float).reshape(4, 4).T
    out = np.eye(4)
    turn = np.array(node.get("rotation", (0.0, 0.0, 0.0, 1.0)), float)[[3, 0, 1, 2]]
    out[:3, :3] = quat.as_matrix(turn) * np.array(node.get("scale", (1.0, 1.0, 1.0)), float)
    out[:3, 3] = node.get("translation", (0.0, 0.0, 0.0))
    return out


def _primitive(
    glb: Glb, primitive: dict[str, Any], rows: Ints | None, place: Floats, holder: int | None
) -> _Part | None:
    if primitive.get("mode", 4) != 4:
        return None
    attributes = primitive["attributes"]
    points = glb.array(attributes["POSITION"], 3)
    if "indices" in primitive:
        triangles = glb.array(primitive["indices"], 1).astype(np.int64)
    else:
        triangles = np.arange(len(points))
    triangles = triangles[: len(triangles) // 3 * 3].reshape(-1, 3)
    if len(triangles) == 0 or triangles.max() >= len(points):
        return None
    normals = glb.array(attributes["NORMAL"], 3) if "NORMAL" in attributes else smooth_normals(points, triangles)
    if rows is not None:
        joints = rows[glb.array(attributes["JOINTS_0"], 4).astype(int)]
        weights = glb.array(attributes["WEIGHTS_0"], 4)
    else:
        assert holder is not None
        points = points @ place[:3, :3].T + place[:3, 3]
        normals = normals @ np.linalg.inv(place[:3, :3])
        if np.linalg.det(place[:3, :3]) < 0:
            triangles = triangles[:, ::-1]
        joints = np.full((len(points), 4), holder)
        weights = np.tile([1.0, 0.0, 0.0, 0.0], (len(points), 1))
    weights = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-9)
    normals = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-9)
    return _Part(points, normals, triangles, np.tile(_GREY, (len(points), 1)), joints, weights)


def smooth_normals(points: Floats, triangles: Ints) -> Floats:
    """Normals of vertices by the triangles around them, (V, 3), not yet unit."""
    a, b, c = (points[triangles[:, k]] for k in range(3))
    faces = np.cross(b - a, c - a)
    out = np.zeros_like(points)
    for k in range(3):
        np.add.at(out, triangles[:, k], faces)
    return out


# ------------------------------------------------------------------------------------------------------------ colours


def _coloured(glb: Glb, primitive: dict[str, Any], part: _Part) -> _Part:
    """The part in its material's base colour, its texture and its vertex colours."""
    material = glb.item("materials", primitive["material"]) if "material" in primitive else {}
    about = material.get("pbrMetallicRoughness", {})
    attributes = primitive["attributes"]
    factor = np.array(about.get("baseColorFactor", (1.0, 1.0, 1.0, 1.0)), float)[:3]
    tint = np.ones((len(part.points), 3))
    if "COLOR_0" in attributes:
        width = 4 if glb.item("accessors", attributes["COLOR_0"]).get("type") == "VEC4" else 3
        tint = glb.array(attributes["COLOR_0"], width)[:, :3]
    texture = about.get("baseColorTexture")
    image = _image(glb, texture) if isinstance(texture, dict) else None
    channel = f"TEXCOORD_{texture.get('texCoord', 0)}" if isinstance(texture, dict) else ""
    part.colours = factor * tint
    if image is not None and channel in attributes:
        places = glb.array(attributes[channel], 2)
        part, places = _divided(part, places, image.shape[:2])
        part.colours = part.colours * _sampled(image, places)
    if material.get("doubleSided"):
        part = _both_sides(part)
    return part


def _image(glb: Glb, texture: dict[str, Any]) -> Floats | None:
    """Linear RGB of a texture, (H, W, 3); None where its kind is not read."""
    from PIL import Image, UnidentifiedImageError

    source = glb.item("textures", texture["index"]).get("source")
    if source is None:
        return None
    image = glb.item("images", source)
    if "bufferView" not in image:
        return None
    data = glb.bytes_of(image["bufferView"])
    try:
        with Image.open(io.BytesIO(data)) as opened:
            opened.thumbnail((1024, 1024))
            values = np.asarray(opened.convert("RGB"), float) / 255
    except (UnidentifiedImageError, OSError, ValueError, Image.DecompressionBombError):
        return None
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def _sampled(image: Floats, places: Floats) -> Floats:
    height, width = image.shape[:2]
    x = np.clip((places[:, 0] % 1.0) * width, 0, width - 1).astype(int)
    y = np.clip((places[:, 1] % 1.0) * height, 0, height - 1).astype(int)
    return np.asarray(image[y, x])


def _divided(part: _Part, places: Floats, size: tuple[int, ...]) -> tuple[_Part, Floats]:
    """The part with triangles so small that vertices show its texture, within a budget."""
    texels = np.array([size[1], size[0]])
    while 4 * len(part.triangles) <= _MOST_TRIANGLES:
        edges = np.linalg.norm((places[part.triangles] - places[np.roll(part.triangles, 1, axis=1)]) * texels, axis=2)
        if np.median(edges) <= 3.0:
            break
        part, places = _split(part, places)
    return part, places


def _split(part: _Part, places: Floats) -> tuple[_Part, Floats]:
    """Every triangle as four, with new vertices in the middles of edges."""
    t = part.triangles
    edges = np.sort(np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]]), axis=1)
    unique, back = np.unique(edges, axis=0, return_inverse=True)
    a, b = unique.T
    middle = (len(part.points) + back.reshape(3, -1)).T
    triangles = np.concatenate(
        [
            np.column_stack([t[:, 0], middle[:, 0], middle[:, 2]]),
            np.column_stack([middle[:, 0], t[:, 1], middle[:, 1]]),
            np.column_stack([middle[:, 2], middle[:, 1], t[:, 2]]),
            middle,
        ]
    )

    def with_middles(values: Floats) -> Floats:
        return np.concatenate([values, 0.5 * (values[a] + values[b])])

    normals = with_middles(part.normals)
    joints, weights = _mixed(part, a, b)
    grown = _Part(
        with_middles(part.points),
        normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-9),
        triangles,
        with_middles(part.colours),
        np.concatenate([part.joints, joints]),
        np.concatenate([part.weights, weights]),
    )
    return grown, with_middles(places)


def _mixed(part: _Part, a: Ints, b: Ints) -> tuple[Ints, Floats]:
    """The four joints that vertices between others follow most, and how much."""
    joints = np.concatenate([part.joints[a], part.joints[b]], axis=1)
    weights = 0.5 * np.concatenate([part.weights[a], part.weights[b]], axis=1)
    for k in range(4, 8):  # a joint of both ends counts once
        for m in range(4):
            same = (joints[:, k] == joints[:, m]) & (weights[:, k] > 0)
            weights[:, m] += np.where(same, weights[:, k], 0.0)
            weights[:, k] = np.where(same, 0.0, weights[:, k])
    order = np.argsort(-weights, axis=1)[:, :4]
    weights = np.take_along_axis(weights, order, axis=1)
    return np.take_along_axis(joints, order, axis=1), weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-9)


def _both_sides(part: _Part) -> _Part:
    """The part with its back sides drawn, too."""
    count = len(part.points)
    return _Part(
        np.tile(part.points, (2, 1)),
        np.concatenate([part.normals, -part.normals]),
        np.concatenate([part.triangles, part.triangles[:, ::-1] + count]),
        np.tile(part.colours, (2, 1)),
        np.tile(part.joints, (2, 1)),
        np.tile(part.weights, (2, 1)),
    )
