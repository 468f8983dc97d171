"""A performed way as a course: the answer is bent onto the way that leads it, as far as that is gentle."""

from __future__ import annotations

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.finishing.bend import Course
from choreograph.motion.bend import fit_curve

STIFF_S = 0.35
"""Seconds over which being off the way is bent away: the longer, the less is added to recorded accelerations."""
_FAR_M = 0.5
"""Distance from the way at which a body is drawn there a quarter as much as near to it."""


def lead_along(points: Floats, fps: float, begin_s: float = 0.0) -> Course:
    """The course of a body that is led by a track: where the track is at each moment, as near as it can be bent to.

    Args:
        points: Of the track, (N, 2, 3), metres; rows that are not finite are gaps.
        fps: Of the track.
        begin_s: When the track's first frame is, on the clock on which the body's first frame is at 0, seconds.
    """
    middle = points.mean(axis=1)[:, ::2]
    known = np.isfinite(middle).all(axis=1)
    times = begin_s + np.flatnonzero(known) / fps

    def course(way: Floats, rate_hz: float) -> Floats:
        if not len(times):
            return way
        at = np.arange(len(way)) / rate_hz
        wanted = np.stack([np.interp(at, times, middle[known, k]) for k in range(2)], axis=1)
        far = np.linalg.norm(wanted - way, axis=1) / _FAR_M
        inside = (at >= times[0] - 1e-6) & (at <= times[-1] + 1e-6)
        return fit_curve(way, wanted, inside / (1 + far * far) ** 2, rate_hz, STIFF_S)

    return course
