"""Somebody's own character: the body of a skinned GLB or VRM file, and the file anew with another motion.

Mesh, skin, materials, textures and morphs stay byte for byte as they are; only the animations are replaced. A
character that was modelled facing another way than +z is turned for the motion, and back in the file.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from choreograph.base import quat
from choreograph.base.arrays import Floats
from choreograph.base.errors import FormatError, RequestError
from choreograph.formats._glb import Glb, chunks, pack
from choreograph.formats._gltf_read import Rig, blaming, lay_out
from choreograph.formats.assemble import read_bytes
from choreograph.formats.atomic import atomic_write
from choreograph.formats.character_roles import read_roles, vrm_roles, with_named_roles
from choreograph.formats.figures import KEY, from_rest
from choreograph.formats.rigged import RiggedCharacter
from choreograph.formats.surface import read_surface
from choreograph.motion.clip import Clip
from choreograph.motion.role_map import LEG_ROLES, SIDES
from choreograph.motion.skeleton import Skeleton

SUFFIXES = (".glb", ".vrm", ".fbx")
"""Files that a character is read from."""
WRITES = (".glb", ".vrm")
"""Files that a character is written to."""


def read_character(path: str | Path, *, figure: int | None = None) -> RiggedCharacter:
    """The character of a GLB, VRM or FBX file.

    Roles that a VRM file tells of its bones count before those found by names and shape, and roles in a file beside it
    (`hero.roles.json`, such as {"left_foot": "L_Ankle"}) before all others.

    >>> from choreograph.demo import demo_clip
    >>> from choreograph.formats import write_clip
    >>> write_clip("hero.glb", demo_clip("walk", 30.0))
    >>> read_character("hero.glb").skeleton.find("head") is not None
    True

    Args:
        path: The file.
        figure: Which of its skins; the one with the most joints where None. A name that ends in #1 says so, too.

    Raises:
        FormatError: The file is damaged, has no skinned body, or several of which none is named.
    """
    path, figure = _split_number(path, figure)
    data = read_bytes(path)
    with blaming(path):
        if Path(path).suffix.lower() == ".fbx":
            from choreograph.formats.fbx_character import fbx_as_glb

            data = fbx_as_glb(data, Path(path), figure or 0)
            figure = None
        document, body = chunks(data)
        glb = Glb(document, body)
        skins = glb.items("skins")
        if not skins:
            raise FormatError("has no skin, so there is no character in it")
        if figure is None:
            figure = _only_figure(glb, skins)
        if not 0 <= figure < len(skins):
            raise FormatError(f"has {len(skins)} skinned figures, so there is no number {figure} (they count from 0)")
        rig = lay_out(glb, skins[figure], {}, {})
        skeleton, _, _ = from_rest(rig.names, rig.parents, rig.pos, rig.rot, rig.pos[None], rig.rot[None])
        by_file, named = vrm_roles(document, rig.nodes), read_roles(path)
        skeleton, known = with_named_roles(skeleton.with_roles(by_file), named), {*by_file, *named}
        turn = _to_front(skeleton)
        offsets, tips = quat.rotate(turn, skeleton.offsets), quat.rotate(turn, skeleton.tip_offsets)
        skeleton = Skeleton(skeleton.names, skeleton.parents, offsets, skeleton.tip_parents, tips, skeleton.roles)
        whole = RiggedCharacter(Path(path).stem, skeleton, _lowest_joint(skeleton), turn, rig, document, bytes(body))
        return _standing(whole, known)


def _split_number(path: str | Path, figure: int | None) -> tuple[Path, int | None]:
    """A file, and the number that its name ends in behind a #."""
    head, mark, number = str(path).rpartition("#")
    if figure is None and mark and number.isdecimal() and len(number) < 5 and not Path(path).exists():
        return Path(head), int(number)
    return Path(path), figure


