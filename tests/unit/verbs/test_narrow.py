"""What requests are answered from: what they ask for, and of archives as much as can be looked through."""

from __future__ import annotations

from typing import Any

import pytest

import choreograph as cg
from choreograph.base.errors import RequestError
from choreograph.contract.clip_filter import ChosenRequest
from choreograph.contract.verb import EXAMPLES, GRAPH
from choreograph.demo import demo_clip
from choreograph.graph.model import MotionGraph
from choreograph.verbs import find_verb, rooms
from choreograph.verbs.clip_selection import narrow

LINE = {"goal": {"position": (0.0, 2.0)}}


@pytest.fixture(scope="module")
def graph() -> MotionGraph:
    return cg.build_graph([demo_clip(name, 30.0) for name in ("walk", "walk_veer_left", "walk_veer_right", "jog")])


def test_every_verb_of_a_graph_or_of_examples_takes_only() -> None:
    for name in rooms():
        verb = find_verb(name)
        assert issubclass(verb.request, ChosenRequest) == (verb.subject in (GRAPH, EXAMPLES)), name


def test_only_is_given_by_name() -> None:
    assert cg.SolveRequest(2.0).duration_s == 2.0
    assert cg.FollowRequest("line", only="walk").as_document() == {"path": "line", "only": "walk"}
    assert cg.SolveRequest(2.0, only="walk").only == "walk"


def test_follow_is_answered_from_what_is_asked_for(graph: MotionGraph) -> None:
    result = cg.follow(graph, cg.FollowRequest("line:length=3", only="walk not left"))
    shown = {run.clip for motion in result.best.motions for run in motion.sources}
    assert shown <= {"walk", "walk_veer_right"} and not result.notes
    alone = cg.follow(graph.only("walk not left"), "line:length=3")
    assert (alone.clip.root_pos == result.clip.root_pos).all()


def test_a_search_that_is_asked_for_others_goes_on_with_those(graph: MotionGraph) -> None:
    search = cg.FollowSearch(graph, cg.FollowRequest("line:length=2", only="jog or walk"))
    search.run()
    search.change(cg.FollowRequest("line:length=2", only="walk"))
    search.run()
    assert {info.name for info in search.graph.infos} == {"walk", "walk_veer_left", "walk_veer_right"}


def test_what_matched_but_is_not_connected_is_said(graph: MotionGraph) -> None:
    with pytest.raises(RequestError, match=r"only 'jog' matches 1 of 4 clips \(\d+ s\), but no transitions"):
        narrow(
            cg.build_graph(list(graph.clips), cg.GraphSettings(threshold_m=1e-6)), cg.FollowRequest("line", only="jog")
        )


def test_of_an_archive_some_are_chosen_and_that_is_said(graph: MotionGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cg.SolveRequest, "most_frames", 200)
    request = cg.SolveRequest(
        1.0, [cg.PlaceGoal(0.0, (0.0, 0.0), 0.0), cg.PlaceGoal(1.0, (0.0, 1.0))], count=1, work_limit=1
    )
    assert narrow(graph, request).subject is graph
    monkeypatch.setattr(cg.SolveRequest, "whole_frames", 200)
    found = narrow(graph, request)
    assert 0 < found.subject.clip_frames.sum() <= 200 < graph.clip_frames.sum()
    assert narrow(graph, request.with_(duration_s=2.0)).subject is found.subject
    assert cg.solve(graph, request).problems[0].kind == "library_sampled"
    named = narrow(graph, request.with_(goals=[cg.PoseGoal(0.5, cg.PoseSource("jog", 3))]))
    assert "jog" in [info.name for info in named.subject.infos]


def test_recordings_are_chosen_too(graph: MotionGraph) -> None:
    clips = list(graph.clips)
    assert [clip.name for clip in narrow(clips, cg.PerformRequest(only="jog")).subject] == ["jog"]
    assert narrow(clips, cg.PerformRequest()).subject is clips


@pytest.mark.parametrize("verb", [cg.follow, cg.solve, cg.plan, cg.steer])
def test_what_is_no_request_and_no_graph_is_refused_with_a_sentence(graph: MotionGraph, verb: Any) -> None:
    kind = f"{verb.__name__.capitalize()}Request"
    with pytest.raises(RequestError, match=rf"is a {kind}, not list; fill one in: cg.{kind}"):
        verb(graph, [(0, 0), (1, 2)])
    with pytest.raises(RequestError, match=r"'people.mog' is the name of a file; open it first: open_graph\("):
        find_verb(verb.__name__).search("people.mog", find_verb(verb.__name__).request.model_construct())


def test_every_verb_is_answered_from_more_than_it_would_choose() -> None:
    for kind in (find_verb(name).request for name in rooms()):
        if issubclass(kind, ChosenRequest):
            assert kind.whole_frames > kind.most_frames, kind
