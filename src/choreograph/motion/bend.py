"""Bending: a motion carried from its own way over the floor onto another curve (after Gleicher, "Motion path editing",
2001).

The way is the smoothed root: hips sway to the sides with every step, and that sway is not way. Each frame is turned
about the vertical and moved so that the way falls onto the curve; what the root does about its way is kept.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from choreograph.base import envelope
from choreograph.base.arrays import Complexes, Floats
from choreograph.base.filters import gaussian
from choreograph.base.floor import FloorTransform
from choreograph.motion.clip import Clip
from choreograph.motion.facts import LATERAL_M_S2

SMOOTH_S = 0.25
"""Width (standard deviation) of the low-pass that takes sway out of a root's way: half a step."""
MOST_LATERAL_M_S2 = 2.0, 6.0
"""Lateral acceleration up to which recorded walks and runs are believed."""
MAX_CURVATURE = 3.0
"""Of a bent way, 1/m: who goes slowly could turn on the spot by its lateral acceleration, but feet would twist."""
_SLOW_M2_S2 = 0.09
"""Product of two speeds below which the directions of two ways are not compared: who stands has none."""
_TURN_S = 0.08
"""Width of the low-pass under which directions are compared."""


class Way(NamedTuple):
    """Where a root goes without its sway, frame by frame."""

    places: Floats
    """x and z, (F, 2), metres."""
    length: Floats
    """Way made so far, (F,), metres."""
    heading: Floats
    """Yaw of the direction of travel, (F,), radians, without leaps; carried over where one stands."""
    speed: Floats
    """(F,), m/s."""


def low_pass(values: Floats, sigma: float) -> Floats:
    """The curve (F, ...) under a Gaussian of `sigma` frames; beyond its ends it is reflected in them, so it goes on."""
    width = min(round(4 * sigma), len(values) - 1)
    if width < 1:
        return values
    around = ((width, width), *((0, 0),) * (values.ndim - 1))
    padded = np.pad(values, around, mode="reflect", reflect_type="odd")
    return gaussian(padded, sigma, width)


def find_way(places: Floats, fps: float, smooth_s: float = SMOOTH_S) -> Way:
    """The way of a root that is at these places.

    Args:
        places: x and z, (F, 2), metres.
        fps: Frames per second.
        smooth_s: Width of the low-pass that takes the sway out; 0 where that is done.
    """
    calm = low_pass(np.asarray(places, float), smooth_s * fps)
    velocity = _velocity(calm, fps)
    speed = np.abs(velocity)
    steps = np.hypot(*np.diff(calm, axis=0).T)
    heading = _carried(np.arctan2(velocity.real, velocity.imag), speed**2)
    return Way(calm, np.concatenate([[0.0], np.cumsum(steps)]), heading, speed)


def way_of(clip: Clip, smooth_s: float = SMOOTH_S) -> Way:
    """The way of a clip's root.

    >>> from choreograph.demo import demo_clip
    >>> way = way_of(demo_clip("walk", 30.0))
    >>> way.places.shape[1], bool((way.speed > 0.5).any())
    (2, True)
    """
    return find_way(clip.root_pos[:, [0, 2]], clip.fps, smooth_s)


def lay_onto(way: Way, curve: Floats, fps: float) -> FloorTransform:
    """The floor transforms, a batch of F, that carry a way onto a curve frame by frame, each turned as the curve is.

    Args:
        way: Of the motion.
        curve: Where the way shall be in each frame, (F, 2), metres.
        fps: Frames per second.
    """
    own, wanted = _velocity(way.places, fps), _velocity(np.asarray(curve, float), fps)
    # In x + iz a yaw of φ multiplies by exp(-iφ).
    both = wanted * own.conj()
    calm = low_pass(np.stack([both.real, both.imag], axis=1), _TURN_S * fps)
    yaw = _carried(-np.arctan2(calm[:, 1], calm[:, 0]), np.hypot(calm[:, 0], calm[:, 1]))
    at, to = (p[:, 0] + 1j * p[:, 1] for p in (way.places, curve))
    shift = to - at * np.exp(-1j * yaw)
    return FloorTransform(yaw, shift.real, shift.imag)


def fit_curve(start: Floats, wanted: Floats, weight: Floats, fps: float, stiff_s: Floats | float) -> Floats:
    """The curve near the places that are wanted, and accelerated as little otherwise than a given one as need be.

    It minimises the sum over frames of weight |q - wanted|² + stiff_s⁴ |q'' - start''|²: what it adds to the given
    curve's acceleration is what bends and stretches the motion.

    Args:
        start: The curve given, (F, 2), metres.
        wanted: Places, (F, 2), metres; where the weight is zero they do not count.
        weight: (F,), zero or more.
        fps: Frames per second.
        stiff_s: Seconds over which an error is bent away; one for all frames, or one each, (F,).
    """
    frames = len(start)
    if frames < 3:
        return np.asarray(start + (wanted - start) * np.minimum(weight, 1.0)[:, None])
    stiff = np.broadcast_to(np.asarray(stiff_s, float) * fps, (frames,))[1:-1] ** 4
    parts = [envelope.diagonal(weight + 1e-9), envelope.second_differences(stiff)]
    change = envelope.solve(parts, weight[:, None] * (wanted - start))
    return np.asarray(start + change)


def lateral_acceleration(way: Way, fps: float) -> Floats:
    """How strongly a way is accelerated to its left, (F,), m/s²: v²κ."""
    return np.asarray(way.speed * np.gradient(way.heading) * fps) if len(way.speed) > 1 else np.zeros(1)


def most_curvature(speed_m_s: float, slow: float = LATERAL_M_S2[0], fast: float = LATERAL_M_S2[1]) -> float:
    """Curvature up to which motion at a speed is bent, 1/m.

    Args:
        speed_m_s: How fast it goes.
        slow: Lateral acceleration allowed at a walk, up to 1.5 m/s, in m/s².
        fast: At a run, from 3 m/s on; between the two it rises evenly.
    """
    lateral = slow + (fast - slow) * min(max((speed_m_s - 1.5) / 1.5, 0.0), 1.0)
    return float(min(lateral / max(speed_m_s, 1e-3) ** 2, MAX_CURVATURE))


def _velocity(places: Floats, fps: float) -> Complexes:
    """Velocity as x + iz, (F,), m/s."""
    if len(places) < 2:
        return np.zeros(len(places), complex)
    return np.asarray(np.gradient(places[:, 0] + 1j * places[:, 1]) * fps)


def _carried(angle: Floats, trust: Floats) -> Floats:
    """Angles (F,) without leaps; where there is little to trust they lead from the one before to the one after."""
    sure = np.flatnonzero(trust >= _SLOW_M2_S2)
    if not len(sure):
        sure = np.array([int(trust.argmax())])
    return np.interp(np.arange(len(angle)), sure, np.unwrap(angle[sure]))
