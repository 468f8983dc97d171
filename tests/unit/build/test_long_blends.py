"""Blends longer than a window, aligned in time: how they run, what they join, how files keep them."""

from __future__ import annotations

import sqlite3
import zlib
from pathlib import Path

import numpy as np
import pytest

import choreograph as cg
from choreograph.base.errors import GraphFileError, RequestError
from choreograph.build.graph import add_clips, remove_clips
from choreograph.build.long_blends import lay_clouds, run_blends
from choreograph.demo import demo_clip
from choreograph.graph.report import report_graph
from choreograph.graph.tables import TRANSITION
from choreograph.motion.clip import Clip

NAMES = ("16_15", "16_16", "16_47", "16_35", "16_36", "16_45", "16_46", "16_55", "16_56")
LONG, NONE = cg.GraphSettings(max_blend_s=0.6), cg.GraphSettings(max_blend_s=0)


def trial(folder: Path, name: str) -> Clip:
    return cg.read_clip(folder / "cmu" / "16" / f"{name}.amc")


@pytest.fixture(scope="module")
def clips(recordings: Path) -> list[Clip]:
    """Walks and runs of one person."""
    return [trial(recordings, name) for name in NAMES]


@pytest.fixture(scope="module")
def graph(clips: list[Clip]) -> cg.MotionGraph:
    return cg.build_graph(clips, LONG, workers=1)


def long_edges(graph: cg.MotionGraph) -> np.ndarray:
    edges = graph.edges
    return np.flatnonzero((edges.kind == TRANSITION) & (edges.stop - edges.start > graph.window_frames))


def test_time_runs_as_in_the_clip_that_counts_more() -> None:
    here = np.array([[-1000.0, 10.0, 20.0, 30.0, 1000.0]])
    there = np.array([[-1010.0, 0.0, 6.0, 20.0, 990.0]])
    frames = 18
    source, target = run_blends(here, there, np.array([8.0]), frames)
    assert source[0, 0] == 8 and target[0, -1] == round(target[0, -1])
    assert (np.diff(source) > 0).all() and (np.diff(target) > 0).all()
    t = (np.arange(frames) + 0.5) / frames
    weight = t * t * (3 - 2 * t)
    pace = (1 - weight) * np.diff(source[0]) + weight * np.diff(target[0])
    assert np.abs(pace - 1).max() < 0.08, "but for what makes the last frame whole"
    # But for that, each moment of the source is shown with the one that it is aligned with.
    assert np.abs(np.interp(source[0], here[0], there[0]) - target[0]).max() <= 0.5 + 1e-9


def test_clouds_are_laid_on_each_other_as_well_as_can_be() -> None:
    rng = np.random.default_rng(3)
    onto = rng.normal(size=(4, 5, 6, 3))
    weight = rng.uniform(0.1, 1.0, size=(5, 6))
    move = cg.FloorTransform(1.1, 0.4, -0.7)
    distance, yaw, shift = lay_clouds(onto, move.inverse().apply(onto), weight)
    assert np.allclose(distance, 0, atol=1e-6)
    assert np.allclose(yaw, move.yaw) and np.allclose(shift, move.x + 1j * move.z)
    cloud = rng.normal(size=onto.shape)
    distance, yaw, shift = lay_clouds(onto, cloud, weight)

    def apart(n: int, yaw: float, x: float, z: float) -> float:
        gap = onto[n] - cg.FloorTransform(yaw, x, z).apply(cloud[n])
        return float(np.sqrt((weight[..., None] * gap**2).sum() / weight.sum()))

    for n in range(4):
        best = apart(n, yaw[n], shift[n].real, shift[n].imag)
        assert best == pytest.approx(distance[n])
        for _ in range(20):
            dyaw, dx, dz = 0.05 * rng.normal(size=3)
            assert apart(n, yaw[n] + dyaw, shift[n].real + dx, shift[n].imag + dz) >= best - 1e-12


