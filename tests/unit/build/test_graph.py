from __future__ import annotations

import numpy as np
import pytest
from tests.unit.build.test_retarget import other_person

from choreograph.base.errors import Cancelled, RequestError, SkeletonMismatch
from choreograph.base.progress import Recorder
from choreograph.build import comparison
from choreograph.build import incremental as few
from choreograph.build.graph import add_clips, build_graph, remove_clips
from choreograph.build.joins import find_joining_thresholds
from choreograph.demo import demo_clip
from choreograph.distance.window import align_plainly
from choreograph.features.weights import joint_weights
from choreograph.graph.model import MotionGraph, random_walk_numpy
from choreograph.graph.report import report_graph
from choreograph.graph.settings import EVERYTHING, GraphSettings, LabelThreshold
from choreograph.graph.tables import TABLES, Minima
from choreograph.motion.clip import Note
from choreograph.motion.retarget import retarget
from choreograph.motion.skeleton import Skeleton


def assert_same(first: MotionGraph, second: MotionGraph) -> None:
    assert first.settings == second.settings
    assert first.threshold_m == second.threshold_m
    assert first.searched_m == second.searched_m
    assert first.infos == second.infos
    assert first.notes == second.notes
    for part in TABLES:
        for name, column in getattr(first, part).columns().items():
            assert np.array_equal(column, getattr(getattr(second, part), name)), (part, name)
    for mine, theirs in zip(first.clips, second.clips, strict=True):
        assert np.array_equal(mine.root_pos, theirs.root_pos)
        assert np.array_equal(mine.local_rot, theirs.local_rot)


def test_walks_connect_and_the_march_stays_out(walks):
    graph = build_graph(walks)
    report = report_graph(graph)
    assert [clip.state for clip in report.clips] == ["kept", "kept", "kept", "island"]
    assert report.nodes == len(graph.nodes) > 4
    assert 0.4 < report.recorded / report.frames < report.shown / report.frames < 1
    assert {label.label: label.recorded > 0 for label in report.labels} == {"march": False, "walk": True}
    assert report.nodes <= report.cut_points - report.dead_ends - report.sinks
    assert report.dead_ends > 0
    assert report.sinks > 0


def test_transitions_are_as_near_as_they_say_and_lie_where_they_say(walks):
    graph = build_graph(walks)
    length = graph.window_frames
    weights = joint_weights(graph.skeleton.roles)
    taper = np.minimum(np.arange(length) + 1, length - np.arange(length))
    found = graph.transitions
    assert len(found) > 20
    for row in range(0, len(found), 7):
        a = graph.clips[found.source_clip[row]].global_positions()[found.source_frame[row] :][:length]
        b = graph.clips[found.target_clip[row]].global_positions()[found.target_frame[row] :][:length]
        distance, *_ = align_plainly(a, b, weights, taper / taper.sum())
        assert found.distance_m[row] == pytest.approx(distance, abs=1e-5)
        laid = found.transform(row).apply(b)
        w = np.outer(taper, weights) / np.outer(taper, weights).sum()
        assert np.sqrt((w * np.square(laid - a).sum(axis=2)).sum()) == pytest.approx(distance, abs=1e-5)


def test_a_million_random_steps_never_end(walks):
    graph = build_graph(walks)
    walk = graph.random_walk(1_000_000, np.random.default_rng(1))
    assert np.array_equal(graph.edges.target[walk[:-1]], graph.edges.source[walk[1:]])
    assert len(np.unique(walk)) == len(graph.edges)
    # Frames run on without a gap: an edge begins where the one before it arrived.
    before, after = walk[:-1], walk[1:]
    edges = graph.edges
    arrived = edges.target_start[before] + edges.stop[before] - edges.start[before]
    assert np.array_equal(edges.target_clip[before], edges.clip[after])
    assert np.array_equal(arrived, edges.start[after])


def test_the_compiled_walk_is_the_plain_one(walks):
    graph = build_graph(walks)
    draws = np.random.default_rng(3).random(500)
    plain = random_walk_numpy(graph.first_edge, graph.edges.target, 2, draws)
    again = graph.random_walk(500, np.random.default_rng(3), start=2)
    assert np.array_equal(plain, again)


