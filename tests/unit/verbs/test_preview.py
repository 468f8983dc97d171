"""Single transitions as walks."""

from __future__ import annotations

import numpy as np
import pytest

from choreograph.base.errors import RequestError
from choreograph.build.graph import build_graph
from choreograph.demo import demo_clip
from choreograph.finishing.finish import finish
from choreograph.graph.model import MotionGraph
from choreograph.graph.settings import GraphSettings
from choreograph.verbs.preview import preview_transition


@pytest.fixture(scope="module")
def graph() -> MotionGraph:
    return build_graph([demo_clip(name, 30.0) for name in ("walk", "walk_veer_left")], GraphSettings(threshold_m=0.06))


def test_it_shows_what_the_graphs_own_transition_shows(graph: MotionGraph) -> None:
    own = graph.transitions
    row = int(np.flatnonzero((own.source_clip != own.target_clip) & (own.source_frame > 30))[0])
    names = [info.name for info in graph.infos]
    walk = preview_transition(
        graph,
        names[own.source_clip[row]],
        int(own.source_frame[row]),
        names[own.target_clip[row]],
        int(own.target_frame[row]),
    )
    shift = walk.graph.edges.transform(1)
    np.testing.assert_allclose([shift.yaw, shift.x, shift.z], [own.yaw[row], own.x[row], own.z[row]], atol=1e-9)
    made = finish(walk)
    assert made.origins.source_clip[0] == own.source_clip[row] and made.origins.source_clip[-1] == own.target_clip[row]
    assert made.origins.source_frame[0] == own.source_frame[row] - 30
    assert np.abs(np.diff(made.raw.root_pos, axis=0)).max() < 0.1, "nobody leaps"


def test_at_the_ends_there_is_less_to_show(graph: MotionGraph) -> None:
    window = graph.window_frames
    last = graph.infos[1].frames - window
    walk = preview_transition(graph, "walk", 0, "walk_veer_left", last)
    assert len(walk) == window
    assert len(preview_transition(graph, "walk", 5, "walk_veer_left", last - 2, seconds=9.0)) == 5 + window + 2


@pytest.mark.parametrize(("clip", "frame"), [("walk", -1), ("walk", 10**6), ("nobody", 0)])
def test_windows_must_be_there(graph: MotionGraph, clip: str, frame: int) -> None:
    with pytest.raises(RequestError):
        preview_transition(graph, clip, frame, "walk", 0)
    with pytest.raises(RequestError):
        preview_transition(graph, "walk", 0, clip, frame)