def _only_figure(glb: Glb, skins: list[dict[str, Any]]) -> int:
    """The skin with the most joints; where several bodies have legs, somebody must say which."""
    named: list[Any] = [skin.get("joints") for skin in skins]
    listed = [joints if isinstance(joints, list) else [] for joints in named]
    order = sorted(range(len(skins)), key=lambda k: -len(listed[k]))
    bodies: list[tuple[int, Rig]] = []
    for k in order:
        joints = {node for node in listed[k] if isinstance(node, int)}
        if any(joints & set(rig.nodes) for _, rig in bodies):
            continue  # another mesh of the same body
        try:
            rig = lay_out(glb, skins[k], {}, {})
        except FormatError:
            if not bodies:
                raise
            continue
        skeleton, _, _ = from_rest(rig.names, rig.parents, rig.pos, rig.rot, rig.pos[None], rig.rot[None])
        if not bodies or all(skeleton.find(role) is not None for role in LEG_ROLES):
            bodies.append((k, rig))
    if len(bodies) > 1:
        names = ", ".join(f"#{k} with {len(rig.names)} joints from {rig.names[0]!r}" for k, rig in sorted(bodies)[:8])
        raise FormatError(f"has {len(bodies)} characters: {names}; name one, as in hero.glb#{bodies[0][0]}")
    return bodies[0][0]


def _to_front(skeleton: Skeleton) -> Floats:
    """The turn about the vertical, by quarters, after which the left leg is at +x."""
    legs = [skeleton.find(f"{side}_upper_leg") for side in SIDES]
    if legs[0] is None or legs[1] is None:
        return np.array(quat.IDENTITY)
    rest = skeleton.rest_positions()
    x, _, z = rest[legs[0]] - rest[legs[1]]
    return quat.from_yaw(np.round(np.arctan2(z, x) / (np.pi / 2)) * (np.pi / 2))


def _lowest_joint(skeleton: Skeleton) -> float:
    rest = skeleton.rest_positions()
    return min((float(rest[joint, 1]) for joint in skeleton.feet), default=float(rest[:, 1].min()))


def _standing(character: RiggedCharacter, known: set[str]) -> RiggedCharacter:
    """The character on its soles as its nodes rest; as it is where no mesh is read.

    A joint in the rear half of a sole is not the ball of the foot: it loses the role, unless that was told. A foot
    without a ball ends where its sole does.
    """
    surface = read_surface(character, coloured=False)
    if surface is None:
        return character
    skeleton = character.skeleton
    rest = skeleton.rest_positions()
    vertices, _ = surface.pose(rest, np.tile(quat.IDENTITY, (len(rest), 1)))
    sole_m = min(character.sole_m, float(vertices[:, 1].min()))
    ankles = [skeleton.find(f"{side}_foot") for side in SIDES]
    if ankles[0] is None or ankles[1] is None:
        return replace(character, sole_m=sole_m)
    roles = list(skeleton.roles)
    tips = list(zip(skeleton.tip_parents, skeleton.tip_offsets, strict=True))
    apart = [np.linalg.norm(vertices[:, [0, 2]] - rest[ankle][[0, 2]], axis=1) for ankle in ankles]
    for k, side in enumerate(SIDES):
        toe = skeleton.find(f"{side}_toe")
        low = vertices[:, 1] < (sole_m + rest[ankles[k], 1]) / 2
        along = vertices[low & (apart[k] < apart[1 - k]), 2]
        behind = toe is not None and len(along) and 2 * rest[toe, 2] < along.min() + along.max()
        if toe is not None and behind and f"{side}_toe" not in known:
            roles[toe] = "other"
        if f"{side}_toe" not in roles and len(along) and ankles[k] not in skeleton.tip_parents:
            tips.append((ankles[k], np.array([0.0, sole_m - rest[ankles[k], 1], along.max() - rest[ankles[k], 2]])))
    standing = replace(
        skeleton,
        roles=tuple(roles),
        tip_parents=np.array([joint for joint, _ in tips], np.int32),
        tip_offsets=np.array([offset for _, offset in tips]),
    )
    return replace(character, skeleton=standing, sole_m=sole_m)


