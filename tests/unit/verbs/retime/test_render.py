from __future__ import annotations

import numpy as np
import pytest
from tests.conftest import make_human, make_restless

from choreograph.base import quat
from choreograph.finishing.foot_contacts import foot_slide
from choreograph.motion.clip import Clip
from choreograph.motion.contacts import with_detected_contacts
from choreograph.verbs.retime.baselines import linear_warp
from choreograph.verbs.retime.curve import TimeWarp
from choreograph.verbs.retime.keys import KeyTime, check_keys
from choreograph.verbs.retime.render import render_warp
from choreograph.verbs.retime.request import RetimeRequest


def straight(clip: Clip, rate: float) -> TimeWarp:
    return linear_warp((KeyTime(0, 0.0), KeyTime(len(clip) - 1, (len(clip) - 1) / clip.fps / rate)), clip.fps)


def test_nothing_is_done_where_nothing_was_warped(jump: Clip) -> None:
    made = render_warp(jump, straight(jump, 1.0))
    assert np.array_equal(made.source_frames, np.arange(len(jump)))
    assert made.clip.root_pos == pytest.approx(jump.root_pos, abs=1e-12)
    assert (quat.angle_between(made.clip.local_rot, jump.local_rot) < 1e-6).all()
    assert not made.replanted and made.clip.labels == jump.labels


def test_compression_averages_and_expansion_interpolates() -> None:
    """A zigzag of two frames' period: twice as fast it is gone, half as fast every frame is still shown."""
    clip = make_restless(make_human(), frames=200, fps=120.0, size=0.0)
    root = np.tile(clip.skeleton.offsets[0], (200, 1))
    root[:, 0] = 0.01 * (-1.0) ** np.arange(200)
    clip = clip.with_frames(root, clip.local_rot)
    bare = RetimeRequest(finish={"clean": False, "repair": False})
    fast = render_warp(clip, straight(clip, 2.0), bare).clip
    assert np.abs(fast.root_pos[5:-5, 0]).max() < 0.002
    raw = render_warp(
        clip,
        straight(clip, 2.0),
        RetimeRequest(finish={"clean": False, "repair": False}, advanced={"smoothing": "none"}),
    ).clip
    assert np.abs(raw.root_pos[5:-5, 0]).min() > 0.009
    slow = render_warp(clip, straight(clip, 0.5), bare).clip
    assert slow.root_pos[::2, 0] == pytest.approx(clip.root_pos[:, 0], abs=1e-6)
    even = render_warp(
        clip,
        straight(clip, 1.0),
        RetimeRequest(finish={"clean": False, "repair": False}, advanced={"smoothing": "uniform"}),
    ).clip
    assert np.abs(even.root_pos[5:-5, 0]).max() < 0.002


def test_slips_of_the_capture_are_repaired_where_time_changes(jump: Clip) -> None:
    root = np.array(jump.root_pos)
    root[200, 2] += 0.05
    slipped = jump.with_frames(root, jump.local_rot)
    kept = render_warp(slipped, straight(jump, 1.0)).clip
    assert kept.root_pos[200, 2] == pytest.approx(root[200, 2])
    bare = RetimeRequest(finish={"clean": False})
    made = render_warp(slipped, straight(jump, 0.5), bare).clip
    assert made.root_pos == pytest.approx(render_warp(jump, straight(jump, 0.5), bare).clip.root_pos, abs=2e-3)


def test_averages_keep_parabolas(jump: Clip) -> None:
    """A mean over a window in the middle shifts a parabola, it does not bend it: gravity stays."""
    count = 120
    root = np.tile(jump.skeleton.offsets[0], (count, 1))
    t = np.arange(count) / 120
    root[:, 1] += 3 * t - 4.905 * t**2
    clip = make_restless(jump.skeleton, frames=count, fps=120.0, size=0.0).with_frames(
        root, np.tile(quat.IDENTITY, (count, len(jump.skeleton), 1))
    )
    made = render_warp(clip, straight(clip, 2.0), RetimeRequest(finish={"clean": False})).clip
    height = made.root_pos[8:-8, 1]
    assert 2 * np.polyfit(np.arange(len(height)) / 120, height, 2)[0] == pytest.approx(-9.81 * 4, rel=1e-4)


def test_contacts_labels_and_provenance_go_with_the_frames(jump: Clip) -> None:
    clip = with_detected_contacts(jump)
    made = render_warp(clip, straight(clip, 2.0), RetimeRequest(finish={"clean": False})).clip
    assert clip.contacts is not None and made.contacts is not None
    at = np.rint(np.minimum(np.arange(len(made)) * 2, len(clip) - 1)).astype(int)
    assert np.array_equal(made.contacts, clip.contacts[at])
    assert [(x.text, x.start) for x in made.labels] == [("stand", 0), ("jump", 36)]
    assert made.labels[0].stop == made.labels[1].start and made.labels[1].stop == len(made)
    assert made.source is not None and clip.source is not None and made.source.path == clip.source.path
    assert made.source.notes[-1].kind == "retimed"


@pytest.mark.parametrize("fps", [24.0, 30.0, 60.0, 240.0, 119.88])
def test_any_output_rate(jump: Clip, fps: float) -> None:
    warp = straight(jump, 1.5)
    made = render_warp(jump, warp, RetimeRequest(finish={"rate_hz": fps}))
    assert made.clip.fps == fps and len(made.clip) == int(warp.length_s * fps + 1e-6) + 1
    assert made.source_frames[-1] == pytest.approx(len(jump) - 1, abs=1.5 * 120 / fps)


def test_plants_stay_planted(jump: Clip) -> None:
    for rate in (1.5, 0.67):
        made = render_warp(jump, straight(jump, rate))
        assert made.replanted and foot_slide(made.clip) <= foot_slide(jump) + 1e-4


def test_bones_that_change_length_are_carried(human: Clip) -> None:
    bones = np.tile(human.skeleton.offsets, (len(human), 1, 1))
    bones[:, 3, 1] += 0.01 * np.arange(len(human))
    bones[:, 0] = human.root_pos
    clip = Clip(human.skeleton, human.fps, human.root_pos, human.local_rot, local_pos=bones)
    made = render_warp(clip, straight(clip, 0.5), RetimeRequest(finish={"clean": False})).clip
    assert made.local_pos is not None
    assert made.local_pos[::2, 3, 1] == pytest.approx(bones[:, 3, 1], abs=1e-6)


def test_bodies_without_feet_are_rendered(walker: Clip) -> None:
    skeleton = walker.skeleton.with_roles({})
    clip = Clip(skeleton, walker.fps, walker.root_pos, walker.local_rot)
    keys = check_keys(clip, [(0, 0.0), (len(clip) - 1, 0.5)])
    assert np.isfinite(render_warp(clip, linear_warp(keys, clip.fps)).clip.root_pos).all()
