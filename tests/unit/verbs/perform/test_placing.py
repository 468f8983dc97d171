from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import minimize

from choreograph.base.floor import FloorTransform
from choreograph.verbs.perform.examples import Example, SegmentDatabase
from choreograph.verbs.perform.placing import Piece, place
from choreograph.verbs.perform.program import make_signal

RATE = 30.0
PRICE = 0.4


@pytest.fixture
def sequence(base: SegmentDatabase, make_example: Callable[..., Example], rng: np.random.Generator):
    """Five segments over a control that they do not fit, with a gap in it."""
    points = make_example(31).control
    known = np.ones(len(points), bool)
    known[40:44] = False
    signal = make_signal(points, known, 20)
    segments = rng.choice(len(base), 5)
    bounds = signal.begin - 3 + np.array([0, 18, 37, 52, 70, 91])
    return segments, signal, bounds


def price_of(base: SegmentDatabase, signal, bounds, segments, places: list[FloorTransform]) -> float:
    """The cost, written down."""
    total, before = 0.0, None
    for i, (s, placement) in enumerate(zip(segments, places, strict=True)):
        u, d = bounds[i], bounds[i + 1] - bounds[i]
        control, target = base.sampled(int(s), int(d) + 1)
        weight = signal.weight[u : u + d + 1].copy()
        weight[[0, -1]] *= 0.5
        x = np.stack([signal.flat.real, signal.height, signal.flat.imag], axis=-1)[u : u + d + 1]
        total += float(weight @ ((placement.apply(control) - x) ** 2).sum(axis=2).mean(axis=1)) / RATE
        first, last = placement.apply(target[0]), placement.apply(target[-1])
        if before is not None:
            total += PRICE * float(((first - before) ** 2).sum(axis=1).mean())
        before = last
    return total


def test_places_are_the_best_there_are(base: SegmentDatabase, sequence):
    segments, signal, bounds = sequence
    cost, pieces = place(base, segments, signal, bounds, RATE, PRICE)
    found = [p.placement for p in pieces]
    assert cost == pytest.approx(price_of(base, signal, bounds, segments, found), rel=1e-9)

    def of(values: np.ndarray) -> float:
        places = [FloorTransform(*row) for row in values.reshape(-1, 3)]
        return price_of(base, signal, bounds, segments, places)

    start = np.array([(p.yaw, p.x, p.z) for p in found]).ravel()
    assert minimize(of, start, method="BFGS").fun == pytest.approx(cost, rel=1e-6)
    alone, apart = place(base, segments, signal, bounds, RATE)
    assert price_of(base, signal, bounds, segments, [p.placement for p in apart]) > cost + 0.01
    assert sum(p.gap_m for p in pieces) < sum(p.gap_m for p in apart)
    assert alone == pytest.approx(sum(residuals(signal, bounds, apart)), rel=1e-9)


def residuals(signal, bounds, pieces: tuple[Piece, ...]) -> list[float]:
    out = []
    for i, p in enumerate(pieces):
        weight = signal.weight[bounds[i] : bounds[i + 1] + 1].copy()
        weight[[0, -1]] *= 0.5
        out.append(p.residual_m**2 * weight.sum() / RATE)
    return out


def test_a_piece_that_lies_already_stays(base: SegmentDatabase, sequence):
    segments, signal, bounds = sequence
    there = FloorTransform(0.3, 1.0, -2.0)
    _, pieces = place(base, segments, signal, bounds, RATE, PRICE, first=there)
    assert pieces[0].placement.yaw == pytest.approx(0.3) and pieces[0].placement.x == pytest.approx(1.0)
    assert pieces[0].placement.z == pytest.approx(-2.0)
    _, free = place(base, segments, signal, bounds, RATE, PRICE)
    assert pieces[1].placement.x != pytest.approx(free[1].placement.x, abs=1e-3)
