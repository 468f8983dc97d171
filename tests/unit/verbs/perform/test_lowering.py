"""Sequences of segments as montages, and what finishing makes of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from choreograph.base.errors import RequestError
from choreograph.finishing.finish import finish
from choreograph.finishing.settings import FinishSettings
from choreograph.motion.clip import Clip
from choreograph.verbs.perform.control import control_from_clip
from choreograph.verbs.perform.examples import build_segments, pair_up
from choreograph.verbs.perform.sequence import find_segments


def test_a_recording_performed_is_the_recording(couple: tuple[Clip, Clip]):
    leader, follower = couple
    base = build_segments([pair_up(leader, follower)], cut_at=[[0.0, 0.8, 1.6, 2.4, 3.2, 4.0, 4.8]])
    control = control_from_clip(leader[: round(4.8 * 30) + 1], base)
    found = find_segments(base, control)
    assert [p.segment for p in found.pieces] == list(range(6))
    made = finish(found, FinishSettings(clean=False, hold_hands=False))
    assert len(made.clip) == len(control.points)
    assert made.clip.global_positions() == pytest.approx(follower.global_positions()[: len(made.clip)], abs=1e-4)
    assert made.clip.contacts is not None and made.clip.contacts.dtype == bool
    held = finish(found, FinishSettings(clean=False), partner=found.partner())
    assert held.hand_contacts is not None and held.hand_contacts.held[55:95, 0, 1].all()
    assert held.partner is control.leader
    assert held.clip.global_positions() == pytest.approx(made.clip.global_positions(), abs=2e-3)


def test_pieces_that_do_not_meet_are_blended(couple: tuple[Clip, Clip]):
    leader, follower = couple
    base = build_segments([pair_up(leader, follower)], cut_at=[[0.0, 0.8, 1.6, 2.4, 3.2]])
    found = find_segments(base, control_from_clip(leader[:97], base))
    shifted = tuple(
        replace(p, placement=replace(p.placement, x=p.placement.x + 0.1 * (k % 2))) for k, p in enumerate(found.pieces)
    )
    found = replace(found, pieces=shifted)

    def steps(blend_s: float) -> float:
        clip = finish(found, FinishSettings(blend_s=blend_s, clean=False)).clip
        return float(np.abs(np.diff(clip.root_pos[:, 0])).max())

    calm = float(np.abs(np.diff(follower.root_pos[:97, 0])).max())
    assert steps(0.0) > 0.05
    assert steps(0.4) < calm + 0.03
    with pytest.raises(RequestError, match="blend_s"):
        FinishSettings(blend_s=-1.0)


def test_layers_say_which_recording_is_shown_and_blends_cost_nothing_elsewhere(couple: tuple[Clip, Clip]):
    base = build_segments([pair_up(*couple)], cut_at=[[0.0, 0.8, 1.6, 2.4, 3.2]])
    found = find_segments(base, control_from_clip(couple[0][:97], base))
    montage = found.as_montage()
    below, above = montage.layers
    assert len(below) == len(montage) == 97 and montage.rate_hz == 30
    # Three boundaries, each blended for 0.3 s.
    assert 3 * 7 <= len(above) <= 3 * 9
    assert montage.origins.names == base.names
    np.testing.assert_allclose(montage.origins.source_frame, np.arange(97), atol=0.6)
    assert len(found.as_montage(FinishSettings(blend_s=0.0)).layers[1]) <= 3  # frames that are on a boundary
    double = found.as_montage(FinishSettings(rate_hz=60))
    assert len(double) == 193 and double.rate_hz == 60
    np.testing.assert_allclose(double.layers[0].frame[::2], below.frame, atol=1e-9)


def test_a_trajectory_has_no_partner(couple: tuple[Clip, Clip]):
    base = build_segments([pair_up(*couple)], cut_at=[[0.0, 0.8, 1.6, 2.4, 3.2]])
    found = find_segments(base, control_from_clip(couple[0][:97], base))
    assert found.partner() is not None
    assert replace(found, control=replace(found.control, leader=None)).partner() is None
