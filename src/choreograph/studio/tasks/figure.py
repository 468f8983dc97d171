"""The mannequin of a skeleton, for the stage."""

from __future__ import annotations

from choreograph.studio.worker import Tell
from choreograph.studio.workshop import Workshop


def figure(shop: Workshop, ask: tuple[str, str, str], tell: Tell) -> None:
    """Write the figure of a skeleton as GLB, one frame long; asked as (skeleton, "clip" or "result", whose motion)."""
    from choreograph.formats.gltf import write_figure

    skeleton, kind, name = ask
    clip = shop.recording(name) if kind == "clip" else shop.result(name)
    write_figure(shop.places.figure(skeleton), clip, overwrite=True)
