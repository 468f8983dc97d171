"""Following by bending: straight walks along any path, and the bends that a walk carries."""

from __future__ import annotations

import numpy as np
import pytest

import choreograph as cg
from choreograph.base.floor import FloorTransform
from choreograph.demo import demo_clip
from choreograph.finishing.finish import finish
from choreograph.graph.model import MotionGraph
from choreograph.graph.tables import TRANSITION
from choreograph.motion.bend import way_of
from choreograph.motion.labels import matches_label
from choreograph.verbs.follow.follower import PathFollower
from choreograph.verbs.follow.goals import goals_ahead, label_words, style_differences
from choreograph.verbs.follow.kernel_inputs import lateral_limits
from choreograph.verbs.follow.measure import find_progress
from choreograph.verbs.follow.pager import _find_waits
from choreograph.verbs.follow.search import FollowSearch
from choreograph.verbs.follow.tables import EdgeTables, find_tables
from choreograph.verbs.walk import Walk


@pytest.fixture(scope="module")
def straight() -> MotionGraph:
    """Straight walks only: nobody turns."""
    clips = [demo_clip(name, 60.0) for name in ("walk", "walk_fast", "walk_slow")]
    return cg.build_graph(clips, cg.GraphSettings(threshold_m=0.08), workers=1)


@pytest.mark.parametrize("shape", ["circle:radius=2", "eight:radius=2", "s:radius=1.5", "zigzag"])
def test_straight_walks_follow_any_path_by_bending(straight: MotionGraph, shape: str) -> None:
    result = cg.follow(straight, shape)
    assert not result.problems
    assert result.metrics["path_mean"].value < 0.03
    assert result.metrics["path_worst"].value < 0.12
    assert result.metrics["path_reached"].value > 0.99
    assert result.metrics["foot_slide"].value < 0.04
    recorded = cg.follow(straight, cg.FollowRequest(path=shape, bend=False))
    assert recorded.problems, "without bends nobody turns"


def test_the_same_request_gives_the_same_motion(straight: MotionGraph) -> None:
    first, second = (cg.follow(straight, "s:radius=2").clip for _ in range(2))
    np.testing.assert_array_equal(first.root_pos, second.root_pos)
    np.testing.assert_array_equal(first.local_rot, second.local_rot)


def test_no_edge_is_bent_beyond_the_limit(straight: MotionGraph) -> None:
    for limit in (0.6, 1.5):
        request = cg.FollowRequest(advanced=cg.FollowAdvanced(max_lateral_m_s2=limit))
        follower = PathFollower(straight, cg.named_path("circle", radius=0.8), request)
        while follower.step():
            pass
        tables, turns = follower._pager.kernel, np.array(follower.bends)[:, 0]
        seconds = tables.length[follower.edges] / straight.rate_hz
        own = tables.bend[follower.edges, 3]
        lateral = np.abs(tables.edge_way[follower.edges] * (own + turns) / seconds**2)
        turned = np.abs(tables.edge_way[follower.edges] * own / seconds**2)
        assert (lateral <= np.maximum(limit, turned) + 1e-9).all()
        assert lateral.max() > 0.9 * limit


def test_a_search_prefers_who_turns_by_himself(graph: MotionGraph, bend_tables: EdgeTables) -> None:
    bent = []
    for cost in (0.0, 0.05):
        search = cg.FollowAdvanced(weights={"bend": cost})
        follower = PathFollower(
            graph, cg.named_path("circle", radius=3), cg.FollowRequest(advanced=search), tables=bend_tables
        )
        while follower.step():
            pass
        bent.append(np.abs(np.array(follower.bends)[:, 0]).sum())
    assert bent[1] < bent[0]


def test_the_walk_shows_its_bends_as_they_were_searched(graph: MotionGraph, bend_tables: EdgeTables) -> None:
    path = cg.named_path("s", radius=2)
    follower = PathFollower(graph, path, tables=bend_tables)
    while follower.step():
        pass
    walk = follower.walk()
    assert walk.bends is not None and np.abs(walk.bends[:, 0]).max() > 0.01
    # Where the search says it has come to is where the last edge is laid.
    last = follower.places[-1]
    placed = walk.placements
    np.testing.assert_allclose([placed.x[-1], placed.z[-1]], [last.x, last.z], atol=1e-6)
    assert np.angle(np.exp(1j * (placed.yaw[-1] - last.yaw))) == pytest.approx(0, abs=1e-6)
    # And the motion made of it, without being led onto the path, goes that way.
    clip = finish(walk).clip
    way = way_of(clip).places
    assert np.linalg.norm(way[-1] - follower.place) < 0.08
    line = path.sampled(0.01)
    off = np.array([np.linalg.norm(line - place, axis=1).min() for place in way[::10]])
    assert off.mean() < 0.06
    unbent = Walk(graph, walk.edges, walk.start, walk.frames)
    assert unbent.as_montage().bend is None and walk.as_montage().bend is not None
    np.testing.assert_allclose(walk.unbent.x, unbent.placements.x)


