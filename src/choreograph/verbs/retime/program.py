"""The program of a retiming: a grid of samples and steps, key times as places on it, the cheapest path, its curve."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log2

import numpy as np

from choreograph.base.arrays import Flags, Floats, Floats32, Ints
from choreograph.base.errors import RequestError
from choreograph.motion.contacts import runs
from choreograph.verbs.retime.curve import TimeWarp, smooth_path
from choreograph.verbs.retime.features import FeatureTrack
from choreograph.verbs.retime.keys import KeyTime
from choreograph.verbs.retime.pace import share_out
from choreograph.verbs.retime.request import MAX_RATE, RetimeAdvanced
from choreograph.verbs.retime.still import limit_steps

_PACE_WEIGHT = 3.0  # what a step costs whose rate is off the pace by a factor of e
_FLIGHT_WEIGHT = 10.0
"""How much more it counts that a flight keeps its timing, where a motion is guided by itself: whoever stands can push
harder, what is in the air falls as it falls."""
_CROWDED, _CROWDED_RUN = 0.9, 0.6
"""Share of the fastest rate that the rest of a motion may need for one or two flights to be kept, and for more."""
_MOST_STEPS = 24
"""Steps among which a program chooses; a table grows with their square."""
_TUBE = 0.5
"""Samples by which the warp may leave the path: half of what the path can tell apart."""
_EXACT = 0.02
"""The same where the path keeps the recorded pace: what skips nothing is not smoothed."""
_PACE_RUN = 4
"""Steps in a row at the recorded pace that are meant."""


@dataclass(frozen=True)
class RateGrid:
    """In which samples a program counts, and which steps it may take."""

    samples: int
    """Samples per step at the recorded pace."""
    first: int
    """Shortest step, samples."""
    last: int
    """Longest step, samples."""
    inverse: bool
    """Whether times are chosen for frames (durations), not frames for times (steps)."""

    @property
    def steps(self) -> Ints:
        """All steps, (S,)."""
        return np.arange(self.first, self.last + 1)

    @property
    def rates(self) -> Floats:
        """The rate of each step, (S,), against the recording; a step of none has a tenth of a sample's."""
        steps = np.maximum(self.steps, 0.1)
        return self.samples / steps if self.inverse else steps / self.samples


@dataclass(frozen=True, eq=False)
class TripleTable:
    """What depends on motion, references and grid, not on key times."""

    track: FeatureTrack
    costs: Floats32
    still: list[tuple[int, int]]
    """Ranges of samples, [start, stop)."""
    flights: list[tuple[int, int]]
    """The same, of a motion that is guided by itself: no foot stands."""
    pace: Floats
    """Of the track's samples, (N,), logarithms."""
    as_recorded: bool
    """Whether the motion is guided by itself."""


def choose_grid(rates: Sequence[float], settings: RetimeAdvanced, *, as_recorded: bool = False) -> RateGrid:
    """A grid that holds the rates needed between key times with room on both sides, and the recorded pace.

    A motion that is guided by itself needs more room: what keeps its pace has to be made up for elsewhere. Rates are
    rounded to half octaves, so that a key time can be dragged without another table.

    Args:
        rates: Mean rates between key times.
        settings: Limits, if any are given.
        as_recorded: Whether the motion is guided by itself.
    """
    low, high = min(rates), max(rates)
    room = 3.0 if as_recorded else 2.0
    slowest, fastest = settings.smallest_rate, settings.largest_rate
    if slowest is None:
        slowest = max(min(2 ** (ceil(2 * log2(low / room)) / 2), 0.75), 1 / MAX_RATE)
    if fastest is None:
        fastest = min(max(2 ** (floor(2 * log2(room * high)) / 2), 1.4), MAX_RATE)
    mean = float(np.exp(np.mean(np.log(rates))))
    inverse = settings.direction == "durations"
    wanted = np.clip(2 ** round(log2(12 * mean)), 8, 64) if inverse else np.clip(2 ** floor(log2(13 / mean)), 2, 16)
    samples = settings.samples_per_step or int(wanted)
    grid = _grid(samples, slowest, fastest, inverse)
    while settings.samples_per_step is None and len(grid.steps) > _MOST_STEPS and samples > 2:
        samples //= 2
        grid = _grid(samples, slowest, fastest, inverse)
    return grid


def _grid(samples: int, slowest: float, fastest: float, inverse: bool) -> RateGrid:
    if inverse:
        first = max(1, ceil(samples / fastest - 1e-9))
        return RateGrid(samples, first, max(first + 1, floor(samples / max(slowest, 1 / MAX_RATE) + 1e-9)), True)
    least = 0 if slowest == 0 else 1
    first = max(least, floor(samples * slowest + 1e-9))
    return RateGrid(samples, first, max(first + 1, floor(samples * fastest + 1e-9)), False)


