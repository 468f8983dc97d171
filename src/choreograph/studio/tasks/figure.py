"""The mannequin of a skeleton, for the stage."""

from __future__ import annotations

from choreograph.studio.context import WorkerContext
from choreograph.studio.worker import TaskChannel


def figure(shop: WorkerContext, ask: tuple[str, str, str], tell: TaskChannel) -> None:
    """Write the figure of a skeleton as GLB, one frame long; asked as (skeleton, "clip" or "result", whose motion)."""
    from choreograph.formats.gltf import write_figure

    skeleton, kind, name = ask
    clip = shop.recording(name) if kind == "clip" else shop.result(name)
    write_figure(shop.places.figure(skeleton), clip, overwrite=True)
