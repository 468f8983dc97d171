"""Which joints a layer takes over, and by how much."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from choreograph.base.arrays import Flags, Floats
from choreograph.base.errors import RequestError, RoleError
from choreograph.motion.roles import ROLES
from choreograph.motion.skeleton import Skeleton

_ROOTS = {
    "arms": ("left_clavicle", "left_upper_arm", "right_clavicle", "right_upper_arm"),
    "left_arm": ("left_clavicle", "left_upper_arm"),
    "right_arm": ("right_clavicle", "right_upper_arm"),
    "head": ("neck", "head"),
}
"""Roles whose joints and all below them belong to a mask."""


def joint_weights(skeleton: Skeleton, mask: str, given: Mapping[str, float], feather: int) -> Floats:
    """How much of the layer each joint shows at full weight, (J,), from 0 to 1.

    Args:
        skeleton: Of the motion.
        mask: One of the masks that a request knows.
        given: Shares of single joints, by name or role.
        feather: Joints at the mask's lower edge over which the weight rises.

    Raises:
        RequestError: If the body has no joints that the mask could mean, or a joint is not known.
    """
    inside = _upper(skeleton) if mask == "upper" else _below(skeleton, _ROOTS[mask])
    if not inside.any():
        raise RequestError(
            f"no joint of this body is known to belong to {mask!r}; name some (joint_shares)", where="mask"
        )
    weights = inside.astype(float)
    if feather and mask == "upper":
        depth = np.zeros(len(skeleton), int)
        for joint in np.flatnonzero(inside):
            parent = skeleton.parents[joint]
            depth[joint] = 1 + (depth[parent] if inside[parent] else 0)
        weights *= np.minimum(depth / (feather + 1), 1.0)
    for name, weight in given.items():
        weights[_joint(skeleton, name)] = weight
    return weights


def _upper(skeleton: Skeleton) -> Flags:
    """All joints that hang from the hips but legs."""
    hips = skeleton.hips
    legs = _below(skeleton, ("left_hip", "right_hip", "left_upper_leg", "right_upper_leg"))
    inside = np.zeros(len(skeleton), bool)
    for joint, parent in enumerate(skeleton.parents):
        inside[joint] = parent >= 0 and (parent == hips or inside[parent]) and not legs[joint]
    return inside


def _below(skeleton: Skeleton, roles: tuple[str, ...]) -> Flags:
    inside = np.zeros(len(skeleton), bool)
    for joint, parent in enumerate(skeleton.parents):
        inside[joint] = skeleton.roles[joint] in roles or (parent >= 0 and inside[parent])
    return inside


def _joint(skeleton: Skeleton, name: str) -> int:
    if name in skeleton.names:
        return skeleton.index(name)
    joint = skeleton.find(name) if name in ROLES else None
    if joint is None:
        known = ", ".join(skeleton.names)
        raise RoleError(f"joint_shares: no joint is called {name!r}, and none has that role; there are: {known}")
    return joint
