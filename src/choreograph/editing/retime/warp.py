"""Guided time warping: the warp through key times whose local speeds and accelerations are nearest to the references'.

After Hsu, da Silva & Popović, "Guided Time Warping for Motion Editing" (2007). Frames are chosen from a fine grid, one
for each thirtieth of a second of the result, by an exact dynamic program over pairs of successive steps; or, the other
way round, times are chosen for frames. The path is then smoothed within half a sample. What depends on the motion and
its references alone is kept between calls, so that key times can be dragged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log2

import numpy as np
from numpy.typing import NDArray

from choreograph.distance.blas import one_thread_each
from choreograph.editing.retime import features
from choreograph.editing.retime.baselines import blend_warps, spline_warp
from choreograph.editing.retime.curve import TimeWarp, smooth_path
from choreograph.editing.retime.keys import KeyTime, check_keys
from choreograph.editing.retime.pace import find_pace, share_out
from choreograph.editing.retime.references import Reference, prepare_references
from choreograph.editing.retime.settings import MAX_RATE, RetimeSettings
from choreograph.editing.retime.still import find_still, limit_steps
from choreograph.errors import RequestError
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import runs
from choreograph.progress import Progress, silent

Array = NDArray[np.float64]
Ints = NDArray[np.int64]

_PACE_WEIGHT = 3.0
_NEIGHBOURS = 5
_MOST_MOMENTS = 2000
"""Moments of references that are compared with; more are thinned out evenly."""
_TABLES = 4
"""Tables of costs that are kept: dragging a key time goes to and fro between few."""
_MOST_STEPS = 24
"""Steps among which a program chooses; a table grows with their square."""
_TUBE = 0.5
"""Samples by which the warp may leave the path: half of what the path can tell apart."""
_EXACT = 0.02
"""The same where the path keeps the recorded pace: what skips nothing is not smoothed."""
_PACE_RUN = 4
"""Steps in a row at the recorded pace that are meant."""


@dataclass(frozen=True)
class Grid:
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
    def rates(self) -> Array:
        """The rate of each step, (S,), against the recording; a step of none has a tenth of a sample's."""
        steps = np.maximum(self.steps, 0.1)
        return self.samples / steps if self.inverse else steps / self.samples


@dataclass(frozen=True, eq=False)
class _Table:
    """What depends on motion, references and grid, not on key times."""

    track: features.Track
    costs: NDArray[np.float32]
    still: list[tuple[int, int]]
    pace: Array
    """(N,), logarithms; of the track's samples."""


@dataclass(frozen=True, eq=False)
class GuidedWarp:
    """What the program found."""

    warp: TimeWarp
    cost: float
    """Mean distance to the references, over the program's frames; 1 is the length of a typical feature."""
    still: tuple[tuple[int, int], ...]
    """Ranges of the motion's frames that were kept at a rate of their own, [start, stop)."""
    grid: Grid


