"""A chosen sequence of segments made exact: when each begins, and where on the floor it lies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from choreograph.base.arrays import Complexes, Floats, Ints
from choreograph.base.floor import FloorTransform
from choreograph.verbs.perform.examples import SegmentDatabase
from choreograph.verbs.perform.segment_fits import Signal, split
from choreograph.verbs.perform.settings import MatchSettings

_ROUNDS = 30
_STILL = 1e-7
"""Metres and radians: steps this small end the search for the best places."""


@dataclass(frozen=True)
class Piece:
    """A segment in its place."""

    segment: int
    start_s: float
    """When it begins; the first one may begin before the control does."""
    stop_s: float
    """When it ends; the last one may end after the control."""
    placement: FloorTransform
    """Carries the recording to where it is needed."""
    residual_m: float
    """Root-mean-square distance between the control and the segment's own."""
    gap_m: float
    """The same between this target's first frame and the last one of the piece before; 0 for the first."""
    cost_m2_s: float
    """What both add to the cost."""


def refine_bounds(
    database: SegmentDatabase,
    segments: Ints,
    signal: Signal,
    bounds: Ints,
    settings: MatchSettings,
    rate_hz: float,
    *,
    fixed: int = 0,
) -> tuple[float, Ints]:
    """The sequence's boundaries at a finer rate: the same program with only the durations left open.

    Args:
        database: What the segments are of.
        segments: Which ones, (M,).
        signal: The input at the finer rate.
        bounds: Where they begin and end now, (M + 1,), in steps of the input.
        settings: How much segments may be stretched and what gaps cost; boundaries move by one coarse step at most.
        rate_hz: Steps per second.
        fixed: So many boundaries from the first on stay where they are.

    Returns:
        Cost, m²·s, and the boundaries.
    """
    from choreograph.verbs.perform._compiled import refine

    rows, a, a_height = database.stacked
    head, tail = ends(database, segments)
    own = database.seconds[segments] * rate_hz
    # A length that the coarse steps allowed stays allowed.
    slack = settings.stretch_s * rate_hz
    now = np.diff(bounds)
    low = np.minimum(np.ceil(own - slack), now).astype(np.int64)
    high = np.maximum(np.floor(own + slack), now).astype(np.int64)
    reach = settings.fine
    first, last = bounds - reach, bounds + reach
    first[1:-1] = np.maximum(first[1:-1], signal.begin + 1)
    last[1:-1] = np.minimum(last[1:-1], signal.last - 1)
    last[0] = min(last[0], signal.begin)
    first[-1], last[-1] = max(first[-1], min(signal.last, bounds[-1])), min(last[-1], len(signal.weight) - 1)
    first[:fixed] = last[:fixed] = bounds[:fixed]
    cost, refined = refine(
        signal.flat, signal.height, signal.weight, bounds, np.maximum(first, 0), last, reach, low, high, a, a_height,
        rows[database.example[segments]] + database.start[segments], (database.stop - database.start)[segments],
        *head, *tail, float(settings.continuity_s), 1.0 / rate_hz,
    )  # fmt: skip
    assert np.isfinite(cost), "the boundaries as they were are one of the choices"
    return float(cost), refined


