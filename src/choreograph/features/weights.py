"""How much each joint counts when poses are compared, said by its role: feet much, fingers not at all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.base.errors import RequestError, RoleError
from choreograph.motion.roles import ROLES

PARTS: tuple[str, ...] = tuple(dict.fromkeys(role.removeprefix("left_").removeprefix("right_") for role in ROLES))
"""The roles without their side: "foot" stands for "left_foot" and "right_foot"."""

PRESETS: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        # Feet make or break a transition, hands hardly show: chosen on walks, runs and turns, where it joins the
        # strides well at 5 cm and does not hold an idle hand against two strides that match.
        "default": {
            **{"foot": 3.0, "toe": 3.0, "upper_leg": 2.0, "lower_leg": 2.0},
            **{"forearm": 0.5, "hand": 0.25, "fingers": 0.0},
        },
        "uniform": {},
        "lower_body": {
            **{"foot": 3.0, "toe": 3.0, "upper_leg": 2.0, "lower_leg": 2.0, "spine": 0.0, "neck": 0.0, "head": 0.0},
            **{"clavicle": 0.0, "upper_arm": 0.0, "forearm": 0.0, "hand": 0.0, "fingers": 0.0, "other": 0.0},
        },
    }
)
"""Weights by part; a part that is not named weighs 1."""


def joint_weights(roles: Sequence[str], weights: str | Mapping[str, float] = "default") -> Floats:
    """The weight of each joint, (J,), not negative and not all zero.

    Args:
        roles: The joints' roles, as in `Skeleton.roles`.
        weights: A preset's name, or weights by role ("left_foot") or part ("foot", both sides); a role's own entry
            counts before its part's, and what is not named weighs 1.

    Raises:
        RequestError: If there is no such preset, a weight is negative or not finite, or every joint weighs nothing.
        RoleError: If a weight is given to something that is neither a role nor a part.
    """
    table = _preset(weights) if isinstance(weights, str) else weights
    for name, value in table.items():
        if name not in ROLES and name not in PARTS:
            raise RoleError(
                f"a joint weight is given for {name!r}, which is no role; roles are {', '.join(PARTS)}, "
                "with left_ or right_ before a limb to name one side"
            )
        if not (np.isfinite(value) and value >= 0):
            raise RequestError(f"the joint weight of {name!r} is {value}; weights are numbers from 0 up")
    result = np.array([_weight(role, table) for role in roles], float)
    if not result.any():
        raise RequestError(
            "every joint weighs 0, so no two poses would differ; give at least one role a weight above 0"
        )
    return result


def _preset(name: str) -> Mapping[str, float]:
    if name not in PRESETS:
        raise RequestError(f"no joint weights are called {name!r}; there are {', '.join(PRESETS)}, or give a mapping")
    return PRESETS[name]


def _weight(role: str, table: Mapping[str, float]) -> float:
    part = role.removeprefix("left_").removeprefix("right_")
    return table.get(role, table.get(part, 1.0))
