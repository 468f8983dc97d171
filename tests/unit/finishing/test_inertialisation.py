"""Batches of motion that do not fit each other are led over, and feet that stand stay where they were shown to."""

from __future__ import annotations

import numpy as np
import pytest

from choreograph.base import quat
from choreograph.base.floor import FloorTransform
from choreograph.demo import demo_clip
from choreograph.finishing.foot_contacts import foot_slide
from choreograph.finishing.footskate import clean_feet
from choreograph.finishing.inertialisation import Inertialisation, inertialise
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import runs

BATCH = 12


@pytest.fixture(scope="module")
def walk() -> Clip:
    return clean_feet(demo_clip("walk", 60.0))


def moved(clip: Clip, yaw: float, x: float, z: float) -> Clip:
    """Turned about where the root begins, and shifted."""
    place = FloorTransform(yaw, 0.0, 0.0)
    rot = np.array(clip.local_rot)
    rot[:, 0] = place.turn(rot[:, 0])
    begin = clip.root_pos[0] * (1.0, 0.0, 1.0)
    return clip.with_frames(place.apply(clip.root_pos - begin) + begin + (x, 0.0, z), quat.make_continuous(rot))


def hand_out(walk: Clip, *, feet: bool, off_m: float = 0.03) -> Clip:
    """A walk of which every batch comes out a little elsewhere than was expected."""
    rng = np.random.default_rng(5)
    handover, shown = Inertialisation(feet=feet), []
    for number in range(0, len(walk), BATCH):
        tail = moved(walk[number:], rng.normal(0, 0.02), *rng.normal(0, off_m, 2))
        shown.append(handover.take(number, tail, min(BATCH, len(tail))))
    root = np.concatenate([part.root_pos for part in shown])
    rot = np.concatenate([part.local_rot for part in shown])
    return walk.with_frames(root, quat.make_continuous(rot))


def test_standing_feet_do_not_slide_where_batches_meet(walk: Clip):
    kept, faded = (foot_slide(hand_out(walk, feet=feet)) for feet in (True, False))
    assert kept < foot_slide(walk) + 0.002
    assert faded > 3 * kept


def test_nothing_jumps_where_batches_meet(walk: Clip):
    made = hand_out(walk, feet=True)
    peaks = [np.linalg.norm(np.diff(clip.global_positions(), 2, axis=0), axis=-1).max() for clip in (made, walk)]
    assert peaks[0] < 1.3 * peaks[1]


def test_batches_that_fit_are_left_alone(walk: Clip):
    handover = Inertialisation(feet=True)
    parts = [handover.take(k, walk[k:], min(BATCH, len(walk) - k)) for k in range(0, len(walk), BATCH)]
    same = np.concatenate([part.global_positions() for part in parts])
    assert same == pytest.approx(walk.global_positions(), abs=1e-9)


def find_plant(walk: Clip) -> tuple[int, int, int]:
    """The left toe, and frames in which it stands: from the middle of a plant on."""
    assert walk.contacts is not None
    toe = walk.skeleton.need("left_toe")
    plants = runs(walk.contacts[:, walk.skeleton.feet.index(toe)])
    start, stop = next((a, b) for a, b in plants if a > 60 and b - a > 20)
    return toe, (start + stop) // 2, stop


def test_a_foot_stays_until_it_swings_and_then_comes_over(walk: Clip):
    toe, begin, stop = find_plant(walk)
    before, after = moved(walk[begin:], 0.1, 0.06, -0.04), walk[begin:]
    made = inertialise(before, after, feet=True)
    assert made.global_positions()[0] == pytest.approx(before.global_positions()[0], abs=1e-6)
    stays = made.global_positions()[: stop - begin, toe, ::2]
    recorded = walk.global_positions()[begin:stop, toe, ::2]
    assert np.ptp(stays, axis=0).max() < np.ptp(recorded, axis=0).max() + 0.002
    assert np.linalg.norm(stays[-1] - recorded[-1]) > 0.05
    assert made.global_positions()[-1] == pytest.approx(after.global_positions()[-1], abs=1e-6)


def test_an_ankle_is_not_twisted_to_keep_a_foot_as_it_was(walk: Clip):
    _, begin, _ = find_plant(walk)
    ankle, after = walk.skeleton.need("left_foot"), walk[begin:]
    made = inertialise(moved(after, 2.0, 0.0, 0.0), after, feet=True)
    off = quat.angle_between(made.global_rotations()[:, ankle], after.global_rotations()[:, ankle])
    assert off[0] == pytest.approx(2.0, abs=1e-6)
    assert off[round(0.3 * walk.fps) :].max() < 0.4


def test_without_feet_to_keep_the_motion_is_faded_over(walk: Clip):
    after = walk[100:]
    made = inertialise(moved(after, 0.1, 0.06, -0.04), after, feet=False)
    off = np.linalg.norm(made.root_pos - after.root_pos, axis=1)
    assert off[0] == pytest.approx(np.hypot(0.06, 0.04))
    assert off[round(0.3 * walk.fps) :].max() < 1e-9
