"""How one motion gives way to another: the arriving motion's weight over a blend, joint by joint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from choreograph.base.arrays import Floats, Ints
from choreograph.motion.roles import ROLES

KINDS = ("linear", "cubic", "anticipation")
"""Curves that a blend can follow."""

_SHORTEST_S = 0.1
"""No blend is shorter, however alike its poses are."""

_ARMS = ("clavicle", "upper_arm", "forearm", "hand", "fingers")
_LEGS = ("hip", "upper_leg", "lower_leg", "foot", "toe")
_TRUNK = ("spine", "neck", "head")

PRESETS: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "even": {},
        "arms first": dict.fromkeys(_ARMS, 2.0),
        "arms last": dict.fromkeys(_ARMS, 0.5),
        "legs first": dict.fromkeys(_LEGS, 2.0),
        "legs last": dict.fromkeys(_LEGS, 0.5),
        "upper body first": dict.fromkeys((*_TRUNK, *_ARMS), 2.0),
        "upper body last": dict.fromkeys((*_TRUNK, *_ARMS), 0.5),
    }
)
"""Exponents C of the anticipation blend by part of the body; a part that is not named has 1."""

ROOT = "root"
"""The name under which the root's position gets an exponent of its own; the root joint's rotation has its role's."""

PARTS = tuple(dict.fromkeys(role.removeprefix("left_").removeprefix("right_") for role in ROLES))
"""Parts of the body: roles without their side."""


def joint_exponents(roles: Sequence[str], preset: str, exponents: Mapping[str, float]) -> Floats:
    """Exponents C of the anticipation blend, (1 + J,): of the root's position, then of each joint.

    Args:
        roles: The joints' roles, as in `Skeleton.roles`.
        preset: One of `PRESETS`.
        exponents: By role ("left_foot"), part ("foot") or "root"; they count before the preset's, and a role before its
            part.
    """
    table = {**PRESETS[preset], **exponents}
    return np.array([exponents.get(role, table.get(_part(role), 1.0)) for role in (ROOT, *roles)], float)


def blend_weight(t: Floats, kind: str, exponent: float = 1.0) -> Floats:
    """Weight of the arriving motion at the share t of a blend, both from 0 to 1.

    A blend lasts from the moment the motion that is left shows its window's first frame (t = 0) until the arriving
    motion shows the frame after its own window (t = 1). At any rate of output t is the time since then over the
    window's length: the first frame is the leaving motion's own, the frame that follows the last is the arriving
    motion's own, and no frame is shown twice.

    Args:
        t: Share of the blend, 0 to 1.
        kind: One of `KINDS`. Cubic is 3t² - 2t³, without a jump in speed at either end.
        exponent: C of the anticipation blend (1 - (1 - t)^C)^(1/C): 1 is linear, more is early, less is late.
    """
    t = np.clip(np.asarray(t, float), 0.0, 1.0)
    if kind == "linear":
        return t
    if kind == "cubic":
        return np.asarray(t * t * (3 - 2 * t))
    return np.asarray((1 - (1 - t) ** exponent) ** (1 / exponent))


def blend_share(distance_m: Floats, window_s: Floats, most_m_s2: float) -> Floats:
    """Share of their windows, about the middle, over which transitions are blended, 0 to 1.

    Joints that are d apart and change over within T along the cubic curve are pushed by 6d/T² at most. A blend lasts as
    long as that needs and no longer: mixed poses are those nobody recorded.

    Args:
        distance_m: Between the two windows, rms over their joints.
        window_s: How long these last.
        most_m_s2: How hard joints may be pushed; 0 for blends over the whole window.
    """
    if most_m_s2 == 0:
        return np.ones_like(distance_m)
    return np.minimum(np.maximum(np.sqrt(6 * distance_m / most_m_s2), _SHORTEST_S) / window_s, 1.0)


def group_weights(t: Floats, kind: str, exponents: Floats) -> tuple[Floats, Ints]:
    """Weights of the arriving motion, (F, G), and the column of each exponent, (C,): equal exponents share one.

    Args:
        t: Share of the blend per frame, (F,).
        kind: One of `KINDS`.
        exponents: Of the root's position and each joint, (C,); they count in anticipation blends only.
    """
    if kind != "anticipation":
        exponents = np.ones_like(exponents)
    values, columns = np.unique(exponents, return_inverse=True)
    weights = np.stack([blend_weight(t, kind, float(value)) for value in values], axis=1)
    return weights, columns.astype(np.int64)


def _part(role: str) -> str:
    return role.removeprefix("left_").removeprefix("right_")
