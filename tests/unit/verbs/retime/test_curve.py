from __future__ import annotations

import numpy as np
import pytest

from choreograph.base.errors import RequestError
from choreograph.verbs.retime.baselines import blend_warps, linear_warp, spline_warp
from choreograph.verbs.retime.curve import TimeWarp, smooth_path
from choreograph.verbs.retime.keys import KeyTime

KEYS = (KeyTime(0, 0.0), KeyTime(30, 0.4), KeyTime(60, 2.0), KeyTime(120, 3.0))


@pytest.mark.parametrize("make", [linear_warp, spline_warp])
def test_baselines_meet_their_keys_and_never_go_back(make) -> None:
    warp = make(KEYS, 120.0)
    frames, seconds = np.array(KEYS, float).T
    assert warp.frames_at(seconds) == pytest.approx(frames, abs=1e-9)
    times = np.linspace(0, 3, 2000)
    assert (np.diff(warp.frames_at(times)) >= 0).all()
    assert warp.frames_at([-1, 9]) == pytest.approx([0, 120])
    # The rate is the curve's slope, and seconds lead back.
    slope = np.gradient(warp.frames_at(times), times) / 120
    corners = np.abs(times[:, None] - seconds[None]).min(axis=1) > 0.02
    assert warp.rates_at(times)[corners] == pytest.approx(slope[corners], abs=0.02)
    assert warp.frames_at(warp.seconds_at([5.5, 77.25])) == pytest.approx([5.5, 77.25], abs=0.05)


def test_the_linear_warp_is_straight_and_the_spline_smooth() -> None:
    times = np.linspace(0.45, 1.95, 50)
    assert linear_warp(KEYS, 120.0).frames_at(times) == pytest.approx(30 + 30 * (times - 0.4) / 1.6, abs=1e-6)
    fine = np.linspace(0, 3, 3001)
    leaps = [np.abs(np.diff(make(KEYS, 120.0).rates_at(fine))).max() for make in (linear_warp, spline_warp)]
    assert leaps[1] < 0.1 * leaps[0]


def test_a_blend_lies_between() -> None:
    one, two = linear_warp(KEYS, 120.0), spline_warp(KEYS, 120.0)
    times = np.linspace(0, 3, 100)
    half = blend_warps(one, two, 0.5).frames_at(times)
    assert half == pytest.approx((one.frames_at(times) + two.frames_at(times)) / 2, abs=0.05)
    assert blend_warps(one, two, 0.0) is one
    with pytest.raises(RequestError, match="between 0 and 1"):
        blend_warps(one, two, 1.5)
    with pytest.raises(RequestError, match="cannot be blended"):
        blend_warps(one, linear_warp(KEYS[:3], 120.0), 0.5)


def test_warps_that_go_back_are_refused() -> None:
    with pytest.raises(ValueError, match="must not fall"):
        TimeWarp(np.array([0.0, 1.0, 2.0]), np.array([0.0, 5.0, 4.0]), 30.0)
    with pytest.raises(ValueError, match="two knots"):
        TimeWarp(np.array([0.0]), np.array([0.0]), 30.0)


def test_a_path_on_a_grid_becomes_the_line_it_stands_for() -> None:
    true = 4.3 * np.arange(60)
    path = np.rint(true)
    curve = smooth_path(path, np.full(60, 0.5), [(0, 0.0), (59, true[-1])])
    assert np.abs(curve - true).max() < 0.25
    assert np.abs(np.diff(curve, 2)).max() < 0.1 * np.abs(np.diff(path, 2)).max()
    # What must not be smoothed is not, and keys between places are met.
    kept = np.where(np.arange(60) < 30, 0.0, 0.5)
    assert smooth_path(path, kept, [(0, 0.0), (59, true[-1])])[2:28] == pytest.approx(path[2:28], abs=0.2)
    met = smooth_path(path, np.full(60, 0.5), [(0, 0.0), (20.5, 90.0), (59, true[-1])])
    assert np.interp(20.5, np.arange(60), met) == pytest.approx(90.0, abs=1e-3)
    assert (np.diff(met) >= 0).all()
