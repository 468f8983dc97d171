"""Motions that were found, kept in the project: what every verb does with its answers."""

from __future__ import annotations

import json
import math
import secrets
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from pydantic import TypeAdapter

from choreograph.contract import result as contract
from choreograph.contract.migrate import marked
from choreograph.contract.problem import Problem
from choreograph.motion.packed import pack_frames
from choreograph.studio.context import WorkerContext, write_bytes
from choreograph.studio.facts import Motion, Result, SourceRun
from choreograph.studio.motions import describe_motion

_PROBLEMS = TypeAdapter(list[Problem])


def new_id() -> str:
    """A name for a result; later ones sort after earlier ones."""
    return f"{int(1000 * time.time()):011x}{secrets.token_hex(2)}"


def now() -> str:
    """The time, as results have it."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def keep_result(context: WorkerContext, result: Result, people: Sequence[contract.Motion]) -> Result:
    """Write a result: frames and clip of every person in it, then what is to be known of it; the result with them."""
    from choreograph.formats.npz import write_npz

    motions: list[Motion] = []
    for person, one in enumerate(people):
        write_bytes(context.places.result(result.id, ".f32", person), pack_frames(one.face or one.clip))
        write_npz(context.places.result(result.id, ".npz", person), one.clip, overwrite=True)
        name = f"result:{result.id}" + (f"/{person}" if person else "")
        motion = describe_motion(one.face or one.clip, name, source_runs(one))
        motions.append(motion.model_copy(update={"leads": one.leads}))
    return write_facts(context, result.model_copy(update={"motions": motions}))


def write_facts(context: WorkerContext, result: Result) -> Result:
    """Write what is to be known of a result, whose motions are there already; the result."""
    write_bytes(context.places.result(result.id, ".json"), json.dumps(marked(result.model_dump(mode="json"))).encode())
    return result


def source_runs(motion: contract.Motion) -> list[SourceRun]:
    """Which recordings a motion shows when."""
    return [
        SourceRun(start=run.start, stop=run.stop, clip=run.clip, clip_frame=run.clip_frame, blend=run.other)
        for run in motion.sources
    ]


def metrics_of(answer: contract.Answer) -> dict[str, contract.Metric]:
    """An answer's metrics; those that say nothing are left out."""
    return {
        name: replace(one, value=float(one.value)) for name, one in answer.metrics.items() if math.isfinite(one.value)
    }


def problems_of(problems: Sequence[Problem]) -> list[Problem]:
    """Problems as plain values have them: without numbers that JSON has no word for."""
    return _PROBLEMS.validate_python([problem.as_json() for problem in problems])