def test_the_rate_of_the_graph_is_not_the_clips(walker):
    clips = [walker.walk("a", 4.0, fps=120.0), walker.walk("b", 4.0, fps=60.0, phase=1.0, turn=0.4)]
    graph = build_graph(clips)
    assert [clip.fps for clip in graph.clips] == [120.0, 60.0]
    assert graph.clip_frames.tolist() == [120, 120]
    assert graph.own_frame(0, 30) == 120.0
    assert len(graph.nodes)


def test_one_clip_can_loop(walker):
    graph = build_graph([walker.walk("alone", 5.0)])
    assert len(graph.nodes) > 1


def test_no_connection_is_an_empty_graph_with_advice(walker):
    clips = [walker.walk("short", 0.8), walker.walk("march", 0.8, swing=1.4, stride_hz=1.6, speed=0.2)]
    graph = build_graph(clips)
    assert len(graph.nodes) == len(graph.edges) == 0
    assert all(clip.state != "kept" for clip in report_graph(graph).clips)
    with pytest.raises(RequestError, match="empty"):
        graph.random_walk(3, np.random.default_rng(0))


def test_short_clips_are_left_out_with_a_note(walks, walker):
    graph = build_graph([*walks, walker.walk("blink", 0.2)])
    assert [info.name for info in graph.infos] == ["straight", "left", "right", "march"]
    assert "blink" in str(graph.notes[0])
    with pytest.raises(RequestError, match="blink"):
        build_graph([walker.walk("blink", 0.2)])
    with pytest.raises(RequestError, match="no clip"):
        build_graph([])


def test_other_bodies_are_retargeted_and_said_so(walks, walker):
    tall = walker.walk("tall", 4.0, scale=1.1)
    with pytest.raises(SkeletonMismatch, match=r"'straight' and 'tall'.*onto"):
        build_graph([*walks, tall], onto=False)
    graph = build_graph([*walks, tall])
    assert report_graph(graph).clips[-1].state == "kept" and graph.skeleton.matches(walks[0].skeleton)
    assert [str(note) for note in graph.notes if note.kind == "retargeted"] == [
        f"retargeted to the body of 'straight': 'tall' ({len(tall.skeleton)} joints from 'Hips')"
    ]
    assert build_graph([*walks, tall], onto=tall.skeleton).skeleton.matches(tall.skeleton)
    few = Skeleton(walker.names[:3], walker.parents[:3], walker.offsets[:3])
    stump = type(tall)(few, 30.0, np.zeros((30, 3)), np.tile([1.0, 0, 0, 0], (30, 3, 1)), "stump")
    graph = build_graph([*walks, stump])
    assert "stump" not in [info.name for info in graph.infos]
    assert any("'stump' was left out: no legs" in str(note) for note in graph.notes)


def test_clips_of_one_name_are_told_apart(walker):
    clips = [walker.walk("a", 3.0), walker.walk("a", 3.0, turn=0.3), walker.walk("a_mirrored", 3.0, phase=1.0)]
    graph = build_graph(clips, GraphSettings(mirror=True))
    names = [info.name for info in graph.infos]
    assert len(set(names)) == 6
    assert names[:2] == ["a", "a_mirrored"]


def test_mirrored_copies_follow_their_originals(walks):
    graph = build_graph(walks[1:2], GraphSettings(mirror=True))
    assert [info.name for info in graph.infos] == ["left", "left_mirrored"]
    assert graph.infos[1].mirror_of == 0
    assert np.array_equal(graph.clips[1].root_pos, walks[1].mirrored().root_pos)
    assert {0, 1} == set(graph.nodes.clip.tolist())


def test_labels_have_thresholds_of_their_own(walks):
    plain = build_graph(walks[:3])
    strict = build_graph(walks[:3], GraphSettings(label_thresholds=(LabelThreshold("walk", "walk", 0.01),)))
    assert strict.transitions.distance_m.max() <= 0.01 < plain.transitions.distance_m.max()
    near = plain.transitions.distance_m <= 0.01
    assert np.array_equal(strict.transitions.distance_m, plain.transitions.distance_m[near])