def write_character(path: str | Path, character: RiggedCharacter, clip: Clip, *, overwrite: bool = False) -> None:
    """Write the character's file with the clip as its only animation.

    >>> from choreograph.demo import demo_clip
    >>> from choreograph.formats import write_clip
    >>> write_clip("heroine.glb", demo_clip("walk", 30.0))
    >>> write_character("hops.glb", read_character("heroine.glb"), demo_clip("jump_high", 30.0))

    Args:
        path: A .glb or .vrm file.
        character: As `read_character` gives it.
        clip: A motion of its skeleton, such as `retarget` makes.
        overwrite: Replace a file that exists.

    Raises:
        RequestError: If the clip is not of the character's skeleton.
    """
    if not clip.skeleton.same_joints(character.skeleton):
        raise RequestError(f"the motion is not on {character.name!r}'s skeleton; retarget it first")
    document = json.loads(json.dumps(character.document))
    blob = bytearray(character.body)
    rotations, places = _node_motion(character, clip)
    times = _append(document, blob, (np.arange(len(clip)) / clip.fps).astype("<f4"), "SCALAR")
    samplers: list[dict[str, Any]] = []
    channels: list[dict[str, Any]] = []

    def add(node: int, what: str, values: Floats, shape: str) -> None:
        samplers.append({"input": times, "output": _append(document, blob, values.astype("<f4"), shape)})
        channels.append({"sampler": len(samplers) - 1, "target": {"node": node, "path": what}})

    for k, node in enumerate(character.rig.nodes):
        document["nodes"][node].pop("matrix", None)
        add(node, "rotation", quat.make_continuous(rotations[:, k])[:, [1, 2, 3, 0]], "VEC4")
        place = places[k]
        if place is not None:
            add(node, "translation", place, "VEC3")
    _rest_as_vectors(character, document)
    for skin in document["skins"]:  # what is noted there is about the motion that is replaced
        if isinstance(skin.get("extras"), dict):
            skin["extras"].pop(KEY, None)
    document["animations"] = [{"name": clip.name, "samplers": samplers, "channels": channels}]
    document["buffers"] = [{"byteLength": len(blob)}]
    with atomic_write(path, overwrite=overwrite) as temporary:
        temporary.write_bytes(pack(document, bytes(blob)))


def _rest_as_vectors(character: RiggedCharacter, document: dict[str, Any]) -> None:
    """Animated nodes may not have a matrix: their rest is told by place and rotation."""
    rig = character.rig
    original = character.document["nodes"]
    shift, turn, scale = rig.above
    for k, node in enumerate(rig.nodes):
        if "matrix" not in original[node]:
            continue
        place, rotation = rig.pos[k], rig.rot[k]
        if k == 0:
            place = quat.rotate(quat.inverse(turn), place - shift)
            rotation = quat.multiply(quat.inverse(turn), rotation)
        document["nodes"][node]["translation"] = (place / scale).tolist()
        document["nodes"][node]["rotation"] = np.asarray(rotation)[[1, 2, 3, 0]].tolist()


def _node_motion(character: RiggedCharacter, clip: Clip) -> tuple[Floats, list[Floats | None]]:
    """The clip as rotations and places of nodes in their parents' frames, in the file's own axes and unit."""
    rig = character.rig
    shift, turn, scale = rig.above
    back = quat.inverse(character.turn)
    parents, count = rig.parents, len(rig.names)
    rest = np.array(rig.rot)
    for k in range(1, count):
        rest[k] = quat.multiply(rest[parents[k]], rig.rot[k])
    rotations = np.empty_like(clip.local_rot)
    places: list[Floats | None] = [None] * count
    moved = clip.local_pos
    for k in range(count):
        own = quat.multiply(clip.local_rot[:, k], character.turn)
        if k == 0:
            rotations[:, 0] = quat.multiply(quat.inverse(turn), quat.multiply(own, rest[0]))
            places[0] = quat.rotate(quat.inverse(turn), clip.root_pos - shift) / scale
            continue
        own = quat.multiply(back, own)
        above = quat.inverse(rest[parents[k]])
        rotations[:, k] = quat.multiply(above, quat.multiply(own, rest[k]))
        if moved is not None and np.abs(moved[:, k] - clip.skeleton.offsets[k]).max() > 1e-7:
            places[k] = quat.rotate(above, quat.rotate(back, moved[:, k])) / scale
    return rotations, places


def _append(document: dict[str, Any], blob: bytearray, values: NDArray[Any], shape: str) -> int:
    """Put numbers behind the file's own; the number of their accessor."""
    blob += bytes(-len(blob) % 4)
    views, accessors = document.setdefault("bufferViews", []), document.setdefault("accessors", [])
    views.append({"buffer": 0, "byteOffset": len(blob), "byteLength": values.nbytes})
    blob += values.tobytes()
    accessor: dict[str, Any] = {
        "bufferView": len(views) - 1, "componentType": 5126, "count": len(values), "type": shape,
    }  # fmt: skip
    if shape == "SCALAR":
        accessor |= {"min": [float(values.min())], "max": [float(values.max())]}
    accessors.append(accessor)
    return len(accessors) - 1


__all__ = ["SUFFIXES", "WRITES", "RiggedCharacter", "read_character", "write_character"]
