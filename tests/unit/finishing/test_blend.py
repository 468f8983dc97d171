from __future__ import annotations

import numpy as np
import pytest

from choreograph.errors import RequestError, RoleError
from choreograph.finishing.blend import KINDS, PRESETS, BlendSettings, blend_weight, joint_blend_weights

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
    settings = BlendSettings("anticipation", "arms first", {"right_foot": 0.5, "root": 3.0})
    weights = joint_blend_weights(np.array([0.5]), roles, settings)[0]
    expected = [blend_weight(np.array([0.5]), "anticipation", c)[0] for c in (3.0, 1.0, 2.0, 0.5)]
    np.testing.assert_allclose(weights, expected)
    parts = BlendSettings("anticipation", exponents={"foot": 2.0})
    assert parts.exponent("left_foot") == 2.0
    assert parts.exponent("left_toe") == 1.0


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_names_real_parts(preset: str) -> None:
    BlendSettings("anticipation", exponents=PRESETS[preset])


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(RequestError, match=r"no blend is called 'fast'; there are linear"):
        BlendSettings("fast")
    with pytest.raises(RequestError, match="no blend preset"):
        BlendSettings("anticipation", "hands up")
    with pytest.raises(RequestError, match="the same for all joints"):
        BlendSettings("cubic", "arms first")
    with pytest.raises(RoleError, match="'tail'"):
        BlendSettings("anticipation", exponents={"tail": 2.0})
    with pytest.raises(RequestError, match=r"between 0\.05 and 20"):
        BlendSettings("anticipation", exponents={"foot": 0.0})