def test_a_goal_takes_the_lowest_threshold_that_reaches_it(walks):
    graph = build_graph(walks[:3], GraphSettings(goal=0.8, threshold_m=0.005))
    share = report_graph(graph).shown / graph.clip_frames.sum()
    assert share >= 0.8
    below = build_graph(walks[:3], GraphSettings(threshold_m=graph.threshold_m * (1 - 1e-9)))
    assert report_graph(below).shown / below.clip_frames.sum() < 0.8


def test_everything_connects_if_the_ceiling_allows_it(walks):
    graph = build_graph(walks, GraphSettings(goal=EVERYTHING, ceiling_m=1.0))
    assert not report_graph(graph).lost
    low = build_graph(walks, GraphSettings(goal=EVERYTHING, ceiling_m=0.06))
    assert report_graph(low).lost
    assert low.threshold_m == 0.06
    assert "not reached" in str(low.notes[-1])


def test_lost_clips_are_told_the_threshold_that_brings_them_in(walks):
    graph = build_graph(walks)
    found = find_joining_thresholds(graph, 1.0)
    assert list(found) == ["march"]
    inside = build_graph(walks, GraphSettings(threshold_m=found["march"]))
    assert not report_graph(inside).lost
    outside = build_graph(walks, GraphSettings(threshold_m=found["march"] - 0.001))
    assert [clip.name for clip in report_graph(outside).lost] == ["march"]
    assert report_graph(graph, found).clips[3].joins_at_m == found["march"]


def test_label_thresholds_reach_farther_only_where_they_apply(walks):
    settings = GraphSettings(label_thresholds=(LabelThreshold("walk", "march", 0.9),))
    graph = build_graph(walks, settings)
    march = (graph.minima.clip_a == 3) ^ (graph.minima.clip_b == 3)
    assert graph.minima.distance_m[march].max() > 0.2
    assert graph.minima.distance_m[~march].max() <= 0.05
    wide = build_graph(walks, GraphSettings(threshold_m=0.9))
    across = (wide.minima.clip_a == 3) ^ (wide.minima.clip_b == 3)
    assert np.array_equal(graph.minima.distance_m[march], wide.minima.distance_m[across])
    assert_same(add_clips(build_graph(walks[:2], settings), walks[2:]), graph)


@pytest.mark.parametrize("mirror", [False, True])
def test_adding_gives_what_building_at_once_gives(walks, mirror):
    settings = GraphSettings(mirror=mirror, threshold_m=0.08)
    whole = build_graph(walks, settings)
    grown = add_clips(build_graph(walks[:2], settings), walks[2:])
    assert_same(grown, whole)
    assert_same(add_clips(whole, []), whole)


def test_people_who_are_added_stand_as_those_who_are_there():
    own, veer = (demo_clip(name, 30.0) for name in ("walk", "walk_veer_left"))
    other = retarget(veer, other_person(own.skeleton)).with_name("other")
    # Of the other one's feet alone nobody could tell how the first one stands: a little above the floor.
    own = own.with_frames(own.root_pos + np.array([0.0, 0.02, 0.0]), own.local_rot)
    whole, grown = build_graph([own, other], onto=own.skeleton), add_clips(build_graph([own]), [other])
    assert np.array_equal(whole.clips[1].root_pos, grown.clips[1].root_pos)
    assert np.array_equal(whole.clips[1].local_rot, grown.clips[1].local_rot)
    assert np.array_equal(whole.edges.distance_m, grown.edges.distance_m)


