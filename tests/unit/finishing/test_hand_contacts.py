from __future__ import annotations

import numpy as np
import pytest

from choreograph.finishing.hand_contacts import find_hand_contacts, grip_goals, grips, hold_hands
from choreograph.motion.clip import Clip


def test_contacts_are_found_where_hands_meet(couple: tuple[Clip, Clip]):
    leader, follower = couple
    held = find_hand_contacts(leader, follower).held
    assert held[50:100, 0, 1].all()
    assert not held[:30].any() and not held[120:].any()
    assert not held[:, 1].any() and not held[:, 0, 0].any()


def test_hands_are_brought_together_without_a_leap(couple: tuple[Clip, Clip]):
    leader, follower = couple
    contacts = find_hand_contacts(leader, follower)
    # The follower stands a little off from where it was recorded.
    off = follower.with_frames(follower.root_pos + np.array([0.06, 0.0, 0.05]), follower.local_rot)
    made, kept = hold_hands(off, leader, contacts)
    grip = grips(made.skeleton)[0]
    goal = grip_goals(leader, contacts)[:, 0, 1]
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
    made, kept = hold_hands(far, leader, find_hand_contacts(leader, follower))
    assert not kept.held.any()
    assert made.global_positions() == pytest.approx(far.global_positions(), abs=1e-9)
