from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from tests.unit.finishing import plain_kernels as plain

from choreograph.base import quat
from choreograph.base.errors import RequestError
from choreograph.base.floor import FloorTransform
from choreograph.finishing import _compiled
from choreograph.finishing.assemble import settle_contacts
from choreograph.finishing.finish import Finished, finish
from choreograph.finishing.settings import FinishSettings
from choreograph.graph.model import MotionGraph
from choreograph.graph.tables import TRANSITION
from choreograph.motion.contacts import runs
from choreograph.verbs.walk import Walk


def assembled(walk: Walk, **settings: object) -> Finished:
    """The motion of a walk, and nothing done to it."""
    return finish(walk, FinishSettings(clean=False, **settings))


def test_every_graph_frame_becomes_four_recorded_ones(graph: MotionGraph, walk_through: Callable[..., Walk]) -> None:
    walk = walk_through(graph, 6, clips=(0, 1))
    made = assembled(walk)
    assert made.clip.fps == 120
    assert len(made.clip) == 4 * len(walk)
    assert len(made.origins) == len(made.clip)


def test_no_frame_is_shown_twice_or_left_out(graph: MotionGraph, walk_through: Callable[..., Walk]) -> None:
    made = assembled(walk_through(graph, 8, clips=(0, 1)))
    origins = made.origins
    inside = np.diff(origins.source_clip) == 0
    steps = np.diff(origins.source_frame)[inside]
    # Where the heavier clip stays the same, its frames follow one another; a jump is a blend from a clip into itself.
    assert (steps == 1).mean() > 0.97
    arriving = np.flatnonzero((origins.other_clip[:-1] >= 0) & (origins.other_clip[1:] < 0))
    np.testing.assert_array_equal(origins.source_frame[arriving + 1] - origins.source_frame[arriving], 1)
    leaving = np.flatnonzero((origins.other_clip[:-1] < 0) & (origins.other_clip[1:] >= 0))
    np.testing.assert_array_equal(origins.source_frame[leaving + 1] - origins.source_frame[leaving], 1)


