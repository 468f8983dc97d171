"""Mechanics: what a stage draws of a motion's mechanics, sample by sample, whichever way it was computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from choreograph.base.arrays import Floats

MOST_HZ = 60.0
"""Samples per second that a stage gets at most; it draws the nearest."""


@dataclass(frozen=True, eq=False)
class Mechanics:
    """Centre of mass, ground forces by limb, and torques by joint; S samples, L limbs, J joints."""

    rate: float
    """Samples per second; the first is the motion's first frame."""
    limbs: tuple[str, ...]
    """What the ground pushes: "left_foot", "right_hand" …"""
    com: Floats
    """Centre of mass, (S, 3), metres."""
    centres: Floats
    """Centres of pressure, (S, L, 3), metres; NaN where nothing pushes."""
    forces: Floats
    """Of the ground upon each limb, (S, L, 3), body weights."""
    residual: Floats
    """What the ground would have to give besides and cannot, (S, 3), body weights."""
    torques: Floats
    """Size of the torque at each joint, (S, J), N·m."""
    strength: Floats
    """What people reach at most, (J,), N·m; infinite where nobody knows, as at the root."""

    @property
    def shares(self) -> Floats:
        """Torques as shares of what people reach, (S, J)."""
        return np.asarray(self.torques / self.strength)

    def thinned(self, most_hz: float = MOST_HZ) -> Mechanics:
        """Every second, third … sample, so that there are no more of them than a stage needs.

        >>> one = np.zeros((120, 1, 3))
        >>> full = Mechanics(120.0, ("left_foot",), one[:, 0], one, one, one[:, 0], one[..., 0], np.ones(1))
        >>> len(full.thinned(60.0).com)
        60
        """
        every = max(1, int(np.ceil(self.rate / most_hz - 1e-9)))
        names = ("com", "centres", "forces", "residual", "torques")
        return replace(self, rate=self.rate / every, **{name: getattr(self, name)[::every] for name in names})

    def as_json(self) -> dict[str, Any]:
        """Plain values, rounded to what can be seen: millimetres, thousandths of a body weight, tenths of a N·m."""
        strength = [round(float(most), 1) if np.isfinite(most) else None for most in self.strength]
        return {
            "rate": round(self.rate, 6),
            "limbs": list(self.limbs),
            "com": _plain(self.com, 4),
            "centres": [[None if np.isnan(at[0]) else _plain(at, 4) for at in sample] for sample in self.centres],
            "forces": _plain(self.forces, 3),
            "residual": _plain(self.residual, 3),
            "torques": _plain(self.torques, 1),
            "strength": strength,
        }


def limb_of(point: str) -> str:
    """The limb of a contact point, by the point's name: "left_foot" of "left_heel" and "left_toe".

    >>> limb_of("left_ball_in"), limb_of("right_hand")
    ('left_foot', 'right_hand')
    """
    side = point.partition("_")[0]
    return f"{side}_hand" if "hand" in point or "palm" in point else f"{side}_foot"


def gather_limbs(names: Sequence[str], points: Floats, forces: Floats) -> tuple[tuple[str, ...], Floats, Floats]:
    """Limbs, their centres of pressure (S, L, 3) and the forces upon them (S, L, 3).

    Args:
        names: Of the contact points.
        points: Where they are, (S, P, 3), metres.
        forces: Upon each, (S, P, 3), body weights.
    """
    limbs = tuple(dict.fromkeys(limb_of(name) for name in names))
    centres, sums = np.full((len(points), len(limbs), 3), np.nan), np.zeros((len(points), len(limbs), 3))
    for k, limb in enumerate(limbs):
        mine = [p for p, name in enumerate(names) if limb_of(name) == limb]
        sums[:, k] = forces[:, mine].sum(axis=1)
        share = np.linalg.norm(forces[:, mine], axis=2, keepdims=True)
        total = share.sum(axis=1)
        pushed = total[:, 0] > 1e-3
        centres[pushed, k] = (points[:, mine] * share).sum(axis=1)[pushed] / total[pushed]
    return limbs, centres, sums


def _plain(values: Floats, digits: int) -> list[Any]:
    return list(np.round(values, digits).tolist())
