"""Counting how clips stand to the graph gives what connecting all of it anew gives."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from choreograph.build.graph import build_graph
from choreograph.demo import demo_clip
from choreograph.graph import component_membership as standing
from choreograph.graph import connect
from choreograph.graph.cache import clear_entries
from choreograph.graph.info import ClipInfo
from choreograph.graph.model import MotionGraph
from choreograph.graph.report import report_graph
from choreograph.graph.settings import GraphSettings
from choreograph.graph.store import open_graph, save_graph
from choreograph.graph.tables import Minima, empty_table
from choreograph.motion.clip import Label


def random_graph(seed: int, *, clips: int = 12, minima: int = 40, nearest: int | None = None) -> MotionGraph:
    rng = np.random.default_rng(seed)
    settings = GraphSettings(window_s=4 / 30, nearest=nearest)
    frames = rng.integers(3, 40, clips)
    labels = [
        (Label("walk", 0, int(f)),) if k % 3 else (Label("run, fast", 1, int(f) - 1),) for k, f in enumerate(frames)
    ]
    infos = [ClipInfo(f"c{k}", 30.0, int(f), int(f), labels=labels[k]) for k, f in enumerate(frames)]
    long_enough = np.flatnonzero(frames >= 4)
    a, b = rng.choice(long_enough, (2, minima))
    columns = {
        "clip_a": a,
        "frame_a": rng.integers(0, frames[a] - 3),
        "clip_b": b,
        "frame_b": rng.integers(0, frames[b] - 3),
        "distance_m": rng.random(minima) * 0.08,
        **{name: np.zeros(minima) for name in ("yaw", "x", "z")},
    }
    found = Minima(**columns)
    joined = connect.connect(found, settings, 0.05, infos)
    tables = {"minima": found, "nodes": joined.nodes, "edges": joined.edges}
    tables |= {part: empty_table(part) for part in ("long_blends", "alignment")}
    return MotionGraph(settings, 0.05, (), infos, tables, searched_m=0.08)


def touched(cuts: connect.TransitionCuts, count: int, *, forward: bool) -> list[bool]:
    """By plain search: clips with a cut point that the largest component reaches, or that reaches it."""
    links = [(k, k + 1) for k, (one, two) in enumerate(pairwise(cuts.clip)) if one == two]
    links += list(zip(cuts.leave.tolist(), cuts.arrive.tolist(), strict=True))
    seen = set(np.flatnonzero(cuts.inside).tolist())
    while more := {b if forward else a for a, b in links if (a if forward else b) in seen} - seen:
        seen |= more
    return [any(cuts.clip[k] == n for k in seen) for n in range(count)]


@pytest.mark.parametrize("seed", range(30))
def test_agrees_with_connecting_anew(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standing, "_CHUNK", 7)  # several at once, and a rest
    graph = random_graph(seed, minima=(0, 5, 40, 120)[seed % 4])
    count = len(graph.infos)
    joined = connect.connect(graph.minima, graph.settings, graph.threshold_m, graph.infos)
    found = standing.measure_standing(graph)
    cuts = connect.cut_clips(joined.transitions, graph.clip_frames)
    transitions = joined.transitions.table()
    assert found.recorded.tolist() == joined.recorded.tolist()
    assert found.shown.tolist() == joined.shown.tolist()
    assert found.transitions == len(joined.transitions)
    assert found.out.tolist() == np.bincount(transitions.source_clip, minlength=count).tolist()
    assert found.into.tolist() == np.bincount(transitions.target_clip, minlength=count).tolist()
    assert found.cut_points == len(cuts.clip)
    looped = set(cuts.component[cuts.leave[cuts.component[cuts.leave] == cuts.component[cuts.arrive]]].tolist())
    on_cycle = np.array([c in looped for c in cuts.component.tolist()], bool)
    assert found.dead_ends == int((~on_cycle).sum())
    assert found.sinks == int((on_cycle & ~cuts.inside).sum())
    assert found.reached.tolist() == touched(cuts, count, forward=True)
    assert found.leading.tolist() == touched(cuts, count, forward=False)
    report = report_graph(graph)
    assert report.segments + report.kept_transitions == len(joined.edges)
    assert report.thinned_transitions == 0


def test_counts_of_a_large_graph_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted once for the same graph and settings; anew where either differs, or the entry is of other clips."""
    path = tmp_path / "one.mog"
    save_graph(build_graph([demo_clip("walk", 30.0), demo_clip("walk_turn_90_left", 30.0)]), path)
    monkeypatch.setattr(standing, "_MANY", 1)
    counted = list[MotionGraph]()
    plain = standing.measure_standing

    def count(graph: MotionGraph) -> standing.Standing:
        counted.append(graph)
        return plain(graph)

    monkeypatch.setattr(standing, "measure_standing", count)
    first, again = (report_graph(open_graph(path)) for _ in range(2))
    assert len(counted) == 1
    assert first == again
    higher = replace_threshold(open_graph(path), 0.03)
    assert report_graph(higher).threshold_m == 0.03
    assert len(counted) == 2
    clear_entries("standing")
    assert report_graph(open_graph(path)) == first
    assert len(counted) == 3


def replace_threshold(graph: MotionGraph, threshold_m: float) -> MotionGraph:
    tables = {part: getattr(graph, part) for part in ("minima", "nodes", "edges")}
    return MotionGraph(graph.settings, threshold_m, graph.clips, graph.infos, tables, searched_m=graph.searched_m)


def test_tells_what_keeping_the_nearest_leaves_out() -> None:
    every, few = (random_graph(3, clips=4, minima=300, nearest=n) for n in (0, 1))
    whole, thin = report_graph(every), report_graph(few)
    assert thin.kept_transitions < whole.kept_transitions
    assert thin.thinned_transitions == whole.kept_transitions - thin.kept_transitions
    assert (thin.recorded, thin.shown, thin.transitions) == (whole.recorded, whole.shown, whole.transitions)


def test_labels_are_counted_frame_by_frame() -> None:
    graph = random_graph(2, minima=120)
    inside = {}
    for n, info in enumerate(graph.infos):
        mask = np.zeros(info.frames, bool)
        for edge in np.flatnonzero((graph.edges.kind == 0) & (graph.edges.clip == n)):
            mask[graph.edges.start[edge] : graph.edges.stop[edge]] = True
        inside[n] = mask
    for entry in report_graph(graph).labels:
        masks = [connect.label_mask(info, entry.label, graph.rate_hz) for info in graph.infos]
        assert entry.frames == sum(int(mask.sum()) for mask in masks)
        assert entry.recorded == sum(int((mask & inside[n]).sum()) for n, mask in enumerate(masks))
