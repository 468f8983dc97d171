"""Requests that ask for clips which only long blends join are followed with them; all others are as they were."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import choreograph as cg
from choreograph.verbs.follow.goals import passage_costs
from choreograph.verbs.follow.long_blend_graph import graph_for
from choreograph.verbs.follow.request import FollowAdvanced
from choreograph.verbs.follow.search import FollowSearch

NAMES = ("16_15", "16_16", "16_47", "16_35", "16_36", "16_45", "16_46", "16_55", "16_56")


@pytest.fixture(scope="module")
def graph(recordings: Path) -> cg.MotionGraph:
    """Three walks, and six runs that no blend of a window's length joins to them."""
    clips = [cg.read_clip(recordings / "cmu" / "16" / f"{name}.amc") for name in NAMES]
    return cg.build_graph(clips, workers=1)


def stretch(**asked: object) -> cg.FollowRequest:
    return cg.FollowRequest(points=[(0, 0), (0, 20)], goals=[{"start_m": 7, "end_m": 14, **asked}])


def test_the_wider_graph_is_for_those_who_ask(graph: cg.MotionGraph) -> None:
    assert graph.wider is not graph
    line = cg.FollowRequest(points=[(0, 0), (0, 20)])
    for plain in (line, line.with_(label="walk"), stretch(speed_m_s=1.3), stretch(pause_s=1.0)):
        assert graph_for(graph, plain) is graph
    more = (stretch(label="run"), stretch(speed_m_s=3.0), line.with_(style="run"), line.with_(start={"clip": "16_35"}))
    for asking in (*more, line.with_(prefer={"16_36": 0.1})):
        assert graph_for(graph, asking) is graph.wider
    assert FollowSearch(graph, line).graph is graph
    assert FollowSearch(graph, line.with_(after={"request": stretch(label="run")})).graph is graph.wider


def test_walks_that_are_asked_nothing_are_as_without_long_blends(graph: cg.MotionGraph) -> None:
    without = cg.build_graph(graph.clips, cg.GraphSettings(max_blend_s=0), workers=1)
    here, there = (cg.follow(some, "line:length=6").clip for some in (graph, without))
    assert np.array_equal(here.root_pos, there.root_pos)


def test_a_stretch_is_run_and_what_is_before_and_after_is_walked(graph: cg.MotionGraph) -> None:
    result = cg.follow(graph, stretch(label="run").with_(points=[(0, 0), (0, 32)]))
    assert not result.problems
    along = result.clip.root_pos[:, 2]
    running = np.zeros(len(along), bool)
    for label in result.clip.labels:
        if "run" in label.text:
            running[label.start : label.stop] = True
    assert running[(along > 7) & (along < 14)].mean() >= 0.9
    assert not running[along < 4].any() and not running[along > 26].any()


def test_a_search_that_is_changed_takes_the_graph_that_it_needs(graph: cg.MotionGraph) -> None:
    search = FollowSearch(graph, stretch(speed_m_s=1.3))
    search.step()
    search.change(stretch(label="run"))
    assert search.graph is graph.wider
    search.change(stretch(speed_m_s=1.3))
    assert search.graph is graph


def test_streams_ask_too(graph: cg.MotionGraph) -> None:
    path = cg.load_path("line:length=12").with_stretch(0.0, 12.0, label="run")
    with cg.MotionStream(graph, path) as stream:
        frames = [next(stream) for _ in range(60)]
    way = np.linalg.norm(frames[-1].root_pos[[0, 2]] - frames[0].root_pos[[0, 2]])
    assert way * stream.rate_hz / 59 > 2.2, "nobody walks so fast"


def test_long_blends_cost_what_they_are_apart(graph: cg.MotionGraph) -> None:
    wider, settings = graph.wider, FollowAdvanced()
    number = np.arange(len(wider.edges))
    costs = passage_costs(wider, number, settings)
    assert wider.usual_clips is not None
    seconds = (wider.edges.stop - wider.edges.start) / wider.rate_hz
    rare = ~wider.usual_clips[wider.edges.target_clip]
    far = wider.edges.distance_m / wider.threshold_m
    times = 1 + 3 * np.where(far > 1, far, far**2)
    expected = np.where(wider.edges.kind == 1, settings.weights.transition * times, 0.0) + 0.02 * seconds * rare
    assert np.allclose(costs, expected)
    assert costs.max() > 4 * settings.weights.transition


def test_of_two_transitions_the_one_between_nearer_poses_costs_less(graph: cg.MotionGraph) -> None:
    edges = graph.edges
    blends = np.flatnonzero(edges.kind == 1)
    near, far = blends[edges.distance_m[blends].argmin()], blends[edges.distance_m[blends].argmax()]
    less, more = passage_costs(graph, np.array([near, far]), FollowAdvanced())
    assert less < 0.75 * more
    assert more <= 4.01 * FollowAdvanced().weights.transition, "no farther than the threshold"
