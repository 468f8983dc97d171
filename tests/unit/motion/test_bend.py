"""Ways of roots, and curves that they are carried onto."""

from __future__ import annotations

import numpy as np
import pytest

from choreograph.base.floor import FloorTransform
from choreograph.demo import demo_clip
from choreograph.motion.bend import find_way, fit_curve, lateral_acceleration, lay_onto, low_pass, way_of

FPS = 60.0


def arc(radius: float, speed: float = 1.3, seconds: float = 5.0) -> np.ndarray:
    """A circle walked to the left, (F, 2)."""
    turned = np.arange(round(seconds * FPS)) * speed / FPS / radius
    return np.stack([radius * (1 - np.cos(turned)), radius * np.sin(turned)], axis=1)


def test_sway_is_not_way() -> None:
    time = np.arange(600) / FPS
    straight = np.stack([np.zeros(600), 1.3 * time], axis=1)
    sway = np.stack([0.04 * np.sin(2 * np.pi * 0.9 * time), 0.01 * np.sin(2 * np.pi * 1.8 * time)], axis=1)
    swaying = straight + sway
    walked = np.hypot(*np.diff(swaying, axis=0).T).sum()
    way = find_way(swaying, FPS)
    assert walked > 1.004 * straight[-1, 1]
    assert way.length[-1] == pytest.approx(straight[-1, 1], rel=0.005)
    assert np.abs(way.heading[60:-60]).max() < 0.1
    np.testing.assert_allclose(way.places[[0, -1]], swaying[[0, -1]], atol=0.03)  # it ends where the motion does


def test_a_way_knows_its_speed_heading_and_lateral_acceleration() -> None:
    way = find_way(arc(2.0), FPS, 0.0)
    inside = slice(30, -30)
    np.testing.assert_allclose(way.speed[inside], 1.3, rtol=1e-3)
    np.testing.assert_allclose(way.heading[inside], way.length[inside] / 2.0, atol=1e-3)  # turns left
    np.testing.assert_allclose(lateral_acceleration(way, FPS)[inside], 1.3**2 / 2.0, rtol=1e-2)


def test_who_stands_keeps_the_heading() -> None:
    go, stand = np.linspace(0, 2, 60), np.full(60, 2.0)
    z = np.concatenate([go, stand, 2 + go])
    way = find_way(np.stack([np.zeros(180), z], axis=1), FPS, 0.05)
    assert np.abs(way.heading).max() < 1e-6


def test_a_way_laid_onto_a_curve_lies_there_and_is_turned_like_it() -> None:
    clip = demo_clip("walk", FPS)
    way = way_of(clip)
    flat = np.insert(arc(2.0, float(way.speed.mean()), clip.seconds), 1, 0, axis=1)
    curve = FloorTransform(0.7, 3.0, -2.0).apply(flat)[:, [0, 2]]
    place = lay_onto(way, curve, FPS)
    laid = place.apply(np.insert(way.places, 1, 0.0, axis=1))[:, [0, 2]]
    np.testing.assert_allclose(laid, curve, atol=1e-9)
    wanted = find_way(curve, FPS, 0.0)
    off = np.angle(np.exp(1j * (way.heading + place.yaw - wanted.heading)))
    assert np.abs(off[20:-20]).max() < 0.05


def plain_fit(start: np.ndarray, wanted: np.ndarray, weight: np.ndarray, stiff_s: float) -> np.ndarray:
    """The same by dense least squares."""
    frames = len(start)
    bends = np.diff(np.eye(frames), n=2, axis=0) * (stiff_s * FPS) ** 2
    rows = np.concatenate([np.diag(np.sqrt(weight)), bends])
    right = np.concatenate([np.sqrt(weight)[:, None] * wanted, bends @ start])
    return np.linalg.lstsq(rows, right, rcond=None)[0]


def test_a_fitted_curve_is_the_least_squares_one(rng: np.random.Generator) -> None:
    start = np.cumsum(rng.normal(0, 0.01, (80, 2)), axis=0)
    wanted, weight = start + rng.normal(0, 0.05, (80, 2)), rng.uniform(0, 1, 80)
    weight[10:30] = 0.0
    np.testing.assert_allclose(
        fit_curve(start, wanted, weight, FPS, 0.2), plain_fit(start, wanted, weight, 0.2), atol=1e-6
    )


def test_a_curve_through_one_place_bends_gently_and_gets_there() -> None:
    start = np.stack([np.zeros(300), np.linspace(0, 6.5, 300)], axis=1)
    wanted, weight = start.copy(), np.zeros(300)
    wanted[150, 0], weight[[0, 150, 299]] = 0.3, 1e6
    curve = fit_curve(start, wanted, weight, FPS, 0.3)
    np.testing.assert_allclose(curve[[0, 150, 299]], wanted[[0, 150, 299]], atol=1e-3)
    assert np.abs(np.diff(curve[:, 0], n=2) * FPS**2).max() < 4 * 0.3 / 2.5**2


def test_what_is_short_is_left_alone() -> None:
    one = np.array([[1.0, 2.0]])
    assert np.array_equal(low_pass(one, 5.0), one)
    assert find_way(one, FPS).length.tolist() == [0.0]
    assert lateral_acceleration(find_way(one, FPS), FPS).tolist() == [0.0]
    two = np.array([[0.0, 0.0], [0.0, 1.0]])
    assert np.array_equal(fit_curve(two, two + 1, np.ones(2), FPS, 0.3), two + 1)
