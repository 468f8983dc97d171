"""The dynamic program that finds which recorded segments a control calls for, and when."""

from __future__ import annotations

import copy

import numpy as np

from choreograph.base.arrays import Flags, Floats, Ints
from choreograph.base.errors import RequestError
from choreograph.goals.model import SegmentGoal
from choreograph.verbs.perform.segment_fits import Cells, Laid, Signal, charge_moving, forbid, lay, split
from choreograph.verbs.perform.settings import MatchSettings


def make_signal(points: Floats, known: Flags, pad: int) -> Signal:
    """An input with `pad` steps of nothing before and after it."""
    flat, height = split(np.pad(points, ((pad, pad), (0, 0), (0, 0))))
    return Signal(flat, height, np.pad(known.astype(float), pad), pad, pad + len(points) - 1)


def thinned(points: Floats, known: Flags, fine: int, pad: int) -> Signal:
    """Every so many steps of an input, with `pad` steps of nothing before and after it."""
    every = np.minimum(np.arange(-(-(len(points) - 1) // fine) + 1) * fine, len(points) - 1)
    signal = make_signal(points[every], known[every], pad)
    if (len(points) - 1) % fine:
        signal.weight[signal.last] = 0.0  # a step that the input does not reach
    return signal


class SegmentProgram:
    """The dynamic program in progress: it can be fed a stretch at a time."""

    def __init__(self, cells: Cells, settings: MatchSettings) -> None:
        self.cells = cells
        self.settings = settings
        ring, points = cells.longest + 1, cells.head[0].shape[1]
        self.scale = float(np.sqrt(settings.continuity_s / points))
        self.scores = np.full((ring, len(cells)), np.inf)
        """Best cost of each cell by its end, a ring over steps."""
        self.tails = np.zeros((ring, len(cells), 3 * points))
        self.back = np.full((0, len(cells)), -1, np.int32)
        """The cell before each cell, by its end."""
        self.done = 0
        """Steps from which cells were started."""

    def advance(self, signal: Signal, start: int, stop: int, reached: Floats | None = None) -> Laid:
        """Start all cells from the steps [start, stop), and say how they lie there.

        Args:
            signal: The input.
            start: First step.
            stop: The step after the last one.
            reached: Where to put the best cost of each cell by its start, from `start` on, (U, N).
        """
        from choreograph.verbs.perform._compiled import advance

        cells = self.cells
        starts = np.arange(start, stop)
        laid = lay(cells, signal, starts)
        charge_moving(cells, signal, starts, laid)
        forbid(cells, signal, starts, laid)
        for goal in self.settings.goals:
            self._grant(goal, signal, starts, laid.cost)
        need = stop + cells.longest
        if need > len(self.back):
            grown = np.full((max(need, 2 * len(self.back)), len(cells)), -1, np.int32)
            grown[: len(self.back)] = self.back
            self.back = grown
        beam = np.inf if self.settings.beam_m2_s is None else float(self.settings.beam_m2_s)
        advance(
            start, *laid, cells.duration, *cells.head, *cells.tail, signal.begin, signal.last, self.scale, beam,
            self.scores, self.tails, self.back, np.zeros((0, 0)) if reached is None else reached,
        )  # fmt: skip
        self.done = stop
        return laid

    def _grant(self, goal: SegmentGoal, signal: Signal, starts: Ints, cost: Floats) -> None:
        first, last = (signal.begin + time * self.cells.rate_hz for time in goal.span)
        covers = (starts[:, None] <= last) & (starts[:, None] + self.cells.duration > first)
        cost[covers & ~np.isin(self.cells.segment, goal.segments)] = np.inf

    def copy(self) -> SegmentProgram:
        """One that can go on by itself; the cells before each cell are shared, and where both go on they agree."""
        other = copy.copy(self)
        other.scores, other.tails = self.scores.copy(), self.tails.copy()
        return other

    def forget(self, steps: int) -> None:
        """Count steps from a later one on: later by a multiple of the ring's length."""
        assert steps % len(self.scores) == 0
        self.back = self.back[steps:].copy()
        self.done -= steps

    def best(self, signal: Signal, since: int = -1) -> tuple[float, list[tuple[int, int]]]:
        """Cost of the best sequence to the input's end, and its cells with the steps they begin at.

        Args:
            signal: The input.
            since: Cells that end by this step are left out.

        Raises:
            RequestError: If there is none.
        """
        ends = np.arange(signal.last, signal.last + self.cells.longest + 1)
        scores = self.scores[ends % len(self.scores)]
        at = int(scores.argmin())
        stop, n = int(ends[at // len(self.cells)]), at % len(self.cells)
        if not scores.flat[at] < np.inf:
            why = "with these goals" if self.settings.goals else "with segments of these lengths"
            raise RequestError(
                f"no sequence of segments lasts {(signal.last - signal.begin) / self.cells.rate_hz:.2f} s {why}; "
                "allow more stretch (stretch_s), or use more segments"
            )
        return float(scores.flat[at]), self.trace(stop, n, since)

    def trace(self, stop: int, n: int, since: int = -1) -> list[tuple[int, int]]:
        """The sequence that ends with a cell at a step."""
        found = []
        while n >= 0 and stop > since:
            start = stop - int(self.cells.duration[n])
            found.append((n, start))
            stop, n = start, int(self.back[stop, n])
        return found[::-1]
