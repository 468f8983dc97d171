"""Performing, declared for all faces."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from choreograph.contract.result import Answer, Result
from choreograph.contract.verb import EXAMPLES, Output, Preparation, Verb
from choreograph.verbs.perform.request import PerformRequest
from choreograph.verbs.perform.search import PerformSearch
from choreograph.verbs.perform.sources import find_database
from choreograph.verbs.perform.transcription import SUFFIXES, write_transcription

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _write_transcription(path: Path, result: Result, overwrite: bool) -> None:
    write_transcription(path, result.best.details["pieces"], overwrite=overwrite)


def _strokes(request: Any, answer: Answer) -> Sequence[tuple[NDArray[Any], float]]:
    return [(np.array(answer.path), 0.02)] if len(answer.path) > 1 else []


VERB = Verb(
    name="perform",
    about="""Perform: a motion that answers a control as the recorded examples did.

    What leads is a body (LEADER) or a way over the floor with its timing (--trajectory).""",
    request=PerformRequest,
    subject=EXAMPLES,
    search=PerformSearch,
    arguments=("leader",),
    prepares=(
        Preparation(
            "segments",
            "recordings cut into segments, with the points that lead and answer",
            lambda examples, progress: find_database(examples, PerformRequest(), progress=progress),
        ),
    ),
    trial=PerformRequest(samples=tuple((k / 10, 0.0, 0.12 * k) for k in range(41))),
    strokes=_strokes,
    outputs=(Output("transcription", "Also write which segments are played when", SUFFIXES, _write_transcription),),
    examples=(
        "perform leaders/ new_leader.bvh --answers followers/ -o follower.bvh --render both.mp4",
        "perform walks/ --trajectory hand.csv -o walk.bvh",
        "perform people.mog --trajectory hand.csv -o walk.bvh --transcription walk.vtt --lag 2",
        "perform pairs.mog new_leader.bvh -o follower.bvh",
    ),
    guide="docs/perform.md",
)
