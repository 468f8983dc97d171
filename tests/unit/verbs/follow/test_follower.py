"""The walk along a path, step by step."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.unit.verbs.follow.followed import (
    QUICK,
    Found,
    errors,
    follow,
    follow_path,
    found_by,
    quick,
    root_of,
    shown_clips,
    walked,
)

from choreograph.base.errors import RequestError
from choreograph.base.floor import FloorTransform
from choreograph.finishing.assemble import assemble
from choreograph.graph.model import MotionGraph
from choreograph.graph.tables import TRANSITION
from choreograph.scene.path import Path
from choreograph.scene.path_shapes import named_path
from choreograph.verbs.follow import follower as following
from choreograph.verbs.follow.follower import PathFollower
from choreograph.verbs.follow.request import FollowAdvanced, FollowRequest
from choreograph.verbs.follow.tables import EdgeTables


def speed_between(result: Found, start: float, stop: float) -> float:
    root = root_of(result)
    far = walked(root)
    fps = assemble(result.walk.as_montage()).fps
    a, b = np.searchsorted(far, [start, stop])
    return float((far[b] - far[a]) / ((b - a) / fps))


@pytest.mark.parametrize(("shape", "measures"), [("line", {"length": 8}), ("circle", {"radius": 3})])
@pytest.mark.parametrize("method", ["bound", "beam"])
def test_a_walk_stays_near_its_path(graph, tables, shape: str, measures: dict[str, float], method: str) -> None:
    result = follow(graph, named_path(shape, **measures), tables, method=method)
    assert result.status == "complete"
    assert errors(result).mean() < 0.08
    assert errors(result).max() < 0.25
    assert result.transitions_per_second < 1.2


def test_it_halts_when_the_paths_length_is_walked(graph: MotionGraph, tables: EdgeTables) -> None:
    result = follow(graph, named_path("line", length=6), tables, forced_progress_m_s=0.0)
    length = walked(root_of(result))[-1]
    assert 6 - 1.5 * tables.fastest < length < 6 + 1.5 * tables.fastest


def test_progress_is_forced_where_nobody_walks(graph: MotionGraph, tables: EdgeTables) -> None:
    """Whoever only stands gets to the end of a path of 1 m at 0.5 m/s all the same."""
    stand = graph.find_clip("stand")
    path = named_path("line", length=1)
    result = follow(
        graph, path, tables, forced_progress_m_s=0.5, start={"clip": "stand"}, prefer={"stand": 1e6}, horizon_s=2.5
    )
    assert set(graph.edges.clip[result.walk.edges]) == {stand}
    assert result.status == "complete"
    assert len(result.walk) / graph.rate_hz == pytest.approx(2.0, abs=0.4)


def test_the_reported_cost_is_that_of_the_steps(graph: MotionGraph, tables: EdgeTables) -> None:
    follower = PathFollower(graph, named_path("circle", radius=3), QUICK, tables=tables)
    before = 0.0
    while follower.step():
        step = follower.steps[-1]
        # Less is kept of a step than it looks ahead, so less than its cost is incurred.
        assert 0 <= follower.cost() - before <= step.cost + 1e-9
        before = follower.cost()
    assert follower.status == "complete"
    assert sum(step.frames for step in follower.steps) == follower.frames == len(follower.walk())
    assert all(0 <= step.gap <= step.cost + 1e-12 for step in follower.steps)
    assert all(step.proved == (step.gap <= 1e-12) for step in follower.steps)


def test_branch_and_bound_is_not_worse_than_its_beam(graph: MotionGraph, tables: EdgeTables) -> None:
    path = named_path("s", radius=2)
    one = {"starts": 1, "retain_s": 3.0}
    costs = {}
    for method in ("beam", "bound"):
        follower = PathFollower(graph, path, quick(**one, method=method), tables=tables)
        follower.step()
        costs[method] = follower.steps[0].cost
    assert costs["bound"] <= costs["beam"] + 1e-12


def test_more_budget_proves_more(graph: MotionGraph, tables: EdgeTables) -> None:
    path, gaps = named_path("line", length=5), []
    for budget in (0, 1000, 30_000):
        follower = PathFollower(graph, path, quick(horizon_s=1.0, work_limit=budget), tables=tables)
        follower.step()
        gaps.append(follower.steps[0].gap)
        assert gaps[-1] <= follower.steps[0].cost + 1e-12
    assert gaps[0] >= gaps[1] >= gaps[2]
    assert gaps[2] < gaps[0]


# ------------------------------------------------------------------ where it begins


def test_a_start_is_taken_as_given(graph: MotionGraph, tables: EdgeTables) -> None:
    path = named_path("line", length=4)
    result = follow(graph, path, tables, start={"clip": "walk", "frame": 150, "facing_deg": 30})
    first = result.walk.edges[0]
    info = graph.infos[graph.edges.clip[first]]
    assert info.name == "walk"
    frames = graph.nodes.frame[graph.nodes.clip == graph.find_clip("walk")] * info.fps / graph.rate_hz
    assert graph.edges.start[first] * info.fps / graph.rate_hz == frames[np.abs(frames - 150).argmin()]
    root = root_of(result)
    np.testing.assert_allclose(root[0], [0, 0], atol=2e-3)
    way = root[round(0.5 * info.fps)] - root[0]
    assert np.degrees(np.arctan2(*way)) == pytest.approx(30, abs=8)


def test_a_start_outside_the_connected_part_is_refused(graph: MotionGraph) -> None:
    nodes = graph.nodes
    keep = nodes.clip != graph.find_clip("jog")
    number = np.cumsum(keep) - 1
    edges = graph.edges
    inside = keep[edges.source] & keep[edges.target]
    kept = edges.take(inside)
    kept = replace(kept, source=number[kept.source], target=number[kept.target])
    smaller = MotionGraph(
        graph.settings, graph.threshold_m, graph.clips, graph.infos,
        {"nodes": nodes.take(keep), "edges": kept, "minima": graph.minima}, searched_m=graph.searched_m,
    )  # fmt: skip
    with pytest.raises(RequestError, match=r"'jog' is not in the graph's connected part; begin in one of: .*walk"):
        follow_path(smaller, named_path("line"), quick(start={"clip": "jog"}))


def test_the_same_seed_gives_the_same_walk(graph: MotionGraph, tables: EdgeTables) -> None:
    path = named_path("s", radius=2)
    walks = [follow(graph, path, tables, seed=seed).walk for seed in (0, 0, 1, 2, 3)]
    np.testing.assert_array_equal(walks[0].edges, walks[1].edges)
    assert walks[0].start == walks[1].start
    assert any(not np.array_equal(walks[0].edges, walk.edges) for walk in walks[2:])


# ------------------------------------------------------------------ preferences


def test_another_clip_must_be_better_by_the_margin(graph, tables, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dirican (2014, 4.2.1): change only if w_different < w_current - margin."""
    path = named_path("circle", radius=2.5, turns=0.5)
    seen: list[tuple[int, float]] = []
    inner = PathFollower._by_beam

    def listening(self, beam, since, starts, marks, stay_in, late):  # type: ignore[no-untyped-def]
        answer = inner(self, beam, since, starts, marks, stay_in, late)
        seen.append((stay_in, answer[0].cost if answer[0] else np.inf))
        return answer

    monkeypatch.setattr(PathFollower, "_by_beam", listening)
    clip = graph.find_clip("walk")

    def first_step(margin: float) -> tuple[bool, float, float]:
        seen.clear()
        how = quick(prefer={"walk": margin}, starts=1, retain_s=3.0)
        follower = PathFollower(graph, path, how, tables=tables)
        follower.step()
        free = min(cost for stay_in, cost in seen if stay_in == -1)
        stays = [cost for stay_in, cost in seen if stay_in == clip][-1]
        return bool((graph.edges.target_clip[follower.edges] == clip).all()), free, stays

    stayed, free, stays = first_step(1e-6)
    lead = stays - free
    assert lead > 1e-3
    assert not stayed
    assert first_step(lead * 0.99)[0] is False
    assert first_step(lead * 1.01)[0] is True


