"""Small pictures of motions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from choreograph.studio.context import WorkerContext
from choreograph.studio.document import ClipEntry
from choreograph.studio.worker import TaskChannel

if TYPE_CHECKING:
    from pathlib import Path

SIZE = (288, 128)
"""Pixels, twice as many as the page shows, for sharp screens."""


def thumbnail(context: WorkerContext, ask: tuple[ClipEntry | str, Path, str], channel: TaskChannel) -> None:
    """Write the picture of a clip or result; asked as (which, where to, theme)."""
    from choreograph.pictures.animation import write_png
    from choreograph.pictures.sheet import SheetSettings, draw_thumbnail

    which, path, theme = ask
    clip = context.clip(which) if isinstance(which, ClipEntry) else context.result(which)
    write_png(path, draw_thumbnail(clip, SheetSettings(*SIZE, theme=theme, samples=3)), overwrite=True)
