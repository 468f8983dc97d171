"""Ruling out pairs of windows without looking at them: exact, because the distance is a metric.

Where the representatives of two runs (see `runs`) are farther apart than threshold + radius + radius, no pair of these
is within the threshold. Coarse runs are compared first, most of them by the sign of one short inner product (see
`Sieve`), and the fine runs inside them only where that did not settle it; of two strips, the smallest rectangle around
the pairs of fine runs that may hold something is computed. A pair within the threshold is thus always computed, and so
are its neighbours, since rectangles are computed with a halo.

Parts of an archive that are measured by one basis can be measured apart and joined: no two need be the work of one
machine.
"""

from __future__ import annotations

from concurrent.futures import Executor
from typing import NamedTuple

import numpy as np

from choreograph.base.arrays import Flags, Floats, Floats32, Ints
from choreograph.distance.blas import threads
from choreograph.distance.library import Library
from choreograph.distance.runs import (
    KEPT,
    Coordinates,
    Runs,
    build_runs,
    choose_coordinates,
    in_pieces,
    project,
    run_lengths,
    sample_windows,
)
from choreograph.distance.tiles import cut_strips

Array32 = Floats32

_STRIP = 9  # coarse runs in a strip: shorter ones rule out more, longer ones multiply faster
_TURNING = 16  # floor components that enter as a matrix; the others by their length
_DIRECTIONS = 28  # of the Euclidean space, with the four others 32: what matrix products take without a rest
_SLACK = 1e-5  # float32's error in the product of two such vectors, relative to its terms
_SIFTED = 2_000  # windows that the sieve's directions are chosen by


class PruneLimits(NamedTuple):
    """How far pairs matter, by classes of clips."""

    table: Floats
    """(K, K), symmetric: largest D wanted, m^2."""
    classes: Ints
    """(clips,)."""

    def of(self, clip_a: Ints, clip_b: Ints) -> Floats:
        """The limit of each pair of clips, m^2."""
        return np.asarray(self.table[self.classes[clip_a], self.classes[clip_b]])


class Sieve(NamedTuple):
    """A map of runs to points of a Euclidean space in which no two lie farther apart than their distance is.

    Heights y stay, and floor positions c, a complex vector up to a turn, become the matrix c c* / |c|, to which turning
    does nothing. With s = |c* d| / |c||d| the square of the distance is at least

        (|c| - |d|)^2 + 2 |c||d| (1 - s)  >=  (|c| - |d|)^2 / 2 + | c c*/|c| - d d*/|d| |^2 / 2,

    and not much more for what is near. Principal directions are kept, and the length of what is left out. To compare
    the square of a distance with that of radii and threshold takes one inner product.
    """

    strong: Ints
    """Floor components that enter the matrix; of the others, only the length does."""
    mean: Floats
    """(D,)."""
    directions: Floats
    """(D, K), orthonormal."""

    def points(self, runs: Runs, pool: Executor) -> Array32:
        """(R, K + 3): the points, their radii, and half of squared radius less squared length, with float32's slack."""
        count = self.directions.shape[1]
        out = np.empty((len(runs.first), count + 3), np.float32)

        def place(here: slice) -> None:
            points = _euclidean(runs.outline[here], self.strong) - self.mean
            main, length = points @ self.directions, np.square(points).sum(axis=1)
            radius = runs.radius[here].astype(float)
            out[here, :count], out[here, count + 1] = main, radius
            out[here, count] = np.sqrt(np.maximum(length - np.square(main).sum(axis=1), 0))
            out[here, count + 2] = (np.square(radius) - length) / 2 + _SLACK * (length + np.square(radius))

        in_pieces(place, len(out), pool)
        return out


def make_sieve(outline: Array32) -> Sieve:
    """The sieve that suits some windows best, by their outlines."""
    floor = outline[:, KEPT:].reshape(-1, 2, KEPT)
    size = np.square(floor).sum(axis=1)
    strong = np.sort(size.mean(axis=0).argsort()[::-1][:_TURNING])
    sample = _euclidean(outline, strong)
    mean = sample.mean(axis=0)
    _, directions = np.linalg.eigh((sample - mean).T @ (sample - mean))
    return Sieve(strong, mean, np.ascontiguousarray(directions[:, ::-1][:, :_DIRECTIONS]))


def _euclidean(outline: Array32, strong: Ints) -> Floats:
    """Outlines in the Euclidean space, (n, D): heights, lengths of strong and weak floor components, matrix."""
    floor = outline[:, KEPT:].reshape(-1, 2, KEPT).astype(float)
    c = floor[:, 0, strong] + 1j * floor[:, 1, strong]
    length = np.sqrt(np.square(np.abs(c)).sum(axis=1))
    rest = np.sqrt(np.maximum(np.square(floor).sum(axis=(1, 2)) - np.square(length), 0))
    scaled = c / np.sqrt(np.sqrt(2) * np.maximum(length, 1e-12))[:, None]
    i, j = np.triu_indices(c.shape[1], 1)
    products = np.sqrt(2) * scaled[:, i] * scaled[:, j].conj()
    parts = (length[:, None] / np.sqrt(2), rest[:, None], np.square(np.abs(scaled)), products.real, products.imag)
    return np.concatenate([outline[:, :KEPT].astype(float), *parts], axis=1)


