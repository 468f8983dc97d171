"""Performed trajectories: a way over the floor with its timing, as a mouse, a pen or a file gives it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from choreograph.base.arrays import Floats
from choreograph.base.errors import FormatError, RequestError
from choreograph.features.points import track
from choreograph.formats.tables import read_table

STANDING_M_S = 0.15
"""Speed below which the direction of travel says nothing: a hand that rests trembles about so fast."""
_HEADING_S = 0.25
"""Seconds over which headings are smoothed, and bridged where there is no travel."""
_SURE = 1e9
"""How much more a heading that is known counts than one that is measured."""
LONGEST_GAP_S = 0.5
"""Gaps up to this long are bridged by a straight line; longer ones are a mistake in the recording."""
_MISSING = 2.5
"""Usual steps after which, without a sample, some are missing."""
MAX_SAMPLES = 1_000_000


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Places on the floor at a fixed rate."""

    places: Floats
    """(F, 2): x and z, metres."""
    fps: float
    name: str = "trajectory"
    bridged_s: float = 0.0
    """Seconds of it that were missing and are straight lines now."""
    left_out_s: float = 0.0
    """Seconds before its first and behind its last known place, which are left out."""

    def __post_init__(self) -> None:
        places = np.asarray(self.places)
        if places.ndim != 2 or places.shape[1] != 2:
            raise RequestError(f"places of a trajectory are rows of x and z; found an array of shape {places.shape}")
        if not np.isfinite(places).all():
            raise RequestError("places of a trajectory have gaps (NaN); even_trajectory(times, places) bridges them")
        if not (np.ndim(self.fps) == 0 and np.isfinite(self.fps) and self.fps > 0):
            raise RequestError(f"a trajectory has a rate in frames per second; found {self.fps}")

    @property
    def speeds(self) -> Floats:
        """Speed in each frame, (F,), m/s."""
        if len(self.places) < 2:
            return np.zeros(len(self.places))
        return np.asarray(np.linalg.norm(np.gradient(self.places, 1 / self.fps, axis=0), axis=1))

    def smoothed(self, seconds: float) -> Trajectory:
        """A copy under a Gaussian of this width (standard deviation); the ends stay where they are."""
        if not (np.isfinite(seconds) and seconds >= 0):
            raise RequestError(f"smoothing takes 0 or more seconds, not {seconds}")
        if seconds * self.fps < 0.1 or len(self.places) < 3:
            return self
        from scipy.ndimage import gaussian_filter1d

        # Reflected through the end points, so that speed at the ends is kept.
        width = min(len(self.places) - 1, math.ceil(4 * seconds * self.fps))
        head = 2 * self.places[0] - self.places[width:0:-1]
        tail = 2 * self.places[-1] - self.places[-2 : -width - 2 : -1]
        whole = gaussian_filter1d(np.concatenate([head, self.places, tail]), seconds * self.fps, axis=0, truncate=4.0)
        return replace(self, places=whole[width : width + len(self.places)])

    def headings(self, first: float | None = None) -> Floats:
        """Direction of travel, (F,), radians, unwrapped: 0 along +z, pi/2 along +x.

        Where the trajectory stands, the heading goes evenly from the one before to the one after, so that standing
        still keeps it and a turn on the spot is a turn.

        Args:
            first: The heading in the first frame, where it is known from before.
        """
        from scipy.linalg import solveh_banded

        count = len(self.places)
        speed = np.gradient(self.places, 1 / self.fps, axis=0) if count > 1 else np.zeros((count, 2))
        trust = (np.linalg.norm(speed, axis=1) > STANDING_M_S).astype(float)
        heading = np.arctan2(speed[:, 0], speed[:, 1])
        if first is not None and count:
            heading[0], trust[0] = first, _SURE
        if not trust.any():
            return np.zeros(count)
        known = trust > 0
        heading[known] = np.unwrap(heading[known])
        if count < 2:
            return heading
        # Least squares: near the measured headings where there are some, else as even as can be.
        even = (_HEADING_S * self.fps) ** 2
        bands = np.zeros((2, count))
        bands[1] = trust + 2 * even
        bands[1, [0, -1]] -= even
        bands[0, 1:] = -even
        return np.asarray(solveh_banded(bands, trust * heading))

    def points(self, headings: Floats | None = None) -> Floats:
        """The control that the trajectory is: two points around each place, left and right of its heading."""
        heading = self.headings() if headings is None else headings
        return track(self.places, np.stack([np.cos(heading), -np.sin(heading)], axis=1))


