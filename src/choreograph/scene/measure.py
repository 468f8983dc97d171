"""Collisions of a finished motion with a scene: one measure for all verbs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.contract.problem import Problem, ProblemKind, amount
from choreograph.motion import body_points as points
from choreograph.motion.body_points import PointBody
from choreograph.motion.clip import Clip
from choreograph.scene.arrays import REACH_M, make_shapes
from choreograph.scene.model import Item, Scene


class Clearance(NamedTuple):
    """How near a motion comes to one thing of a scene."""

    item: Item
    gap_m: float
    """Least distance, below 0 inside."""
    at_s: float
    place: tuple[float, float, float]
    """Where the hips are then."""
    what: str = "The body"
    """What comes so near."""
    head_m: float = 0.0
    """Height of the top of the head then."""

    @property
    def by(self) -> float:
        """How much nearer it comes than it may."""
        return self.item.clearance - self.gap_m

    def problem(self) -> Problem:
        """The collision as a problem of the result."""
        how = f"{amount(-self.gap_m, 'm')} inside" if self.gap_m < 0 else f"{amount(self.gap_m, 'm')} from"
        keep = f"Distance to keep: {amount(self.item.clearance, 'm')}." if self.item.clearance else ""
        if self.item.bar:
            keep = f"The bar is at {amount(self.item.low, 'm')}, the top of the head at {amount(self.head_m, 'm')}."
        return Problem.of(
            ProblemKind.COLLISION, self.item.where, more=keep, asked=self.item.clearance, got=self.gap_m, unit="m",
            at_s=self.at_s, place=self.place, what=self.what, how=how, item=self.item.where,
        )  # fmt: skip


def body_clearances(items: Sequence[Item], track: Floats, fps: float, body: PointBody) -> list[Clearance]:
    """Return how near the whole body comes to each thing that stands still.

    Args:
        items: The things.
        track: Points of the body over time, (F, POINTS, 3).
        fps: Frames of it in a second.
        body: Its capsules.
    """
    from choreograph.scene._compiled_scene import clearances

    if not items:
        return []
    near, frame = clearances(make_shapes(items, np.zeros(len(items)), REACH_M), track, body.capsules, body.radii)
    return [
        Clearance(item, float(gap), int(f) / fps, tuple(track[f, points.HIPS].tolist()), "The body",
                  float(track[f, points.HEAD_TOP, 1]))
        for item, gap, f in zip(items, near, frame, strict=True)
    ]  # fmt: skip


def hips_clearances(scene: Scene, hips: Floats, fps: float) -> list[Clearance]:
    """Return how near the hips come to each obstacle, also where it moves.

    Args:
        scene: Its obstacles.
        hips: Over time, (F, 3).
        fps: Frames of them in a second.
    """
    clearances, times = [], np.arange(len(hips)) / fps
    for n, one in enumerate(scene.listed()):
        gaps = one.gaps(hips[:, [0, 2]], times)
        frame = int(np.argmin(gaps))
        item = one.item(f"scene.obstacles[{n}]")._replace(clearance=one.hips_m)
        clearances.append(Clearance(item, float(gaps[frame]), frame / fps, tuple(hips[frame].tolist()), "The torso"))
    return clearances


def find_collisions(scene: Scene, clip: Clip, *, hips_only: bool = False) -> list[Problem]:
    """Return the problems of a finished motion with a scene's obstacles.

    >>> from choreograph.demo import demo_clip
    >>> pillar = Scene(obstacles=[{"centre": (0.0, 1.0), "radius_m": 0.2, "height_m": 2.0}])
    >>> [str(problem.kind) for problem in find_collisions(pillar, demo_clip("walk", 30.0))]
    ['collision']

    Args:
        scene: What stands in the way.
        clip: The motion.
        hips_only: Whether only the hips are looked at; they then keep 0.3 m from what the body is to be clear of.
    """
    listed, hips = scene.listed(), clip.global_positions()[:, clip.skeleton.hips]
    clearances = [
        one
        for one, obstacle in zip(hips_clearances(scene, hips, clip.fps), listed, strict=True)
        if hips_only or obstacle.of == "hips" or obstacle.moves
    ]
    if not hips_only:
        apart = {f"scene.obstacles[{n}]" for n, one in enumerate(listed) if one.of == "hips" or one.moves}
        standing = [item for item in scene.solids() if item.where not in apart]
        body = PointBody.of(clip.skeleton)
        clearances += body_clearances(standing, body.points(clip), clip.fps, body)
    return [one.problem() for one in clearances if one.by > 0]