def place(
    database: SegmentDatabase,
    segments: Ints,
    signal: Signal,
    bounds: Ints,
    rate_hz: float,
    continuity_s: float = 0.0,
    *,
    first: FloorTransform | None = None,
) -> tuple[float, tuple[Piece, ...]]:
    """Segments with given boundaries, all laid so that together they cost least.

    Alone, a segment lies best where its control is nearest to the input (closed form). How far its target is from its
    neighbours' is paid for too, so places that give a little can cost less; they are found from there by Gauss-Newton
    steps.

    Args:
        database: What the segments are of.
        segments: Which ones, (M,).
        signal: The input.
        bounds: Where they begin and end, (M + 1,), in steps of the input.
        rate_hz: Steps per second.
        continuity_s: Price of a squared metre between neighbours; 0 lays each one for itself.
        first: Where the first one lies already.

    Returns:
        Cost, m²·s, and the pieces.
    """
    from choreograph.verbs.perform._compiled import align

    rows, a, a_height = database.stacked
    count = len(segments)
    squares, size, total = np.zeros(count), np.zeros(count), np.zeros(count)
    turn, x_mean, a_mean = np.zeros(count, complex), np.zeros(count, complex), np.zeros(count, complex)
    for i, s in enumerate(segments):
        squares[i], turn[i], x_mean[i], a_mean[i], size[i], total[i] = align(
            signal.flat, signal.height, signal.weight, int(bounds[i]), int(bounds[i + 1] - bounds[i]), a, a_height,
            float(rows[database.example[s]] + database.start[s]), float(database.stop[s] - database.start[s]),
        )  # fmt: skip
    points = signal.flat.shape[1]
    (head, head_height), (tail, tail_height) = ends(database, segments)
    joint = _Joint(
        np.angle(turn), x_mean, size / (points * rate_hz), total / rate_hz, head - a_mean[:, None],
        tail - a_mean[:, None], ((head_height[1:] - tail_height[:-1]) ** 2).mean(axis=1), continuity_s,
    )  # fmt: skip
    yaw, middle = joint.yaw, joint.middle
    if first is not None:
        yaw, middle = yaw.copy(), middle.copy()
        yaw[0] = -first.yaw
        middle[0] = np.exp(1j * yaw[0]) * a_mean[0] + complex(first.x, first.z)
    if continuity_s > 0 and count > 1:
        yaw, middle = joint.settled(yaw, middle, fixed=first is not None)
    squares += points * rate_hz * joint.excess(yaw, middle)
    gap = np.concatenate([[0.0], np.sqrt(joint.gaps(yaw, middle))])
    cost = squares / (points * rate_hz) + continuity_s * gap**2
    shift = middle - np.exp(1j * yaw) * a_mean
    pieces = tuple(
        Piece(
            int(s),
            float(bounds[i] - signal.begin) / rate_hz,
            float(bounds[i + 1] - signal.begin) / rate_hz,
            FloorTransform(float(-yaw[i]), float(shift[i].real), float(shift[i].imag)),
            float(np.sqrt(squares[i] / (total[i] * points))),
            float(gap[i]),
            float(cost[i]),
        )
        for i, s in enumerate(segments)
    )
    return float(cost.sum()), pieces


