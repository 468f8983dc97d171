"""What would bring in clips left out, in both faces: the command line's, and the studio's task."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import choreograph as cg
from choreograph.build import joins as finding
from choreograph.cli.build import show_advice
from choreograph.demo import demo_clip
from choreograph.studio.context import WorkerContext
from choreograph.studio.project_paths import find_places
from choreograph.studio.tasks.joins import joins


@pytest.fixture
def mog(tmp_path: Path) -> Path:
    """Runs, and walks that fell out."""
    clips = [demo_clip(name, 30.0) for name in ("walk", "walk_fast", "run")]
    clips += [clips[-1][5:].with_name("run_on")]
    cg.save_graph(cg.build_graph(clips, cg.GraphSettings(threshold_m=0.03), workers=1), tmp_path / "gaits.mog")
    return tmp_path / "gaits.mog"


def ask(mog: Path, notes: list[str]) -> Any:
    context = WorkerContext(find_places(mog))
    channel: Any = SimpleNamespace(progress=lambda stage, done, total: None)
    return joins(context, {"graph": str(mog), "key": "k", "notes": notes}, channel)


def test_where_all_are_compared_nothing_is_said_of_a_sample(mog: Path, capsys: pytest.CaptureFixture[str]) -> None:
    show_advice(cg.open_graph(mog), 1)
    assert "would join: walk at" in (said := capsys.readouterr().out) and "looked at" not in said
    _, summary, curve = ask(mog, ["built here"])
    lost = [clip for clip in summary.clips if clip.state != "kept"]
    assert lost and all(clip.join for clip in lost)
    assert summary.notes == ["built here"] and curve.threshold_m[-1] > 2 * summary.threshold_m


def test_both_faces_say_that_some_were_looked_at(
    mog: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    graph = cg.open_graph(mog)
    lost = finding.lost_clips(graph)
    monkeypatch.setattr(finding, "_MOST_PAIRS", 0)
    monkeypatch.setattr(finding, "_SAMPLE_LOST", int(graph.clip_frames[lost[0]]))
    note = f"looked at 1 of the {len(lost)} clips left out, and at some of the graph"
    show_advice(graph, 1)
    assert f"{note}:" in " ".join(capsys.readouterr().out.split())
    monkeypatch.setattr("choreograph.studio.tasks.joins.WindowComparison", None)
    _, summary, _ = ask(mog, ["built here", note])
    assert summary.notes == ["built here", note], "and not once more each time that somebody asks"
    assert [bool(clip.join) for clip in summary.clips if clip.state != "kept"].count(True) == 1
