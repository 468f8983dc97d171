"""Which graph a request is followed on: as it was built, or with clips that long blends join where they are wanted."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from choreograph.base.arrays import Flags, Floats
from choreograph.graph.model import MotionGraph
from choreograph.motion.bend import way_of
from choreograph.motion.labels import matches_label
from choreograph.scene.path import Stretch
from choreograph.verbs.follow.goals import speeds_that_fit
from choreograph.verbs.follow.request import FollowRequest, wanted_of


def graph_for(graph: MotionGraph, request: FollowRequest, stretches: Iterable[Stretch] = ()) -> MotionGraph:
    """The graph itself, or its wider one where that has more of what is asked for.

    Args:
        graph: As it was built.
        request: What is asked.
        stretches: More that is asked, along the path.
    """
    wider = graph.wider
    if wider is graph:
        return graph
    inside, joined = (np.isin(np.arange(len(graph.infos)), some.nodes.clip) for some in (graph, wider))
    more = joined & ~inside
    wanted = [(one.label, one.speed) for one in stretches]
    wanted += [(label, speed) for speed, label, _ in map(wanted_of, request.along)]
    wanted += [(request.label, request.speed_m_s), (request.style, None)]
    labels = {label for label, _ in wanted if label is not None}
    speeds = {speed for _, speed in wanted if speed is not None}
    named = {request.start.clip, *request.prefer}
    if any(graph.infos[n].name in named for n in np.flatnonzero(more)):
        return wider
    shown = [_labelled(graph, label) for label in labels]
    shown += [_as_fast(graph, joined, request, speed) for speed in speeds]
    return wider if any(seconds[more].sum() > seconds[inside].sum() for seconds in shown) else graph


def _labelled(graph: MotionGraph, wanted: str) -> Floats:
    """Seconds of each clip that carry a label, (C,)."""
    return np.array(
        [
            sum((label.stop - label.start) / info.fps for label in info.labels if matches_label(wanted, label.text))
            for info in graph.infos
        ]
    )


def _as_fast(graph: MotionGraph, which: Flags, request: FollowRequest, speed: float) -> Floats:
    """Seconds of some clips in which somebody is as fast, (C,)."""
    low, high = speeds_that_fit(request.settings, speed)
    seconds = np.zeros(len(graph.infos))
    for number in np.flatnonzero(which).tolist():
        clip = graph.clips[number]
        shown = way_of(clip).speed
        seconds[number] = ((shown > low) & (shown < high)).sum() / clip.fps
    return seconds
