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
from choreograph.verbs.steer.controller import SteerBrain
from choreograph.verbs.steer.learn import QUICK
from choreograph.verbs.steer.prepare import FIRST_READY, find_brain
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


def _learn(graph: MotionGraph, progress: Progress) -> SteerBrain:
    """All value functions, after one that is enough to begin with."""
    brain = find_brain(graph, learning=QUICK, progress=progress)
    progress(FIRST_READY, 1, 1)
    return find_brain(graph, tasks=("navigate", "spin", "avoid"), steps=brain.costs.steps, progress=progress)


VERB = Verb(
    name="steer",
    about="""Steer a character by a script: lines to keep to, speeds, gaits and turns, as they change over time.

    The first time, it is learned what each situation will cost from there on, which takes seconds; then each step is
    chosen at once, as it is when the character is steered live in the studio or by your program.""",
    request=SteerRequest,
    subject=GRAPH,
    search=SteerSearch,
    prepares=(
        Preparation(
            "value function", "what keeping to a line, turning and avoiding will cost from each situation on", _learn
        ),
    ),
    trial=SteerRequest(path="line:length=3", length_s=2.0),
    draw=_draw,
    picture_suffixes=(".png", ".svg", ".pdf"),
    strokes=_strokes,
    runs_code=True,
    examples=(
        "steer people.mog --task navigate --script goals.csv --seconds 60 -o out.bvh",
        "steer people.mog --path circle:radius=4 --seconds 30 -o round.glb --picture round.png",
        "steer people.mog --script goals.csv --obstacles others.csv -o walk.bvh --result walk.json",
    ),
    guide="docs/steer.md",
)  # fmt: skip
