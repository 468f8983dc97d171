from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from choreograph.base.errors import RequestError
from choreograph.base.floor import FloorTransform
from choreograph.demo import demo_clip
from choreograph.motion.clip import Clip, Label
from choreograph.verbs.perform import cuts
from choreograph.verbs.perform.examples import Example, SegmentDatabase, build_segments, pair_up, root_example


def test_neighbours_share_their_boundary_frame(base: SegmentDatabase):
    for e in range(4):
        own = np.flatnonzero(base.example == e)
        assert (base.stop[own[:-1]] == base.start[own[1:]]).all()


def test_pairs_of_different_length_or_rate_get_a_sentence(make_example: Callable[..., Example]):
    example = make_example(1)
    leader, target = example.leader, example.target
    assert leader is not None
    with pytest.raises(RequestError, match=r"180 frames and .* 150, 1.00 s apart.*cut them .cut."):
        pair_up(leader, target[:150])
    assert len(pair_up(leader, target[:150], cut_to_shorter=True).control) == 150
    with pytest.raises(RequestError, match=r"30 fps and .* 60"):
        pair_up(leader, target.resampled(60))


def test_plants_cut_a_walk_at_its_steps():
    clip = demo_clip("walk", 60.0)
    frames = cuts.cut_at_plants(clip)
    gaps = np.diff(frames) / clip.fps
    assert len(frames) >= 4 and (gaps > 0.3).all() and (gaps < 0.9).all()
    assert np.ptp(gaps) < 0.1


def test_labels_and_times_cut(human: Clip):
    labelled = human.with_labels([Label("a", 0, 15), Label("b", 15, 33)])
    assert cuts.cut_at_labels(labelled).tolist() == [0, 15, 33]
    assert cuts.cut_at_times(human, [0.5, 0.1]).tolist() == [6, 30]
    with pytest.raises(RequestError, match="not within"):
        cuts.cut_at_times(human, [9.0])


def test_bars_are_found_from_the_feet(human: Clip):
    """Feet that swing with three stops in each bar of 1.3 s and a rest after them."""
    fps, bar = 60.0, 1.3
    t = np.arange(round(30 * fps)) / fps
    beat = (t / bar % 1) * 4
    swing = np.where(beat < 3, np.sin(np.pi * (beat % 1)), 0.0) * np.array([1.0, -1.0, 0.6, 0.0])[beat.astype(int)]
    rot = np.zeros((len(t), len(human.skeleton), 4))
    rot[..., 0] = 1
    angle = 0.6 * swing
    for name in ("left_upper_leg", "right_upper_leg"):
        rot[:, human.skeleton.need(name), 0] = np.cos(angle / 2)
        rot[:, human.skeleton.need(name), 1] = np.sin(angle / 2)
    clip = Clip(human.skeleton, fps, np.tile(human.skeleton.offsets[0], (len(t), 1)), rot)
    frames = cuts.cut_at_beats([clip])
    gaps = np.diff(frames) / fps
    assert len(gaps) > 40
    assert gaps == pytest.approx(np.full(len(gaps), bar / 2), abs=0.05)


def test_clusters_merge_copies_and_keep_apart_unlike_answers(make_example: Callable[..., Example]):
    one = make_example(1)
    moved = FloorTransform(0.7, 3.0, -2.0)
    assert one.leader is not None
    copy = pair_up(one.leader.moved(moved), one.target.moved(moved))
    # The same lead, answered otherwise: a metre further away.
    other = pair_up(one.leader, replace(one.target, root_pos=one.target.root_pos + np.array([1.0, 0.0, 0.0])))
    times = [0.0, 1.0, 2.0, 3.0]
    base = build_segments([one, copy, other], cut_at=[times] * 3)
    assert len(base) == 9
    kept = base.clustered(0.01)
    assert len(kept) == 6
    assert set(kept.example.tolist()) >= {2}
    assert len(base.clustered(0.0)) >= 6
    assert len(base.clustered(100.0, stretch_s=10.0)) == 1
    with pytest.raises(RequestError, match="alike"):
        base.clustered(-1.0)


def test_bases_that_cannot_be_get_a_sentence(human: Clip):
    with pytest.raises(RequestError, match="one example"):
        build_segments([])
    with pytest.raises(RequestError, match="no segment"):
        build_segments([root_example(human)], cut_at=[[0.2]])
    with pytest.raises(RequestError, match="'bars'"):
        build_segments([root_example(human)], cut_at="bars")
