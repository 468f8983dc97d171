from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from choreograph.errors import RequestError
from choreograph.finishing.hand_contacts import find_holds, grip_goals, grips, hold_hands
from choreograph.finishing.performed import PerformedSettings, finish_performance, repair_flips
from choreograph.maths import quat
from choreograph.motion.clip import Clip
from choreograph.synthesis.perform.control import control_from_clip
from choreograph.synthesis.perform.examples import build_segments, pair_up
from choreograph.synthesis.perform.program import find_segments


def test_holds_are_found_where_hands_meet(couple: tuple[Clip, Clip]):
    leader, follower = couple
    held = find_holds(leader, follower).held
    assert held[50:100, 0, 1].all()
    assert not held[:30].any() and not held[120:].any()
    assert not held[:, 1].any() and not held[:, 0, 0].any()


def test_hands_are_brought_together_without_a_leap(couple: tuple[Clip, Clip]):
    leader, follower = couple
    holds = find_holds(leader, follower)
    # The follower stands a little off from where it was recorded.
    off = follower.with_frames(follower.root_pos + np.array([0.06, 0.0, 0.05]), follower.local_rot)
    made, kept = hold_hands(off, leader, holds)
    grip = grips(made.skeleton)[0]
    goal = grip_goals(leader, holds)[:, 0, 1]
    frames = kept.held[:, 0, 1]
    assert frames.sum() > 20
    before = np.linalg.norm(off.global_positions()[:, grip] - goal, axis=1)[frames]
    after = np.linalg.norm(made.global_positions()[:, grip] - goal, axis=1)[frames]
    assert before.min() > 0.05 and after.max() < 0.02
    step = np.linalg.norm(np.diff(made.global_positions()[:, grip] - off.global_positions()[:, grip], axis=0), axis=1)
    assert step.max() < 0.03
    assert np.abs((made.global_rotations() * off.global_rotations()).sum(axis=-1))[:, grip] == pytest.approx(1.0)
    legs = [made.skeleton.need("left_foot"), made.skeleton.need("right_foot")]
    assert made.global_positions()[:, legs] == pytest.approx(off.global_positions()[:, legs], abs=1e-9)


def test_a_hand_out_of_reach_is_let_go(couple: tuple[Clip, Clip]):
    leader, follower = couple
    far = follower.with_frames(follower.root_pos + np.array([3.0, 0.0, 0.0]), follower.local_rot)
    made, kept = hold_hands(far, leader, find_holds(leader, follower))
    assert not kept.held.any()
    assert made.global_positions() == pytest.approx(far.global_positions(), abs=1e-9)


def test_a_recording_performed_is_the_recording(couple: tuple[Clip, Clip]):
    leader, follower = couple
    base = build_segments([pair_up(leader, follower)], cut_at=[[0.0, 0.8, 1.6, 2.4, 3.2, 4.0, 4.8]])
    control = control_from_clip(leader[: round(4.8 * 30) + 1], base)
    found = find_segments(base, control)
    assert [p.segment for p in found.pieces] == list(range(6))
    made = finish_performance(found, PerformedSettings(clean=False, hold=False))
    assert len(made.clip) == len(control.points)
    assert made.clip.global_positions() == pytest.approx(follower.global_positions()[: len(made.clip)], abs=1e-4)
    assert made.clip.contacts is not None and made.clip.contacts.dtype == bool
    held = finish_performance(found, PerformedSettings(clean=False))
    assert held.holds is not None and held.holds.held[55:95, 0, 1].all()
    assert held.clip.global_positions() == pytest.approx(made.clip.global_positions(), abs=2e-3)


def test_pieces_that_do_not_meet_are_blended(couple: tuple[Clip, Clip]):
    leader, follower = couple
    base = build_segments([pair_up(leader, follower)], cut_at=[[0.0, 0.8, 1.6, 2.4, 3.2]])
    found = find_segments(base, control_from_clip(leader[:97], base))
    shifted = tuple(
        replace(p, placement=replace(p.placement, x=p.placement.x + 0.1 * (k % 2))) for k, p in enumerate(found.pieces)
    )
    found = replace(found, pieces=shifted)

    def steps(blend_s: float) -> float:
        clip = finish_performance(found, PerformedSettings(blend_s, clean=False, hold=False)).clip
        return float(np.abs(np.diff(clip.root_pos[:, 0])).max())

    calm = float(np.abs(np.diff(follower.root_pos[:97, 0])).max())
    assert steps(0.0) > 0.05
    assert steps(0.4) < calm + 0.03
    with pytest.raises(RequestError, match="blend_s"):
        PerformedSettings(-1.0)


def test_flips_are_spread_and_the_rest_is_left_alone(human: Clip):
    rot = np.array(human.local_rot)
    assert repair_flips(rot, 60.0) == pytest.approx(quat.make_continuous(rot), abs=1e-12)
    hand = human.skeleton.need("left_hand")
    flipped = np.array(rot)
    flipped[20:, hand] = quat.multiply(rot[20:, hand], quat.from_rotvec(np.array([3.0, 0.0, 0.0])))
    mended = repair_flips(quat.make_continuous(flipped), 60.0)
    step = np.linalg.norm(quat.as_rotvec(quat.multiply(quat.inverse(mended[:-1]), mended[1:])), axis=-1)
    assert step.max() < 0.5
    others = [j for j in range(len(human.skeleton)) if j != hand]
    assert mended[:, others] == pytest.approx(quat.make_continuous(flipped)[:, others], abs=1e-12)
    assert np.abs((mended[[0, 10, 30, 39], hand] * flipped[[0, 10, 30, 39], hand]).sum(axis=1)) == pytest.approx(1)