class RetimeProgram:
    """One set of key times on one grid, in the program's own coordinates.

    `across` counts even steps (positions), `along` the samples that are chosen (coordinates): with steps, output times
    and samples of the motion; with durations, frames of the motion and samples of output time.
    """

    def __init__(
        self, table: TripleTable, grid: RateGrid, keys: Sequence[KeyTime], fps: float, settings: RetimeAdvanced
    ) -> None:
        self.grid, self.table, self.keys = grid, table, keys
        self.settings, self.fps = settings, fps
        self.hz = grid.samples * self.settings.program_hz
        frames, seconds = np.array(keys, float).T
        motion_s = frames / self.fps
        across_s, along_s = (motion_s, seconds) if grid.inverse else (seconds, motion_s)
        self.across, self.along = across_s * self.settings.program_hz, along_s * self.hz
        self.positions = int(self.across[-1] + 1e-6) + 1
        weight = settings.weights.pace
        self.pace_weight = (0.0 if table.as_recorded else _PACE_WEIGHT) if weight is None else weight

    def solve(self) -> tuple[Ints, float, list[tuple[int, int]]]:
        """The path, its mean cost, and the still stretches that have a rate of their own, in samples of the motion.

        Where whole samples leave no way, still stretches are let go first, then key times by a step, which the smooth
        warp meets all the same.
        """
        from choreograph.verbs.retime import _compiled

        if self.positions < 3:
            return np.interp(np.arange(self.positions), self.across, self.along).astype(np.int64), 0.0, []
        costs = self._priced()
        tied = self.tied()
        for still, slack in ((tied, 0), (tied, 2), ([], 0), ([], self.grid.last), ([], 4 * self.grid.last)):
            low, high = self._window(slack)
            path, cost = _compiled.cheapest_path(
                costs, self.grid.inverse, self.grid.first, low, high, *self._limits(still)
            )
            if np.isfinite(cost):
                return path, self._mean_cost(path), still
        raise RequestError(
            "no warp goes through these key times with steps of whole samples; give them more room, or a larger "
            f"largest_rate than {self.grid.rates.max():g}",
            where="keys",
        )

    def smooth(self, path: Ints) -> TimeWarp:
        """The path as a curve."""
        whole = abs(self.across[-1] - (self.positions - 1)) < 1e-6
        padded = path.astype(float) if whole else np.append(path, 2 * path[-1] - path[max(len(path) - 2, 0)])
        tolerance = np.where(_keeps_pace(padded, self.grid.samples), _EXACT, _TUBE)
        if not whole:
            tolerance[-1] = np.inf
        curve = smooth_path(padded, tolerance, list(zip(self.across, self.along, strict=True)))
        places = np.arange(len(curve), dtype=float)
        inside = places < self.across[-1] - 1e-6
        across = np.append(places[inside], self.across[-1]) / self.settings.program_hz
        along = np.append(curve[inside], self.along[-1]) / self.hz
        if self.grid.inverse:
            seconds, frames = np.clip(along, 0, self.along[-1] / self.hz), across * self.fps
            keep = np.append(np.diff(seconds) > 1e-6, True)
            keep[0] = True
            return TimeWarp(seconds[keep], frames[keep], self.fps)
        frames = np.clip(along, 0, self.along[-1] / self.hz) * self.fps
        return TimeWarp(across, np.maximum.accumulate(frames), self.fps)

    def _priced(self) -> Floats32:
        """The table's costs with what changing the rate and leaving the pace cost."""
        rates = self.grid.rates
        change = self.settings.weights.change * (rates[:, None] - rates[None]) ** 2
        air, crowded = self._flights()
        costs = self.table.costs * np.where(air, _FLIGHT_WEIGHT, 1.0).astype(np.float32)[:, None, None]
        costs += change.astype(np.float32)
        weight = np.full(len(costs), self.pace_weight)
        if self.table.as_recorded and self.settings.weights.pace is None:
            weight[crowded] = _PACE_WEIGHT
        if weight.any():
            off = (np.log(rates)[None] - np.log(self._wanted_rates())[:, None]) ** 2
            costs += (weight[:, None] * off)[:, :, None].astype(np.float32)
        return costs

    def _flights(self) -> tuple[Flags, Flags]:
        """Which rows lie in flights that can be kept, and which in sections without any, or too little time for theirs.

        A run is in the air for most of its time. If it kept some flights it would have to spoil others, and limp. A
        walk has none: if most steps kept their pace, one of them would take up all the time that there is to spend.
        """
        rows = self._rows()
        motion, seconds = self._key_samples()
        inside, crowded = np.zeros((2, len(rows)), bool)
        for start, stop in self.table.flights:
            inside |= (rows >= start) & (rows < stop)
        for k, available in enumerate(np.diff(seconds)):
            here = (rows >= motion[k]) & (rows <= motion[k + 1])
            parts = [min(b, motion[k + 1]) - max(a, motion[k]) for a, b in self.table.flights]
            air = sum(part for part in parts if part > 0) / self.hz
            rest = (motion[k + 1] - motion[k]) / self.hz - air
            most = (_CROWDED if sum(part > 0 for part in parts) < 3 else _CROWDED_RUN) * self.grid.rates.max()
            if not air or available <= air or rest / (available - air) > most:
                crowded |= here
        return inside & ~crowded, crowded

    def _wanted_rates(self) -> Floats:
        """The rate each row of the table should have by its pace, at the tempo of its section, (rows,)."""
        motion, seconds = self._key_samples()
        last = len(self.table.track) - 1
        sections = [
            (min(int(motion[k]), last - 1), max(min(int(motion[k + 1]), last), 1), float(seconds[k + 1] - seconds[k]))
            for k in range(len(motion) - 1)
        ]
        rates = share_out(self.table.pace, [s for s in sections if s[1] > s[0]], self.hz)
        return rates[self._rows()]

    def _key_samples(self) -> tuple[Floats, Floats]:
        """Key times as samples of the motion and seconds of the result."""
        frames, seconds = np.array(self.keys, float).T
        return frames * (self.hz / self.fps), seconds

    def _rows(self) -> Ints:
        """Samples of the motion that the table's rows are for."""
        return np.arange(0, len(self.table.track), self.grid.samples if self.grid.inverse else 1)

    def tied(self) -> list[tuple[int, int]]:
        """Still stretches without a key time inside, in samples of the motion."""
        motion, _ = self._key_samples()
        inner = motion[1:-1]
        return [(a, b) for a, b in self.table.still if not ((inner > a) & (inner < b)).any()]

    def _limits(self, still: list[tuple[int, int]]) -> tuple[Ints, Ints]:
        rows = self._rows()
        motion, _ = self._key_samples()
        section = np.clip(np.searchsorted(motion, rows, side="right") - 1, 0, len(motion) - 2)
        rates = self._still_rates(still)[section]
        wanted = self.grid.samples / rates if self.grid.inverse else self.grid.samples * rates
        places = [tuple(np.searchsorted(rows, (a, b))) for a, b in still]
        return limit_steps(len(rows), self.grid.steps, [(int(a), int(b)) for a, b in places], wanted)

    def _still_rates(self, still: list[tuple[int, int]]) -> Floats:
        """How fast still stretches are shown in each section between key times."""
        motion, seconds = self._key_samples()
        mean = np.diff(motion) / np.diff(seconds) / self.hz
        if self.settings.still_rate is not None:
            return np.full(len(mean), self.settings.still_rate)
        if not self.table.as_recorded:
            return mean
        out = []
        for k, rate in enumerate(mean):
            rest = sum(max(0.0, min(b, motion[k + 1]) - max(a, motion[k])) for a, b in still) / self.hz
            moving = (motion[k + 1] - motion[k]) / self.hz - rest
            spare = seconds[k + 1] - seconds[k] - moving
            wanted = rest / spare if spare > 1e-6 else np.inf
            out.append(np.clip(wanted, min(self.grid.rates.min(), rate), max(self.grid.rates.max(), rate)))
        return np.array(out)

    def _window(self, slack: int) -> tuple[Ints, Ints]:
        """Least and greatest coordinate at each position, (P,) each: what key times, steps and the band allow."""
        at = np.arange(self.positions)
        top = int(self.along[-1] + 1e-6) if self.grid.inverse else len(self.table.track) - 1
        line = np.interp(at, self.across, self.along)
        band = self.settings.band_s * self.hz
        low = np.maximum(np.floor(line - band), 0).astype(np.int64)
        high = np.minimum(np.ceil(line + band), top).astype(np.int64)
        shortest, longest = self.grid.first, self.grid.last
        places = np.clip(np.rint(self.across).astype(np.int64), 0, self.positions - 1)
        before = -1
        for n, place in enumerate(places):
            if place == before:
                continue  # two key times within a step: the smooth warp meets the second
            before = place
            value = min(int(np.rint(np.interp(place, self.across, self.along))), top)
            give = 0 if n == 0 else slack
            beyond = at - place
            low = np.maximum(low, value - give + np.where(beyond >= 0, beyond * shortest, beyond * longest))
            high = np.minimum(high, value + give + np.where(beyond >= 0, beyond * longest, beyond * shortest))
        return low, np.maximum(np.minimum(high, top), low - 1)

    def _mean_cost(self, path: Ints) -> float:
        steps = np.diff(path) - self.grid.first
        rows = np.arange(1, len(path) - 1) if self.grid.inverse else path[1:-1]
        return float(self.table.costs[rows, steps[1:], steps[:-1]].mean())


def _keeps_pace(path: Floats, step: int) -> Flags:
    """Which places of a path, (P,), lie in a run of steps at the recorded pace."""
    holds = np.zeros(len(path), bool)
    for start, stop in runs(np.diff(path) == step):
        if stop - start >= _PACE_RUN:
            holds[start : stop + 1] = True
    return holds
