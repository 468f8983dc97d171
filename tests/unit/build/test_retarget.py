from __future__ import annotations

import numpy as np
import pytest

from choreograph.base import quat
from choreograph.base.errors import RoleError
from choreograph.demo import demo_clip
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import runs, with_detected_contacts
from choreograph.motion.retarget import retarget
from choreograph.motion.skeleton import Skeleton


def other_person(skeleton: Skeleton) -> Skeleton:
    """Shorter thighs, longer shins, wider hips, a longer foot."""
    offsets = np.array(skeleton.offsets)
    for side in ("left", "right"):
        parts = {"upper_leg": (1.3, 1.0, 1.0), "lower_leg": 0.9, "foot": 1.05, "toe": 1.2}
        for part, factor in parts.items():
            offsets[skeleton.need(f"{side}_{part}")] *= factor
    return Skeleton(skeleton.names, skeleton.parents, offsets, skeleton.tip_parents, skeleton.tip_offsets)


def hip_width(skeleton: Skeleton) -> float:
    rest = skeleton.rest_positions()
    return abs(float(rest[skeleton.need("left_upper_leg"), 0] - rest[skeleton.need("right_upper_leg"), 0]))


def test_a_clip_of_the_same_skeleton_is_left_alone(walker):
    clip = walker.walk("walk")
    assert retarget(clip, walker.skeleton()) is clip


def test_a_scaled_person_makes_scaled_steps_with_the_same_rotations(walker):
    clip = walker.walk("walk")
    carried = retarget(clip, walker.skeleton(0.8))
    assert np.allclose(carried.global_positions(), 0.8 * clip.global_positions(), atol=1e-6)
    assert np.degrees(quat.angle_between(carried.local_rot, clip.local_rot)).max() < 0.01


def test_standing_feet_are_where_they_were_and_as_much_wider_as_the_hips() -> None:
    clip = with_detected_contacts(demo_clip("walk", 60.0))
    person = other_person(clip.skeleton)
    carried = retarget(clip, person)
    scale = person.leg_length / clip.skeleton.leg_length
    wider = 0.5 * (hip_width(person) - scale * hip_width(clip.skeleton))
    assert carried.skeleton is person and clip.contacts is not None and wider > 0.02
    for side, sign in (("left", 1.0), ("right", -1.0)):
        ankle, toe = person.need(f"{side}_foot"), person.need(f"{side}_toe")
        gap = carried.global_positions()[:, ankle] - scale * clip.global_positions()[:, ankle]
        heel = clip.contacts[:, clip.skeleton.feet.index(ankle)]
        assert np.abs(gap[heel, 0] - sign * wider).max() < 0.002  # it walks along z
        for start, stop in runs(heel):
            assert np.ptp(gap[start:stop, [0, 2]], axis=0).max() < 0.002
        assert np.abs(gap - gap[heel].mean(axis=0)).max() < 0.02, "while it swings, too"
        wanted = scale * clip.global_positions()[:, toe, 1]
        down = wanted <= np.quantile(wanted, 0.25)
        assert abs((carried.global_positions()[:, toe, 1] - wanted)[down].mean()) < 0.001
    upper = [j for j, role in enumerate(person.roles) if role in ("spine", "neck", "head", "left_hand")]
    turned = quat.angle_between(carried.global_rotations()[:, upper], clip.global_rotations()[:, upper])
    assert turned.max() < 1e-6
    legs = [person.need(f"left_{part}") for part in ("upper_leg", "lower_leg", "foot")]
    bones = np.linalg.norm(np.diff(carried.global_positions()[:, legs], axis=1), axis=2)
    assert np.allclose(bones, person.bone_lengths[legs[1:]])


def test_motion_stays_smooth() -> None:
    clip = demo_clip("walk", 120.0)
    carried = retarget(clip, other_person(clip.skeleton))

    def jolt(c: Clip) -> float:
        return float(np.abs(np.diff(c.global_positions(), n=2, axis=0)).max())

    # Its knees come within 7 degrees of straight, where a millimetre of reach is a degree.
    assert jolt(carried) < 3 * jolt(clip)


def test_a_body_without_legs_is_refused(walker):
    clip = walker.walk("walk")
    few = Skeleton(walker.names[:3], walker.parents[:3], walker.offsets[:3])
    with pytest.raises(RoleError, match="no legs found in the character"):
        retarget(clip, few)