def test_it_begins_in_the_clip_with_the_largest_margin(graph: MotionGraph, tables: EdgeTables) -> None:
    margins = {"walk": 0.1, "walk_fast": 0.3}
    result = follow(graph, named_path("line", length=3), tables, prefer=margins)
    assert shown_clips(result)[0] == "walk_fast"


# ------------------------------------------------------------------ budgets


def test_the_plain_search_of_the_thesis_runs(graph: MotionGraph, tables: EdgeTables) -> None:
    path = named_path("circle", radius=2.5)
    result = follow(graph, path, tables, method="thesis", horizon_s=2.0, work_limit=20_000)
    assert result.status in ("complete", "given up")
    assert all(step.scored < 25_000 for step in result.steps)
    assert result.cost > follow(graph, path, tables, weights={"transition": 0.0}).cost


def test_without_any_budget_there_is_the_beam_or_a_sentence(graph: MotionGraph, tables: EdgeTables) -> None:
    path = named_path("line", length=4)
    result = follow(graph, path, tables, work_limit=0)
    assert result.status == "complete"
    assert not result.proved
    np.testing.assert_array_equal(result.walk.edges, follow(graph, path, tables, method="beam").walk.edges)
    with pytest.raises(RequestError, match="allow more work_limit"):
        follow(graph, path, tables, work_limit=0, method="thesis")


