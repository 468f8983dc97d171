"""Ruling out windows that are far from a few others, by outlines that were measured before.

A group of clips is measured once: the outlines of all its windows (see `runs`), and runs of them with their radii.
Whoever comes with a few new clips projects those alike, and learns which windows may be within the threshold of one of
theirs; clips that have none need not even be read. Outlines are kept as whole numbers of two bytes, a third of
what the windows' points take; how far that moves each is kept with it, and counts as a radius. So it is exact, for the
reason that pruning is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from choreograph.base.arrays import Floats, Floats32, Ints, Ints32
from choreograph.distance.library import Library
from choreograph.distance.runs import (
    Coordinates,
    choose_coordinates,
    cut_runs,
    project,
    run_lengths,
    sample_windows,
)

Array32 = Floats32

_LARGEST = 32_000
"""The largest whole number that a coordinate becomes."""
_ROOM = 1e-6
"""Metres by which roundings are rounded up, far above float32's error in them."""
_GAP = 8
"""Windows that spans are joined over: comparing them takes less than what a span more does."""


class Outlines(NamedTuple):
    """Windows of a group of clips, one clip's after another's, and their runs, measured."""

    clip: Ints32
    """(R,): clip of each run, counted within the group."""
    first: Ints32
    """(R,): its first window, counted within the clip."""
    stop: Ints32
    """(R,): one past its last."""
    middle: Ints32
    """(R,): its representative, counted within the run."""
    radius: Array32
    """(R,): largest distance of its windows from the representative's outline as it is kept, metres."""
    outline: NDArray[np.int16]
    """(W, 3 x KEPT): see `Runs`; in multiples of `scale`."""
    scale: Array32
    """(3 x KEPT,)."""
    rounding: Array32
    """(W,): how far outlines are from where they would be, metres."""
    energy: Array32
    """(W,): squared length of the outlines as they are kept, m^2."""
    slow: Floats
    """What windows are projected to: the fields of `Coordinates`."""
    heights: Floats
    floor: Floats
    kept_heights: Ints
    kept_floor: Ints

    @property
    def coordinates(self) -> Coordinates:
        """What windows are projected to."""
        return Coordinates(self.slow, self.heights, self.floor, self.kept_heights, self.kept_floor)


class Few(NamedTuple):
    """A few windows that others are compared with, in strips of runs."""

    outline: Array32
    """(R + W, 3 x KEPT): of the runs' representatives, then of all windows."""
    energy: Array32
    """(R + W,)."""
    radius: Array32
    """(R + W,)."""
    children: Ints
    """(R + 1,): where the windows of each run begin among these."""
    strip: Ints
    """(R,): strip of each run, ascending."""


class Newcomers:
    """Windows of new clips, to be compared with one group after another."""

    def __init__(self, library: Library, strips: Ints) -> None:
        """Cut the strips into runs.

        Args:
            library: Windows of the new clips.
            strips: (N, 3): of these windows: clip, first, one past the last.
        """
        self.strips, self._library = strips, _unlevelled(library)
        longest = run_lengths(self._library, sample_windows(self._library))[0]
        first, stop, self.strip, radius = cut_runs(self._library, strips[:, 1:], longest)
        self._windows = np.concatenate([np.arange(*ends) for ends in zip(first, stop, strict=True)])
        begins = np.concatenate([[0], np.cumsum(stop - first)])
        self._middle = begins[:-1] + (first + stop) // 2 - first
        self._children = len(first) + begins
        energy = self._library.lowered[self._windows].astype(np.float32)
        self._energy = np.concatenate([energy[self._middle], energy])
        self._radius = np.concatenate([radius, np.full(len(energy), _ROOM)]).astype(np.float32)

    def projected(self, coordinates: Coordinates) -> Few:
        """The windows in a group's coordinates."""
        outline = project(self._library, self._windows, coordinates)
        whole = np.concatenate([outline[self._middle], outline])
        return Few(whole, self._energy, self._radius, self._children, self.strip)


def measure_outlines(library: Library) -> Outlines:
    """The windows of all clips of a library."""
    library = _unlevelled(library)
    some = sample_windows(library)
    coordinates = choose_coordinates(library, some)
    first, stop, clip, radius = cut_runs(library, library.bounds, run_lengths(library, some)[0])
    windows = np.concatenate([np.arange(*ends) for ends in library.bounds.tolist()])
    outline = project(library, windows, coordinates)
    scale = (np.maximum(np.abs(outline).max(axis=0), 1e-12) / _LARGEST).astype(np.float32)
    whole = np.rint(outline / scale).astype(np.int16)
    moved = whole.astype(np.float32) * scale
    rounding = np.sqrt(np.square(moved - outline, dtype=float).sum(axis=1)) + _ROOM
    begin, middle = library.bounds[clip, 0], (first + stop) // 2 - first
    own = np.cumsum(stop - first) - (stop - first) + middle
    return Outlines(
        clip.astype(np.int32),
        (first - begin).astype(np.int32),
        (stop - begin).astype(np.int32),
        middle.astype(np.int32),
        (radius + rounding[own]).astype(np.float32),
        whole,
        scale,
        rounding.astype(np.float32),
        np.square(moved, dtype=float).sum(axis=1).astype(np.float32),
        *coordinates,
    )


def open_spans(outlines: Outlines, new: Newcomers, thresholds: Array32, classes: tuple[Ints, Ints]) -> Ints:
    """Spans of a group's windows that hold all within the threshold of a strip of new ones.

    Args:
        outlines: Of the group.
        new: Windows of the new clips.
        thresholds: (K, K): metres, by classes.
        classes: Class of each clip of the group, and of each new clip.

    Returns:
        (S, 4): strip, clip of the group, its first window, counted within the clip, and one past the last.
    """
    from choreograph.distance import _compiled_prune

    length = (outlines.stop - outlines.first).astype(np.int64)
    near = _compiled_prune.near_windows(
        new.projected(outlines.coordinates),
        outlines,
        np.concatenate([[0], np.cumsum(length)]),
        (classes[1][new.strips[new.strip, 0]], classes[0][outlines.clip]),
        thresholds,
        len(new.strips),
    )
    strip, row = np.nonzero(near)
    run = np.repeat(np.arange(len(length)), length)[row]
    clip = outlines.clip[run].astype(np.int64)
    window = outlines.first[run] + row - (np.cumsum(length) - length)[run]
    begins = np.ones(len(row), bool)
    begins[1:] = (strip[1:] != strip[:-1]) | (clip[1:] != clip[:-1]) | (window[1:] - window[:-1] > _GAP)
    begin = np.flatnonzero(begins)
    end = np.append(begin[1:], len(row))[: len(begin)] - 1
    return np.stack([strip[begin], clip[begin], window[begin], window[end] + 1], axis=1)


def _unlevelled(library: Library) -> Library:
    """Heights as they are, for whoever has other clips has another mean."""
    return library._replace(level=np.zeros_like(library.level), lowered=library.energy)
