import numpy as np
import pytest

from choreograph.base.errors import RequestError, RoleError
from choreograph.features.weights import PARTS, PRESETS, joint_weights
from choreograph.motion.roles import ROLES


def test_default_weighs_feet_most_and_fingers_nothing():
    roles = ["hips", "left_upper_leg", "right_lower_leg", "left_foot", "right_toe", "left_forearm", "right_hand"]
    assert joint_weights([*roles, "left_fingers"]).tolist() == [1, 2, 2, 3, 3, 0.5, 0.25, 0]


def test_uniform_weighs_every_joint_alike():
    assert joint_weights(ROLES, "uniform").tolist() == [1.0] * len(ROLES)


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_names_known_parts_and_treats_both_sides_alike(preset):
    assert set(PRESETS[preset]) <= set(PARTS)
    left = [r for r in ROLES if r.startswith("left_")]
    right = [r.replace("left_", "right_") for r in left]
    np.testing.assert_array_equal(joint_weights([*left, "hips"], preset), joint_weights([*right, "hips"], preset))


def test_a_role_counts_before_its_part_and_the_rest_weighs_one():
    table = {"hand": 0.5, "left_hand": 4.0}
    assert joint_weights(["left_hand", "right_hand", "head"], table).tolist() == [4.0, 0.5, 1.0]


def test_unknown_names_are_answered_with_the_known_ones():
    with pytest.raises(RequestError, match="uniform"):
        joint_weights(["hips"], "unifrom")
    with pytest.raises(RoleError, match="upper_leg"):
        joint_weights(["hips"], {"thigh": 2.0})


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf])
def test_weights_outside_the_possible_are_refused(value):
    with pytest.raises(RequestError, match="from 0 up"):
        joint_weights(["hips"], {"hips": value})


def test_weights_that_leave_nothing_are_refused():
    with pytest.raises(RequestError, match="every joint weighs 0"):
        joint_weights(["left_fingers"])
