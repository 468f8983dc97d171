"""Files made of motions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from choreograph.base.errors import RequestError
from choreograph.contract.request import read_request
from choreograph.formats.character import WRITES
from choreograph.formats.export import ExportSettings, export_clip
from choreograph.motion.clip import Clip
from choreograph.studio.context import WorkerContext
from choreograph.studio.document import ClipEntry, Point
from choreograph.studio.library import DRAWINGS, file_stem
from choreograph.studio.worker import TaskChannel


def export(context: WorkerContext, ask: dict[str, Any], channel: TaskChannel) -> list[str]:
    """Write a motion as a file of some type; names of the files.

    Asked as `which` (a ClipEntry, or a result's id), `people`, `name`, `path`, `folder`, what an ExportAsk has, and
    `character`, the file of who moves, or None.
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
    body: Path | None = ask.get("character")
    if body is not None:
        clips = _on_character(clips, body)
    if ask["suffix"] in DRAWINGS:
        _draw(target, clips, ask, channel)
    elif body is not None and ask["suffix"] in WRITES:
        settings = read_request(ExportSettings, ask["export"])
        _write_characters(target, [settings.apply(clip, own_body=True) for clip in clips], body)
    else:
        _write(target, clips, read_request(ExportSettings, ask["export"]))
    channel.progress("writing", 1, 1)
    return sorted(path.name for path in folder.iterdir())


def _on_character(clips: list[Clip], body: Path) -> list[Clip]:
    from choreograph.finishing.retarget_clean import put_on
    from choreograph.formats.character import read_character

    character = read_character(body)
    return [put_on(clip, character.skeleton, sole_m=character.sole_m, keep_way=True).clip for clip in clips]


def _write_characters(target: Path, clips: list[Clip], body: Path) -> None:
    """The character's own file with the motion, one for each who moves."""
    from choreograph.formats.character import read_character, write_character

    character = read_character(body)
    for clip in clips:
        file = target if len(clips) == 1 else target.with_name(f"{clip.name}{target.suffix}")
        write_character(file, character, clip, overwrite=True)


def _write(target: Path, clips: list[Clip], settings: ExportSettings) -> None:
    from choreograph.formats.registry import find_format

    known = find_format(target)
    if not known.available:
        raise RequestError(f"{known.name} needs an optional part: pip install 'choreograph[{known.name}]'")
    if len(clips) == 1 or known.several:
        export_clip(target, clips, settings, overwrite=True)
    else:
        for clip in clips:
            export_clip(target.with_name(f"{clip.name}{target.suffix}"), clip, settings, overwrite=True)


def _draw(target: Path, clips: list[Clip], ask: dict[str, Any], channel: TaskChannel) -> None:
    from choreograph.pictures.drawing import Drawing, write_drawing
    from choreograph.pictures.raster import Stroke
    from choreograph.pictures.theme import AMBER

    path: list[Point] = ask["path"]
    width: int | None = ask["width"]
    body = None if ask.get("character") is None else str(ask["character"])
    frame = None if target.suffix != ".png" or ask["frame"] is None else min(ask["frame"], len(clips[0]) - 1)
    drawing = Drawing(
        None if width is None else (width, None), frame=frame, transparent=frame is not None and ask["transparent"]
    )
    floor = [Stroke(np.array(path), AMBER, 0.02, 0.9)] if len(path) > 1 and target.suffix != ".png" else []
    write_drawing(
        target, clips, drawing, floor=floor, bodies=[body] * len(clips), overwrite=True, progress=channel.progress
    )
