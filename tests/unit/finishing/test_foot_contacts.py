from __future__ import annotations

import numpy as np
import pytest

from choreograph.finishing import _compiled_feet
from choreograph.finishing.foot_contacts import (
    PlantPlaces,
    agree,
    agree_numpy,
    fill_gaps,
    fill_gaps_numpy,
    foot_slide,
    hold,
    longest_slide,
    plant_speed,
)
from choreograph.motion.clip import Clip
from choreograph.verbs.follow.measure import PathProgress
from choreograph.verbs.path_problems import feet_unplanted


def test_a_plant_is_held_while_its_joint_is_slow() -> None:
    path = np.zeros((11, 1, 3))
    path[:, 0, 0] = np.array([0, 9, 18, 20, 20, 20, 20, 20, 22, 31, 40]) / 100
    contacts = np.zeros((11, 1), bool)
    contacts[2:9] = True
    held = hold(contacts, path, 100.0, 0.8)
    assert np.flatnonzero(held[:, 0]).tolist() == [4, 5, 6]
    # Never slow: held throughout. Cut off by the motion's ends: held up to there.
    hurried = path * 10 + np.arange(11)[:, None, None] / 50
    assert hold(contacts, hurried, 100.0, 0.8).sum() == 7
    assert hold(np.ones((11, 1), bool), path, 100.0, 0.8).all()


def test_gaps_are_filled_without_a_jump_in_value_or_speed() -> None:
    t = np.arange(120)
    known = (t < 30) | (t >= 90)
    values = np.stack([0.02 + 0.001 * t, np.where(t < 60, 0.05, -0.03)], 1)
    filled = fill_gaps(values, known, 120.0, 0.15)
    np.testing.assert_array_equal(filled[known], values[known])
    assert np.abs(filled[50:70]).max() == 0
    # Bends are those of the cubics; a jump in value or speed would show as 0.05 or 0.01 here.
    assert np.abs(np.diff(filled, n=2, axis=0)).max() < 0.003


def test_a_short_gap_is_bridged_and_nothing_known_is_nothing() -> None:
    values, known = np.ones((20, 1)), np.ones(20, bool)
    known[9:12] = False
    np.testing.assert_allclose(fill_gaps(values, known, 120.0, 0.5), 1.0)
    assert not fill_gaps(values, np.zeros(20, bool), 120.0, 0.5).any()
    one = fill_gaps(np.ones((1, 1)), np.ones(1, bool), 30.0, 0.1)
    np.testing.assert_array_equal(one, 1.0)


def test_a_heel_that_stays_while_the_toe_comes_down_often_stays_near() -> None:
    taps = np.array([[10 * k, 10 * k + 5] for k in range(12)])
    heels = PlantPlaces(np.array([[0, 120]]), np.zeros((1, 3)))
    toes = PlantPlaces(taps, np.tile([0.0, 0.0, 0.2], (12, 1)))
    agree(heels, toes, np.tile([0.0, -0.05, 0.15], (120, 1)))
    np.testing.assert_allclose(np.linalg.norm(toes.spots - heels.spots, axis=1), 0.15, atol=1e-6)
    assert np.abs(heels.spots).max() < 0.06


def test_heel_and_toe_of_one_foot_agree_on_its_length() -> None:
    heels = PlantPlaces(np.array([[0, 50], [80, 120]]), np.array([[0, 0.08, 0], [0.03, 0.08, 0.02]], float))
    toes = PlantPlaces(np.array([[10, 110], [200, 220]]), np.array([[0, 0.03, 0.2], [5, 0.03, 5]], float))
    agree(heels, toes, np.tile([0.09, -0.05, 0.12], (220, 1)))
    for heel in heels.spots:
        np.testing.assert_allclose(np.linalg.norm((toes.spots[0] - heel)[[0, 2]]), 0.15, atol=1e-4)
    np.testing.assert_array_equal(toes.spots[1], [5, 0.03, 5])
    np.testing.assert_array_equal(heels.spots[:, 1], 0.08)


