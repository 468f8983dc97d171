"""Plots of followed paths: nothing is cut off, and every motion is in the legend."""

from __future__ import annotations

import dataclasses

import pytest

from choreograph.build.graph import build_graph
from choreograph.contract.result import Result
from choreograph.demo import demo_clip
from choreograph.scene.path import Path
from choreograph.verbs.follow.plot import plot_comparison, plot_follow
from choreograph.verbs.follow.request import FollowAdvanced, FollowRequest
from choreograph.verbs.follow.search import follow

ALONG_X = Path([(0.0, 0.0), (4.0, 0.0)], name="tall")
"""A tall, narrow figure."""


@pytest.fixture(scope="module")
def followed() -> Result:
    graph = build_graph([demo_clip("walk"), demo_clip("walk_veer_left")])
    return follow(graph, FollowRequest.of_path(ALONG_X, advanced=FollowAdvanced(method="beam")))


@pytest.mark.parametrize("name", ["tall", "a path whose name is so long that the title needs more room than the floor"])
def test_titles_are_not_cut_off(followed: Result, name: str) -> None:
    asked = FollowRequest(name, advanced=FollowAdvanced(method="beam"))
    figure = plot_follow(dataclasses.replace(followed, request=asked))
    figure.draw_without_rendering()
    title, what = figure.texts
    assert title.get_text() == name
    assert title.get_window_extent().x1 < what.get_window_extent().x0
    assert what.get_window_extent().x1 <= figure.bbox.x1


def test_compares_motions_with_a_readable_legend(followed: Result) -> None:
    names = [f"the same motion for the {k}th time under a long name" for k in range(5)]
    figure = plot_comparison(ALONG_X, dict.fromkeys(names, followed.clip))
    figure.draw_without_rendering()
    floor, distances = figure.axes
    assert len(floor.lines) == 1 + len(names) and len(distances.lines) == len(names)
    legend = figure.legends[0]
    assert [text.get_text().split(":")[0] for text in legend.get_texts()] == names
    box, below = legend.get_window_extent(), distances.get_tightbbox()
    assert box.x0 >= 0 and box.x1 <= figure.bbox.x1 and box.y0 >= 0
    assert below is not None and box.y1 <= below.y0
