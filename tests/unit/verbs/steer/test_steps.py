"""Steps: cut while a foot stands, laid so that it stays, priced by how far the bodies are apart."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import choreograph as cg
from choreograph.demo import demo_clip
from choreograph.verbs.steer.cuts import BOTH, FEET, LEFT, RIGHT, find_cuts
from choreograph.verbs.steer.steps import StepClips, build_steps


def test_a_cut_is_where_one_foot_stands_and_the_other_swings() -> None:
    clip = cg.Clip.with_contacts(demo_clip("walk", 60.0), None)
    contacts = cg.detect_contacts(clip)
    cuts = find_cuts(clip)
    assert [a.foot != b.foot for a, b in pairwise(cuts)] == [True] * (len(cuts) - 1)
    for cut in cuts:
        side = slice(0, 2) if cut.foot == LEFT else slice(2, 4)
        other = slice(2, 4) if cut.foot == LEFT else slice(0, 2)
        assert contacts[cut.frame, side].any() and not contacts[cut.frame, other].any()


def test_who_stands_is_cut_on_both_feet_so_that_standing_can_go_on(steps: StepClips) -> None:
    assert {LEFT, RIGHT, BOTH} == set(steps.cut_foot.tolist())
    standing = (steps.cut_foot[steps.start] == BOTH) & (steps.cut_foot[steps.stop] == BOTH)
    assert standing.any()
    assert (steps.bend_rad[standing] == 0).all()


def test_a_cut_taken_over_by_itself_is_as_it_was(steps: StepClips) -> None:
    every = np.arange(len(steps.cut_foot))
    assert np.abs(steps.align[every, every]).max() < 1e-9
    assert steps.distance[every, every].max() < 1e-6


def test_the_standing_foot_stays_where_it_is_when_another_recording_takes_over(steps: StepClips) -> None:
    for i, j in ((0, 5), (3, 9), (10, 2)):
        same = np.flatnonzero(steps.cut_foot == steps.cut_foot[i])
        j = int(same[j % len(same)])
        there = steps.transform(i, j).apply(np.array([steps.pivot[j][0], 0.0, steps.pivot[j][1]]))
        assert np.allclose(there[[0, 2]], steps.pivot[i], atol=1e-9)


def test_feet_that_do_not_fit_are_no_continuation(steps: StepClips) -> None:
    other = steps.cut_foot[:, None] != steps.cut_foot[None]
    assert np.isinf(steps.distance[other]).all() and np.isfinite(steps.distance[~other]).all()


def test_mirror_images_mirror_the_moves(steps: StepClips) -> None:
    assert sorted(np.round(steps.moves[:, 0, 0], 6)) == sorted(np.round(-steps.moves[:, 0, 0], 6))


def test_a_stop_without_a_start_is_left_out_and_said() -> None:
    steps = build_steps([demo_clip(name, 30.0) for name in ("walk", "stop_left_foot")])
    assert any("both feet" in note for note in steps.notes)
    assert BOTH not in set(steps.cut_foot[steps.stop].tolist())


def test_recordings_without_steps_are_refused() -> None:
    with pytest.raises(cg.RequestError, match="no steps were found that can follow each other"):
        build_steps([demo_clip("walk", 30.0)[:12]])


def test_steps_that_nothing_follows_are_refused_with_the_foot() -> None:
    walk = demo_clip("walk", 30.0)
    _, here, there, *_ = find_cuts(walk)
    one = walk[here.frame - 12 : there.frame + 12]
    assert len(find_cuts(one)) == 2, "one step, from one foot to the other"
    with pytest.raises(cg.RequestError, match=f"{FEET[here.foot]}.*mirror"):
        build_steps([one])
    assert len(build_steps([one], mirror=True)) == 2
