"""Steering, declared for all faces."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from choreograph.base.progress import Progress
from choreograph.contract.result import Answer, Result
from choreograph.contract.verb import GRAPH, Preparation, Verb
from choreograph.graph.model import MotionGraph
from choreograph.scene.path_request import PathSource
from choreograph.verbs.steer.controller import SteerPolicy
from choreograph.verbs.steer.learn import QUICK
from choreograph.verbs.steer.prepare import FIRST_READY, load_policy
from choreograph.verbs.steer.request import SteerRequest
from choreograph.verbs.steer.search import SteerSearch

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _draw(path: Path, result: Result, overwrite: bool) -> None:
    from choreograph.pictures.plots import write_plot
    from choreograph.verbs.steer.plot import plot_steer

    write_plot(path, plot_steer(result), overwrite=overwrite)


def _strokes(request: Any, answer: Answer) -> Sequence[tuple[NDArray[Any], float]]:
    return [(np.array(answer.path), 0.02)] if len(answer.path) > 1 else []


def _learn(graph: MotionGraph, progress: Progress) -> SteerPolicy:
    """All value functions, after one that is enough to begin with."""
    policy = load_policy(graph, learning=QUICK, progress=progress)
    progress(FIRST_READY, 1, 1)
    return load_policy(graph, tasks=("navigate", "spin", "avoid"), steps=policy.costs.steps, progress=progress)


VERB = Verb(
    name="steer",
    about="""Steer a character by goals over time: lines to keep to, speeds, labels and turns.

    The first time, a policy is learned, which takes seconds; then it chooses each step at once, as it does when you
    steer the character live in the studio or from your program.""",
    request=SteerRequest,
    subject=GRAPH,
    search=SteerSearch,
    prepares=(
        Preparation(
            "value function", "what keeping to a line, turning and avoiding will cost from each situation on", _learn
        ),
    ),
    trial=SteerRequest(path=PathSource(shape="line:length=3"), duration_s=2.0),
    draw=_draw,
    picture_suffixes=(".png", ".svg", ".pdf"),
    strokes=_strokes,
    runs_code=True,
    examples=(
        "steer people.mog --goals goals.csv --duration 60 -o out.bvh",
        "steer people.mog --path circle:radius=4 --duration 30 -o round.glb --picture round.png",
        "steer people.mog --goals goals.csv --obstacles others.csv -o walk.bvh --result walk.json",
    ),
    guide="docs/steer.md",
)  # fmt: skip
