from __future__ import annotations

import numpy as np
import pytest

from choreograph.base.errors import FormatError, RequestError
from choreograph.verbs.perform.recorder import TrajectoryRecorder


def heading_of(points: np.ndarray) -> np.ndarray:
    across = points[:, 0] - points[:, 1]
    return np.unwrap(np.arctan2(-across[:, 2], across[:, 0]))


def record(hand: TrajectoryRecorder, samples) -> np.ndarray:
    told = [hand.push(*sample) for sample in samples]
    return np.concatenate([*told, hand.finish()])


def bend(t: float) -> tuple[float, float, float]:
    return t, 2 * np.sin(0.6 * t), 2 * (1 - np.cos(0.6 * t))


def test_what_is_told_live_is_what_the_whole_way_is():
    times = np.cumsum(np.random.default_rng(1).uniform(0.02, 0.05, 400))
    hand = TrajectoryRecorder(smooth_s=0.15)
    points = record(hand, [bend(float(t)) for t in times])
    whole = hand.trajectory().smoothed(0.15).points()
    assert len(points) == len(whole)
    assert np.abs(points.mean(axis=1) - whole.mean(axis=1))[20:-20].max() < 0.002
    # Headings are a little late in a bend, which is not known before it is drawn.
    assert np.abs(heading_of(points) - heading_of(whole)).max() < 0.12


def test_points_come_a_fixed_delay_after_their_place():
    hand = TrajectoryRecorder()
    told = 0
    for k in range(200):
        told += len(hand.push(*bend(k / 30)))
        assert told == max(0, k + 1 - round(hand.delay_s * 30))
    assert hand.delay_s == pytest.approx(0.4) and hand.speed == pytest.approx(1.2, abs=0.05)


@pytest.mark.parametrize("silent", [True, False])
def test_a_hand_that_rests_keeps_its_heading(silent: bool):
    """Along +x for three seconds, six of rest with a tremble or without a word, then on along +x."""
    rng = np.random.default_rng(2)
    samples = []
    for k in range(360):
        t = k / 30
        x = 1.2 * min(t, 3) + 1.2 * max(t - 9, 0)
        resting = 3 < t < 9
        if resting and silent:
            continue
        samples.append((t, x + resting * rng.normal(0, 0.0005), resting * rng.normal(0, 0.0005)))
    points = record(TrajectoryRecorder(), samples)
    assert np.isfinite(points).all()
    assert np.abs(heading_of(points) - np.pi / 2).max() < 0.15
    middle = points.mean(axis=1)
    assert middle[120:260, 0] == pytest.approx(3.6, abs=0.02)


def test_turning_about_after_a_rest_is_a_turn():
    samples = [(k / 30, 0.0, 1.2 * (min(k / 30, 3) - max(k / 30 - 5, 0))) for k in range(240)]
    heading = heading_of(record(TrajectoryRecorder(), samples))
    assert abs(heading[30]) < 0.1 and abs(abs(heading[-1]) - np.pi) < 0.1
    assert np.abs(np.diff(heading)).max() < 0.4


def test_bad_places_get_a_sentence():
    hand = TrajectoryRecorder()
    hand.push(0.0, 0.0, 0.0)
    with pytest.raises(RequestError, match="time goes on"):
        hand.push(0.0, 1.0, 1.0)
    with pytest.raises(RequestError, match="metres"):
        hand.push(0.1, 1e7, 0.0)
    assert len(hand.push(0.2, float("nan"), 0.0)) == 0
    with pytest.raises(FormatError, match="two or more"):
        hand.trajectory()
    with pytest.raises(RequestError, match="smoothed"):
        TrajectoryRecorder(smooth_s=-1)
    assert len(TrajectoryRecorder().finish()) == 0
