"""The clips of a project: recordings, and what the document says is done to them. Light enough for the server."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from choreograph.base.errors import RequestError
from choreograph.studio.document import ClipEntry, GraphAsk, ProjectDocument
from choreograph.studio.facts import Recording

if TYPE_CHECKING:
    from choreograph.motion.clip import Clip

DRAWINGS = (".mp4", ".gif", ".png")
"""What motions can be downloaded as besides motion files."""
TOGETHER = (".glb", ".usda", ".usdc", ".usd")
"""Motion files that hold several people."""


def writable_suffixes() -> list[str]:
    """What motions can be downloaded as with the optional parts that are installed."""
    from choreograph.formats.registry import FORMATS
    from choreograph.pictures.mp4 import find_ffmpeg

    motions = [suffix for known in FORMATS if known.writer and known.available for suffix in known.suffixes]
    return [*motions, *(suffix for suffix in DRAWINGS if suffix != ".mp4" or find_ffmpeg() is not None)]


def clip_key(entry: ClipEntry) -> str:
    """A name for the motion that an entry stands for; the same for entries that differ in name only."""
    return digest(entry.model_dump(mode="json", exclude={"id", "name"}))


def graph_key(entries: Sequence[ClipEntry], settings: GraphAsk) -> str:
    """A name for the graph that these clips make."""
    return digest([settings.model_dump(mode="json"), [[clip_key(entry), entry.name] for entry in entries]])


def digest(plain: Any) -> str:
    """A short word for plain data: the same for the same."""
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:24]


def count(number: int, what: str) -> str:
    """A number of things: "1 clip", "3 clips"."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def file_stem(name: str) -> str:
    """A name for a file that goes anywhere."""
    return re.sub(r"[^A-Za-z0-9._-]+", "_", name).strip("._")[:80] or "motion"


def apply_entry(recording: Clip, entry: ClipEntry) -> Clip:
    """The recording, trimmed, mirrored, labelled and named as the entry says."""
    from choreograph.motion.clip import Label

    clip = recording if entry.trim is None else recording[entry.trim[0] : entry.trim[1]]
    clip = clip.mirrored() if entry.mirrored else clip
    if entry.labels is not None:
        clip = clip.with_labels(Label(label.text, label.start, label.stop) for label in entry.labels)
    return clip.with_name(entry.name)


def check_document(document: ProjectDocument, recordings: Mapping[str, Recording]) -> None:
    """Raise a RequestError where an entry asks for frames or recordings that are not there."""
    seen: set[str] = set()
    for entry in document.clips:
        if entry.id in seen:
            raise RequestError(f"two clips have the id {entry.id!r}; give one of them another")
        seen.add(entry.id)
        recording = recordings.get(entry.source)
        if recording is None:
            raise RequestError(f"clip {entry.name!r} comes from a recording {entry.source!r} that is not there")
        start, stop = entry.trim or (0, recording.frames)
        if not 0 <= start < stop <= recording.frames:
            raise RequestError(
                f"clip {entry.name!r} is trimmed to frames [{start}, {stop}); its recording has {recording.frames}"
            )
        for label in entry.labels or ():
            if not label.start < label.stop <= stop - start:
                raise RequestError(
                    f"label {label.text!r} [{label.start}, {label.stop}) is not within the {stop - start} frames "
                    f"of clip {entry.name!r}"
                )
