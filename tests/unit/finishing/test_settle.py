"""Turns that leave standing feet where they are."""

from __future__ import annotations

import numpy as np

from choreograph.base.floor import FloorTransform
from choreograph.demo import demo_clip
from choreograph.finishing.foot_contacts import hold
from choreograph.finishing.passes import foot_paths
from choreograph.finishing.settle import _ARM_M, _LOOSE, STIFF_S, settle_feet
from choreograph.motion.bend import find_way, lay_onto
from choreograph.motion.contacts import detect_contacts

FPS = 30.0
STEP_M, SPEED_M_S, RADIUS_M = 0.7, 1.4, 1.5


def straight_walk(seconds: float = 4.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A root that goes straight (F, 2), two feet that stand in turn (F, 2, 3), and when they do (F, 2)."""
    z = SPEED_M_S * np.arange(round(seconds * FPS)) / FPS
    feet, held = np.zeros((len(z), 2, 3)), np.zeros((len(z), 2), bool)
    for k in range(2):
        step = np.floor(z / STEP_M)
        held[:, k] = (step % 2 == k) & (np.abs(z / STEP_M - step - 0.5) < 0.35)
        feet[:, k, 0], feet[:, k, 2] = 0.1 - 0.2 * k, np.where(held[:, k], (step + 0.5) * STEP_M, z)
    return np.stack([np.zeros(len(z)), z], axis=1), feet, held


def bent() -> tuple[np.ndarray, FloorTransform, tuple[np.ndarray, ...]]:
    """A circle, how the walk is laid onto it, and the walk."""
    root, feet, held = straight_walk()
    turned = root[:, 1] / RADIUS_M
    curve = RADIUS_M * np.stack([1 - np.cos(turned), np.sin(turned)], axis=1)
    return curve, lay_onto(find_way(root, FPS, 0.0), curve, FPS), (root, feet, held)


def drift(place: FloorTransform, feet: np.ndarray, held: np.ndarray) -> np.ndarray:
    """How far each foot that stands is from the middle of its plant, (N, 2)."""
    out = []
    for k in range(2):
        laid = place.apply(feet[:, k])[:, [0, 2]]
        ends = np.flatnonzero(np.diff(np.concatenate([[0], held[:, k], [0]])))
        out += [laid[a:b] - laid[a:b].mean(axis=0) for a, b in zip(ends[::2], ends[1::2], strict=True)]
    return np.concatenate(out)


def test_feet_stay_and_the_way_does_too() -> None:
    curve, place, (root, feet, held) = bent()
    way = find_way(root, FPS, 0.0)
    settled = settle_feet(way, curve, place, feet, held, FPS)
    before, after = (np.sqrt((drift(p, feet, held) ** 2).mean()) for p in (place, settled))
    assert after < 0.75 * before
    laid = settled.apply(np.insert(way.places, 1, 0.0, axis=1))[:, [0, 2]]
    np.testing.assert_allclose(laid, curve, atol=1e-9)
    assert np.abs(settled.yaw - place.yaw).max() < np.radians(20)
    np.testing.assert_allclose((settled.yaw - place.yaw).mean(), 0.0, atol=0.01)  # sooner or later, no farther


def test_no_other_turns_are_better() -> None:
    curve, place, (root, feet, held) = bent()
    way = find_way(root, FPS, 0.0)
    turns = settle_feet(way, curve, place, feet, held, FPS).yaw - place.yaw

    def cost(turns: np.ndarray) -> float:
        """As the docstring says it, with feet moved along their tangents."""
        total = _ARM_M**2 * ((STIFF_S * FPS) ** 4 * (np.diff(turns, n=2) ** 2).sum() + _LOOSE**2 * (turns**2).sum())
        at = place.apply(np.insert(way.places, 1, 0.0, axis=1))
        for k in range(2):
            laid = place.apply(feet[:, k])
            arm = laid - at
            moved = laid + turns[:, None] * np.stack([arm[:, 2], 0 * turns, -arm[:, 0]], axis=1)
            ends = np.flatnonzero(np.diff(np.concatenate([[0], held[:, k], [0]])))
            for a, b in zip(ends[::2], ends[1::2], strict=True):
                total += ((moved[a:b] - moved[a:b].mean(axis=0)) ** 2).sum()
        return float(total)

    best = cost(turns)
    assert best < cost(np.zeros(len(turns)))
    rng = np.random.default_rng(0)
    for size in (1e-4, 1e-3, 1e-2):
        for _ in range(20):
            assert cost(turns + size * rng.normal(size=len(turns))) > best


def test_who_does_not_stand_is_turned_as_the_curve_is() -> None:
    curve, place, (root, feet, held) = bent()
    assert settle_feet(find_way(root, FPS, 0.0), curve, place, feet, np.zeros_like(held), FPS) is place


def test_a_heel_that_rises_over_its_toe_is_held_longer() -> None:
    walk = demo_clip("walk", 60.0)
    paths = walk.global_positions()[:, walk.skeleton.feet]
    contacts = detect_contacts(walk)
    usual, longer = (hold(contacts, some, walk.fps, 0.4) for some in (paths, foot_paths(walk)))
    assert (longer >= usual).all()
    more = (longer & ~usual).sum(axis=0)
    assert more[0] > 0 and more[2] > 0 and not more[1] and not more[3], "heels, and no toes"
