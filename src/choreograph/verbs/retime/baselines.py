"""Warps that know nothing of motion: straight between key times, or a spline through them; and blends with those."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from choreograph.base.errors import RequestError
from choreograph.verbs.retime.curve import TimeWarp
from choreograph.verbs.retime.keys import KeyTime

_KNOTS_HZ = 120.0
"""Knots per second of a straight warp, so that its corners are no wider than a frame."""


def linear_warp(keys: Sequence[KeyTime], fps: float) -> TimeWarp:
    """The warp that is straight between key times.

    Args:
        keys: As `check_keys` gives them.
        fps: Frames per second of the motion.
    """
    frames, seconds = np.array(keys, float).T
    fine = np.linspace(0, seconds[-1], max(2, int(np.ceil(seconds[-1] * _KNOTS_HZ)) + 1))
    apart = np.abs(fine[:, None] - seconds[None]).min(axis=1) > 0.2 / _KNOTS_HZ
    at = np.sort(np.concatenate([fine[apart], seconds]))
    return TimeWarp(at, np.interp(at, seconds, frames), fps)


def spline_warp(keys: Sequence[KeyTime], fps: float) -> TimeWarp:
    """The warp that is a smooth monotonic spline through the key times, after Witkin & Popović (1995).

    Slopes are those of a cardinal spline, held back where it would run backwards.
    """
    frames, seconds = np.array(keys, float).T
    return TimeWarp(seconds, frames, fps)


def blend_warps(one: TimeWarp, other: TimeWarp, share: float) -> TimeWarp:
    """The warp that shows, at each second, the frame `share` of the way from one warp's to the other's.

    Both must have the same length; the blend of two warps that never go back never goes back.
    """
    if not 0 <= share <= 1:
        raise RequestError(f"the blend is {share}; it must be between 0 and 1", where="blend")
    if abs(one.length_s - other.length_s) > 1e-6:
        raise RequestError(f"warps of {one.length_s:g} and {other.length_s:g} s cannot be blended")
    if share == 0:
        return one
    frames = (1 - share) * one.frames + share * other.frames_at(one.seconds)
    return TimeWarp(one.seconds, np.maximum.accumulate(frames), one.fps)
