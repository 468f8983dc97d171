"""How fast a finished motion glides, against what was done to it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from choreograph.base.floor import FloorTransform
from choreograph.demo import demo_clip
from choreograph.finishing.body import RootTarget, glide_speed
from choreograph.finishing.finish import finish
from choreograph.finishing.settings import FinishSettings
from choreograph.motion.clip import Clip
from choreograph.motion.montage import Montage

NEVER = np.zeros(0)


def pushed(clip: Clip, metres: np.ndarray) -> Clip:
    """The motion, each frame so much farther along z, as it walks."""
    return replace(clip, root_pos=clip.root_pos + metres[:, None] * np.array([0.0, 0.0, 1.0]))


def test_a_body_that_is_pushed_along_glides_as_fast_as_it_is_pushed() -> None:
    clip = demo_clip("walk")
    seconds = np.arange(len(clip)) / clip.fps
    assert glide_speed(pushed(clip, 0.12 * seconds), clip, NEVER) == pytest.approx(0.12)
    assert glide_speed(pushed(clip, -0.2 * np.clip(seconds - 1, 0, 0.5)), clip, NEVER) == pytest.approx(0.2, abs=0.001)


def test_a_motion_laid_elsewhere_does_not_glide() -> None:
    clip = demo_clip("walk")
    assert glide_speed(clip.moved(FloorTransform(2.0, 3.0, -1.0)), clip, NEVER) == pytest.approx(0.0, abs=1e-9)


def test_what_a_cut_moves_is_no_glide() -> None:
    clip = demo_clip("walk")
    seconds = np.arange(len(clip)) / clip.fps
    smoothed = pushed(clip, 0.1 * np.clip((seconds - 0.9) / 0.2, 0, 1))
    assert glide_speed(smoothed, clip, NEVER) == pytest.approx(0.2, abs=0.01)
    assert glide_speed(smoothed, clip, np.array([1.0])) == pytest.approx(0.0, abs=1e-9)


def test_a_motion_shorter_than_half_a_second_has_no_time_to_glide() -> None:
    clip = demo_clip("walk")[:10]
    assert glide_speed(clip, clip, NEVER) == 0.0


def test_a_finished_motion_says_how_fast_it_went_in_the_end() -> None:
    walk = demo_clip("walk")
    last_s = (len(walk) - 1) / walk.fps
    hips = walk.global_positions()[[0, -1], walk.skeleton.hips]
    body = [RootTarget(0.0, (hips[0, 0], hips[0, 2])), RootTarget(last_s, (hips[1, 0], hips[1, 2] + 0.2 * last_s))]
    settings = FinishSettings(bend_body=False, root_correction_m_s=0.2, clean=False)
    assert finish(Montage.of_clip(walk), settings, body=body).glide_m_s == pytest.approx(0.2, abs=0.02)