def test_runs_and_walks_fall_into_one_component(clips: list[Clip], graph: cg.MotionGraph) -> None:
    short = cg.build_graph(clips, workers=1)
    assert {clip.name for clip in report_graph(short).lost} == set(NAMES[3:])
    assert not len(short.long_blends)
    report = report_graph(graph)
    kept = {clip.name for clip in report.clips if clip.state == "kept"}
    assert kept >= {"16_15", "16_16", "16_47", "16_35", "16_36"} and len(report.lost) <= 2, kept
    assert report.long_blends == len(long_edges(graph)) > 0
    assert {label.label for label in report.labels if label.recorded} >= {"walk", "run"}
    blends = graph.long_blends
    assert blends.frames.max() <= 18 and blends.distance_m.max() <= LONG.long_threshold_m
    lost = {n for n, info in enumerate(graph.infos) if info.name in NAMES[3:]}
    assert all(
        a in lost or b in lost for a, b in zip(blends.source_clip.tolist(), blends.target_clip.tolist(), strict=True)
    )


def test_a_long_blend_begins_and_ends_as_recorded(graph: cg.MotionGraph) -> None:
    edges = graph.edges
    for edge in long_edges(graph)[::7]:
        frames = int(edges.stop[edge] - edges.start[edge])
        into = np.arange(frames + 1.0)
        source, target = graph.mixed_frames(np.full(frames + 1, edge), into)
        assert source[0] == edges.start[edge] == graph.nodes.frame[edges.source[edge]]
        assert target[-1] == graph.nodes.frame[edges.target[edge]]
        montage = cg.Walk(graph, np.array([edge])).as_montage(cg.FinishSettings(rate_hz=graph.rate_hz))
        own, entered = montage.layers
        step = graph.infos[edges.clip[edge]].fps / graph.rate_hz
        assert np.allclose(own.frame, step * source[:-1])
        assert np.allclose(entered.frame, step * target[:-1])
        assert own.weight[0, 0] == 1.0 and np.all(np.diff(own.weight[:, 0]) < 0)


def test_following_a_path_walks_runs_and_walks_on(graph: cg.MotionGraph) -> None:
    goals = [cg.LabelGoal(start_m=a, end_m=b, label=label) for a, b, label in ((0, 6, "walk"), (8, 14, "run"))]
    result = cg.follow(graph, cg.FollowRequest(points=[(0, 0), (0, 10), (0, 20)], goals=goals))
    shown = {run.clip for run in result.best.motions[0].sources}
    runs = {name for name in shown if name in NAMES[3:]}
    assert runs and shown - runs
    assert not [problem for problem in result.problems if "label" in str(problem)]
    speed = np.linalg.norm(np.diff(result.clip.root_pos[:, [0, 2]], axis=0), axis=1) * result.clip.fps
    assert speed.max() < 8, "no leap at a blend"


def test_files_keep_long_blends(graph: cg.MotionGraph, tmp_path: Path) -> None:
    path = tmp_path / "gaits.mog"
    cg.save_graph(graph, path)
    read = cg.open_graph(path)
    assert read.settings == graph.settings
    for part in ("edges", "long_blends", "alignment"):
        for name, column in getattr(graph, part).columns().items():
            assert np.array_equal(column, getattr(getattr(read, part), name)), (part, name)
    edge = long_edges(graph)[:1]
    assert np.array_equal(read.mixed_frames(edge, np.array([4.5])), graph.mixed_frames(edge, np.array([4.5])))
    bad = np.array(graph.alignment.target)
    bad[3] = 1e6
    with sqlite3.connect(path) as connection:
        connection.execute(
            "UPDATE graph_array SET data = ?, crc32 = ? WHERE part = 'alignment' AND name = 'target'",
            (bad.tobytes(), zlib.crc32(bad.tobytes())),
        )
    with pytest.raises(GraphFileError, match="outside of their clips"):
        assert len(cg.open_graph(path).edges)


