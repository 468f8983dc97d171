"""Ruling out windows that are far from a few others, by runs that were measured before: a small part of all windows.

A group of clips is measured once: its runs, their radii and outlines (see `prune`) are less than a fifth of its
windows. Whoever comes with a few new clips projects those alike, and learns which runs may hold a window within the
threshold of one of theirs; the windows of all other runs need not even be read. Exact, for the reason that pruning is.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from choreograph.distance.library import Library
from choreograph.distance.prune import (
    Coordinates,
    Runs,
    build_runs,
    choose_coordinates,
    run_lengths,
    sample_windows,
)

Ints = NDArray[np.int64]
Array32 = NDArray[np.float32]


class Outlines(NamedTuple):
    """Runs of a group of clips, measured."""

    clip: NDArray[np.int32]
    """(R,): clip of each run, counted within the group."""
    first: NDArray[np.int32]
    """(R,): its first window, counted within the clip."""
    stop: NDArray[np.int32]
    """(R,): one past its last."""
    radius: Array32
    """(R,): see `Runs`."""
    energy: Array32
    outline: Array32
    slow: NDArray[np.float64]
    """What windows are projected to: the fields of `Coordinates`."""
    heights: NDArray[np.float64]
    floor: NDArray[np.float64]
    kept_heights: Ints
    kept_floor: Ints

    @property
    def coordinates(self) -> Coordinates:
        """What windows are projected to."""
        return Coordinates(self.slow, self.heights, self.floor, self.kept_heights, self.kept_floor)


def measure_outlines(library: Library) -> Outlines:
    """The runs of all clips of a library."""
    library = _unlevelled(library)
    some = sample_windows(library)
    coordinates = choose_coordinates(library, some)
    runs = _measure(library, library.bounds, run_lengths(library, some)[0], coordinates)
    start = library.bounds[runs.parent, 0]
    return Outlines(
        runs.parent.astype(np.int32),
        (runs.first - start).astype(np.int32),
        (runs.stop - start).astype(np.int32),
        runs.radius,
        runs.energy,
        runs.outline,
        *coordinates,
    )


def open_spans(outlines: Outlines, new: Library, strips: Ints, thresholds: Array32, classes: tuple[Ints, Ints]) -> Ints:
    """Spans of a group's windows that hold all within the threshold of a strip of new ones.

    Args:
        outlines: Of the group.
        new: Windows of the new clips.
        strips: (N, 3): of the new windows: clip, first, one past the last.
        thresholds: (K, K): metres, by classes.
        classes: Class of each clip of the group, and of each new clip.

    Returns:
        (S, 4): strip, clip of the group, its first window, counted within the clip, and one past the last.
    """
    from choreograph.distance import _compiled_prune

    new = _unlevelled(new)
    own = _measure(new, strips[:, 1:], run_lengths(new, sample_windows(new))[0], outlines.coordinates)
    # The new ones are few enough for each window to be a run of its own.
    fine = _measure(new, np.stack([own.first, own.stop], axis=1), 1, outlines.coordinates)
    clips = strips[own.parent, 0]
    near = _compiled_prune.any_near(
        *(
            np.concatenate([getattr(runs, name) for runs in (own, fine, outlines)])
            for name in ("outline", "energy", "radius")
        ),
        np.concatenate([classes[1][clips], classes[1][clips[fine.parent]], classes[0][outlines.clip]]),
        thresholds,
        len(own.first) + np.searchsorted(fine.parent, np.arange(len(own.first) + 1)),
        own.parent,
    )
    strip, run = np.nonzero(near)
    clip, first, stop = (getattr(outlines, name)[run].astype(np.int64) for name in ("clip", "first", "stop"))
    # Runs that follow each other are one span.
    begins = np.ones(len(run), bool)
    begins[1:] = (strip[1:] != strip[:-1]) | (clip[1:] != clip[:-1]) | (first[1:] != stop[:-1])
    begin = np.flatnonzero(begins)
    end = np.append(begin[1:], len(run))[: len(begin)] - 1
    return np.stack([strip[begin], clip[begin], first[begin], stop[end]], axis=1)


def _unlevelled(library: Library) -> Library:
    """Heights as they are, for whoever has other clips has another mean."""
    return library._replace(level=np.zeros_like(library.level), lowered=library.energy)


def _measure(library: Library, spans: Ints, longest: int, coordinates: Coordinates) -> Runs:
    with ThreadPoolExecutor(1) as pool:
        return build_runs(library, spans, longest, coordinates, pool)