class Retimer:
    """A motion and its references, prepared: answers key times at once, and keeps what it computed for the next.

    >>> retimer = Retimer(jump)                                # guided by its own timing
    >>> retimer.solve([(0, 0.0), (len(jump) - 1, 1.2)]).warp   # doctest: +SKIP
    """

    def __init__(
        self, clip: Clip, references: Sequence[Reference] = (), settings: RetimeSettings | None = None
    ) -> None:
        self.clip, self.settings = clip, settings or RetimeSettings()
        self.as_recorded = not references
        self.references = prepare_references(clip, references, 4 / self.settings.program_hz)
        self._tables: dict[Grid, _Table] = {}

    def solve(self, keys: Sequence[KeyTime | tuple[int, float]], progress: Progress | None = None) -> GuidedWarp:
        """The guided warp through these key times.

        Raises:
            RequestError: If the key times are out of order or outside, or need a rate that is not allowed.
        """
        told = progress or silent
        checked = check_keys(self.clip, keys)
        grid = choose_grid(self._rates(checked), self.settings, as_recorded=self.as_recorded)
        self._check_rates(checked, grid)
        told("preparing the references", 0, 3)
        table = self._table(grid)
        told("warping", 1, 3)
        problem = _Problem(self, table, grid, checked)
        path, cost, tied = problem.solve()
        told("smoothing the warp", 2, 3)
        warp = problem.smooth(path)
        if self.settings.blend:
            warp = blend_warps(warp, spline_warp(checked, self.clip.fps), self.settings.blend)
        warp = _through_keys(warp, checked)
        told("smoothing the warp", 3, 3)
        scale = self.clip.fps / (grid.samples * self.settings.program_hz)
        still = tuple((round(a * scale), round(b * scale)) for a, b in tied)
        return GuidedWarp(warp, cost, still, grid)

    def _rates(self, keys: Sequence[KeyTime]) -> list[float]:
        """Mean rate between each two key times."""
        return [
            (two.frame - one.frame) / self.clip.fps / (two.seconds - one.seconds)
            for one, two in zip(keys, keys[1:], strict=False)
        ]

    def _check_rates(self, keys: Sequence[KeyTime], grid: Grid) -> None:
        slowest, fastest = float(grid.rates.min()), float(grid.rates.max())
        slowest = 0.0 if grid.first == 0 and not grid.inverse else slowest
        for one, two, rate in zip(keys, keys[1:], self._rates(keys), strict=False):
            recorded = (two.frame - one.frame) / self.clip.fps
            if rate > fastest:
                least = recorded / fastest
                raise RequestError(
                    f"frames {one.frame} to {two.frame} take {recorded:.2f} s and are to take "
                    f"{two.seconds - one.seconds:.2f} s, {rate:.2g} times as fast; at most {fastest:.2g} times is "
                    f"allowed, so {least:.2f} s is the least they can have",
                    where=f"keys[{keys.index(two)}]",
                )
            if rate < slowest:
                raise RequestError(
                    f"frames {one.frame} to {two.frame} take {recorded:.2f} s and are to take "
                    f"{two.seconds - one.seconds:.2f} s, {rate:.2g} times as fast; at least {slowest:.2g} times is "
                    f"allowed, so {recorded / slowest:.2f} s is the most they can have",
                    where=f"keys[{keys.index(two)}]",
                )

    def _table(self, grid: Grid) -> _Table:
        if grid not in self._tables:
            while len(self._tables) >= _TABLES:
                del self._tables[next(iter(self._tables))]
            with one_thread_each():
                self._tables[grid] = self._build(grid)
        return self._tables[grid]

    def _build(self, grid: Grid) -> _Table:
        settings = self.settings
        hz = grid.samples * settings.program_hz
        track = features.sample_track(self.clip, hz)
        others = [track if one is self.clip else features.sample_track(one, hz) for one in self.references]
        moments_hz = settings.reference_hz or (120.0 if self.as_recorded else 60.0)
        stride = max(1, round(hz / moments_hz), ceil(sum(len(one) for one in others) / _MOST_MOMENTS))
        neighbours = settings.neighbours or (1 if self.as_recorded else _NEIGHBOURS)
        known = features.reference_features(others, grid.samples, stride=stride)
        if grid.inverse:
            costs = features.duration_costs(
                track, known, grid.samples, grid.steps / hz, neighbours=neighbours
            )
        else:
            costs = features.step_costs(
                track, known, grid.steps, 1 / settings.program_hz, neighbours=neighbours
            )
        still = find_still(track, settings.still_m_s, settings.still_s) if settings.still_rate != 0 else []
        pace = np.zeros(len(track)) if self.as_recorded else find_pace(track, others, grid.samples, stride)
        return _Table(track, costs, still, pace)


def choose_grid(rates: Sequence[float], settings: RetimeSettings, *, as_recorded: bool = False) -> Grid:
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
    samples = settings.samples_per_step or int(np.clip(2 ** floor(log2(13 / mean)), 2, 16))
    inverse = settings.direction == "durations"
    grid = _grid(samples, slowest, fastest, inverse)
    while settings.samples_per_step is None and len(grid.steps) > _MOST_STEPS and samples > 2:
        samples //= 2
        grid = _grid(samples, slowest, fastest, inverse)
    return grid


def _grid(samples: int, slowest: float, fastest: float, inverse: bool) -> Grid:
    if inverse:
        first = max(1, ceil(samples / fastest - 1e-9))
        return Grid(samples, first, max(first + 1, floor(samples / max(slowest, 1 / MAX_RATE) + 1e-9)), True)
    least = 0 if slowest == 0 else 1
    first = max(least, floor(samples * slowest + 1e-9))
    return Grid(samples, first, max(first + 1, floor(samples * fastest + 1e-9)), False)


