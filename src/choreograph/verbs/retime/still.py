"""Still stretches: standing looks the same at any rate, so it would soak up whatever time a warp has to spend."""

from __future__ import annotations

import numpy as np

from choreograph.base.arrays import Floats, Ints
from choreograph.motion.contacts import runs
from choreograph.verbs.retime.features import FeatureTrack

_SMOOTH_S = 0.1
"""Seconds over which a speed is averaged, so that a tremble does not end a rest."""


def find_still(track: FeatureTrack, limit_m_s: float, least_s: float) -> list[tuple[int, int]]:
    """Ranges [start, stop) of samples in which the joints hardly move.

    Args:
        track: Joint positions.
        limit_m_s: Mean speed of the joints below which a body stands.
        least_s: Shorter rests are not named.
    """
    if len(track) < 3:
        return []
    speed = np.linalg.norm(np.gradient(track.points, 1 / track.rate_hz, axis=0), axis=2).mean(axis=1)
    width = max(1, round(_SMOOTH_S * track.rate_hz)) | 1
    sums = np.cumsum(np.concatenate([[0.0], np.pad(speed, width // 2, mode="edge")]))
    still = (sums[width:] - sums[:-width]) / width < limit_m_s
    return [(a, b) for a, b in runs(still) if b - a >= least_s * track.rate_hz]


def limit_steps(
    count: int,
    steps: Ints,
    still: list[tuple[int, int]],
    wanted: Floats,
) -> tuple[Ints, Ints]:
    """First and last step allowed out of each place, as indices, (N,) each: two neighbours where the motion is still.

    Args:
        count: Number of places, N.
        steps: Steps, one after another, (S,).
        still: Ranges of places, [start, stop).
        wanted: The step that each place should have if it is still, not whole in general, (N,).
    """
    fewest, most = np.zeros(count, np.int64), np.full(count, len(steps) - 1, np.int64)
    for start, stop in still:
        low = np.clip(np.floor(wanted[start:stop] + 1e-6).astype(np.int64) - steps[0], 0, len(steps) - 1)
        high = np.clip(np.ceil(wanted[start:stop] - 1e-6).astype(np.int64) - steps[0], 0, len(steps) - 1)
        fewest[start:stop], most[start:stop] = low, high
    return fewest, most