def test_frames_outside_of_blends_are_the_clips_own(graph: MotionGraph, walk_through: Callable[..., Walk]) -> None:
    walk = walk_through(graph, 4, clips=(0, 1))
    made = assembled(walk)
    alone = np.flatnonzero(made.origins.other_clip < 0)
    for f in alone[:: max(1, len(alone) // 20)]:
        source = graph.clips[made.origins.source_clip[f]]
        there = source.local_rot[int(made.origins.source_frame[f])]
        assert quat.angle_between(made.clip.local_rot[f, 1:], there[1:]).max() < 1e-7
        assert made.clip.root_pos[f, 1] == pytest.approx(source.root_pos[int(made.origins.source_frame[f]), 1])


def test_a_blend_begins_with_the_one_motion_and_ends_with_the_other(
    graph: MotionGraph, walk_through: Callable[..., Walk]
) -> None:
    walk = walk_through(graph, 3, clips=(0, 1))
    made, table = assembled(walk), graph.edges
    first = np.concatenate([[0], np.cumsum(walk.edge_frames)])
    k = int(np.flatnonzero(table.kind[walk.edges] == TRANSITION)[0])
    edge, start = walk.edges[k], 4 * first[k]
    origins = made.origins
    assert origins.weight[start] == 1
    assert origins.source_clip[start] == table.clip[edge]
    assert origins.source_frame[start] == 4 * table.start[edge]
    middle = start + 2 * graph.window_frames
    assert origins.weight[middle] == pytest.approx(0.5)
    last = start + 4 * graph.window_frames - 1
    assert origins.source_clip[last] == table.target_clip[edge]
    assert origins.weight[last] > 0.99
    assert origins.source_frame[last] == 4 * (table.target_start[edge] + graph.window_frames) - 1


def test_joints_with_their_own_exponent_go_ahead(graph: MotionGraph, walk_through: Callable[..., Walk]) -> None:
    walk = walk_through(graph, 1, clips=(0, 1))
    even = assembled(walk, blend="anticipation").clip
    ahead = assembled(walk, blend="anticipation", preset="arms first").clip
    arms = [j for j, role in enumerate(graph.skeleton.roles) if "arm" in role]
    legs = [j for j, role in enumerate(graph.skeleton.roles) if "leg" in role]
    assert quat.angle_between(even.local_rot, ahead.local_rot)[:, arms].max() > 1e-3
    np.testing.assert_array_equal(even.local_rot[:, legs], ahead.local_rot[:, legs])
    np.testing.assert_array_equal(even.root_pos, ahead.root_pos)


def test_rates_may_differ_and_be_asked_for(graph: MotionGraph, walk_through: Callable[..., Walk]) -> None:
    walk = walk_through(graph, 12, seed=3)
    assert set(graph.edges.clip[walk.edges]) >= {2}
    full, film = assembled(walk), assembled(walk, rate_hz=24)
    assert full.clip.fps == 120
    slow = full.origins.source_clip == 2
    assert (np.mod(full.origins.source_frame[slow], 1) == 0.5).any()
    assert len(film.clip) == int(np.ceil(len(walk) * 24 / 30))
    np.testing.assert_allclose(
        film.clip.root_pos[::4], full.clip.root_pos[::20][: len(film.clip.root_pos[::4])], atol=1e-9
    )
    with pytest.raises(RequestError, match="rate_hz is 0"):
        assembled(walk, rate_hz=0)


def test_a_shorter_walk_is_the_beginning_of_the_long_one(graph: MotionGraph, walk_through: Callable[..., Walk]) -> None:
    walk = walk_through(graph, 4)
    whole, part = assembled(walk).clip, assembled(Walk(graph, walk.edges, frames=17)).clip
    assert len(part) == 17 * 4
    np.testing.assert_allclose(part.root_pos, whole.root_pos[: len(part)], atol=1e-12)


def test_the_start_lays_the_whole_walk_on_the_floor(graph: MotionGraph, walk_through: Callable[..., Walk]) -> None:
    walk = walk_through(graph, 4)
    place = FloorTransform(2.1, 3.0, -4.0)
    moved = assembled(Walk(graph, walk.edges, place)).clip
    np.testing.assert_allclose(
        moved.global_positions(), assembled(walk).clip.moved(place).global_positions(), atol=1e-9
    )


def _loop(graph: MotionGraph, transition: int) -> list[int]:
    """A transition within a clip and the segments that lead back to where it starts; nothing if they do not."""
    table, loop = graph.edges, [transition]
    while table.target[loop[-1]] != table.source[transition]:
        node = table.target[loop[-1]]
        onward = np.arange(graph.first_edge[node], graph.first_edge[node + 1])
        onward = onward[table.kind[onward] != TRANSITION]
        if not len(onward) or table.clip[transition] != table.target_clip[transition]:
            return []
        loop.append(int(onward[0]))
    return loop


@pytest.mark.slow
def test_ten_thousand_transitions_do_not_drift(graph: MotionGraph) -> None:
    """Round and round one loop: each round adds the same floor transform, which has a closed form."""
    table = graph.edges
    loops = [_loop(graph, int(edge)) for edge in np.flatnonzero(table.kind == TRANSITION)]
    loop = min((found for found in loops if found), key=len)
    rounds = 10_000
    walk = Walk(graph, np.tile(loop, rounds))
    one = table.transform(loop[0])
    yaw = one.yaw * (rounds - 1)
    turns = np.exp(-1j * one.yaw * np.arange(rounds - 1)).sum()
    there = (one.x + 1j * one.z) * turns
    end = walk.placements
    start = (rounds - 1) * len(loop)
    assert abs(np.exp(1j * (end.yaw[start] - yaw)) - 1) < 1e-8
    assert abs(end.x[start] + 1j * end.z[start] - there) < 1e-6
    made = assembled(walk, rate_hz=30)
    assert np.isfinite(made.clip.root_pos).all()
    fastest = np.linalg.norm(np.diff(made.clip.root_pos, axis=0), axis=1).max() * 30
    assert fastest < 3.0
    np.testing.assert_allclose(np.linalg.norm(made.clip.local_rot, axis=2), 1, atol=1e-12)


def test_labels_and_plants_travel_with_the_frames(graph: MotionGraph, walk_through: Callable[..., Walk]) -> None:
    made = assembled(walk_through(graph, 6, seed=1))
    clip, origins = made.clip, made.origins
    assert clip.contacts is not None
    for f in range(0, len(clip), 97):
        source = graph.clips[origins.source_clip[f]]
        assert set(clip.labels_at(f)) == set(source.labels_at(int(origins.source_frame[f] + 1e-6)))
    alone = origins.other_clip < 0
    own = [graph.clips[c].contacts for c in origins.source_clip[alone]]
    expected = [flags[int(f)] for flags, f in zip(own, origins.source_frame[alone], strict=True)]  # type: ignore[index]
    assert (clip.contacts[alone] == expected).mean() > 0.98
    for text in {label.text for label in clip.labels}:
        ranges = [(x.start, x.stop) for x in clip.labels if x.text == text]
        assert all(b < c for (_, b), (c, _) in itertools.pairwise(ranges)), "ranges that meet are one"


def test_flicker_is_no_plant() -> None:
    flags = np.zeros((200, 1), bool)
    flags[20:60] = flags[63:100] = flags[150:153] = True
    settled = settle_contacts(flags, 120.0)
    assert runs(settled[:, 0]) == [(20, 100)]


def test_compiled_and_plain_kernels_agree(rng: np.random.Generator) -> None:
    root, rot = rng.normal(size=(9, 3)), quat.normalise(rng.normal(size=(9, 4, 4)))
    row, share = rng.integers(0, 8, 20), np.where(rng.random(20) < 0.3, 0.0, rng.random(20))
    place = rng.normal(size=(20, 3))
    one, two = _compiled.sample(root, rot, row, share, place), plain.sample(root, rot, row, share, place)
    np.testing.assert_allclose(one[0], two[0], atol=1e-12)
    assert quat.angle_between(one[1], two[1]).max() < 1e-7
    at, weight = np.array([1, 5, 6]), rng.random((3, 5))
    weight[0], weight[1] = 0.0, 1.0
    other = rng.normal(size=(3, 3)), quat.normalise(rng.normal(size=(3, 4, 4)))
    first, second = (np.array(one[0]), np.array(one[1])), (np.array(one[0]), np.array(one[1]))
    _compiled.mix(*first, at, *other, weight)
    plain.mix(*second, at, *other, weight)
    np.testing.assert_allclose(first[0], second[0], atol=1e-12)
    assert quat.angle_between(first[1], second[1]).max() < 1e-7
    assert quat.angle_between(first[1][5], other[1][1]).max() < 1e-7