class _Problem:
    """One set of key times on one grid, in the program's own coordinates.

    `across` counts even steps (positions), `along` the samples that are chosen (coordinates): with steps, output times
    and samples of the motion; with durations, frames of the motion and samples of output time.
    """

    def __init__(self, retimer: Retimer, table: _Table, grid: Grid, keys: Sequence[KeyTime]) -> None:
        self.grid, self.table, self.keys = grid, table, keys
        self.settings, self.fps = retimer.settings, retimer.clip.fps
        self.hz = grid.samples * self.settings.program_hz
        frames, seconds = np.array(keys, float).T
        motion_s = frames / self.fps
        across_s, along_s = (motion_s, seconds) if grid.inverse else (seconds, motion_s)
        self.across, self.along = across_s * self.settings.program_hz, along_s * self.hz
        self.positions = int(self.across[-1] + 1e-6) + 1
        self.as_recorded, weight = retimer.as_recorded, self.settings.pace_weight
        self.pace_weight = (0.0 if retimer.as_recorded else _PACE_WEIGHT) if weight is None else weight

    def solve(self) -> tuple[Ints, float, list[tuple[int, int]]]:
        """The path, its mean cost, and the still stretches that have a rate of their own, in samples of the motion.

        Where whole samples leave no way, still stretches are let go first, then key times by a step, which the smooth
        warp meets all the same.
        """
        from choreograph.editing.retime import _compiled

        if self.positions < 3:
            return np.interp(np.arange(self.positions), self.across, self.along).astype(np.int64), 0.0, []
        costs = self._priced()
        tied = self._tied()
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

    def _priced(self) -> NDArray[np.float32]:
        """The table's costs with what changing the rate and leaving the pace cost."""
        rates = self.grid.rates
        change = self.settings.change_weight * (rates[:, None] - rates[None]) ** 2
        costs = self.table.costs + change.astype(np.float32)
        if self.pace_weight:
            off = (np.log(rates)[None] - np.log(self._wanted_rates())[:, None]) ** 2
            costs += (self.pace_weight * off)[:, :, None].astype(np.float32)
        return costs

    def _wanted_rates(self) -> Array:
        """The rate each row of the table should have by its pace, at the tempo of its section, (rows,)."""
        motion, seconds = self._key_samples()
        last = len(self.table.track) - 1
        sections = [
            (min(int(motion[k]), last - 1), max(min(int(motion[k + 1]), last), 1), float(seconds[k + 1] - seconds[k]))
            for k in range(len(motion) - 1)
        ]
        rates = share_out(self.table.pace, [s for s in sections if s[1] > s[0]], self.hz)
        return rates[self._rows()]

    def _key_samples(self) -> tuple[Array, Array]:
        """Key times as samples of the motion and seconds of the result."""
        frames, seconds = np.array(self.keys, float).T
        return frames * (self.hz / self.fps), seconds

    def _rows(self) -> Ints:
        """Samples of the motion that the table's rows are for."""
        return np.arange(0, len(self.table.track), self.grid.samples if self.grid.inverse else 1)

    def _tied(self) -> list[tuple[int, int]]:
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

    def _still_rates(self, still: list[tuple[int, int]]) -> Array:
        """How fast still stretches are shown in each section between key times."""
        motion, seconds = self._key_samples()
        mean = np.diff(motion) / np.diff(seconds) / self.hz
        if self.settings.still_rate is not None:
            return np.full(len(mean), self.settings.still_rate)
        if not self.as_recorded:
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
        """Least and greatest coordinate at each position, (P,) each: between the key times as steps allow, in the band."""
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


def _keeps_pace(path: Array, step: int) -> NDArray[np.bool_]:
    """Which places of a path, (P,), lie in a run of steps at the recorded pace."""
    kept = np.zeros(len(path), bool)
    for start, stop in runs(np.diff(path) == step):
        if stop - start >= _PACE_RUN:
            kept[start : stop + 1] = True
    return kept


def _through_keys(warp: TimeWarp, keys: Sequence[KeyTime]) -> TimeWarp:
    """The warp shifted by the hair by which it misses its key times."""
    frames, seconds = np.array(keys, float).T
    for _ in range(4):
        missed = frames - warp.frames_at(seconds)
        if np.abs(missed).max() < 1e-6:
            break
        moved = warp.frames + np.interp(warp.seconds, seconds, missed)
        warp = TimeWarp(warp.seconds, np.maximum.accumulate(np.clip(moved, 0, frames[-1])), warp.fps)
    return warp
