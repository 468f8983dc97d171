"""Motion files read into the project: each kept as it was read, with what was odd about it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from choreograph.base.errors import ChoreographError
from choreograph.build.prepare import digest
from choreograph.motion.clip import Clip
from choreograph.motion.packed import skeleton_id
from choreograph.studio.context import WorkerContext, write_bytes
from choreograph.studio.document import ClipEntry, LabelRange
from choreograph.studio.facts import Recording
from choreograph.studio.field_labels import in_labels
from choreograph.studio.tasks.clips import prepare_clip
from choreograph.studio.worker import TaskChannel


@dataclass
class Imported:
    """What came in."""

    recordings: list[Recording] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    """A sentence for each file that could not be read."""
    places: dict[str, str | dict[str, str]] = field(default_factory=dict)
    """The recording that each file became, by the file's path; of files with several clips those, by their names."""


def import_files(context: WorkerContext, paths: Sequence[Path], channel: TaskChannel) -> Imported:
    """Read motion files; those that cannot be read are told, and do not keep the others out."""
    from choreograph.formats import read_clips
    from choreograph.motion.trim import suggest_trim

    imported = Imported()
    for done, path in enumerate(paths):
        channel.progress("reading files", done, len(paths))
        try:
            recordings = []
            for clip in read_clips(path):
                advice = suggest_trim(clip)
                notes = [f"{advice.reason}: trim to begin at frame {advice.start}"] if advice.start else []
                recordings.append(_keep(context, clip, path.name, notes))
        except ChoreographError as error:
            # Where the upload was put is nobody's business: the name is enough.
            imported.refused.append(in_labels(str(error)).replace(f"{path.parent}/", ""))
            continue
        imported.recordings += recordings
        several = {one.name: one.id for one in recordings}
        imported.places[str(path)] = recordings[0].id if len(recordings) == 1 else several
    channel.progress("reading files", len(paths), len(paths))
    return imported


def import_demo(context: WorkerContext, _: None, channel: TaskChannel) -> Imported:
    """The motion that comes with the package."""
    from choreograph.demo import demo_clips

    return _import_clips(context, demo_clips(progress=channel.progress), lambda clip: f"{clip.name}.npz", channel)


def _import_clips(
    context: WorkerContext, clips: Sequence[Clip], file: Callable[[Clip], str], channel: TaskChannel
) -> Imported:
    imported = Imported()
    for done, clip in enumerate(clips):
        channel.progress("keeping clips", done, len(clips))
        imported.recordings.append(_keep(context, clip, file(clip), []))
    channel.progress("keeping clips", len(clips), len(clips))
    return imported


def _name_of(clip: Clip, file: str) -> str:
    """A name for what was read: the same file, read the same way, has it again."""
    return hashlib.sha256(repr((digest(clip), clip.labels, file)).encode()).hexdigest()[:20]


def _keep(context: WorkerContext, clip: Clip, file: str, notes: list[str]) -> Recording:
    from choreograph.formats.npz import write_npz

    name = _name_of(clip, file)
    recording = Recording(
        id=name,
        name=re.sub(r"\s+", " ", clip.name).strip()[:200] or "clip",
        file=file,
        format=Path(file).suffix.lower().lstrip(".") or "mog",
        frames=len(clip),
        fps=clip.fps,
        skeleton=skeleton_id(clip.skeleton),
        joints=list(clip.skeleton.names),
        labels=[LabelRange(text=label.text[:200], start=label.start, stop=label.stop) for label in clip.labels],
        notes=[*(in_labels(str(note)) for note in (clip.source.notes if clip.source else ())), *notes],
    )
    write_npz(context.places.recording(name), clip, overwrite=True)
    # Ready for the stage as it is: what is dropped in is looked at next.
    prepare_clip(context, ClipEntry(id=name, source=name, name=recording.name), clip)
    write_bytes(context.places.recording(name, ".json"), recording.model_dump_json().encode())
    return recording
