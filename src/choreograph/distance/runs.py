"""Cutting windows into runs, and measuring those.

A run of consecutive windows has a representative, its middle window, and a radius, the largest distance from it.
Representatives are compared by their outlines: a lower bound of their distance that costs a fraction of it. Any
orthogonal projection of the windows that mixes frames and joints, but not x with z, commutes with turning; the distance
of projections is therefore never larger. A few slow components (in time) of the principal joint directions hold nearly
all of it, and the length of what is left out enters as one more coordinate, by the triangle inequality.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from typing import NamedTuple

import numpy as np

from choreograph.base.arrays import Floats, Floats32, Ints
from choreograph.distance.library import Library

Array32 = Floats32

_COARSE_RADIUS, _FINE_RADIUS = 0.02, 0.01  # metres, aimed at: 3 windows and a single one of walking at 30 Hz
_SLOW = 4  # components in time: constant, linear, quadratic, cubic
KEPT = 32
"""Coordinates kept of heights, the length left out among them, and of x and of z: what vector loops take at once."""
_SAMPLE = 500  # windows that coordinates and run lengths are chosen by
_PIECE = 500  # runs measured at a time: what they need stays in cache
_ROOM = 1e-6  # metres added to radii, far above float32's error in them


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

    def followed_by(self, other: Runs, windows: int, parents: int) -> Runs:
        """These and others, whose windows and parents are counted on from so many."""
        joined = {name: np.concatenate([column, getattr(other, name)]) for name, column in self._asdict().items()}
        here = len(self.first)
        for name, by in (("first", windows), ("stop", windows), ("parent", parents)):
            joined[name][here:] += by
        return Runs(**joined)


class Coordinates(NamedTuple):
    """An orthogonal projection of windows."""

    slow: Floats
    """(L, T): orthonormal functions of time."""
    heights: Floats
    """(J, J): orthonormal directions."""
    floor: Floats
    """(J + 1, J + 1): orthonormal directions; the last joint is the centroid."""
    kept_heights: Ints
    """(H,): which of the T x J products are kept."""
    kept_floor: Ints
    """(C,): which of the T x (J + 1) products are kept."""


def run_lengths(library: Library, some: Ints) -> tuple[int, int]:
    """Windows of a coarse and of a fine run: odd, so that the middle is in the middle."""
    step = _step(library, some)
    return 1 + 2 * int(np.clip(_COARSE_RADIUS / step, 1, 16)), 1 + 2 * int(np.clip(_FINE_RADIUS / step, 0, 16))


def sample_windows(library: Library, about: int = _SAMPLE) -> Ints:
    """Numbers of windows spread evenly over all there are."""
    windows = np.concatenate([np.arange(start, stop) for start, stop in library.bounds])
    return np.asarray(windows[:: max(1, len(windows) // about)])


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


def cut_runs(library: Library, spans: Ints, longest: int) -> tuple[Ints, Ints, Ints, Floats]:
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


def _window_points(library: Library, windows: Ints) -> tuple[Floats, Floats]:
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


def _components(points: Floats, slow: Floats, directions: Floats) -> Floats:
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

    in_pieces(place, len(windows), pool)
    return outline


def _products(slow: Floats, directions: Floats, columns: Ints) -> Floats:
    """Products of slow functions (L, T) and joint directions (J, J) that are kept, as columns, (L x J, K)."""
    products = slow[:, None, :, None] * directions[:, None, :]
    return np.ascontiguousarray(products.reshape(len(slow) * len(directions), -1)[:, columns])


def in_pieces(work: Callable[[slice], None], count: int, pool: Executor | None) -> None:
    """Do some work for so many rows, a few at a time: what it needs then stays in cache."""
    pieces = [slice(start, start + _PIECE) for start in range(0, count, _PIECE)]
    list(map(work, pieces) if pool is None else pool.map(work, pieces))
