from __future__ import annotations

import numpy as np
import pytest

from choreograph.errors import RoleError
from choreograph.maths import quat
from choreograph.motion.clip import Clip
from choreograph.motion.retarget import retarget
from choreograph.motion.skeleton import Skeleton


@pytest.fixture
def other_person(walker) -> Skeleton:
    """Shorter thighs, longer shins, wider hips, a longer foot."""
    offsets = np.array(walker.offsets)
    for side in (3, 7):
        offsets[side, 0] *= 1.3
        offsets[side + 1] *= 0.85
        offsets[side + 2] *= 1.05
        offsets[side + 3] *= 1.2
    return Skeleton(walker.names, walker.parents, offsets)


def test_a_clip_of_the_same_skeleton_is_left_alone(walker):
    clip = walker.walk("walk")
    assert retarget(clip, walker.skeleton()) is clip


def test_a_scaled_person_makes_scaled_steps_with_the_same_rotations(walker):
    clip = walker.walk("walk")
    carried = retarget(clip, walker.skeleton(0.8))
    assert np.allclose(carried.global_positions(), 0.8 * clip.global_positions(), atol=1e-6)
    assert np.degrees(quat.angle_between(carried.local_rot, clip.local_rot)).max() < 0.01


def test_feet_keep_to_the_scaled_path_and_height_of_the_recording(walker, other_person):
    clip, person = walker.walk("walk", 4.0, swing=0.4), other_person
    carried = retarget(clip, person)
    scale = person.leg_length / clip.skeleton.leg_length
    assert carried.skeleton is person
    for side in ("left", "right"):
        ankle, toe = person.need(f"{side}_foot"), person.need(f"{side}_toe")
        gap = carried.global_positions()[:, ankle] - scale * clip.global_positions()[:, ankle]
        assert np.abs(gap[:, [0, 2]]).max() < 0.002
        assert np.ptp(gap[:, 1]) < 0.002
        wanted = scale * clip.global_positions()[:, toe, 1]
        down = wanted <= np.quantile(wanted, 0.25)
        assert abs((carried.global_positions()[:, toe, 1] - wanted)[down].mean()) < 0.001
        turned = quat.angle_between(carried.global_rotations()[:, ankle], clip.global_rotations()[:, ankle])
        assert turned.max() < 1e-6
    upper = [person.index("Spine"), person.index("Head")]
    assert np.allclose(carried.local_rot[:, upper], clip.local_rot[:, upper])
    bones = np.linalg.norm(np.diff(carried.global_positions()[:, [3, 4, 5]], axis=1), axis=2)
    assert np.allclose(bones, person.bone_lengths[[4, 5]])


def test_motion_stays_smooth(walker, other_person):
    clip = walker.walk("walk", 4.0, fps=120.0, swing=0.4)
    carried = retarget(clip, other_person)

    def jolt(c: Clip) -> float:
        return float(np.abs(np.diff(c.global_positions(), n=2, axis=0)).max())

    assert jolt(carried) < 2 * jolt(clip)


def test_a_body_without_legs_is_refused(walker):
    clip = walker.walk("walk")
    few = Skeleton(walker.names[:3], walker.parents[:3], walker.offsets[:3])
    with pytest.raises(RoleError, match="no legs found in the character"):
        retarget(clip, few)
