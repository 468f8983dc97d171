"""Pace: how fast similar poses move in the references, for each moment of a motion by itself.

A program that compares velocities alone spends spare time wherever it is cheap, for instance all of it in one slow
step, if the references are faster or slower than the motion can be in its given length. The pace says how that time is
to be shared out: moments that are slow for their pose become faster, and all together keep one tempo.
"""

from __future__ import annotations

import numpy as np

from choreograph.base.arrays import Floats, Indices, Ints
from choreograph.verbs.retime.features import FeatureTrack, find_poses, find_ways

_NEIGHBOURS = 5  # poses of the references whose pace is averaged
_FAR = 0.6
"""Distance, in poses' spread and directions' length, at which a neighbour says half as much."""
_DOUBT = 0.7
"""A moment whose pace differs from the middle one by this factor's logarithm, 2 times, says half as much: nobody in the
references stands as it does."""


def find_pace(track: FeatureTrack, references: list[FeatureTrack], step: int, stride: int) -> Floats:
    """The logarithm of how much faster the references move in similar poses, (N,), smooth; doubtful ones near the mean.

    Neighbours are nearest in pose and in the direction that joints move in, not in speed.

    Args:
        track: The motion.
        references: At the same rate.
        step: Samples on either side over which velocities are taken.
        stride: Samples between the moments that are compared.
    """
    at, pose, direction, speed = _moments(track, step, stride)
    parts = [_moments(reference, step, stride) for reference in references]
    if len(at) < 2 or not sum(len(part[0]) for part in parts):
        return np.zeros(len(track))
    known_pose, known_direction, known_speed = (np.concatenate([part[k] for part in parts]) for k in (1, 2, 3))
    spread = max(float(np.sqrt(((known_pose - known_pose.mean(axis=0)) ** 2).sum(axis=1).mean())), 1e-9)
    distance, near = _nearest(
        np.concatenate([pose / spread, direction], axis=1),
        np.concatenate([known_pose / spread, known_direction], axis=1),
    )
    ratio = np.log(known_speed[near]).mean(axis=1) - np.log(speed)
    trust = 1 / (1 + (distance / _FAR) ** 2)
    order = np.argsort(ratio)
    middle = ratio[order][np.searchsorted(np.cumsum(trust[order]), trust.sum() / 2)]
    trust = trust / (1 + ((ratio - middle) / _DOUBT) ** 4)
    mean = float((trust * ratio).sum() / trust.sum())
    return np.interp(np.arange(len(track)), at, _smooth(mean + trust * (ratio - mean), max(1, round(step / stride))))


def share_out(pace: Floats, sections: list[tuple[int, int, float]], rate_hz: float) -> Floats:
    """The rate at which each sample is to be shown, (N,): its pace, at the tempo that fits each section's length.

    Args:
        pace: Logarithms of rates, (N,).
        sections: First and last sample, and the seconds from one to the other.
        rate_hz: Samples per second.
    """
    rates = np.exp(pace)
    for start, stop, seconds in sections:
        part = slice(start, stop + 1)
        durations = np.exp(-pace[part])
        natural = float((durations[1:] + durations[:-1]).sum() / 2 / rate_hz)
        rates[part] = np.exp(pace[part]) * (natural / seconds)
    return rates


def _moments(track: FeatureTrack, step: int, stride: int) -> tuple[Ints, Floats, Floats, Floats]:
    """Samples, poses (M, 3 J), directions of motion (M, 3 J) of unit length, and speeds (M,), all joints together."""
    at = np.arange(step, len(track) - step, stride)
    ways = find_ways(track, at, np.array([-step, step]))
    velocity = (ways[:, 1] - ways[:, 0]) * (track.rate_hz / (2 * step))
    speed = np.maximum(np.linalg.norm(velocity, axis=1), 1e-6)
    return at, find_poses(track, at), velocity / speed[:, None], speed


def _nearest(wanted: Floats, known: Floats) -> tuple[Floats, Indices]:
    """Mean distance to the nearest few of the known rows, (M,), and which these are, (M, K)."""
    squares = (wanted**2).sum(axis=1)[:, None] + (known**2).sum(axis=1)[None] - 2 * wanted @ known.T
    count = min(_NEIGHBOURS, len(known))
    near = np.argpartition(squares, count - 1, axis=1)[:, :count]
    return np.sqrt(np.maximum(np.take_along_axis(squares, near, axis=1), 0)).mean(axis=1), near


def _smooth(values: Floats, half: int) -> Floats:
    """A moving average, (N,), over `half` neighbours on either side, the ends held."""
    kernel = np.full(2 * half + 1, 1 / (2 * half + 1))
    return np.convolve(np.pad(values, half, mode="edge"), kernel, mode="valid")
