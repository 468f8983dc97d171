"""A crowd of steered characters: `tick` moves time on and gives their poses. It never searches for long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from choreograph.base.arrays import Flags, Floats, Ints
from choreograph.base.errors import RequestError
from choreograph.verbs.steer.controller import SteeredCharacter, SteerPolicy
from choreograph.verbs.steer.frame_pool import FramePool
from choreograph.verbs.steer.goals import MovingObstacle, SteerGoal
from choreograph.verbs.steer.live_feet import LiveFeet

WIDTH = 18
"""Numbers of a piece, as in `_compiled_pose`."""
MAX_TICK_S = 0.5
"""Longest time that one tick moves on; more is cut off, since nobody sees it."""


@dataclass(frozen=True, eq=False)
class CrowdPoses:
    """What N characters do at one moment."""

    time_s: float
    root_pos: Floats
    """(N, 3), metres."""
    local_rot: Floats
    """(N, J, 4), wxyz."""
    held: Flags
    """Which foot joints stand, (N, feet)."""
    clip: Ints
    """The recordings that each shows: the one that it leaves and the one that it goes over to, (N, 2)."""
    layers: Floats
    """Frame, yaw, x, z and weight of both, (N, 2, 5)."""


class Crowd:
    """Characters that share steps and value functions."""

    def __init__(self, policy: SteerPolicy, pool: FramePool, *, clean: bool = True) -> None:
        """Begin with nobody.

        Args:
            policy: Steps, costs, tasks, value functions.
            pool: The recordings' frames.
            clean: Whether standing feet are kept where they are.
        """
        self.policy, self.pool = policy, pool
        self.time_s = 0.0
        self.characters: list[SteeredCharacter] = []
        self._pieces, self._blends = np.zeros((0, 2, WIDTH)), np.zeros((0, 2))
        self._feet = LiveFeet(pool) if clean and pool.skeleton.feet else None
        self._shown: CrowdPoses | None = None

    def add(
        self, x: float = 0.0, z: float = 0.0, heading: float = 0.0, goal: SteerGoal | None = None
    ) -> SteeredCharacter:
        """A new character at a place.

        Args:
            x: Metres.
            z: Metres.
            heading: Radians from +z towards +x.
            goal: What it is to do; walk on if not given.
        """
        if not np.isfinite([x, z, heading]).all():
            raise RequestError(f"a character begins at x, z and a heading; found {x}, {z}, {heading}")
        count = len(self.characters)
        self._pieces = np.concatenate([self._pieces, np.zeros((1, 2, WIDTH))])
        self._blends = np.concatenate([self._blends, np.zeros((1, 2))])
        for n, one in enumerate(self.characters):
            one.pieces, one.blend = self._pieces[n], self._blends[n]
        place = np.array([heading, x, z], float)
        character = SteeredCharacter(
            self.policy, self.pool, place, self._pieces[count], self._blends[count], self.time_s, goal
        )
        self.characters.append(character)
        self._shown = None
        if self._feet is not None:
            self._feet.add()
        return character

    def tick(self, dt: float, obstacles: Sequence[MovingObstacle] = ()) -> CrowdPoses:
        """Move time on by `dt` seconds and show where everybody is.

        Args:
            dt: 0 or more; at most half a second of it counts.
            obstacles: Where they are now.
        """
        if not (np.isfinite(dt) and dt >= 0):
            raise RequestError(f"time moves on by 0 s or more, not {dt}")
        now = self.time_s + min(dt, MAX_TICK_S)
        for one in self.characters:
            one.obstacles = obstacles
            if one.changed and one.plans_at > now:
                one.switch(now)
            while one.plans_at <= now:
                one.plan(now)
        passed, self.time_s = now - self.time_s, now
        self._shown = self._show(passed)
        return self._shown

    def poses(self) -> CrowdPoses:
        """Where everybody is."""
        if self._shown is None:
            self._shown = self._show(0.0)
        return self._shown

    def _show(self, dt: float) -> CrowdPoses:
        from choreograph.verbs.steer import _compiled_pose

        count, pool = len(self.characters), self.pool
        root, rot = np.empty((count, 3)), np.empty((count, pool.rot.shape[1], 4))
        held, layers = np.empty((count, pool.held.shape[1]), bool), np.zeros((count, 2, 5))
        _compiled_pose.show(
            np.full(count, self.time_s), self._pieces, self._blends, pool.root, pool.rot, pool.held, root, rot, held,
            layers,
        )  # fmt: skip
        if self._feet is not None and count:
            self._feet.clean(root, rot, held, dt)
        clip = np.array([one.clip for one in self.characters], np.int64).reshape(count, 2)
        return CrowdPoses(self.time_s, root, rot, held, clip, layers)
