from __future__ import annotations

import numpy as np
import pytest

from choreograph.base.errors import RequestError
from choreograph.build.graph import build_graph
from choreograph.graph.report import compute_connectivity
from choreograph.pictures import graph_plots


@pytest.fixture
def graph(walks):
    return build_graph(walks)


def test_distances_mark_the_graphs_minima(graph):
    panel = graph_plots.plot_distances(graph, "left", "straight").axes[0]
    image = panel.get_images()[0].get_array()
    assert image.shape == (111, 111)
    minima = graph.minima
    rows = (minima.clip_a == 0) & (minima.clip_b == 1)
    # "left" is clip 1 and down the side, so frames of b run down and frames of a along.
    filled = np.sort(panel.get_lines()[1].get_xydata() * graph.rate_hz - 0.5, axis=0)
    expected = np.sort(np.stack([minima.frame_a[rows], minima.frame_b[rows]], axis=1), axis=0)
    assert np.allclose(filled, expected)


def test_a_clip_against_itself_is_symmetric(graph):
    panel = graph_plots.plot_distances(graph, "straight", "straight", theme="dark").axes[0]
    points = {tuple(p) for p in np.round(panel.get_lines()[1].get_xydata(), 6)}
    assert points == {(b, a) for a, b in points}
    assert len(points) == 2 * ((graph.minima.clip_a == 0) & (graph.minima.clip_b == 0)).sum()


def test_the_whole_graph_draws_every_transition_and_names_every_clip(graph):
    panel = graph_plots.plot_graph(graph).axes[0]
    ring, kept, chords = panel.collections
    assert len(ring.get_segments()) == len(graph.clips)
    assert len(kept.get_segments()) + len(chords.get_segments()) == len(graph.edges)
    assert {"straight", "left", "right", "march"} <= {text.get_text() for text in panel.texts}


def test_connectivity_rises_to_the_graphs_own_share(graph):
    curve = compute_connectivity(graph.minima, graph.settings, graph.infos, np.linspace(0, graph.threshold_m, 9))
    assert (np.diff(curve.shown_share) >= 0).all()
    assert curve.transitions[-1] == (graph.edges.kind == 1).sum()
    panel = graph_plots.plot_connectivity(curve, graph.threshold_m).axes[0]
    assert panel.get_lines()[0].get_ydata()[-1] == pytest.approx(100 * curve.shown_share[-1])


def test_transitions_are_drawn_from_nearest_to_farthest(graph):
    figure = graph_plots.plot_transitions(graph, count=3)
    told = [float(panel.get_title(loc="left").split("·")[1].removesuffix("cm")) for panel in figure.axes]
    assert told == sorted(told)
    assert told[-1] == pytest.approx(100 * graph.edges.distance_m.max(), abs=0.01)
    # Poses at the nearest transition lie on each other.
    lines = [line.get_xydata() for line in figure.axes[0].get_lines() if len(line.get_xydata()) == 2]
    bones = len(graph.skeleton) - 1
    assert np.abs(np.array(lines[:bones]) - np.array(lines[bones : 2 * bones])).max() < 0.02


def test_an_empty_graph_draws_its_clips_and_has_no_transitions_to_show(walks):
    empty = build_graph([walks[3][:20]])
    graph_plots.plot_graph(empty).canvas.draw()
    with pytest.raises(RequestError, match="no transitions"):
        graph_plots.plot_transitions(empty)
