"""A character as the stage takes it: bones in the order of its joints, unturned at rest, with its own materials."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.formats._glb import Glb, pack
from choreograph.formats.rigged import RiggedCharacter, node_matrices
from choreograph.formats.surface import holder_of, inverse_binds, turned_to_front
from choreograph.motion.detached_feet import rehang
from choreograph.motion.skeleton import Skeleton


def stage_body(character: RiggedCharacter) -> Skeleton:
    """The skeleton that moves on the stage: feet hang from the shins, so that rotations tell the whole pose."""
    rehung = rehang(character.skeleton)
    return character.skeleton if rehung is None else rehung.body


def stage_figure(character: RiggedCharacter) -> bytes:
    """A GLB file of the character whose bones are posed by rotations against an unturned rest pose, in metres.

    >>> from choreograph.demo import demo_clip
    >>> from choreograph.formats import write_clip
    >>> from choreograph.formats.character import read_character
    >>> write_clip("hero.glb", demo_clip("walk", 30.0))
    >>> stage_figure(read_character("hero.glb"))[:4]
    b'glTF'
    """
    document: dict[str, Any] = json.loads(json.dumps(character.document))
    blob = bytearray(character.body)
    glb = Glb(character.document, memoryview(character.body))
    body, rig = stage_body(character), character.rig
    place = {rig.nodes[character.skeleton.index(name)]: k for k, name in enumerate(body.names)}
    rest = body.rest_positions()
    world = {place[node]: matrix for node, matrix in zip(rig.nodes, _world(character), strict=True)}
    nodes: list[dict[str, Any]] = []
    for k, name in enumerate(body.names):
        nodes.append({"name": name, "translation": (body.offsets[k] if k else rest[0]).tolist()})
        if body.parents[k] >= 0:
            nodes[body.parents[k]].setdefault("children", []).append(k)
    top, skins = [0], []
    for number, node in enumerate(glb.items("nodes")):
        if "mesh" not in node:
            continue
        node_out = {"name": node.get("name", ""), "mesh": node["mesh"]}
        if "skin" in node:
            skin = glb.item("skins", node["skin"])
            if not all(joint in place for joint in skin["joints"]):
                continue
            inverse = inverse_binds(glb, skin)
            # Every joint of the body is in the skin, so that the stage finds them in their order.
            binds = np.tile(np.eye(4), (len(body), 1, 1))
            joints = list(range(len(body)))
            order = [place[joint] for joint in skin["joints"]]
            for k, joint in enumerate(order):
                binds[joint] = world[joint] @ inverse[k]
            binds[:, :3, 3] -= rest
            skins.append({"joints": joints, "inverseBindMatrices": _put(document, blob, binds), "skeleton": 0})
            _renumber(document, blob, glb, node["mesh"], order)
            nodes.append({**node_out, "skin": len(skins) - 1})
            top.append(len(nodes) - 1)
            continue
        place_of = holder_of(glb, place, number)
        if place_of is not None:
            holder, local = place_of
            matrix = world[holder] @ local
            matrix[:3, 3] -= rest[holder]
            nodes.append({**node_out, "matrix": matrix.T.reshape(-1).tolist()})
            nodes[holder].setdefault("children", []).append(len(nodes) - 1)
    for key in ("animations", "extensions", "cameras"):
        document.pop(key, None)
    used = [
        name for name in document.get("extensionsUsed", []) if name.startswith(("KHR_materials", "KHR_texture", "EXT_"))
    ]
    document |= {"nodes": nodes, "skins": skins, "scene": 0, "scenes": [{"nodes": top, "extras": {"character": True}}]}
    document["buffers"] = [{"byteLength": len(blob)}]
    document["extensionsUsed"] = used
    if not used:
        document.pop("extensionsUsed")
    if not skins:
        document.pop("skins")
    return pack(document, bytes(blob))


def _world(character: RiggedCharacter) -> Floats:
    return turned_to_front(character, node_matrices(character.rig))


def _put(document: dict[str, Any], blob: bytearray, binds: Floats) -> int:
    values = np.ascontiguousarray(binds.transpose(0, 2, 1).reshape(-1, 16), "<f4")
    return _accessor(document, blob, values.tobytes(), 5126, len(values), "MAT4")


def _accessor(document: dict[str, Any], blob: bytearray, data: bytes, kind: int, count: int, shape: str) -> int:
    blob += bytes(-len(blob) % 4)
    document["bufferViews"].append({"buffer": 0, "byteOffset": len(blob), "byteLength": len(data)})
    blob += data
    view = len(document["bufferViews"]) - 1
    document["accessors"].append({"bufferView": view, "componentType": kind, "count": count, "type": shape})
    return len(document["accessors"]) - 1


def _renumber(document: dict[str, Any], blob: bytearray, glb: Glb, mesh: int, order: list[int]) -> None:
    """Let a mesh's vertices name joints by their place in the body."""
    if order == list(range(len(order))):
        return
    to = np.array(order, "<u2")
    for primitive in document["meshes"][mesh]["primitives"]:
        attributes = primitive["attributes"]
        for name in [key for key in attributes if key.startswith("JOINTS_")]:
            rows = glb.array(attributes[name], 4).astype(int)
            data = np.ascontiguousarray(to[rows]).tobytes()
            attributes[name] = _accessor(document, blob, data, 5123, len(rows), "VEC4")
