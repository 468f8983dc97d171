"""Somebody's own character, and motions on it, for the stage."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from choreograph.motion.packed import pack_frames
from choreograph.studio.context import WorkerContext, write_bytes
from choreograph.studio.document import ClipEntry
from choreograph.studio.facts import CharacterFacts, Motion
from choreograph.studio.motions import describe_motion
from choreograph.studio.worker import TaskChannel


def character(context: WorkerContext, path: Path, channel: TaskChannel) -> CharacterFacts:
    """Take a character into the project: its file as GLB, and its figure for the stage."""
    from choreograph.formats.character import read_character
    from choreograph.formats.fbx import list_fbx_takes
    from choreograph.formats.fbx_character import fbx_as_glb
    from choreograph.formats.stage_figure import stage_figure
    from choreograph.motion.role_map import LEG_ROLES

    channel.progress("reading the character", 0, 1)
    found = read_character(path)
    data, animated = path.read_bytes(), bool(found.document.get("animations"))
    if path.suffix.lower() == ".fbx":
        data, animated = fbx_as_glb(data, path), bool(list_fbx_takes(path))
    name = f"c{hashlib.sha256(data).hexdigest()[:20]}"
    write_bytes(context.places.worn(name, ".glb"), stage_figure(found))
    write_bytes(context.places.character(name), data)
    missing = [role.replace("_", " ") for role in LEG_ROLES if found.skeleton.find(role) is None]
    made_here = found.document.get("asset", {}).get("generator", "").startswith("Choreograph")
    return CharacterFacts(
        id=name,
        name=found.name[:200] or "character",
        joints=list(found.skeleton.names),
        missing=missing,
        animated=animated,
        own=path.suffix.lower() == ".fbx" or not made_here,
    )


def wear(context: WorkerContext, ask: dict[str, Any], channel: TaskChannel) -> Motion:
    """Put a motion on a character; asked as `character`, `which` (a ClipEntry or a result's id), `person` and `key`."""
    from choreograph.finishing.put_on import put_on
    from choreograph.formats.character import read_character
    from choreograph.formats.stage_figure import stage_body

    which: ClipEntry | str = ask["which"]
    clip = context.clip(which) if isinstance(which, ClipEntry) else context.result(which, ask["person"])
    someone = read_character(context.places.character(ask["character"]))
    made = put_on(clip, stage_body(someone), sole_m=someone.sole_m).clip
    write_bytes(context.places.worn(ask["key"], ".f32"), pack_frames(made))
    motion = describe_motion(made, f"worn:{ask['key']}")
    write_bytes(context.places.worn(ask["key"], ".json"), motion.model_dump_json().encode())
    return motion
