from __future__ import annotations

import numpy as np
import pytest

from choreograph.base.errors import RequestError
from choreograph.demo import demo_clips
from choreograph.features.points import TRACK
from choreograph.finishing.finish import finish
from choreograph.finishing.settings import FinishSettings
from choreograph.motion.clip import Clip
from choreograph.verbs.perform.control import control_from_clip, control_from_trajectory
from choreograph.verbs.perform.examples import SegmentDatabase, build_segments, pair_up, root_example
from choreograph.verbs.perform.live import PerformStream
from choreograph.verbs.perform.performance import finish_sequence
from choreograph.verbs.perform.recorder import TrajectoryRecorder
from choreograph.verbs.perform.request import PerformRequest
from choreograph.verbs.perform.sequence import find_segments


@pytest.fixture(scope="module")
def walks() -> SegmentDatabase:
    clips = [clip for clip in demo_clips(30.0) if clip.name.startswith("walk")]
    return build_segments([root_example(clip) for clip in clips], cut_at="plants", control_roles=TRACK)


def slide(clip: Clip) -> float:
    """How fast feet move while they stand, metres per second, in the mean."""
    assert clip.contacts is not None
    feet = clip.global_positions()[:, clip.skeleton.feet][..., ::2]
    speed = np.linalg.norm(np.diff(feet, axis=0), axis=-1) * clip.fps
    stands = clip.contacts[1:] & clip.contacts[:-1]
    return float(speed[stands].mean())


def draw(seconds: float) -> list[tuple[float, float, float]]:
    """A hand that draws a bend at a walker's pace, at about 30 Hz."""
    rng = np.random.default_rng(3)
    t = np.sort(np.arange(0, seconds, 1 / 30) + rng.uniform(0, 0.01, round(seconds * 30)))
    return [(float(s), float(2.5 * np.sin(0.5 * s)), float(2.5 * (1 - np.cos(0.5 * s)))) for s in t]


@pytest.mark.slow
def test_a_way_is_walked_while_it_is_drawn(walks: SegmentDatabase):
    hand = TrajectoryRecorder()
    stream = PerformStream(walks, hand.fps, PerformRequest(lag_s=2.0))
    frames, late = [], 0.0
    for t, x, z in draw(12.0):
        frames += stream.push(hand.push(t, x, z))
        late = max(late, t - len(frames) / stream.rate_hz)
    assert late < 2.0 + hand.delay_s + 2 / 30
    frames += stream.push(hand.finish())
    frames += stream.finish()
    assert [frame.number for frame in frames] == list(range(len(frames)))
    made = stream.as_clip(frames)
    assert made.seconds == pytest.approx(12.0, abs=0.1)
    where = np.array([(2.5 * np.sin(0.5 * t), 2.5 * (1 - np.cos(0.5 * t))) for t in np.arange(len(made)) / made.fps])
    assert np.linalg.norm(made.root_pos[:, ::2] - where, axis=1).max() < 0.25
    # As smooth, and feet as still, as with the whole way at hand.
    found = find_segments(walks, control_from_trajectory(hand.trajectory().smoothed(0.2), walks))
    whole = finish_sequence(found, FinishSettings()).clip
    jerk = [np.linalg.norm(np.diff(clip.global_positions(), 3, axis=0), axis=-1).max() for clip in (made, whole)]
    assert jerk[0] < 1.5 * jerk[1]
    assert slide(made) < 1.3 * slide(whole)
    assert {frame.clip for frame in frames} <= set(walks.names)
    assert len(stream.pieces) > 10 and stream.cost > 0


def test_a_body_leads_and_its_hands_are_held(couple: tuple[Clip, Clip]):
    leader, follower = couple
    base = build_segments([pair_up(leader, follower)], cut_at=[[0.0, 0.8, 1.6, 2.4, 3.2, 4.0, 4.8]])
    lead = leader[: round(4.8 * 30) + 1]
    stream = PerformStream(base, lead.fps, PerformRequest(lag_s=1.6, finish=FinishSettings(clean=False)))
    frames = []
    for start in range(0, len(lead), 7):
        frames += stream.push(lead[start : start + 7])
    assert len(frames) > 90
    frames += stream.finish()
    made = stream.as_clip(frames)
    found = find_segments(base, control_from_clip(lead, base))
    whole = finish(found, FinishSettings(clean=False), partner=found.partner())
    assert len(made) == len(whole.clip)
    assert made.global_positions() == pytest.approx(whole.clip.global_positions(), abs=0.02)
    assert [p.segment for p in stream.pieces] == list(range(6))


def test_mistakes_get_a_sentence(walks: SegmentDatabase, couple: tuple[Clip, Clip]):
    with pytest.raises(RequestError, match=r"too short.*are enough"):
        PerformStream(walks, 30.0, PerformRequest(lag_s=0.3))
    stream = PerformStream(walks, 30.0)
    with pytest.raises(RequestError, match="begun with 30"):
        stream.push(couple[0].resampled(60.0))
    with pytest.raises(RequestError, match="no frame"):
        stream.as_clip([])
    with pytest.raises(RequestError, match="two control frames"):
        stream.finish()
