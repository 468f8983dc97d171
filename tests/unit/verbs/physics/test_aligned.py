"""Examples at the same moment: found by contacts, whatever came before and however fast."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import choreograph as cg
from choreograph.demo import demo_clip
from choreograph.verbs.physics.example_alignment import _warp, find_lead
from choreograph.verbs.physics.prepare import Setting, lead_of, make_setting, sketch_of

JUMP = demo_clip("jump_high", 60.0)
REQUEST = cg.PhysicsRequest()


def brute(gap: np.ndarray, pace: float) -> float:
    """The least cost of any way from moment to moment, by trying all."""

    def least(row: int, frame: int) -> float:
        if not 0 <= frame < gap.shape[1]:
            return np.inf
        if row == 0:
            return float(gap[0, frame])
        return float(gap[row, frame]) + min(least(row - 1, frame - k) + pace * (k != 1) for k in range(3))

    return min(least(len(gap) - 1, frame) for frame in range(gap.shape[1]))


def test_the_way_costs_the_least() -> None:
    rng = np.random.default_rng(3)
    for _ in range(5):
        gap = rng.uniform(size=(7, 9))
        way, cost = _warp(gap)
        moves = np.diff(way)
        assert cost * len(gap) == pytest.approx(brute(gap, 0.2))
        assert cost * len(gap) == pytest.approx(gap[np.arange(7), way].sum() + 0.2 * (moves != 1).sum())


def setting_of(*examples: cg.Clip) -> Setting:
    return make_setting(JUMP, REQUEST, list(examples))


def test_an_example_leads_by_what_it_does_though_it_is_slower() -> None:
    """A jump led by itself, played at five sixths of its pace: what is expected is what it does."""
    slower = replace(JUMP, fps=50.0, name="slower").resampled(60.0)
    setting = setting_of(slower)
    sketch = sketch_of(setting, REQUEST)
    lead = find_lead(sketch, setting.basis, setting.tracks)
    assert lead is not None and sketch.source is not None
    d = setting.basis.space.dimensions
    own = setting.basis.state(sketch.source)[:, :d]
    assert np.sqrt(((lead.states - own) ** 2).mean()) < 0.35 * np.sqrt((own**2).mean())


def test_a_higher_flight_is_expected_to_rise_higher() -> None:
    setting, tops = setting_of(JUMP), []
    for request in (REQUEST, REQUEST.with_(higher_m=0.1)):
        lead = lead_of(setting, sketch_of(setting, request), request)
        assert lead is not None
        tops.append(float(lead.root[:, 0].max()))
    assert tops[1] - tops[0] == pytest.approx(0.1, abs=0.03)


def test_key_poses_are_on_the_way() -> None:
    setting = setting_of(demo_clip("jump_forward", 60.0))
    sketch = sketch_of(setting, REQUEST)
    lead = lead_of(setting, sketch, REQUEST)
    assert lead is not None
    d = setting.basis.space.dimensions
    for pose in sketch.poses:
        assert lead.states[pose.node] == pytest.approx(setting.basis.state(pose.q)[:d], abs=1e-9)
        assert lead.root[pose.node] == pytest.approx(pose.q[[1, 4, 5]], abs=1e-9)


def test_nothing_leads_where_no_example_does_the_same() -> None:
    setting = setting_of(demo_clip("run", 60.0))
    assert lead_of(setting, sketch_of(setting, REQUEST), REQUEST) is None
    assert lead_of(setting, sketch_of(setting, REQUEST), REQUEST.with_(advanced={"mean": "fixed"})) is None


@pytest.mark.slow
def test_a_free_mean_keeps_key_poses_that_the_space_does_not_hold() -> None:
    examples = [demo_clip("jump_forward", 60.0)]
    arm = JUMP.skeleton.need("left_hand")
    ends = []
    for mean in ("free", "fixed"):
        made = cg.physics(JUMP, REQUEST.with_(advanced={"mean": mean, "dimensions": 2}), examples=examples).clip
        hips = [one.global_positions()[-1, arm] - one.root_pos[-1] for one in (made, JUMP)]
        ends.append(float(np.linalg.norm(hips[0] - hips[1])))
    assert ends[0] < 1e-3 < ends[1]