def test_growing_and_shrinking_finds_them_anew(clips: list[Clip], graph: cg.MotionGraph) -> None:
    few = cg.build_graph(clips[:-1], LONG, workers=1)
    for other in (add_clips(few, clips[-1:], workers=1), remove_clips(add_clips(graph, clips[:1]), ["16_15"])):
        assert len(other.long_blends)
    grown = add_clips(few, clips[-1:], workers=1)
    assert np.array_equal(grown.long_blends.distance_m, graph.long_blends.distance_m)


def test_a_long_blend_is_longer_than_a_window() -> None:
    with pytest.raises(RequestError, match="longer than a window"):
        cg.GraphSettings(max_blend_s=0.2)


def test_unless_told_otherwise_long_blends_wait(clips: list[Clip], tmp_path: Path) -> None:
    plain, without = cg.build_graph(clips, workers=1), cg.build_graph(clips, NONE, workers=1)
    assert not len(without.found_blends) and without.wider is without
    assert report_graph(without).waiting == 0
    for part in ("nodes", "edges"):
        for name, column in getattr(without, part).columns().items():
            assert np.array_equal(column, getattr(getattr(plain, part), name)), (part, name)
    assert not len(plain.long_blends) and len(plain.found_blends)
    wider = plain.wider
    joined = {plain.infos[n].name for n in np.unique(wider.nodes.clip)}
    assert joined >= {"16_15", "16_16", "16_47", "16_35", "16_36"} and wider.wider is wider
    assert wider.usual_clips is not None
    assert [plain.infos[n].name for n in np.flatnonzero(wider.usual_clips)] == list(NAMES[:3])
    assert report_graph(plain).waiting == len(joined) - 3
    path = tmp_path / "gaits.mog"
    cg.save_graph(plain, path)
    read = cg.open_graph(path)
    assert not len(read.long_blends)
    assert np.array_equal(read.wider.edges.target, wider.edges.target)
    assert len({*(graph.fingerprint.edges for graph in (read, read.wider))}) == 2
    part = read.only("not 16_56")
    assert len(np.unique(part.nodes.clip)) < len(np.unique(part.wider.nodes.clip))


def test_growing_finds_those_that_wait(clips: list[Clip]) -> None:
    grown = add_clips(cg.build_graph(clips[:-1], workers=1), clips[-1:], workers=1)
    whole = cg.build_graph(clips, workers=1)
    for name, column in whole.found_blends.columns().items():
        assert np.array_equal(column, getattr(grown.found_blends, name)), name


def test_a_clip_that_is_left_out_may_be_the_last_or_the_first() -> None:
    walk, still = demo_clip("walk_veer_left", 30.0)[10:55], demo_clip("stand_to_jog", 30.0)[:20]
    for clips in ([walk, still], [still, walk]):
        lost = report_graph(cg.build_graph(clips)).lost
        assert [clip.name for clip in lost] == ["stand_to_jog"]


def test_too_much_to_compare_is_said(clips: list[Clip], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("choreograph.build.graph.MOST_PAIRS", 1000)
    graph = cg.build_graph(clips, workers=1)
    assert not len(graph.found_blends)
    assert [note.kind for note in graph.notes] == ["not-joined"]
    assert len(cg.build_graph(clips, LONG, workers=1).long_blends), "unless somebody asks for them"


def test_a_label_whose_clips_are_left_out_is_told_what_brings_them_in(clips: list[Clip]) -> None:
    graph = cg.build_graph(clips, NONE, workers=1)
    run = cg.LabelGoal(start_m=8, end_m=14, label="run")
    result = cg.follow(graph, cg.FollowRequest(points=[(0, 0), (0, 20)], goals=[run]))
    [problem] = [problem for problem in result.problems if problem.where == "goals[0].label"]
    assert problem.kind == "label_missed" and "6 of 6 such clips" in problem.text