def read_trajectory(path: str | Path, *, fps: float = 30.0) -> Trajectory:
    """A trajectory from a CSV file with columns t, x, z (seconds, metres), brought to an even rate.

    Where rows have an empty x or z or "nan", or are missing against the file's usual step, there is a gap; short ones
    are bridged.

    >>> _ = Path("hand.csv").write_text("t,x,z\\n0,0,0\\n0.5,0,0.5\\n1,0,1\\n")
    >>> len(read_trajectory("hand.csv").places)
    31

    Raises:
        FormatError: Rows that are no numbers, times that do not increase, or a long gap.
    """
    times: list[float] = []
    places: list[tuple[float, float]] = []
    for line, cells in read_table(path):
        if cells[0].startswith("#") or (not times and not _is_number(cells[0])):
            continue
        if len(cells) < 3 or not _is_number(cells[0]):
            raise FormatError(f"a row is t, x, z; found {', '.join(cells)[:60]!r}", path=path, line=line)
        t, x, z = (float(cell) if _is_number(cell) else math.nan for cell in cells[:3])
        bad = [cell for cell in cells[1:3] if cell and not _is_number(cell) and cell.lower() != "nan"]
        if bad or not math.isfinite(t):
            raise FormatError(f"{(bad or [cells[0]])[0][:40]!r} is no number", path=path, line=line)
        if times and t <= times[-1]:
            raise FormatError(f"time goes from {times[-1]:g} s back to {t:g} s", path=path, line=line)
        if len(times) >= MAX_SAMPLES:
            raise FormatError(f"more than {MAX_SAMPLES} rows", path=path, line=line)
        times.append(t)
        places.append((x, z))
    try:
        return even_trajectory(np.array(times), np.array(places).reshape(-1, 2), fps=fps, name=Path(path).stem)
    except FormatError as error:
        raise error.at(path) from None


def even_trajectory(times: Floats, places: Floats, *, fps: float = 30.0, name: str = "trajectory") -> Trajectory:
    """A trajectory from samples at any times, (N,) seconds and (N, 2) metres; NaN, and samples that are missing against
    the usual step, are gaps.

    Raises:
        FormatError: If there are less than two places, they cannot be metres, or a gap is too long to be bridged.
    """
    known = np.isfinite(places).all(axis=1)
    if known.sum() < 2:
        raise FormatError(f"a trajectory needs two or more places; found {int(known.sum())}")
    whole, usual = float(times[-1] - times[0]), float(np.median(np.diff(times)))
    rows, times, places = np.flatnonzero(known), times[known], places[known]
    if np.abs(places).max() > 1e5:
        raise FormatError(f"places go up to {np.abs(places).max():.3g} m; are they in metres?")
    steps = np.diff(times)
    gaps = np.where((np.diff(rows) > 1) | (steps > _MISSING * usual), steps, 0.0)
    longest = int(gaps.argmax())
    if gaps[longest] > LONGEST_GAP_S + 1e-6:
        raise FormatError(
            f"nothing is known for {gaps[longest]:.2f} s from {times[longest]:.2f} s on; gaps of up to "
            f"{LONGEST_GAP_S:g} s are bridged. Cut the trajectory there, or fill it in"
        )
    lasts = float(times[-1] - times[0])
    count = math.floor(lasts * fps + 1e-6) + 1
    if count > MAX_SAMPLES:
        raise FormatError(f"{lasts:.0f} s are more than can be performed at {fps:g} Hz")
    even = times[0] + np.arange(count) / fps
    sampled = np.stack([np.interp(even, times, places[:, k]) for k in range(2)], axis=1)
    return Trajectory(sampled, fps, name, float(gaps.sum()), whole - lasts)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.strip().lower() != "nan"
