"""Motions that were found, kept in the project: what every verb does with its answers."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from choreograph.motion.clip import Clip
from choreograph.motion.packed import pack_frames
from choreograph.studio.context import WorkerContext, write_bytes
from choreograph.studio.document import Point
from choreograph.studio.facts import Figures, Hold, Motion, Piece, Problem, Result, SourceRun
from choreograph.studio.motions import describe_motion


def new_id() -> str:
    """A name for a result; later ones sort after earlier ones."""
    return f"{int(1000 * time.time()):011x}{secrets.token_hex(2)}"


def keep_result(
    shop: WorkerContext,
    result: str,
    people: Sequence[tuple[Clip, Sequence[SourceRun]]],
    *,
    verb: str,
    name: str,
    request: Mapping[str, Any],
    figures: Figures,
    command: str,
    python: str,
    path: Sequence[Point] = (),
    problems: Sequence[Problem] = (),
    pieces: Sequence[Piece] = (),
    holds: Sequence[Hold] = (),
    leader: int | None = None,
) -> Result:
    """Write a result: frames and clip of every person in it, then what is to be known of it.

    `leader` is the person whom the others follow, if they follow anybody.
    """
    from choreograph.formats.npz import write_npz

    motions: list[Motion] = []
    for person, (clip, sources) in enumerate(people):
        write_bytes(shop.places.result(result, ".f32", person), pack_frames(clip))
        write_npz(shop.places.result(result, ".npz", person), clip, overwrite=True)
        motion = describe_motion(clip, f"result:{result}" + (f"/{person}" if person else ""), sources)
        motions.append(motion.model_copy(update={"leads": person == leader}))
    made = Result(
        id=result,
        verb=verb,
        name=name,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        request=dict(request),
        figures=figures,
        problems=list(problems),
        motions=motions,
        path=list(path),
        pieces=list(pieces),
        holds=list(holds),
        command=command,
        python=python,
    )
    write_bytes(shop.places.result(result, ".json"), made.model_dump_json().encode())
    return made
