"""Completing, declared for all faces."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from choreograph.contract.result import Answer, Result
from choreograph.contract.verb import EXAMPLES, Output, Verb
from choreograph.goals.model import PlaceGoal
from choreograph.verbs.complete.request import CompleteRequest
from choreograph.verbs.complete.search import CompleteResult, CompleteSearch

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _draw(path: Path, result: Result, overwrite: bool) -> None:
    from choreograph.pictures.plots import write_plot
    from choreograph.verbs.complete.plot import plot_completion

    assert isinstance(result, CompleteResult)
    write_plot(path, plot_completion(result), overwrite=overwrite)


def _draw_objective(path: Path, result: Result, overwrite: bool) -> None:
    from choreograph.pictures.plots import write_plot
    from choreograph.verbs.complete.plot import plot_objective

    assert isinstance(result, CompleteResult)
    write_plot(path, plot_objective(result), overwrite=overwrite)


def _write_model(path: Path, result: Result, overwrite: bool) -> None:
    from choreograph.verbs.complete.store import save_model

    assert isinstance(result, CompleteResult) and result.completion is not None
    save_model(path, result.completion.model, overwrite=overwrite)


def _strokes(request: Any, answer: Answer) -> Sequence[tuple[NDArray[Any], float]]:
    return [(np.array(answer.path), 0.02)] if len(answer.path) > 1 else []


VERB = Verb(
    name="complete",
    about="""Complete a motion: the most likely one through a few keyframes, tracks and contacts.

    EXAMPLES are what it learns from: a folder, a pattern, a motion graph (.mog) or a model (.model) that learn wrote.
    The request is a YAML or JSON file; --between fills the gap between two motions without one.""",
    request=CompleteRequest,
    subject=EXAMPLES,
    search=CompleteSearch,
    takes_file=True,
    trial=CompleteRequest(
        duration_s=1.0, goals=(PlaceGoal(at_s=0.0, place=(0.0, 0.0)), PlaceGoal(at_s=1.0, place=(0.0, 1.0)))
    ),
    draw=_draw,
    picture_suffixes=(".png", ".svg", ".pdf"),
    strokes=_strokes,
    outputs=(
        Output(
            "objective_picture",
            "Also plot the objective over iterations from three starts",
            (".png", ".svg", ".pdf"),
            _draw_objective,
        ),
        Output("model", "Also write the model", (".model",), _write_model),
    ),
    examples=(
        "complete walks/ request.yaml -o out.bvh --picture out.png",
        "complete walks.model request.yaml -o out.glb --render out.mp4",
        "complete walks/ --between a.bvh --between b.bvh --gap 1 -o gap.bvh",
    ),
    guide="docs/complete.md",
)
