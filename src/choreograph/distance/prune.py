"""Ruling out pairs of windows without looking at them: exact, because the distance is a metric.

A run of consecutive windows has a representative, its middle window, and a radius, the largest distance from it. Where
representatives are farther apart than threshold + radius + radius, no pair of the two runs is within the threshold.
Coarse runs are compared first, most of them by the sign of one short inner product (see `Sieve`), and the fine runs
inside them only where that did not settle it; of two strips, the smallest rectangle around the pairs of fine runs that
may hold something is computed. A pair within the threshold is thus always computed, and so are its neighbours, since
rectangles are computed with a halo.

Representatives are compared by a lower bound of their distance that costs a fraction of it. Any orthogonal projection
of the windows that mixes frames and joints, but not x with z, commutes with turning; the distance of projections is
therefore never larger. A few slow components (in time) of the principal joint directions hold nearly all of it, and
the length of what is left out enters as one more coordinate, by the triangle inequality.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from choreograph.distance.blas import threads
from choreograph.distance.library import Library
from choreograph.distance.tiles import cut_strips

Ints = NDArray[np.int64]
Array = NDArray[np.float64]
Array32 = NDArray[np.float32]

_COARSE_RADIUS, _FINE_RADIUS = 0.02, 0.01  # metres, aimed at: 3 windows and a single one of walking at 30 Hz
_STRIP = 9  # coarse runs in a strip: shorter ones rule out more, longer ones multiply faster
_SLOW = 4  # components in time: constant, linear, quadratic, cubic
KEPT = 32
"""Coordinates kept of heights, the length left out among them, and of x and of z: what vector loops take at once."""
_SAMPLE = 500  # windows that coordinates and run lengths are chosen by
_PIECE = 500  # runs measured at a time: what they need stays in cache
_TURNING = 16  # floor components that enter as a matrix; the others by their length
_DIRECTIONS = 28  # of the Euclidean space, with the four others 32: what matrix products take without a rest
_SLACK = 1e-5  # float32's error in the product of two such vectors, relative to its terms
_ROOM = 1e-6  # metres added to radii, far above float32's error in them


class Limits(NamedTuple):
    """How far pairs matter, by classes of clips."""

    table: Array
    """(K, K), symmetric: largest D wanted, m^2."""
    classes: Ints
    """(clips,)."""

    def of(self, clip_a: Ints, clip_b: Ints) -> Array:
        """The limit of each pair of clips, m^2."""
        return np.asarray(self.table[self.classes[clip_a], self.classes[clip_b]])


class Runs(NamedTuple):
    """Runs of consecutive windows."""

    first: Ints
    """(R,): first window."""
    stop: Ints
    """(R,): one past the last."""
    parent: Ints
    """(R,): number of the longer run, or strip, that it is part of."""
    radius: Array32
    """(R,): largest distance of a window from the representative, metres, rounded up."""
    reach: Array32
    """(R,): largest distance of a window from the representative of the run that this one is part of, rounded up."""
    energy: Array32
    """(R,): energy of the representative, m^2."""
    outline: Array32
    """(R, 3 x KEPT): the representative's projection, heights and the length of what was left out, then x, then z; 0
    where windows have fewer coordinates."""

    @property
    def heights(self) -> Array32:
        """(R, KEPT): of the outlines."""
        return self.outline[:, :KEPT]

    @property
    def floor(self) -> Array32:
        """(R, 2, KEPT): x and z of the outlines."""
        return self.outline[:, KEPT:].reshape(-1, 2, KEPT)


class Coordinates(NamedTuple):
    """An orthogonal projection of windows."""

    slow: Array
    """(L, T): orthonormal functions of time."""
    heights: Array
    """(J, J): orthonormal directions."""
    floor: Array
    """(J + 1, J + 1): orthonormal directions; the last joint is the centroid."""
    kept_heights: Ints
    """(H,): which of the T x J products are kept."""
    kept_floor: Ints
    """(C,): which of the T x (J + 1) products are kept."""


class Pruner:
    """Knows where pairs of windows within the threshold may be.

    Attributes:
        strips: (S, 3): clip, first window, one past the last.
    """

    def __init__(self, library: Library, limits: Limits, workers: int = 1) -> None:
        """Cut the library into strips and runs, and measure those.

        Args:
            library: All windows.
            limits: Largest D wanted of each pair of clips.
            workers: Threads.
        """
        self._length = len(library.weights)
        some = sample_windows(library)
        coarse, fine = run_lengths(library, some)
        coordinates = choose_coordinates(library, some)
        self.strips = cut_strips(library, coarse * _STRIP)
        with threads(workers) as pool:
            self._measure(library, limits, (coarse, fine), coordinates, pool)

    def _measure(
        self, library: Library, limits: Limits, lengths: tuple[int, int], coordinates: Coordinates, pool: Executor
    ) -> None:
        self.coarse = build_runs(library, self.strips[:, 1:], lengths[0], coordinates, pool)
        spans = np.stack([self.coarse.first, self.coarse.stop], axis=1)
        self.fine = build_runs(library, spans, lengths[1], coordinates, pool, spans.sum(axis=1) // 2)
        self._clips, self._classes = self.strips[self.coarse.parent, 0], limits.classes
        self._thresholds = np.sqrt(limits.table).astype(np.float32)
        reach = self._thresholds.max(axis=1)[self._classes[self._clips]]
        sieve = _make_sieve(self.coarse)
        self._outward, self._inward = sift_vectors(sieve.points(self.coarse, pool), reach)
        self._coarse_of_strip = np.searchsorted(self.coarse.parent, np.arange(len(self.strips) + 1))
        self._fine_of_coarse = np.searchsorted(self.fine.parent, np.arange(len(self.coarse.first) + 1))

    def open_rectangles(self, start: int, stop: int, chosen: NDArray[np.bool_]) -> Ints:
        """Rectangles, (R, 6), that hold every pair within the threshold of strips [start, stop) and later ones.

        Args:
            start: First strip.
            stop: One past the last.
            chosen: Of each clip. Rows of others are passed over, and chosen ones are also paired with earlier strips of
                others.
        """
        from choreograph.distance import _compiled_prune

        if start == stop:
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
            start,
            stop,
        )
        return _compiled_prune.gather_boxes(keys, boxes, self.strips, self._length + 1)


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
    mean: Array
    """(D,)."""
    directions: Array
    """(D, K), orthonormal."""

    def points(self, runs: Runs, pool: Executor) -> Array32:
        """(R, K + 3): the points, their radii, and half of squared radius less squared length, with float32's slack."""
        kept = self.directions.shape[1]
        out = np.empty((len(runs.first), kept + 3), np.float32)

        def place(here: slice) -> None:
            points = _euclidean(runs, here, self.strong) - self.mean
            main, length = points @ self.directions, np.square(points).sum(axis=1)
            radius = runs.radius[here].astype(float)
            out[here, :kept], out[here, kept + 1] = main, radius
            out[here, kept] = np.sqrt(np.maximum(length - np.square(main).sum(axis=1), 0))
            out[here, kept + 2] = (np.square(radius) - length) / 2 + _SLACK * (length + np.square(radius))

        _in_pieces(place, len(out), pool)
        return out


