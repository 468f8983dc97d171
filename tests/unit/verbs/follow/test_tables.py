"""Where edges take the root, frame by frame, against the motion that is made of them."""

from __future__ import annotations

import numpy as np
import pytest

from choreograph.base import quat
from choreograph.base.errors import RequestError
from choreograph.build.graph import build_graph
from choreograph.demo import demo_clip
from choreograph.features.root_tracks import TREMBLE_S, accelerations, find_faults
from choreograph.finishing.assemble import assemble
from choreograph.graph.model import MotionGraph
from choreograph.graph.tables import TRANSITION
from choreograph.motion.labels import matches_label
from choreograph.scene.path_shapes import named_path
from choreograph.verbs.follow.goals import labels_of
from choreograph.verbs.follow.kernel_inputs import kernel_path
from choreograph.verbs.follow.tables import MAX_LABELS, EdgeTables, find_tables
from choreograph.verbs.walk import Walk


def test_the_tables_say_where_the_assembled_motion_goes(
    graph: MotionGraph, tables: EdgeTables, rng: np.random.Generator
) -> None:
    walk = Walk(graph, graph.random_walk(60, rng))
    root = assemble(walk.as_montage()).root_pos[:, [0, 2]]
    ratio = round(60 / graph.rate_hz)
    rows = np.concatenate([tables.edges["first"][e] + np.arange(tables.edges["length"][e]) for e in walk.edges])
    place = np.repeat(np.arange(len(walk.edges)), tables.edges["length"][walk.edges])
    placed = walk.placements
    c = (
        (tables.rows["way"][:, 0][rows] + 1j * tables.rows["way"][:, 1][rows]) * np.exp(-1j * placed.yaw[place])
        + placed.x[place]
        + 1j * placed.z[place]
    )
    made = root[ratio::ratio, 0] + 1j * root[ratio::ratio, 1]
    np.testing.assert_allclose(c[: len(made)], made, atol=1e-3)  # the search sums without tremble
    walked = np.cumsum(tables.rows["way"][:, 2][rows])[: len(made)]
    truly = np.cumsum(np.hypot(*np.diff(root, axis=0).T))[ratio - 1 :: ratio][: len(made)]
    np.testing.assert_allclose(walked, truly, rtol=2e-3, atol=5e-3)


def test_no_step_is_longer_than_the_longest_nor_shorter_than_the_straight_line(tables: EdgeTables) -> None:
    assert tables.rows["way"][:, 2].max() == tables.fastest
    inside = np.ones(len(tables.rows["way"][:, 0]), bool)
    inside[tables.edges["first"]] = False
    straight = np.hypot(np.diff(tables.rows["way"][:, 0], prepend=0), np.diff(tables.rows["way"][:, 1], prepend=0))
    assert (tables.rows["way"][:, 2][inside] >= straight[inside] - 1e-12).all()


def test_tremble_adds_nothing_to_the_way(graph: MotionGraph, tables: EdgeTables) -> None:
    from dataclasses import replace

    rng = np.random.default_rng(0)
    clips = [replace(c, root_pos=c.root_pos + rng.normal(0, 0.0005, c.root_pos.shape)) for c in graph.clips]
    shaken = MotionGraph(
        graph.settings, graph.threshold_m, clips, graph.infos,
        {name: getattr(graph, name) for name in ("minima", "nodes", "edges")}, searched_m=graph.searched_m,
    )  # fmt: skip
    raw = sum(np.hypot(*np.diff(c.root_pos[:, [0, 2]], axis=0).T).sum() for c in clips)
    still = sum(np.hypot(*np.diff(c.root_pos[:, [0, 2]], axis=0).T).sum() for c in graph.clips)
    grown = find_tables(shaken, TREMBLE_S).rows["way"][:, 2].sum() / tables.rows["way"][:, 2].sum() - 1
    assert grown < 0.6 * (raw / still - 1)


