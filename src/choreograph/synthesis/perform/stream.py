"""Interpretation while the control is being performed: pieces are settled a fixed time after they were seen.

The dynamic program runs along with the input. What its best sequence says about the time before the look-ahead is
settled and kept: sequences that say otherwise are given up. So the answer can be worse than the one that is found with
the whole control at hand; `cost` against `Interpretation.coarse_cost` says by how much.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from choreograph.errors import RequestError
from choreograph.synthesis.perform.cells import Signal, build_cells, split
from choreograph.synthesis.perform.examples import SegmentBase
from choreograph.synthesis.perform.placing import Piece, place
from choreograph.synthesis.perform.request import PerformSettings, usual_settings
from choreograph.synthesis.perform.search import Search

Array = NDArray[np.float64]

_NO_END = 1 << 40


class PerformStream:
    """An interpretation in progress: `push` control points as they come, `finish` when no more will."""

    def __init__(
        self, base: SegmentBase, fps: float, settings: PerformSettings | None = None, *, lag_s: float = 2.0
    ) -> None:
        """Prepare a stream.

        Args:
            base: Recorded segments.
            fps: Control frames per second.
            settings: How the control is interpreted; times are not refined.
            lag_s: Seconds after which what was performed is settled.

        Raises:
            RequestError: If the lag is shorter than the longest segment may last, which has to be seen whole.
        """
        self.base = base
        self.settings = settings or usual_settings(base)
        self.cells = build_cells(base, self.settings.rate_hz, self.settings.stretch_s)
        self.fps = fps
        self.lag_steps = math.floor(lag_s * self.cells.rate_hz)
        if self.lag_steps <= self.cells.longest:
            raise RequestError(
                f"a lag of {lag_s:g} s is too short: the longest segment may last "
                f"{self.cells.longest / self.cells.rate_hz:.2f} s, and has to be seen whole"
            )
        self.cost = math.inf
        """Of the whole sequence, m²·s, once finished."""
        self._search = Search(self.cells, self.settings)
        self._given = np.zeros((0, *base.controls[0].shape[1:]))
        self._settled: list[tuple[int, int]] = []

    def push(self, points: Array) -> list[Piece]:
        """Take control points (n, P, 3) as they come; the pieces that are settled now."""
        points = np.asarray(points, float)
        if points.ndim != 3 or points.shape[1:] != self._given.shape[1:]:
            raise RequestError(f"control points come as (n, {self._given.shape[1]}, 3), not {points.shape}")
        self._given = np.concatenate([self._given, points])
        signal = self._signal(False)
        ready = len(signal.weight) - self.cells.longest
        if ready <= self._search.done:
            return []
        self._search.advance(signal, self._search.done, ready)
        scores = self._search.scores[ready % len(self._search.scores)]
        n = int(scores.argmin())
        if not scores[n] < np.inf:
            return []
        limit = len(signal.weight) - 1 - self.lag_steps
        sequence = [
            (cell, start)
            for cell, start in self._search.trace(ready, n)
            if start + int(self.cells.duration[cell]) <= limit
        ]
        return self._settle(sequence, signal)

    def finish(self) -> list[Piece]:
        """The pieces that are left, when the control is over."""
        if len(self._given) < 2:
            raise RequestError("a performance needs two control frames or more")
        signal = self._signal(True)
        if signal.last > self._search.done:
            self._search.advance(signal, self._search.done, signal.last)
        self.cost, sequence = self._search.best(signal)
        return self._settle(sequence, signal)

    def _settle(self, sequence: list[tuple[int, int]], signal: Signal) -> list[Piece]:
        """Keep what of a sequence is new, and give up what disagrees with it."""
        from choreograph.synthesis.perform._compiled import keep_descendants

        known = len(self._settled)
        fresh = sequence[known:]
        if not fresh:
            return []
        self._settled = sequence
        cell, start = fresh[-1]
        stop = start + int(self.cells.duration[cell])
        if stop <= self._search.done:
            keep_descendants(self._search.scores, self._search.back, self.cells.duration, self._search.done, stop, cell)
        # With the one before, so that the gap to it is known.
        shown = sequence[max(known - 1, 0) :]
        bounds = np.array([*(u for _, u in shown), stop])
        segments = self.cells.segment[[n for n, _ in shown]]
        return list(place(self.base, segments, signal, bounds, self.cells.rate_hz)[1])[min(known, 1) :]

    def _signal(self, over: bool) -> Signal:
        """What has been seen, at the search's rate, with nothing before it, and after it if it is over."""
        rate, pad = self.cells.rate_hz, self.cells.longest
        count = math.floor((len(self._given) - 1) * rate / self.fps + 1e-6) + 1 if len(self._given) else 0
        at = np.minimum(np.arange(count) * self.fps / rate, len(self._given) - 1)
        low = np.floor(at + 1e-9).astype(int)
        share = np.clip(at - low, 0.0, 1.0)[:, None, None]
        points = self._given[low] * (1 - share) + self._given[np.minimum(low + 1, max(len(self._given) - 1, 0))] * share
        known = np.isfinite(points).all(axis=(1, 2))
        points = np.where(known[:, None, None], points, 0.0)
        after = pad if over else 0
        flat, height = split(np.pad(points, ((pad, after), (0, 0), (0, 0))))
        last = pad + count - 1 if over else _NO_END
        return Signal(flat, height, np.pad(known.astype(float), (pad, after)), pad, last)
