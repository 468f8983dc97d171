"""A skinned character of an FBX file as a GLB: its joints, meshes, skin and base colours, in the bind pose."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choreograph.base import quat
from choreograph.base.arrays import Floats
from choreograph.base.errors import FormatError
from choreograph.formats import world
from choreograph.formats._fbx_mesh import Mesh, read_meshes
from choreograph.formats._fbx_scene import read_scene
from choreograph.formats._fbx_tree import read_tree
from choreograph.formats._glb import pack
from choreograph.formats.fbx import figures_of, joint_names, joint_parents, rest_matrices, split_matrices, unit_of
from choreograph.formats.figures import from_rest


def fbx_as_glb(data: bytes, path: Path | None = None, figure: int = 0) -> bytes:
    """The character of an FBX file as the bytes of a GLB file, in metres, y up.

    Args:
        data: The FBX file.
        path: Where it lies, for pictures beside it.
        figure: Which of its skeletons, the one with the most joints first.

    Raises:
        FormatError: The file is damaged, or has no skinned body.
    """
    scene = read_scene(read_tree(data)[1])
    figures = figures_of(scene)
    if not figures:
        raise FormatError("holds no skeleton")
    if not 0 <= figure < len(figures):
        raise FormatError(f"has {len(figures)} skeletons, so there is no number {figure} (they count from 0)")
    joints = figures[figure]
    parents = joint_parents(joints)
    places, turns, _ = split_matrices(rest_matrices(scene, joints)[None])
    meshes = list(read_meshes(scene, joints, path))
    if not meshes:
        raise FormatError("has no mesh that its joints move, so there is no character in it")
    names = joint_names(joints)
    local_pos, local_rot = _local(places[0], turns[0], parents)
    skeleton, _, _ = from_rest(names, parents, local_pos, local_rot, local_pos[None], local_rot[None])
    unit, _ = unit_of(scene, skeleton)
    up = world.to_y_up(scene.up_axis())
    out = _Glb()
    nodes: list[dict[str, Any]] = []
    for k, name in enumerate(names):
        nodes.append({"name": name, "translation": local_pos[k].tolist(), "rotation": _xyzw(local_rot[k])})
        if parents[k] >= 0:
            nodes[parents[k]].setdefault("children", []).append(k)
    root = {"name": "character", "scale": [unit.metres] * 3, "rotation": _xyzw(up), "children": [0]}
    inverse = _inverse(places[0], turns[0])
    skin = {"joints": list(range(len(names))), "inverseBindMatrices": out.put(inverse, "MAT4"), "skeleton": 0}
    for number, mesh in enumerate(meshes):
        nodes.append({"name": mesh.name, "mesh": number, "skin": 0})
    nodes.append(root)
    own = list(range(len(names), len(nodes)))
    document = {
        "asset": {"version": "2.0", "generator": "Choreograph"},
        "scene": 0,
        "scenes": [{"nodes": own}],
        "nodes": nodes,
        "skins": [skin],
        "meshes": [_mesh(out, mesh) for mesh in meshes],
        "materials": out.materials,
        **({"textures": out.textures, "images": out.images} if out.images else {}),
        "accessors": out.accessors,
        "bufferViews": out.views,
        "buffers": [{"byteLength": len(out.blob) + -len(out.blob) % 4}],
    }
    return pack(document, bytes(out.blob))


def _xyzw(turn: Floats) -> list[float]:
    return np.asarray(quat.normalise(turn))[[1, 2, 3, 0]].tolist()


def _local(places: Floats, turns: Floats, parents: list[int]) -> tuple[Floats, Floats]:
    pos, rot = places.copy(), turns.copy()
    for k, parent in enumerate(parents):
        if parent >= 0:
            back = quat.inverse(turns[parent])
            pos[k] = quat.rotate(back, places[k] - places[parent])
            rot[k] = quat.multiply(back, turns[k])
    return pos, rot


def _inverse(places: Floats, turns: Floats) -> Floats:
    """Inverse rest transforms as glTF has them, by columns, (J, 16)."""
    out = np.tile(np.eye(4), (len(places), 1, 1))
    back = quat.inverse(turns)
    out[:, :3, :3] = quat.as_matrix(back)
    out[:, :3, 3] = -quat.rotate(back, places)
    return out.transpose(0, 2, 1).reshape(-1, 16)


class _Glb:
    """Arrays, pictures and materials of a file in the making."""

    def __init__(self) -> None:
        self.blob = bytearray()
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []
        self.materials: list[dict[str, Any]] = []
        self.textures: list[dict[str, Any]] = []
        self.images: list[dict[str, Any]] = []
        self._known: dict[int, int] = {}

    def put(self, values: NDArray[Any], shape: str, kind: str = "<f4", *, bounds: bool = False) -> int:
        """The number of the accessor of an array."""
        array = np.ascontiguousarray(values, kind)
        self._view(array.tobytes())
        number = {"<f4": 5126, "<u4": 5125, "<u2": 5123}[kind]
        accessor: dict[str, Any] = {
            "bufferView": len(self.views) - 1, "componentType": number, "count": len(array), "type": shape,
        }  # fmt: skip
        if bounds:
            accessor |= {"min": array.min(axis=0).tolist(), "max": array.max(axis=0).tolist()}
        self.accessors.append(accessor)
        return len(self.accessors) - 1

    def _view(self, data: bytes) -> int:
        self.blob += bytes(-len(self.blob) % 4)
        self.views.append({"buffer": 0, "byteOffset": len(self.blob), "byteLength": len(data)})
        self.blob += data
        return len(self.views) - 1

    def material(self, mesh: Mesh) -> int:
        """The number of a mesh's material."""
        one = mesh.material
        if id(one) not in self._known:
            about: dict[str, Any] = {"metallicFactor": 0.0, "roughnessFactor": 0.8, "baseColorFactor": [*one.colour, 1]}
            if one.image is not None and mesh.places is not None:
                kind = "image/png" if one.image[:4] == b"\x89PNG" else "image/jpeg"
                self.images.append({"bufferView": self._view(one.image), "mimeType": kind})
                self.textures.append({"source": len(self.images) - 1})
                about["baseColorTexture"] = {"index": len(self.textures) - 1}
            self._known[id(one)] = len(self.materials)
            self.materials.append({"name": one.name, "pbrMetallicRoughness": about})
        return self._known[id(one)]


def _mesh(out: _Glb, mesh: Mesh) -> dict[str, Any]:
    attributes = {
        "POSITION": out.put(mesh.points, "VEC3", bounds=True),
        "NORMAL": out.put(mesh.normals, "VEC3"),
        "JOINTS_0": out.put(mesh.joints, "VEC4", "<u2"),
        "WEIGHTS_0": out.put(mesh.weights, "VEC4"),
    }
    if mesh.places is not None:
        attributes["TEXCOORD_0"] = out.put(mesh.places, "VEC2")
    primitive = {
        "attributes": attributes,
        "indices": out.put(mesh.triangles.reshape(-1), "SCALAR", "<u4"),
        "material": out.material(mesh),
    }
    return {"name": mesh.name, "primitives": [primitive]}