def test_when_time_is_up_the_rest_is_found_quickly(graph, tables, monkeypatch: pytest.MonkeyPatch) -> None:
    path = named_path("circle", radius=3)
    at_leisure = follow(graph, path, tables)
    clock = iter(np.arange(0.0, 1e6, 1.0))
    monkeypatch.setattr(following.time, "monotonic", lambda: next(clock))
    hurried = follow(graph, path, tables, time_limit_s=3.5)
    assert hurried.status == "complete"
    scored = [step.scored for step in hurried.steps]
    assert max(scored[5:]) < max(step.scored for step in at_leisure.steps) / 3
    assert errors(hurried).mean() < 0.5


# ------------------------------------------------------------------ constraints along the path


def test_a_speed_asked_for_is_kept(graph: MotionGraph, tables: EdgeTables) -> None:
    line = named_path("line", length=12)
    speeds = [
        speed_between(follow(graph, line.with_stretch(0, 12, speed=speed), tables, weights={"speed": 0.2}), 3, 11)
        for speed in (1.2, 2.8)
    ]
    assert speeds[1] - speeds[0] > 0.8


def test_a_label_asked_for_is_shown(graph: MotionGraph, tables: EdgeTables) -> None:
    line = named_path("line", length=12).with_stretch(0, 4, label="walk").with_stretch(4, 10, label="jog")
    made = assemble(follow(graph, line, tables).walk.as_montage())
    far = walked(made.root_pos[:, [0, 2]])
    jogging = np.zeros(len(made), bool)
    for label in made.labels:
        if label.text == "jog":
            jogging[label.start : label.stop] = True
    assert jogging[(far > 5) & (far < 9.5)].mean() > 0.9
    assert jogging[far < 2.5].mean() < 0.3


def test_a_pause_is_stood_through(graph: MotionGraph, tables: EdgeTables) -> None:
    line = named_path("line", length=8)
    paused = follow(graph, line.with_stretch(4, 4, pause=3.0), tables, horizon_s=5.0, weights={"speed": 0.1})
    plain = follow(graph, line, tables)
    assert paused.status == "complete"
    assert len(paused.walk) - len(plain.walk) > 1.5 * graph.rate_hz
    made = assemble(paused.walk.as_montage())
    speed = np.hypot(*np.diff(made.root_pos[:, [0, 2]], axis=0).T) * made.fps
    second = round(made.fps)
    calm = np.convolve(speed, np.ones(second) / second, "valid")
    assert calm.min() < 0.15


