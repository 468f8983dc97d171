"""Solving, declared for all faces."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from choreograph.contract.result import Answer, Result
from choreograph.contract.verb import GRAPH, Preparation, Verb
from choreograph.goals.model import PlaceGoal
from choreograph.verbs.solve.prepare import find_hierarchy
from choreograph.verbs.solve.request import SolveRequest
from choreograph.verbs.solve.search import SolveSearch

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _draw(path: Path, result: Result, overwrite: bool) -> None:
    from choreograph.pictures.animation import write_png
    from choreograph.verbs.solve.picture import draw_result

    write_png(path, draw_result(result), overwrite=overwrite)


def _strokes(request: Any, answer: Answer) -> Sequence[tuple[NDArray[Any], float]]:
    from choreograph.verbs.solve.picture import placed_people, request_lines

    return [line for one in placed_people(request, answer) for line in request_lines(one)]


VERB = Verb(
    name="solve",
    about="""Generate motion of a given duration from goals at times.

    The request is a YAML or JSON file. The answers differ from each other, the best first. The folder keeps the search
    as search.json, from which --resume goes on to better answers; Ctrl-C ends it early and writes the best so far. If
    the request is for several people, GLB and USD files hold them all, other formats have a file for each:
    answer_1_anna.bvh.""",
    request=SolveRequest,
    subject=GRAPH,
    search=SolveSearch,
    takes_file=True,
    runs_code=True,
    prepares=(
        Preparation(
            "hierarchy",
            "where clips can be cut into each other",
            lambda graph, progress: find_hierarchy(graph, progress=progress),
        ),
    ),
    trial=SolveRequest(
        duration_s=1.0,
        goals=(PlaceGoal(at_s=0.0, place=(0.0, 0.0), facing_deg=0.0), PlaceGoal(at_s=1.0, place=(0.0, 1.0))),
        count=1,
        work_limit=1,
    ),
    draw=_draw,
    strokes=_strokes,
    examples=(
        "solve people.mog request.yaml -o out/ --count 5 --time-limit 3",
        "solve people.mog request.yaml -o out/ --resume --time-limit 10",
        "solve leads.mog dance.yaml -o out/ --format glb --render dance.mp4",
    ),
    guide="docs/solve.md",
)
