"""Files made of motions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from choreograph.errors import RequestError
from choreograph.motion.clip import Clip
from choreograph.studio.context import WorkerContext
from choreograph.studio.document import ClipEntry, Point
from choreograph.studio.library import DRAWINGS, file_stem
from choreograph.studio.worker import TaskChannel


def export(context: WorkerContext, ask: dict[str, Any], channel: TaskChannel) -> list[str]:
    """Write a motion as a file of some type; names of the files.

    Asked as `which` (a ClipEntry, or a result's id), `people`, `suffix`, `name`, `path` and `folder`.
    """
    which: ClipEntry | str = ask["which"]
    clips = (
        [context.clip(which)]
        if isinstance(which, ClipEntry)
        else [context.result(which, person) for person in range(ask["people"])]
    )
    folder: Path = ask["folder"]
    folder.mkdir(parents=True, exist_ok=True)
    stem = file_stem(ask["name"])
    target = folder / f"{stem}{ask['suffix']}"
    clips = [clip.with_name(stem if len(clips) == 1 else f"{stem}_{k}") for k, clip in enumerate(clips, 1)]
    channel.progress("writing", 0, 1)
    if ask["suffix"] in DRAWINGS:
        _draw(target, clips, ask["path"], channel)
    else:
        _write(target, clips)
    channel.progress("writing", 1, 1)
    return sorted(path.name for path in folder.iterdir())


def _write(target: Path, clips: list[Clip]) -> None:
    from choreograph.formats import write_clip
    from choreograph.formats.registry import find_format

    known = find_format(target)
    if not known.available:
        raise RequestError(f"{known.name} needs an optional part: pip install 'choreograph[{known.name}]'")
    if len(clips) == 1 or known.figures is not None:
        write_clip(target, clips, overwrite=True)
    else:
        for clip in clips:
            write_clip(target.with_name(f"{clip.name}{target.suffix}"), clip, overwrite=True)


def _draw(target: Path, clips: list[Clip], path: list[Point], channel: TaskChannel) -> None:
    from choreograph.pictures.animation import write_film
    from choreograph.pictures.raster import Stroke
    from choreograph.pictures.sheet import write_sheet
    from choreograph.pictures.theme import AMBER

    if target.suffix == ".png":
        write_sheet(target, clips, overwrite=True, progress=channel.progress)
        return
    floor = [Stroke(np.array(path), AMBER, 0.02, 0.9)] if len(path) > 1 else []
    write_film(target, clips, floor=floor, overwrite=True, progress=channel.progress)
