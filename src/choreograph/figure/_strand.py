"""Strands: tubes drawn along a chain of bones, bending smoothly where the bones meet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.interpolate import PchipInterpolator

from choreograph.base.arrays import Floats
from choreograph.figure._loft import LoftSurface, Section, loft

CLAY = np.array([0.52, 0.445, 0.37])
"""The material, linear RGB: pale fired clay."""
LEFT_TINT, RIGHT_TINT, NO_TINT = np.array([0.84, 0.99, 1.08]), np.array([1.08, 0.96, 0.84]), np.ones(3)
"""Discreet: told apart when looked for, one material at a glance."""
JOINT_SHADE = 0.26
"""How much of the light a joint swallows."""
_SMALLEST_BALL = 0.012
"""Joints thinner than this, metres, need no ball: nobody sees a finger's knuckle collapse."""


@dataclass(frozen=True, eq=False)
class Strand:
    """A straight piece of a chain: what lies between a joint and the next one, or its tip."""

    joint: int
    start: Floats
    end: Floats

    @property
    def length(self) -> float:
        """Metres."""
        return float(np.linalg.norm(self.end - self.start))


@dataclass(frozen=True)
class Girth:
    """How thick a strand is at one place."""

    at: float
    """Place: number of the bone in the chain plus the share of its length."""
    across: float
    """Half the width, metres."""
    deep: float
    """Half the depth, metres."""
    ahead: float = 0.0
    """How far the middle of the section lies ahead of the bone, metres."""


def unit(v: Floats) -> Floats:
    """v at length 1; a zero vector stays zero."""
    length = float(np.linalg.norm(v))
    return v / length if length > 1e-12 else v * 0.0


def square_to(v: Floats, along: Floats) -> Floats:
    """The unit vector nearest to v at a right angle to `along`; any such vector where v lies along it."""
    for hint in (v, np.array([0.0, 1.0, 0.0]), np.array([1.0, 0.0, 0.0])):
        across = hint - along * float(hint @ along)
        if np.linalg.norm(across) > 0.2 * np.linalg.norm(hint) > 0:
            return unit(across)
    raise AssertionError("of two perpendicular vectors one must cross any direction")


def smoothstep(x: Floats | float) -> Floats:
    """0 below 0, 1 above 1, smooth between."""
    x = np.clip(x, 0.0, 1.0)
    return np.asarray(x * x * (3 - 2 * x))


def shade(distance: float, radius: float) -> float:
    """Brightness at a distance from a joint whose limb has this radius there."""
    return 1.0 - JOINT_SHADE * float(np.exp(-((distance / (0.8 * radius)) ** 2)))


class Tube(NamedTuple):
    """How a strand looks, and of how many pieces it is made."""

    tint: Floats = NO_TINT
    """Factor on the clay's colour."""
    sides: int = 16
    """Corners of a section."""
    rings: int = 7
    """Sections per bone."""
    round_start: float = 1.0
    """How far the first end bulges, in radii."""
    round_end: float = 1.0
    root: int | None = None
    """Joint that the first bone's joint hangs from: the start is shaded as a joint where there is one."""
    fade: float = 0.0
    """Length over which the tint sets in, metres."""
    caps: int = 5
    """Sections of each rounded end."""
    square: float = 2.0
    """Exponent of the sections' outline."""


