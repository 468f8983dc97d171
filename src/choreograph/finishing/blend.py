"""How one motion gives way to another: the arriving motion's weight over a blend, joint by joint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from choreograph.errors import RequestError, RoleError
from choreograph.motion.roles import ROLES

Array = NDArray[np.float64]

KINDS = ("linear", "cubic", "anticipation")
"""Curves that a blend can follow."""

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

_PARTS = tuple(dict.fromkeys(role.removeprefix("left_").removeprefix("right_") for role in ROLES))


@dataclass(frozen=True)
class BlendSettings:
    """How a transition mixes the motion it leaves with the motion it enters."""

    kind: str = "cubic"
    """"linear", "cubic" or "anticipation"."""
    preset: str = "even"
    """Which parts of the body an anticipation blend sends ahead: one of `PRESETS`."""
    exponents: Mapping[str, float] = field(default_factory=dict)
    """Exponents C by role ("left_foot"), part ("foot") or "root"; they count before the preset's. Above 1 a joint
    changes over early, below 1 late."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "exponents", MappingProxyType(dict(self.exponents)))
        if self.kind not in KINDS:
            raise RequestError(f"no blend is called {self.kind!r}; there are {', '.join(KINDS)}")
        if self.preset not in PRESETS:
            raise RequestError(f"no blend preset is called {self.preset!r}; there are {', '.join(PRESETS)}")
        if self.kind != "anticipation" and (self.preset != "even" or self.exponents):
            raise RequestError(
                f"a {self.kind} blend is the same for all joints; presets and exponents need anticipation"
            )
        for name, value in self.exponents.items():
            if name not in ROLES and name not in _PARTS and name != ROOT:
                raise RoleError(
                    f"a blend exponent is given for {name!r}, which is no role; there are {', '.join(_PARTS)}"
                )
            if not (np.isfinite(value) and 0.05 <= value <= 20):
                raise RequestError(f"the blend exponent of {name!r} is {value}; it must be between 0.05 and 20")

    def exponent(self, role: str) -> float:
        """The exponent C of a joint with this role, or of the root's position ("root")."""
        part = role.removeprefix("left_").removeprefix("right_")
        table = {**PRESETS[self.preset], **self.exponents}
        return float(self.exponents.get(role, table.get(part, 1.0)))


def blend_weight(t: Array, kind: str, exponent: float = 1.0) -> Array:
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


def joint_blend_weights(t: Array, roles: Sequence[str], settings: BlendSettings) -> Array:
    """Weights of the arriving motion, (F, 1 + J): of the root's position, then of each joint's rotation.

    Args:
        t: Share of the blend per frame, (F,).
        roles: The joints' roles, as in `Skeleton.roles`.
        settings: Which blend.
    """
    exponents = np.array([settings.exponent(role) for role in (ROOT, *roles)])
    out = np.empty((len(t), len(exponents)))
    for value in np.unique(exponents):
        out[:, exponents == value] = blend_weight(t, settings.kind, float(value))[:, None]
    return out
