"""Files made of motions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from choreograph.contract.request import read_request
from choreograph.errors import RequestError
from choreograph.formats.export import ExportSettings, export_clip
from choreograph.motion.clip import Clip
from choreograph.studio.context import WorkerContext
from choreograph.studio.document import ClipEntry, Point
from choreograph.studio.library import DRAWINGS, file_stem
from choreograph.studio.worker import TaskChannel


def export(context: WorkerContext, ask: dict[str, Any], channel: TaskChannel) -> list[str]:
    """Write a motion as a file of some type; names of the files.

    Asked as `which` (a ClipEntry, or a result's id), `people`, `name`, `path`, `folder`, and what an ExportAsk has.
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
        _draw(target, clips, ask, channel)
    else:
        _write(target, clips, read_request(ExportSettings, ask["export"]))
    channel.progress("writing", 1, 1)
    return sorted(path.name for path in folder.iterdir())


def _write(target: Path, clips: list[Clip], settings: ExportSettings) -> None:
    from choreograph.formats.registry import find_format

    known = find_format(target)
    if not known.available:
        raise RequestError(f"{known.name} needs an optional part: pip install 'choreograph[{known.name}]'")
    if len(clips) == 1 or known.figures is not None:
        export_clip(target, clips, settings, overwrite=True)
    else:
        for clip in clips:
            export_clip(target.with_name(f"{clip.name}{target.suffix}"), clip, settings, overwrite=True)


def _draw(target: Path, clips: list[Clip], ask: dict[str, Any], channel: TaskChannel) -> None:
    from choreograph.pictures.animation import FilmSettings, write_film, write_still
    from choreograph.pictures.raster import Stroke
    from choreograph.pictures.sheet import SheetSettings, write_sheet
    from choreograph.pictures.theme import AMBER

    path: list[Point] = ask["path"]
    width: int | None = ask["width"]
    if target.suffix == ".png" and ask["frame"] is None:
        sheet = SheetSettings() if width is None else SheetSettings(width=width)
        write_sheet(target, clips, sheet, overwrite=True, progress=channel.progress)
        return
    settings = FilmSettings.for_file(target)
    if width is not None:
        settings = replace(settings, size=(width, round(width * 9 / 32) * 2))
    if target.suffix == ".png":
        settings = replace(settings, samples=4, transparent=ask["transparent"])
        write_still(target, clips, min(ask["frame"], len(clips[0]) - 1), settings, overwrite=True)
        return
    floor = [Stroke(np.array(path), AMBER, 0.02, 0.9)] if len(path) > 1 else []
    write_film(target, clips, settings, floor=floor, overwrite=True, progress=channel.progress)
