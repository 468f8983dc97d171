"""Small pictures of motions."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from choreograph.base.errors import RoleError
from choreograph.motion.face import is_points, marker_points
from choreograph.studio.context import WorkerContext
from choreograph.studio.document import ClipEntry
from choreograph.studio.worker import TaskChannel

if TYPE_CHECKING:
    from pathlib import Path

SIZE = (288, 128)
"""Pixels, twice as many as the page shows, for sharp screens."""


def thumbnail(
    context: WorkerContext, ask: tuple[ClipEntry | str, Path, str, Path | None], channel: TaskChannel
) -> None:
    """Write the picture of a clip or result; asked as (which, where to, theme, file of the character that is seen)."""
    from choreograph.pictures.animation import write_png
    from choreograph.pictures.sheet import SheetSettings, draw_thumbnail

    which, path, theme, character = ask
    clip = context.clip(which) if isinstance(which, ClipEntry) else context.result(which)
    if is_points(clip):
        from choreograph.formats.face_glb import front_triangles
        from choreograph.pictures.heads import write_heads

        points = marker_points(clip)
        write_heads(path, points, front_triangles(points[0]), SIZE, theme=theme)
        return
    body = None
    if character is not None:
        from choreograph.finishing.retarget_clean import put_on
        from choreograph.formats.character import read_character

        someone = read_character(character)
        with suppress(RoleError):  # whose legs nobody has named yet is seen as the mannequin
            clip = put_on(clip, someone.skeleton, sole_m=someone.sole_m, keep_way=True).clip
            body = str(character)
    write_png(path, draw_thumbnail(clip, SheetSettings(*SIZE, theme=theme, samples=3, body=body)), overwrite=True)
