"""The mannequin's anatomy: which lofts a skeleton's joints call for, and how wide each is where."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from choreograph.motion._mannequin_loft import Section, Surface, loft
from choreograph.motion.skeleton import Skeleton

Array = NDArray[np.float64]

_CLAY = np.array([0.62, 0.55, 0.47])


def shape_body(skeleton: Skeleton, positions: Array) -> list[Surface]:
    """The parts of the mannequin, in a pose given by its joint positions, (J, 3)."""
    parts = []
    ends = [(int(p), positions[j]) for j, p in enumerate(skeleton.parents) if p >= 0]
    ends += [(int(j), positions[j] + o) for j, o in zip(skeleton.tip_parents, skeleton.tip_offsets, strict=True)]
    for joint, end in ends:
        length = float(np.linalg.norm(end - positions[joint]))
        if length > 1e-4:
            parts.append(_capsule(positions[joint], end, 0.15 * length, 0.1 * length, joint))
    return parts


def _capsule(start: Array, end: Array, r0: float, r1: float, joint: int) -> Surface:
    along = (end - start) / np.linalg.norm(end - start)
    helper = np.eye(3)[np.argmin(np.abs(along))]
    across = np.cross(helper, along)
    across /= np.linalg.norm(across)
    deep = np.cross(along, across)
    sections = []
    for angle in np.linspace(-np.pi / 2 + 0.3, 0, 4):
        r = r0 * np.cos(angle)
        sections.append(Section(start + along * r0 * np.sin(angle), across * r, deep * r, {joint: 1.0}, _CLAY))
    for angle in np.linspace(0, np.pi / 2 - 0.3, 4):
        r = r1 * np.cos(angle)
        sections.append(Section(end + along * r1 * np.sin(angle), across * r, deep * r, {joint: 1.0}, _CLAY))
    return loft(sections, 12)
