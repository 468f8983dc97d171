"""Rigs whose feet hang from something else than the shins, as rigs for inverse kinematics do.

Motion is made on the same body with its feet below the shins, and put on the rig at the end: there the feet move on
their own, to where the shins end.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Indices, seal
from choreograph.motion import kinematics
from choreograph.motion.clip import Clip
from choreograph.motion.role_map import SIDES, chain_between
from choreograph.motion.skeleton import Skeleton


@dataclass(frozen=True, eq=False)
class Rehung:
    """A rig, and the same body with its feet below the shins."""

    rig: Skeleton
    body: Skeleton
    order: Indices
    """The rig's joint for each of the body's, (J,)."""
    feet: tuple[int, ...]
    """The rig's joints that hang elsewhere in it."""

    def on_rig(self, clip: Clip) -> Clip:
        """A clip of the body, on the rig; of the rig, as it is."""
        if not clip.skeleton.same_joints(self.body):
            return clip
        back = np.argsort(self.order)
        local = np.array(clip.local_rot[:, back])
        turned, at = clip.global_rotations(), clip.global_positions()
        places = np.tile(self.rig.offsets, (len(clip), 1, 1))
        places[:, 0] = clip.root_pos
        for foot in self.feet:
            holder = int(self.rig.parents[foot])
            around = quat.inverse(turned[:, back[holder]])
            local[:, foot] = quat.multiply(around, turned[:, back[foot]])
            places[:, foot] = quat.rotate(around, at[:, back[foot]] - at[:, back[holder]])
        return Clip(
            self.rig,
            clip.fps,
            clip.root_pos,
            seal(kinematics.unit_and_continuous(local)),
            clip.name,
            local_pos=seal(places),
            labels=clip.labels,
            contacts=clip.contacts,
            source=clip.source,
        )


@lru_cache(maxsize=16)
def rehang(rig: Skeleton) -> Rehung | None:
    """The rig's body with its feet below the shins; None where they are, or legs are not known."""
    feet = []
    parents, offsets, rest = np.array(rig.parents), np.array(rig.offsets), rig.rest_positions()
    for side in SIDES:
        knee, foot = rig.find(f"{side}_lower_leg"), rig.find(f"{side}_foot")
        if knee is None or foot is None or chain_between(rig, knee, foot) or chain_between(rig, foot, knee):
            continue
        feet.append(foot)
        parents[foot] = knee
        offsets[foot] = rest[foot] - rest[knee]
    if not feet:
        return None
    children: list[list[int]] = [[] for _ in parents]
    for joint, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(joint)
    order, waiting = [], [0]
    while waiting:
        joint = waiting.pop()
        order.append(joint)
        waiting += children[joint][::-1]
    place = np.argsort(order)
    body = Skeleton(
        tuple(rig.names[j] for j in order),
        np.array([place[parents[j]] if parents[j] >= 0 else -1 for j in order], np.int32),
        offsets[order],
        place[rig.tip_parents].astype(np.int32),
        rig.tip_offsets,
        tuple(rig.roles[j] for j in order),
    )
    return Rehung(rig, body, np.array(order, np.intp), tuple(feet))
