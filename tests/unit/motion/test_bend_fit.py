"""Bends that bring a motion to places: met within limits, approached beyond them."""

from __future__ import annotations

import numpy as np
import pytest

from choreograph.motion.bend_fit import STRETCH, Bends, BendTargets, fit_bends, turn_limit

FPS, FRAMES = 30.0, 181
WAY = 1j * np.linspace(0.0, 7.8, FRAMES)
"""Six seconds straight along z."""
SPEED = np.full(FRAMES, 1.3)


def fitted(*targets: tuple[int, complex, float], stiff: slice | None = None) -> Bends:
    held = np.zeros(FRAMES, bool)
    held[stiff or slice(0)] = True
    frames, places, turns = (np.array(column) for column in zip((0, 0j, 0.0), *targets, strict=True))
    return fit_bends(WAY, WAY + 0.02, SPEED, BendTargets(frames, places + 0.02, turns.astype(float), held), FPS)


def torso(bends: Bends, frame: int) -> complex:
    return complex(bends.places[frame] + 0.02 * np.exp(-1j * bends.turn[frame]))


@pytest.mark.parametrize(
    ("place", "turn"),
    [(0.5 + 7.6j, np.nan), (1 + 7.8j, 0.6), (1 + 7.8j, -0.3), (2.5 + 6.8j, 1.2), (0.3 + 8.2j, np.nan)],
)
def test_places_and_turns_within_reach_are_met(place: complex, turn: float) -> None:
    bends = fitted((180, place, turn))
    assert abs(torso(bends, 180) - place - 0.02) < 0.01
    assert np.isnan(turn) or bends.turn[180] == pytest.approx(turn, abs=0.01)


def test_no_step_goes_beyond_its_limits() -> None:
    bends = fitted((90, 1.5 + 3j, 1.0), (180, 30j, np.nan))
    longer = np.abs(np.diff(bends.places)) / np.abs(np.diff(WAY))
    assert longer.max() <= 1 + STRETCH + 1e-9 and longer.min() >= 1 - STRETCH - 1e-9
    assert np.abs(np.diff(bends.turn)).max() * FPS <= turn_limit(SPEED)[0] + 1e-9


def test_a_place_out_of_reach_does_not_spoil_the_one_before_it() -> None:
    first = 0.4 + 3.9j
    bends = fitted((90, first, np.nan), (180, 40 - 20j, np.nan))
    assert abs(torso(bends, 90) - first - 0.02) < 0.015


def test_what_is_stiff_and_what_lies_behind_goes_on_as_it_was() -> None:
    bends = fitted((120, 1 + 5j, np.nan), stiff=slice(40, 60))
    assert np.ptp(bends.turn[40:61]) < 1e-12 and np.ptp(bends.turn[120:]) < 1e-12
    assert np.abs(np.diff(bends.places[40:61])) == pytest.approx(np.abs(np.diff(WAY[40:61])))
    assert np.abs(np.diff(bends.places[120:])) == pytest.approx(np.abs(np.diff(WAY[120:])))


def test_who_stands_is_not_turned() -> None:
    assert turn_limit(np.zeros(1))[0] == 0
    still = BendTargets(np.array([0, 60]), np.zeros(2, complex), np.array([0.0, 1.0]), np.zeros(61, bool))
    bends = fit_bends(np.zeros(61, complex), np.zeros(61, complex), np.zeros(61), still, FPS)
    assert np.abs(bends.turn).max() == 0


@pytest.mark.slow
def test_long_motions_are_thinned_and_still_met() -> None:
    frames = 20_001
    way = 1j * np.linspace(0, 260, frames)
    targets = BendTargets(
        np.array([0, 20_000]), np.array([0, 20 + 250j]), np.array([0.0, np.nan]), np.zeros(frames, bool)
    )
    bends = fit_bends(way, way, np.full(frames, 1.56), targets, 120.0)
    assert abs(bends.places[-1] - targets.place[1]) < 0.05
