"""A solution as a stage draws it: its mechanics by limb and joint, and where and when its feet stand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from choreograph.dynamics.contacts import PARTS
from choreograph.dynamics.dofs import Dofs
from choreograph.dynamics.strength import joint_strength
from choreograph.motion.mechanics import Mechanics, gather_limbs
from choreograph.verbs.physics.contacts import limb_groups
from choreograph.verbs.physics.sketch import Sketch
from choreograph.verbs.physics.verify import FinePath


def mechanics_of(path: FinePath, dofs: Dofs, points: Sequence[str], fps: float, frames: int) -> Mechanics:
    """What the stage draws of a solution, a sample for each frame.

    Args:
        path: The solution between the nodes.
        dofs: Of its body.
        points: Names of the contact points.
        fps: Frames per second of the motion made of it.
        frames: Of that motion.
    """
    at = np.rint(np.interp(np.arange(frames) / fps, path.times, np.arange(len(path.times)))).astype(int)
    torques = np.zeros((frames, len(dofs.skeleton)))
    for k in range(6, len(dofs)):
        torques[:, int(dofs.joints[k])] += (path.torques[at, k] * dofs.body.weight) ** 2
    limbs, centres, forces = gather_limbs(points, path.points[at], path.forces[at])
    return Mechanics(
        fps, limbs, path.com[at], centres, forces, path.torques[at, :3], np.sqrt(torques), joint_strength(dofs)
    )


def footprints_of(sketch: Sketch) -> list[dict[str, Any]]:
    """Where and when feet stand in a sketch, as goals of a request: one for each part of a foot in each stance."""
    goals = []
    for stance, spot in zip(sketch.stances, sketch.footprints, strict=True):
        if stance.side > 1:  # hands have goals of their own
            continue
        ahead = spot[3] - spot[0]
        place = {
            "position": [round(float(value), 4) for value in spot.mean(axis=0)],
            "facing_deg": round(float(np.degrees(np.arctan2(ahead[0], ahead[2]))), 2),
        }
        mine = sketch.flags[stance.start : stance.stop, limb_groups(stance.side)]
        for part, down in zip(PARTS, mine.T, strict=True):
            nodes = stance.start + np.flatnonzero(down)
            if len(nodes) > 1:
                start, end = (round(float(sketch.times[node]), 4) for node in (nodes[0], nodes[-1]))
                foot = ("left", "right")[stance.side]
                goals.append({"foot": foot, "parts": [part], "start_s": start, "end_s": end, **place})
    return goals
