"""Guided time warping: the warp through key times whose local speeds and accelerations are nearest to the references'.

After Hsu, da Silva & Popović, "Guided Time Warping for Motion Editing" (2007). Frames are chosen from a fine grid, one
for each thirtieth of a second of the result, by an exact dynamic program over pairs of successive steps; or, the other
way round, times are chosen for frames. The path is then smoothed within half a sample. What depends on the motion and
its references alone is kept between calls, so that key times can be dragged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil

import numpy as np

from choreograph.base.errors import RequestError
from choreograph.base.progress import Progress, silent
from choreograph.distance.blas import one_thread_each
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import with_detected_contacts
from choreograph.verbs.retime import features
from choreograph.verbs.retime.baselines import blend_warps, spline_warp
from choreograph.verbs.retime.curve import TimeWarp
from choreograph.verbs.retime.keys import KeyTime, check_keys
from choreograph.verbs.retime.measure import find_flights
from choreograph.verbs.retime.pace import find_pace
from choreograph.verbs.retime.program import RateGrid, RetimeProgram, TripleTable, choose_grid
from choreograph.verbs.retime.references import Reference, prepare_references
from choreograph.verbs.retime.request import RetimeRequest
from choreograph.verbs.retime.still import find_still

_NEIGHBOURS = 5  # moments of the references whose distances are averaged
_MOST_MOMENTS = 2000
"""Moments of references that are compared with; more are thinned out evenly."""
_MOST_OWN_MOMENTS = 1200
"""The same for a motion that is guided by itself: all of 5 s."""
_SHARE, _OWN_SHARE = 0.999, 0.9999
"""Of the variance that features keep; a moment that is compared with itself shows what is left out."""
_TABLES = 4
"""Tables of costs that are kept: dragging a key time goes to and fro between few."""


@dataclass(frozen=True, eq=False)
class GuidedWarp:
    """What the program found."""

    warp: TimeWarp
    cost: float
    """Mean distance to the references, over the program's frames; 1 is the length of a typical feature."""
    still: tuple[tuple[int, int], ...]
    """Ranges of the motion's frames that were kept at a rate of their own, [start, stop)."""
    grid: RateGrid
    released: tuple[tuple[int, int], ...] = ()
    """Still stretches that had to be left to the program, since no warp holds them at their rate."""


