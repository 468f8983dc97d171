"""What would bring lost clips in: a threshold, by way of whom, or nothing up to a limit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import choreograph as cg
from choreograph.build import joins as finding
from choreograph.build.joins import advise, ceiling_of, find_joining_thresholds, find_joins, is_quick, sample_joins
from choreograph.graph.report import Join, report_graph
from choreograph.motion.clip import Clip


def trials(folder: Path, *names: str) -> list[Clip]:
    return [cg.read_clip(folder / "cmu" / "16" / f"{name}.amc") for name in names]


@pytest.fixture(scope="module")
def gaits(recordings: Path) -> cg.MotionGraph:
    """Walks, and runs that no blend at the usual threshold leads to."""
    return cg.build_graph(trials(recordings, "16_15", "16_16", "16_47", "16_35", "16_45", "16_46"), workers=1)


def test_runs_are_told_what_brings_them_to_walks(gaits: cg.MotionGraph) -> None:
    joins = find_joins(gaits, ceiling_of(gaits), workers=1)
    assert [join.clip for join in joins] == ["16_35", "16_45", "16_46"]
    for join in joins:
        assert join.threshold_m is not None and join.threshold_m > 3 * gaits.threshold_m
        assert join.bridge is not None and "joins at" in str(join)
        # The threshold told brings the clip in, and a millimetre less does not.
        for less, kept in ((0.0, True), (0.0011, False)):
            settings = gaits.settings.with_(threshold_m=join.threshold_m - less)
            report = report_graph(cg.build_graph(gaits.clips, settings, workers=1))
            assert next(clip.state == "kept" for clip in report.clips if clip.name == join.clip) == kept
    named = {clip for join in joins if join.bridge for clip in join.bridge}
    assert named & {"16_15", "16_16", "16_47"}, "a walk is one end of the bridge"


def test_a_sample_tells_thresholds_that_do(gaits: cg.MotionGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    every = {join.clip: join for join in find_joins(gaits, ceiling_of(gaits), workers=1)}
    whole = sample_joins(gaits, ceiling_of(gaits), workers=1)
    assert {join.clip: join.threshold_m for join in whole} == {name: join.threshold_m for name, join in every.items()}
    assert [join.clip for join in sample_joins(gaits, ceiling_of(gaits), workers=1, since=4)] == ["16_45", "16_46"]
    assert sample_joins(gaits, ceiling_of(gaits), workers=1, since=len(gaits.infos)) == ()
    frames = dict(zip((info.name for info in gaits.infos), gaits.clip_frames.tolist(), strict=True))
    monkeypatch.setattr(finding, "_SAMPLE_LOST", frames["16_35"])
    monkeypatch.setattr(finding, "_SAMPLE_INSIDE", frames["16_15"] + frames["16_16"])
    (join,) = sample_joins(gaits, ceiling_of(gaits), workers=1)
    assert join.threshold_m is not None and join.threshold_m >= (every[join.clip].threshold_m or 0.0)
    settings = gaits.settings.with_(threshold_m=join.threshold_m)
    report = report_graph(cg.build_graph(gaits.clips, settings, workers=1))
    assert next(clip.state == "kept" for clip in report.clips if clip.name == join.clip)


def test_advice_looks_at_some_where_all_take_too_long(gaits: cg.MotionGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = advise(gaits, workers=1)
    assert (len(whole.joins), whole.lost, whole.sampled, str(whole)) == (3, 3, False, "")
    assert whole.joins == find_joins(gaits, ceiling_of(gaits), workers=1)
    monkeypatch.setattr(finding, "_MOST_PAIRS", 0)
    monkeypatch.setattr(finding, "_SAMPLE_LOST", 1)
    some = advise(gaits, workers=1)
    assert (len(some.joins), some.lost, some.sampled) == (1, 3, True)
    assert str(some) == "looked at 1 of the 3 clips left out, and at some of the graph"


def test_a_ceiling_that_is_too_low_is_said(gaits: cg.MotionGraph) -> None:
    joins = find_joins(gaits, 0.12, workers=1)
    assert all(join.threshold_m is None for join in joins)
    assert all(str(join).startswith("nothing below 12 cm brings it in") for join in joins)
    assert find_joining_thresholds(gaits, 0.12, workers=1) == {}
    assert str(find_joins(gaits, 0.01)[0]) == "nothing below 1 cm brings it in"


def test_reports_carry_what_was_told(gaits: cg.MotionGraph) -> None:
    joins = find_joins(gaits, ceiling_of(gaits), workers=1)
    report = report_graph(gaits, joins=joins)
    assert [clip.join for clip in report.lost] == list(joins)
    assert [clip.joins_at_m for clip in report.lost] == [join.threshold_m for join in joins]
    assert is_quick(gaits)


def test_sentences() -> None:
    assert str(Join("run", 0.4, 0.2, ("run", "walk"), 0.1)) == "joins at 20.0 cm, by way of walk"
    assert str(Join("run", 0.4, 0.2, ("jog", "walk"))) == "joins at 20.0 cm together with jog, which bridges to walk"
    assert str(Join("run", 0.4, None, None, 0.1)).endswith("as near as 10.0 cm, but is too short to come and go")


def test_a_graph_that_lost_nothing_needs_nothing(recordings: Path) -> None:
    graph = cg.build_graph(trials(recordings, "16_15", "16_16"), workers=1)
    assert find_joins(graph, 0.4) == ()
    assert np.isclose(ceiling_of(graph), graph.settings.ceiling_m)
