"""Planting by itself: a foot that the pose drags along is put down, rolled, and carried over smoothly."""

from __future__ import annotations

import numpy as np
import pytest

from choreograph.base import quat
from choreograph.base.arrays import Floats
from choreograph.demo.body import ANKLE_HEIGHT, TOE, TOE_HEIGHT
from choreograph.demo.contact_phases import FAR, ContactPhase
from choreograph.demo.planting import FootTrack, plant_foot, sole_height

FPS = 200.0
TIMES = np.arange(0, 3, 1 / FPS)
STANCES = [ContactPhase(-FAR, -FAR, 0.8, 1.0), ContactPhase(1.5, 1.6, FAR, FAR)]


def sloppy_foot() -> tuple[Floats, Floats]:
    """Ankle and rotation of a foot that slides slowly, swings 70 cm ahead, and pitches toe up, then heel up."""
    step = np.clip((TIMES - 0.9) / 0.7, 0, 1)
    step = step**3 * (step * (6 * step - 15) + 10)
    ankle = np.stack([0.1 + 0.01 * TIMES, ANKLE_HEIGHT + 0.12 * np.sin(np.pi * step), 0.05 * TIMES + 0.7 * step], 1)
    pitch = 0.7 * np.exp(-(((TIMES - 1.05) / 0.15) ** 2)) - 0.4 * np.exp(-(((TIMES - 1.5) / 0.12) ** 2))
    return ankle, quat.multiply(quat.from_yaw(np.full(len(TIMES), 0.3)), quat.from_axis_angle((1.0, 0, 0), pitch))


@pytest.fixture(scope="module")
def track() -> FootTrack:
    ankle, rot = sloppy_foot()
    nothing = np.zeros(len(TIMES))
    return plant_foot(TIMES, STANCES, ankle, rot, nothing, nothing, nothing, nothing)


def ball_of(track: FootTrack) -> Floats:
    return np.asarray(track.ankle_pos + quat.rotate(track.foot_rot, TOE))


def test_ankle_and_ball_stand_still_while_they_are_down(track: FootTrack) -> None:
    for part, down in ((track.ankle_pos, track.heel_down), (ball_of(track), track.toe_down)):
        for side in (TIMES < 1.2, TIMES > 1.2):
            assert (down & side).sum() > 50
            assert np.ptp(part[down & side], axis=0).max() < 1e-12
    np.testing.assert_allclose(track.ankle_pos[track.heel_down, 1], ANKLE_HEIGHT, atol=1e-12)
    np.testing.assert_allclose(ball_of(track)[track.toe_down, 1], TOE_HEIGHT, atol=1e-12)


def test_the_heel_rises_before_the_toes_and_lands_before_them(track: FootTrack) -> None:
    assert not track.heel_down[np.searchsorted(TIMES, 0.95)] and track.toe_down[np.searchsorted(TIMES, 0.95)]
    landing = np.searchsorted(TIMES, 1.53)
    assert not track.toe_down[landing]
    ahead = quat.rotate(track.foot_rot[landing], (0.0, 0.0, 1.0))
    assert ahead[1] > 0.05


def test_the_toes_stay_level_while_the_heel_is_up(track: FootTrack) -> None:
    rolling = (TIMES > 0.85) & (TIMES < 1.0)
    toes = quat.multiply(track.foot_rot, quat.from_axis_angle((1.0, 0.0, 0.0), track.toe_pitch))
    assert np.abs(quat.rotate(toes[rolling], (0.0, 0.0, 1.0))[:, 1]).max() < 1e-9


def test_it_is_smooth_and_above_the_floor(track: FootTrack) -> None:
    assert sole_height(track.ankle_pos, track.foot_rot, track.toe_pitch).min() > -1e-9
    raw, _ = sloppy_foot()
    speed = np.abs(np.diff(track.ankle_pos, axis=0)).max() * FPS
    assert speed < 2 * np.abs(np.diff(raw, axis=0)).max() * FPS
    # A leap of a millimetre between two frames would be 40 m/s².
    assert np.linalg.norm(np.diff(track.ankle_pos, 2, axis=0), axis=1).max() * FPS**2 < 80


def test_it_lands_where_the_pose_wanted_it_on_average(track: FootTrack) -> None:
    raw, _ = sloppy_foot()
    flat = TIMES > 1.6
    gap = track.ankle_pos[flat].mean(axis=0) - raw[flat].mean(axis=0)
    assert np.linalg.norm(gap[[0, 2]]) < 0.01


def test_a_low_swing_is_lifted() -> None:
    ankle, rot = sloppy_foot()
    ankle[:, 1] = ANKLE_HEIGHT - 0.02
    nothing = np.zeros(len(TIMES))
    made = plant_foot(TIMES, STANCES, ankle, rot, nothing, nothing, nothing, nothing)
    middle = (TIMES > 1.12) & (TIMES < 1.38)
    assert sole_height(made.ankle_pos, made.foot_rot, made.toe_pitch)[middle].min() > 0.008