def _make_sieve(runs: Runs) -> Sieve:
    some = np.linspace(0, len(runs.floor) - 1, min(len(runs.floor), 4 * _SAMPLE)).astype(np.int64)
    size = np.square(runs.floor[some]).sum(axis=1)
    strong = np.sort(size.mean(axis=0).argsort()[::-1][:_TURNING])
    sample = _euclidean(runs, some, strong)
    mean = sample.mean(axis=0)
    _, directions = np.linalg.eigh((sample - mean).T @ (sample - mean))
    return Sieve(strong, mean, np.ascontiguousarray(directions[:, ::-1][:, :_DIRECTIONS]))


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


def _in_pieces(work: Callable[[slice], None], count: int, pool: Executor | None) -> None:
    """Do some work for so many rows, a few at a time: what it needs then stays in cache."""
    pieces = [slice(start, start + _PIECE) for start in range(0, count, _PIECE)]
    list(map(work, pieces) if pool is None else pool.map(work, pieces))


def _euclidean(runs: Runs, which: Ints | slice, strong: Ints) -> Array:
    """Runs in the Euclidean space, (n, D): heights, lengths of strong and weak floor components, matrix."""
    floor = runs.floor[which].astype(float)
    c = floor[:, 0, strong] + 1j * floor[:, 1, strong]
    length = np.sqrt(np.square(np.abs(c)).sum(axis=1))
    rest = np.sqrt(np.maximum(np.square(floor).sum(axis=(1, 2)) - np.square(length), 0))
    scaled = c / np.sqrt(np.sqrt(2) * np.maximum(length, 1e-12))[:, None]
    i, j = np.triu_indices(c.shape[1], 1)
    products = np.sqrt(2) * scaled[:, i] * scaled[:, j].conj()
    parts = (length[:, None] / np.sqrt(2), rest[:, None], np.square(np.abs(scaled)), products.real, products.imag)
    return np.concatenate([runs.heights[which].astype(float), *parts], axis=1)


