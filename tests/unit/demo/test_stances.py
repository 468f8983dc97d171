"""Stances follow the phase, and standing lasts."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from choreograph.demo.contact_phases import FAR, MOST_ROLL_S, find_stances

TIMES = np.linspace(0, 4, 1921)
PHASES = np.tile([-0.03, 0.07, 0.42, 0.57], (len(TIMES), 1))


def test_a_steady_gait_strikes_once_a_cycle() -> None:
    stances = find_stances(TIMES, TIMES + 0.3, PHASES)
    strikes = [s.strike for s in stances if s.strike > -FAR]
    np.testing.assert_allclose(np.diff(strikes), 1.0, atol=1e-6)
    for s in stances[1:-1]:
        np.testing.assert_allclose([s.flat - s.strike, s.heel_off - s.strike, s.toe_off - s.strike], [0.1, 0.45, 0.6])


def test_a_foot_that_never_moves_stands_for_ever() -> None:
    (only,) = find_stances(TIMES, np.full_like(TIMES, 0.04), PHASES)
    assert (only.strike, only.toe_off) == (-FAR, FAR)


def test_starting_from_rest_keeps_the_standing_foot_flat_until_it_goes() -> None:
    cycles = 0.54 + np.maximum(TIMES - 2.0, 0.0)
    first, *_ = find_stances(TIMES, cycles, PHASES)
    assert first.strike == -FAR
    np.testing.assert_allclose(first.toe_off, 2.03, atol=1e-3)
    np.testing.assert_allclose(first.heel_off, first.toe_off - MOST_ROLL_S, atol=1e-9)


def test_halting_leaves_the_heel_down() -> None:
    last = find_stances(TIMES, np.minimum(TIMES, 2.5), PHASES)[-1]
    assert last.toe_off == FAR and last.heel_off == FAR


def test_stances_do_not_overlap() -> None:
    cycles = TIMES * 1.2 + 0.05 * np.sin(5 * TIMES)
    stances = find_stances(TIMES, cycles, PHASES)
    for s in stances:
        assert s.strike <= s.flat <= s.heel_off <= s.toe_off
    for before, after in pairwise(stances):
        assert before.toe_off < after.strike
