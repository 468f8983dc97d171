"""Somebody's own character, and motions on it, for the stage."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from choreograph.motion.packed import pack_frames
from choreograph.studio.character_facts import CharacterFacts, LiveFacts
from choreograph.studio.context import WorkerContext, write_bytes
from choreograph.studio.document import ClipEntry
from choreograph.studio.facts import Motion
from choreograph.studio.motions import describe_motion
from choreograph.studio.worker import TaskChannel

if TYPE_CHECKING:
    from choreograph.formats.rigged import RiggedCharacter
    from choreograph.motion.live_map import LiveMap


def character(context: WorkerContext, path: Path, channel: TaskChannel) -> CharacterFacts:
    """Take a character into the project: its file as GLB, and its figure for the stage."""
    from choreograph.formats.character import read_character
    from choreograph.formats.fbx import list_fbx_takes
    from choreograph.formats.fbx_character import fbx_as_glb

    channel.progress("reading the character", 0, 1)
    rig = read_character(path)
    data, animated = path.read_bytes(), bool(rig.document.get("animations"))
    if path.suffix.lower() == ".fbx":
        data, animated = fbx_as_glb(data, path), bool(list_fbx_takes(path))
    own = path.suffix.lower() == ".fbx" or not _made_here(rig)
    return _keep(context, rig, (data, {}), name=rig.name, animated=animated, own=own)


def roles(context: WorkerContext, ask: dict[str, Any], channel: TaskChannel) -> CharacterFacts:
    """A character of the project with other roles, which is another one; asked as `character`, `name` and `roles`.

    Without roles, facts about it as it is.
    """
    from choreograph.formats.character import read_character
    from choreograph.formats.character_roles import read_roles, roles_file, single_roles, with_named_roles

    path = context.places.character(ask["character"])
    rig = read_character(path)
    animated = bool(rig.document.get("animations"))
    given = ask.get("roles")
    if given is None:
        return _facts(ask["character"], ask["name"] or rig.name, rig, animated=animated, own=not _made_here(rig))
    changed = {role: joint for role, joint in given.items() if single_roles(rig.skeleton).get(role) != joint}
    with_named_roles(rig.skeleton, changed)  # names that are not there are refused
    now = {**(read_roles(path) if roles_file(path).is_file() else {}), **changed}
    return _keep(context, rig, (path.read_bytes(), now), name=ask["name"] or rig.name, animated=animated, own=True)


def _keep(
    context: WorkerContext,
    rig: RiggedCharacter,
    files: tuple[bytes, dict[str, str]],
    *,
    name: str,
    animated: bool,
    own: bool,
) -> CharacterFacts:
    """Write a character, its roles and its figure into the project; its id is made of them."""
    from choreograph.formats.character import read_character
    from choreograph.formats.character_roles import write_roles
    from choreograph.formats.stage_figure import stage_figure

    data, given = files
    key = data + (json.dumps(given, sort_keys=True).encode() if given else b"")
    character = f"c{hashlib.sha256(key).hexdigest()[:20]}"
    path = context.places.character(character)
    write_bytes(path, data)
    if given:
        write_roles(path, given)
        rig = read_character(path)
    write_bytes(context.places.worn(character, ".glb"), stage_figure(rig))
    return _facts(character, name, rig, animated=animated, own=own)


def _facts(character: str, name: str, rig: RiggedCharacter, *, animated: bool, own: bool) -> CharacterFacts:
    from choreograph.formats.character_roles import single_roles
    from choreograph.motion.role_map import LEG_ROLES

    return CharacterFacts(
        id=character,
        name=name[:200] or "character",
        joints=list(rig.skeleton.names),
        missing=[role.replace("_", " ") for role in LEG_ROLES if rig.skeleton.find(role) is None],
        animated=animated,
        own=own,
        roles=single_roles(rig.skeleton),
    )


def _made_here(rig: RiggedCharacter) -> bool:
    return bool(rig.document.get("asset", {}).get("generator", "").startswith("Choreograph"))


def wear(context: WorkerContext, ask: dict[str, Any], channel: TaskChannel) -> Motion:
    """Put a motion on a character; asked as `character`, `which` (a ClipEntry or a result's id), `person` and `key`."""
    from choreograph.finishing.retarget_clean import put_on
    from choreograph.formats.character import read_character
    from choreograph.formats.stage_figure import stage_body

    which: ClipEntry | str = ask["which"]
    clip = context.clip(which) if isinstance(which, ClipEntry) else context.result(which, ask["person"])
    someone = read_character(context.places.character(ask["character"]))
    worn = put_on(clip, stage_body(someone), sole_m=someone.sole_m, keep_way=True).clip
    write_bytes(context.places.worn(ask["key"], ".f32"), pack_frames(worn))
    motion = describe_motion(worn, f"worn:{ask['key']}")
    write_bytes(context.places.worn(ask["key"], ".json"), motion.model_dump_json().encode())
    return motion


def wear_live(context: WorkerContext, ask: dict[str, Any], channel: TaskChannel) -> LiveFacts:
    """How poses of a body are put on a character; asked as `character` and `body` ("clip" or "result", its id)."""
    from choreograph.formats.character import read_character
    from choreograph.formats.stage_figure import stage_body
    from choreograph.motion.foot_geometry import body_stance
    from choreograph.motion.live_map import live_map

    kind, name = ask["body"]
    clip = context.recording(name) if kind == "clip" else context.result(name)
    someone = read_character(context.places.character(ask["character"]))
    body = stage_body(someone)
    return live_facts(live_map(clip, body, body_stance(body, someone.sole_m)))


def live_facts(table: LiveMap) -> LiveFacts:
    """The table as a page takes it: quaternions x, y, z, w."""
    from choreograph.motion import ik
    from choreograph.motion.role_map import SIDES

    source, target = table.roles.source, table.roles.target
    parts = ("upper_leg", "lower_leg", "foot")
    return LiveFacts.model_validate(
        {
            "parents": source.parents.tolist(),
            "offsets": source.offsets.tolist(),
            "to_parents": target.parents.tolist(),
            "to_offsets": target.offsets.tolist(),
            "low": table.roles.low.tolist(),
            "high": table.roles.high.tolist(),
            "share": table.roles.share.tolist(),
            "align": table.roles.align[:, [1, 2, 3, 0]].tolist(),
            "hips": tuple(source.need(f"{side}_upper_leg") for side in SIDES),
            "scale": table.scale.tolist(),
            "lift_m": table.lift_m,
            "soft_share": ik.SOFT_SHARE,
            "hinge_share": ik.HINGE_SHARE,
            "undo_rad": ik.UNDO_RAD,
            "legs": [
                {
                    "ankle": source.need(f"{side}_foot"),
                    "joints": [target.need(f"{side}_{part}") for part in parts],
                    "hinge": table.hinges[k].tolist(),
                    "sole": table.soles[k, [1, 2, 3, 0]].tolist(),
                    "aside_m": table.half_width_m if side == "left" else -table.half_width_m,
                }
                for k, side in enumerate(SIDES)
            ],
        }
    )
