"""The demo skeleton is a person, and its centre of mass is where a person's is."""

from __future__ import annotations

import numpy as np
import pytest

from choreograph.base import quat
from choreograph.demo import centre_of_mass, demo_skeleton
from choreograph.demo.body import ANKLE_HEIGHT, TOE_HEIGHT


def test_it_is_175_cm_tall_and_stands_on_its_soles() -> None:
    skeleton = demo_skeleton()
    points = skeleton.rest_positions() + skeleton.offsets[0]
    top = points[skeleton.index("Head"), 1] + skeleton.tip_offsets[:, 1].max()
    assert top == pytest.approx(1.75, abs=0.005)
    assert points[skeleton.index("LeftFoot"), 1] == pytest.approx(ANKLE_HEIGHT)
    assert points[skeleton.index("LeftToeBase"), 1] == pytest.approx(TOE_HEIGHT)


def test_every_joint_has_a_role_and_a_twin() -> None:
    skeleton = demo_skeleton()
    assert "other" not in skeleton.roles
    assert [skeleton.names[j] for j in skeleton.feet] == ["LeftFoot", "LeftToeBase", "RightFoot", "RightToeBase"]
    for j, name in enumerate(skeleton.names):
        twin = skeleton.names[skeleton.mirror_pairs[j]]
        assert twin == name.replace("Left", "*").replace("Right", "Left").replace("*", "Right")


def test_the_centre_of_mass_lies_in_the_belly_and_moves_with_the_body() -> None:
    skeleton = demo_skeleton()
    pos = (skeleton.rest_positions() + skeleton.offsets[0])[None]
    rot = np.broadcast_to(quat.IDENTITY, (1, len(skeleton), 4))
    centre = centre_of_mass(pos, rot)
    assert abs(centre[0, 0]) < 1e-12
    # Arms out, about 57 % of stature.
    assert 0.55 < centre[0, 1] / 1.75 < 0.62
    shift = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(centre_of_mass(pos + shift, rot), centre + shift)