class Retimer:
    """A motion and its references, prepared: answers key times at once, and keeps what it computed for the next.

    >>> from choreograph.demo import demo_clip
    >>> jump = demo_clip("jump", 60.0)
    >>> retimer = Retimer(jump)  # guided by its own timing
    >>> round(retimer.solve([(0, 0.0), (len(jump) - 1, 2.5)]).warp.length_s, 3)
    2.5
    """

    def __init__(self, clip: Clip, references: Sequence[Reference] = (), request: RetimeRequest | None = None) -> None:
        # Contacts are looked for once, for all key times.
        self.clip = with_detected_contacts(clip) if clip.skeleton.feet else clip
        self.request = request or RetimeRequest()
        self.settings = self.request.advanced
        self.as_recorded = not references
        self.references = prepare_references(self.clip, references, 4 / self.settings.program_hz)
        self._tables: dict[RateGrid, TripleTable] = {}

    def solve(self, keys: Sequence[KeyTime | tuple[int, float]], progress: Progress | None = None) -> GuidedWarp:
        """The guided warp through these key times.

        Raises:
            RequestError: If the key times are out of order or outside, or need a rate that is not allowed.
        """
        report = progress or silent
        checked = check_keys(self.clip, keys)
        grid = choose_grid(self._rates(checked), self.settings, as_recorded=self.as_recorded)
        self._check_rates(checked, grid)
        report("preparing the references", 0, 3)
        table = self._table(grid)
        report("warping", 1, 3)
        program = RetimeProgram(table, grid, checked, self.clip.fps, self.settings)
        path, cost, tied = program.solve()
        report("smoothing the warp", 2, 3)
        warp = program.smooth(path)
        if self.request.spline_share:
            warp = blend_warps(warp, spline_warp(checked, self.clip.fps), self.request.spline_share)
        warp = _through_keys(warp, checked)
        report("smoothing the warp", 3, 3)
        return GuidedWarp(
            warp, cost, self._frames(tied, grid), grid, () if tied else self._frames(program.tied(), grid)
        )

    def _frames(self, ranges: Sequence[tuple[int, int]], grid: RateGrid) -> tuple[tuple[int, int], ...]:
        """Ranges of samples as ranges of the motion's frames."""
        scale = self.clip.fps / (grid.samples * self.settings.program_hz)
        return tuple((round(a * scale), round(b * scale)) for a, b in ranges)

    def _rates(self, keys: Sequence[KeyTime]) -> list[float]:
        """Mean rate between each two key times."""
        return [(two.frame - one.frame) / self.clip.fps / (two.seconds - one.seconds) for one, two in pairwise(keys)]

    def _check_rates(self, keys: Sequence[KeyTime], grid: RateGrid) -> None:
        slowest, fastest = float(grid.rates.min()), float(grid.rates.max())
        slowest = 0.0 if grid.first == 0 and not grid.inverse else slowest
        for (one, two), rate in zip(pairwise(keys), self._rates(keys), strict=True):
            recorded = (two.frame - one.frame) / self.clip.fps
            if rate > fastest:
                least = recorded / fastest
                raise RequestError(
                    f"frames {one.frame} to {two.frame} take {recorded:.2f} s and are to take "
                    f"{two.seconds - one.seconds:.2f} s, {rate:.3g} times as fast; at most {fastest:.2g} times is "
                    f"allowed, so {least:.2f} s is the least they can have",
                    where=f"keys[{keys.index(two)}]",
                )
            if rate < slowest:
                raise RequestError(
                    f"frames {one.frame} to {two.frame} take {recorded:.2f} s and are to take "
                    f"{two.seconds - one.seconds:.2f} s, {rate:.3g} times as fast; at least {slowest:.2g} times is "
                    f"allowed, so {recorded / slowest:.2f} s is the most they can have",
                    where=f"keys[{keys.index(two)}]",
                )

    def _table(self, grid: RateGrid) -> TripleTable:
        if grid not in self._tables:
            while len(self._tables) >= _TABLES:
                del self._tables[next(iter(self._tables))]
            with one_thread_each():
                self._tables[grid] = self._build(grid)
        return self._tables[grid]

    def _build(self, grid: RateGrid) -> TripleTable:
        settings = self.settings
        hz = grid.samples * settings.program_hz
        track = features.sample_track(self.clip, hz)
        others = [track if one is self.clip else features.sample_track(one, hz) for one in self.references]
        moments_hz = settings.reference_hz or (hz if self.as_recorded else 60.0)
        most = _MOST_OWN_MOMENTS if self.as_recorded else _MOST_MOMENTS
        stride = max(1, round(hz / moments_hz), ceil(sum(len(one) for one in others) / most))
        neighbours = settings.neighbours or (1 if self.as_recorded else _NEIGHBOURS)
        share = _OWN_SHARE if self.as_recorded else _SHARE
        known = features.reference_features(others, grid.samples, stride=stride, share=share)
        if grid.inverse:
            costs = features.duration_costs(track, known, grid.samples, grid.steps / hz, neighbours=neighbours)
        else:
            costs = features.step_costs(track, known, grid.steps, 1 / settings.program_hz, neighbours=neighbours)
        scale = hz / self.clip.fps
        flights = find_flights(self.clip) if self.as_recorded and self.clip.skeleton.feet else []
        air = [(ceil(flight.start * scale), ceil(flight.stop * scale)) for flight in flights]
        still = find_still(track, settings.still_m_s, settings.still_s) if settings.still_rate != 0 else []
        pace = np.zeros(len(track)) if self.as_recorded else find_pace(track, others, grid.samples, stride)
        return TripleTable(track, costs, still, air, pace, self.as_recorded)


def _through_keys(warp: TimeWarp, keys: Sequence[KeyTime]) -> TimeWarp:
    """The warp shifted by the hair by which it misses its key times."""
    frames, seconds = np.array(keys, float).T
    for _ in range(4):
        missed = frames - warp.frames_at(seconds)
        if np.abs(missed).max() < 1e-6:
            return warp
        moved = warp.frames + np.interp(warp.seconds, seconds, missed)
        warp = TimeWarp(warp.seconds, np.maximum.accumulate(np.clip(moved, 0, frames[-1])), warp.fps)
    if np.abs(frames - warp.frames_at(seconds)).max() < 1e-3:
        return warp
    # Key times closer than knots: they become knots themselves, and those beside them give way.
    near = np.diff(warp.seconds).mean() / 4
    far = np.abs(warp.seconds[:, None] - seconds[None]).min(axis=1) > near
    section = np.searchsorted(seconds, warp.seconds[far]) - 1
    inside = np.clip(warp.frames[far], frames[section], frames[section + 1])
    order = np.argsort(np.concatenate([warp.seconds[far], seconds]))
    at, frames_there = (np.concatenate(pair)[order] for pair in ((warp.seconds[far], seconds), (inside, frames)))
    return TimeWarp(at, np.maximum.accumulate(frames_there), warp.fps)
