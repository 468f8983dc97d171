"""Key times: which frame of the motion is to be shown at which second of the result."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from choreograph.base.errors import RequestError
from choreograph.motion.clip import Clip

FEWEST_FRAMES = 5
"""A motion needs as many frames for a velocity and an acceleration to mean anything."""
_LONGEST_S = 3600.0  # at which a key may be


class KeyTime(NamedTuple):
    """A frame of the motion, and the second of the result at which it is shown."""

    frame: int
    seconds: float


def length_keys(
    clip: Clip, seconds: float, keys: Sequence[KeyTime | tuple[int, float]] = (), *, fps: float | None = None
) -> tuple[KeyTime, ...]:
    """Key times that make a result of this length: the first frame at 0, the last in its last frame, others between.

    Args:
        clip: The motion.
        seconds: Length of the result: its frames over its rate.
        keys: Further key times; one of the first or last frame replaces that one.
        fps: Rate of the result, the motion's own if None.
    """
    if not (np.isfinite(seconds) and seconds > 0):
        raise RequestError(f"the length is {seconds} s; it must be a positive number", where="duration_s")
    ends = {0: 0.0, len(clip) - 1: max(seconds - 1 / (fps or clip.fps), 1e-3)}
    return check_keys(clip, sorted({**ends, **dict(keys)}.items()))


def check_keys(clip: Clip, keys: Sequence[KeyTime | tuple[int, float]]) -> tuple[KeyTime, ...]:
    """The key times, in order, or a sentence about what is wrong with them.

    Raises:
        RequestError: If the motion has fewer than five frames, the first or last frame has no key time, a frame is
            outside the motion, or frames or seconds are out of order.
    """
    if len(clip) < FEWEST_FRAMES:
        raise RequestError(f"{clip.name!r} has {len(clip)} frames; a motion needs {FEWEST_FRAMES} to be retimed")
    times = [KeyTime(int(frame), float(seconds)) for frame, seconds in keys]
    for n, (given, key) in enumerate(zip(keys, times, strict=True)):
        where = f"keys[{n}]"
        if given[0] != key.frame or not 0 <= key.frame < len(clip):
            raise RequestError(
                f"a key time names frame {given[0]:g}; {clip.name!r} has the frames 0 to {len(clip) - 1}", where=where
            )
        if not (np.isfinite(key.seconds) and 0 <= key.seconds <= _LONGEST_S):
            raise RequestError(
                f"the key time of frame {key.frame} is {key.seconds} s; it must be between 0 and {_LONGEST_S:g} s",
                where=where,
            )
    for n, (one, two) in enumerate(pairwise(times)):
        if two.frame <= one.frame or two.seconds <= one.seconds:
            raise RequestError(
                f"key times are out of order: frame {one.frame} at {one.seconds:g} s, then frame {two.frame} at "
                f"{two.seconds:g} s; both must grow",
                where=f"keys[{n + 1}]",
            )
    if not times or times[0].frame != 0 or times[-1].frame != len(clip) - 1:
        named = ", ".join(str(key.frame) for key in times) or "none"
        raise RequestError(
            f"the first frame (0) and the last ({len(clip) - 1}) need key times; the frames with one are: {named}",
            where="keys",
        )
    if times[0].seconds != 0:
        raise RequestError(
            f"the first frame is to be shown at {times[0].seconds:g} s; the result begins with it, at 0 s",
            where="keys[0]",
        )
    return tuple(times)