@dataclass(frozen=True, eq=False)
class _Joint:
    """What all places together cost, as a function of yaws and of where the controls' middles go.

    Around its weighted middle a control's cost falls apart: weight |m - m₀|² + 2 size (1 - cos(θ - θ₀)) more than at
    its own best place.
    """

    yaw: Floats
    """Best for each alone, (M,): the angle of the complex rotation."""
    middle: Complexes
    """Best for each alone, (M,)."""
    size: Floats
    """Price of a turn away from there, (M,), m²·s."""
    weight: Floats
    """Price of a shift, (M,), s."""
    head: Complexes
    """The targets' first points, from the control's middle, (M, T)."""
    tail: Complexes
    """Their last points."""
    height: Floats
    """Squared gaps in height, mean over points, (M - 1,)."""
    price: float
    """Of a squared gap, seconds."""

    def excess(self, yaw: Floats, middle: Complexes) -> Floats:
        """What each control costs more than alone, (M,)."""
        return np.asarray(
            self.weight * np.abs(middle - self.middle) ** 2 + 2 * self.size * (1 - np.cos(yaw - self.yaw))
        )

    def gaps(self, yaw: Floats, middle: Complexes) -> Floats:
        """Squared gaps, mean over points, (M - 1,)."""
        return np.asarray((np.abs(self._apart(yaw, middle)) ** 2).mean(axis=1) + self.height)

    def _apart(self, yaw: Floats, middle: Complexes) -> Complexes:
        turn = np.exp(1j * yaw)[:, None]
        heads, tails = turn * self.head + middle[:, None], turn * self.tail + middle[:, None]
        return np.asarray(heads[1:] - tails[:-1])

    def cost(self, yaw: Floats, middle: Complexes) -> float:
        """All of it that places change."""
        return float(self.excess(yaw, middle).sum() + self.price * self.gaps(yaw, middle).sum())

    def settled(self, yaw: Floats, middle: Complexes, *, fixed: bool) -> tuple[Floats, Complexes]:
        """The best yaws and middles, from the given ones on; the first piece stays if it is fixed."""
        best = self.cost(yaw, middle)
        for _ in range(_ROUNDS):
            step = self._step(yaw, middle, fixed)
            if np.abs(step).max() < _STILL:
                break
            trial = yaw + step[:, 0], middle + step[:, 1] + 1j * step[:, 2]
            # A step too long is halved until it helps.
            while (cost := self.cost(*trial)) > best and np.abs(step).max() >= _STILL:
                step = step / 2
                trial = yaw + step[:, 0], middle + step[:, 1] + 1j * step[:, 2]
            if cost > best:
                break
            yaw, middle, best = *trial, cost
        return yaw, middle

    def _step(self, yaw: Floats, middle: Complexes, fixed: bool) -> Floats:
        """Changes (M, 3) of yaw, x and z: three unknowns a piece, each coupled to those of the next."""
        from scipy.linalg import solveh_banded

        count, points = self.head.shape
        turn = np.exp(1j * yaw)[:, None]
        off = middle - self.middle
        gradient = np.stack(
            [self.size * np.sin(yaw - self.yaw), self.weight * off.real, self.weight * off.imag], axis=1
        )
        blocks = np.zeros((count, 3, 3))
        blocks[:, 0, 0], blocks[:, 1, 1], blocks[:, 2, 2] = self.size, self.weight, self.weight
        apart = self._apart(yaw, middle)
        slopes = []  # of the gap's points with the later and the earlier piece's unknowns, real and imaginary parts
        for placed, sign in ((turn[1:] * self.head[1:], 1.0), (turn[:-1] * self.tail[:-1], -1.0)):
            one = np.ones_like(placed)
            slope = sign * np.stack([1j * placed, one, 1j * one], axis=2)
            slopes.append(np.concatenate([slope.real, slope.imag], axis=1))
        left = np.concatenate([apart.real, apart.imag], axis=1)
        share = self.price / points
        later, earlier = slopes
        blocks[1:] += share * np.einsum("mpa,mpb->mab", later, later)
        blocks[:-1] += share * np.einsum("mpa,mpb->mab", earlier, earlier)
        gradient[1:] += share * np.einsum("mpa,mp->ma", later, left)
        gradient[:-1] += share * np.einsum("mpa,mp->ma", earlier, left)
        beside = share * np.einsum("mpa,mpb->mab", earlier, later)
        if fixed:
            blocks[0], beside[0], gradient[0] = np.eye(3), 0.0, 0.0
        bands = np.zeros((6, 3 * count))
        for i in range(3):
            for j in range(3):
                if j >= i:
                    bands[5 + i - j, j::3] = blocks[:, i, j]
                bands[2 + i - j, 3 + j :: 3] = beside[:, i, j]
        # Where next to nothing of a control is known it holds a piece by nothing but its neighbours.
        bands[5] += 1e-12
        return np.asarray(-solveh_banded(bands, gradient.ravel())).reshape(count, 3)


def ends(database: SegmentDatabase, segments: Sequence[int] | Ints) -> Any:
    """Points and heights of the targets' first and last frames."""
    points = database.target_points
    first = np.array([points[database.example[s]][database.start[s]] for s in segments])
    final = np.array([points[database.example[s]][database.stop[s]] for s in segments])
    return split(first), split(final)