def test_labels_are_bits_of_the_rows_that_carry_them(graph: MotionGraph, tables: EdgeTables) -> None:
    bits = tables.label_bits(["stand", "left"])[tables.rows["label_words"]]
    clip = np.repeat(graph.edges.clip, tables.edges["length"])
    segment = np.repeat(graph.edges.kind == 0, tables.edges["length"])
    names = np.array([info.name for info in graph.infos])[clip]
    assert (bits[segment & (names == "stand")] & 1 == 1).all()
    assert (bits[segment & (names == "walk")] == 0).all()
    assert (bits[segment & (names == "walk_veer_left")] & 2 == 2).any()
    with pytest.raises(RequestError, match=r"no clip of the graph is labelled 'swim'; labels are: .*walk"):
        tables.label_bits(["swim"])
    with pytest.raises(RequestError, match=f"at most {MAX_LABELS}"):
        tables.label_bits(["walk"] * (MAX_LABELS + 1))


@pytest.mark.parametrize(
    ("wanted", "text", "says"),
    [("run", "run/jog, veer left", True), ("left veer", "run, veer left", True), ("run", "runner", False)],
)
def test_a_label_matches_by_its_words(wanted: str, text: str, says: bool) -> None:
    assert matches_label(wanted, text) == says


def test_a_path_is_laid_out_evenly_with_its_goals() -> None:
    path = named_path("line", length=10).with_stretch(2, 4, speed=2.0).with_stretch(3, 6, label="run")
    path = path.with_stretch(5, 5, pause=2.0)
    flat, step = kernel_path(path, False)
    along = np.arange(len(flat.points)) * step
    assert along[-1] == pytest.approx(10)
    np.testing.assert_allclose(flat.points, path.at(along), atol=1e-12)
    assert labels_of(path) == ["run"]
    assert flat.speed[np.searchsorted(along, [1.9, 3.0, 4.1])].tolist() == [-1, 2, -1]
    assert flat.label[np.searchsorted(along, [2.9, 5.0, 6.1])].tolist() == [0, 1, 0]
    assert (flat.pause_at.tolist(), flat.pause_s.tolist()) == ([5.0], [2.0])


def test_a_leap_of_the_capture_is_a_fault_and_a_fast_motion_is_none() -> None:
    clip = demo_clip("run")
    assert not find_faults(clip).any()
    turned = np.array(clip.local_rot)
    thigh = clip.skeleton.need("left_upper_leg")
    turned[40, thigh] = quat.multiply(turned[40, thigh], quat.from_rotvec((2.0, 0.0, 0.0)))
    found = np.flatnonzero(find_faults(clip.with_frames(clip.root_pos, turned)))
    assert 40 in found and found.min() >= 37 and found.max() <= 43


def test_edges_that_show_a_fault_are_known() -> None:
    walk, veer = demo_clip("walk"), demo_clip("walk_veer_left")
    turned = np.array(walk.local_rot)
    turned[150, 0] = quat.multiply(turned[150, 0], quat.from_rotvec((0.0, 2.0, 0.0)))
    graph = build_graph([walk.with_frames(walk.root_pos, turned), veer])
    tables, edges = find_tables(graph, TREMBLE_S), graph.edges
    frame = 150 * graph.rate_hz / walk.fps
    shown = (edges.clip == 0) & (edges.start <= frame) & (edges.stop >= frame)
    assert shown.any() and tables.edges["faulty"][shown].all()
    far = (edges.clip == 1) & (edges.target_clip == 1)
    assert far.any() and not tables.edges["faulty"][far].any()


def test_rough_edges_are_those_that_show_abrupt_frames(graph: MotionGraph, tables: EdgeTables) -> None:
    turning = [accelerations(clip) for clip in graph.clips]
    usual = np.percentile(np.concatenate([x.ravel() for x in turning]), 99.9)
    edges = graph.edges
    pieces = np.flatnonzero((edges.kind != TRANSITION) & (edges.stop - edges.start > 1))
    assert tables.edges["rough"].max() > 0
    for edge in pieces:
        clip = int(edges.clip[edge])
        low, high = (round(graph.own_frame(clip, int(f))) for f in (edges.start[edge], edges.stop[edge]))
        abrupt = (np.pad(turning[clip], ((1, 1), (0, 0))) > usual).sum(axis=1)
        assert tables.edges["rough"][edge] == abrupt[low:high].sum()
