"""Answers to requests to follow a path."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.verbs.follow.followed import QUICK, Found, errors, follow_path, found_by, quick

from choreograph.base.errors import RequestError
from choreograph.contract.search import Budget
from choreograph.graph.model import MotionGraph
from choreograph.graph.tables import TRANSITION
from choreograph.scene.path import Path
from choreograph.scene.path_shapes import named_path
from choreograph.verbs.follow.request import FollowRequest
from choreograph.verbs.follow.search import FollowSearch, reuse_penalty
from choreograph.verbs.follow.tables import EdgeTables

QUICK_SEARCH = {"bend": False, "advanced": QUICK.advanced}


def share_that_differs(first: Found, second: Found) -> float:
    """Share of the frames of one walk whose clip and frame are shown nowhere in the other."""
    frames = []
    for result in (first, second):
        table, edges = result.walk.graph.edges, result.walk.edges
        frames.append({(int(table.clip[e]), f) for e in edges for f in range(table.start[e], table.stop[e])})
    return len(frames[0] - frames[1]) / len(frames[0])


def test_what_was_taken_is_dearer(graph: MotionGraph) -> None:
    change = np.flatnonzero(graph.edges.kind == TRANSITION)[:2]
    piece = np.flatnonzero(graph.edges.kind != TRANSITION)[:4]
    more = reuse_penalty(graph, np.concatenate([change, piece, change[:1]]), 0.05)
    assert np.flatnonzero(more).tolist() == change.tolist() and set(more[change]) == {0.05}
    # Who changed nothing shall not find the same clip again at another place.
    more = reuse_penalty(graph, piece, 0.05)
    assert (more > 0).tolist() == np.isin(graph.edges.clip, graph.edges.clip[piece]).tolist()
    assert more[piece].sum() == pytest.approx(0.05)
    assert not reuse_penalty(graph, piece[:0], 0.05).any()


def test_answers_differ_and_the_first_is_the_only_one_of_one(graph: MotionGraph, tables: EdgeTables) -> None:
    path = named_path("s", radius=2)
    asked = FollowRequest.of_path(path, **QUICK_SEARCH, count=3)
    search = FollowSearch(graph, asked, tables=tables)
    result = search.run()
    found = [found_by(follower) for follower in search._followers]
    np.testing.assert_array_equal(found[0].walk.edges, follow_path(graph, path, QUICK, tables=tables).walk.edges)
    for a, b in ((0, 1), (0, 2), (1, 2)):
        assert share_that_differs(found[a], found[b]) > 0.3
    changes = [set(r.walk.edges[graph.edges.kind[r.walk.edges] == TRANSITION].tolist()) for r in found]
    assert len(changes[0] & changes[1]) < 0.7 * len(changes[0])
    assert all(errors(one).mean() < 0.25 for one in found)
    assert [answer.status for answer in result.answers] == ["complete"] * 3
    with pytest.raises(RequestError, match=r"count is 0; it must be a number from 1 to 100"):
        asked.with_(count=0)


def test_walks_that_are_the_same_are_one_answer_and_said(graph: MotionGraph, tables: EdgeTables) -> None:
    walk = next(info.name for info in graph.infos if info.name == "walk")
    for penalty, different in ((0.0, 1), (0.5, 3)):
        asked = quick(weights={"reuse": penalty}).with_(path="line:length=4", count=3, start={"clip": walk, "frame": 0})
        result = FollowSearch(graph, asked, tables=tables).run()
        assert len(result.answers) == different
        said = [problem for problem in result.notes if problem.where == "count"]
        assert len(said) == (different < 3)
        assert not said or (said[0].got == 1 and said[0].kind == "fewer_answers")


def test_a_search_can_be_asked_at_any_step(graph: MotionGraph, tables: EdgeTables) -> None:
    search = FollowSearch(graph, FollowRequest("line:length=8", **QUICK_SEARCH), tables=tables)
    with pytest.raises(RequestError, match="no walk was found yet"):
        search.best()
    lengths = []
    while search.step(Budget(steps=2)):
        early = search.best()
        assert early.status == "searching" and not early.problems
        lengths.append(len(early.clip))
    whole = search.best()
    assert whole.status == "complete" and sorted({*lengths, len(whole.clip)}) == [*lengths, len(whole.clip)]
    assert len(lengths) > 2
    again = FollowSearch(graph, search.request, tables=tables).run()
    np.testing.assert_array_equal(again.clip.local_rot, whole.clip.local_rot)


def test_a_walk_goes_on_from_another(graph: MotionGraph, tables: EdgeTables) -> None:
    first = FollowRequest("line:length=5", **QUICK_SEARCH)
    on = FollowRequest(points=((3.0, 8.0),), after={"request": first}, **QUICK_SEARCH)
    search = FollowSearch(graph, on, tables=tables)
    result = search.run()
    alone = FollowSearch(graph, first, tables=tables).run()
    assert result.clip.seconds > alone.clip.seconds + 1.5
    np.testing.assert_allclose(result.clip.root_pos[-1, [0, 2]], (3.0, 8.0), atol=0.6)
    np.testing.assert_allclose(result.clip.local_rot[:60], alone.clip.local_rot[:60], atol=1e-6)
    assert search.path.length == pytest.approx(np.hypot(*(np.array((3.0, 8.0)) - search._earlier().place)), abs=1e-6)


# ------------------------------------------------------------------ what is said


def test_what_is_asked_and_not_met_is_said(graph: MotionGraph, tables: EdgeTables) -> None:
    line = named_path("line", length=8)

    def problems(path: Path, **how: object) -> dict[str, object]:
        asked = FollowRequest.of_path(path, **{**QUICK_SEARCH, **how})
        return {problem.where: problem for problem in FollowSearch(graph, asked, tables=tables).run().problems}

    assert not problems(line)
    fast = problems(line.with_stretch(1, 7, speed=9.0))["goals[0].speed_m_s"]
    assert fast.asked == 9.0 and 0.5 < fast.got < 5 and fast.unit == "m/s" and fast.place is not None
    hard = named_path("zigzag", legs=4)
    off = problems(hard, advanced=QUICK.advanced.with_(beam_width=2, starts=1)).get("path")
    assert off is not None and off.got > 0.05 and off.kind == "path_missed"
    assert problems(line.with_final_facing(np.pi)).keys() == {"facing_deg"}
    assert not problems(line.with_stretch(4, 4, pause=5.0)), "somebody in the clips can stand"
