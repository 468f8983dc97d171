"""What motion costs as torque: the squares of the joints' torques, by inverse dynamics of the recordings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.base.errors import RoleError
from choreograph.dynamics.body import Body, make_body
from choreograph.dynamics.contacts import ContactPoints, floor_height, measure_points
from choreograph.dynamics.inverse import LEAST_FRAMES, compute_dynamics
from choreograph.motion.clip import Clip

_LOOKED_AT = 12
"""Clips from which the floor and the feet's soles are measured."""


@dataclass(frozen=True, eq=False)
class TorqueModel:
    """The body of a graph's people, for torques."""

    body: Body
    points: ContactPoints
    floor_m: float

    @classmethod
    def of(cls, clips: Sequence[Clip]) -> TorqueModel | None:
        """That of the people of these clips; None where their legs are not known."""
        some = [clips[n] for n in range(0, len(clips), max(1, len(clips) // _LOOKED_AT))]
        if not some:
            return None
        try:
            body = make_body(some[0].skeleton)
            floor = floor_height(some)
            return cls(body, measure_points(some, body.height, floor), floor)
        except RoleError:
            return None

    def squares(self, clip: Clip) -> Floats:
        """Sum of the squares of all joints' torques but the root's, which nobody has, (F,), N²·m²."""
        if len(clip) < LEAST_FRAMES:
            return np.zeros(len(clip))
        torques = compute_dynamics(clip, self.body, self.points, floor_m=self.floor_m).torques
        inner = clip.skeleton.parents >= 0
        return np.asarray((torques[:, inner] ** 2).sum(axis=(1, 2)))
