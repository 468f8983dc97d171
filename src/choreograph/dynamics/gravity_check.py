"""How fast bodies fall in a recording, which tells whether its frame rate is right."""

from __future__ import annotations

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Flags, Floats
from choreograph.contract.problem import Problem, ProblemKind
from choreograph.dynamics.body import Body
from choreograph.dynamics.contacts import ContactPoints
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import runs
from choreograph.motion.facts import GRAVITY_M_S2

_CLEAR_M = 0.03
"""A body is in the air for sure where every point of its feet is higher above the floor."""
_LEAST_FRAMES = 7  # of a flight from which a fall is measured
_OFF_PARABOLA_M = 0.004  # root mean square; what is farther off is no free fall
_LEAST_ARC_M = 0.03
"""How high a flight's arc is at least: where a floor is tilted, feet that walk may be above it all the time."""
_WRONG = 1.6
"""Times gravity, or below its inverse, at which a frame rate is doubted: rates are wrong by two, noise is not."""
_RATES = (12.0, 15.0, 24.0, 25.0, 30.0, 48.0, 50.0, 60.0, 72.0, 75.0, 90.0, 100.0, 120.0, 144.0, 200.0, 240.0)
_NEAR = 0.12  # share by which a usual rate may differ from the likely one and still be meant


def apparent_gravity(heights: Floats, air: Flags, fps: float) -> float | None:
    """How fast a body falls, m/s²: the median of its flights' parabolas; None without flights.

    >>> t = np.arange(40) / 100
    >>> round(apparent_gravity(1.0 + 2.0 * t - 0.5 * 9.81 * t**2, np.ones(40, bool), 100.0), 2)
    9.81

    Args:
        heights: Of the centre of mass, (F,), m.
        air: Where the body is in the air for sure, (F,).
        fps: Frames a second, as the recording has it.
    """
    rates = []
    for start, stop in runs(air):
        part = heights[start:stop]
        if len(part) < _LEAST_FRAMES:
            continue
        at = np.arange(len(part)) / fps
        curve = np.polyfit(at, part, 2)
        off = float(np.sqrt(np.mean((np.polyval(curve, at) - part) ** 2)))
        if off < _OFF_PARABOLA_M and -float(curve[0]) * at[-1] ** 2 / 4 > _LEAST_ARC_M:
            rates.append(-2.0 * float(curve[0]))
    return float(np.median(rates)) if rates else None


def falls_at(clip: Clip, body: Body, points: ContactPoints, floor: float) -> float | None:
    """How fast the body of a motion falls, m/s², frames as they are: a low-pass would flatten short flights."""
    air = np.asarray(points.positions(clip)[..., 1].min(axis=1) > floor + _CLEAR_M)
    if not air.any():
        return None
    centres = clip.global_positions() + quat.rotate(clip.global_rotations(), body.centres)
    return apparent_gravity(centres[..., 1] @ body.masses / body.mass, air, clip.fps)


def doubt_rate(gravity: float | None, fps: float) -> list[Problem]:
    """What is to be said where a body falls at another rate than bodies do: the frame rate that would explain it."""
    if gravity is None or 1 / _WRONG < gravity / GRAVITY_M_S2 < _WRONG:
        return []
    likely = fps * float(np.sqrt(GRAVITY_M_S2 / gravity))
    nearest = min(_RATES, key=lambda rate: abs(np.log(rate / likely)))
    rate = nearest if abs(nearest / likely - 1) < _NEAR else likely
    return [
        Problem.of(
            ProblemKind.FRAME_RATE_SUSPECT,
            asked=GRAVITY_M_S2,
            got=gravity,
            unit="m/s²",
            fps=f"{fps:g} Hz",
            rate=f"{rate:.0f} Hz",
            more="Read it at that rate (fps).",
        )
    ]
