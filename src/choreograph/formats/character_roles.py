"""Which joint of a character is which part of the body, where something says so: a VRM file, or a file beside it.

`hero.glb` may have a `hero.roles.json` beside it, such as {"left_foot": "L_Ankle"}; whoever reads the character then
takes these roles for the joints named, before all that names and shape tell.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from choreograph.base.errors import FormatError
from choreograph.formats.atomic import atomic_write
from choreograph.motion.skeleton import Skeleton

_PARTS = ("clavicle", "upper_arm", "forearm", "hand", "upper_leg", "lower_leg", "foot", "toe")
SINGLE_ROLES = ("hips", "neck", "head", *(f"{side}_{part}" for side in ("left", "right") for part in _PARTS))
"""Roles that one joint has, which people can name."""
_MOST_BYTES, _LONGEST = 100_000, 200
"""Of a file of roles, and the characters of a name in it."""
_VRM_CENTRE = {
    "hips": "hips",
    "spine": "spine",
    "chest": "spine",
    "upperChest": "spine",
    "neck": "neck",
    "head": "head",
}
_VRM_SIDED = {
    "Shoulder": "clavicle",
    "UpperArm": "upper_arm",
    "LowerArm": "forearm",
    "Hand": "hand",
    "UpperLeg": "upper_leg",
    "LowerLeg": "lower_leg",
    "Foot": "foot",
    "Toes": "toe",
}


def vrm_roles(document: Mapping[str, Any], nodes: list[int]) -> dict[str, list[int]]:
    """Roles that a VRM file (0.x or 1.0) tells of its bones, with the joints that have them.

    Args:
        document: The glTF document.
        nodes: The node of each joint.
    """
    joints: dict[str, list[int]] = {}
    for bone, node in _human_bones(document).items():
        side = next((word for word in ("left", "right") if bone.startswith(word)), "")
        part = _VRM_SIDED.get(bone[len(side) :]) if side else None
        role = f"{side}_{part}" if part else _VRM_CENTRE.get(bone)
        if role is not None and node in nodes:
            joints.setdefault(role, []).append(nodes.index(node))
    return joints


def _human_bones(document: Mapping[str, Any]) -> dict[str, int]:
    """Nodes by the names that VRM has for bones."""
    extensions = document.get("extensions")
    if not isinstance(extensions, dict):
        return {}
    for name in ("VRMC_vrm", "VRM"):
        humanoid = extensions.get(name, {}).get("humanoid") if isinstance(extensions.get(name), dict) else None
        bones = humanoid.get("humanBones") if isinstance(humanoid, dict) else None
        if isinstance(bones, dict):  # 1.0: by name
            named = {key: value.get("node") for key, value in bones.items() if isinstance(value, dict)}
        elif isinstance(bones, list):  # 0.x: a list
            named = {str(one.get("bone")): one.get("node") for one in bones if isinstance(one, dict)}
        else:
            continue
        return {key: node for key, node in named.items() if isinstance(node, int)}
    return {}


def roles_file(path: str | Path) -> Path:
    """The file beside a character that says which joint is which."""
    return Path(path).with_suffix(".roles.json")


def read_roles(path: str | Path) -> dict[str, str]:
    """Roles that the file beside a character gives; none where there is no such file.

    Raises:
        FormatError: If it is damaged.
    """
    beside = roles_file(path)
    if not beside.is_file():
        return {}
    try:
        if beside.stat().st_size > _MOST_BYTES:
            raise ValueError(f"it is larger than {_MOST_BYTES} bytes")
        roles = json.loads(beside.read_text("utf-8"))
        words = [*roles, *roles.values()] if isinstance(roles, dict) else [None]
        if not all(isinstance(word, str) and len(word) <= _LONGEST for word in words):
            raise ValueError("it is not a table of roles and joints")
    except (OSError, ValueError, RecursionError) as error:
        raise FormatError(
            f'cannot be read: {error}; it should be like {{"left_foot": "L_Ankle"}}', path=beside
        ) from error
    return roles


def write_roles(path: str | Path, roles: Mapping[str, str]) -> None:
    """Write the file beside a character."""
    with atomic_write(roles_file(path), overwrite=True) as temporary:
        temporary.write_text(json.dumps(dict(roles), indent=1, ensure_ascii=False) + "\n", "utf-8")


def with_named_roles(skeleton: Skeleton, roles: Mapping[str, str]) -> Skeleton:
    """The skeleton with roles that somebody gave; an empty name takes a role away.

    A joint that gets a role loses the one it had.
    """
    given = {role: [joint] if joint else [] for role, joint in roles.items()}
    return skeleton.with_roles(given)


def single_roles(skeleton: Skeleton) -> dict[str, str]:
    """The joint of each role that one joint has, by name; "" where none was found."""
    joints = {role: skeleton.find(role) for role in SINGLE_ROLES}
    return {role: "" if joint is None else skeleton.names[joint] for role, joint in joints.items()}
