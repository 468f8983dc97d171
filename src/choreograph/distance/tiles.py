"""Cutting the matrix of window pairs into rectangles, and scanning those for minima.

The matrix is symmetric, so only pairs with clip a before clip b are looked at, and within a clip only a before b.
Clips are cut into strips of nearly equal length, and a rectangle is a strip against a strip: always one clip
against one clip, so a clip's end is a rectangle's end.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from choreograph.base.arrays import Flags, Floats, Ints
from choreograph.distance.library import Library

SLACK = 4e-6
"""Float32's error in D, relative to the squared size of the frames.

Over CMU recordings with windows of 9 to 40 frames and strips up to 256, the largest seen was 6.6e-7, the
root-mean-square 5e-8."""

_ROOM = 1 << 16  # pairs found between two settlements in float64


def cut_strips(library: Library, longest: int) -> Ints:
    """Strips of at most `longest` windows, (S, 3): clip, first window, one past the last; in order."""
    strips = []
    for clip, (start, stop) in enumerate(library.bounds):
        pieces = -(-(stop - start) // longest)
        edges = start + (stop - start) * np.arange(pieces + 1) // max(pieces, 1)
        strips += [(clip, a, b) for a, b in pairwise(edges)]
    return np.array(strips, np.int64).reshape(-1, 3)


def make_rectangles(strips: Ints, row: int, length: int, chosen: Flags) -> Ints:
    """Rectangles, (R, 6), of strip `row` against itself, later ones, and earlier ones of clips that are not chosen.

    There are none unless its own clip is chosen. What lies wholly in the band of windows that share frames is left out.
    The earlier clip comes first.
    """
    clip, first, stop = strips[row]
    if not chosen[clip]:
        return np.empty((0, 6), np.int64)
    later = strips[row:]
    later = later[(later[:, 0] != clip) | (later[:, 2] - 1 - first >= length)]
    earlier = strips[:row][~chosen[strips[:row, 0]]]
    rectangles = np.empty((len(earlier) + len(later), 6), np.int64)
    rectangles[: len(earlier), :3], rectangles[: len(earlier), 3:] = earlier, (clip, first, stop)
    rectangles[len(earlier) :, :3], rectangles[len(earlier) :, 3:] = (clip, first, stop), later
    return rectangles


def areas(rectangles: Ints) -> Ints:
    """Window pairs in each rectangle, (R,)."""
    return np.asarray((rectangles[:, 2] - rectangles[:, 1]) * (rectangles[:, 5] - rectangles[:, 4]))


def scan(library: Library, rectangles: Ints, limits: Floats) -> tuple[Ints, Floats, Floats]:
    """The local minima in rectangles of window pairs, exactly those that float64 gives.

    Args:
        library: All windows.
        rectangles: (R, 6): clip a, first and one past last window, clip b, first and one past last window.
        limits: (R,): largest D wanted of each rectangle, m^2.

    Returns:
        Pairs as (clip a, window a, clip b, window b), (M, 4); D, (M,); S, (M, 2).
    """
    from choreograph.distance import _compiled

    room = np.empty((max(_ROOM, int(areas(rectangles).max(initial=0))), 4), np.int64)
    parts = [(np.empty((0, 4), np.int64), np.empty(0), np.empty((0, 2)))]
    done = 0
    while done < len(rectangles):
        done, count = _compiled.scan_rectangles(library, rectangles, limits, SLACK, done, room)
        squared, turned = np.empty(count), np.empty((count, 2))
        minimal = _compiled.decide_minima(library, rectangles, limits, room[:count], squared, turned)
        a, b, _, rectangle = room[:count][minimal].T
        pairs = np.stack([rectangles[rectangle, 0], a, rectangles[rectangle, 3], b], axis=1)
        parts.append((pairs, squared[minimal], turned[minimal]))
    pairs, squared, turned = (np.concatenate(part) for part in zip(*parts, strict=True))
    return pairs, squared, turned