def test_the_final_facing_is_turned_to(graph: MotionGraph, tables: EdgeTables) -> None:
    line = named_path("line", length=5)

    def turned(facing: float, seed: int) -> float:
        # As it is followed by default: a narrow beam with a near horizon turns in at one seed and not at the next.
        how = FollowRequest(bend=False, advanced=FollowAdvanced(weights={"facing": 0.3}), seed=seed)
        made = assemble(follow_path(graph, line.with_final_facing(facing), how, tables=tables).walk.as_montage())
        return float(np.cos(made.facing()[-1] - facing))

    for seed in range(3):
        assert turned(np.radians(60), seed) > np.cos(np.radians(45))
        assert turned(np.radians(-60), seed) > np.cos(np.radians(45))


# ------------------------------------------------------------------ candidates, changed paths


def test_the_path_can_be_changed_on_the_way(graph: MotionGraph, tables: EdgeTables) -> None:
    follower = PathFollower(graph, named_path("line", length=10), QUICK, tables=tables)
    for _ in range(3):
        follower.step()
    before = list(follower.edges)
    x, z = follower._here()
    there = named_path("circle", radius=4, turns=0.5).moved(FloorTransform(0.0, x, z))
    follower.change_path(there)
    while follower.step():
        pass
    assert follower.edges[: len(before)] == before
    assert follower.status == "complete"
    root = root_of(found_by(follower))
    assert np.linalg.norm(root[-1] - there.points[-1]) < 0.6


def test_whoever_has_arrived_can_be_sent_on(graph: MotionGraph, tables: EdgeTables) -> None:
    follower = PathFollower(graph, named_path("line", length=4), QUICK, tables=tables)
    while follower.step():
        pass
    assert follower.status == "complete"
    follower.change_path(named_path("line", length=8))
    while follower.step():
        pass
    result = found_by(follower)
    assert result.status == "complete"
    # All of the motion is there: no frame between the first path's end and where its last edge ended is missing.
    assert walked(root_of(result))[-1] == pytest.approx(8, abs=0.2)


# ------------------------------------------------------------------ what cannot be


def test_a_path_shorter_than_a_stride_has_an_answer(graph: MotionGraph, tables: EdgeTables) -> None:
    for length in (0.3, 0.01):
        result = follow(graph, named_path("line", length=length), tables)
        assert result.status == "complete"
        assert len(result.walk) >= 1


def test_a_long_path_takes_no_more_memory_than_it_is_long(graph, tables, peak_memory) -> None:
    how = quick(method="beam", beam_width=10, horizon_s=2.0)
    follow_path(graph, named_path("line", length=5), how, tables=tables)

    def go(length: float) -> int:
        return peak_memory(lambda: follow_path(graph, named_path("line", length=length), how, tables=tables))

    assert go(300.0) - go(30.0) < 8e6


def test_what_does_not_exist_is_named_with_what_does(graph: MotionGraph, tables: EdgeTables) -> None:
    line = named_path("line", length=3)
    with pytest.raises(RequestError, match="no clip of the graph is called 'moonwalk'; there are: walk"):
        follow(graph, line, tables, prefer={"moonwalk": 1.0})
    with pytest.raises(RequestError, match="no clip of the graph is called 'moonwalk'"):
        follow(graph, line, tables, start={"clip": "moonwalk"})
    with pytest.raises(RequestError, match="labelled 'swim'; labels are"):
        follow(graph, line.with_stretch(0, 2, label="swim"), tables)


