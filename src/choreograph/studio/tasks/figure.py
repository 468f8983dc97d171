"""The mannequin of a skeleton, for the stage."""

from __future__ import annotations

from choreograph.studio.context import WorkerContext
from choreograph.studio.worker import TaskChannel


def figure(context: WorkerContext, ask: tuple[str, str, str], channel: TaskChannel) -> None:
    """Write the figure of a skeleton as GLB, one frame long; asked as (skeleton, "clip" or "result", whose motion)."""
    from choreograph.formats.gltf import write_figure

    skeleton, kind, name = ask
    clip = context.recording(name) if kind == "clip" else context.result(name)
    write_figure(context.places.figure(skeleton), clip, overwrite=True)