def test_a_walk_refuses_bends_that_do_not_fit(graph: MotionGraph) -> None:
    edges = graph.random_walk(5, np.random.default_rng(0))
    with pytest.raises(ValueError, match="need as many bends"):
        Walk(graph, edges, bends=np.zeros((2, 3)))


def test_part_of_a_transform_is_about_the_same_place() -> None:
    whole = FloorTransform(0.8, 1.0, -2.0)
    third = whole.part(1 / 3)
    thrice = third @ third @ third
    for name in ("yaw", "x", "z"):
        assert getattr(thrice, name) == pytest.approx(getattr(whole, name))
    assert (whole.part(0.0).yaw, whole.part(0.0).x) == (0.0, 0.0)


def test_a_walk_goes_on_from_another_and_keeps_its_path(graph: MotionGraph, bend_tables: EdgeTables) -> None:
    first = cg.FollowRequest(path="line:length=5")
    on = cg.FollowRequest(points=((3.0, 8.0),), after={"request": first})
    result = FollowSearch(graph, on, tables=bend_tables).run()
    alone = FollowSearch(graph, first, tables=bend_tables).run()
    np.testing.assert_allclose(result.clip.root_pos[-1, [0, 2]], (3.0, 8.0), atol=0.2)
    np.testing.assert_allclose(result.clip.root_pos[:60], alone.clip.root_pos[:60], atol=0.01)
    assert not result.problems


def test_the_path_can_be_changed_on_the_way(graph: MotionGraph, bend_tables: EdgeTables) -> None:
    search = FollowSearch(graph, cg.FollowRequest(path="line:length=10"), tables=bend_tables)
    search.step(cg.Budget(steps=3))
    x, z = search._followers[0].place
    points = cg.named_path("circle", radius=4, turns=0.5).moved(FloorTransform(0.0, x, z)).points
    search.change(cg.FollowRequest(points=tuple(map(tuple, points.tolist()))))
    result = search.run()
    assert result.status == "complete"
    np.testing.assert_allclose(result.clip.root_pos[-1, [0, 2]], points[-1], atol=0.3)
    speed = np.hypot(*np.diff(way_of(result.clip).places, axis=0).T) * result.clip.fps
    assert speed.max() < 2.5, "nobody is torn to the new path"


@pytest.mark.parametrize(("label", "start", "stop"), [("jog", 0.0, 12.0), ("jog", 4.0, 9.0)])
def test_labels_are_kept_from_where_they_begin(graph, bend_tables, label: str, start: float, stop: float) -> None:
    path = cg.named_path("line", length=14).with_stretch(start, stop, label=label)
    result = FollowSearch(graph, cg.FollowRequest.of_path(path), tables=bend_tables).run()
    assert not result.problems
    assert result.clip.seconds < 14 / 1.2


def test_a_speed_is_met_by_stretching(graph: MotionGraph, bend_tables: EdgeTables) -> None:
    path = cg.named_path("line", length=10)
    request = cg.FollowRequest.of_path(path, speed_m_s=1.45)
    search = FollowSearch(graph, request, tables=bend_tables)
    assert not search.run().problems
    assert np.abs(np.array(search._followers[0].bends)[:, 1]).max() > 0.01


def test_the_wait_for_a_label_is_the_shortest_walk_to_it(graph: MotionGraph, bend_tables: EdgeTables) -> None:
    words = bend_tables.label_bits(["jog"])
    bits = words[bend_tables.rows["label_words"]]
    path = cg.FollowRequest("line", label="jog").floor_path()
    wait = _find_waits(graph, bend_tables, path, cg.FollowAdvanced(), words)[0][:, 0] * graph.rate_hz
    edges = graph.edges
    # By rounds of relaxation, as slow as it is plain.
    plain = np.full(len(graph.nodes), 900.0)
    first = [
        next((k for k in range(length) if bits[at + k]), None)
        for at, length in zip(bend_tables.edges["first"], bend_tables.edges["length"], strict=True)
    ]
    changed = True
    while changed:
        through = np.array(
            [
                shown if shown is not None else bend_tables.edges["length"][e] + plain[edges.target[e]]
                for e, shown in enumerate(first)
            ],
            float,
        )
        better = plain.copy()
        np.minimum.at(better, edges.source, through)
        changed = bool((better < plain).any())
        plain = better
    np.testing.assert_allclose(wait, plain)
    assert (wait == 0).any() and (wait > 10).any()


