"""Cells of the dynamic program: every segment at every length it may be stretched to, and how it lies on an input.

All alignments come from inner products of points written as complex numbers x + iz: one matrix product per length.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from choreograph.base.arrays import Complexes, Flags, Floats, Ints
from choreograph.features.points import TRACK
from choreograph.verbs.perform.examples import SegmentDatabase
from choreograph.verbs.perform.idle_segments import MOVING_COST_M2, find_rests, moving_share


class Signal(NamedTuple):
    """An input as the program sees it: points on the floor as complex numbers, heights, and the weight of each step."""

    flat: Complexes
    """x + iz, (L, P), metres."""
    height: Floats
    """(L, P), metres."""
    weight: Floats
    """(L,): 1 where the input is known, 0 before its start, after its end and in gaps."""
    begin: int
    """The input's first step."""
    last: int
    """Its last step."""


class Laid(NamedTuple):
    """How cells lie on an input from each of several starts, (U, N)."""

    cost: Floats
    """Squared distance of the points, averaged over points and integrated over time, m²·s."""
    turn: Complexes
    """The rotation of the alignment: unit numbers."""
    shift: Complexes
    """Its translation, metres."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Segments at all their lengths, in order of length."""

    segment: Ints
    """(N,)"""
    duration: Ints
    """In steps, (N,)."""
    control: dict[int, tuple[Complexes, Floats]]
    """By duration d: points (n, d + 1, P) and heights of the cells of that length, in order."""
    head: tuple[Complexes, Floats]
    """The target's points in the first frame, (N, P), and heights."""
    tail: tuple[Complexes, Floats]
    """The same in the last frame."""
    rate_hz: float
    """Steps per second."""
    moving: Floats
    """Share of each cell's target in which a foot moves, (N,); 0 where standing is no matter."""
    held: Flags
    """Which cells show a pose that is held, (N,)."""

    def __len__(self) -> int:
        """Number of cells."""
        return len(self.segment)

    @property
    def longest(self) -> int:
        """Steps of the longest cell."""
        return int(self.duration[-1])


def step_ranges(database: SegmentDatabase, rate_hz: float, stretch_s: float) -> list[tuple[int, int]]:
    """Least and greatest number of steps of each segment.

    They differ from its own length by `stretch_s` seconds at most. Each segment has the length nearest to its own in
    any case, and two steps at least.
    """
    ranges = []
    for seconds in database.seconds:
        nearest = max(2, round(seconds * rate_hz))
        low = max(2, int(np.ceil((seconds - stretch_s) * rate_hz - 1e-9)))
        high = int(np.floor((seconds + stretch_s) * rate_hz + 1e-9))
        ranges.append((min(low, nearest), max(high, nearest)))
    return ranges


def build_cells(database: SegmentDatabase, rate_hz: float, stretch_s: float) -> Cells:
    """The cells of a database at a rate: every segment at every number of steps that it may have."""
    ranges = step_ranges(database, rate_hz, stretch_s)
    rows = [(d, s) for s, (low, high) in enumerate(ranges) for d in range(low, high + 1)]
    duration, segment = np.array(sorted(rows), np.int64).T
    control = {}
    ends: list[tuple[Floats, Floats]] = []
    for d in np.unique(duration):
        sampled = [database.sampled(int(s), int(d) + 1) for s in segment[duration == d]]
        control[int(d)] = split(np.array([c for c, _ in sampled]))
        ends += [(t[0], t[-1]) for _, t in sampled]
    head, tail = (split(np.array(e)) for e in zip(*ends, strict=True))
    moving = moving_share(database)[segment] if database.control_roles == TRACK else np.zeros(len(segment))
    held = database.example[segment] >= len(database.names) - database.held
    return Cells(segment, duration, control, head, tail, rate_hz, moving, held)


def split(points: Floats) -> tuple[Complexes, Floats]:
    """Points (..., 3) as places on the floor, x + iz, and heights."""
    return points[..., 0] + 1j * points[..., 2], np.ascontiguousarray(points[..., 1])


def lay(cells: Cells, signal: Signal, starts: Ints) -> Laid:
    """All cells laid over the input from all of the starts, each where it fits best.

    Squared distance is integrated by the trapezoid rule, so that a frame shared by two segments counts once. Steps
    without weight do not count: a cell may hang over the input's ends.
    """
    shape = (len(starts), len(cells))
    cost, turn, shift = np.empty(shape), np.empty(shape, complex), np.empty(shape, complex)
    count = signal.flat.shape[1]
    at = 0
    for d, (a, a_height) in cells.control.items():
        here = slice(at, at + len(a))
        at += len(a)
        index = starts[:, None] + np.arange(d + 1)
        weight = signal.weight[index]
        weight[:, [0, -1]] *= 0.5
        x, x_height = signal.flat[index], signal.height[index]
        total = np.maximum(count * weight.sum(axis=1), 1e-12)[:, None]
        x_mean = (weight[:, :, None] * x).sum(axis=(1, 2))[:, None] / total
        # Around the input's own middle, so that no digits are lost far from the origin.
        x = x - x_mean[:, :, None]
        heavy = (weight[:, :, None] * x).reshape(len(starts), -1)
        a_mean = weight @ a.sum(axis=2).T / total
        product = heavy @ a.reshape(len(a), -1).conj().T
        size = np.abs(product)
        squares = np.einsum("ud,udp->u", weight, np.abs(x) ** 2)[:, None]
        squares = squares + weight @ (np.abs(a) ** 2).sum(axis=2).T - total * np.abs(a_mean) ** 2 - 2 * size
        heavy_height = (weight[:, :, None] * x_height).reshape(len(starts), -1)
        squares += (heavy_height * x_height.reshape(len(starts), -1)).sum(axis=1)[:, None]
        squares += weight @ (a_height**2).sum(axis=2).T - 2 * heavy_height @ a_height.reshape(len(a), -1).T
        rho = np.where(size > 1e-12, product / np.maximum(size, 1e-12), 1.0)
        cost[:, here] = np.where(total > 1e-9, np.maximum(squares, 0.0) / (count * cells.rate_hz), np.inf)
        turn[:, here] = rho
        shift[:, here] = x_mean - rho * a_mean
    return Laid(cost, turn, shift)


def forbid(cells: Cells, signal: Signal, starts: Ints, laid: Laid) -> None:
    """Give infinite cost to cells of which too little lies on the input: less than a third, or than the input has."""
    stops = starts[:, None] + cells.duration
    over = np.minimum(stops, signal.last) - np.maximum(starts[:, None], signal.begin)
    hangs = (starts[:, None] < signal.begin) | (stops > signal.last)
    enough = np.minimum(np.maximum(1, -(-cells.duration // 3)), signal.last - signal.begin)
    laid.cost[(starts[:, None] >= signal.last) | (hangs & (over < enough))] = np.inf


def charge_moving(cells: Cells, signal: Signal, starts: Ints, laid: Laid) -> None:
    """Let cells in which feet move cost more where the input rests, and forbid held poses where it does not."""
    if not cells.moving.any():
        return
    rests = find_rests(signal.flat, signal.weight, cells.rate_hz)
    stops = np.minimum(starts[:, None] + cells.duration, len(rests))

    def within(steps: Floats) -> Floats:
        count = np.concatenate([[0.0], np.cumsum(steps)])
        return np.asarray(count[stops] - count[starts][:, None])

    resting = within(rests)
    np.add(laid.cost, MOVING_COST_M2 / cells.rate_hz * resting * cells.moving, out=laid.cost)
    if cells.held.any():
        laid.cost[cells.held & (resting < 0.5 * within(signal.weight))] = np.inf
