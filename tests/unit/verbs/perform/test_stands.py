"""A control that rests is answered by somebody who stands on both feet, recorded so or held."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from choreograph.demo import demo_clip
from choreograph.features.points import TRACK
from choreograph.motion.clip import Clip
from choreograph.verbs.perform.bend_to_trajectory import lead_along
from choreograph.verbs.perform.cuts import cut_at_plants
from choreograph.verbs.perform.examples import SegmentDatabase, build_segments, root_example
from choreograph.verbs.perform.idle_segments import find_rests, moving_share, with_stand
from choreograph.verbs.perform.live import PerformStream
from choreograph.verbs.perform.request import PerformRequest
from choreograph.verbs.perform.search import PerformSearch

FPS = 30.0
WALKS = ("walk", "walk_veer_left", "walk_veer_right")


def database_of(*names: str) -> SegmentDatabase:
    clips = [demo_clip(name, FPS) for name in names]
    return build_segments([root_example(clip) for clip in clips], cut_at="plants", control_roles=TRACK)


@pytest.fixture(scope="module")
def walks() -> SegmentDatabase:
    return database_of(*WALKS)


def walk_and_rest(rest_s: float = 4.0) -> PerformRequest:
    """Three metres, a rest, and three metres more."""
    z = np.concatenate([np.arange(0, 3, 1.1 / FPS), np.full(round(rest_s * FPS), 3.0), np.arange(3, 6, 1.1 / FPS)])
    return PerformRequest(samples=tuple((k / FPS, 0.0, float(at)) for k, at in enumerate(z)))


def foot_speeds(clip: Clip) -> np.ndarray:
    feet = [clip.skeleton.need(side) for side in ("left_foot", "right_foot")]
    return np.linalg.norm(np.diff(clip.global_positions()[:, feet], axis=0), axis=2) * clip.fps


@pytest.mark.parametrize("names", [WALKS, (*WALKS, "stand", "start_left_foot", "stop_left_foot")])
def test_who_is_led_by_a_hand_that_rests_stands(names: tuple[str, ...]) -> None:
    database = database_of(*names)
    search = PerformSearch([demo_clip(name, FPS) for name in names], walk_and_rest(), database=database)
    result = search.run()
    assert search.sequence.database.held == (0 if "stand" in names else 2)
    middle = slice(round(3.8 * FPS), round(6.2 * FPS))
    assert foot_speeds(result.clip)[middle].max() < 0.05
    assert result.clip.contacts is not None and result.clip.contacts[middle].any(axis=1).all()
    walking = slice(round(0.5 * FPS), round(2.0 * FPS))
    assert foot_speeds(result.clip)[walking].max() > 1.0


def test_a_rest_is_stood_through_live_too(walks: SegmentDatabase) -> None:
    request = walk_and_rest().with_(lag_s=2.0)
    result = PerformSearch([demo_clip(name, FPS) for name in WALKS], request, database=walks).run()
    assert foot_speeds(result.clip)[round(4.2 * FPS) : round(6.0 * FPS)].max() < 0.25


def test_a_pose_is_held_only_where_the_control_rests(walks: SegmentDatabase) -> None:
    search = PerformSearch([demo_clip(name, FPS) for name in WALKS], walk_and_rest(), database=walks)
    search.run()
    held = search.sequence.database
    first = len(held.names) - held.held
    pieces = [p for p in search.sequence.pieces if held.example[p.segment] >= first]
    assert pieces
    assert min(p.start_s for p in pieces) > 2.0 and max(p.stop_s for p in pieces) < 7.6


def test_a_recorded_stand_is_cut_into_segments_of_its_own() -> None:
    clip = demo_clip("stop_left_foot", FPS)
    cuts = cut_at_plants(clip)
    still = np.linalg.norm(np.diff(clip.root_pos[:, ::2], axis=0), axis=1) * clip.fps < 0.05
    assert sum(still[a:b].all() for a, b in pairwise(cuts)) >= 1
    database = database_of("stop_left_foot")
    assert with_stand(database) is database, "somebody stands in it"
    assert moving_share(database).min() == 0.0


def test_held_poses_come_after_the_recordings_and_end_as_they_begin(walks: SegmentDatabase) -> None:
    held = with_stand(walks)
    assert np.array_equal(held.example[: len(walks)], walks.example)
    assert with_stand(held) is held
    for name, example in list(zip(held.names, held.examples, strict=True))[-held.held :]:
        assert name.endswith(" held")
        clip = example.target
        assert np.allclose(clip.local_rot[0], clip.local_rot[-1]) and np.ptp(clip.root_pos, axis=0).max() == 0.0
        assert np.abs(clip.local_rot - clip.local_rot[0]).max() > 1e-4, "it sways a little"
    assert np.allclose(moving_share(held)[len(walks) :], 0.0)


def test_rests_are_long_and_slow() -> None:
    z = np.concatenate([np.arange(0, 1, 0.1), np.full(10, 1.0), np.arange(1, 2, 0.1), np.full(3, 2.0)])
    flat = (1j * z)[:, None] + np.array([-0.15, 0.15])
    rests = find_rests(flat, np.ones(len(z)), 10.0)
    assert np.array_equal(np.flatnonzero(rests), np.arange(10, 21))
    assert not find_rests(flat, np.zeros(len(z)), 10.0).any(), "nothing is known of it"


def test_an_answer_is_bent_onto_its_way() -> None:
    at = np.arange(120) / 30.0
    way = np.stack([0.2 * np.sin(2 * at), at], axis=1)
    track = np.zeros((121, 2, 3))
    track[:, :, 2] = np.arange(121)[:, None] / 30.0 + 1.0
    curve = lead_along(track, 30.0, begin_s=1.0)(way, 30.0)  # straight on, from the first second on
    known = at >= 1.5
    assert np.abs(curve[known, 0]).max() < 0.3 * np.abs(way[known, 0]).max()
    assert np.abs(curve[known, 1] - at[known]).max() < 0.02
    gaps = np.full_like(track, np.nan)
    assert np.array_equal(lead_along(gaps, 30.0)(way, 30.0), way)


def test_live_frames_come_within_the_lag(walks: SegmentDatabase) -> None:
    points = walk_and_rest().way().points()
    stream = PerformStream(walks, FPS, PerformRequest(lag_s=2.0))
    count = 0
    for k in range(len(points)):
        count += len(stream.push(points[k : k + 1]))
        assert count >= (k / FPS - 2.0) * stream.rate_hz - 1