@pytest.mark.parametrize("first", [0, 2])
def test_adding_to_an_archive_group_by_group_gives_the_same(walks, monkeypatch, tmp_path, first):
    settings = GraphSettings(threshold_m=0.08)
    small = build_graph([*walks[:first], *walks[first + 2 :]], settings)
    plain = add_clips(small, walks[first : first + 2])
    monkeypatch.setattr(comparison, "_SOME_FRAMES", 0)
    monkeypatch.setattr(few, "GROUP_FRAMES", 1)
    monkeypatch.setenv("CHOREOGRAPH_CACHE", str(tmp_path))
    measure, measured = few.measure_outlines, []
    monkeypatch.setattr(few, "measure_outlines", lambda library: measured.append(library) or measure(library))
    assert_same(add_clips(small, walks[first : first + 2]), plain)
    assert len(small.infos) <= len(measured) <= 2 * len(walks), "clip by clip"
    measured.clear()
    assert_same(add_clips(small, walks[first : first + 2]), plain)
    assert not measured, "what was measured is kept"


@pytest.mark.parametrize("mirror", [False, True])
def test_removing_gives_what_building_without_gives(walks, mirror):
    settings = GraphSettings(mirror=mirror, threshold_m=0.08)
    whole = build_graph(walks, settings)
    assert_same(remove_clips(whole, ["left"]), build_graph([walks[0], *walks[2:]], settings))


def test_notes_about_clips_that_are_removed_go_with_them(walks):
    graph = build_graph(walks)
    both, one = (
        Note("body", "retargeted to one body: 'left', 'straight'"),
        Note("body", "retargeted to one body: 'left'"),
    )
    graph.notes = (Note("rate", "all are of 30 Hz"), both, one)
    assert [note.message for note in remove_clips(graph, ["left"]).notes] == ["all are of 30 Hz", both.message]


def test_adding_under_a_goal_gives_what_building_at_once_gives(walks):
    settings = GraphSettings(goal=EVERYTHING, threshold_m=0.01, ceiling_m=1.0)
    whole = build_graph(walks, settings)
    small = build_graph(walks[:3], settings)
    assert small.searched_m < whole.searched_m
    assert_same(add_clips(small, walks[3:]), whole)
    assert_same(remove_clips(whole, ["march"]), small)


def test_adding_compares_only_new_pairs(walks):
    every, new = Recorder(), Recorder()
    graph = build_graph(walks[:3], progress=every)
    add_clips(graph, walks[3:], progress=new)
    build_graph(walks, progress=every)

    def compared(recorder: Recorder) -> int:
        return max(total for stage, _, total in recorder.calls if "compar" in stage)

    assert 0 < compared(new) < 0.6 * compared(every)


def test_removing_what_is_not_there_or_everything_is_refused(walks):
    graph = build_graph(walks[:2], GraphSettings(mirror=True))
    with pytest.raises(RequestError, match=r"'lef'.*straight"):
        remove_clips(graph, ["lef"])
    with pytest.raises(RequestError, match="mirrored copy"):
        remove_clips(graph, ["left_mirrored"])
    with pytest.raises(RequestError, match="without clips"):
        remove_clips(graph, ["straight", "left"])


def test_progress_can_cancel(walks):
    with pytest.raises(Cancelled):
        build_graph(walks, progress=Recorder(cancel_after=2))


def test_a_few_minima_are_put_where_sorting_puts_them(rng, monkeypatch):
    keys = np.unique(rng.integers(0, 4, (900, 4)), axis=0).astype(np.int32)
    rest = np.arange(4 * len(keys), dtype=float).reshape(4, -1)
    clip_a, clip_b, frame_a, frame_b = keys.T
    every = Minima(clip_a, frame_a, clip_b, frame_b, *rest)
    few = rng.random(len(keys)) < 0.1
    parts = [every.take(np.flatnonzero(few)[::-1]), every.take(~few)]
    monkeypatch.setattr(comparison, "_MOST_SHARE", 0.5)
    for given in (parts, parts[::-1], [every], [*parts, every.take(np.zeros(0, int))]):
        found = comparison.merge_minima(given)
        for name, column in every.columns().items():
            assert getattr(found, name).tolist() == column.tolist()


def test_a_machine_too_small_for_all_windows_is_told_before_it_is_full(walks, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("choreograph.build.estimate.machine_bytes", lambda: 1e8)
    with pytest.raises(RequestError, match=r"windows takes about 0\.3 GiB of memory.* has 0\.1; .*\(open_cluster\)"):
        build_graph(walks)
