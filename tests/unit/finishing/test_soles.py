"""Feet of one piece do not dip into the floor."""

from __future__ import annotations

import numpy as np

from choreograph.demo import demo_clip
from choreograph.finishing.footskate import clean_feet
from choreograph.finishing.retarget_clean import put_on
from choreograph.finishing.soles import keep_soles_up
from choreograph.motion.clip import Clip
from choreograph.motion.role_map import SIDES
from choreograph.motion.skeleton import Skeleton

WALK = demo_clip("walk", 60.0)


def _without_balls() -> Skeleton:
    """The demo's body whose feet are of one piece, and as long as a shoe."""
    body = WALK.skeleton
    kept = [j for j, role in enumerate(body.roles) if not role.endswith("_toe")]
    feet = [kept.index(body.need(f"{side}_foot")) for side in SIDES]
    parents = [kept.index(body.parents[j]) if j else -1 for j in kept]
    tips = np.tile([0.0, -0.08, 0.2], (2, 1))
    names, roles = tuple(body.names[j] for j in kept), tuple(body.roles[j] for j in kept)
    return Skeleton(names, np.array(parents, np.int32), body.offsets[kept], np.array(feet, np.int32), tips, roles)


def _fronts(clip: Clip) -> np.ndarray:
    """Heights of the feet's ends, (F, 2)."""
    return np.asarray(clip.tip_positions()[..., 1])


def test_a_heel_that_rises_tips_the_foot_over_its_front() -> None:
    body = _without_balls()
    raw = put_on(WALK, body).raw
    dipping = clean_feet(raw)
    kept = keep_soles_up(dipping)
    stands = np.median(_fronts(kept)[np.asarray(kept.contacts)])
    assert _fronts(dipping).min() < stands - 0.035, "there is something to do"
    assert _fronts(kept).min() > stands - 0.015
    ankles = [body.need(f"{side}_foot") for side in SIDES]
    np.testing.assert_allclose(kept.global_positions()[:, ankles], dipping.global_positions()[:, ankles], atol=1e-9)


def test_higher_and_lower_floors_are_floors() -> None:
    body = _without_balls()
    clip = clean_feet(put_on(WALK, body).raw)
    for height in (-0.4, 0.3):
        moved = keep_soles_up(clip.raised(height))
        np.testing.assert_allclose(moved.local_rot, keep_soles_up(clip).local_rot, atol=1e-9)


def test_feet_with_balls_are_left_alone() -> None:
    assert keep_soles_up(WALK) is WALK