def test_an_empty_graph_is_refused(graph: MotionGraph) -> None:
    empty = MotionGraph(
        graph.settings, 0.01, graph.clips, graph.infos,
        {"nodes": graph.nodes.take([]), "edges": graph.edges.take([]), "minima": graph.minima.take([])},
        searched_m=0.01,
    )  # fmt: skip
    with pytest.raises(RequestError, match="the graph is empty"):
        follow_path(empty, named_path("line"))


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"method": "luck"}, "method is 'luck'; it must be one of 'bound', 'beam', 'thesis'"),
        ({"horizon_s": 0.0}, "horizon_s is 0.0; it must be a number above 0, up to 600 s"),
        ({"beam_width": 0}, "beam_width is 0; it must be a number from 1 to"),
        ({"starts": -1}, "starts is -1"),
        ({"work_limit": -1}, "work_limit is -1; it must be a number from 0 to"),
        ({"weights": {"transition": np.nan}}, "weights.transition is nan; it must be a number"),
        ({"weights": {"facing": -1.0}}, "weights.facing is -1.0"),
        ({"retain_s": 9.0}, "retain_s is 9; it cannot be longer than horizon_s, 3"),
        ({"horizon_s": 0.03, "retain_s": 0.01}, "less than two frames"),
        ({"prefer": {"walk": -1.0}}, "prefer.walk is -1.0"),
        ({"start": {"frame": 3}}, "start.frame needs clip"),
        ({"start": {"facing_deg": np.inf}}, "start.facing_deg is inf; it must be a number"),
        ({"time_limit_s": -1.0}, "time_limit_s is -1.0"),
    ],
)
def test_settings_that_cannot_be_are_named(graph: MotionGraph, tables, how: dict[str, object], says: str) -> None:
    with pytest.raises(RequestError, match=says):
        follow(graph, named_path("line", length=3), tables, **how)


def test_a_fork_goes_its_own_way_and_leaves_the_first_as_it_is(graph: MotionGraph, tables: EdgeTables) -> None:
    first = PathFollower(graph, named_path("line", length=8), QUICK, tables=tables)
    assert first.place == (0.0, 0.0)
    while first.step():
        pass
    edges, frames, here = list(first.edges), first.frames, np.array(first.place)
    np.testing.assert_allclose(here, [0, 8], atol=0.6)
    ends = []
    for side in (-1, 1):
        there = np.add(here, (2.5 * side, 2.5))
        fork = first.forked(Path(np.array([here, there])))
        assert fork.status == "searching"
        while fork.step():
            pass
        shared = int(np.argmax([a != b for a, b in zip(fork.edges, edges, strict=False)] + [True]))
        assert fork.status == "complete" and 0 < shared < len(edges), "all but the last moments are kept"
        assert fork.path.length > 3.5, "the rest of the first path comes before the second"
        np.testing.assert_allclose(fork.place, there, atol=0.6)
        ends.append(fork.edges)
    assert ends[0] != ends[1]
    assert first.edges == edges and first.frames == frames and first.status == "complete"
    taken = np.unique(ends[1][shared:])
    dear = np.zeros(len(graph.edges))
    dear[taken[graph.edges.kind[taken] == TRANSITION]] = 1.0
    other = first.forked(Path(np.array([here, there])), edge_costs=dear)
    while other.step():
        pass
    assert other.edges != ends[1], "what earlier ones took costs more"


def test_who_leaves_for_another_path_gets_there(graph: MotionGraph, tables: EdgeTables) -> None:
    follower = PathFollower(graph, named_path("line", length=8), QUICK, tables=tables)
    for _ in range(3):
        follower.step()
    x, z = follower.place
    aside = Path(np.array([(x + 3.0, z), (x + 9.0, z)]))
    follower.change_path(aside)
    while follower.step():
        pass
    # The point to be at waits for whoever has to turn first; else they would stay behind it to the end.
    assert follower.status == "complete"
    np.testing.assert_allclose(follower.place, (x + 9.0, z), atol=0.6)