def strand(
    bones: Sequence[Strand], girths: Sequence[Girth], ahead: Floats, tube: Tube | None = None
) -> list[LoftSurface]:
    """A tube along a chain of bones with rounded ends, and a ball inside each inner joint that fills it when bent.

    Args:
        bones: The chain; each has a length and starts where the one before it ends.
        girths: Thickness at places along the chain, in order.
        ahead: Direction that the sections' depth is measured in.
        tube: How it looks.
    """
    tint, sides, rings, round_start, round_end, root, fade, caps, square = tube or Tube()
    lengths = np.array([b.length for b in bones])
    starts = np.concatenate([[0.0], np.cumsum(lengths)])
    at = np.array([g.at for g in girths])
    sizes = np.array([[g.across, g.deep, g.ahead] for g in girths])
    thickness = PchipInterpolator(at, sizes) if len(girths) > 1 else None

    def girth(place: float) -> tuple[float, float, float]:
        across, deep, forward = sizes[0] if thickness is None else thickness(np.clip(place, at[0], at[-1]))
        return float(across), float(deep), float(forward)

    around = [girth(float(k)) for k in range(len(bones) + 1)]

    def section(k: int, t: float, beyond: float, shrink: float) -> Section:
        bone = bones[k]
        place = k + t
        across, deep, forward = girth(place)
        s = starts[k] + t * lengths[k] + beyond
        weights: dict[int, float] = {bone.joint: 1.0}
        direction = unit(bone.end - bone.start)
        bright = 1.0
        for inner in range(max(k, 1), min(k + 2, len(bones))):  # the joints at either end of this bone
            radius = max(around[inner][:2])
            reach = min(1.25 * radius, 0.45 * lengths[inner - 1], 0.45 * lengths[inner])
            gap = s - starts[inner]
            bright *= shade(gap, radius)
            if abs(gap) < reach:
                share = float(smoothstep(0.5 + 0.5 * gap / reach))
                weights = {bones[inner - 1].joint: 1 - share}
                weights[bones[inner].joint] = weights.get(bones[inner].joint, 0.0) + share
                before = unit(bones[inner - 1].end - bones[inner - 1].start)
                after = unit(bones[inner].end - bones[inner].start)
                direction = unit((1 - share) * before + share * after)
        if root is not None:
            bright *= shade(s, max(around[0][:2]))
        v = square_to(ahead, direction)
        u = np.cross(v, direction)
        centre = bone.start + (bone.end - bone.start) * t + direction * beyond + v * forward
        weights = {j: w for j, w in weights.items() if w > 0}
        # Where a limb hangs from the trunk its tint fades in, so that no line shows where they meet.
        hue = tint if root is None or fade <= 0 else NO_TINT + (tint - NO_TINT) * float(smoothstep(s / fade))
        return Section(centre, u * across * shrink, v * deep * shrink, weights, CLAY * hue * bright, square)

    sections = []
    first, last = sum(around[0][:2]) / 2, sum(around[-1][:2]) / 2
    for angle in np.linspace(-np.pi / 2, 0, caps + 1)[:-1]:
        sections.append(section(0, 0.0, first * round_start * np.sin(angle), max(np.cos(angle), 0.08)))
    for k in range(len(bones)):
        # Sections crowd where bones meet: that is where the tube bends.
        for t in 0.5 - 0.5 * np.cos(np.pi * np.arange(rings) / rings) if len(bones) > 1 else np.arange(rings) / rings:
            sections.append(section(k, float(t), 0.0, 1.0))
    for angle in np.linspace(0, np.pi / 2, caps + 1):
        sections.append(section(len(bones) - 1, 1.0, last * round_end * np.sin(angle), max(np.cos(angle), 0.08)))
    parts = [loft(sections, sides)]
    for inner in range(1, len(bones)):
        radius = 0.97 * min(around[inner][:2])
        if radius < _SMALLEST_BALL:
            continue
        place = bones[inner].start + square_to(ahead, unit(bones[inner].end - bones[inner].start)) * around[inner][2]
        parts.append(ball(place, np.full(3, radius), bones[inner].joint, CLAY * tint * (1 - JOINT_SHADE)))
    return parts


def ball(centre: Floats, radii: Floats, joint: int, colour: Floats, *, sides: int = 12, rings: int = 8) -> LoftSurface:
    """An ellipsoid with its axes along x, y, z, carried by one joint."""
    sections = []
    for angle in np.linspace(-np.pi / 2, np.pi / 2, rings):
        size = max(np.cos(angle), 0.06)
        across, deep = np.array([0.0, 0.0, radii[2] * size]), np.array([radii[0] * size, 0.0, 0.0])
        middle = centre + np.array([0.0, radii[1] * np.sin(angle), 0.0])
        sections.append(Section(middle, across, deep, {joint: 1.0}, colour))
    return loft(sections, sides)
