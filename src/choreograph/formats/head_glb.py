"""Heads in GLB files: a mesh with named morph targets, to show faces on."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Floats, Ints
from choreograph.base.errors import FormatError
from choreograph.formats._glb import Glb, chunks, index, pack, vector
from choreograph.formats.atomic import atomic_write
from choreograph.motion.face import Face, FaceShapes, shape_key


@dataclass(frozen=True, eq=False)
class Head:
    """A head's surface, and how shapes move it. Units and size are the file's own; y is up."""

    shapes: FaceShapes
    """Its vertices as landmarks, with the moves of its shapes."""
    triangles: Ints
    """(T, 3)."""
    still: tuple[tuple[Floats, Ints], ...] = ()
    """Vertices and triangles of what no shape moves: eyes, teeth."""


def read_head(path: str | Path) -> Head:
    """The head of a GLB file: its mesh with the most named morph targets, and what lies around it.

    >>> read_head("nobody.glb")
    Traceback (most recent call last):
    ...
    choreograph.base.errors.FormatError: nobody.glb: cannot be read: No such file or directory

    Args:
        path: A file as facecap's and ARKit's heads are; quantised and meshopt-compressed meshes are read too.

    Raises:
        FormatError: If it has no mesh with named morph targets.
    """
    path = Path(path)
    try:
        document = Glb(*chunks(path.read_bytes()))
        return _find_head(document)
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror}", path=path) from None
    except FormatError as error:
        raise error.at(path) from None


def write_face_on_head(path: str | Path, face: Face, head: str | Path, *, overwrite: bool = False) -> None:
    """Write a head's GLB file with a face as its only animation; the rest of the file stays as it is.

    >>> from choreograph.formats.face_glb import read_face_glb, write_face_glb
    >>> from choreograph.motion.head import simple_head
    >>> write_face_glb("head.glb", Face(("JawOpen",), [[0.0], [1.0]], 30.0), simple_head(), overwrite=True)
    >>> write_face_on_head("shut.glb", Face(("JawOpen",), [[0.0], [0.0], [0.0]], 30.0), "head.glb")
    >>> len(read_face_glb("shut.glb"))
    3

    Args:
        path: The file to write.
        face: Weights; shapes that the head does not have are left out, and those that the face lacks are 0.
        head: A GLB file with a mesh of named morph targets.
        overwrite: Whether a file there is replaced.

    Raises:
        FormatError: If it is no such head, or none of its shapes is the face's.
    """
    head = Path(head)
    try:
        document, body = chunks(head.read_bytes())
        channels = _channels(Glb(document, body), face)
    except OSError as error:
        raise FormatError(f"cannot be read: {error.strerror}", path=head) from None
    except FormatError as error:
        raise error.at(head) from None
    data = bytearray(body)
    times = np.arange(len(face)) / face.fps
    samplers = []
    for _, weights in channels:
        numbers = []
        for values in (times, weights.ravel()):
            data += bytes(-len(data) % 4)
            flat = values.astype("<f4")
            view = {"buffer": 0, "byteOffset": len(data), "byteLength": flat.nbytes}
            data += flat.tobytes()
            document.setdefault("bufferViews", []).append(view)
            accessor = {"bufferView": len(document["bufferViews"]) - 1, "componentType": 5126, "count": len(flat)}
            bounds = {"min": [float(flat.min())], "max": [float(flat.max())]}
            document.setdefault("accessors", []).append({**accessor, "type": "SCALAR", **bounds})
            numbers.append(len(document["accessors"]) - 1)
        samplers.append({"input": numbers[0], "output": numbers[1], "interpolation": "LINEAR"})
    targets = [{"sampler": n, "target": {"node": node, "path": "weights"}} for n, (node, _) in enumerate(channels)]
    document["animations"] = [{"name": face.name, "samplers": samplers, "channels": targets}]
    data += bytes(-len(data) % 4)
    document["buffers"][0]["byteLength"] = len(data)
    with atomic_write(path, overwrite=overwrite) as temporary:
        temporary.write_bytes(pack(document, bytes(data)))


def _channels(document: Glb, face: Face) -> list[tuple[int, Floats]]:
    """Nodes whose meshes have named morph targets, each with its weights (F, S)."""
    channels = []
    for number, node in enumerate(document.items("nodes")):
        if node.get("mesh") is None:
            continue
        mesh = document.item("meshes", node["mesh"])
        extras = mesh.get("extras")
        names = extras.get("targetNames") if isinstance(extras, dict) else None
        if not isinstance(names, list) or not names:
            continue
        known = {shape_key(name): n for n, name in enumerate(face.names)}
        at = np.array([known.get(shape_key(str(name)), -1) for name in names])
        if (at >= 0).any():
            channels.append((number, np.where(at >= 0, face.weights[:, np.maximum(at, 0)], 0.0)))
    if not channels:
        raise FormatError(f"has no mesh whose named morph targets are among the face's: {', '.join(face.names[:6])} …")
    return channels


def _find_head(document: Glb) -> Head:
    nodes = document.items("nodes")
    parents = {}
    for number, node in enumerate(nodes):
        for child in node.get("children") or []:
            parents[index(child, len(nodes), "nodes")] = number
    best: tuple[int, tuple[str, ...], Any, Floats] | None = None
    still = []
    for number, node in enumerate(nodes):
        if node.get("mesh") is None:
            continue
        mesh, world = document.item("meshes", node["mesh"]), _world(nodes, parents, number)
        extras = mesh.get("extras")
        names = extras.get("targetNames") if isinstance(extras, dict) else None
        primitives = [one for one in mesh.get("primitives") or [] if isinstance(one, dict)]
        for primitive in primitives:
            count = len(primitive.get("targets") or [])
            if isinstance(names, list) and count and len(names) == count and (best is None or count > best[0]):
                best = count, tuple(str(name) for name in names), primitive, world
            elif not count:
                still.append((primitive, world))
    if best is None:
        raise FormatError("has no mesh with named morph targets")
    _, names_, primitive, world = best
    points = document.array(primitive.get("attributes", {}).get("POSITION"), 3)
    moves = np.array([document.array(one.get("POSITION"), 3) for one in primitive["targets"]])
    if moves.shape[1:] != points.shape:
        raise FormatError("its morph targets have other vertices than its mesh")
    shapes = FaceShapes(names_, points @ world[:3, :3].T + world[:3, 3], moves @ world[:3, :3].T)
    around = []
    for other, where in still:
        own = document.array(other.get("attributes", {}).get("POSITION"), 3)
        around.append((own @ where[:3, :3].T + where[:3, 3], _triangles(document, other, len(own))))
    return Head(shapes, _triangles(document, primitive, len(points)), tuple(around))


def _triangles(document: Glb, primitive: dict[str, Any], count: int) -> Ints:
    if primitive.get("indices") is None:
        triangles = np.arange(count // 3 * 3)
    else:
        triangles = document.array(primitive["indices"], 1).astype(np.int64)
    if len(triangles) % 3 or triangles.max(initial=0) >= count or primitive.get("mode", 4) != 4:
        raise FormatError("its mesh is no list of triangles of its vertices")
    return triangles.reshape(-1, 3)


def _world(nodes: list[dict[str, Any]], parents: dict[int, int], number: int) -> Floats:
    """A node's matrix in the scene, (4, 4)."""
    out, seen = np.eye(4), 0
    at: int | None = number
    while at is not None and seen <= len(nodes):
        node, own = nodes[at], np.eye(4)
        if node.get("matrix") is not None:
            own = vector(node["matrix"], np.eye(4).ravel().tolist()).reshape(4, 4).T
        else:
            x, y, z, w = vector(node.get("rotation"), (0.0, 0.0, 0.0, 1.0))
            turn = quat.normalise(np.array([w, x, y, z]))
            axes = np.stack([quat.rotate(turn, axis) for axis in np.eye(3)], axis=1)
            own[:3, :3] = axes * vector(node.get("scale"), (1.0, 1.0, 1.0))
            own[:3, 3] = vector(node.get("translation"), (0.0, 0.0, 0.0))
        out, at, seen = own @ out, parents.get(at), seen + 1
    return out