def test_goals_are_seen_from_afar() -> None:
    path = cg.named_path("line", length=20).with_stretch(8, 12, label="run").with_stretch(15, 18, speed=3.0)
    along = np.array([0.0, 8.0, 10.0, 13.0, 16.0, 19.0])
    goal, seconds = goals_ahead(path, along)
    assert goal.tolist() == [0, 0, 0, 1, 1, -1]
    assert seconds[0] == pytest.approx(8 / 1.4) and seconds[2] == 0 and seconds[4] == 0


def test_changes_of_style_cost_and_a_style_is_kept(graph: MotionGraph, bend_tables: EdgeTables) -> None:
    words, first = bend_tables.rows["label_words"], bend_tables.edges["first"]
    last = first + bend_tables.edges["length"] - 1
    blends = graph.edges.kind == TRANSITION
    costs = style_differences(label_words(bend_tables.label_sets), words[first], words[last], blends)
    walk, jog = graph.find_clip("walk"), graph.find_clip("jog")
    within = (graph.edges.clip == walk) & (graph.edges.target_clip == walk)
    assert not costs[within].any()
    between = (graph.edges.clip == jog) & (graph.edges.target_clip == walk)
    assert (costs[between] > 0).all()
    result = FollowSearch(graph, cg.FollowRequest(path="line:length=10", style="jog"), tables=bend_tables).run()
    assert not result.problems
    jogging = np.zeros(len(result.clip), bool)
    for label in result.clip.labels:
        if matches_label("jog", label.text):
            jogging[label.start : label.stop] = True
    assert jogging.mean() > 0.9
    with pytest.raises(cg.RequestError, match="labelled 'moonwalk'"):
        cg.follow(graph, cg.FollowRequest(path="line", style="moonwalk"))


def test_limits_are_what_recordings_show_where_that_is_more(graph: MotionGraph, bend_tables: EdgeTables) -> None:
    recorded = bend_tables.lateral
    slow, fast = lateral_limits(cg.FollowAdvanced(), recorded)
    assert 1.5 <= slow <= 2.0 and 5.0 <= fast <= 6.0
    assert lateral_limits(cg.FollowAdvanced(max_lateral_m_s2=0.7), recorded) == (0.7, 0.7)
    assert lateral_limits(cg.FollowRequest(bend=False).settings, recorded) == (0.0, 0.0)


def test_tables_of_the_other_kind_are_not_used(graph: MotionGraph, tables: EdgeTables) -> None:
    follower = PathFollower(graph, cg.named_path("line", length=3), tables=tables)
    assert follower._tables.smooth_s > tables.smooth_s
    assert find_tables(graph).smooth_s == follower._tables.smooth_s


def test_progress_goes_to_where_a_path_turns_back() -> None:
    """Both sides of a way there and back are as near; progress that took the other one early would miss its end."""
    path = cg.Path(np.array([(0.0, 0.0), (0.0, 3.0), (0.0, 0.0)]))
    clip = demo_clip("walk", 60.0)[:300]
    z = np.concatenate([np.linspace(0, 3, 150), np.linspace(3, 0, 150)])
    root = np.stack([0.01 * np.sin(np.arange(300)), clip.root_pos[:, 1], z], axis=1)
    progress = find_progress(clip.with_frames(root, np.array(clip.local_rot)), path)
    np.testing.assert_allclose(progress.along, np.linspace(0, 6, 300), atol=0.06)
    assert progress.off.max() < 0.03


def test_at_twice_the_rate_half_as_many_walks_of_each_age_will_do(straight: MotionGraph) -> None:
    clips = [demo_clip(name, 60.0) for name in ("walk", "walk_fast", "walk_slow")]
    fast = cg.build_graph(clips, cg.GraphSettings(threshold_m=0.08, rate_hz=60.0), workers=1)
    widths = [PathFollower(g, cg.named_path("s"), cg.FollowRequest())._width for g in (straight, fast)]
    assert widths[1] <= 0.6 * widths[0]
    asked = cg.FollowRequest(advanced=cg.FollowAdvanced(beam_width=30))
    assert PathFollower(fast, cg.named_path("s"), asked)._width == 30
    result = cg.follow(fast, "s:radius=1.5")
    assert not result.problems and result.metrics["path_mean"].value < 0.03
