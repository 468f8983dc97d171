"""How strong people are: the largest torques of their joints."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.dynamics.dofs import Dofs

TORQUE_LIMITS: Mapping[str, float] = {
    "hips": 0.6, "spine": 0.6, "neck": 0.12, "head": 0.08,
    "hip": 0.5, "upper_leg": 0.55, "lower_leg": 0.55, "foot": 0.45, "toe": 0.2,
    "clavicle": 0.3, "upper_arm": 0.2, "forearm": 0.14, "hand": 0.06, "fingers": 0.02, "other": 0.3,
}  # fmt: skip
"""Largest torque of each joint, body weights times metres: about what trained people reach about one axis."""


def torque_limits(dofs: Dofs, strength: float = 1.0) -> Floats:
    """The largest torques of a body's degrees of freedom, (n,), BW·m."""
    out = np.full(len(dofs), np.inf)
    for k in range(6, len(dofs)):
        role = dofs.skeleton.roles[int(dofs.joints[k])]
        part = role.removeprefix("left_").removeprefix("right_")
        out[k] = strength * TORQUE_LIMITS[part]
    return out


def joint_strength(dofs: Dofs) -> Floats:
    """The largest torque that people reach at each joint, (J,), N·m; infinite at the root and at rigid joints."""
    limits, out = torque_limits(dofs) * dofs.body.weight, np.full(len(dofs.skeleton), np.inf)
    for k in range(6, len(dofs)):
        joint = int(dofs.joints[k])
        out[joint] = limits[k] if np.isinf(out[joint]) else max(out[joint], limits[k])
    return out
