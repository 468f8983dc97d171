"""How fast a body falls tells whether a recording's frame rate is right."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import choreograph as cg
from choreograph.demo import demo_clip
from choreograph.dynamics.gravity_check import apparent_gravity, doubt_rate


def test_a_parabola_tells_gravity_and_the_rate_that_would_explain_another() -> None:
    t = np.arange(50) / 120.0
    heights, air = 1.0 + 2.0 * t - 0.5 * 9.81 * t**2, np.ones(50, bool)
    assert apparent_gravity(heights, air, 120.0) == pytest.approx(9.81)
    twice = apparent_gravity(heights, air, 240.0)
    assert twice == pytest.approx(4 * 9.81)
    (problem,) = doubt_rate(twice, 240.0)
    assert "39 m/s²" in problem.text and "120 Hz would explain it. Read it at that rate (fps)." in problem.text
    assert doubt_rate(9.3, 120.0) == doubt_rate(11.0, 120.0) == doubt_rate(None, 120.0) == []


def test_a_walk_above_a_tilted_floor_does_not_fall() -> None:
    t = np.arange(600) / 120.0
    walk = 0.9 + 0.02 * np.cos(2 * np.pi * 2 * t)
    assert apparent_gravity(walk, np.ones(600, bool), 120.0) is None
    steps = (np.arange(600) % 60) < 25  # feet float for a part of each step
    assert apparent_gravity(walk, steps, 120.0) is None


def test_a_wrong_frame_rate_is_said_by_dynamics_and_by_physics_before_it_solves() -> None:
    jump = demo_clip("jump_high", 60.0)
    assert not cg.inverse_dynamics(jump).problems
    wrong = replace(jump, fps=120.0)
    assert any("60 Hz would explain it" in problem.text for problem in cg.inverse_dynamics(wrong).problems)
    said = cg.PhysicsSearch(wrong, cg.PhysicsRequest()).check_examples()
    assert any("60 Hz would explain it" in problem.text for problem in said)