def test_heights_of_places_do_not_move_heel_and_toe_apart() -> None:
    heels = PlantPlaces(np.array([[0, 50]]), np.array([[0, 0.13, 0]], float))
    toes = PlantPlaces(np.array([[10, 60]]), np.array([[0, 0.02, 0.08]], float))
    agree(heels, toes, np.tile([0.0, -0.12, 0.08], (60, 1)))  # a toe's place is a centimetre too high
    np.testing.assert_array_equal(heels.spots[0], [0, 0.13, 0])
    np.testing.assert_array_equal(toes.spots[0], [0, 0.02, 0.08])


def test_slide_is_zero_for_feet_that_stand(walking: Clip) -> None:
    assert foot_slide(walking) < 0.006
    slid = walking.with_frames(walking.root_pos * (1.0, 1.0, 1.06), walking.local_rot)
    assert foot_slide(slid) > 2.5 * foot_slide(walking)
    nowhere = walking.with_contacts(np.zeros_like(walking.contacts))
    assert foot_slide(nowhere) == 0


def test_planted_feet_are_as_fast_as_they_are_dragged(walking: Clip) -> None:
    still = walking[:60]
    still = still.with_frames(np.repeat(still.root_pos[:1], 60, axis=0), np.repeat(still.local_rot[:1], 60, axis=0))
    still = still.with_contacts(np.ones((60, len(still.skeleton.feet)), bool))
    assert plant_speed(still) == 0
    root = still.root_pos + np.arange(60)[:, None] / still.fps * [0.3, 0.7, 0.4]
    np.testing.assert_allclose(plant_speed(still.with_frames(root, still.local_rot)), 0.5, rtol=1e-6)
    assert plant_speed(still.with_contacts(np.zeros_like(still.contacts))) == 0


def test_feet_that_are_let_go_for_long_are_said_to_slide(walking: Clip) -> None:
    """A foot that is let go between two plants is none; nobody on the floor where somebody stood is."""
    assert walking.contacts is not None
    raw = walking.with_contacts(np.ones_like(walking.contacts))
    held = np.ones_like(walking.contacts)
    held[60:66] = False
    held[100:, 0] = False
    progress = PathProgress(np.linspace(0.0, 5.0, len(raw)), np.zeros(len(raw)))
    assert longest_slide(raw, raw.with_contacts(held)) == (60, 66)
    assert not list(feet_unplanted(raw.with_contacts(held), raw, progress.along))
    held[80:120] = False
    (problem,) = feet_unplanted(raw.with_contacts(held), raw, progress.along)
    assert problem.where == "path" and problem.got == pytest.approx(40 / raw.fps, abs=1e-3)
    assert longest_slide(raw, raw) == (0, 0)


def test_gaps_are_filled_as_the_plain_twin_does(rng: np.random.Generator) -> None:
    for share in (0.0, 0.1, 0.5, 0.9, 1.0):
        values, known = rng.normal(size=(60, 3)), rng.uniform(size=60) < share
        ease = rng.uniform(2.0, 12.0, size=60)
        found = _compiled_feet.fill_gaps(values, known, ease, 3)
        np.testing.assert_allclose(found, fill_gaps_numpy(values, known, ease, 3), atol=1e-14)


def test_heels_and_toes_agree_as_the_plain_twin_has_them(rng: np.random.Generator) -> None:
    pairs = np.array([[0, 0], [0, 1], [1, 1], [2, 3]])
    places, shares = rng.normal(size=(2, 4, 3)), rng.uniform(0.5, 1.0, (4, 2))
    found, wanted = places.copy(), places.copy()
    _compiled_feet.agree(found[0], found[1], pairs, np.full(4, 0.15), shares)
    agree_numpy(wanted[0], wanted[1], pairs, np.full(4, 0.15), shares)
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    assert np.abs(found - places).max() > 0.1
