"""Following, declared for all faces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from choreograph.contract.result import Answer, Metric, Result
from choreograph.contract.verb import GRAPH, Preparation, Verb
from choreograph.verbs.follow.request import FollowRequest
from choreograph.verbs.follow.search import FollowSearch
from choreograph.verbs.follow.tables import find_tables

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _draw(path: Path, result: Result, overwrite: bool) -> None:
    from choreograph.pictures.plots import write_plot
    from choreograph.verbs.follow.plot import plot_follow

    write_plot(path, plot_follow(result), overwrite=overwrite)


def _strokes(request: Any, answer: Answer) -> Sequence[tuple[NDArray[Any], float]]:
    return [(np.array(answer.path), 0.02)] if len(answer.path) > 1 else []


def _remeasure(request: Any, answer: Answer) -> Mapping[str, Metric]:
    from choreograph.scene.path import Path as Line
    from choreograph.verbs.follow.measure import measure_path

    if len(answer.path) < 2:
        return {}
    errors = measure_path(answer.clip, Line(np.array(answer.path)))
    found = {"path_mean": errors.mean, "path_worst": errors.worst, "end": errors.end}
    return {name: replace(answer.metrics[name], value=value) for name, value in found.items() if name in answer.metrics}


VERB = Verb(
    name="follow",
    about="""Follow a path: a motion in which the recorded person walks along it.

    Its distance from the path is that of the root from the point as far along the path as the root has walked.""",
    request=FollowRequest,
    subject=GRAPH,
    search=FollowSearch,
    prepares=(
        Preparation("edge tables", "where every edge takes the root", lambda graph, progress: find_tables(graph)),
    ),
    trial=FollowRequest(path="line:length=2", smooth_m=0.1),
    draw=_draw,
    remeasure=_remeasure,
    picture_suffixes=(".png", ".svg", ".pdf"),
    strokes=_strokes,
    examples=(
        "follow people.mog --path eight:radius=3 -o eight.bvh",
        "follow people.mog --path sketch.svg --smooth 0.5 -o walk.glb --render walk.mp4",
        "follow people.mog -p line:length=8 -o run.bvh --label run --picture run.png --result run.json",
    ),
    guide="docs/follow.md",
)
