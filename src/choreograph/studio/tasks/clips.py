"""Clips of the library made ready for the stage."""

from __future__ import annotations

from choreograph.motion.clip import Clip
from choreograph.motion.packed import pack_frames
from choreograph.studio.archive import clip_number
from choreograph.studio.context import WorkerContext, write_bytes
from choreograph.studio.document import ClipEntry
from choreograph.studio.facts import Motion
from choreograph.studio.library import clip_key
from choreograph.studio.motions import describe_motion
from choreograph.studio.worker import TaskChannel


def clips(context: WorkerContext, entries: list[ClipEntry], channel: TaskChannel) -> dict[str, Motion]:
    """Frames and facts of these clips, written to the cache; the facts by the clips' keys."""
    motions = {}
    for done, entry in enumerate(entries):
        channel.progress("preparing clips", done, len(entries))
        motions[clip_key(entry)] = prepare_clip(context, entry, context.clip(entry))
    return motions


def frames(context: WorkerContext, entry: ClipEntry, channel: TaskChannel) -> None:
    """Write the frames of a clip to the cache, for the stage."""
    write_bytes(context.places.clip(clip_key(entry), ".f32"), pack_frames(context.clip(entry)))


def prepare_clip(context: WorkerContext, entry: ClipEntry, clip: Clip) -> Motion:
    """Write what the stage needs of a clip to the cache; frames of one that stays in its file when they are played."""
    key = clip_key(entry)
    if clip_number(entry.source) is None:
        write_bytes(context.places.clip(key, ".f32"), pack_frames(clip))
    motion = describe_motion(clip, f"clip:{entry.id}")
    write_bytes(context.places.clip(key, ".json"), motion.model_dump_json().encode())
    return motion
