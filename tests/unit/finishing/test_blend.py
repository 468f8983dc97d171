from __future__ import annotations

import numpy as np
import pytest

from choreograph.base.errors import RequestError
from choreograph.finishing.blend import KINDS, PRESETS, blend_share, blend_weight, group_weights, joint_exponents
from choreograph.finishing.settings import FinishSettings

T = np.linspace(0, 1, 101)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("exponent", [0.5, 1.0, 2.0])
def test_weights_rise_from_the_leaving_motion_to_the_arriving_one(kind: str, exponent: float) -> None:
    weight = blend_weight(T, kind, exponent)
    assert weight[0] == 0
    assert weight[-1] == 1
    assert (np.diff(weight) > 0).all()


def test_cubic_starts_and_stops_at_rest_and_linear_does_not() -> None:
    assert blend_weight(np.array([0.001]), "cubic")[0] < 1e-5
    assert blend_weight(np.array([0.001]), "linear")[0] == pytest.approx(0.001)
    assert blend_weight(np.array([0.25]), "cubic")[0] == pytest.approx(3 / 16 - 2 / 64)


def test_anticipation_is_early_above_one_and_late_below() -> None:
    early, even, late = (blend_weight(T[1:-1], "anticipation", c) for c in (2.0, 1.0, 0.5))
    np.testing.assert_allclose(even, T[1:-1])
    assert (early > even).all()
    assert (late < even).all()
    assert blend_weight(np.array([0.5]), "anticipation", 2.0)[0] == pytest.approx(np.sqrt(0.75))


def test_presets_send_parts_ahead_and_own_exponents_count_first() -> None:
    roles = ("hips", "left_upper_arm", "right_foot")
    exponents = joint_exponents(roles, "arms first", {"right_foot": 0.5, "root": 3.0})
    weights, columns = group_weights(np.array([0.5]), "anticipation", exponents)
    expected = [blend_weight(np.array([0.5]), "anticipation", c)[0] for c in (3.0, 1.0, 2.0, 0.5)]
    np.testing.assert_allclose(weights[0, columns], expected)
    assert joint_exponents(("left_foot", "left_toe"), "even", {"foot": 2.0}).tolist() == [1.0, 2.0, 1.0]
    assert joint_exponents(("left_foot",), "even", {"foot": 2.0, "left_foot": 0.5}).tolist() == [1.0, 0.5]


def test_joints_that_blend_alike_share_a_column() -> None:
    exponents = np.array([1.0, 2.0, 1.0, 2.0, 1.0])
    weights, columns = group_weights(T, "anticipation", exponents)
    assert weights.shape == (len(T), 2) and columns.tolist() == [0, 1, 0, 1, 0]
    assert group_weights(T, "cubic", exponents)[0].shape == (len(T), 1)


def test_a_blend_lasts_until_no_joint_is_pushed_harder_than_allowed() -> None:
    window_s = np.full(3, 0.4)
    share = blend_share(np.array([0.001, 0.03, 0.3]), window_s, 5.0)
    assert share[0] * 0.4 == pytest.approx(0.1)  # alike, but not at once
    assert share[2] == 1.0  # at most the window
    lasts = share[1] * 0.4
    times = np.linspace(0, lasts, 1001)
    push = np.abs(np.diff(0.03 * blend_weight(times / lasts, "cubic"), n=2)).max() / (lasts / 1000) ** 2
    assert push == pytest.approx(5.0, rel=0.01)
    assert blend_share(np.array([0.001]), window_s[:1], 0.0).tolist() == [1.0]


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_names_real_parts(preset: str) -> None:
    FinishSettings("anticipation", exponents=PRESETS[preset])
    assert FinishSettings("anticipation", preset).preset == preset


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(RequestError, match=r"blend is 'fast'; it must be one of 'linear'"):
        FinishSettings("fast")
    with pytest.raises(RequestError, match=r"preset is 'hands up'; it must be one of 'even'"):
        FinishSettings("anticipation", "hands up")
    with pytest.raises(RequestError, match=r"preset is 'arms first'.* the same for all joints"):
        FinishSettings("cubic", "arms first")
    with pytest.raises(RequestError, match=r"exponents.*the same for all joints"):
        FinishSettings("linear", exponents={"foot": 2.0})
    with pytest.raises(RequestError, match=r"exponents\.tail.*'tail', which is no role"):
        FinishSettings("anticipation", exponents={"tail": 2.0})
    with pytest.raises(RequestError, match=r"exponents\.foot is 0"):
        FinishSettings("anticipation", exponents={"foot": 0.0})
