"""What recordings can do, measured on motions of which it is known."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import choreograph as cg
from choreograph.base import quat
from choreograph.demo import demo_clip
from choreograph.graph import coverage
from choreograph.graph.coverage import report_coverage
from choreograph.graph.report import Join
from choreograph.motion.bend import most_curvature
from choreograph.motion.clip import Clip


def circling(radius_m: float, speed_m_s: float, *, left: bool = True, seconds: float = 6.0) -> Clip:
    """A walk whose root goes round a circle; its pose is a demo walk's, over and over."""
    walk = demo_clip("walk", 30.0)
    count = round(30 * seconds)
    angle = (1 if left else -1) * np.arange(count) / 30 * speed_m_s / radius_m
    rot = np.array(walk.local_rot[np.arange(count) % len(walk)])
    rot[:, 0] = quat.make_continuous(quat.from_yaw(angle))
    place = np.zeros((count, 3))
    place[:, 1] = 0.9
    side = 1 if left else -1
    place[:, 0], place[:, 2] = side * radius_m * (1 - np.cos(angle)), side * radius_m * np.sin(angle)
    return replace(walk, root_pos=place, local_rot=rot, labels=(), contacts=None, name=f"circle{radius_m:g}{left}")


def test_the_radius_of_a_circle_is_told() -> None:
    graph = cg.build_graph([circling(1.5, 1.3), circling(3.0, 1.4, left=False)], cg.GraphSettings(threshold_m=0.3))
    assert len(graph.nodes), "the circles must be in the graph"
    found = report_coverage(graph)
    assert [band.low_m_s for band in found.bands] == [1.2]
    (band,) = found.bands
    assert band.left_m == pytest.approx(1.5, rel=0.05)
    assert band.right_m == pytest.approx(3.0, rel=0.05)
    assert band.bent_m == pytest.approx(1 / max(most_curvature(1.35), 1 / 1.5), rel=0.3)
    assert not found.can_stop and found.backward_s == 0
    kinds = {advice.kind: str(advice) for advice in found.advice}
    assert "right turns at 1.2–1.6 m/s to 1.5 m (now 3.0 m)" in kinds["mirror"]
    assert any("a stop and a start" in str(advice) for advice in found.advice)
    mirrored = cg.build_graph(graph.clips, graph.settings.with_(mirror=True))
    (both,) = report_coverage(mirrored).bands
    assert both.right_m == pytest.approx(1.5, rel=0.05)
    assert not any(advice.kind == "mirror" for advice in report_coverage(mirrored).advice)


def test_advice_that_changes_no_figure_is_not_given() -> None:
    graph = cg.build_graph([circling(1.5, 1.3), circling(3.0, 1.4, left=False)], cg.GraphSettings(threshold_m=0.3))
    found = report_coverage(graph)
    (band,) = found.bands
    for left, right, count in ((0.06, 0.14, 0), (0.06, 0.16, 1), (0.06, None, 1)):
        bands = (replace(band, left_m=left, right_m=right),)
        assert len(coverage._by_mirroring(graph, replace(found, bands=bands))) == count


def test_stops_and_labels_of_the_demo_motion() -> None:
    names = ("walk", "walk_slow", "start_left_foot", "stop_left_foot", "stand")
    clips = [demo_clip(name, 30.0) for name in names]
    graph = cg.build_graph(clips, cg.GraphSettings(goal="everything"))
    found = report_coverage(graph)
    assert found.can_stop and found.standing_s > found.longest_stand_s / 2 > 0
    assert "can stop and start" in found.stops
    assert json.loads(json.dumps(found.as_dict()))["can_stop"] is True
    assert {entry.label for entry in found.labels} >= {"walk"}
    alone = report_coverage(cg.build_graph(clips[:2]))
    assert not alone.can_stop


def test_what_is_left_out_counts_as_left_out() -> None:
    graph = cg.build_graph([demo_clip("walk", 30.0), demo_clip("walk_fast", 30.0), demo_clip("run", 30.0)])
    found = report_coverage(graph, [Join("run", 0.4, 0.21, ("run", "walk_fast"))])
    fast = [band for band in found.bands if band.low_m_s >= 2.2]
    assert fast and all(band.seconds == 0 and band.outside_s > 0 for band in fast)
    assert sum("21.0 cm brings in 1 clip" in str(advice) for advice in found.advice) == 1
    assert any("from a walk to a run" in str(advice) for advice in found.advice)


def test_large_graphs_are_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("walk", "walk_veer_left", "walk_veer_right", "walk_weave")
    graph = cg.build_graph([demo_clip(name, 30.0) for name in names])
    whole = report_coverage(graph)
    monkeypatch.setattr(coverage, "MAX_CLIPS", 2)
    some = report_coverage(graph)
    assert (whole.measured_share, some.measured_share) == (1.0, 0.5)
    total = sum(band.seconds for band in whole.bands)
    assert 0.4 * total < sum(band.seconds for band in some.bands) < 2.5 * total


def test_an_empty_graph_covers_nothing() -> None:
    graph = cg.build_graph([demo_clip("walk", 30.0)], cg.GraphSettings(threshold_m=0.0))
    found = report_coverage(graph)
    assert not len(graph.nodes)
    assert found.slowest_m_s is None and not found.can_stop and not any(band.seconds for band in found.bands)
