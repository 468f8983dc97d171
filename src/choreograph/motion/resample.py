"""Changing the frame rate: arrays at one rate in, the same motion at another rate out."""

from __future__ import annotations

import math

import numpy as np

from choreograph.base import quat
from choreograph.base.arrays import Floats, Indices

MAX_FPS = 10_000.0
"""Highest rate that is made: ten times what the fastest motion capture cameras give."""


def sample_times(frames: int, fps: float, new_fps: float) -> Floats:
    """Where the new frames fall, in old frames: 0, fps/new_fps, … up to the last old frame.

    The first frame is kept exactly; the last one too where the rates divide.
    """
    # The small allowance keeps the last frame when rounding puts it a hair beyond the end.
    count = math.floor((frames - 1) * new_fps / fps + 1e-6) + 1
    return np.minimum(np.arange(count) * (fps / new_fps), frames - 1)


def split_times(times: Floats, frames: int) -> tuple[Indices, Indices, Floats]:
    """Frames before and after each time, and the share of the way between them."""
    before = np.clip(np.floor(times + 1e-9).astype(np.intp), 0, frames - 1)
    after = np.minimum(before + 1, frames - 1)
    return before, after, np.clip(times - before, 0.0, 1.0)


def sample_positions(values: Floats, times: Floats) -> Floats:
    """Positions (F, ...) read at fractional frames, linearly."""
    before, after, share = split_times(times, len(values))
    share = share.reshape(-1, *(1,) * (values.ndim - 1))
    return np.asarray(values[before] * (1 - share) + values[after] * share)


def sample_rotations(values: Floats, times: Floats) -> Floats:
    """Rotations (F, ..., 4) read at fractional frames, by slerp on the short arc."""
    before, after, share = split_times(times, len(values))
    if not share.any():
        return np.array(values[before])
    share = np.broadcast_to(share.reshape(-1, *(1,) * (values.ndim - 2)), (len(times), *values.shape[1:-1]))
    return quat.slerp(values[before], values[after], share)
