"""A transition to be looked at."""

from __future__ import annotations

import time
from typing import Any

from choreograph.contract.result import Motion, source_runs
from choreograph.finishing.finish import finish
from choreograph.studio.context import WorkerContext
from choreograph.studio.facts import Result
from choreograph.studio.messages import PreviewAsk
from choreograph.studio.tasks.results import keep_result, new_id, now
from choreograph.studio.worker import TaskChannel
from choreograph.verbs.preview import preview_transition


def preview(context: WorkerContext, ask: dict[str, Any], channel: TaskChannel) -> Result:
    """The motion of one transition; asked as a PreviewAsk and the graph's file."""
    began = time.monotonic()
    preview_ask: PreviewAsk = ask["ask"]
    graph = context.graph(ask["graph"])
    places = (preview_ask.clip_a, preview_ask.frame_a, preview_ask.clip_b, preview_ask.frame_b)
    motion = finish(preview_transition(graph, *places), name=f"{preview_ask.clip_a} to {preview_ask.clip_b}")
    python = "\n".join(
        [
            "import choreograph as cg",
            "from choreograph.verbs.preview import preview_transition",
            "",
            f"graph = cg.open_graph({ask['graph']!r})",
            f"walk = preview_transition(graph, {', '.join(map(repr, places))})",
            'cg.write_clip("transition.bvh", cg.finish(walk).clip, overwrite=True)',
            "",
        ]
    )
    result = Result(
        id=new_id(),
        verb="preview",
        name=motion.clip.name,
        created=now(),
        request=preview_ask.model_dump(mode="json"),
        total_s=time.monotonic() - began,
        motions=[],
        command="# a single transition has no command of its own; the Python program makes it",
        python=python,
    )
    sources = source_runs(motion.origins, motion.origins.names)
    return keep_result(context, result, [Motion(motion.clip, sources)])
