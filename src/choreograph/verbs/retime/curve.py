"""TimeWarp: which moment of a motion is shown at which second of the result, as a smooth curve that never goes back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from choreograph.base.arrays import Floats, frozen

_KEY_FORCE = 1e6
"""How much a key time counts against the curve's bending."""
_TUBE_FORCE = 100.0
"""The same for leaving the tube around a path."""
_PATH_FORCE = 0.02
"""The same for the path itself within the tube."""
_ROUNDS = 40  # until the walls that hold the curve settle, at most


@dataclass(frozen=True, eq=False)
class TimeWarp:
    """A curve through knots: cubic between them, its slope continuous, monotonic."""

    seconds: Floats
    """Times of the knots in the result, (K,), growing, from 0 on."""
    frames: Floats
    """Frames of the motion shown then, (K,), not whole numbers in general, never falling."""
    fps: float
    """Frames per second of the motion."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "seconds", frozen(self.seconds))
        object.__setattr__(self, "frames", frozen(self.frames))
        if len(self.seconds) != len(self.frames) or len(self.seconds) < 2:
            raise ValueError(f"a warp needs two knots or more, not {len(self.seconds)} and {len(self.frames)}")
        if (np.diff(self.seconds) <= 0).any() or (np.diff(self.frames) < 0).any():
            raise ValueError("a warp's seconds must grow, and its frames must not fall")

    @property
    def length_s(self) -> float:
        """Second at which the last frame is shown."""
        return float(self.seconds[-1])

    @cached_property
    def _slopes(self) -> Floats:
        """Frames per second at the knots: the middle difference, held where the curve could turn back."""
        return hermite_slopes(self.seconds, self.frames)

    def frames_at(self, seconds: ArrayLike) -> Floats:
        """Frames shown at some seconds; before and after the result, the first and the last."""
        return self._evaluate(np.asarray(seconds, float))[0]

    def rates_at(self, seconds: ArrayLike) -> Floats:
        """How many times as fast as recorded the motion is shown at some seconds."""
        return self._evaluate(np.asarray(seconds, float))[1] / self.fps

    def seconds_at(self, frames: ArrayLike) -> Floats:
        """Seconds at which some frames are shown, to within a hundredth of a frame."""
        fine = np.linspace(0, 1, 17)[:-1]
        dense = np.append((self.seconds[:-1, None] + fine * np.diff(self.seconds)[:, None]).ravel(), self.length_s)
        frames_now = self.frames_at(dense)
        # Where a pose is held, its first second.
        keep = np.append(True, np.diff(np.maximum.accumulate(frames_now)) > 0)
        return np.interp(np.asarray(frames, float), frames_now[keep], dense[keep])

    def _evaluate(self, seconds: Floats) -> tuple[Floats, Floats]:
        inside = np.clip(seconds, self.seconds[0], self.seconds[-1])
        k = np.clip(np.searchsorted(self.seconds, inside, side="right") - 1, 0, len(self.seconds) - 2)
        width = self.seconds[k + 1] - self.seconds[k]
        t = (inside - self.seconds[k]) / width
        y0, y1, s0, s1 = self.frames[k], self.frames[k + 1], self._slopes[k] * width, self._slopes[k + 1] * width
        rise = y1 - y0
        value = y0 + t * (s0 + t * (3 * rise - 2 * s0 - s1 + t * (s0 + s1 - 2 * rise)))
        slope = (s0 + t * (2 * (3 * rise - 2 * s0 - s1) + 3 * t * (s0 + s1 - 2 * rise))) / width
        return value, slope


def hermite_slopes(x: Floats, y: Floats) -> Floats:
    """Slopes at knots of a monotonic cubic curve, (K,): middle differences, at most three times the flatter side's.

    The bound is Fritsch & Carlson's (1980): within it, no piece turns back.
    """
    rise = np.diff(y) / np.diff(x)
    slopes = np.empty(len(y))
    slopes[0], slopes[-1] = rise[0], rise[-1]
    width = np.diff(x)
    slopes[1:-1] = (rise[:-1] * width[1:] + rise[1:] * width[:-1]) / (width[:-1] + width[1:])
    if len(y) > 2:
        slopes[0] = np.clip(2 * rise[0] - slopes[1], 0, 3 * rise[0])
        slopes[-1] = np.clip(2 * rise[-1] - slopes[-2], 0, 3 * rise[-1])
    slopes[1:-1] = np.minimum(slopes[1:-1], 3 * np.minimum(rise[:-1], rise[1:]))
    return slopes


def smooth_path(path: Floats, tolerance: Floats, keys: Sequence[tuple[float, float]]) -> Floats:
    """The curve (P,) that bends least within a tube around a path of whole numbers, and meets its keys.

    A path on a grid changes its step by whole samples, which no motion does; the truth lies within half a sample of it.

    Args:
        path: Values at 0, 1, 2 …, (P,).
        tolerance: Half the tube's width at each, (P,); infinite where the path says nothing.
        keys: Places between 0 and P - 1 and the values there, met to a thousandth.

    Returns:
        Values, (P,), that never fall.
    """
    from scipy.linalg import solveh_banded

    count = len(path)
    if count < 3:
        return np.interp(np.arange(count), [k for k, _ in keys], [v for _, v in keys])
    bands = np.zeros((3, count))  # upper form: row 2 the diagonal, row 0 two beside it
    for offset, weights in ((0, (1.0, -2.0, 1.0)),):
        for a in range(3):
            for b in range(a, 3):
                rows = slice(offset + b, offset + b + count - 2)
                bands[2 - (b - a), rows] += weights[a] * weights[b]
    right = np.zeros(count)
    for place, value in keys:
        k = min(int(place), count - 2)
        shares = (1 - (place - k), place - k)
        for a in range(2):
            right[k + a] += _KEY_FORCE * shares[a] * value
            bands[2, k + a] += _KEY_FORCE * shares[a] ** 2
        bands[1, k + 1] += _KEY_FORCE * shares[0] * shares[1]
    known = np.isfinite(tolerance)
    room = np.where(known, tolerance, 0.0)
    bands[2] += np.where(known, _PATH_FORCE, 1e-9)
    right += np.where(known, _PATH_FORCE, 1e-9) * path
    curve, side = np.array(path, float), np.zeros(count)
    for _ in range(_ROUNDS):
        force = np.where(side != 0, _TUBE_FORCE, 0.0)
        held = bands.copy()
        held[2] += force
        curve = solveh_banded(held, right + force * (path + side * room))
        off = curve - path
        # What is pulled to the tube's wall stays so until it would go inside by itself.
        least = np.where((side != 0) & (np.sign(off) == side), 0.9 * room, room)
        now = np.where(known & (np.abs(off) > least), np.sign(off), 0.0)
        if np.array_equal(now, side):
            break
        side = now
    curve = _meet(curve, keys)
    return np.maximum.accumulate(curve)


def _meet(curve: Floats, keys: Sequence[tuple[float, float]]) -> Floats:
    """The curve shifted by what it misses its keys by, linearly between them."""
    places, values = np.array(keys, float).T
    at = np.arange(len(curve))
    missed = values - np.interp(places, at, curve)
    return curve + np.interp(at, places, missed)
