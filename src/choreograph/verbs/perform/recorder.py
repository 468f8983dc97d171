"""A way over the floor while it is being drawn: places in as a mouse or a pen gives them, control points out."""

from __future__ import annotations

import math

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.base.errors import RequestError
from choreograph.verbs.perform.trajectory import LONGEST_GAP_S, MAX_SAMPLES, Trajectory, even_trajectory

_DELAY = 2.0
"""Widths of the smoothing that a place has to be old before it is told: what comes later moves it by little."""
_CONTEXT_S = 2.0
"""Seconds before that which headings are worked out from, eight times as long as they are smoothed over."""
_TURN_S = 0.25
"""Seconds in which most of a correction to the heading is made."""


class TrajectoryRecorder:
    """Takes places at the times they are given and tells, a little later, the control that they are.

    Places are brought to an even rate and smoothed; headings are those of travel, kept while the hand rests. A hand
    that is silent for a while has rested: it is where it was until just before it is heard of again.
    """

    def __init__(self, *, fps: float = 30.0, smooth_s: float = 0.2, heading: float | None = None) -> None:
        """Begin to listen.

        Args:
            fps: Control frames per second.
            smooth_s: Width of the smoothing, seconds.
            heading: Where the way heads at first, radians from +z towards +x; None if where it goes to first.
        """
        if not (np.isfinite(fps) and 1 <= fps <= 1000 and np.isfinite(smooth_s) and 0 <= smooth_s <= 10):
            raise RequestError(f"a way is recorded at 1 to 1000 Hz and smoothed over 0 to 10 s, not {fps}, {smooth_s}")
        self.fps = fps
        self.smooth_s = smooth_s
        self.delay_s = math.ceil(_DELAY * smooth_s * fps) / fps
        """Seconds from a place to the control point that it becomes."""
        self._heard: list[tuple[float, float, float]] = []
        self._even = np.zeros((0, 2))  # places at the even rate, from `_first` on
        self._first = self._told = 0
        self._headings = [] if heading is None else [heading]  # of the frames told, or of the first one
        self._speed = 0.0

    @property
    def speed(self) -> float:
        """How fast the way goes now, smoothed, m/s: to be held against `SegmentDatabase.fastest`."""
        return self._speed

    def push(self, t: float, x: float, z: float) -> Floats:
        """Take a place (seconds, metres), NaN where there is none; the control points that are ready, (n, 2, 3).

        Raises:
            RequestError: If time does not go on, or the place cannot be in metres.
        """
        if not math.isfinite(t) or (self._heard and t <= self._heard[-1][0]):
            raise RequestError(f"time goes on: after {self._heard[-1][0] if self._heard else 0:g} s came {t:g} s")
        if math.isfinite(x) and math.isfinite(z):
            if max(abs(x), abs(z)) > 1e5:
                raise RequestError(f"({x:g}, {z:g}) is farther away than a way goes; are these metres?")
            if len(self._heard) >= MAX_SAMPLES:
                raise RequestError(f"a way has {MAX_SAMPLES} places at most")
            if self._heard and t - self._heard[-1][0] > LONGEST_GAP_S:
                self._hear(t - 1 / self.fps, *self._heard[-1][1:])
            self._hear(t, x, z)
        return self._tell(round(self.delay_s * self.fps))

    def finish(self) -> Floats:
        """The control points that are left."""
        return self._tell(0)

    def trajectory(self, name: str = "trajectory") -> Trajectory:
        """The whole way as it was heard, for performing it once more with all of it at hand.

        Raises:
            FormatError: If less than two places were heard.
        """
        heard = np.array(self._heard).reshape(-1, 3)
        return even_trajectory(heard[:, 0], heard[:, 1:], fps=self.fps, name=name)

    def _hear(self, t: float, x: float, z: float) -> None:
        """Keep a place, and the even ones between it and the last."""
        self._heard.append((t, x, z))
        begin = self._heard[0][0]
        stop = math.floor((t - begin) * self.fps + 1e-6) + 1
        at = begin + np.arange(self._first + len(self._even), stop) / self.fps
        times, *places = np.array(self._heard[-2:]).T
        self._even = np.concatenate([self._even, np.stack([np.interp(at, times, p) for p in places], axis=1)])

    def _tell(self, delay: int) -> Floats:
        stop = self._first + len(self._even) - delay
        if stop <= self._told:
            return np.zeros((0, 2, 3))
        way = Trajectory(self._even, self.fps).smoothed(self.smooth_s)
        first, stop = self._told - self._first, stop - self._first
        headings = way.headings(self._headings[0] if self._headings else None)
        if first:
            # What has come to be known turns the way from the last frame told on, not at once.
            off = np.angle(np.exp(1j * (self._headings[-1] - headings[first - 1])))
            headings[first:] += off * np.exp(-np.arange(1, len(headings) - first + 1) / (_TURN_S * self.fps))
        self._speed = float(way.speeds[stop - 1])
        self._headings = [*self._headings[:first], *headings[first:stop].tolist()]
        passed = max(0, stop - round((_CONTEXT_S + 4 * self.smooth_s) * self.fps))
        self._even, self._headings = self._even[passed:], self._headings[passed:]
        self._told, self._first = self._first + stop, self._first + passed
        return way.points(headings)[first:stop]
