"""Bending, declared for all faces."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from choreograph.contract.result import Answer, Result
from choreograph.contract.verb import CLIP, Verb
from choreograph.verbs.bend.request import BendRequest
from choreograph.verbs.bend.search import BendResult, BendSearch

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _draw(path: Path, result: Result, overwrite: bool) -> None:
    from choreograph.pictures.plots import write_plot
    from choreograph.verbs.bend.plot import plot_bend

    assert isinstance(result, BendResult)
    write_plot(path, plot_bend(result), overwrite=overwrite)


def _strokes(request: Any, answer: Answer) -> Sequence[tuple[NDArray[Any], float]]:
    return [(np.array(answer.path), 0.02)] if len(answer.path) > 1 else []


VERB = Verb(
    name="bend",
    about="""Bend a motion: the same steps along another path.

    The motion begins where the path does. Steps become up to a tenth longer or shorter, so that it ends there too.""",
    request=BendRequest,
    subject=CLIP,
    search=BendSearch,
    trial=BendRequest(path="line:length=2"),
    draw=_draw,
    picture_suffixes=(".png", ".svg", ".pdf"),
    strokes=_strokes,
    examples=(
        "bend walk.bvh --path circle:radius=2 -o round.bvh",
        "bend walk.bvh --path sketch.svg --smooth 0.5 -o bent.glb --picture ways.png --render bent.mp4",
        "bend run.bvh -p turn.csv --lean 0.3 -o turn.bvh --result turn.json",
    ),
    guide="docs/bend.md",
)
