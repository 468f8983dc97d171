"""Steps between keyframes at which a foot stands in two places."""

from __future__ import annotations

import numpy as np
import pytest

from choreograph.demo import demo_clip
from choreograph.motion.clip import Clip
from choreograph.verbs.complete.steps import APART_M, take_steps


@pytest.fixture(scope="module")
def glides() -> Clip:
    """Somebody who stands and glides 20 cm sideways within 2 s."""
    pose = demo_clip("stand", 30.0)[0:1]
    root = np.repeat(pose.root_pos, 61, axis=0)
    root[:, 0] += 0.2 * np.linspace(0.0, 1.0, 61) ** 1.5
    return Clip(pose.skeleton, 30.0, root, np.repeat(pose.local_rot, 61, axis=0))


def _standing(clip: Clip) -> np.ndarray:
    return np.ones((len(clip), len(clip.skeleton.feet)), bool)


def test_feet_that_glide_between_keyframes_step_one_after_the_other(glides: Clip) -> None:
    made, stands = take_steps(glides, _standing(glides), ~_standing(glides), [0, 60])
    feet, pos = list(glides.skeleton.feet), glides.global_positions()
    assert {target.joints[0] for target in made} == set(feet)
    assert stands.any(axis=1).all(), "one foot stands at any time"
    assert stands[:3].all() and stands[-3:].all(), "keyframes keep their feet"
    for target in made:
        joint = target.joints[0]
        away = ~stands[:, feet.index(joint)]
        at = np.flatnonzero(away)
        assert at[0] == round(target.start_s * 30) and at[-1] == round(target.end_s * 30)
        np.testing.assert_allclose(target.values[[0, -1]], pos[[0, 60], joint], atol=1e-9)
        assert target.values[:, 1].max() > pos[0, joint, 1] + 0.04


def test_feet_that_stay_where_they_are_take_no_steps(glides: Clip) -> None:
    near = int(np.searchsorted(glides.root_pos[:, 0] - glides.root_pos[0, 0], 0.8 * APART_M)) - 1
    made, stands = take_steps(glides, _standing(glides), ~_standing(glides), [0, near])
    assert not made and stands.all()


def test_a_foot_that_is_lifted_in_between_or_alone_takes_none(glides: Clip) -> None:
    lifted = _standing(glides)
    lifted[20:30] = False
    assert take_steps(glides, lifted, ~_standing(glides), [0, 60])[0] == []
    alone = _standing(glides)
    sides = [glides.skeleton.roles[joint].startswith("left") for joint in glides.skeleton.feet]
    alone[:, sides] = False
    assert take_steps(glides, alone, ~_standing(glides), [0, 60])[0] == [], "nothing else would hold the body"


def test_feet_that_are_asked_to_stand_do_not_step(glides: Clip) -> None:
    assert take_steps(glides, _standing(glides), _standing(glides), [0, 60])[0] == []