def run_lengths(library: Library, some: Ints) -> tuple[int, int]:
    """Windows of a coarse and of a fine run: odd, so that the middle is in the middle."""
    step = _step(library, some)
    return 1 + 2 * int(np.clip(_COARSE_RADIUS / step, 1, 16)), 1 + 2 * int(np.clip(_FINE_RADIUS / step, 0, 16))


def pruned_strips(library: Library) -> Ints:
    """The strips that a pruner cuts a library into, without making one."""
    return cut_strips(library, run_lengths(library, sample_windows(library))[0] * _STRIP)


def sample_windows(library: Library) -> Ints:
    """Numbers of windows spread evenly over all there are."""
    windows = np.concatenate([np.arange(start, stop) for start, stop in library.bounds])
    return np.asarray(windows[:: max(1, len(windows) // _SAMPLE)])


def _step(library: Library, some: Ints) -> float:
    """How far a window is from the next, metres: the median, and never quite 0."""
    from choreograph.distance import _compiled_prune

    # A window and the next are always of one clip, unless it is the clip's last.
    some = some[~np.isin(some + 1, library.bounds[:, 1])]
    if not len(some):
        return np.inf
    return max(float(np.median(_compiled_prune.measure_radii(library, some, some + 2, some))), 1e-3)


def build_runs(
    library: Library,
    spans: Ints,
    longest: int,
    coordinates: Coordinates,
    pool: Executor,
    middles: Ints | None = None,
) -> Runs:
    """Cut each span (first, stop) into runs of at most `longest` windows, as equal as can be.

    Args:
        library: All windows.
        spans: (S, 2).
        longest: Windows.
        coordinates: What windows are projected to.
        pool: Who does it.
        middles: (S,): representatives of the spans, where these are runs.
    """
    from choreograph.distance import _compiled_prune

    first, stop, parent, radius = cut_runs(library, spans, longest)
    middle, reach = (first + stop) // 2, radius
    if middles is not None:
        reach = _compiled_prune.measure_radii(library, first, stop, middles[parent]) + _ROOM
    outline = project(library, middle, coordinates, pool)
    energy = library.lowered[middle].astype(np.float32)
    return Runs(first, stop, parent, radius.astype(np.float32), reach.astype(np.float32), energy, outline)


def cut_runs(library: Library, spans: Ints, longest: int) -> tuple[Ints, Ints, Ints, Array]:
    """First window, one past the last, span and radius, rounded up, of the runs that spans are cut into, (R,) each."""
    from choreograph.distance import _compiled_prune

    counts = -(-(spans[:, 1] - spans[:, 0]) // longest)
    parent = np.repeat(np.arange(len(spans)), counts)
    place = np.arange(len(parent)) - np.repeat(np.cumsum(counts) - counts, counts)
    size = spans[parent, 1] - spans[parent, 0]
    first = spans[parent, 0] + size * place // counts[parent]
    stop = spans[parent, 0] + size * (place + 1) // counts[parent]
    radius = _compiled_prune.measure_radii(library, first, stop, (first + stop) // 2) + _ROOM
    return first, stop, parent, radius


def _window_points(library: Library, windows: Ints) -> tuple[Array, Array]:
    """Weighted heights (n, L, J) and centred floor positions (n, 2, L, J + 1); the last joint is the centroid."""
    frames = windows[:, None] + np.arange(len(library.weights))
    root = np.sqrt(library.weights)[:, None]
    heights = (library.heights[frames] - library.level) * root
    centroid = library.centroid[frames] - library.centre[windows][:, None]
    floor = np.concatenate([library.floor[frames], centroid[..., None]], axis=3) * root[:, None]
    return heights, floor.transpose(0, 2, 1, 3)


def choose_coordinates(library: Library, some: Ints) -> Coordinates:
    """The products of slow functions of time and principal joint directions that hold most of some windows."""
    length = len(library.weights)
    time = np.vander(np.linspace(-1, 1, length), min(length, _SLOW), increasing=True)
    slow, _ = np.linalg.qr(np.sqrt(library.weights)[:, None] * time)
    heights, floor = _window_points(library, some)
    directions_y = np.linalg.eigh(np.tensordot(heights, heights, ((0, 1), (0, 1))))[1]
    directions_c = np.linalg.eigh(np.tensordot(floor, floor, ((0, 1, 2), (0, 1, 2))))[1]
    in_y = np.square(_components(heights, slow, directions_y)).mean(axis=0).ravel()
    in_c = np.square(_components(floor, slow, directions_c)).mean(axis=(0, 1)).ravel()
    return Coordinates(slow, directions_y, directions_c, in_y.argsort()[::-1][: KEPT - 1], in_c.argsort()[::-1][:KEPT])


def _components(points: Array, slow: Array, directions: Array) -> Array:
    """Points (..., L, J) in terms of slow functions (L, T) and joint directions (J, J): (..., T, J)."""
    in_time = np.einsum("...kj,kt->...tj", points, slow, optimize=True)
    return np.asarray(in_time @ directions)


def project(library: Library, windows: Ints, coordinates: Coordinates, pool: Executor | None = None) -> Array32:
    """Outlines of windows, (n, 3 x KEPT): see `Runs`; by somebody else where a pool is given."""
    outline = np.zeros((len(windows), 3 * KEPT), np.float32)
    own_y, own_c = len(coordinates.kept_heights), len(coordinates.kept_floor)
    onto_y = _products(coordinates.slow, coordinates.heights, coordinates.kept_heights)
    onto_c = _products(coordinates.slow, coordinates.floor, coordinates.kept_floor)

    def place(here: slice) -> None:
        some = windows[here]
        heights, floor = _window_points(library, some)
        y, c = heights.reshape(len(some), -1) @ onto_y, floor.reshape(2 * len(some), -1) @ onto_c
        c = c.reshape(len(some), 2, own_c)
        left = library.lowered[some] - np.square(y).sum(axis=1) - np.square(c).sum(axis=(1, 2))
        outline[here, :own_y], outline[here, KEPT - 1] = y, np.sqrt(np.maximum(left, 0))
        outline[here, KEPT : KEPT + own_c], outline[here, 2 * KEPT : 2 * KEPT + own_c] = c[:, 0], c[:, 1]

    _in_pieces(place, len(windows), pool)
    return outline


def _products(slow: Array, directions: Array, kept: Ints) -> Array:
    """Products of slow functions (L, T) and joint directions (J, J) that are kept, as columns, (L x J, K)."""
    products = slow[:, None, :, None] * directions[:, None, :]
    return np.ascontiguousarray(products.reshape(len(slow) * len(directions), -1)[:, kept])
