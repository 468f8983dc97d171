"""A sequence of segments while the control is being performed: pieces are settled a fixed time after they were seen.

The dynamic program runs along with the input. At every step its best sequence up to now is known; what that says about
the time before the lag is settled and kept: sequences that say otherwise are given up. So the answer can be
worse than the one found with the whole control at hand: `cost` against `SegmentSequence.cost` says by how much. What
has been settled is forgotten: each step costs the same, however long the performance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.base.errors import RequestError
from choreograph.base.floor import FloorTransform
from choreograph.verbs.perform.control import Control
from choreograph.verbs.perform.examples import SegmentDatabase
from choreograph.verbs.perform.placing import Piece, place, refine_bounds
from choreograph.verbs.perform.program import SegmentProgram
from choreograph.verbs.perform.segment_fits import Signal, build_cells, split, step_ranges
from choreograph.verbs.perform.settings import MatchSettings, usual_settings
from choreograph.verbs.perform.trajectory import LONGEST_GAP_S

Cell = tuple[int, int]
"""A cell and the step it begins at."""

_NO_END = 1 << 40


@dataclass(frozen=True)
class _Settled:
    """The last piece that was settled."""

    segment: int
    stop: int
    """The step at which the search says that it ends."""
    bounds: tuple[int, int]
    """Where it begins and ends in steps of refinement."""
    placement: FloorTransform


class PieceStream:
    """A sequence in progress: `push` control points as they come, `finish` when no more will.

    Steps are counted from the first one that is not forgotten.
    """

    def __init__(
        self,
        database: SegmentDatabase,
        fps: float,
        settings: MatchSettings | None = None,
        *,
        lag_s: float = 2.0,
        margin_s: float = 0.0,
        every_s: float = 0.0,
    ) -> None:
        """Prepare a stream.

        Args:
            database: Recorded segments.
            fps: Control frames per second.
            settings: How the control is matched with segments.
            lag_s: Seconds after which it is settled what is played at a moment. Segments that last longer are not
                used: they could not be seen whole.
            margin_s: So much sooner it is settled, for those who need time themselves.
            every_s: How often pieces are settled: as many of the search's steps at a time as it has room for.

        Raises:
            RequestError: If every segment lasts longer.
        """
        if not (np.isfinite(fps) and fps > 0):
            raise RequestError(f"a control has a positive number of frames per second, not {fps}")
        self.fps = fps
        self.settings = settings or usual_settings(database)
        rate = self.settings.rate_hz
        self._lag = math.floor((lag_s - margin_s) * rate + 1e-6) if np.isfinite(lag_s) else -1
        self.every = max(1, math.floor(every_s * rate + 1e-6))
        """Steps of the search after which pieces are settled, again and again."""
        self.settled_s = 0.0
        """Up to when the control was known when pieces were last settled."""
        self._steps = 0
        steps = np.array([high for _, high in step_ranges(database, rate, self.settings.stretch_s)])
        if not (steps <= self._lag).any():
            raise RequestError(
                f"a lag of {lag_s:g} s is too short: the shortest segment may last {steps.min() / rate:.2f} s, and "
                f"segments have to be seen whole; {math.ceil((steps.max() / rate + margin_s) * 100) / 100:.2f} s are "
                "enough for all"
            )
        self.database = database.subset(np.flatnonzero(steps <= self._lag))
        """Without the segments that are too long to be seen whole within the lag."""
        self.cells = build_cells(self.database, rate, self.settings.stretch_s)
        longest = self.cells.longest
        self.coarse_cost = math.inf
        """Of the whole sequence at the search's rate, m²·s, once finished."""
        self.cost = 0.0
        """Of the pieces settled so far, with refined times and places, m²·s."""
        self._search = SegmentProgram(self.cells, self.settings)
        self._begin = longest + 1
        points = database.controls[0].shape[1]
        pad = self._begin * self.settings.fine
        self._flat, self._height = np.zeros((pad, points), complex), np.zeros((pad, points))
        self._weight = np.zeros(pad)
        self._frames = np.zeros((0, points, 3))  # of the control, from the one before the next sample on
        self._first_frame = self._sampled = self._unknown = self._seen = 0
        self._settled: _Settled | None = None
        self._next: list[Cell] = []  # what comes after it, as things stand

    @property
    def seen_s(self) -> float:
        """Seconds of the control that came so far."""
        return max(self._first_frame + len(self._frames) - 1, 0) / self.fps

    def push(self, points: Floats) -> list[Piece]:
        """Take control points (n, P, 3) as they come, NaN where nothing is known; the pieces that are settled now.

        Raises:
            RequestError: If the points are not such, or nothing has been known for too long.
        """
        points = np.asarray(points, float)
        if points.ndim != 3 or points.shape[1:] != self._frames.shape[1:]:
            raise RequestError(f"control points come as (n, {self._frames.shape[1]}, 3), not {points.shape}")
        self._sample(points)
        pieces: list[Piece] = []
        # One step at a time, so that the answer does not depend on how the control is cut into pushes.
        while (seen := self._search.done + self.cells.longest) * self.settings.fine < len(self._weight):
            self._search.advance(self._coarse(seen, _NO_END), self._search.done, self._search.done + 1)
            self._steps += 1
            if seen > self._begin and self._steps % self.every == 0:
                self.settled_s = (seen - self._begin) / self.cells.rate_hz
                pieces += self._decide(seen)
        return pieces

    def ahead(self) -> tuple[Piece, ...]:
        """What comes after the settled pieces as things stand; it may still change."""
        return self._placed_pieces(self._next, self._seen) if self._next else ()

    def finish(self) -> list[Piece]:
        """The pieces that are left, when the control is over.

        Raises:
            RequestError: If less than two frames came.
        """
        if self._sampled < 2:
            raise RequestError(f"a performance needs two control frames or more; found {self._sampled}")
        last, fine = len(self._weight) - 1, self.settings.fine
        signal = self._coarse(-(-last // fine), -(-last // fine))
        if last % fine:
            signal.weight[signal.last] = 0.0  # a step that the control does not reach
        if signal.last > self._search.done:
            self._search.advance(signal, self._search.done, signal.last)
        self.coarse_cost, sequence = self._search.best(signal, self._stop)
        pieces = self._placed_pieces(sequence, last)
        self.cost += sum(piece.cost_m2_s for piece in pieces)
        self._next = []
        return list(pieces)

    # ------------------------------------------------------------------ deciding

    def _decide(self, seen: int) -> list[Piece]:
        """Find the best sequence up to now, and settle what of it is older than the lag."""
        from choreograph.verbs.perform._compiled import keep_descendants

        signal = self._coarse(seen, seen)
        guess = self._search.copy()
        guess.advance(signal, guess.done, seen)
        self._seen = seen * self.settings.fine
        try:
            _, self._next = guess.best(signal, self._stop)
        except RequestError:  # no sequence ends here; later one may
            self._next = []
        old = sum(start <= seen - self._lag for _, start in self._next)
        # As long as sequences can still begin, none is settled.
        if not old or self._search.done <= self._begin:
            return []
        pieces = self._placed_pieces(self._next, self._seen)[:old]
        cell, start = self._next[old - 1]
        stop = start + int(self.cells.duration[cell])
        keep_descendants(self._search.scores, self._search.back, self.cells.duration, self._search.done, stop, cell)
        self._next = self._next[old:]
        begin = self._begin * self.settings.fine
        first, last = (begin + round(t * self._fine_hz) for t in (pieces[-1].start_s, pieces[-1].stop_s))
        self._settled = _Settled(pieces[-1].segment, stop, (first, last), pieces[-1].placement)
        self._forget(first // self.settings.fine - 1)
        self.cost += sum(piece.cost_m2_s for piece in pieces)
        return list(pieces)

    def _placed_pieces(self, sequence: list[Cell], last: int) -> tuple[Piece, ...]:
        """What follows the settled pieces, with its times made exact, laid on the control up to a step."""
        fine = self.settings.fine
        after = (self.cells.longest + 1) * fine
        signal = Signal(
            np.pad(self._flat[: last + 1], ((0, after), (0, 0))),
            np.pad(self._height[: last + 1], ((0, after), (0, 0))),
            np.pad(self._weight[: last + 1], (0, after)),
            self._begin * fine,
            last,
        )
        segments = [int(self.cells.segment[n]) for n, _ in sequence]
        bounds = [u * fine for _, u in sequence]
        bounds.append((sequence[-1][1] + int(self.cells.duration[sequence[-1][0]])) * fine)
        known = self._settled
        if known is not None:
            # With the one before, so that the gap to it counts.
            segments, bounds = [known.segment, *segments], [*known.bounds, *bounds[1:]]
        chosen, at = np.array(segments), np.array(bounds)
        _, at = refine_bounds(
            self.database, chosen, signal, at, self.settings, self._fine_hz, fixed=0 if known is None else 2
        )
        _, pieces = place(
            self.database, chosen, signal, at, self._fine_hz, self.settings.continuity_s,
            first=None if known is None else known.placement,
        )  # fmt: skip
        return pieces if known is None else pieces[1:]

    @property
    def _stop(self) -> int:
        """The step up to which all is settled."""
        return -1 if self._settled is None else self._settled.stop

    @property
    def _fine_hz(self) -> float:
        return self.cells.rate_hz * self.settings.fine

    # ------------------------------------------------------------------ the control as it comes

    def _sample(self, points: Floats) -> None:
        """Bring new frames to the rate of refinement."""
        self._frames = np.concatenate([self._frames, points])
        count = self._first_frame + len(self._frames)
        stop = math.floor((count - 1) * self._fine_hz / self.fps + 1e-6) + 1 if count else 0
        if stop <= self._sampled:
            return
        at = np.minimum(np.arange(self._sampled, stop) * self.fps / self._fine_hz, count - 1) - self._first_frame
        frames = Control(self._frames, self.fps).at(at)
        for sure in frames[1]:
            self._unknown = 0 if sure else self._unknown + 1
            if (self._unknown + 1) / self._fine_hz > LONGEST_GAP_S:
                raise RequestError(f"nothing is known of the control for more than {LONGEST_GAP_S:g} s")
        flat, height = split(frames[0])
        self._flat, self._height = np.concatenate([self._flat, flat]), np.concatenate([self._height, height])
        self._weight = np.concatenate([self._weight, frames[1].astype(float)])
        self._sampled = stop
        passed = min(int(stop * self.fps / self._fine_hz) - self._first_frame, len(self._frames) - 1)
        self._frames, self._first_frame = self._frames[passed:], self._first_frame + passed

    def _coarse(self, stop: int, last: int) -> Signal:
        """The control at the search's rate up to a step, with nothing after it."""
        at = np.minimum(np.arange(stop + 1) * self.settings.fine, len(self._weight) - 1)
        after = self.cells.longest
        return Signal(
            np.pad(self._flat[at], ((0, after), (0, 0))),
            np.pad(self._height[at], ((0, after), (0, 0))),
            np.pad(self._weight[at], (0, after)),
            self._begin,
            last,
        )

    def _forget(self, steps: int) -> None:
        """Let go of the first steps, about so many."""
        steps -= steps % len(self._search.scores)
        if steps <= 0:
            return
        self._search.forget(steps)
        fine = steps * self.settings.fine
        self._flat, self._height, self._weight = self._flat[fine:], self._height[fine:], self._weight[fine:]
        self._begin -= steps
        self._seen -= fine
        self._next = [(cell, start - steps) for cell, start in self._next]
        if self._settled is not None:
            first, last = self._settled.bounds
            self._settled = replace(self._settled, stop=self._settled.stop - steps, bounds=(first - fine, last - fine))
