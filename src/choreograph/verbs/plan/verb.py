"""Planning, declared for all faces."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from choreograph.contract.result import Answer, Result
from choreograph.contract.verb import GRAPH, Preparation, Verb
from choreograph.verbs.plan.prepare import find_plan_graph
from choreograph.verbs.plan.request import PlanRequest
from choreograph.verbs.plan.search import PlanSearch

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _draw(path: Path, result: Result, overwrite: bool) -> None:
    from choreograph.pictures.plots import write_plot
    from choreograph.verbs.plan.plot import plot_plan

    write_plot(path, plot_plan(result), overwrite=overwrite)


def _strokes(request: Any, answer: Answer) -> Sequence[tuple[NDArray[Any], float]]:
    from choreograph.verbs.plan.plot import outlines

    way = [(np.array(answer.path), 0.02)] if len(answer.path) > 1 else []
    return [*outlines(request), *way]


def _blocks(request: Any) -> Sequence[tuple[NDArray[Any], float, float, str]]:
    from choreograph.verbs.plan.plot import blocks

    return blocks(request)


VERB = Verb(
    name="plan",
    about="""Plan a way through a scene: near-optimal motion round obstacles, over gaps, on stones, under bars.

    The request is a YAML or JSON file with a start, a goal and what lies between them; an SVG floor plan can be part of
    it. A first answer is there in a moment; the search then betters it and proves how far from the best it can be,
    until its time is over. Every constraint is checked again on the finished motion.""",
    request=PlanRequest,
    subject=GRAPH,
    search=PlanSearch,
    takes_file=True,
    prepares=(
        Preparation(
            "plan network",
            "steps and blends of them, and which can follow which",
            lambda graph, progress: find_plan_graph(graph, progress=progress),
        ),
    ),
    trial=PlanRequest(goals=[{"place": (0.0, 2.0)}], work_limit=200),
    draw=_draw,
    picture_suffixes=(".png", ".svg", ".pdf"),
    strokes=_strokes,
    blocks=_blocks,
    examples=(
        "plan people.mog scene.yaml -o out.bvh --time-limit 10",
        "plan people.mog scene.yaml -o out/ --count 3 --picture ways.png --render ways.mp4",
        "plan people.mog scene.yaml -o plain.bvh --no-interpolation --objective time",
    ),
    guide="docs/plan.md",
)
