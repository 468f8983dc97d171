"""Graphs small enough to be worked out by hand."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from choreograph.base.floor import FloorTransform
from choreograph.graph import _compiled, connect
from choreograph.graph.info import ClipInfo
from choreograph.graph.settings import GraphSettings, LabelThreshold
from choreograph.graph.tables import SEGMENT, TRANSITION, Minima
from choreograph.graph.transitions import (
    count_places,
    find_transitions,
    interleave,
    leave_places_numpy,
    parts_of_places,
)
from choreograph.motion.clip import Label

WINDOW = 3


def minima(*rows: tuple[int, int, int, int], distance: float = 0.01) -> Minima:
    table = np.array(rows).reshape(-1, 4)
    spread = np.arange(len(table)) + 1.0
    return Minima(*table.T, np.full(len(table), distance), 0.3 * spread, spread, -2.0 * spread)


def graph_of(found: Minima, frames: list[int]):
    sizes = np.array(frames, np.int32)
    transitions = find_transitions(found, sizes, WINDOW).table()
    cuts = connect.cut_clips(transitions, sizes)
    return transitions, cuts, *connect.keep_largest(transitions, cuts)


def test_a_minimum_gives_two_transitions_with_inverse_transforms():
    transitions, *_ = graph_of(minima((0, 5, 1, 8)), [30, 30])
    assert transitions.source_clip.tolist() == [0, 1]
    assert transitions.source_frame.tolist() == [5, 8]
    assert transitions.target_frame.tolist() == [8, 5]
    there, back = transitions.transform(0), transitions.transform(1)
    around = there @ back
    assert np.allclose([around.yaw, around.x, around.z], 0, atol=1e-12)
    assert there == FloorTransform(0.3, 1.0, -2.0)


def test_transitions_that_land_within_a_window_of_the_end_are_dropped():
    # Landing at 8 + 3 = 11 leaves frames 11, 12, 13: one whole window in a clip of 14, none in one of 13.
    whole, *_ = graph_of(minima((0, 5, 1, 8)), [30, 14])
    short, *_ = graph_of(minima((0, 5, 1, 8)), [30, 13])
    assert (len(whole), len(short)) == (2, 1)
    assert short.source_clip.tolist() == [1]


def test_the_loop_between_two_clips_is_kept_and_its_tails_are_not():
    # 0 -> 1 at (20, 2): arrives at 5. 1 -> 0 at (15, 6): arrives at 9. Back from there by the same two minima:
    # 1 -> 0 at (2, 20) leaves before the loop arrives, 0 -> 1 at (6, 15) likewise.
    transitions, _, nodes, edges = graph_of(minima((0, 20, 1, 2), (0, 6, 1, 15)), [40, 40])
    assert len(transitions) == 4
    assert list(zip(nodes.clip.tolist(), nodes.frame.tolist(), strict=True)) == [(0, 9), (0, 20), (1, 5), (1, 15)]
    assert edges.kind.tolist() == [SEGMENT, TRANSITION, SEGMENT, TRANSITION]
    assert edges.source.tolist() == [0, 1, 2, 3]
    assert edges.target.tolist() == [1, 2, 3, 0]
    assert edges.start.tolist() == [9, 20, 5, 15]
    assert edges.stop.tolist() == [20, 23, 15, 18]
    assert edges.target_start.tolist() == [9, 2, 5, 6]
    recorded, shown = connect.covered_frames(nodes, edges, np.array([40, 40], np.int32))
    assert recorded.tolist() == [11, 10]
    # Blends add [20, 23) and [6, 9) of clip 0, and [2, 5) and [15, 18) of clip 1.
    assert shown.tolist() == [17, 16]


def test_a_loop_in_one_clip_needs_no_second():
    _, _, nodes, edges = graph_of(minima((0, 4, 0, 20)), [40])
    assert nodes.frame.tolist() == [7, 20]
    assert edges.kind.tolist() == [SEGMENT, TRANSITION]
    assert edges.target.tolist() == [1, 0]


def test_nothing_connected_is_an_empty_graph():
    for found in (minima(), minima((0, 20, 1, 2))):
        _, cuts, nodes, edges = graph_of(found, [40, 40])
        assert (cuts.largest, len(nodes), len(edges)) == (-1, 0, 0)
        assert connect.covered_frames(nodes, edges, np.array([40, 40], np.int32))[0].tolist() == [0, 0]


def test_the_component_with_most_frames_wins_over_the_one_with_most_nodes():
    many = [(0, 4 + 4 * k, 0, 12 + 4 * k) for k in range(6)]
    _, _, nodes, _ = graph_of(minima(*many, (1, 5, 1, 90)), [60, 120])
    assert set(nodes.clip.tolist()) == {1}


def test_label_thresholds_replace_the_general_one_at_the_windows_middle():
    infos = [
        ClipInfo("a", 60.0, 80, 40, (Label("walk, veer left", 0, 40), Label("run/jog", 40, 80))),
        ClipInfo("b", 30.0, 40, 40, (Label("run", 0, 40),)),
    ]
    settings = GraphSettings(
        window_s=0.1,
        label_thresholds=(LabelThreshold("run", "walk", 0.12), LabelThreshold("run", "run", 0.02)),
    )
    assert settings.window_frames == WINDOW
    # Middle frames 18 and 19 of clip a are its frames 36 and 38 at 60 Hz, still walk; 20 is frame 40, run.
    found = minima((0, 17, 1, 3), (0, 18, 1, 3), (0, 19, 1, 3), (0, 1, 0, 9))
    limits = connect.thresholds_of(found, settings, 0.05, infos)
    assert limits.tolist() == [0.12, 0.12, 0.02, 0.05]


def reach(edges, start: int) -> set[int]:
    """Nodes that can be reached, by plain search."""
    found, todo = {start}, [start]
    while todo:
        node = todo.pop()
        for target in edges.target[edges.source == node].tolist():
            if target not in found:
                found.add(target)
                todo.append(target)
    return found


@pytest.mark.parametrize("seed", range(25))
def test_any_graph_is_strongly_connected_and_counts_its_frames(seed):
    rng = np.random.default_rng(seed)
    frames = rng.integers(WINDOW, 40, rng.integers(1, 6))
    rows = []
    for _ in range(rng.integers(0, 14)):
        a, b = np.sort(rng.integers(0, len(frames), 2))
        rows.append((a, rng.integers(0, frames[a] - WINDOW + 1), b, rng.integers(0, frames[b] - WINDOW + 1)))
    transitions, _, nodes, edges = graph_of(minima(*sorted(set(rows))), frames.tolist())
    everything = set(range(len(nodes)))
    assert all(reach(edges, node) == everything for node in everything)
    # Edges lead from the node they start at to the node they arrive at.
    assert np.array_equal(nodes.clip[edges.source], edges.clip)
    assert np.array_equal(nodes.frame[edges.source], edges.start)
    assert np.array_equal(nodes.clip[edges.target], edges.target_clip)
    assert np.array_equal(nodes.frame[edges.target], edges.target_start + edges.stop - edges.start)
    # No transition between two kept places was forgotten.
    kept = set(zip(nodes.clip.tolist(), nodes.frame.tolist(), strict=True))
    inside = [
        (c, f) in kept and (d, g + WINDOW) in kept
        for c, f, d, g in zip(
            *(getattr(transitions, n).tolist() for n in ("source_clip", "source_frame", "target_clip", "target_frame")),
            strict=True,
        )
    ]
    assert sum(inside) == (edges.kind == TRANSITION).sum()
    shown = [np.zeros((2, n), bool) for n in frames]
    for kind, clip, start, stop, target, first in zip(
        *(getattr(edges, n).tolist() for n in ("kind", "clip", "start", "stop", "target_clip", "target_start")),
        strict=True,
    ):
        shown[clip][0, start:stop] |= kind == SEGMENT
        shown[clip][1, start:stop] = shown[target][1, first : first + stop - start] = True
    recorded, seen = connect.covered_frames(nodes, edges, frames.astype(np.int32))
    assert recorded.tolist() == [int(marks[0].sum()) for marks in shown]
    assert seen.tolist() == [int(marks[1].sum()) for marks in shown]


def test_thinning_keeps_the_nearest_and_all_that_was_connected():
    rng = np.random.default_rng(3)
    frames = np.full(6, 60, np.int32)
    count = 900
    clip_a, clip_b = np.sort(rng.integers(0, 6, (2, count)), axis=0)
    # Many leave from few places, so that most of theirs go.
    frame_a, frame_b = rng.choice([3, 20, 31], count), rng.integers(0, 50, count)
    keys = np.unique(np.stack([clip_a, clip_b, frame_a, frame_b]), axis=1)
    distance = rng.uniform(0, 0.05, keys.shape[1])
    zero = np.zeros(keys.shape[1])
    minima = Minima(keys[0], keys[2], keys[1], keys[3], distance, zero, zero, zero)
    every = find_transitions(minima, frames, 5).table()
    few = find_transitions(minima, frames, 5, most=2).table()
    assert len(few) < 0.8 * len(every)

    def rows(t):
        return list(
            zip(
                t.source_clip.tolist(),
                t.source_frame.tolist(),
                t.target_clip.tolist(),
                t.target_frame.tolist(),
                t.distance_m.tolist(),
                strict=True,
            )
        )

    kept, places = set(rows(few)), {}
    for row in rows(every):
        places.setdefault(row[:2], []).append(row)
    for at in places.values():
        assert set(sorted(at, key=lambda row: row[-1])[:2]) <= kept
    before, after = (
        connect.covered_frames(*connect.keep_largest(t, connect.cut_clips(t, frames)), frames)[1] for t in (every, few)
    )
    assert (after > 0).tolist() == (before > 0).tolist() and after.sum() >= 0.9 * before.sum()


def test_transitions_counted_out_are_those_that_were_sorted():
    rng = np.random.default_rng(5)
    frames = np.array([40, 12, 70, 25], np.int32)
    offsets = np.concatenate([[0], np.cumsum(frames, dtype=np.int64)])
    clip_a, clip_b = np.sort(rng.integers(0, 4, (2, 400)), axis=0)
    keys = np.stack([clip_a, clip_b, rng.integers(0, frames[clip_a] - 8), rng.integers(0, frames[clip_b] - 8)])
    keys = np.unique(keys[:, (clip_a < clip_b) | (keys[2] < keys[3])], axis=1).astype(np.int32)
    columns = keys[0], keys[2], keys[1], keys[3], offsets, 9
    for counted, wanted in zip(_compiled.leave_places(*columns), leave_places_numpy(*columns), strict=True):
        assert counted.dtype == wanted.dtype and counted.tolist() == wanted.tolist()


@pytest.mark.parametrize("links", [0, 30, 60, 200])
def test_the_compiled_components_are_those_of_the_plain_twin(links, rng, monkeypatch):
    count = 80
    forward = np.flatnonzero(rng.random(count - 1) < 0.6)
    leave = np.sort(rng.integers(0, count, links)).astype(np.int32)
    arrive = rng.integers(0, count, links).astype(np.int32)
    plain = parts_of_places(count, forward, leave, arrive)
    monkeypatch.setattr("choreograph.graph.transitions._MANY", 0)
    found = parts_of_places(count, forward, leave, arrive)
    # Numbered in another order, but the same parts.
    assert len(set(zip(plain.tolist(), found.tolist(), strict=True))) == plain.max() + 1 == found.max() + 1


def test_compiled_columns_and_counts_are_those_of_the_plain_twins(rng, monkeypatch):
    second = rng.random(50) < 0.7
    rows = np.sort(rng.choice(60, int(second.sum()), replace=False))
    clip, frame = rng.integers(0, 3, (2, 40)).astype(np.int32)
    asked = [
        (interleave, (second, np.arange(50 - len(rows)) * one, np.arange(60) * one, rows)) for one in (np.int32(1), 0.5)
    ]
    asked.append((count_places, (np.array([0, 4, 8, 12]), clip, frame)))
    plain = [work(*how) for work, how in asked]
    monkeypatch.setattr("choreograph.graph.transitions._MANY", 0)
    for wanted, (work, how) in zip(plain, asked, strict=True):
        found = work(*how)
        assert found.dtype == wanted.dtype and found.tolist() == wanted.tolist()


def test_columns_made_one_at_a_time_are_those_of_the_table(monkeypatch):
    frames, found = np.array([60, 80], np.int32), minima(*((0, 3 * k, 1, 50 - 2 * k) for k in range(15)))
    offsets = np.array([0, 60, 140])
    whole = find_transitions(found, frames, WINDOW)
    table = whole.table()
    assert len(table) > 14
    leave, arrive = table.places(offsets)
    monkeypatch.setattr("choreograph.graph.transitions._AT_ONCE", 7)
    monkeypatch.setattr("choreograph.graph.transitions._MANY", 0)
    compiled = find_transitions(found, frames, WINDOW)
    for name, column in table.columns().items():
        assert compiled.column(name).dtype == column.dtype
        assert compiled.column(name).tolist() == column.tolist()
    for made in (whole, compiled):
        assert [places.tolist() for places in made.places(offsets)] == [leave.tolist(), arrive.tolist()]


def test_of_equally_near_transitions_the_first_are_kept(rng):
    count = np.array([0, 3, 40, 41, 60])
    first = np.cumsum(count)
    distance = rng.integers(0, 4, first[-1]) / 4
    row = rng.permutation(first[-1]).astype(np.int32)
    row[::3] = ~row[::3]
    kept = _compiled.nearest_of_each(first, row, distance, 8)
    own = distance[np.where(row < 0, ~row, row)]
    for start, stop in pairwise(first):
        nearest = start + np.argsort(own[start:stop], kind="stable")[:8]
        assert np.flatnonzero(kept[start:stop]).tolist() == sorted(nearest - start)