def sift_vectors(points: Array32, reach: Array32) -> tuple[Array32, Array32]:
    """Vectors, (R, K) each: where the product of p's first with q's second is negative, p and q are too far apart.

    Args:
        points: As given by a sieve.
        reach: (R,): the largest threshold that each run may have with any other, metres.
    """
    size = points.shape[1] - 2
    outward, inward = (np.empty((len(points), size + 3), np.float32) for _ in range(2))
    outward[:, :size] = inward[:, :size] = points[:, :size]
    near = points[:, size]
    inward[:, size], inward[:, size + 1], inward[:, size + 2] = near, 1, points[:, size + 1]
    outward[:, size], outward[:, size + 2] = near + reach, 1
    # A shade more than the threshold, for what adding it loses in float32.
    outward[:, size + 1] = points[:, size + 1] + reach * (near + reach / 2) * (1 + _SLACK)
    return outward, inward


class WindowBasis(NamedTuple):
    """What windows are measured by; those measured by one basis can be compared."""

    coarse: int
    """Windows of a coarse run."""
    fine: int
    """Windows of a fine run."""
    coordinates: Coordinates
    sieve: Sieve


def choose_basis(library: Library) -> WindowBasis:
    """The basis that suits some windows best; it is exact for all others too."""
    some = sample_windows(library)
    coordinates = choose_coordinates(library, some)
    sieve = make_sieve(project(library, sample_windows(library, _SIFTED), coordinates))
    return WindowBasis(*run_lengths(library, some), coordinates, sieve)


class MeasuredRuns(NamedTuple):
    """The windows of a library in strips, coarse runs and fine runs."""

    strips: Ints
    """(S, 3): clip, first window, one past the last."""
    coarse: Runs
    """Parts of strips."""
    fine: Runs
    """Parts of coarse runs."""
    points: Array32
    """Of the coarse runs, as the sieve gives them."""

    def followed_by(self, other: MeasuredRuns, clips: int, frames: int) -> MeasuredRuns:
        """What measuring the windows of both gives, in a library with the other's behind these.

        Args:
            other: Measured by the same basis.
            clips: How many clips the library of these has.
            frames: How many frames.
        """
        return MeasuredRuns(
            np.concatenate([self.strips, other.strips + np.array([clips, frames, frames])]),
            self.coarse.followed_by(other.coarse, frames, len(self.strips)),
            self.fine.followed_by(other.fine, frames, len(self.coarse.first)),
            np.concatenate([self.points, other.points]),
        )


def measure(library: Library, basis: WindowBasis, workers: int = 1) -> MeasuredRuns:
    """Cut a library into strips and runs, and measure those, by so many threads."""
    strips = cut_strips(library, basis.coarse * _STRIP)
    with threads(workers) as pool:
        coarse = build_runs(library, strips[:, 1:], basis.coarse, basis.coordinates, pool)
        spans = np.stack([coarse.first, coarse.stop], axis=1)
        fine = build_runs(library, spans, basis.fine, basis.coordinates, pool, spans.sum(axis=1) // 2)
        return MeasuredRuns(strips, coarse, fine, basis.sieve.points(coarse, pool))


class Pruner:
    """Knows where pairs of windows within the threshold may be.

    Attributes:
        strips: (S, 3): clip, first window, one past the last.
    """

    def __init__(self, measured: MeasuredRuns, limits: PruneLimits, length: int) -> None:
        """Take windows that were measured, the largest D wanted of each pair of their clips, and a window's frames."""
        self.strips, self.coarse, self.fine, points = measured
        self._length = length
        self._clips, self._classes = self.strips[self.coarse.parent, 0], limits.classes
        self._thresholds = np.sqrt(limits.table).astype(np.float32)
        reach = self._thresholds.max(axis=1)[self._classes[self._clips]]
        self._outward, self._inward = sift_vectors(points, reach)
        self._coarse_of_strip = np.searchsorted(self.coarse.parent, np.arange(len(self.strips) + 1))
        self._fine_of_coarse = np.searchsorted(self.fine.parent, np.arange(len(self.coarse.first) + 1))

    def open_rectangles(self, rows: range, columns: range, chosen: Flags) -> Ints:
        """Rectangles, (R, 6), that hold every pair within the threshold of some strips and some others.

        Args:
            rows: Which strips.
            columns: Which others. Earlier ones than the row itself are passed over.
            chosen: Of each clip. Rows of others are passed over, and chosen ones are also paired with earlier strips of
                others.
        """
        from choreograph.distance import _compiled_prune

        if not rows or not columns:
            return np.empty((0, 6), np.int64)
        keys, boxes = _compiled_prune.enclose_open(
            self.coarse,
            self._outward,
            self._inward,
            self.fine,
            self._fine_of_coarse,
            self._clips,
            self._classes,
            self._thresholds,
            chosen,
            self._length,
            self._coarse_of_strip,
            (rows.start, rows.stop),
            (columns.start, columns.stop),
        )
        return _compiled_prune.gather_boxes(keys, boxes, self.strips, self._length + 1)
