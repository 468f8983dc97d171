"""A user's own functions as constraints: what they are given, and what they say.

The kernels cannot call them. They are asked about every path that the search thinks of taking (see `solver`), so they
should be quick: a millisecond a call is a thousand paths a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from choreograph.base.arrays import Complexes, Floats, Floats32, Ints
from choreograph.base.errors import RequestError
from choreograph.features.frames import FrameTable
from choreograph.goals.cost import CostGoal
from choreograph.graph.model import MotionGraph
from choreograph.motion.skeleton import Skeleton
from choreograph.verbs.solve.person import Located


@dataclass(frozen=True, eq=False)
class MotionView:
    """A motion of N frames that the search thinks of, before finishing, for a user's function to judge."""

    times_s: Floats
    """When each frame is shown, (N,), seconds."""
    root: Floats
    """Where the torso is on the floor, x and z, (N, 2), metres."""
    facing: Floats
    """Where it faces, (N,), radians: 0 looks along +z, pi/2 along +x."""
    clip: Ints
    """The clip that each frame is from, by its number in the graph, (N,)."""
    frame: Ints
    """The frame of that clip, at the graph's rate, (N,)."""
    graph: MotionGraph = field(repr=False)
    _joints: Floats32 = field(repr=False)

    @property
    def skeleton(self) -> Skeleton:
        """Whose joints these are."""
        return self.graph.skeleton

    @cached_property
    def joints(self) -> Floats:
        """Where every joint is, (N, J, 3), metres."""
        x, y, z = np.moveaxis(self._joints.astype(float), -1, 0)
        along, across = np.cos(self.facing)[:, None], np.sin(self.facing)[:, None]
        ground = self.root[:, None]
        return np.stack([x * along + z * across + ground[..., 0], y, z * along - x * across + ground[..., 1]], axis=-1)

    def joint(self, name: str) -> Floats:
        """Where one joint is, (N, 3), metres; by its name or role."""
        names = self.skeleton.names
        return np.asarray(self.joints[:, names.index(name) if name in names else self.skeleton.need(name)])

    @cached_property
    def labels(self) -> tuple[tuple[str, ...], ...]:
        """The words said about each frame."""
        found = []
        for clip, frame in zip(self.clip, self.frame, strict=True):
            own = self.graph.own_frame(int(clip), float(frame))
            words = self.graph.infos[clip].labels
            found.append(tuple(word.text for word in words if word.start <= own + 1e-6 < word.stop))
        return tuple(found)


class UserCosts:
    """The functions of a request, asked about paths."""

    def __init__(self, costs: Sequence[Located[CostGoal]], graph: MotionGraph, frames: FrameTable) -> None:
        self._goals, self._graph, self._frames = costs, graph, frames
        self.names = [f"{where} ({goal.label})" for where, goal in costs]
        for where, goal in costs:
            if isinstance(goal.function, str):
                goal.loaded(Path(), where, allow_code=False)  # says how to allow it

    def __len__(self) -> int:
        """Number of functions."""
        return len(self._goals)

    def costs(self, rows: Ints, place: Complexes, turn: Complexes) -> list[float]:
        """What each function says that a path costs, weighted.

        Args:
            rows: The row of the frame table that each frame shows, (N,).
            place: Where the torso is, x + iz, (N,).
            turn: Where it faces, as exp(-i yaw), (N,).

        Raises:
            RequestError: If a function raises, or returns what is no cost; it names the constraint.
        """
        clip = self._frames.clip_of[rows].astype(np.int64)
        view = MotionView(
            times_s=np.arange(len(rows)) / self._frames.rate_hz,
            root=np.stack([place.real, place.imag], axis=1),
            facing=-np.angle(turn),
            clip=clip,
            frame=rows - self._frames.base[clip],
            graph=self._graph,
            _joints=self._frames.joints[rows],
        )
        return [
            goal.weight * self._ask(goal, name, view) for (_, goal), name in zip(self._goals, self.names, strict=True)
        ]

    def _ask(self, goal: CostGoal, name: str, view: MotionView) -> float:
        try:
            given: Any = goal.function(view)
        except Exception as error:
            raise RequestError(f"{name} raised {type(error).__name__}: {error}") from error
        frames = len(view.times_s)
        try:
            cost = np.asarray(given, float)
        except (TypeError, ValueError):
            cost = np.zeros((0, 0))
        if cost.shape not in ((), (frames,)):
            raise RequestError(
                f"{name} returned {given!r}; it must be a number, or one for each of the {frames} frames"
            )
        if not np.isfinite(cost).all() or (cost < 0).any():
            worst = cost[~np.isfinite(cost)] if not np.isfinite(cost).all() else cost[cost < 0]
            raise RequestError(f"{name} returned {worst.flat[0]:g}; a cost must be a finite number, 0 or more")
        return float(cost) if cost.ndim == 0 else float(cost.sum() / self._frames.rate_hz)
